"""Arms and states for the tests of written equations, and the library's own terms at many states at once."""

import functools

import jax
import numpy as np

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm
from jaxmodal.dynamics.mechanics import equations
from tests.support.dynamics_cases import uniform_link

#: all ways to pose the equations
POSED = [
    (order, frames, shorter)
    for order in ("full", "first")
    for frames in ("rotation", "linear")
    for shorter in (True, False)
]
PAPER = ("first", "linear", False)
USUAL = ("full", "rotation", True)


@functools.cache
def chain(links, modes=2, posed=USUAL):
    """Links that differ, with hubs, rotors, a body at each tip, a payload, friction and gravity across the plane."""
    rng = np.random.default_rng(links)
    made = []
    for _ in range(links):
        length, bending, line = rng.uniform((0.4, 0.8, 0.5), (0.8, 2.0, 1.0))
        more = {"hub_mass": rng.uniform(0.1, 0.5), "hub_inertia": rng.uniform(0.01, 0.05)}
        more |= {
            "rotor_inertia": 1e-4,
            "gear_ratio": rng.uniform(10, 50),
            "motor": "held",
            "tip_mass": 0.05,
        }
        made.append(uniform_link(length, bending, line, tip_inertia=1e-3, **more))
    return flexible_arm(
        jm.Arm(tuple(made), jm.Payload(0.2, 0.01)),
        modes,
        coordinates="tip_deflection",
        gravity=(0.7, -9.81),
        damping_ratio=0.01,
        viscous_friction=0.1,
        coulomb_friction=0.2,
    ).posed(*posed)


@functools.cache
def arm_with_everything(motor="held"):
    """Two links of 2 and 1 modes: a body along the first, a stator and a spring at the second joint, a rotor each."""
    first = uniform_link(
        0.5, 1.0, 0.6, hub_inertia=0.03, rotor_inertia=2e-4, gear_ratio=30.0, motor="held"
    )
    more = {"hub_mass": 0.2, "hub_inertia": 0.02, "stator_mass": 0.4, "stator_inertia": 0.004}
    spring = {"joint_stiffness": 400.0, "rotor_inertia": 1e-4, "gear_ratio": -25.0, "motor": motor}
    second = uniform_link(0.6, 0.7, 0.5, tip_mass=0.1, tip_inertia=2e-3, **more, **spring)
    arm = jm.attach_body(jm.Arm((first, second), jm.Payload(0.15, 1e-3)), 1, 0.2, 0.3, 0.005)
    return flexible_arm(
        arm,
        (2, 1),
        shapes="polynomial",
        gravity=(0.5, -9.81),
        kelvin_voigt_time=1e-3,
        viscous_friction=[0.1, 0.2],
        coulomb_friction=[0.0, 0.3],
    )


def states(model, count, seed=0):
    """q, q' and q'' at random, each of shape (count, N): any angles, deflections of a few per cent."""
    rng = np.random.default_rng(seed)
    size = np.full(model.num_coordinates, np.pi)
    size[model.layout.modal] = 0.03
    q, rate, acceleration = rng.uniform(-1.0, 1.0, (3, count, model.num_coordinates))
    return q * size, rate, acceleration


@jax.jit
def own_terms(model, q, rate, acceleration):
    """All terms of `jaxmodal.dynamics` at many states: one program."""

    def of_one(at, velocity, more):
        return {
            "B": equations.inertia(model, at),
            "h": equations.velocity_forces(model, at, velocity),
            "g": equations.weight(model, at),
            "c": equations.friction(model, velocity),
            "tau": equations.generalised_forces(model, at, velocity, more),
        }

    return jax.vmap(of_one)(q, rate, acceleration)


def scales(model, terms, rate):
    """What rounding is measured against at every state: norms of matrices, of the parts that forces add up from.

    Velocity forces and gravity may vanish by cancellation: their measure is that of B times rates squared, and the
    largest gravity of the states.
    """
    inertia = np.abs(terms["B"]).max(axis=(1, 2))
    speed = np.sum(rate**2, axis=1)
    return {
        "B": inertia,
        "h": np.maximum(np.abs(terms["h"]).max(axis=1), inertia * speed),
        "g": np.full(len(rate), np.abs(terms["g"]).max()),
        "c": np.full(len(rate), max(np.abs(terms["c"]).max(), 1e-300)),
        "tau": np.abs(terms["tau"]).max(axis=1),
    }


def worst(found, terms, model, rate):
    """Largest difference of each quantity over its scale, at any state."""
    sizes = scales(model, terms, rate)
    return {
        name: float(
            (
                np.abs(np.asarray(found[name]) - terms[name]).reshape(len(rate), -1).max(axis=1)
                / sizes[name]
            ).max()
        )
        for name in terms
        if name in found
    }
