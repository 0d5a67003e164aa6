"""Joints, hubs, rotors, bodies, offsets, rigid links: exact frequencies and counts? Against finite elements,
closed forms, and the same arm described in another way."""

import math

import jax
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxmodal as jm
from tests import finite_elements
from tests.problems import CLOSED_FORM, COUNT_DISTANCE, ORACLE, SAME
from tests.real_arms import STRUCTURES, random_arm

FEW = settings(max_examples=8, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)

FAST = ("offsets", "everything")
BY_STRUCTURE = [s if s in FAST else pytest.param(s, marks=pytest.mark.slow) for s in STRUCTURES]
"""Each structure is compiled anew; two of them show all features."""

AD_VS_FD = 1e-6
"""Differences of fourth order, relative to the largest in a row."""

SHAPES = 1e-10
"""Residuals of the conditions, relative to their scales."""

ORTHOGONAL = 1e-12
RAYLEIGH = 1e-12


def relative(found, truth):
    """Errors relative to the truth; where that is zero the value itself."""
    return np.abs(np.asarray(found) - truth) / np.where(truth == 0.0, 1.0, truth)


def compare(arm, theory, num_modes=8, degree=30):
    truth = finite_elements.frequencies(
        finite_elements.case_from_arm(arm, theory), num_modes, degree
    )
    result = jm.natural_frequencies(arm, num_modes, theory, throw=False)
    assert np.all(np.asarray(result.certified)), np.asarray(result.status)
    assert np.max(relative(result.omega, truth)) <= ORACLE, relative(result.omega, truth)
    return result


@pytest.mark.parametrize("structure", BY_STRUCTURE)
@FEW
@given(seed=SEEDS, theory=st.sampled_from(jm.THEORIES))
def test_frequencies_against_finite_elements(structure, seed, theory):
    compare(random_arm(seed, structure), theory)


def random_frequencies(case, seed):
    """32 frequencies below the 14th, none nearer than COUNT_DISTANCE to a natural one; J there."""
    truth = finite_elements.frequencies(case, 16, 24)
    lowest = truth[truth > 0.0][0]
    draws = np.random.default_rng(seed).uniform(np.log(lowest / 3), np.log(truth[13]), 32)
    omega = np.exp(draws)
    distance = np.min(np.abs(omega[:, None] / np.where(truth > 0, truth, 1e-300) - 1), axis=1)
    omega = np.where(distance > COUNT_DISTANCE, omega, omega * (1 + 3 * COUNT_DISTANCE))
    return omega, np.searchsorted(truth, omega)


def check_counts(structure, seed, theory):
    arm = random_arm(seed, structure)
    case = finite_elements.case_from_arm(arm, theory)
    omega, expected = random_frequencies(case, seed)
    assert finite_elements.count_below(case, omega[0], 24) == expected[0]
    counts = np.asarray(jm.count_below(arm, omega, theory))
    assert np.array_equal(counts, expected)


@pytest.mark.parametrize("structure", FAST)
@FEW
@given(seed=SEEDS, theory=st.sampled_from(jm.THEORIES))
def test_counts_against_finite_elements(structure, seed, theory):
    check_counts(structure, seed, theory)


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, theory=st.sampled_from(jm.THEORIES))
def test_thousands_of_counts(structure, seed, theory):
    """7 structures x 60 arms x 32 frequencies."""
    check_counts(structure, seed, theory)


@pytest.mark.parametrize("structure", BY_STRUCTURE)
@FEW
@given(seed=SEEDS, theory=st.sampled_from(jm.THEORIES))
def test_mode_shapes(structure, seed, theory):
    arm = random_arm(seed, structure)
    shapes = jm.mode_shapes(arm, 6, theory, stations=2)
    free = int(np.sum(np.asarray(shapes.omega) == 0.0))
    assert np.all(np.isnan(np.asarray(shapes.v)[:free]))
    assert np.max(np.asarray(shapes.residuals)[free:]) <= SHAPES
    gram = np.asarray(shapes.orthogonality)[free:, free:]
    assert np.max(np.abs(gram - np.eye(6 - free))) <= ORTHOGONAL
    quotient = np.asarray(shapes.rayleigh_quotient)[free:]
    assert np.max(np.abs(quotient / np.asarray(shapes.omega)[free:] ** 2 - 1)) <= RAYLEIGH


VALUES = {
    "joint_stiffness": 2e3, "joint_axial_stiffness": 3e5, "joint_shear_stiffness": 1e5,
    "hub_mass": 0.7, "hub_inertia": 0.02, "stator_mass": 1.3, "stator_inertia": 0.01,
    "rotor_inertia": 2e-5, "gear_ratio": 60.0, "base_offset_x": 0.04, "base_offset_y": 0.06,
    "end_offset_x": 0.05, "end_offset_y": -0.07, "tip_centre_x": 0.03, "tip_centre_y": 0.05,
    "nonstructural_mass": 1.5, "tip_mass": 2.0, "tip_inertia": 0.02,
}  # fmt: skip


def steel(**changes):
    values = {"length": 0.5, "youngs_modulus": 2e11, "density": 7800.0, "poisson_ratio": 0.3}
    return jm.Link(section=jm.rectangle(0.02, 0.04, 0.85), **values | changes)


def with_everything():
    """Two links, the first rigid, with a value of everything; and the addresses to vary."""
    payload = jm.Payload(1.0, 0.01, 0.1, -0.05)
    arm = jm.Arm((steel(**VALUES, rigid=True), steel(**VALUES, joint_angle=0.8)), payload)
    more = ["joint_angle", "length", "density", "youngs_modulus", "section.depth"]
    names = [f"link2.{name}" for name in (*VALUES, *more)]
    names += ["link1.length", "link1.density", "link1.end_offset_y", "link1.gear_ratio"]
    names += [f"payload.{name}" for name in ("mass", "inertia", "centre_x", "centre_y")]
    return arm, names


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
def test_derivatives_against_differences(theory):
    arm, names = with_everything()
    x = np.array([float(jm.get_parameter(arm, name)) for name in names])

    def omega(values):
        changed = jm.set_parameters(arm, dict(zip(names, values, strict=True)))
        return jm.natural_frequencies(changed, 5, theory).omega

    found = np.asarray(jax.jacfwd(omega)(x))
    for i in range(len(x)):
        step = np.eye(len(x))[i] * 1e-3 * x[i]
        at = [np.asarray(omega(x + m * step)) for m in (-2, -1, 1, 2)]
        expected = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step[i])
        error = np.max(np.abs(found[:, i] - expected)) / np.max(np.abs(expected))
        assert error <= AD_VS_FD, (names[i], error)


# ---- closed forms ------------------------------------------------------------------------------


def unit_beam(**changes):
    """A beam of E I = rho A = L = 1."""
    return jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0), **changes)


def roots_of(function, guesses):
    with mpmath.workdps(40):
        return [float(mpmath.findroot(function, mpmath.mpf(g)) ** 2) for g in guesses]


def bending(*links, num_modes=4, payload=None):
    arm = jm.Arm(tuple(links), payload or jm.Payload())
    return np.asarray(jm.natural_frequencies(arm, num_modes, "bending_only").omega)


def test_pinned_beam():
    """tan b = tanh b; one motion without strain."""
    expected = roots_of(lambda b: mpmath.tan(b) - mpmath.tanh(b), [3.927, 7.069, 10.21])
    found = bending(unit_beam(joint_stiffness=0.0))
    assert found[0] == 0.0
    assert np.max(np.abs(found[1:] / expected - 1)) <= CLOSED_FORM


def test_rotating_hub():
    """A hinge with a hub of inertia J: J b^3 (1 + cos cosh) = sin cosh - cos sinh, all times b in zero limit."""
    inertia = 0.3

    def condition(b):
        s, c, sh, ch = mpmath.sin(b), mpmath.cos(b), mpmath.sinh(b), mpmath.cosh(b)
        return mpmath.mpf(inertia) * b**3 * (1 + c * ch) + (c * sh - s * ch) * -1

    found = bending(unit_beam(joint_stiffness=0.0, hub_inertia=inertia))
    expected = roots_of(condition, [float(w) ** 0.5 for w in found[1:]])
    assert found[0] == 0.0
    assert np.max(np.abs(found[1:] / expected - 1)) <= CLOSED_FORM


def test_rotating_hub_limits():
    """Without inertia a pinned beam; with a huge one a clamped beam."""
    pinned = bending(unit_beam(joint_stiffness=0.0))
    light = bending(unit_beam(joint_stiffness=0.0, hub_inertia=0.0))
    assert np.max(relative(light, pinned)) <= SAME
    clamped = bending(unit_beam())
    heavy = bending(unit_beam(joint_stiffness=0.0, hub_inertia=1e15))
    assert np.max(np.abs(heavy[1:] / clamped[:3] - 1)) <= 1e-12


def test_rod_on_an_axial_spring():
    """E A = rho A = L = 1: mu tan mu = k."""
    stiffness = 3.0
    rod = jm.Link(
        1.0, 1.0, 1.0, jm.raw_section(1.0, 1e8), joint_axial_stiffness=stiffness
    )  # so stiff in bending that only axial modes are low
    found = jm.natural_frequencies(jm.Arm((rod,)), 3, "euler_bernoulli").omega
    with mpmath.workdps(40):
        expected = [
            float(mpmath.findroot(lambda m: m * mpmath.tan(m) - stiffness, g))
            for g in (1.19, 3.81, 6.70)
        ]
    assert np.max(np.abs(np.asarray(found) / expected - 1)) <= CLOSED_FORM


def test_rigid_pendulum_on_a_spring():
    """A rigid link on a torsional spring, and a flexible one held still behind it: omega^2 = k/(m L^2/3 + J)."""
    bar = unit_beam(rigid=True, joint_stiffness=7.0, tip_inertia=0.2)
    frozen = jm.Link(1e-3, 1e12, 1e-9, jm.raw_section(1.0, 1.0))
    found = bending(bar, frozen, num_modes=1)[0]
    expected = math.sqrt(7.0 / (1.0 / 3.0 + 0.2))
    assert abs(found / expected - 1) <= 1e-8  # the mass of the frozen piece


def test_mass_in_the_middle_of_a_clamped_beam_against_its_determinant():
    """Cantilever with a mass at half its length, by the 8 x 8 conditions in 40 digits."""
    ratio = 2.5
    found = bending(
        unit_beam().replace(length=0.5, tip_mass=ratio), unit_beam(segment=True).replace(length=0.5)
    )

    def determinant(b):
        half = b / 2
        c, s, ch, sh = mpmath.cos(half), mpmath.sin(half), mpmath.cosh(half), mpmath.sinh(half)
        # inner span: v = A (cosh - cos) + B (sinh - sin); outer span from its left end: cos, sin, cosh, sinh
        inner = [[ch - c, sh - s], [sh + s, ch - c], [ch + c, sh + s], [sh - s, ch + c]]
        outer = [[1, 0, 1, 0], [0, 1, 0, 1], [-1, 0, 1, 0], [0, -1, 0, 1]]
        rows = [inner[k] + [-x for x in outer[k]] for k in range(4)]
        # shear jumps by the inertia force: v'''(left) + m w^2 v = v'''(right)
        rows[3][0] += ratio * b * inner[0][0]
        rows[3][1] += ratio * b * inner[0][1]
        rows.append([0, 0, -c, -s, ch, sh])
        rows.append([0, 0, s, -c, sh, ch])
        return mpmath.det(mpmath.matrix(rows))

    expected = roots_of(determinant, [float(w) ** 0.5 for w in found])
    assert np.max(np.abs(found / expected - 1)) <= CLOSED_FORM


# ---- the same arm described in another way -------------------------------------------------------


def same(a, b, theory="timoshenko", num_modes=8):
    omega = [np.asarray(jm.natural_frequencies(x, num_modes, theory).omega) for x in (a, b)]
    assert np.max(relative(omega[0], omega[1])) <= SAME, relative(*omega)


def two(first, second=None, **payload):
    second = steel(joint_angle=0.6, tip_mass=0.5) if second is None else second
    return jm.Arm((first, second), jm.Payload(**payload))


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_a_rigid_link_is_an_offset_with_a_body(theory):
    length = 0.3
    bar = steel(rigid=True, length=length, joint_stiffness=1e4)
    plain = steel(joint_angle=0.5)
    line = float(bar.density * bar.area)
    rotary = (
        float(bar.density * bar.second_moment) * length * (theory in ("timoshenko", "rayleigh"))
    )
    # the bar turned into a part of the next link: the same motion at the joint of link 1
    arm = jm.Arm((bar, plain.replace(joint_angle=0.0)))
    mass = line * length
    other = jm.Arm(
        (
            plain.replace(
                joint_angle=0.0,
                joint_stiffness=1e4,
                base_offset_x=length,
                hub_mass=0.0,
                hub_inertia=mass * length**2 / 3.0 + rotary,
            ),
        )
    )
    # the bar turns about the joint, which stays in place: its inertia about it is all that counts
    same(arm, other, theory)


def test_a_hub_before_the_joint_is_a_tip_body():
    first, second = steel(), steel(joint_angle=0.6, joint_stiffness=1e4)
    a = two(first, second.replace(stator_mass=2.0, stator_inertia=0.03))
    b = two(first.replace(tip_mass=2.0, tip_inertia=0.03), second)
    same(a, b)


def test_a_hub_beyond_a_rigid_joint_is_one_before_it():
    a = two(steel(), steel(joint_angle=0.6, hub_mass=2.0, hub_inertia=0.03))
    b = two(steel(), steel(joint_angle=0.6, stator_mass=2.0, stator_inertia=0.03))
    same(a, b)


def test_a_rotor_is_a_hub_where_the_gear_says_so():
    """Direct drive: beyond the spring. Ratio 0: before it. A rigid joint: the ratio does not matter."""
    spring = {"joint_angle": 0.6, "joint_stiffness": 1e4}
    first = steel()
    driven = two(first, steel(**spring, rotor_inertia=0.02, gear_ratio=1.0))
    same(driven, two(first, steel(**spring, hub_inertia=0.02)))
    still = two(first, steel(**spring, rotor_inertia=0.02, gear_ratio=0.0))
    same(still, two(first, steel(**spring, stator_inertia=0.02)))
    rigid = two(first, steel(joint_angle=0.6, rotor_inertia=0.02, gear_ratio=77.0))
    same(rigid, two(first, steel(joint_angle=0.6, hub_inertia=0.02)))


def test_a_geared_rotor_at_the_base_is_a_hub_of_the_square_of_the_ratio():
    a = two(steel(joint_stiffness=1e4, rotor_inertia=1e-4, gear_ratio=50.0))
    b = two(steel(joint_stiffness=1e4, hub_inertia=0.25))
    same(a, b)


def test_a_body_off_the_axis_is_an_offset_body():
    """The centre of gravity reached by an end offset of the last link."""
    a = two(steel(), mass=1.5, inertia=0.01, centre_x=0.1, centre_y=-0.2)
    shifted = steel(joint_angle=0.6, tip_mass=0.5, tip_centre_x=-0.1, tip_centre_y=0.2)
    b = two(steel(), shifted.replace(end_offset_x=0.1, end_offset_y=-0.2), mass=1.5, inertia=0.01)
    same(a, b)


def test_an_end_offset_is_the_next_links_base_offset():
    a = two(steel(end_offset_x=0.05, end_offset_y=0.1), steel(joint_angle=0.0))
    b = two(steel(), steel(base_offset_x=0.05, base_offset_y=0.1))
    same(a, b)


def test_nonstructural_mass_is_density_where_sections_do_not_turn():
    line = 1.25
    a = jm.Arm((steel(nonstructural_mass=line),))
    link = steel()
    denser = float(link.density) + line / float(link.area)
    b = jm.Arm((link.replace(density=denser),))
    same(a, b, "euler_bernoulli")
    lighter = np.asarray(jm.natural_frequencies(a, 4).omega)  # of less rotary inertia
    assert np.all(lighter > np.asarray(jm.natural_frequencies(b, 4).omega))


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_features_of_nothing_change_nothing(theory):
    plain = two(steel(joint_stiffness=1e4))
    nothing = {
        "joint_axial_stiffness": math.inf, "hub_mass": 0.0, "stator_mass": 0.0,
        "rotor_inertia": 0.0, "gear_ratio": 5.0, "base_offset_x": 0.0, "tip_centre_y": 0.0,
        "nonstructural_mass": 0.0,
    }  # fmt: skip
    same(plain.replace(links=(plain.links[0].replace(**nothing), plain.links[1])), plain, theory)


def test_offsets_turn_with_the_mirror():
    """Mirrored offsets, angles and centres: the same frequencies."""
    arm = random_arm(5, "offsets")
    mirrored = [
        link.replace(
            joint_angle=-link.joint_angle,
            base_offset_y=-link.base_offset_y,
            end_offset_y=-link.end_offset_y,
        )
        for link in arm.links
    ]
    same(arm, arm.replace(links=tuple(mirrored)))


# ---- hinges and batches --------------------------------------------------------------------------


def test_free_hinges_are_counted_and_reported():
    links = (steel(joint_stiffness=0.0), steel(joint_stiffness=0.0, joint_angle=0.4), steel())
    result = jm.natural_frequencies(jm.Arm(links), 5)
    assert np.asarray(result.omega)[:2].tolist() == [0.0, 0.0]
    assert np.all(np.asarray(result.certified))
    assert np.asarray(result.multiplicity).tolist() == [2, 2, 1, 1, 1]
    assert np.asarray(result.group).tolist() == [0, 0, 2, 3, 4]
    assert np.asarray(result.count_below).tolist() == [0, 0, 2, 3, 4]
    assert int(jm.count_below(jm.Arm(links), 1e-6)) == 2
    band, first = jm.frequencies_in_band(jm.Arm(links), 0.0, float(result.omega[3]) * 1.001)
    assert first == 1
    assert np.max(relative(band.omega, np.asarray(result.omega)[:4])) <= SAME
    only = jm.natural_frequencies(jm.Arm(links), 1)
    assert float(only.omega[0]) == 0.0
    assert bool(only.certified[0])
    assert jm.certify(jm.Arm(links), np.asarray(result.omega)[2:]).all_certified
    table = jm.sensitivities(jm.Arm(links), 4, addresses=["link1.length", "link2.joint_stiffness"])
    assert np.all(np.asarray(table.derivative)[:2] == 0.0)
    with pytest.raises(ValueError, match="free hinges"):
        jm.directional_derivatives(jm.Arm(links), {"link1.length": 1.0}, 3)


def test_a_soft_spring_tends_to_the_hinge():
    soft = two(steel(joint_stiffness=1e-9))
    free = two(steel(joint_stiffness=0.0))
    omega = [np.asarray(jm.natural_frequencies(a, 5).omega) for a in (soft, free)]
    assert 0.0 < omega[0][0] < 1e-3
    assert np.max(np.abs(omega[0][1:] / omega[1][1:] - 1)) <= 1e-10


def test_batches_take_features():
    """Cells with a hub, a hinge and an impossible value beside each other."""
    arm = two(steel(joint_stiffness=1e4, hub_mass=0.0, hub_inertia=0.0), mass=1.0, centre_y=0.1)
    values = {
        "link1.hub_inertia": np.array([0.0, 0.1, 0.2, -1.0]),
        "link1.joint_stiffness": np.array([1e4, np.inf, 0.0, 1e4]),
        "payload.centre_y": np.array([0.0, 0.1, -0.2, 0.1]),
    }
    batch = jm.natural_frequencies_batch(arm, values, 4)
    for cell in range(3):
        one = jm.set_parameters(arm, {name: x[cell] for name, x in values.items()})
        truth = finite_elements.frequencies(finite_elements.case_from_arm(one, "timoshenko"), 4, 30)
        assert np.all(np.asarray(batch.certified)[cell])
        assert np.max(relative(np.asarray(batch.omega)[cell], truth)) <= ORACLE
    assert np.all(np.asarray(batch.status)[3] == jm.Status.invalid_input)


def test_the_determinant_of_the_definition_has_the_parity_of_the_count():
    for structure in ("springs", "hubs", "rotors", "offsets", "bodies"):
        arm = random_arm(3, structure)
        omega = np.asarray(jm.natural_frequencies(arm, 6).omega)
        between = np.sqrt(omega[1:] * omega[:-1])
        signs = [float(jm.log_determinant(arm, x)[0]) for x in between]
        assert signs == [(-1.0) ** k for k in range(1, 6)]
    with pytest.raises(jm.ArmError, match=r"link2\.rigid"):
        jm.characteristic_matrix(random_arm(3, "rigid"), 10.0)


# ---- the description of arms ---------------------------------------------------------------------


def test_files_read_back(tmp_path):
    arm = random_arm(7, "everything")
    segment = steel(segment=True, tip_mass=0.1)
    arm = arm.replace(links=(*arm.links, segment))
    for name in ("arm.toml", "arm.json"):
        jm.write_arm(arm, tmp_path / name)
        assert jm.read_arm(tmp_path / name) == arm


def test_addresses_of_features():
    arm = two(steel(hub_mass=1.0))
    assert "link1.hub_mass" in jm.addresses(arm)
    assert jm.unit_of("link1.hub_mass") == "kg"
    assert "link2.hub_mass" not in jm.addresses(arm)
    with pytest.raises(jm.ArmError, match=r"no value there; give 'link2\.hub_mass'"):
        jm.set_parameters(arm, {"link2.hub_mass": 1.0})
    assert float(jm.set_parameters(arm, {"link1.hub_mass": 3.0}).links[0].hub_mass) == 3.0
    assert float(two(steel(hub_mass=1.0)).total_mass - two(steel()).total_mass) == pytest.approx(
        1.0
    )


def test_segments_have_no_joint():
    arm = jm.Arm((steel(), steel(segment=True), steel(), steel(segment=True)))
    assert arm.joints == (1, 3)
    posed = arm.with_posture([0.7])
    assert [float(link.joint_angle) for link in posed.links] == [0.0, 0.0, 0.7, 0.0]
    with pytest.raises(jm.ArmError, match="segment continues the previous link"):
        steel(segment=True, joint_angle=0.1)
    with pytest.raises(jm.ArmError, match="segment continues the previous link"):
        steel(segment=True, hub_mass=0.1)
