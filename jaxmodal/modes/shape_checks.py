"""Residuals of mode shapes, and the rule for their signs."""

from __future__ import annotations

import numpy as np

from jaxmodal.dynamic_stiffness.attachments import at_joint, joint_law
from jaxmodal.dynamic_stiffness.foundation import base_unit
from jaxmodal.dynamic_stiffness.supports import law_arrays
from jaxmodal.eigenspaces.modal_mass import ModeFields, signs_of
from jaxmodal.eigenspaces.null_spaces import end_conditions
from jaxmodal.runtime.namespace import Array, added, placed, xp
from jaxmodal.statics.beam_arrays import BeamArrays


def condition_residuals(beams: BeamArrays, omega: Array, mode: ModeFields) -> Array:
    """Return the residual of each condition of the arm for the fields of one mode, relative to its scale.

    Returns
    -------
    Array, shape (n, 6)
        Residuals, not negative: continuity of u, v, psi at the base of each link, balance of N, V, M_b at its tip.

    Notes
    -----
    Scales: the largest displacement on the arm; the largest rotation, or that displacement over the length of
    the arm; the largest section or inertia force; the largest moment or moment of the inertia forces of a body, or
    that force times the least radius of gyration. The second terms are for modes without rotation, such as the axial
    modes of a straight arm. At a support: the largest of these, or the force of a spring of its stiffness under the
    largest displacement or rotation. At a joint spring: the largest displacement or rotation, or the displacement
    that the largest forces of its link and of the parts at its base would cause.
    """
    own, previous, following = end_conditions(beams, omega, mode.inner, mode.outer)
    missed = xp.abs(added(added(own, np.s_[1:], previous[:-1]), np.s_[:-1], following[1:]))
    everywhere = xp.concatenate([mode.inner[:, None], mode.nodes, mode.outer[:, None]], axis=1)
    largest = xp.max(xp.abs(everywhere), axis=(0, 1))
    omega2, ends = omega * omega, xp.abs(mode.outer)
    displacement = xp.maximum(largest[0], largest[1])
    rotation = xp.maximum(largest[2], displacement / xp.sum(beams.length))
    inertia = xp.max(omega2 * beams.tip.mass * xp.maximum(ends[:, 0], ends[:, 1]))
    force = xp.maximum(xp.maximum(largest[3], largest[4]), inertia)
    gyration = xp.min(xp.sqrt(beams.second_moment / beams.area))
    moment = xp.maximum(largest[5], xp.max(omega2 * beams.tip.inertia * ends[:, 2]))
    moment = xp.maximum(moment, force * gyration)
    scale = xp.stack([displacement, displacement, rotation, force, force, moment])
    scale = xp.broadcast_to(scale, missed.shape)
    if beams.supports is not None:  # where it is stiff or rigid the condition is that of the motion
        unit, stiffness = law_arrays(beams)
        loaded = xp.maximum(unit * scale[:, 3:], stiffness * scale[:, :3])
        scale = placed(scale, np.s_[:, 3:], loaded)
    # a soft spring is moved by what the forces of the link and the inertia beyond leave, so that its condition is that
    # of the force, as at a free hinge or slide; the unit is far above 1 where a geared rotor turns against one
    law = joint_law(beams, omega)
    unit = xp.abs(law.unit)
    moves = xp.stack([displacement, displacement, rotation])[None]
    loads = xp.stack([force, force, moment])[None]
    of_link = at_joint(beams, omega, xp.max(xp.abs(everywhere), axis=1), sizes=True)[:, 3:]
    loads = xp.where(unit > 0.5, of_link, loads)
    given = xp.maximum(unit * moves, law.compliance * loads)
    if beams.base_xx is not None:  # where the base is free the condition is that of the force
        free = xp.stack(base_unit(beams)) == 0.0
        given = placed(given, 0, xp.where(free, loads[0], given[0]))
    return missed / placed(scale, np.s_[:, :3], given)


def signs(outer: Array, beams: BeamArrays) -> Array:
    """Return the factors +1 or -1 that fix the signs of modes; ``outer`` has the fields at the tip ends, (K, n, 6)."""
    length = xp.sum(beams.length)
    return signs_of(xp.stack([outer[..., 1], outer[..., 0], outer[..., 2] * length], axis=-1))
