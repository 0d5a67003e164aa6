"""Static deflection of the tip of an arm with blocked joints, under gravity and a force."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import equilibrium

STANDARD_GRAVITY = 9.80665


def tip_deflection(
    beams: BeamArrays,
    theory: Theory,
    gravity: float = STANDARD_GRAVITY,
    tip_force: tuple[float, float] = (0.0, 0.0),
) -> Array:
    """Return the displacement of the tip under gravity and a force at the tip, by linear statics.

    Parameters
    ----------
    beams
        Link values, leaves of shape (n,); the last tip mass includes the payload. ``joint_angle`` of link 1 is its
        angle to the horizontal.
    theory
        Flags of the theory: with or without shear and axial deformation.
    gravity
        Acceleration of gravity in m/s^2, along -y.
    tip_force
        Force at the tip in N, along x and y.

    Returns
    -------
    Array, shape (2,)
        Displacement in m along x (horizontal) and y (up).

    Examples
    --------
    >>> import jaxmodal as jm
    >>> from jaxmodal.dynamic_stiffness.beams import theory_flags
    >>> beam = jm.Arm((jm.Link(2.0, 7e10, 2700.0, jm.rectangle(0.1, 0.1)),), jm.Payload(10.0))
    >>> from jaxmodal.arm.arrays import beam_arrays
    >>> down = tip_deflection(beam_arrays(beam), theory_flags("euler_bernoulli"), 9.81)
    >>> weight, stiffness = 2700 * 0.01 * 9.81, 7e10 * 0.1**4 / 12
    >>> bool(abs(down[1] + (weight * 2**4 / 8 + 10 * 9.81 * 2**3 / 3) / stiffness) < 1e-15)
    True
    """
    return _displacement(beams, theory, gravity, tip_force)


@jax.jit
def _displacement(
    beams: BeamArrays, theory: Theory, gravity: float, tip_force: tuple[float, float]
) -> Array:
    zero = jnp.zeros_like(beams.length[0])
    loads = DeadLoads(zero, zero - gravity, zero + tip_force[0], zero + tip_force[1])
    tip = equilibrium(beams, theory.shear, theory.axial, loads).displacements.tip
    return jnp.stack([tip[0][-1], tip[1][-1]])
