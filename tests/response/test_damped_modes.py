"""Are damped modes the roots that 40 digits find, none lost, up to and beyond critical damping?"""

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.damped.contour import zeros_inside
from tests.response.arms import bent, with_damping
from tests.response.exact_chain import Chain


def _soft(stiffness, damping, second=0.0):
    arm = bent(joint_stiffness=2e4, tip_mass=0.5, joint_damping=second)
    return arm.replace(
        links=(arm.links[0].replace(joint_stiffness=stiffness, joint_damping=damping), arm.links[1])
    )


PLAIN = bent(joint_stiffness=2e4, tip_mass=0.5)
ARMS = {
    "loss factors": (jm.Arm(tuple(x.replace(loss_factor=0.05) for x in PLAIN.links)), 5, 0),
    "Kelvin-Voigt": (jm.Arm(tuple(x.replace(kelvin_voigt_time=1e-5) for x in PLAIN.links)), 5, 0),
    "everything": (with_damping(PLAIN, 3), 5, 0),
    "joint damper": (_soft(1e5, 0.0, 20.0), 5, 0),
    "strong damper": (_soft(3e3, 3e2, 2.0), 5, 1),
    "overdamped": (_soft(3e2, 1e2), 3, 3),
}


@pytest.mark.parametrize("name", ARMS)
def test_roots_against_40_digits(name):
    arm, modes, overdamped = ARMS[name]
    found = jm.damped_modes(arm, modes)
    assert found.ok
    assert (found.multiplicity == 1).all()
    assert found.overdamped.sum() == overdamped
    assert set(found.mode) == set(range(1, modes + 1))
    for root in found.roots:
        assert_root(arm, root)


def assert_root(arm, root):
    """Of the determinant in 40 digits."""
    near = mpmath.mpmathify(complex(root))
    beside = near * (1 + mpmath.mpf("1e-12"))
    first, second = (Chain(arm, w).determinant() for w in (near, beside))
    exact = near - first * (beside - near) / (second - first)
    # what the step leaves of the determinant is its curvature: there is the root, and one alone
    assert abs(Chain(arm, exact).determinant()) < 1e-8 * abs(second)
    assert abs(complex(exact - near)) < 1e-12 * abs(root)


def test_a_batch_has_the_roots_of_40_digits_and_a_status_where_there_is_none():
    arm = _soft(3e3, 3e2, 2.0)
    values = {
        "link2.joint_angle": [1.1, -0.4, 2.0, 1.1, 0.3, 1.1],
        "link1.joint_damping": [300.0, 5.0, 0.0, 300.0, 40.0, 300.0],
        "link1.joint_stiffness": [3e3, 3e3, 2e4, 3e3, 0.0, -1.0],
        "payload.mass": [0.0, 1.0, 0.2, 0.0, 0.0, 0.0],
    }
    found = jm.damped_modes_batch(arm, values, 3)
    assert found.status[:4].tolist() == [[0] * 3] * 4
    assert (found.status[4:] == jm.Status.no_value).all()  # a damped free joint, no arm
    assert np.isnan([found.decay_rate[4:], found.damping_ratio[4:], found.frequencies_hz[4:]]).all()
    for cell in range(3):
        own = jm.set_parameters(arm, {name: column[cell] for name, column in values.items()})
        every = {*found.roots[cell].tolist(), *found.fast_roots[cell].tolist()}
        alone = jm.damped_modes(own, 3).roots
        np.testing.assert_allclose(sorted(every, key=abs), sorted(alone, key=abs), rtol=1e-12)
        assert_root(own, found.roots[cell, 0])
    # a cell has the same bits beside whatever others
    np.testing.assert_array_equal(found.roots[3], found.roots[0])
    alone = jm.damped_modes_batch(arm, {k: v[:1] for k, v in values.items()}, 3)
    np.testing.assert_allclose(alone.roots[0], found.roots[0], rtol=1e-14)
    data = found.to_xarray()
    assert data.frequency.dims == ("cell", "mode")
    assert data.frequency.attrs["units"] == "Hz"
    assert data.link2_joint_angle.attrs["units"] == "rad"
    assert "no_value (6 modes)" in str(found)


def test_a_batch_over_a_support_that_is_rigid_in_some_arms():
    first, second = (x.replace(loss_factor=0.05) for x in PLAIN.links)
    arm = jm.Arm((first, second.replace(support_y_stiffness=0.0)))
    values = {"link2.support_y_stiffness": [0.0, np.inf, 1e4, np.inf], "theta_2": [1, 1, 1, 0.4]}
    found = jm.damped_modes_batch(arm, values, 2)
    assert found.ok
    for cell in range(4):
        own = jm.set_parameters(arm, {name: column[cell] for name, column in values.items()})
        np.testing.assert_allclose(found.roots[cell], jm.damped_modes(own, 2).roots, rtol=1e-12)


def _one_mass(ratio):
    """A rigid bar on a spring with a damper: J q'' + c q' + k q = 0."""
    link = jm.Link(
        1.0, 7e10, 2700.0, jm.rectangle(0.01, 0.01), rigid=True, joint_stiffness=1e3, tip_mass=1.0
    )
    inertia = 2700.0 * 1e-4 / 3 + 1.0
    damping = 2 * ratio * np.sqrt(1e3 * inertia)
    return jm.Arm((link.replace(joint_damping=damping),)), np.sqrt(1e3 / inertia)


def test_one_mass_in_closed_form():
    for ratio in (0.3, 0.999):
        arm, omega = _one_mass(ratio)
        found = jm.damped_modes(arm, 1, theory="euler_bernoulli")
        np.testing.assert_allclose(
            found.roots, [omega * (np.sqrt(1 - ratio**2) + 1j * ratio)], rtol=1e-11
        )
        np.testing.assert_allclose(found.damping_ratio, ratio, rtol=1e-11)
        np.testing.assert_allclose(found.decay_rate, ratio * omega, rtol=1e-11)
    arm, omega = _one_mass(2.0)
    found = jm.damped_modes(arm, 1, theory="euler_bernoulli")
    assert found.overdamped.all()
    assert found.ok
    truth = omega * (2.0 + np.sqrt(3.0) * np.array([-1.0, 1.0]))
    np.testing.assert_allclose(np.sort(found.decay_rate), truth, rtol=1e-11)
    assert "overdamped" in str(found)


def test_a_double_root_at_critical_damping():
    """Rounding parts a double root by the root of 1e-16, so 1e-7 is what double precision has."""
    arm, omega = _one_mass(1.0)
    found = jm.damped_modes(arm, 1, theory="euler_bernoulli")
    assert found.multiplicity.tolist() == [2]
    assert found.ok
    np.testing.assert_allclose(np.abs(found.roots), [omega], rtol=1e-7)
    slopes = jm.damped_sensitivities(arm, 1, theory="euler_bernoulli", addresses=["payload.mass"])
    assert np.isnan(slopes.derivative).all()
    assert slopes.status.tolist() == [jm.Status.no_value]


@pytest.mark.parametrize(
    ("length", "stiffness"),
    [
        (0.7, 2e4),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((1.0, 1e3), (1.3, 50.0))),
    ],
)
def test_critical_damping_has_no_frequency_of_rounding(length, stiffness):
    link = jm.Link(
        length, 7e10, 2700.0, jm.rectangle(0.02, 0.05), rigid=True, joint_stiffness=stiffness
    )
    damping = 2.0 * np.sqrt(stiffness * 2.7 * length**3 / 3.0)
    found = jm.damped_modes(
        jm.Arm((link.replace(joint_damping=damping),)), 1, theory="euler_bernoulli"
    )
    assert found.multiplicity.tolist() == [2]
    assert found.frequencies_hz.tolist() == [0.0]
    assert found.overdamped.all()
    assert found.ok
    assert "overdamped" in str(found)


def test_roots_close_to_a_long_side_are_counted():
    """Two rigid bars: M q'' + C q' + K q = 0, roots from 2.5 to 2044 that lie at 8 from a side of the contour."""
    link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05), rigid=True)
    (k1, c1), (k2, c2) = springs = ((2e3, 30.0), (1e3, 400.0))
    arm = jm.Arm(tuple(link.replace(joint_stiffness=k, joint_damping=c) for k, c in springs))
    inverse = np.linalg.inv(2.7 * np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]]))
    stiffness, damping = (np.array([[a + b, -b], [-b, b]]) for a, b in ((k1, k2), (c1, c2)))
    state = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ stiffness, -inverse @ damping]])
    truth = -1j * np.linalg.eigvals(state)
    truth = truth[truth.real > -1e-9]
    found = jm.damped_modes(arm, 2, theory="euler_bernoulli")
    for each in truth:
        assert np.abs(found.roots - each).min() < 1e-10 * abs(each)
    assert found.roots.size == truth.size == 3
    assert found.ok


def test_whole_turns_between_two_places_are_seen():
    corners = np.array([[complex(x, y) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]])
    orders = np.array([1, 200, 400])
    each = [np.array([])] * 3, np.repeat(corners, 3, axis=0)
    assert np.array_equal(zeros_inside(lambda k, z: orders[k] * np.log(z), *each), orders)
    # double zeros: the phase turns by 2 pi past each, within a few of its distances from the side
    near = np.repeat([-1.0 + 1e-6 + 0.3123j, 1.0 + 1e-6 - 0.5123j, 0.3123 - 0.999999j], 2)
    inside = zeros_inside(lambda _, z: np.log(z[:, None] - near).sum(axis=1), [near], corners)
    assert inside == 4


def test_light_damping_is_the_half_power_width_of_the_peak():
    """The response near a root: its largest quadrature part stands at the damped frequency to the damping squared."""
    arm = jm.Arm(tuple(x.replace(loss_factor=1e-3) for x in PLAIN.links))
    found = jm.damped_modes(arm, 1)
    root = found.roots[0]
    ends = root.real + np.array([-1.0, 0.0, 1.0]) * root.imag
    size = jm.frequency_response(arm, ends, "tip.across", "tip.across").magnitude[0, 0]
    np.testing.assert_allclose(size[[0, 2]] / size[1], np.sqrt(0.5), rtol=3e-3)


def test_undamped_modes_stay_and_bad_input_is_refused():
    found = jm.damped_modes(PLAIN, 3)
    np.testing.assert_allclose(found.roots, jm.natural_frequencies(PLAIN, 3).omega, rtol=1e-12)
    np.testing.assert_array_equal(found.mode, [1, 2, 3])
    with pytest.raises(jm.ArmError, match="motion of zero frequency cannot be followed"):
        jm.damped_modes(bent(joint_stiffness=0.0, joint_damping=1.0), 2)
    with pytest.raises(jm.ArmError, match="num_modes = 2: the arm has 1 modes"):
        jm.damped_modes(_one_mass(0.3)[0], 2, theory="euler_bernoulli")
    with pytest.raises(ValueError, match="num_modes"):
        jm.damped_modes(PLAIN, 0)


@pytest.mark.parametrize("free", [1, 3])
def test_arms_that_drift(free):
    """One Kelvin-Voigt time tau for all that is elastic: ``root^2 = omega^2 (1 + i tau root)``; zeros stay."""
    tau = 2e-5
    arm = bent(joint_stiffness=0.0 if free == 1 else np.inf)
    links = tuple(link.replace(kelvin_voigt_time=tau) for link in arm.links)
    if free == 3:
        loose = {f"joint_{kind}stiffness": 0.0 for kind in ("", "axial_", "shear_")}
        links = (links[0].replace(**loose), links[1])
    arm = jm.Arm(links)
    found = jm.damped_modes(arm, free + 3)
    omega = np.asarray(jm.natural_frequencies(arm, free + 3).omega)
    assert omega[:free].tolist() == [0.0] * free
    truth = 0.5j * tau * omega**2 + omega * np.sqrt(1.0 - (0.5 * tau * omega) ** 2)
    np.testing.assert_allclose(found.roots, truth, rtol=1e-11)
    assert found.ok
    assert found.multiplicity.tolist() == [2 * free] * free + [1] * 3
    assert found.damping_ratio[:free].tolist() == [0.0] * free
    assert not found.overdamped.any()
    damped = arm.replace(links=(arm.links[0].replace(joint_damping=1.0), arm.links[1]))
    if free == 3:
        with pytest.raises(
            jm.ArmError, match=r"link1\.joint_damping: lies at a joint without a spring"
        ):
            jm.damped_modes(damped, 2)


def test_damping_that_is_rounding_is_not_drawn():
    pytest.importorskip("matplotlib")
    axes = jm.damped_modes(PLAIN, 2).plot()
    assert not axes.lines
    assert not axes.texts
