"""One uniform cantilever by Euler and Bernoulli, in closed form, also with Rayleigh damping."""

import numpy as np

import jaxmodal as jm

LENGTH, YOUNG, DENSITY, AREA, MOMENT = 0.8, 7e10, 2700.0, 6e-4, 2e-8


def cantilever(**changes):
    section = jm.raw_section(AREA, MOMENT, 0.85)
    return jm.Arm((jm.Link(LENGTH, YOUNG, DENSITY, section, poisson_ratio=0.3, **changes),))


def deflection(omega, station, mass_damping=0.0, stiffness_damping=0.0):
    """Deflection and slope at x/L for a unit force across the tip, complex; shape (2, frequencies).

    ``w = a (cosh bx - cos bx) + c (sinh bx - sin bx)`` with no moment at the tip and EI w''' = -1 there.
    """
    bending = YOUNG * MOMENT * (1.0 + 1j * omega * stiffness_damping)
    b = (DENSITY * AREA * (omega**2 - 1j * omega * mass_damping) / bending) ** 0.25
    z, x = b * LENGTH, b * LENGTH * station
    ends = np.array(
        [
            [np.cosh(z) + np.cos(z), np.sinh(z) + np.sin(z)],
            [np.sinh(z) - np.sin(z), np.cosh(z) + np.cos(z)],
        ]
    )
    right = np.stack([0.0 * z, -1.0 / (bending * b**3)], axis=-1)[..., None]
    a, c = np.linalg.solve(np.moveaxis(ends, -1, 0), right)[..., 0].T
    w = a * (np.cosh(x) - np.cos(x)) + c * (np.sinh(x) - np.sin(x))
    slope = b * (a * (np.sinh(x) + np.sin(x)) + c * (np.cosh(x) - np.cos(x)))
    return np.stack([w, slope])


def pendulum(stiffness=50.0, mass=2.0, length=0.5):
    """A rigid link on a spring with a point mass at its tip, and its moment of inertia about the joint."""
    section = jm.raw_section(1e-6, 1e-12)
    link = jm.Link(
        length, 7e10, 1000.0, section, tip_mass=mass, joint_stiffness=stiffness, rigid=True
    )
    # a line of mass, and the rotary inertia of its sections where a theory has it
    inertia = mass * length**2 + 1000.0 * 1e-6 * length**3 / 3.0
    return jm.Arm((link,)), inertia
