"""Model of an arm in space for shapes and derivatives: its parts in float64, and the places of its unknowns."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.spatial.modes.turning import TurningParts
from jaxmodal.spatial.modes.values import ArmParts, ArmValues, LinkValues, arm_values
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.matrices import skew
from jaxmodal.spatial.stiffness.members import Beams
from jaxmodal.spatial.stiffness.model import SpatialModel

_ONE = np.eye(6)


class Transfer(NamedTuple):
    """Matrices (6, 6) of a link that transfer displacements and forces between its points.

    ``start`` and ``start_force`` transfer displacements and forces from the inner end, in the section's axes, to the
    joint, in the link's axes; ``end`` and ``end_force`` from the outer end to the tip. ``roll`` rotates from the
    section's axes to the link's, ``turn`` from these to the axes of the previous link.
    """

    start: np.ndarray
    start_force: np.ndarray
    end: np.ndarray
    end_force: np.ndarray
    roll: np.ndarray
    turn: np.ndarray


def _both(matrix: np.ndarray) -> np.ndarray:
    """Return the block-diagonal matrix that applies a 3 x 3 matrix to displacements and to rotations."""
    both = np.zeros((6, 6), matrix.dtype)
    both[:3, :3] = both[3:, 3:] = matrix
    return both


def _at_offset(offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices that transfer displacements, and forces, from a point to another at ``offset`` from it."""
    cross = skew(offset)
    motion, force = (_ONE.astype(offset.dtype) for _ in range(2))
    motion[:3, 3:] = -cross
    force[3:, :3] = -cross
    return motion, force


def transfer(link: LinkValues) -> Transfer:
    """Return the transfer matrices of a link; imaginary parts are kept."""
    roll = _both(link.roll)
    inward, inward_force = _at_offset(-link.base_offset)
    outward, outward_force = _at_offset(link.end_offset)
    return Transfer(
        start=inward @ roll,
        start_force=inward_force @ roll,
        end=outward @ roll,
        end_force=outward_force @ roll,
        roll=roll,
        turn=_both(link.rotation),
    )


@dataclasses.dataclass(frozen=True)
class ModalModel:
    """A concrete arm in space and a theory.

    Attributes
    ----------
    parts : ArmParts
        Links, payload and base, with NumPy values.
    theory : Theory
        Terms that the theory includes.
    values : ArmValues
        Numerical values of the parts, without an axis of cells.
    beams : Beams or None
        The flexible links as planar beams in float64; None if there is none.
    transfers : tuple of Transfer
        Transfer matrices of each link.
    springs : tuple
        For each link, the indices of its springs that are not rigid.
    place : tuple of int
        For each link, the index of the first of these among the unknowns.
    base : int or None
        Index of the motion of the base among the unknowns; None for a clamped base.
    held : tuple of slice
        Places of the forces of the supports at the tip of each link among the unknowns.
    size : int
        Number of unknowns.
    turning : TurningParts or None
        What forces at rest do to rigid parts; None without loads.
    """

    parts: ArmParts
    theory: Theory
    values: ArmValues
    beams: Beams | None
    transfers: tuple[Transfer, ...]
    springs: tuple[tuple[int, ...], ...]
    place: tuple[int, ...]
    base: int | None
    held: tuple[slice, ...]
    size: int
    turning: TurningParts | None = None

    @property
    def links(self) -> tuple[SpatialLink, ...]:
        """The links as they were given."""
        return self.parts[0]


def modal_model(model: SpatialModel) -> ModalModel:
    """Return the modal model of a concrete arm from its model for searches, `SpatialArm.model`."""
    parts = model.links, model.payload, model.base
    values: ArmValues = jax.tree_util.tree_map(lambda x: x[..., 0], arm_values(*parts))
    springs = tuple(
        tuple(int(k) for k in np.flatnonzero(np.isfinite(link.stiffness))) for link in values.links
    )
    counts = [len(s) for s in springs]
    first = 12 * len(values.links)
    size = first + sum(counts)
    base = None if values.base is None else size
    size += 6 * (base is not None)
    held = []
    for link in values.links:
        held.append(slice(size, size + (0 if link.held is None else len(link.held))))
        size = held[-1].stop
    return ModalModel(
        parts=parts,
        theory=model.flags,
        values=values,
        beams=model.constants().beams,
        transfers=tuple(transfer(link) for link in values.links),
        springs=springs,
        place=tuple(first + sum(counts[:i]) for i in range(len(counts))),
        base=base,
        held=tuple(held),
        size=size,
    )
