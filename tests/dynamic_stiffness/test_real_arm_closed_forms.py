"""Joints, hubs, rotors, bodies, offsets, rigid links: closed forms, and the same arm described in another way."""

import math

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.support.problems import CLOSED_FORM, SAME
from tests.support.real_arms import random_arm, relative, steel, two


def unit_beam(**changes):
    """A beam of E I = rho A = L = 1."""
    return jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0), **changes)


def roots_of(function, guesses):
    with mpmath.workdps(40):
        return [float(mpmath.findroot(function, mpmath.mpf(g)) ** 2) for g in guesses]


def bending(*links, num_modes=4, payload=None):
    arm = jm.Arm(tuple(links), payload or jm.Payload())
    return np.asarray(jm.natural_frequencies(arm, num_modes, theory="bending_only").omega)


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
    found = jm.natural_frequencies(jm.Arm((rod,)), 3, theory="euler_bernoulli").omega
    with mpmath.workdps(40):
        expected = [
            float(mpmath.findroot(lambda m: m * mpmath.tan(m) - stiffness, g))
            for g in (1.19, 3.81, 6.70)
        ]
    assert np.max(np.abs(np.asarray(found) / expected - 1)) <= CLOSED_FORM


def test_inertias_of_bodies_are_about_their_centres_of_gravity():
    """A rigid link on a spring k with a body of mass M and inertia J, c beyond and d beside its tip, turns by
    k = omega^2 (m L^2/3 + J + M ((L + c)^2 + d^2)), whether the body is at the tip or the payload."""
    k, m, length, mass, inertia, c, d = 7.0, 1.0, 1.0, 2.0, 0.2, 0.3, -0.4
    expected = math.sqrt(k / (m * length**2 / 3 + inertia + mass * ((length + c) ** 2 + d**2)))
    body = {"tip_mass": mass, "tip_inertia": inertia, "tip_centre_x": c, "tip_centre_y": d}
    bar = unit_beam(rigid=True, joint_stiffness=k)
    at_the_tip = bending(bar.replace(**body), num_modes=1)
    carried = jm.Payload(mass=mass, inertia=inertia, centre_x=c, centre_y=d)
    assert abs(at_the_tip[0] / expected - 1) <= CLOSED_FORM
    assert abs(bending(bar, num_modes=1, payload=carried)[0] / expected - 1) <= CLOSED_FORM


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
    omega = [np.asarray(jm.natural_frequencies(x, num_modes, theory=theory).omega) for x in (a, b)]
    assert np.max(relative(omega[0], omega[1])) <= SAME, relative(*omega)


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
    driven = two(first, steel(**spring, rotor_inertia=0.02, gear_ratio=1.0, motor="beyond_spring"))
    same(driven, two(first, steel(**spring, hub_inertia=0.02)))
    still = two(first, steel(**spring, rotor_inertia=0.02, gear_ratio=0.0, motor="beyond_spring"))
    same(still, two(first, steel(**spring, stator_inertia=0.02)))
    rigid = two(
        first, steel(joint_angle=0.6, rotor_inertia=0.02, gear_ratio=77.0, motor="beyond_spring")
    )
    same(rigid, two(first, steel(joint_angle=0.6, hub_inertia=0.02)))


def test_a_geared_rotor_at_the_base_is_a_hub_of_the_square_of_the_ratio():
    a = two(steel(joint_stiffness=1e4, rotor_inertia=1e-4, gear_ratio=50.0, motor="beyond_spring"))
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
        "rotor_inertia": 0.0, "gear_ratio": 5.0, "motor": "beyond_spring", "base_offset_x": 0.0,
        "tip_centre_y": 0.0, "nonstructural_mass": 0.0,
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
