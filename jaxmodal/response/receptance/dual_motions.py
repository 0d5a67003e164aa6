"""Motions of the ports of arms in space with derivatives, by dual numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.operations import size_of
from jaxmodal.response.driven.port_quantities import read_ports
from jaxmodal.response.driven.spatial_systems import SpatialSystem
from jaxmodal.response.receptance.recursion_in_space import inward, moved_rows
from jaxmodal.response.receptance.rigid_supports import APART, reactions_of, rigid_alone, supported
from jaxmodal.response.receptance.still_ports import Still, read_motions, still_loads
from jaxmodal.response.receptance.under_loads import LoadedRecursion
from jaxmodal.runtime.array_types import Bools
from jaxmodal.spatial.stiffness.symmetric import Symmetric, total


class Parted(NamedTuple):
    """Masks of motions (read, inputs, 1) that are nothing at all frequencies, and of their derivatives.

    A motion may be nothing in one posture alone; ``slopes`` has a first axis for the directions.
    """

    values: Bools
    slopes: Bools


def dual_motions(system: SpatialSystem, omega: Dual, parted: Parted | None) -> Dual:
    """Return motions (read, inputs, F) with derivatives, the one by the frequency last."""
    left, _ = supported(_dual_stiffness(system, omega), system.forces)
    found = read_motions(system, left, omega, Still())
    if parted is None:
        return found
    return Dual(
        np.where(parted.values, 0.0, found.value), np.where(parted.slopes, 0.0, found.slopes)
    )


def _dual_stiffness(system: SpatialSystem, omega: Dual) -> Symmetric:
    """Return stiffness and loads at the ground, those of rigid supports last, with derivatives."""
    if system.at_rest is not None:
        return LoadedRecursion(system.at_rest, system.size, omega).symmetric()
    *_, last = inward(system, omega, 1.0)
    return last.added.stiffness


def parted_motions(plain: SpatialSystem, system: SpatialSystem, omega: Dual) -> Parted | None:
    """Return what rigid supports part, of a system and the same with derivatives, at `off_axis` as dual numbers."""
    if not (plain.rigid and plain.inputs):
        return None
    still, read = still_loads(plain), read_ports(plain.quantity, plain.inputs, plain.outputs)
    with np.errstate(all="ignore"):
        w, rigid = rigid_alone(_dual_stiffness(system, omega), system.gives)
        reactions, _ = reactions_of(w, rigid)
        slopes = read_motions(system, supported(w, rigid)[0], omega, Still()).slopes
        nothing = np.zeros(slopes.shape[:3], bool)
        values = np.zeros((*slopes.shape[1:3], 1), bool)
        for k, into in enumerate(plain.inputs):
            for o, out in enumerate(read):
                load, moved = plain.loads.index(out), list(moved_rows(plain, into))
                values[o, k] = all(still.part(load, row - 6) for row, _ in moved)
                terms = total(
                    size_of(x) * reactions.cancelled_slopes(6 + load, row, w[6 + load, row])
                    for row, x in moved
                )
                nothing[:, o, k] = ~np.any(size_of(slopes[:, o, k]) > APART * terms, axis=-1)
    return Parted(values, nothing[..., None])
