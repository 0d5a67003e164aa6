"""Links from tables of stiffness and mass: uniform ones, a Ritz oracle, bounds, planes in space, twist, messages."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Legendre

import jaxmodal as jm
import jaxmodal.spatial.arms.tabulated as tabulated_module

EB = "euler_bernoulli"
LINK = jm.Link(1.2, 7e10, 2700.0, jm.rectangle(0.02, 0.05, 0.85), poisson_ratio=0.3)
BOOM = jm.SpatialLink(1.2, 7e10, 2700.0, jm.rectangle(0.02, 0.05, 0.85), poisson_ratio=0.3)
TABLE = {
    "station": [0.0, 0.4, 1.0],
    "axial_stiffness": [7e7, 5e7, 3e7],
    "bending_stiffness": [2e3, 1.5e3, 4e2],
    "mass_per_length": [3.0, 2.5, 1.5],
}


TOWER = """x_m,mass_per_length_kg_m,bending_stiffness_nm2
0.0,410.0,1.30e10
1.5,360.0,1.05e10
6.0,215.0,4.2e9
12.0,190.0,2.6e9
20.0,150.0,1.1e9
28.0,92.0,3.1e8
35.0,48.0,6.4e7
39.0,21.0,9.0e6
40.0,8.0,4.0e5
"""


def omega(links, modes=3, theory=EB):
    arm = jm.Arm(links) if isinstance(links[0], jm.Link) else jm.SpatialArm(links)
    return np.asarray(jm.natural_frequencies(arm, modes, theory=theory).omega)


@pytest.mark.parametrize("theory", ["timoshenko", "rayleigh", EB, "bending_only"])
def test_a_table_of_a_uniform_link_is_that_link(theory):
    """In the plane and in space, with shear and moments of inertia, in however many pieces."""
    section, line = BOOM.section_values, 2700.0 * 0.02 * 0.05
    young, shear = 7e10, 7e10 / 2.6
    flat = {
        "station": [0.0, 0.3, 1.0],
        "axial_stiffness": [young * section.area] * 3,
        "bending_stiffness": [young * section.second_moment_z] * 3,
        "mass_per_length": [line] * 3,
        "shear_stiffness": [0.85 * shear * section.area] * 3,
    }
    for pieces in (1, 3):
        found = omega(jm.tabulated(LINK, flat, pieces), 3, theory)
        np.testing.assert_allclose(found, omega((LINK,), 3, theory), rtol=1e-12, atol=0)
    polar = 2700.0 * (section.second_moment_y + section.second_moment_z)
    spatial = {
        "station": [0.0, 1.0],
        "axial_stiffness": [young * section.area] * 2,
        "bending_stiffness_y": [young * section.second_moment_y] * 2,
        "bending_stiffness_z": [young * section.second_moment_z] * 2,
        "torsional_stiffness": [shear * section.torsion_constant] * 2,
        "mass_per_length": [line] * 2,
        "polar_inertia": [polar] * 2,
        "shear_stiffness_y": [0.85 * shear * section.area] * 2,
        "shear_stiffness_z": [0.85 * shear * section.area] * 2,
    }
    found = omega(jm.tabulated(BOOM, spatial, 2), 6, theory)
    np.testing.assert_allclose(found, omega((BOOM,), 6, theory), rtol=1e-12, atol=0)


def ritz(count):
    """Of a cantilever of this table by x^2 times Legendre's polynomials and Gauss's rule on each part: from above."""
    length, degrees = 1.2, range(24)
    x, w = np.polynomial.legendre.leggauss(40)
    stiffness, mass = (np.zeros((len(degrees), len(degrees))) for _ in range(2))
    double = Legendre([1 / 3, 1 / 2, 1 / 6], domain=[0, 1])  # x^2
    shapes = [double * Legendre.basis(k, domain=[0, 1]) for k in degrees]
    for a, b in ((0.0, 0.4), (0.4, 1.0)):
        s = a + 0.5 * (b - a) * (x + 1.0)
        weights = 0.5 * (b - a) * w * length
        values = np.array([p(s) for p in shapes])
        curved = np.array([p.deriv(2)(s) for p in shapes]) / length**2
        ei = np.interp(s, TABLE["station"], TABLE["bending_stiffness"])
        line = np.interp(s, TABLE["station"], TABLE["mass_per_length"])
        stiffness += (curved * (weights * ei)) @ curved.T
        mass += (values * (weights * line)) @ values.T
    return np.sqrt(scipy.linalg.eigh(stiffness, mass, eigvals_only=True)[:count])


def test_a_table_beside_ritz():
    """Refined until the estimate of the error is 1e-6; the kink at 0.4 keeps polynomials from more."""

    def build(pieces, bound):
        return jm.Arm(jm.tabulated(LINK, TABLE, pieces, bound))

    found = jm.tapered_frequencies(build, 2, theory=EB, tolerance=1e-6, pieces=5, max_pieces=40)
    np.testing.assert_allclose(found.omega, ritz(2), rtol=1e-5, atol=0)
    assert np.all(found.omega <= ritz(2) * (1.0 + 1e-6))
    assert np.all((found.lower < found.omega) & (found.omega < found.upper))


@pytest.mark.parametrize(
    "theory", ["timoshenko", pytest.param("rayleigh", marks=pytest.mark.slow), EB]
)
def test_bounds_enclose(theory):
    """Where the bending stiffness falls faster than the other, rotary inertia asks for less of the latter."""
    table = TABLE | {"shear_stiffness": [2e7, 1.5e7, 8e6], "bending_stiffness": [2e3, 9e2, 5e1]}
    fine = omega(jm.tabulated(LINK, table, 32), 3, theory)
    for every in (table, table | {"rotary_inertia": [8e-5, 4e-5, 2e-6]}):
        own = fine if every is table else omega(jm.tabulated(LINK, every, 32), 3, theory)
        for pieces in (4, 10):
            low, high = (
                omega(jm.tabulated(LINK, every, pieces, x), 3, theory) for x in ("lower", "upper")
            )
            assert np.all((low < own) & (own < high))


BLADE = {
    "station": [0.0, 0.5, 1.0],
    "axial_stiffness": [7e7, 5e7, 3e7],
    "bending_stiffness_y": [3e3, 2.2e3, 1e3],
    "bending_stiffness_z": [2e3, 9e2, 2e2],
    "torsional_stiffness": [1e3, 8e2, 3e2],
    "mass_per_length": [3.0, 2.0, 1.0],
    "polar_inertia": [1e-4, 7e-5, 2e-5],
    "shear_stiffness_y": [1e7, 8e6, 4e6],
    "shear_stiffness_z": [2e7, 1e7, 6e6],
}


@pytest.mark.parametrize(
    ("theory", "twist"),
    [
        pytest.param(
            theory, twist, marks=() if theory == "timoshenko" or k == 2 else pytest.mark.slow
        )
        for theory in ("timoshenko", "rayleigh", EB)
        for k, twist in enumerate((None, [0.0, 0.5, 0.7], [0.3, -0.2, 0.3]))
    ],
)
def test_bounds_enclose_in_space(theory, twist):
    """Bending in both planes, stretch and torsion; more pieces bring the bounds together."""
    table = BLADE if twist is None else BLADE | {"twist": twist}
    fine = omega(jm.tabulated(BOOM, table, 32), 7, theory)
    apart = []
    for pieces in (4, 16):
        low, high = (
            omega(jm.tabulated(BOOM, table, pieces, x), 7, theory) for x in ("lower", "upper")
        )
        assert np.all((low < fine) & (fine < high))
        apart.append(high / low - 1.0)
    assert np.all(apart[1] < 0.35 * apart[0])


@pytest.mark.parametrize(("bound", "side"), [("lower", 1.0), ("upper", -1.0)])
def test_pieces_of_a_bound_are_softer_and_heavier_everywhere(bound, side):
    """Or stiffer and lighter: every value of a piece beside the table along it, moments of inertia among them."""
    pieces = 5
    for k, piece in enumerate(jm.tabulated(BOOM, BLADE, pieces, bound)):
        at = np.linspace(k / pieces, (k + 1) / pieces, 40)
        table = {name: np.interp(at, BLADE["station"], x) for name, x in BLADE.items()}
        own, young, shear = piece.section_values, piece.youngs_modulus, piece.shear_modulus
        about = {x: young * getattr(own, f"second_moment_{x}") for x in "yz"}
        share = table["bending_stiffness_y"] + table["bending_stiffness_z"]
        heavier = [piece.mass / piece.length - table["mass_per_length"]]
        softer = [
            shear * own.torsion_constant - table["torsional_stiffness"],
            young * own.area - table["axial_stiffness"],
        ]
        for x in "yz":
            softer.append(about[x] - table[f"bending_stiffness_{x}"])
            kappa = getattr(own, f"shear_coefficient_{x}")
            softer.append(kappa * shear * own.area - table[f"shear_stiffness_{x}"])
            rotary = table["polar_inertia"] * table[f"bending_stiffness_{x}"] / share
            heavier.append(piece.density * getattr(own, f"second_moment_{x}") - rotary)
        for value, scale in [(side * x, 1e-12 * np.abs(x).max()) for x in map(np.asarray, heavier)]:
            assert np.all(value >= -scale)
        for value in map(np.asarray, softer):
            assert np.all(-side * value >= -1e-9 * np.abs(value).max())


@settings(max_examples=200, deadline=None)
@given(
    values=st.tuples(st.floats(1.0, 1e4), st.floats(1.0, 1e4)),
    turn=st.floats(0.0, 2.0),
    share=st.floats(-1.0, 1.0),
    lower=st.booleans(),
)
def test_values_that_no_turn_undercuts(values, turn, share, lower):
    """As matrices, at every angle up to the one given."""
    c, s = np.cos(share * turn), np.sin(share * turn)
    turned = np.array([[c, -s], [s, c]]) @ np.diag(values) @ np.array([[c, s], [-s, c]])
    found = np.diag(tabulated_module._whatever_turn(values, turn, lower))
    assert np.all(np.diag(found) > 0.0)
    beyond = np.linalg.eigvalsh(turned - found if lower else found - turned)
    assert beyond.min() >= -1e-12 * max(values)


def test_refined_between_bounds_in_space():
    def build(pieces, bound):
        return jm.SpatialArm(jm.tabulated(BOOM, BLADE | {"twist": [0.0, 0.3, 0.5]}, pieces, bound))

    found = jm.tapered_frequencies(build, 3, tolerance=1e-4, pieces=4, max_pieces=32)
    assert np.all((found.lower < found.omega) & (found.omega < found.upper))
    assert np.all(found.error < 1e-3)


def test_planes_and_twist_of_a_table_in_space():
    """Both planes are planar tables; a turn of 90 degrees exchanges them; half of it along the link couples them."""
    spatial = {
        "station": [0.0, 1.0],
        "axial_stiffness": [7e7, 3e7],
        "bending_stiffness_y": [3e3, 1e3],
        "bending_stiffness_z": [2e3, 4e2],
        "torsional_stiffness": [1e3, 5e2],
        "mass_per_length": [3.0, 1.5],
        "polar_inertia": [1e-4, 4e-5],
    }
    found = omega(jm.tabulated(BOOM, spatial, 6), 6)
    for axis in "yz":
        flat = {
            "station": [0.0, 1.0],
            "axial_stiffness": spatial["axial_stiffness"],
            "bending_stiffness": spatial[f"bending_stiffness_{axis}"],
            "mass_per_length": spatial["mass_per_length"],
        }
        for own in omega(jm.tabulated(LINK, flat, 6), 2):
            assert np.abs(found / own - 1.0).min() < 1e-12
    turned = omega(jm.tabulated(BOOM, spatial | {"twist": [np.pi / 2] * 2}, 6), 6)
    np.testing.assert_allclose(turned, found, rtol=1e-11, atol=0)
    twisted = omega(jm.tabulated(BOOM, spatial | {"twist": [0.0, np.pi / 2]}, 24), 2)
    plain = omega(jm.tabulated(BOOM, spatial, 24), 2)
    assert twisted[0] > plain[0] * 1.01
    assert twisted[1] < plain[1]


def test_a_table_from_a_file(tmp_path):
    path = tmp_path / "boom.csv"
    rows = zip(*TABLE.values(), strict=True)
    path.write_text("\n".join([",".join(TABLE), *(",".join(map(str, row)) for row in rows)]))
    links = jm.tabulated(LINK.replace(tip_mass=2.0), path, 4)
    assert links == jm.tabulated(LINK.replace(tip_mass=2.0), TABLE, 4)
    assert [float(x.tip_mass) for x in links] == [0.0, 0.0, 0.0, 2.0]
    with pytest.raises(jm.ArmError, match="cannot be read as CSV"):
        jm.tabulated(LINK, tmp_path / "none.csv")


def test_the_table_of_a_tower(tmp_path):
    """As people have it: places in metres, units behind the names, nothing of stretching; no more than it bends."""
    path = tmp_path / "tower.csv"
    path.write_text(TOWER)
    tower = LINK.replace(length=40.0)

    def build(pieces, bound):
        return jm.Arm(jm.tabulated(tower, path, pieces, bound))

    found = jm.tapered_frequencies(
        build, 2, theory="rayleigh", tolerance=1e-3, pieces=4, max_pieces=16
    )
    assert np.all((found.lower < found.omega) & (found.omega < found.upper))
    stiff = jm.tabulated(tower, path, 20)
    bending = omega(stiff, 2, "bending_only")
    np.testing.assert_allclose(omega(stiff, 2, "rayleigh"), bending, rtol=1e-6, atol=0)
    with pytest.raises(
        jm.ArmError, match=r"table\['x'\] = .*ascend from 0 to 1.2, the length of the link"
    ):
        jm.tabulated(LINK, path)
    with pytest.raises(jm.ArmError, match="must have one of station, x/L, and x, m"):
        jm.tabulated(LINK, TABLE | {"x": [0, 0.5, 1.2]})
    with pytest.raises(jm.ArmError, match="mass_per_length is given twice"):
        jm.tabulated(LINK, TABLE | {"mass_per_length_kg_m": [1.0] * 3})


@pytest.mark.parametrize(
    ("link", "changes", "options", "message"),
    [
        (LINK, {"station": [0.0, 0.5, 0.9]}, {}, "must be two or more values that ascend from 0 to 1"),
        (LINK, {"mass_per_length": [1.0, 2.0]}, {}, r"table\['mass_per_length'\] = .*must be 3 finite numbers"),
        (LINK, {"mass_per_length": [1.0, np.nan, 1.0]}, {}, r"table\['mass_per_length'\] = .*must be 3 finite numbers"),
        (LINK, {"mass_per_length": [1.0, 0.0, 1.0]}, {}, r"table\['mass_per_length'\] = .*greater than 0 everywhere"),
        (LINK, {"mass_per_lenth": [1.0] * 3}, {}, r"table\['mass_per_lenth'\]: known are .*'mass_per_length'"),
        (LINK, {"rotary_inertia": [1.0] * 3}, {}, "give less rotary or polar inertia"),
        (LINK, {}, {"pieces": 0}, "pieces = 0"),
        (LINK, {}, {"bound": "least"}, "bound = 'least'"),
        (BOOM, {}, {}, r"table\['bending_stiffness'\]: known are"),
        ("boom", {}, {}, "link = 'boom': must be a Link or a SpatialLink"),
    ],
)  # fmt: skip
def test_refused(link, changes, options, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.tabulated(link, TABLE | changes, **options)


def test_what_is_missing_or_only_of_planar_links():
    with pytest.raises(jm.ArmError, match="table: mass_per_length is missing"):
        jm.tabulated(LINK, {k: x for k, x in TABLE.items() if k != "mass_per_length"})
    with pytest.raises(jm.ArmError, match="must be columns by name"):
        jm.tabulated(LINK, [1.0])
    columns = (
        "axial_stiffness",
        "bending_stiffness_y",
        "bending_stiffness_z",
        "torsional_stiffness",
    )
    table = {"station": [0, 1], "mass_per_length": [1, 1], "polar_inertia": [1e-9, 1e-9]}
    light = {name: x for name, x in table.items() if name != "polar_inertia"}
    with pytest.raises(jm.ArmError, match="table: polar_inertia is missing"):
        jm.tabulated(BOOM, light | {name: [1e6, 1e6] for name in columns})
