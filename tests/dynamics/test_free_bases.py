"""Arms in space on a base that floats freely, beside 40-digit numbers and what no motion changes.

What compiles: the terms of the reference case and of three arms, and one simulation.
"""

import functools

import jax
import numpy as np
import pytest

from jaxmodal.dynamics import (
    PiecewiseConstant,
    base_pose,
    flexible_arm,
    forward_dynamics,
    inverse_dynamics,
    momenta,
    simulate,
)
from jaxmodal.dynamics.integration.histories import coordinates_of
from jaxmodal.dynamics.mechanics import equations, free_bases
from jaxmodal.dynamics.mechanics.rotations import of_quaternion
from tests.support.satellites import space_arm
from tests.support.spatial_dynamics_cases import (
    CANCELLED,
    CASES,
    ROUNDING,
    all_terms,
    model_of,
    relative,
)

#: joints and modes of the reference case
OWN = 10


def base_last(values):
    """Over rates, as the reference has it, the base first: here it comes last."""
    order = np.concatenate([np.arange(6, OWN + 6), np.arange(6)])
    values = np.array(values)
    return values[order] if values.ndim == 1 else values[order][:, order]


def test_every_term_of_the_reference_case():
    case, model = CASES["P4"], model_of("P4")
    directions = ("x", "y", "z", "rx", "ry", "rz")
    assert model.layout.names == (*case["coordinates"], *(f"base.{name}" for name in directions))
    assert relative(model.stiffness[:OWN, :OWN], case["stiffness_matrix"]) < ROUNDING
    for state in case["evaluations"]:
        pose = base_pose(state["base_position"], state["base_rotation_vector"])
        q, rate = np.concatenate([state["q"], pose]), base_last(state["v"])
        torques, wrench = (np.array(state[key]) for key in ("torques", "base_wrench"))
        found = jax.device_get(all_terms(model, q, rate, torques, wrench))
        assert relative(found["mass_matrix"], base_last(state["mass_matrix"])) < ROUNDING
        assert relative(found["bias"], base_last(state["bias"])) < CANCELLED
        assert np.abs(found["gravity_vector"]).max() == 0.0
        for key in ("tip_position", "tip_rotation"):
            assert relative(found[key], state[key]) < ROUNDING
        for value, key in zip(found["momenta"], ("linear", "angular"), strict=True):
            assert relative(value, state[f"{key}_momentum"]) < ROUNDING
        for energy, key in zip(found["energies"], ("kinetic", "elastic", "gravity"), strict=True):
            expected = state[f"{key}_energy"]
            assert abs(energy - expected) <= CANCELLED * max(abs(expected), 1e-9)
        # what float64 leaves of a solve with a matrix of this condition
        solved = np.finfo(float).eps * state["float64_differs_by"]["condition_number"]
        for way in ("acceleration", "recursion"):
            assert relative(found[way], base_last(state["acceleration"])) < solved
        scale = np.abs(model.stiffness[:OWN, :OWN] @ q[:OWN]).max()
        needed = found["forces"] - found["applied"]
        needed[-6:] -= wrench
        assert np.abs(needed).max() < 1e-10 * scale


@functools.cache
def reference_motion(torques, until):
    """The arm of the reference case from its first point under constant torques, at four times."""
    start = CASES["P4"]["trajectory"]["points"][0]
    q = np.concatenate(
        [start["q"], base_pose(start["base_position"], np.array(start["base_rotation"]))]
    )
    law = PiecewiseConstant([-1.0, 100.0], [list(torques)])
    times = np.linspace(0.0, until, 4)
    tight = {"rtol": 1e-11, "atol": 1e-13}
    return simulate(model_of("P4"), times, q, base_last(start["v"]), torque=law, **tight)


@pytest.mark.slow
def test_the_motion_of_the_reference_case():
    """Joints, modes, the base and the tip by time, and momenta that torques of joints leave as they are."""
    wanted = CASES["P4"]["trajectory"]
    points = wanted["points"]
    motion = reference_motion(tuple(wanted["torques_constant"]), points[-1]["time"])
    times = [point["time"] for point in points]
    assert np.allclose(motion["time"], times, rtol=1e-14, atol=1e-14)
    assert motion.attrs["status"] == "finished"
    assert motion.attrs["energy_balance_error"] < 1e-10
    q, rate = coordinates_of(model_of("P4"), motion)
    for k, point in enumerate(points):
        # two formulations of the reference agree to 1e-10 and better
        assert np.allclose(q[k, :OWN], point["q"], rtol=5e-9, atol=5e-9)
        assert np.allclose(rate[k], base_last(point["v"]), rtol=5e-9, atol=5e-9)
        assert np.allclose(motion["base_position"][k], point["base_position"], rtol=0, atol=1e-10)
        axes = of_quaternion(motion["base_quaternion"][k].values)
        assert np.allclose(axes, point["base_rotation"], rtol=0, atol=1e-10)
        assert np.allclose(motion["tip_position"][k], point["tip_position"], rtol=0, atol=1e-10)
    for name in ("linear_momentum", "angular_momentum"):
        assert relative(motion[name], motion[name].values[:1]) < 1e-10


@pytest.mark.slow
def test_energy_and_momenta_of_a_free_motion_are_constant():
    """One second in which the second joint turns by a radian and modes of 60 rad/s and more swing."""
    motion = reference_motion((0.0, 0.0), 1.0)
    assert motion.attrs["status"] == "finished"
    for name in ("linear_momentum", "angular_momentum"):
        assert relative(motion[name], motion[name].values[:1]) < 1e-10
    energy = (motion["kinetic_energy"] + motion["elastic_energy"]).values
    assert np.abs(energy / energy[0] - 1.0).max() < 1e-10
    assert np.allclose(
        np.linalg.norm(motion["base_quaternion"].values, axis=1), 1.0, rtol=1e-14, atol=0
    )


GEARED = {"rotor_inertia": 1e-4, "gear_ratio": 30.0, "motor": "held"}
ON_SPRINGS = {**GEARED, "joint_stiffness": 900.0, "joint_damping": 0.4}
COUNTS = {"bending_xy": 1, "bending_xz": 1, "torsion": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "posed"),
    [
        pytest.param(GEARED, {}, marks=pytest.mark.slow),
        (ON_SPRINGS, {}),
        ({}, {"frames": "linear", "rotor_motion": "reflected", "torsion_spin": "relative"}),
    ],
)
def test_no_force_but_gravity_changes_momenta_and_energy(changes, posed):
    """At a random state: by the accelerations of both ways to solve, momenta change by the weight alone, energy by the
    work of the motors and what is dissipated, and inverse dynamics has no force on the base.
    """
    gravity = np.array([0.5, -1.0, -3.0])
    model = flexible_arm(
        space_arm(**changes), COUNTS, gravity=gravity, base="free", damping_ratio=0.02, **posed
    )
    rng = np.random.default_rng(3)
    own = model.layout.size
    q = np.concatenate(
        [0.1 * rng.standard_normal(own), base_pose((1.0, -2.0, 0.5), (0.4, -2.0, 1.0))]
    )
    rate, torques = 0.5 * rng.standard_normal(own + 6), rng.standard_normal(2)
    terms = jax.device_get(all_terms(model, q, rate, torques, np.zeros(6)))
    lost = np.finfo(float).eps * np.linalg.cond(terms["mass_matrix"])
    assert relative(terms["recursion"], terms["acceleration"]) < lost
    acceleration = forward_dynamics(model, q, rate, torques)
    assert relative(acceleration, terms["recursion"]) < lost
    forces = inverse_dynamics(model, q, rate, acceleration)
    scale = np.abs(model.stiffness).max() * np.abs(q[:own]).max()
    assert np.abs(forces - terms["applied"]).max() < 1e-10 * scale

    @jax.jit
    def changes_by_time(q, rate, acceleration):
        moving = free_bases.coordinate_rates(model, q, rate), acceleration
        momentum = jax.jvp(lambda *it: equations.momenta(model, *it), (q, rate), moving)[1]
        energy = jax.jvp(lambda *it: sum(equations.energies(model, *it)), (q, rate), moving)[1]
        return momentum, energy

    momentum, power = changes_by_time(q, rate, acceleration)
    mass = terms["mass_matrix"][-6, -6]
    # the first moment of mass is how momentum follows from a translation
    first = np.asarray(momenta(model, q, np.eye(own + 6)[-6:-3]).angular)
    axes = np.asarray(of_quaternion(q[-4:]))
    moment = (axes.T @ gravity) @ first
    largest = lost * np.abs(np.asarray(acceleration)).max() * 100.0
    assert np.abs(np.asarray(momentum.linear) - mass * gravity).max() < largest
    assert np.abs(np.asarray(momentum.angular) - moment).max() < largest
    given = torques @ rate[model.layout.driven] - rate @ model.damping @ rate
    assert abs(float(power) - given) < largest
