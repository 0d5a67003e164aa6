"""Do peaks, random inputs and signals in time say what they do not take, also of arms without damping?"""

import jax
import numpy as np
import pytest

import jaxmodal as jm
from tests.support.damped_cantilever import cantilever, pendulum

P = ("tip.across", "tip.across")


def idle_dampers():
    """Arms whose damping takes no energy: of value 0, of a rigid link, and beside a rigid spring."""
    link = cantilever().links[0]
    return {
        "zero": jm.Arm((link.replace(loss_factor=0.0, kelvin_voigt_time=0.0),)),
        "rigid link": jm.Arm((pendulum()[0].links[0].replace(loss_factor=0.1), link)),
        "rigid joint": jm.Arm((link.replace(joint_damping=3.0), link.replace(joint_damping=1.0))),
        "segment": jm.Arm((link, link.replace(segment=True))),
    }


@pytest.mark.parametrize("kind", ["zero", "rigid link", "rigid joint", "segment"])
def test_damping_that_takes_no_energy_is_none(kind):
    arm = idle_dampers()[kind]
    with pytest.raises(jm.ArmError, match="has no damping, so its peaks"):
        jm.response_peaks(arm, 1.0, 9.0, *P)
    with pytest.raises(jm.ArmError, match="has no damping, so a random input"):
        jm.random_response(arm, 1.0, 1.0, 9.0, *P)
    with pytest.raises(jm.ArmError, match="has no damping, so its motion"):
        jm.time_response(arm, [1.0, 0.0], 0.1, *P)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: jm.response_peaks(a, 1.0, 9.0, *P).omega,
        lambda a: jm.random_response(a, 1.0, 1.0, 9.0, *P).rms,
        lambda a: jm.time_response(a, [1.0, 0.0], 0.1, *P).values,
        lambda a: jm.harmonic_response(a, 1.0, {"tip.x": 1.0}, "tip.x").values,
        lambda a: jm.modal_superposition(a, *P, 2).read,
        lambda a: jm.state_space(a, *P, 2).A,
        lambda a: jm.modes_needed(a, *P, 1.0, 9.0).num_modes,
        lambda a: jm.static_compliance(a, *P).values,
    ],
)
def test_traced_arms_are_refused_by_name(call):
    arm = cantilever(kelvin_voigt_time=1e-5)
    with pytest.raises(jm.ArmError, match=r"arm: is traced, and .* use frequency_response"):
        jax.jit(lambda m: call(arm.replace(payload=jm.Payload(mass=m))))(1.0)


def test_traced_damping_ratio_are_refused_by_name():
    with pytest.raises(ValueError, match="damping_ratio = <traced"):
        jax.jit(lambda z: jm.modal_superposition(cantilever(), *P, 2, damping_ratio=z).damping)(0.1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda a, u: jm.response_peaks(u, 1.0, 9.0, *P), "has no damping, so its peaks"),
        (lambda a, u: jm.response_peaks(a, 9.0, 1.0, *P), "omega_min = 9.0, omega_max = 1.0"),
        (
            lambda a, u: jm.response_peaks(a, 1.0, 9.0, "tip.up", "tip.x"),
            "direction = 'up': must be one of",
        ),
        (lambda a, u: jm.response_peaks(a, 1.0, 9.0, ["tip.x", "tip.y"], "tip.x"), "give one each"),
        (
            lambda a, u: jm.response_peaks(a, 1.0, 9.0, *P, motion="speed"),
            "motion = 'speed': must be one of 'displacement'",
        ),
        (lambda a, u: jm.random_response(u, 1.0, 1.0, 9.0, *P), "moves it without bound"),
        (lambda a, u: jm.random_response(a, -1.0, 1.0, 9.0, *P), "finite and at least 0"),
        (lambda a, u: jm.random_response(a, lambda f: -f, 1.0, 9.0, *P), "finite and at least 0"),
        (lambda a, u: jm.random_response(a, "white", 1.0, 9.0, *P), "spectrum = 'white'"),
        (lambda a, u: jm.random_response(a, ([2, 1], [1, 1]), 1.0, 9.0, *P), "ascending"),
        (lambda a, u: jm.random_response(a, 1.0, 1.0, 1.0, *P), "a band needs"),
        (lambda a, u: jm.harmonic_response(a, 1.0, {}, "tip.x").values, "amplitudes by port"),
        (
            lambda a, u: jm.harmonic_response(a, 1.0, {"tip.x": np.inf}, "tip.x").values,
            "finite number",
        ),
        (lambda a, u: jm.time_response(u, [1.0, 0.0], 0.1, *P), "never dies out"),
        (lambda a, u: jm.time_response(a, [1.0], 0.1, *P), "at least 2 finite numbers"),
        (
            lambda a, u: jm.time_response(a, [1.0, 0.0], 0.1, *P, periodic="no"),
            "periodic = 'no': must be True or False",
        ),
        (
            lambda a, u: jm.time_response(a, [1.0, 0.0], 0.1, *P, periodic=1),
            "periodic = 1: must be True or False",
        ),
        (
            lambda a, u: jm.time_response(a, [1.0, True], 0.1, *P),
            r"signal = \[1.0, True\]: holds something other than real numbers",
        ),
        (lambda a, u: jm.time_response(a, [1.0, 0.0], -0.1, *P), "time_step = -0.1"),
        (lambda a, u: jm.time_response(a, [1.0, 0.0], 1e-9, *P), "16,777,216 steps"),
        (
            lambda a, u: jm.time_response(cantilever(loss_factor=0.1), [1.0, 0.0], 0.1, *P),
            "loss_factor: is a law of harmonic motions",
        ),
        (
            lambda a, u: jm.time_response(
                a, [1.0, 0.0], 0.1, "base.x", "tip.x", base_motion="displacement"
            ),
            "leaves the arm there; give its acceleration and ask for motion='acceleration'",
        ),
        (
            lambda a, u: jm.time_response(a, [1.0, 0.0], 0.1, "base.x", "tip.x"),
            "motion = 'displacement': a base that is accelerated leaves with the arm",
        ),
        (
            lambda a, u: jm.time_response(
                a, [1.0, 0.0], 0.1, "base.x", ["tip.rotation", "tip.x"], motion="velocity"
            ),
            "motion = 'velocity': a base that is accelerated",
        ),
        (
            lambda a, u: jm.time_response(
                cantilever(kelvin_voigt_time=1e-5, support_y_stiffness=1e4),
                *([1.0, 0.0], 0.1, "base.y", "tip.rotation"),
            ),
            "motion = 'displacement': a base that is accelerated",
        ),
        (
            lambda a, u: jm.time_response(
                cantilever(joint_stiffness=0.0), [1.0, 0.0], 0.1, *P, periodic=True
            ),
            r"signal: has the mean 0\.5, with which an arm with a motion without a restoring",
        ),
        (
            lambda a, u: jm.random_response(a, lambda f: [1.0, 2.0], 1.0, 9.0, *P),
            r"spectrum: returned shape \(2,\); expected a density for each",
        ),
        (
            lambda a, u: jm.harmonic_response(a, 1.0, {"tip.x": 1.0}, "tip.x", motion=["d"]).values,
            r"motion = \['d'\]: must be one of",
        ),
        (
            lambda a, u: jm.harmonic_response(a, 1.0, {"tip.x": "1"}, "tip.x").values,
            "finite number",
        ),
        (
            lambda a, u: jm.harmonic_response(a, 1.0, {"tip.x": True}, "tip.x").values,
            "finite number",
        ),
        (
            lambda a, u: jm.frequency_response(a, 1.0, *P, quantity=["receptance"]),
            r"quantity = \['receptance'\]: must be one of",
        ),
        (
            lambda a, u: jm.state_space(a, *P, 2, quantity=["receptance"]),
            r"quantity = \['receptance'\]: expected one of",
        ),
        (
            lambda a, u: jm.frequency_response(a, 1.0, *P, parameters=[1]),
            r"parameters = \[1\]: must be a table",
        ),
        (
            lambda a, u: jm.time_response(u, [1.0, -1.0] * 8, _on_resonance(u), *P, periodic=True),
            r"signal: is a sum of waves, of which that at 161\.4\d* rad/s has no finite answer",
        ),
        (
            lambda a, u: jm.time_response(a, [1.0, -1.0] * 8, 1e-200, *P, periodic=True),
            r"signal: is a sum of waves.*beyond what double precision holds",
        ),
        (lambda a, u: jm.response_data("x"), "found = 'x': must be what frequency_response"),
        (lambda a, u: jm.write_universal_file(3, "a.uff"), "found = 3: must be what frequency_res"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call(cantilever(kelvin_voigt_time=2e-5), cantilever())


def _on_resonance(arm):
    """The step of which 16 are the first period of an arm."""
    return 2.0 * np.pi / float(jm.natural_frequencies(arm, 1).omega[0]) / 16


@pytest.mark.parametrize("kind", ["plane", "space"])
def test_a_base_that_moves_on_bends_an_arm_on_a_support_ever_more(kind):
    """The support stays where it is: there is no steady rotation, in the plane or in space."""
    tube = jm.hollow_circle(0.08, 0.003, "cowper")
    link = jm.Link(1.0, 7e10, 2700.0, tube, poisson_ratio=0.3, kelvin_voigt_time=1e-4)
    signal = 1.0 + np.sin(np.arange(8.0))[None]
    given = {"periodic": True, "theory": "rayleigh"}
    for free in (True, False):
        arm = jm.Arm((link if free else link.replace(support_y_stiffness=1e4),))
        arm, turn = (arm, "tip.rotation") if kind == "plane" else (jm.to_spatial(arm), "tip.rz")
        if free:
            turned = jm.time_response(arm, signal, 0.01, "base.y", turn, **given).values
            assert np.isfinite(np.asarray(turned)).all()
            continue
        with pytest.raises(ValueError, match="with which the base moves on without end"):
            jm.time_response(arm, signal, 0.01, "base.y", turn, **given)
