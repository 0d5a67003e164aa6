"""Deflection of the tip of an arm with blocked joints under its own weight and its payload's.

The arm is statically determinate: the section forces follow from the loads outboard, and the displacement of
the tip from the principle of virtual forces, the integrals being exact by Gauss's rule with three nodes.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.modal_mass import quadrature

STANDARD_GRAVITY = 9.80665


def tip_deflection(
    beams: BeamArrays,
    theory: Theory,
    gravity: float = STANDARD_GRAVITY,
    tip_force: tuple[float, float] = (0.0, 0.0),
) -> Array:
    """Displacement of the tip under gravity and a force at the tip, linear statics.

    Parameters
    ----------
    beams
        Link values, leaves of shape (n,); the last tip mass holds the payload. ``joint_angle`` of link 1
        counts: it is the angle of link 1 to the horizontal.
    theory
        Flags of the theory; shear and axial deformation count where the theory has them.
    gravity
        Acceleration of gravity in m/s^2, along -y.
    tip_force
        Further force at the tip, N, in x and y.

    Returns
    -------
    Array, shape (2,)
        Displacement in x (horizontal) and y (up), m.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> from jaxmodal.dynamic_stiffness.beams import theory_flags
    >>> beam = jm.Arm((jm.Link(2.0, 7e10, 2700.0, jm.rectangle(0.1, 0.1)),), jm.Payload(10.0))
    >>> down = tip_deflection(jm.beam_arrays(beam), theory_flags("euler_bernoulli"), 9.81)
    >>> weight, stiffness = 2700 * 0.01 * 9.81, 7e10 * 0.1**4 / 12
    >>> bool(abs(down[1] + (weight * 2**4 / 8 + 10 * 9.81 * 2**3 / 3) / stiffness) < 1e-15)
    True
    """
    return _displacement(beams, theory, gravity, tip_force)


@jax.jit
def _displacement(
    beams: BeamArrays, theory: Theory, gravity: float, tip_force: tuple[float, float]
) -> Array:
    angle = jnp.cumsum(beams.joint_angle)
    along = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)  # (n, 2)
    across = jnp.stack([-jnp.sin(angle), jnp.cos(angle)], axis=1)
    ends = jnp.cumsum(beams.length[:, None] * along, axis=0)
    starts = ends - beams.length[:, None] * along
    nodes, weights = (jnp.asarray(x) for x in quadrature(3))
    down = jnp.asarray([0.0, -gravity])
    line = beams.density * beams.area
    bodies = beams.tip_mass[:, None] * down[None, :]
    bodies = bodies.at[-1].add(jnp.asarray(tip_force))
    own = (line * beams.length)[:, None] * down[None, :]
    middles = 0.5 * (starts + ends)
    order = np.arange(beams.length.shape[0])
    # stations: the Gauss nodes of each link, and its base end
    xi = jnp.concatenate([nodes, jnp.zeros(1)])
    points = (
        starts[:, None, :] + (beams.length[:, None] * xi[None, :])[..., None] * along[:, None, :]
    )
    outboard = jnp.asarray((order[None, :] > order[:, None]).astype(np.float64))
    at_or_beyond = jnp.asarray((order[None, :] >= order[:, None]).astype(np.float64))

    def moment(arms: Array, forces: Array) -> Array:
        return arms[..., 0] * forces[..., 1] - arms[..., 1] * forces[..., 0]

    lever = ends[None, None, :, :] - points[:, :, None, :]
    mid_lever = middles[None, None, :, :] - points[:, :, None, :]
    bending = jnp.einsum("ij,isj->is", at_or_beyond, moment(lever, bodies[None, None]))
    bending += jnp.einsum("ij,isj->is", outboard, moment(mid_lever, own[None, None]))
    rest = beams.length[:, None] * (1.0 - xi[None, :])  # of the link itself, beyond the station
    rest_force = (line[:, None] * rest)[..., None] * down[None, None, :]
    rest_lever = 0.5 * rest[..., None] * along[:, None, :]
    bending += moment(rest_lever, rest_force)
    force = (at_or_beyond @ bodies + outboard @ own)[:, None, :] + rest_force
    normal = jnp.einsum("isk,ik->is", force, along)
    shear = jnp.einsum("isk,ik->is", force, across)
    tip = ends[-1]
    rigid = jnp.isinf(beams.joint_stiffness)
    give = jnp.where(rigid, 0.0, 1.0 / jnp.where(rigid, 1.0, beams.joint_stiffness))
    found = []
    for unit in np.eye(2):
        virtual = jnp.asarray(unit)
        own_moment = moment(tip[None, None, :] - points, virtual[None, None, :])
        own_normal, own_shear = along @ virtual, across @ virtual
        bent = jnp.einsum("is,is,s->i", bending[:, :3], own_moment[:, :3], weights)
        bent = bent / (beams.youngs_modulus * beams.second_moment)
        stretched = (normal[:, :3] @ weights) * own_normal / (beams.youngs_modulus * beams.area)
        sheared = (shear[:, :3] @ weights) * own_shear
        sheared = sheared / (beams.shear_modulus_effective * beams.area)
        total = bent + theory.axial * stretched + theory.shear * sheared
        springs = give * bending[:, 3] * own_moment[:, 3]
        found.append(jnp.sum(beams.length * total) + jnp.sum(springs))
    return jnp.stack(found)
