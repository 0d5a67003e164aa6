"""Are values found at the ends of their range and at double roots, and what has none refused?"""

import jax
import numpy as np
import pytest
from scipy.optimize import brentq

import jaxmodal as jm
from jaxmodal.postures import value_zeros
from jaxmodal.postures.kinds import turned
from jaxmodal.postures.unknowns import unknown_of

THREE = jm.examples.three_link_industrial().with_posture([0.7, -1.1])
#: two natural frequencies of the arm without a payload are one, from the design notes of the reference solution
DOUBLE_ROOT = np.radians([-155.009952919027194, -64.1983428536445678])
ONE = jm.Arm((jm.Link(1.2, 7e10, 2700.0, jm.raw_section(area=1e-3, second_moment=2e-7)),))


def geared(motor="beyond_spring"):
    links = list(THREE.links)
    links[1] = links[1].replace(rotor_inertia=0.5, gear_ratio=3.0, motor=motor, joint_stiffness=1e6)
    return THREE.replace(links=tuple(links))


def omega_of(arm, changes, mode):
    return float(jm.natural_frequencies(jm.set_parameters(arm, changes), mode).omega[-1])


@pytest.mark.parametrize("ratio", [0.01, 0.4, 30.0])
def test_a_mass_at_the_tip_of_one_link_is_that_of_the_closed_form(ratio):
    """A clamped beam with a mass at its tip: 1 + cos b cosh b = b m/(mu l) (sin b cosh b - cos b sinh b)."""
    link = ONE.links[0]
    mass, length = float(link.mass), float(link.length)
    rigidity = float(link.youngs_modulus) * 2e-7

    def equation(b):
        return (
            1.0
            + np.cos(b) * np.cosh(b)
            - b * ratio * (np.sin(b) * np.cosh(b) - np.cos(b) * np.sinh(b))
        )

    b = brentq(equation, 0.1, 1.9, xtol=1e-15, rtol=1e-15)
    omega = b**2 * np.sqrt(rigidity / (mass * length**3))
    found = jm.postures_at(ONE, omega, "payload.mass", theory="bending_only")
    assert float(found.value[0]) == pytest.approx(ratio * mass, rel=1e-11, abs=0.0)
    assert int(found.mode[0]) == 1
    assert np.isfinite(found.value[found.found]).all()


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
def test_no_payload_and_a_rigid_joint_are_among_the_values(mode):
    """They lie at the ends of the range, where rounding decides on which side a zero is."""
    found = jm.postures_at(THREE, omega_of(THREE, {"payload.mass": 0.0}, mode), "payload.mass")
    assert found.ok
    assert float(found.value[0]) == pytest.approx(0.0, rel=0.0, abs=1e-9)
    assert int(found.mode[0]) == mode
    rigid = omega_of(geared(), {"link2.joint_stiffness": np.inf}, mode)
    found = jm.postures_at(geared(), rigid, "link2.joint_stiffness")
    assert bool(found.found[0])
    assert found.ok
    assert float(found.value[0]) > 1e15
    assert int(found.mode[0]) == mode
    assert "certified" in str(found)


def test_values_at_the_limits_are_within_them():
    omega = omega_of(THREE, {"payload.mass": 5.0}, 2)
    for limits in [(5.0, 10.0), (1.0, 5.0)]:
        found = jm.postures_at(THREE, omega, "payload.mass", limits=limits)
        assert found.ok
        assert float(found.value[0]) == pytest.approx(5.0, rel=1e-13, abs=0.0)
    assert not jm.postures_at(THREE, omega, "payload.mass", limits=(5.1, 10.0)).found.any()


@pytest.mark.parametrize("limits", [None, (5e6, 2e7)])
def test_a_heavy_payload_has_the_digits_of_its_frequency(limits):
    """A payload of 1e6 times a link's mass; its lowest frequencies go with one over the root of it."""
    omega = omega_of(THREE, {"payload.mass": 1e7}, 1)
    found = jm.postures_at(THREE, omega, "payload.mass", limits=limits)
    assert bool(found.certified[0])
    assert float(found.value[0]) == pytest.approx(1e7, rel=1e-12, abs=0.0)


def test_values_far_from_the_usual_are_told_apart():
    """The determinant is evaluated at places as far apart as the limits, however small a usual value is beside them."""
    arms = turned(THREE, "timoshenko", "")
    places = unknown_of(THREE, arms, "payload.mass", (1e12, 3e12)).nodes
    assert np.ptp(places) > 1e12
    assert np.all(places >= 1e12)


def test_a_mass_with_two_equal_frequencies_is_told_once():
    """Of a round link both planes have one frequency: the determinant touches zero; counts prove it."""
    section = jm.hollow_circle(0.03, 0.004, "cowper")
    link = jm.SpatialLink(1.2, 7e10, 2700.0, section, poisson_ratio=0.33)
    arm = jm.SpatialArm((link,), jm.RigidBody(1.0))
    for mass in (0.7, 5.0):
        omega = omega_of(arm, {"payload.mass": mass}, 3)
        found = jm.postures_at(arm, omega, "payload.mass")
        at = np.flatnonzero(np.abs(np.asarray(found.value) / mass - 1.0) < 1e-10)
        assert at.size == 1
        assert found.ok
        counts = int(found.count_below[at[0]]), int(found.count_above[at[0]])
        assert counts == (2, 4)
        assert not np.asarray(found.mode)[~np.asarray(found.found)].any()
        assert int(found.found.sum()) == np.unique(np.asarray(found.value)[found.found]).size


def test_a_double_root_without_a_payload_is_found():
    arm = THREE.with_posture(DOUBLE_ROOT)
    omega = omega_of(arm, {"payload.mass": 0.0}, 2)
    found = jm.postures_at(arm, omega, "payload.mass")
    assert float(found.value[0]) == pytest.approx(0.0, rel=0.0, abs=1e-6)
    assert (int(found.count_below[0]), int(found.count_above[0])) == (1, 3)


def test_a_long_step_is_not_taken():
    """Where the exact value contradicts the polynomial, the place stays."""
    span = value_zeros.Span(0.0, np.inf, 1.0)
    x = span.coordinate(value_zeros.places(1))
    polynomial = value_zeros.through((x - 2.0)[None])
    place = np.array([2.0])
    assert value_zeros.corrected(polynomial, place, np.array([1.0]), span) == place
    near = value_zeros.corrected(polynomial, place, np.array([0.01]), span)
    assert near == pytest.approx([1.99], rel=1e-12, abs=0.0)


TENSOR = jm.examples.six_axis_industrial()


@pytest.mark.parametrize(
    ("arm", "changes", "message"),
    [
        (THREE, {"limits": (1.0, 1.0)}, "limits = .*ascending"),
        (THREE, {"limits": (np.nan, 1.0)}, "limits = .*ascending"),
        (geared(), {"joint": "link2.gear_ratio"}, "limits = None.*of either sign, finite$"),
        (
            geared(),
            {"joint": "link2.gear_ratio", "limits": (0.0, np.inf)},
            "limits = .*of either sign, finite$",
        ),
        (
            THREE.replace(links=tuple(k.replace(axial_force=-1e3) for k in THREE.links)),
            {},
            "bears axial forces.*take the forces away",
        ),
        (
            TENSOR,
            {"joint": "payload.inertia.xx"},
            r"limits = None.*of either sign, finite, in kg m\^2",
        ),
        (geared(motor="held"), {"joint": "link2.gear_ratio"}, "no frequency depends on it"),
        (THREE, {"joint": "2"}, "joint = '2': is text; give the number of a joint as 2"),
        (THREE, {"joint": "theta_3"}, "is the angle of a joint; give the number of the joint, 3"),
        (THREE, {"omega": [[1.0]]}, "omega = .*rad/s"),
        (THREE, {"omega": np.nan}, "omega = nan.*rad/s"),
    ],
)
def test_what_has_no_values_is_refused(arm, changes, message):
    with pytest.raises((ValueError, jm.ArmError), match=message):
        jm.postures_at(arm, **({"omega": 100.0, "joint": "payload.mass"} | changes))


def test_traced_values_are_refused():
    def value(mass, omega):
        arm = jm.set_parameters(THREE, {"payload.mass": mass})
        return jm.postures_at(arm, omega, "payload.mass").value

    with pytest.raises(ValueError, match=r"arm: holds traced values; postures_at needs known ones"):
        jax.eval_shape(lambda mass: value(mass, 100.0), 1.0)
    with pytest.raises(ValueError, match=r"omega = .*is traced"):
        jax.eval_shape(lambda omega: value(1.0, omega), 100.0)


def with_rotor(number, stiffness, inertia=0.1):
    """The flexible arm of two links, with a rotor of gear 0 on a spring at one of its joints."""
    arm = jm.examples.two_link_flexible()
    links = list(arm.links)
    links[number - 1] = links[number - 1].replace(
        rotor_inertia=inertia, gear_ratio=0.0, motor="beyond_spring", joint_stiffness=stiffness
    )
    return arm.replace(links=tuple(links))


def check_gears(arm, address, mode, limits, far):
    """Next to 0 one gear has the frequency of gear 0, and so have those ``far`` from it, as single arms say."""
    omega = omega_of(arm, {address: 0.0}, mode)
    found = jm.postures_at(arm, omega, address, limits=limits)
    known = np.asarray(found.value)[np.asarray(found.found)]
    np.testing.assert_allclose(known, sorted([0.0, *far]), rtol=1e-7, atol=1e-7)
    assert not np.signbit(known[known == 0.0]).any()
    assert found.ok
    assert np.asarray(found.mode)[np.asarray(found.found)].tolist() == [mode] * len(known)
    again = [omega_of(arm, {address: float(x)}, mode) for x in known]
    np.testing.assert_allclose(again, omega, rtol=1e-11, atol=0.0)


@pytest.mark.parametrize(
    ("mode", "limits", "far"),
    [
        (1, (-10.0, 10.0), [-2.634815614]),
        (1, (-1.0, 1.0), []),
        (1, (0.0, 10.0), []),
        (2, (-10.0, 10.0), [1.872902697]),
        (2, (-1e4, 1e4), [1.872902697]),
        (3, (-10.0, 10.0), [0.066062388]),
        (3, (-1.0, 1.0), [0.066062388]),
        (3, (-1e4, 0.0), []),
        (3, (-1e-3, 2e-3), []),
        (4, (-10.0, 10.0), [1.979430931]),
    ],
)
def test_the_gear_0_and_the_gear_far_from_it_are_found_once_each(mode, limits, far):
    """D has two zeros, one of them next to 0, which lies on both sides within rounding."""
    check_gears(with_rotor(2, 1e6), "link2.gear_ratio", mode, limits, far)


@pytest.mark.parametrize("limits", [(-10.0, 10.0), (0.0, 10.0), (-10.0, 0.0)])
@pytest.mark.parametrize(("mode", "stiffness"), [(1, 1e3), (2, 1e3), (1, 1e4), (3, 1e4)])
def test_a_gear_with_a_double_zero_at_0_is_found_once(mode, stiffness, limits):
    """At the base, where nothing turns before the spring, D is even in the gear."""
    arm = with_rotor(1, stiffness)
    omega = omega_of(arm, {}, mode)
    found = jm.postures_at(arm, omega, "link1.gear_ratio", limits=limits)
    known = np.asarray(found.value)[np.asarray(found.found)]
    assert known == pytest.approx([0.0], rel=0.0, abs=1e-6)
    assert found.ok


def test_gears_of_either_sign_at_the_base_are_both_found():
    arm = with_rotor(1, 1e3)
    omega = omega_of(arm, {"link1.gear_ratio": 3.0}, 2)
    found = jm.postures_at(arm, omega, "link1.gear_ratio", limits=(-10.0, 10.0))
    np.testing.assert_allclose(found.value, [-3.0, 3.0], rtol=1e-9, atol=0.0)


def test_a_rotor_of_little_weight_hides_no_gear_far_from_0():
    """Gears up to 0.003 change the frequency by less than is told apart: they are one, and the far one is the other."""
    arm, address = with_rotor(2, 1e6, 1e-8), "link2.gear_ratio"
    omega = omega_of(arm, {}, 2)
    found = jm.postures_at(arm, omega, address, limits=(-1e6, 1e6))
    assert float(found.value[0]) == pytest.approx(0.0, rel=0.0, abs=0.01)
    assert 1e5 < float(found.value[1]) < 3e5
    assert found.ok
    for x in np.asarray(found.value):
        assert omega_of(arm, {address: float(x)}, 2) == pytest.approx(omega, rel=1e-11, abs=0.0)


def test_zeros_are_the_same_within_a_share_of_what_is_usual():
    """Near 0 their ratio says nothing; one that is proven stands for one that is not."""
    x = np.array([[-0.0, 0.0, 6e-11, 2.0], [1.0, 1.0 + 1e-9, 2.0, np.nan], [1e-9, 1e-6, 0.5, 0.6]])
    proven = np.array([[False, True, True, True], [True, True, True, False], [True] * 4])
    assert value_zeros.repeated(x, proven, 1.0).tolist() == [
        [True, False, True, False],
        [False, True, False, False],
        [False, False, False, False],
    ]
