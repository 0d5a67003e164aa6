"""Equilibrium of the chain at its posture under dead loads, and the geometric stiffness of rigid parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BASE, SPRINGS, BeamArrays
from jaxmodal.statics.chain import (
    DeadLoads,
    Displacements,
    SectionForces,
    added_forces,
    displacements,
    forces_of_reactions,
    geometry,
    joint_gives,
    joint_laws,
    section_forces,
    weights,
)
from jaxmodal.statics.reactions import supported


class Equilibrium(NamedTuple):
    """Static equilibrium of an arm.

    Attributes
    ----------
    forces : SectionForces
        Section forces of the loads and reactions.
    reactions : Array, shape (n, 3, ...)
        Forces of the supports on each tip, along x and y of the base, and moment about the tip.
    gives : Array, shape (n, 3, ...)
        Deflections of each joint along and across its link and about its axis.
    unheld : Array, shape (...)
        Ratio of the largest force or moment in a free joint to the largest of all; not 0 if the arm is not held.
    displacements : Displacements
    """

    forces: SectionForces
    reactions: Array
    gives: Array
    unheld: Array
    displacements: Displacements


def equilibrium(beams: BeamArrays, shear: Any, axial: Any, loads: DeadLoads) -> Equilibrium:
    """Return the equilibrium of the arm under dead loads, for small deflections.

    Parameters
    ----------
    shear, axial : float or Array
        Flags of the theory: 1.0 where links shear and stretch, else 0.0.
    loads : DeadLoads
        Loads of shape (...).

    Notes
    -----
    A chain without supports at its tips is statically determinate. With supports, the reactions and the deflections of
    free joints follow from the compatibility of displacements (force method), in one linear system.
    """
    shape = geometry(beams)
    own = section_forces(beams, shape, *weights(beams, shape, loads))
    nothing = xp.zeros_like(beams.length + 0.0 * loads.gravity_x)
    reactions = xp.stack([nothing] * 3, axis=1)
    free = xp.zeros_like(reactions)
    if beams.supports is not None:
        reactions, free = supported(beams, shape, shear, axial, own)
        own = added_forces(own, forces_of_reactions(beams, shape, reactions))
    gives = joint_gives(beams, own) + free
    moved = displacements(beams, shape, shear, axial, own, gives)
    return Equilibrium(own, reactions, gives, _unheld(beams, own), moved)


#: largest rotations in rad, and displacements relative to the arm's length, for which deflections count as small
LARGE_ROTATION = 0.1
LARGE_DISPLACEMENT = 0.05
#: the force in a free joint, as a share of the largest, up to which an arm counts as in equilibrium
BALANCED = 1e-9


def held_equilibrium(beams: BeamArrays, shear: Any, axial: Any, loads: DeadLoads) -> Equilibrium:
    """Return `equilibrium` of one concrete arm, after the checks of `require_held`."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        found = equilibrium(beams, shear, axial, loads)
    require_held(beams, found)
    return found


def require_held(beams: BeamArrays, found: Equilibrium) -> None:
    """Refuse the result for one concrete arm that has no equilibrium.

    Raises
    ------
    ArmError
        If a free joint is not held against the loads, or the loads are beyond float64.
    """
    for name in (BASE[0], BASE[3], BASE[5]):
        own = getattr(beams, name)
        if own is not None and np.real(own[0]) == 0.0:
            place = {"base_xx": "k11", "base_yy": "k22", "base_rr": "k33"}[name]
            raise ArmError(
                f"base_stiffness.{place} = 0: nothing holds the base at rest in this direction; give it a stiffness."
            )
    if float(np.real(found.unheld)) <= BALANCED:
        if not np.all(np.isfinite(found.displacements.tip)):
            raise ArmError(
                "the arm's forces or deflections at rest are not finite in float64; must be: look for loads, lengths, "
                "masses or moduli that are extremely large or small."
            )
        return
    joint = np.real(np.stack(found.forces.joint, axis=1))
    for i in range(joint.shape[0]):
        for k, name in enumerate(SPRINGS):
            stiffness = getattr(beams, name)
            loose = stiffness is not None and np.real(stiffness[i]) == 0.0
            if loose and not abs(joint[i, k]) <= BALANCED * np.max(np.abs(joint)):
                what = "a moment" if k == 2 else "a force"
                raise ArmError(
                    f"link{i + 1}.{name} = 0: nothing holds the arm at this joint, which would have to carry {what}; "
                    "give it a stiffness greater than 0, leave it out for a rigid joint, or support a tip beyond it."
                )
    raise ArmError(
        "the arm's free joints let it move under these loads; hold them by springs or supports."
    )


def turning_stiffness(
    beams: BeamArrays, loads: DeadLoads, forces: SectionForces
) -> tuple[Array, Array]:
    """Return the geometric stiffness of dead loads against rotation at the start and the end of each link, N m/rad.

    A load F at the end e of a rigid part that rotates by phi has the potential ``F.e phi^2/2``. The offset from the
    joint to the start of the link carries the section force there, the offset from its end to the tip that of the tip,
    and the body its weight at its centre. A rigid link is a part that carries its own weight along its length. Positive
    where the load pulls outwards. Shape (n, ...) each.
    """
    base, end, body = beams.start, beams.end, beams.tip
    angle = xp.cumsum(beams.joint_angle, axis=0)
    c, s = xp.cos(angle), xp.sin(angle)
    down_x = c * loads.gravity_x + s * loads.gravity_y
    down_y = c * loads.gravity_y - s * loads.gravity_x
    at_start = forces.start[0] * base[0] + forces.start[1] * base[1]
    at_end = forces.outer[0] * end[0] + forces.outer[1] * end[1]
    if body.moment_x is not None:
        at_end = at_end + down_x * body.moment_x + down_y * body.moment_y
    if beams.flexible is not None:
        mean = 0.5 * (forces.start[0] + forces.outer[0])
        at_end = at_end + (1.0 - beams.flexible) * mean * beams.length
    return at_start, at_end


def _unheld(beams: BeamArrays, forces: SectionForces) -> Array:
    """Return the ratio of the largest force in free joints to the largest force of all.

    Moments are divided by the length of the arm.
    """
    reach = xp.sum(beams.length, axis=0)
    unit, _ = joint_laws(beams)
    x, y, moment = forces.joint
    carried = xp.abs(xp.stack([x * reach, y * reach, moment], axis=1))
    largest = xp.max(carried, axis=(0, 1))
    loose = xp.max(xp.where(unit == 0.0, carried, 0.0), axis=(0, 1))
    return loose / xp.where(largest > 0.0, largest, 1.0)
