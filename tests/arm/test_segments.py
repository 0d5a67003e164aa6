"""Segments: bodies along a link, stepped links, tapers that converge; against closed forms and elements."""

import dataclasses

import jax
import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.support import finite_elements
from tests.support.problems import ORACLE, SAME
from tests.support.real_arms import steel

AD_VS_FD = 1e-6
"""Differences of fourth order, relative to the largest in a row."""

TAPER_ERROR = 1e-3
"""Largest error estimate with 16 pieces in the lowest five modes, the fifth of which has two waves along the link."""


def omega_of(arm, num_modes=8, theory="timoshenko"):
    return np.asarray(jm.natural_frequencies(arm, num_modes, theory=theory).omega)


def test_segments_of_one_section_are_one_link():
    whole = jm.Arm((steel(joint_stiffness=1e4, tip_mass=1.0, end_offset_y=0.1),))
    parts = jm.attach_body(whole, 1, 0.2, 0.0)
    parts = jm.attach_body(parts, 2, 0.1, 0.0)
    assert [round(float(link.length), 12) for link in parts.links] == [0.2, 0.1, 0.2]
    assert parts.joints == (1,)
    error = omega_of(parts) / omega_of(whole) - 1
    assert np.max(np.abs(error)) <= SAME


def test_a_body_along_a_link_against_finite_elements():
    arm = jm.Arm((steel(), steel(joint_angle=0.7, joint_stiffness=1e5, tip_mass=0.4)))
    loaded = jm.attach_body(arm, 2, 0.3, 1.5, 0.02, centre_x=0.01, centre_y=0.08)
    assert loaded.num_links == 3
    assert float(loaded.links[2].tip_mass) == 0.4
    assert float(loaded.links[1].joint_stiffness) == 1e5
    case = finite_elements.case_from_arm(loaded, "timoshenko")
    truth = finite_elements.frequencies(case, 8, 30)
    assert np.max(np.abs(omega_of(loaded) / truth - 1)) <= ORACLE


@pytest.mark.parametrize(
    ("changes", "fragment"),
    [
        ({"link": 3}, "link = 3"),
        ({"position": 0.5}, "less than the length"),
        ({"position": 0.0}, "position = 0.0"),
        ({"mass": -1.0}, "^mass = -1.0"),
    ],
)
def test_bodies_that_cannot_be(changes, fragment):
    arm = jm.Arm((steel(), steel()))
    with pytest.raises(jm.ArmError, match=fragment):
        jm.attach_body(arm, **{"link": 1, "position": 0.2, "mass": 1.0} | changes)


def test_segments_have_no_addresses_of_joints():
    arm = jm.attach_body(jm.Arm((steel(joint_stiffness=1e4),)), 1, 0.2, 1.0)
    assert "link2.joint_stiffness" not in jm.list_addresses(arm)
    assert jm.resolve_address(arm, "link*.joint_stiffness") == ["link1.joint_stiffness"]
    assert jm.resolve_address(arm, "link*.tip_mass") == ["link1.tip_mass", "link2.tip_mass"]
    with pytest.raises(jm.ArmError, match=r"link2\.joint_stiffness"):
        jm.set_parameters(arm, {"link2.joint_stiffness": 1e3})


@pytest.mark.slow
def test_segments_in_tables_batches_and_traces():
    arm = jm.attach_body(jm.Arm((steel(joint_stiffness=1e4),)), 1, 0.2, 1.0)
    masses = np.array([0.0, 1.0, 3.0])
    batch = jm.natural_frequencies_batch(arm, {"link2.tip_mass": masses}, 3)
    for cell, mass in enumerate(masses):
        one = omega_of(jm.set_parameters(arm, {"link2.tip_mass": mass}), 3)
        assert np.max(np.abs(np.asarray(batch.omega)[cell] / one - 1)) <= ORACLE
    table = jm.sensitivities(arm, 2)
    assert np.all(np.isfinite(np.asarray(table.derivative)))


# ---- tapers -------------------------------------------------------------------------------------


def bessel_frequencies(order, sharp, blunt, modulus, density, area, moment, guesses):
    """Cantilever of area A x^n and second moment I x^(n+2), free at x = sharp, clamped at x = blunt.

    Its shapes are x^(-n/2) Z_n(2 k sqrt(x)), k^4 = rho A w^2/(E I): three and four Bessel functions of order n, of
    which the derivative is sign k x^(-(n+1)/2) Z_(n+1)(2 k sqrt(x)), + for I and - for the others.
    """
    kinds = [(mpmath.besselj, -1), (mpmath.bessely, -1), (mpmath.besseli, 1), (mpmath.besselk, -1)]

    def determinant(omega):
        k = (omega**2 * density * area / (modulus * moment)) ** mpmath.mpf("0.25")

        def derivative(kind, sign, x, d):
            at = order + d
            return (sign * k) ** d * x ** (-mpmath.mpf(at) / 2) * kind(at, 2 * k * mpmath.sqrt(x))

        at = [(mpmath.mpf(blunt), 0), (mpmath.mpf(blunt), 1), (mpmath.mpf(sharp), 2)]
        at.append((mpmath.mpf(sharp), 3))
        return mpmath.det(mpmath.matrix([[derivative(*f, x, d) for f in kinds] for x, d in at]))

    with mpmath.workdps(25):
        return np.array([float(mpmath.findroot(determinant, mpmath.mpf(g))) for g in guesses])


WEDGE = (jm.rectangle(0.02, 0.05), jm.rectangle(0.01, 0.05), 1, 0.05 * 0.01, 0.05 * 0.01**3 / 12)
CONE = (jm.circle(0.02), jm.circle(0.01), 2, np.pi * 0.01**2 / 4, np.pi * 0.01**4 / 64)


@pytest.mark.parametrize(
    ("base", "tip", "order", "area", "moment"),
    [WEDGE, pytest.param(*CONE, marks=pytest.mark.slow)],
    ids=["wedge", "cone"],
)
def test_tapers_against_bessel_functions(base, tip, order, area, moment):
    link = jm.Link(1.0, 7e10, 2700.0, base)

    def build(pieces, bound):
        return jm.Arm(jm.tapered(link, tip, pieces, bound))

    found = jm.tapered_frequencies(build, 2, theory="bending_only", tolerance=1e-9, max_pieces=16)
    exact = bessel_frequencies(order, 1, 2, 7e10, 2700.0, area, moment, found.omega)
    assert found.pieces == 16
    assert np.all(np.abs(found.omega / exact - 1) <= found.error)
    assert np.all(found.error <= 1e-2)
    assert np.all(found.lower < exact)
    assert np.all(exact < found.upper)
    coarse, fine = (omega_of(build(n, "middle"), 2, "bending_only") for n in (8, 16))
    order_seen = np.log2(np.abs(coarse / exact - 1) / np.abs(fine / exact - 1))
    assert np.all(np.abs(order_seen - 2) <= 0.1), order_seen


def test_tapers_carry_what_is_at_their_ends():
    link = steel(joint_stiffness=1e4, tip_mass=2.0, end_offset_y=0.1, hub_mass=1.0)
    pieces = jm.tapered(link, jm.rectangle(0.01, 0.04, 0.85), 4)
    assert [float(x.tip_mass) for x in pieces] == [0.0, 0.0, 0.0, 2.0]
    assert float(pieces[0].hub_mass) == 1.0
    assert pieces[1].hub_mass is None
    assert pieces[2].end_offset_y is None
    assert float(pieces[3].end_offset_y) == 0.1
    unchanged = jm.Arm(jm.tapered(link, link.section, 4))
    assert np.max(np.abs(omega_of(unchanged) / omega_of(jm.Arm((link,))) - 1)) <= SAME


@pytest.mark.parametrize("stiffness", [1e5, np.inf])
def test_only_the_last_piece_of_a_link_is_supported(stiffness):
    """A body of 0 kg and a taper between equal sections leave the frequencies of a supported arm as they are."""
    link = steel(support_y_stiffness=stiffness, support_torsional_stiffness=1e3, tip_mass=1.0)
    arm = jm.Arm((link,))
    for pieces in (jm.attach_body(arm, 1, 0.2, 0.0), jm.Arm(jm.tapered(link, link.section, 4))):
        assert np.max(np.abs(omega_of(pieces) / omega_of(arm) - 1)) <= SAME


@pytest.mark.parametrize(
    ("section", "bound", "fragment"),
    [
        (jm.circle(0.01, 0.85), "middle", "of the shape"),
        (jm.rectangle(0.01, 0.04), "middle", "as at the base"),
        (jm.rectangle(0.01, 0.05, 0.85), "lower", "one direction"),
        (jm.rectangle(0.01, 0.04, 0.8), "upper", "shear coefficient changes"),
        (jm.rectangle(0.01, 0.04, 0.85), "both", "bound = 'both'"),
    ],
)
def test_tapers_that_cannot_be(section, bound, fragment):
    with pytest.raises(jm.ArmError, match=fragment):
        jm.tapered(steel(), section, 4, bound)


@pytest.mark.parametrize(
    "theory",
    [
        "timoshenko",
        *(pytest.param(it, marks=pytest.mark.slow) for it in jm.THEORIES[1:]),
    ],
)
def test_tapers_against_finite_elements_that_taper(theory):
    """A stocky link that tapers in depth and width, and one beyond it: the error estimate holds, the bounds enclose."""
    link = steel(length=0.4, tip_mass=0.5).replace(section=jm.rectangle(0.06, 0.05, 0.85))
    tip, beyond = jm.rectangle(0.03, 0.03, 0.85), steel(joint_angle=0.8, joint_stiffness=1e5)
    payload = jm.Payload(1.0, 0.01)

    def build(pieces, bound):
        return jm.Arm((*jm.tapered(link, tip, pieces, bound), beyond), payload)

    def sections(share):
        depth, width = 0.06 - 0.03 * share, 0.05 - 0.02 * share
        return depth * width, width * depth**3 / 12

    found = jm.tapered_frequencies(build, 5, theory=theory, tolerance=1e-6, max_pieces=16)
    case = finite_elements.case_from_arm(jm.Arm((link, beyond), payload), theory)
    tapering = dataclasses.replace(case.links[0], taper=sections)
    case = finite_elements.Case((tapering, *case.links[1:]), theory)
    truth = finite_elements.frequencies(case, 5, 24)
    assert np.max(np.abs(finite_elements.frequencies(case, 5, 18) / truth - 1)) <= ORACLE
    assert np.all(np.abs(found.omega / truth - 1) <= found.error)
    assert np.all(found.error <= TAPER_ERROR)
    assert np.all(found.lower < truth)
    assert np.all(truth < found.upper)


@pytest.mark.slow
def test_derivatives_of_tapers_and_positions():
    """With respect to the depth at the tip of a taper, and to place and centre of a body along a link."""

    def omega(x):
        pieces = jm.tapered(steel(), jm.rectangle(x[0], 0.04, 0.85), 3)
        arm = jm.Arm((*pieces, steel(joint_angle=0.5)))
        return jm.natural_frequencies(jm.attach_body(arm, 4, x[1], 1.5, 0.02, 0.01, x[2]), 5).omega

    x = np.array([0.012, 0.2, 0.05])
    found = np.asarray(jax.jacfwd(omega)(x))
    for i in range(3):
        step = np.eye(3)[i] * 1e-3 * x[i]
        at = [np.asarray(omega(x + m * step)) for m in (-2, -1, 1, 2)]
        expected = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step[i])
        assert np.max(np.abs(found[:, i] - expected)) <= AD_VS_FD * np.max(np.abs(expected))


def test_bounds_bracket_in_timoshenkos_theory():
    link, tip = steel(tip_mass=1.0), jm.rectangle(0.01, 0.03, 0.85)
    arms = {b: jm.Arm(jm.tapered(link, tip, 4, b)) for b in ("lower", "middle", "upper")}
    omega = {name: omega_of(arm) for name, arm in arms.items()}
    fine = omega_of(jm.Arm(jm.tapered(link, tip, 16)))
    assert np.all(omega["lower"] < fine)
    assert np.all(fine < omega["upper"])


FILE = """
[[links]]
length = 0.5
youngs_modulus = 2e11
density = 7800
section = { shape = "circle", diameter = 0.02 }
bodies = [ { position = 0.1, mass = 0.3 }, { position = 0.4, mass = 0.2, inertia = 1e-3, centre_y = 0.05 } ]

[[links]]
length = 0.4
youngs_modulus = 2e11
density = 7800
section = { shape = "circle", diameter = 0.02 }
joint_angle_deg = 30
taper = { section = { shape = "circle", diameter = 0.01 }, pieces = 3 }
"""


def test_files_with_bodies_and_tapers(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(FILE)
    arm = jm.read_arm(path)
    assert arm.joints == (1, 4)
    assert [round(float(link.length), 9) for link in arm.links[:3]] == [0.1, 0.3, 0.1]
    assert float(arm.links[1].tip_centre_y) == 0.05
    diameters = [float(link.section.diameter) for link in arm.links[3:]]
    assert diameters == pytest.approx([0.02 - 0.01 / 6, 0.015, 0.01 + 0.01 / 6])
    jm.write_arm(arm, tmp_path / "again.toml")
    assert jm.read_arm(tmp_path / "again.toml") == arm


@pytest.mark.parametrize(
    ("old", "new", "fragment"),
    [
        ("position = 0.4", "position = 0.05", r"link1\.bodies\[2\]\.position = 0.05"),
        ("position = 0.4", "position = 0.9", r"bodies\[2\]\.position = 0\.9: .*link, 0\.5 m"),
        ("mass = 0.3", "weight = 0.3", r"link1\.bodies\[1\]\.weight"),
        ("pieces = 3", "pieces = 0", r"pieces = 0"),
        ("pieces = 3", "pieces = 3, bound = 1", r"link2\.taper\.bound"),
        (
            '{ shape = "circle", diameter = 0.01 }',
            "{ area = 1, second_moment = 1 }",
            "of the shape",
        ),
        ("joint_angle_deg = 30", "bodies = []\njoint_angle_deg = 30", "combined with taper"),
    ],
)
def test_files_that_cannot_be(tmp_path, old, new, fragment):
    path = tmp_path / "arm.toml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(jm.ArmError, match=fragment):
        jm.read_arm(path)
