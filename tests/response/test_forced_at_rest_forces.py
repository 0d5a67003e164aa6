"""Peaks, noise and signals of arms under forces at rest: 40 digits, beam columns, pendulums, finite elements."""

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.response.arms import bent, target, with_damping
from tests.response.exact_chain import Chain
from tests.support.damped_cantilever import cantilever, pendulum
from tests.support.duhamel import motion_under_pulse, pulse
from tests.support.finite_elements import case_from_arm, tip_receptance

EB, TIP = "euler_bernoulli", "tip.across"
LENGTH, LINE, RIGIDITY, ETA = 1.3, 2700.0 * 4e-4, 7e10 * 0.04 * 0.01**3 / 12, 0.02
CRITICAL = RIGIDITY * (np.pi / 2.0 / LENGTH) ** 2


def column(force, **changes):
    """Clamped and free, of a material with a loss factor; it buckles at ``-CRITICAL``."""
    link = jm.Link(
        LENGTH, 7e10, 2700.0, jm.rectangle(0.01, 0.04), loss_factor=ETA, axial_force=force
    )
    return jm.Arm((link.replace(**changes),))


def beam_column(force, omega):
    """Deflection of the tip for a unit force across it, in 40 digits.

    E I (1 + i eta) w'''' - N w'' - rho A omega^2 w = 0, at the tip w'' = 0 and N w' - E I (1 + i eta) w''' = 1.
    """
    rigidity = mpmath.mpf(RIGIDITY) * mpmath.mpc(1, ETA)
    half = mpmath.mpf(force) / (2 * rigidity)
    root = mpmath.sqrt(half**2 + mpmath.mpf(LINE) * mpmath.mpf(omega) ** 2 / rigidity)
    a, b = mpmath.sqrt(root + half), mpmath.sqrt(root - half)
    za, zb = a * LENGTH, b * LENGTH
    sh, ch, s, c = mpmath.sinh(za), mpmath.cosh(za), mpmath.sin(zb), mpmath.cos(zb)
    # w = p (cosh a x - cos b x) + q (sinh a x - a/b sin b x)
    p, q = a * a * ch + b * b * c, a * a * sh + a * b * s
    own, n = rigidity, mpmath.mpf(force)
    of_p = n * (a * sh + b * s) - own * (a**3 * sh - b**3 * s)
    of_q = n * a * (ch - c) - own * (a**3 * ch + a * b * b * c)
    size = of_q - of_p * q / p
    return ((sh - a / b * s) - q / p * (ch - c)) / size


def test_the_closed_form_is_that_of_the_chain():
    arm = column(-0.6 * CRITICAL)
    exact = Chain(arm, 37.0, EB).response(target(arm, TIP), [target(arm, TIP)])[0]
    assert abs(beam_column(-0.6 * CRITICAL, 37.0) / exact - 1) < 1e-14  # inputs are rounded


def test_harmonic_forces_and_motions_of_the_base_against_40_digits():
    arm = bent(joint_stiffness=2e4, tip_mass=0.5)
    one = arm.links[0].replace(axial_force=-2e4, base_offset_x=0.05, hub_mass=0.3, hub_inertia=1e-3)
    two = arm.links[1].replace(axial_force=5e4, end_offset_x=0.1, end_turning_stiffness=50.0)
    arm = with_damping(arm.replace(links=(one, two)), 7)
    forces = {"tip.x": 2.0, "joint_2.torque": 1.0 - 0.5j, "base.rotation": 0.3, "base.y": 20.0}
    outputs = ["tip.across", "joint_2.relative_rotation", "link_1@0.4.y"]
    places = np.array([2e-3, 40.0, 3e3])
    found = jm.harmonic_response(arm, places, forces, outputs, base_motion="velocity").values
    for k, omega in enumerate(places):
        chain, exact, size = Chain(arm, omega), [0, 0, 0], [0, 0, 0]
        for name, amplitude in forces.items():
            moved = chain.response(target(arm, name), [target(arm, out) for out in outputs])
            if name.startswith("base"):
                amplitude = amplitude / mpmath.mpc(0, omega)
            exact = [x + amplitude * y for x, y in zip(exact, moved, strict=True)]
            size = [x + abs(amplitude * y) for x, y in zip(size, moved, strict=True)]
        for value, truth, whole in zip(found[:, k], exact, size, strict=True):
            assert abs(mpmath.mpmathify(complex(value)) - truth) <= 1e-11 * whole


@pytest.mark.parametrize("share", [-0.9, 3.0])
def test_peaks_are_where_40_digits_have_them(share):
    """The slope over the bend of the squared size says how far a peak is off: 1e-8 of its half-power width."""
    force = share * CRITICAL
    found = jm.response_peaks(column(force), 1.0, 1500.0, TIP, TIP, theory=EB)
    modes = jm.frequencies_in_band(column(force), 1.0, 1500.0, theory=EB)
    np.testing.assert_allclose(found.omega, modes.omega, rtol=0.02)
    for omega, value in zip(found.omega, found.values, strict=True):
        step = mpmath.mpf(omega) * mpmath.mpf(10) ** -10
        before, at, after = (
            abs(beam_column(force, mpmath.mpf(omega) + k * step)) ** 2 for k in (-1, 0, 1)
        )
        off = -(after - before) / 2 * step / (after - 2 * at + before)
        assert abs(off) < 1e-8 * ETA * omega
        np.testing.assert_allclose(abs(value), float(mpmath.sqrt(at)), rtol=1e-11)


@pytest.mark.slow
def test_peaks_of_lightly_damped_arms_under_loads_are_at_the_certified_frequencies():
    """A force at rest is not damped: with a loss factor of 1e-7 peaks are there to its square."""
    link = cantilever(loss_factor=1e-7, joint_angle=1.3).links[0]
    arm = jm.Arm((link, link.replace(joint_angle=-0.8)), jm.Payload(mass=0.4))
    arm = arm.replace(loads=jm.Loads(gravity=9.81, tip_force_y=-150.0, pieces=2))
    found = jm.response_peaks(arm, 5.0, 200.0, TIP, TIP)
    certified = jm.frequencies_in_band(arm, 5.0, 200.0)
    np.testing.assert_allclose(found.omega, certified.omega, rtol=1e-11)
    alone = jm.natural_frequencies(arm.replace(loads=None), 1)
    assert abs(alone.omega[0] / certified.omega[0] - 1.0) > 0.01


def test_the_variance_under_noise_is_an_integral_of_40_digits():
    force, band = -0.7 * CRITICAL, (2.0, 220.0)
    arm = column(force)
    found = jm.random_response(arm, 2.5, *band, TIP, TIP, theory=EB)
    places = jm.frequencies_in_band(arm, *band, theory=EB)
    first, second = (mpmath.mpf(float(x)) for x in places.omega)
    # pieces that a peak of the relative width eta bounds geometrically
    spread = [1 + sign * mpmath.mpf(ETA) * 4**k for k in range(3) for sign in (-1, 1)]
    breaks = sorted(
        x for x in [*band, first, second, *(f * s for f in (first, second) for s in spread)]
    )
    breaks = [mpmath.mpf(x) for x in breaks if band[0] <= x <= band[1]]
    with mpmath.workdps(25):
        square = mpmath.quad(lambda w: abs(beam_column(force, w)) ** 2, breaks, maxdegree=5)
    truth = mpmath.sqrt(mpmath.mpf(2.5) * square / (2 * mpmath.pi))
    np.testing.assert_allclose(found.rms, [float(truth)], rtol=1e-10)
    assert found.error[0] < 1e-8 * found.rms[0]


def test_a_periodic_force_on_a_beam_column_is_its_harmonics():
    """With a mean, which bends the column by (tan(m L)/(m L) - 1) L/P; the loss factor acts at its harmonics alone."""
    force, step, count = -0.5 * CRITICAL, 2e-3, 300
    base, time = 2.0 * np.pi / (step * count), step * np.arange(count)
    signal = 3.0 + np.cos(base * time) + 0.5 * np.sin(7 * base * time)
    found = jm.time_response(column(force), signal, step, TIP, TIP, theory=EB, periodic=True)
    m = np.sqrt(-force / (RIGIDITY * (1 + 1j * ETA))) * LENGTH
    mean = ((np.tan(m) / m - 1.0) * LENGTH / -force).real
    one, seven = (complex(beam_column(force, k * base)) for k in (1, 7))
    turn = np.exp(1j * base * time)
    truth = 3.0 * mean + (one * turn - 0.5j * seven * turn**7).real
    np.testing.assert_allclose(found.values[0], truth, rtol=0, atol=1e-10 * np.abs(truth).max())


STIFFNESS, DAMPER = 50.0, 0.4


@pytest.fixture(scope="module")
def upright():
    """A rigid link upright on a spring with a damper, under gravity: what is left of the spring, and the inertia."""
    arm, inertia = pendulum(STIFFNESS)
    link = arm.links[0].replace(joint_damping=DAMPER, joint_angle=np.pi / 2)
    weight = 9.81 * (2.0 * 0.5 + 1000.0 * 1e-6 * 0.5**2 / 2.0)
    return jm.Arm((link,), loads=jm.Loads(gravity=9.81, pieces=1)), STIFFNESS - weight, inertia


ROTATION = ("joint_1.moment", "joint_1.rotation")


def test_peaks_and_noise_of_an_inverted_pendulum(upright):
    """An oscillator with the spring k - m g l; its mean square S / (4 c k) over all frequencies."""
    arm, stiffness, inertia = upright
    natural = np.sqrt(stiffness / inertia)
    ratio = DAMPER / (2.0 * np.sqrt(stiffness * inertia))
    peaks = jm.response_peaks(arm, 1.0, 100.0, *ROTATION, theory=EB)
    np.testing.assert_allclose(peaks.omega, [natural * np.sqrt(1 - 2 * ratio**2)], rtol=1e-10)
    largest = 1.0 / (stiffness * 2.0 * ratio * np.sqrt(1.0 - ratio**2))
    np.testing.assert_allclose(np.abs(peaks.values), [largest], rtol=1e-12)
    noise = jm.random_response(arm, 3.0, 1e-3, 1e4, *ROTATION, theory=EB)
    below = 3.0 / stiffness**2 * 1e-3 / (2.0 * np.pi)
    above = 3.0 / inertia**2 / (3.0 * 1e4**3) / (2.0 * np.pi)
    truth = 3.0 / (4.0 * DAMPER * stiffness) - below - above
    np.testing.assert_allclose(noise.rms**2, [truth], rtol=1e-8)


def test_a_base_that_turns_under_a_weight(upright):
    """The weight keeps its direction: the spring gives by (J w^2 + m g l) over what resists, also at rest."""
    arm, stiffness, inertia = upright
    omega = np.array([1e-3, 2.0, 30.0])
    outputs = ["joint_1.relative_rotation", "tip.rotation"]
    found = jm.harmonic_response(
        arm, omega, {"base.rotation": 1.0}, outputs, theory=EB, base_motion="displacement"
    ).values
    resists = stiffness + 1j * omega * DAMPER - inertia * omega**2
    given = (STIFFNESS - stiffness + inertia * omega**2) / resists
    np.testing.assert_allclose(found, [given, 1.0 + given], rtol=1e-11)
    signal = np.cos(2.0 * np.pi * np.arange(64) / 64.0)
    with pytest.raises(ValueError, match="signal: has the mean"):
        jm.time_response(
            arm, signal + 1.0, 0.1, "base.rotation", outputs[0], theory=EB, periodic=True
        )
    with pytest.raises(jm.ArmError, match="a base that is accelerated leaves with the arm"):
        jm.time_response(arm, signal, 0.1, "base.rotation", outputs[0], theory=EB)


def test_a_pulse_on_an_inverted_pendulum(upright):
    """Duhamel's integral."""
    arm, stiffness, inertia = upright
    natural = np.sqrt(stiffness / inertia)
    ratio = DAMPER / (2.0 * np.sqrt(stiffness * inertia))
    step = 0.01
    time = step * np.arange(300)
    found = jm.time_response(arm, pulse(time), step, *ROTATION, theory=EB)
    for k in (95, 130, 260):
        truth = motion_under_pulse(time[k], inertia, natural, ratio)
        assert abs(found.values[0, k] - truth) < 1e-9 * np.abs(found.values).max()


def test_forced_amplitudes_of_finite_elements_with_geometric_stiffness():
    """Loads of three links with one loss factor: the elastic stiffness is damped, the geometric is not."""
    link = cantilever(loss_factor=0.03, end_offset_x=0.05, tip_mass=0.2).links[0]
    arm = jm.Arm(
        (
            link.replace(joint_angle=1.0),
            link.replace(joint_angle=-0.5),
            link.replace(joint_angle=-1.2),
        ),
        jm.Payload(mass=0.4),
        loads=jm.Loads(tip_force_x=-60.0, tip_force_y=-20.0),
    )
    forces = {"tip.along": 3.0, "tip.across": 1.0 - 2.0j, "tip.moment": 0.5}
    outputs = ["tip.along", "tip.across", "tip.rotation"]
    case = case_from_arm(
        jm.preloaded(arm.replace(loads=None), tip_force=(-60.0, -20.0)), "timoshenko"
    )
    for omega in (1.0, 25.0, 300.0):
        found = jm.harmonic_response(arm, omega, forces, outputs).values[:, 0]
        truth = tip_receptance(case, omega, 1.0 + 0.03j) @ np.array(list(forces.values()))
        np.testing.assert_allclose(found, truth, rtol=1e-9)


BUCKLED = {
    "harmonic": lambda arm: jm.harmonic_response(arm, 5.0, {TIP: 1.0}, TIP, theory=EB).values,
    "peaks": lambda arm: jm.response_peaks(arm, 1.0, 9.0, TIP, TIP, theory=EB),
    "noise": lambda arm: jm.random_response(arm, 1.0, 1.0, 9.0, TIP, TIP, theory=EB),
    "signal": lambda arm: jm.time_response(
        arm, [1.0, 0.0], 0.1, TIP, TIP, theory=EB, periodic=True
    ),
}


@pytest.mark.parametrize("kind", BUCKLED)
def test_arms_that_are_buckled_are_refused(kind):
    for share in (-1.0001, -30.0):
        with pytest.raises(
            jm.UncertifiedError, match="the arm has no steady response, for the forces"
        ):
            BUCKLED[kind](column(share * CRITICAL))
    BUCKLED[kind](column(-0.9999 * CRITICAL))


def test_a_file_of_a_buckled_arm_is_refused_with_the_cause(tmp_path):
    found = jm.frequency_response(column(-2.0 * CRITICAL), [1.0, 2.0], TIP, TIP, theory=EB)
    with pytest.raises(jm.ArmError, match="is not finite; for the forces at rest buckle the arm"):
        jm.write_universal_file(found, tmp_path / "arm.uff")
