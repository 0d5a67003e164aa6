"""Peaks, random inputs and signals in time, against oscillators in closed form and the certified frequencies."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

import jaxmodal as jm
from jaxmodal.response.driven.damping import damps
from tests.support.damped_cantilever import cantilever, pendulum
from tests.support.duhamel import motion_under_pulse, pulse

EB = "euler_bernoulli"
STIFFNESS, DAMPER = 50.0, 0.4


@pytest.fixture(scope="module")
def oscillator():
    """A rigid link on a spring and a damper, with its inertia, natural frequency and damping ratio."""
    arm, inertia = pendulum(STIFFNESS)
    arm = jm.Arm((arm.links[0].replace(joint_damping=DAMPER),))
    natural = np.sqrt(STIFFNESS / inertia)
    return arm, inertia, natural, DAMPER / (2.0 * np.sqrt(STIFFNESS * inertia))


@pytest.fixture(scope="module")
def bent():
    link = cantilever(kelvin_voigt_time=2e-5).links[0]
    second = link.replace(joint_angle=0.8, joint_stiffness=800.0, joint_damping=2.0)
    return jm.Arm((link, second), jm.Payload(mass=0.4))


@pytest.mark.parametrize(
    ("motion", "factor"),
    [
        ("displacement", lambda z: np.sqrt(1 - 2 * z * z)),
        ("velocity", lambda z: 1.0),
        ("acceleration", lambda z: 1.0 / np.sqrt(1 - 2 * z * z)),
    ],
)
def test_peaks_of_an_oscillator(oscillator, motion, factor):
    arm, _, natural, ratio = oscillator
    found = jm.response_peaks(
        arm, 1.0, 100.0, "joint_1.moment", "joint_1.rotation", theory=EB, motion=motion
    )
    np.testing.assert_allclose(found.omega, [natural * factor(ratio)], rtol=1e-10)
    if motion == "displacement":
        largest = 1.0 / (STIFFNESS * 2.0 * ratio * np.sqrt(1.0 - ratio**2))
        np.testing.assert_allclose(np.abs(found.values), [largest], rtol=1e-12)


@pytest.mark.parametrize("highest", [100.0, pytest.param(1500.0, marks=pytest.mark.slow)])
def test_peaks_of_a_lightly_damped_arm_are_at_the_certified_frequencies(highest):
    """With a loss factor of 1e-7, to its square; and at one port between every two peaks lies a dip.

    One peak, and four in the slow tests: each is halved thirty times, and answered on circles all the way.
    """
    link = cantilever(loss_factor=1e-7).links[0]
    arm = jm.Arm((link, link.replace(joint_angle=0.8)), jm.Payload(mass=0.4))
    found = jm.response_peaks(arm, 5.0, highest, "tip.across", "tip.across")
    certified = jm.frequencies_in_band(arm, 5.0, highest)
    assert certified.omega.size >= 1
    np.testing.assert_allclose(found.omega, certified.omega, rtol=1e-11)
    dips = found.dips
    assert dips.size >= found.omega.size - 1
    assert np.all(
        (dips[: found.omega.size - 1] > found.omega[:-1])
        & (dips[: found.omega.size - 1] < found.omega[1:])
    )
    assert f"{found.omega.size} peaks" in str(found)


def test_each_peak_is_higher_than_what_is_beside_it(bent):
    found = jm.response_peaks(bent, 5.0, 4000.0, "joint_2.torque", "tip.x")
    width = 1e-5 * found.omega
    beside = np.concatenate([found.omega - width, found.omega + width])
    answer = jm.frequency_response(bent, beside, "joint_2.torque", "tip.x").values[0, 0]
    assert np.all(np.abs(answer).reshape(2, -1) < np.abs(found.values))


def test_harmonic_forces_add_up(bent):
    omega = np.array([10.0, 300.0])
    forces = {"tip.x": 2.0, "joint_2.torque": 1.0 - 0.5j, "base.y": 0.1}
    found = jm.harmonic_response(bent, omega, forces, ["tip.across", "tip.rotation"]).values
    one, two = (
        jm.frequency_response(bent, omega, name, ["tip.across", "tip.rotation"]).values[:, 0]
        for name in ("tip.x", "joint_2.torque")
    )
    ground = jm.frequency_response(
        bent, omega, "base.y", ["tip.across", "tip.rotation"], quantity="transmissibility"
    ).values[:, 0]
    truth = 2.0 * one + (1.0 - 0.5j) * two - 0.1 * ground / omega**2
    np.testing.assert_allclose(found, truth, rtol=1e-13)


def test_white_noise_on_an_oscillator(oscillator):
    """The mean square is S / (4 c k) over all frequencies; what lies outside of the band is taken off."""
    arm, inertia, _, _ = oscillator
    found = jm.random_response(
        arm, 3.0, 1e-3, 1e4, "joint_1.moment", ["joint_1.rotation", "tip.across"], theory=EB
    )
    below = 3.0 / STIFFNESS**2 * 1e-3 / (2.0 * np.pi)
    above = 3.0 / inertia**2 / (3.0 * 1e4**3) / (2.0 * np.pi)
    truth = 3.0 / (4.0 * DAMPER * STIFFNESS) - below - above
    np.testing.assert_allclose(found.rms**2, [truth, 0.25 * truth], rtol=1e-8)
    assert np.all(found.error < 1e-8 * found.rms)
    assert "root mean squares" in str(found)


def test_a_spectrum_as_function_and_as_table(oscillator):
    """A band of noise with straight flanks, over a sharp peak; and the acceleration of the base."""
    arm, inertia, _, _ = oscillator
    table = ([0.5, 1.0, 2.0, 4.0], [0.0, 2.0, 2.0, 0.0])
    ports = ("base.rotation", "joint_1.relative_rotation")
    found = jm.random_response(arm, table, 0.1, 100.0, *ports, theory=EB, tolerance=1e-8)
    same = jm.random_response(
        arm, lambda f: np.interp(f, *table), 4.0, 12.0, *ports, theory=EB, tolerance=1e-6
    )

    def power(hertz):
        w = 2.0 * np.pi * hertz
        # in the frame of the base the inertia acts against its acceleration
        size = inertia / np.abs(STIFFNESS - inertia * w * w + 1j * w * DAMPER)
        return np.interp(hertz, *table) * size**2

    square = scipy.integrate.quad(power, 0.5, 4.0, points=[1.0, 1.59, 2.0], epsabs=0, epsrel=1e-12)
    np.testing.assert_allclose(found.rms, np.sqrt(square[0]), rtol=1e-8)
    square = scipy.integrate.quad(power, 4.0 / (2.0 * np.pi), 12.0 / (2.0 * np.pi), epsabs=0)
    np.testing.assert_allclose(same.rms, np.sqrt(square[0]), rtol=1e-6)


def test_a_pulse_on_an_oscillator(oscillator):
    """Duhamel's integral."""
    arm, inertia, natural, ratio = oscillator
    step = 0.01
    time = step * np.arange(500)
    found = jm.time_response(
        arm, pulse(time), step, "joint_1.moment", "joint_1.rotation", theory=EB
    )
    np.testing.assert_allclose(found.time, time, rtol=1e-15)
    for k in (95, 130, 260, 499):
        truth = motion_under_pulse(time[k], inertia, natural, ratio)
        assert abs(found.values[0, k] - truth) < 1e-9 * np.abs(found.values).max()
    assert "displacement over" in str(found)


def test_a_signal_in_time_against_the_state_space():
    """A pulse at the tip: the exact response, and matrices of modes with the same damping stepped by python-control."""
    import control

    link = cantilever(kelvin_voigt_time=2e-3).links[0]
    arm = jm.Arm((link, link.replace(joint_angle=0.8)), jm.Payload(mass=0.4))
    time = 1e-4 * np.arange(1600)
    pulse = np.exp(-(((time - 0.02) / 0.004) ** 2))
    found = jm.time_response(arm, pulse, 1e-4, "tip.y", "tip.across")
    system = jm.state_space(arm, "tip.y", "tip.across", 8).discrete(1e-4, "foh")
    _, truth = control.forced_response(system.to_control(), time, pulse)
    # lines between the samples miss h^2/8 of the pulse's curvature, 1.6e-4
    assert np.abs(found.values[0] - truth).max() < 2e-4 * np.abs(found.values).max()


def test_a_periodic_signal_is_its_harmonics(bent):
    step, count = 1e-3, 400
    base = 2.0 * np.pi / (step * count)
    time = step * np.arange(count)
    signal = 1.0 + np.cos(3 * base * time) + 0.5 * np.sin(11 * base * time)
    found = jm.time_response(bent, signal, step, "tip.y", "tip.x", periodic=np.array(True))
    amplitude = jm.frequency_response(bent, base * np.array([3.0, 11.0]), "tip.y", "tip.x").values[
        0, 0
    ]
    truth = jm.static_compliance(bent, "tip.y", "tip.x").values[0, 0] + np.real(
        amplitude[0] * np.exp(3j * base * time) - 0.5j * amplitude[1] * np.exp(11j * base * time)
    )
    np.testing.assert_allclose(found.values[0], truth, rtol=0.0, atol=1e-10 * np.abs(truth).max())


def test_two_inputs_in_time_are_two_signals(oscillator):
    """A moment at the joint, later a force across the tip, half a metre away: Duhamel's integral of each."""
    arm, inertia, natural, ratio = oscillator
    step = 0.01
    time = step * np.arange(400)
    signals = np.stack([pulse(time), -3.0 * pulse(time - 0.8)])
    inputs, outputs = ["joint_1.moment", "tip.across"], ["tip.across", "joint_1.rotation"]
    found = jm.time_response(arm, signals, step, inputs, outputs, theory=EB)
    size = np.abs(found.values).max()
    for k in (120, 200, 390):
        angle = motion_under_pulse(time[k], inertia, natural, ratio)
        angle -= 0.5 * 3.0 * motion_under_pulse(time[k] - 0.8, inertia, natural, ratio)
        truth = [0.5 * angle, angle]
        np.testing.assert_allclose(found.values[:, k], truth, rtol=0.0, atol=1e-9 * size)
    assert "under joint_1.moment, tip_1.force_across" in str(found)
    with pytest.raises(jm.ArmError, match="2 ports for a signal of 1 rows; give a row of the"):
        jm.time_response(arm, signals[0], step, inputs, outputs, theory=EB)


def test_two_inputs_that_repeat_are_the_sum_of_each_and_their_harmonics(bent):
    step, count = 1e-3, 400
    base, time = 2.0 * np.pi / (step * count), step * np.arange(count)
    inputs, outputs = ["tip.y", "joint_2.torque"], ["tip.x", "joint_2.relative_rotation"]
    signals = np.stack([1.0 + np.cos(3 * base * time), 20.0 * np.sin(7 * base * time) - 5.0])
    both = jm.time_response(bent, signals, step, inputs, outputs, periodic=True).values
    alone = [
        jm.time_response(bent, row, step, name, outputs, periodic=True).values
        for row, name in zip(signals, inputs, strict=True)
    ]
    size = np.abs(both).max(axis=1, keepdims=True)
    np.testing.assert_allclose((both - sum(alone)) / size, 0.0, rtol=0.0, atol=1e-12)
    exact = jm.frequency_response(bent, base * np.array([3.0, 7.0]), inputs, outputs).values
    still = jm.static_compliance(bent, inputs, outputs).values
    truth = (
        still @ [[1.0], [-5.0]]
        + np.real(exact[:, 0, :1] * np.exp(3j * base * time))
        + np.real(-20j * exact[:, 1, 1:] * np.exp(7j * base * time))
    )
    np.testing.assert_allclose((both - truth) / size, 0.0, rtol=0.0, atol=1e-10)


def test_a_periodic_acceleration_of_the_base_moves_the_arm_about_its_place(oscillator):
    """The acceleration of a harmonic turn of the base: the arm's own turn in closed form, without a mean."""
    arm, inertia, _, _ = oscillator
    step, count = 1e-3, 700
    w = 3 * 2.0 * np.pi / (step * count)
    time = step * np.arange(count)
    signal = np.cos(w * time)
    ports = ("base.rotation", ["tip.rotation"])
    found = jm.time_response(arm, signal, step, *ports, theory=EB, periodic=True)
    spring = STIFFNESS + 1j * w * DAMPER
    truth = np.real(-spring / (spring - inertia * w * w) / w**2 * np.exp(1j * w * time))
    # the largest motion of some 1 / w^2, by rounding
    np.testing.assert_allclose(found.values[0], truth, rtol=0.0, atol=1e-12 * np.abs(truth).max())
    with pytest.raises(ValueError, match=r"signal: has the mean 0\.[89].*motion=.acceleration"):
        jm.time_response(arm, signal + 0.9, step, *ports, theory=EB, periodic=True)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_base_that_is_accelerated_beside_a_force_in_either_order(oscillator, order):
    """A turn of the base about its place and a moment with a mean, which gives a moment over the spring."""
    arm, inertia, _, _ = oscillator
    step, count = 1e-3, 700
    w = 2 * 2.0 * np.pi / (step * count)
    time = step * np.arange(count)
    order = list(order)
    signals = np.stack([np.cos(w * time), 3.0 + np.sin(2.0 * w * time)])[order]
    inputs = [("base.rotation", "joint_1.moment")[k] for k in order]
    found = jm.time_response(arm, signals, step, inputs, "tip.rotation", theory=EB, periodic=True)

    def spring(w):
        return STIFFNESS + 1j * w * DAMPER

    of_base = -spring(w) / (spring(w) - inertia * w * w) / w**2
    of_moment = -1j / (spring(2.0 * w) - inertia * (2.0 * w) ** 2)
    truth = 3.0 / STIFFNESS + np.real(
        of_base * np.exp(1j * w * time) + of_moment * np.exp(2j * w * time)
    )
    np.testing.assert_allclose(found.values[0], truth, rtol=0.0, atol=1e-11 * np.abs(truth).max())
    asked = step, inputs, "tip.rotation"
    pushed = signals + np.array([[0.9], [0.0]])[order]
    with pytest.raises(ValueError, match=r"the mean 0\.9.*the base moves on.*motion=.acceleration"):
        jm.time_response(arm, pushed, *asked, theory=EB, periodic=True)
    with pytest.raises(jm.ArmError, match="motion = 'displacement': a base that is accelerated"):
        jm.time_response(arm, signals, *asked, theory=EB)


def test_periodic_forces_without_a_mean_move_a_free_arm_about_its_place():
    """A rod that nothing holds, pushed at one end: in closed form what both ends do, without a mean."""
    rod = cantilever().links[0]
    arm = jm.Arm((rod,), base_stiffness=np.zeros((3, 3)))
    step, count = 2e-5, 501
    base, time = 2.0 * np.pi / (step * count), step * np.arange(501)
    signal = np.cos(3 * base * time) - 0.4 * np.sin(70 * base * time)
    outputs = ["tip.along", "joint_1.along"]
    found = jm.time_response(arm, signal, step, "tip.along", outputs, theory=EB, periodic=True)
    modulus, length = (float(x) for x in (rod.youngs_modulus, rod.length))
    truth = np.zeros((2, count))
    for number, wave in ((3, np.cos), (70, lambda x: -0.4 * np.sin(x))):
        k = number * base * np.sqrt(float(rod.density) / modulus)
        size = -1.0 / (modulus * float(rod.area) * k * np.sin(k * length))
        truth += size * np.array([[np.cos(k * length)], [1.0]]) * wave(number * base * time)
    np.testing.assert_allclose(found.values, truth, rtol=0.0, atol=1e-11 * np.abs(truth).max())
    faster = jm.time_response(
        arm, signal, step, "tip.along", outputs, theory=EB, periodic=True, motion="velocity"
    )
    assert np.abs(faster.values.mean(axis=1)).max() <= 1e-12 * np.abs(faster.values).max()
    words = r"signal: has the mean .*a free base\) moves on without.*ask for motion='acceleration'"
    with pytest.raises(ValueError, match=words):
        jm.time_response(arm, signal + 1.0, step, "tip.along", outputs, theory=EB, periodic=True)
    thrust, how = np.full(2, 3.0), {"periodic": True, "motion": "acceleration"}
    along, across = "tip.along", ["tip.across", "joint_1.across", "tip.along"]
    pushed = jm.time_response(arm, thrust, step, along, outputs, theory=EB, **how)
    np.testing.assert_allclose(pushed.values, 3.0 / float(rod.mass), rtol=1e-10)
    turned = jm.time_response(arm, thrust, step, "tip.across", across, theory=EB, **how)
    mass, slender = float(rod.mass), np.array([[4.0], [-2.0], [0.0]])
    np.testing.assert_allclose(
        turned.values, 3.0 / mass * slender + 0.0 * turned.values, rtol=0.0, atol=1e-9
    )


def test_a_mean_force_on_a_damped_hinge_without_a_spring_accelerates_nothing_for_ever():
    arm = cantilever(joint_stiffness=0.0, joint_damping=0.1)
    with pytest.raises(ValueError, match=r"signal: has the mean 0\.5"):
        jm.time_response(
            arm, [1.0, 0.0], 0.1, "tip.y", "tip.y", theory=EB, periodic=True, motion="acceleration"
        )


def test_gravity_of_size_zero_leaves_a_free_hinge_free():
    """Loads cut links into segments; a free joint beyond the first counts all the same."""
    rod = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05), tip_mass=0.5)
    arm = jm.Arm((rod, rod.replace(joint_stiffness=0.0)))
    asked = [3.0, 3.0], 0.1, "tip.y", "tip.y"
    how = {"theory": EB, "periodic": True, "motion": "acceleration"}
    found = jm.time_response(arm.replace(loads=jm.Loads(gravity=0.0)), *asked, **how)
    # the outer link alone turns about its hinge: a = F L^2/J
    inertia = float(rod.mass) / 3.0 + 0.5
    np.testing.assert_allclose(found.values, 3.0 / inertia, rtol=1e-9)


def test_what_a_spring_gives_under_an_accelerated_base_does_come_to_rest(oscillator):
    """A pulse of the base's acceleration; Duhamel's integral of the inertia against it."""
    arm, _, natural, ratio = oscillator
    step, damped = 0.01, natural * np.sqrt(1.0 - ratio**2)
    time = step * np.arange(300)
    pulse = np.exp(-(((time - 1.0) / 0.15) ** 2))
    found = jm.time_response(
        arm, pulse, step, "base.rotation", "joint_1.relative_rotation", theory=EB
    )
    truth, _ = scipy.integrate.quad(
        lambda s: (
            -np.exp(-(((s - 1.0) / 0.15) ** 2) - ratio * natural * (time[130] - s))
            * np.sin(damped * (time[130] - s))
            / damped
        ),
        0.0,
        time[130],
        points=[1.0],
        epsabs=1e-14,
    )
    assert abs(found.values[0, 130] - truth) < 1e-9 * np.abs(found.values).max()


def test_a_damper_at_a_free_hinge_acts_and_a_loss_factor_of_zero_is_no_law(bent):
    hinge = cantilever(joint_stiffness=0.0, joint_damping=1.0)
    assert damps(hinge)
    links = tuple(link.replace(loss_factor=0.0) for link in bent.links)
    signal = np.exp(-((np.arange(64) - 20.0) ** 2) / 30.0)
    found, same = (
        jm.time_response(arm, signal, 1e-3, "tip.across", "tip.across").values
        for arm in (bent, bent.replace(links=links))
    )
    np.testing.assert_allclose(found, same, rtol=0.0, atol=1e-13 * np.abs(found).max())


def test_an_infinite_response_warns_of_nothing():
    """At a natural frequency of an undamped arm, to the last bit."""
    arm, _ = pendulum(50.0)
    omega = float(jm.natural_frequencies(arm, 1, theory=EB).omega[0])
    places = np.nextafter(omega, [0.0, omega, np.inf])
    found = jm.harmonic_response(
        arm, places, {"tip.across": 1.0}, "tip.across", theory=EB, motion="velocity"
    ).values
    assert not np.all(np.abs(found) < 1e10)


@pytest.mark.parametrize("value", [np.int64(10), np.float32(10), jnp.asarray(10.0), np.array(10)])
def test_numbers_of_other_libraries_are_amplitudes(oscillator, value):
    found, same = (
        jm.harmonic_response(oscillator[0], 3.0, {"tip.across": x}, "tip.across", theory=EB).values
        for x in (value, 10.0)
    )
    np.testing.assert_array_equal(found, same)


def test_a_force_beside_a_base_of_which_the_speed_is_given(oscillator):
    """In either order they move the arm by the sum of what each does; a base that moves on without end is refused."""
    arm, *_ = oscillator
    step, count = 0.02, 64
    force = 2.0 + np.sin(2.0 * np.pi * np.arange(count) / count)
    speed = np.cos(2.0 * np.pi * np.arange(count) / count)
    options = {"theory": EB, "periodic": True, "base_motion": "velocity"}

    def moved(signal, inputs):
        return jm.time_response(arm, signal, step, inputs, "tip.across", **options).values

    alone = moved(force, "tip.across") + moved(speed, "base.across")
    both = moved([force, speed], ["tip.across", "base.across"])
    turned = moved([speed, force], ["base.across", "tip.across"])
    # rounding of the base's motion, which is the larger
    scale = 1e-12 * np.abs(alone).max()
    np.testing.assert_allclose(both, alone, rtol=1e-12, atol=scale)
    np.testing.assert_allclose(turned, alone, rtol=1e-12, atol=scale)
    with pytest.raises(ValueError, match=r"mean 1\.0, with which the base moves on without end"):
        moved([force, speed + 1.0], ["tip.across", "base.across"])
