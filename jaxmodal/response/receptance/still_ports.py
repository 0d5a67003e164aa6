"""Ports of arms in space that rigid supports fix or part, and the motions of those that move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.nothing import NOTHING, as_array
from jaxmodal.arithmetic.operations import size_of
from jaxmodal.response.driven.port_quantities import read_ports
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.spatial_systems import SpatialSystem
from jaxmodal.response.receptance.recursion_in_space import (
    condensed_in_space,
    moved_rows,
    without_rigid_supports,
)
from jaxmodal.response.receptance.rigid_supports import (
    APART,
    OFF_AXIS,
    cancelled,
    rigid_alone,
    supported,
)
from jaxmodal.runtime.array_types import Numbers
from jaxmodal.spatial.stiffness.symmetric import Symmetric

#: a port counts as held by rigid supports if its motion is below this share of its motion without them, which is
#: rounding
_HELD = 1e-13
#: rounding error of a sum of such terms, relative to the sum of their absolute values
_ROUNDING = 2.0**-50
#: number of the frequencies of `OFF_AXIS` at which arms under loads are looked at; at higher ones links need many
#: pieces
_MODERATE = 3


class Still(NamedTuple):
    """Effects of rigid supports at all frequencies, by the numbers of ports; -6 to -1 are motions of the ground.

    Attributes
    ----------
    held
        Ports that supports fix, directly or through rigid parts.
    apart
        Pairs, the smaller number first, of ports neither of which moves under a load at the other, or of a motion of
        the ground and a port that does not follow it.
    """

    held: frozenset[int] = frozenset()
    apart: frozenset[tuple[int, int]] = frozenset()

    def part(self, one: int, other: int) -> bool:
        """Return whether two ports, which may be the same, do not move under a load at the other."""
        pair = (min(one, other), max(one, other))
        return pair in self.apart or bool(self.held.intersection(pair))


def off_axis(system: SpatialSystem) -> Numbers:
    """Return frequencies that are no resonances."""
    return OFF_AXIS if system.at_rest is None else OFF_AXIS[:_MODERATE]


def still_loads(system: SpatialSystem) -> Still:
    """Return the ports that rigid supports fix, and those that they part: from frequencies that are no resonances."""
    if not system.rigid:
        return Still()
    omega = off_axis(system)
    held, apart = set(), set()
    with np.errstate(all="ignore"):
        free, rigid = rigid_alone(without_rigid_supports(system, omega)[0], system.gives)
        left, terms = supported(free, rigid)
        sizes = cancelled(free, rigid)
        for i in range(6, left.size):
            own, whole, most = (
                size_of(x + 0.0 * omega) for x in (left[i, i], free[i, i], terms[i])
            )
            # a sum of squares over modes; the second is for supports that are oblique to the port and act in other
            # directions as well
            if own[0] <= max(_HELD * whole[0], _ROUNDING * most[0]):
                held.add(i - 6)
            for j in range(i):
                size = size_of(left[j, i] + 0.0 * omega)
                # the highest frequencies overflow in large arms
                if not (np.isnan(size[0]) or np.any(size > APART * sizes[j, i])):
                    apart.add((j - 6, i - 6))
    return Still(frozenset(held), frozenset(apart))


def still_inputs(system: SpatialSystem) -> list[Port]:
    """Return inputs with an imposed displacement that cannot move: supports hold them, or no elastic part gives."""
    if system.quantity not in ("dynamic_stiffness", "transmissibility"):
        return []
    omega = np.ones(1)
    found, _ = condensed_in_space(system, omega)
    held = still_loads(system).held
    numbers = {each: system.loads.index(each) for each in system.inputs if each in system.loads}
    return [
        each
        for each, load in numbers.items()
        if load in held or not np.any(as_array(found[6 + load, 6 + load], omega))
    ]


def read_motions(system: SpatialSystem, found: Symmetric, omega: Any, still: Still) -> Any:
    """Return motions (read, inputs, F) of the ports that are read, from stiffness and loads at the ground."""
    columns = []
    for into in system.inputs:
        rows = []
        for out in read_ports(system.quantity, system.inputs, system.outputs):
            load = system.loads.index(out)
            moved = [x for x in moved_rows(system, into) if not still.part(x[0] - 6, load)]
            motion = -sum((found[row, 6 + load] * x for row, x in moved), start=NOTHING)
            rows.append(as_array(motion, omega))
        columns.append(np.stack(rows))
    return np.stack(columns, axis=1)
