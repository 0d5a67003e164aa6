"""An arm in space under static loads, part by part: the pieces of its links, its rigid parts, its forces at rest.

Forces at rest in rigid parts and joints have the energies of `turning`. Rotations in several springs of a joint add as
vectors, without an order.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.modes.modal_model import ModalModel, transfer
from jaxmodal.spatial.modes.motions import line_inertia, mass_and_centre
from jaxmodal.spatial.modes.turning import Turning, TurningParts, joint_coupling, turned_by
from jaxmodal.spatial.parts.loads import LoadsInSpace
from jaxmodal.spatial.preload.equilibrium import RestInSpace
from jaxmodal.spatial.preload.members import MOST_PIECES, Needed, Pieces, pieces_needed, pieces_of
from jaxmodal.spatial.preload.parts import Bar, ChainParts, LinkParts, shift
from jaxmodal.spatial.preload.series import pieces_at, transfer_series
from jaxmodal.spatial.stiffness.matrices import skew

#: shares of a link's length at which its forces are sampled
LOOKED_AT = np.linspace(0.0, 1.0, 9)


@dataclasses.dataclass(frozen=True)
class PrestressedChain:
    """An arm in space under static loads and axial forces of its links, all multiplied by one factor.

    ``varied`` is True for an arm that is evaluated once, at one frequency.
    """

    model: ModalModel
    rest: RestInSpace
    loads: LoadsInSpace
    varied: bool = False

    def forces(self, number: int, shares: Floats) -> Floats:
        """Return the section forces at shares of a link's length, (S, 6); the link's index counts from 0."""
        pressed: Any = self.model.values.links[number].beam.force
        return self.rest.forces(number, shares) + pressed * np.eye(6)[0]

    @functools.cached_property
    def turning(self) -> TurningParts:
        """Stiffnesses of rigid parts, for factor 1; imaginary parts are kept."""
        links, rest, gravity = self.model.values.links, self.rest, self.loads.gravity

        def weight(matrix: Floats, axes: Floats) -> Floats:
            mass, centre = mass_and_centre(matrix)
            return turned_by(mass * (axes.T @ gravity), centre)

        found = []
        for number, (link, at, carried) in enumerate(
            zip(links, rest.places, rest.links, strict=True)
        ):
            force, line = at.axes.T @ carried.end[:3], at.section.T @ carried.line
            whole, ahead = link.beam.length * line, np.array([1.0, 0.0, 0.0]) * link.beam.length
            end = weight(link.tip, at.axes) + turned_by(force, link.end_offset)
            if number + 1 < len(links):
                end = end + weight(links[number + 1].stator, at.axes)
            along = np.zeros((3, 3))
            if self.model.links[number].rigid:
                along = turned_by(link.roll.T @ force, ahead) + turned_by(whole, 0.5 * ahead)
            start = turned_by(force + link.roll @ whole, link.base_offset)
            start = start + weight(link.hub, at.axes)
            found.append(Turning(start, along, end, joint_coupling(rest.joints[number])))
        return TurningParts(found, weight(links[0].stator, np.eye(3)))

    @functools.cached_property
    def parts(self) -> ChainParts:
        """What sits in the chain, and how motions pass it; imaginary parts are kept."""
        values, found = self.model.values, []
        for number, (link, own) in enumerate(zip(values.links, self.turning.links, strict=True)):
            t, rigid = transfer(link), None
            if self.model.links[number].rigid:
                ahead = shift(np.array([1.0, 0.0, 0.0]) * link.beam.length)
                rigid = Bar(ahead, bar(self.model, number))
            start = t.roll.T @ shift(link.base_offset)
            found.append(LinkParts(link, own, t.turn.T, start, rigid, t.end))
        return ChainParts(values.base, self.turning.base, found)

    @functools.cached_property
    def _looked_at(self) -> list[Floats]:
        """Section forces of each link, for factor 1, at the places that determine the number of its pieces."""
        return [self.forces(number, LOOKED_AT) for number in range(len(self.model.links))]

    def pieces_for(self, factor: float, square: float = 0.0) -> list[int] | None:
        """Return the number of pieces of each link; None if a link would need too many."""
        found = []
        for number, link in enumerate(self.model.links):
            needed = 0.0 if link.rigid else self.needed(number, square, factor)
            if not needed <= MOST_PIECES:
                return None
            found.append(int(np.ceil(needed)))
        return found

    def needed(self, number: int, square: float, factor: float = 1.0) -> float:
        """Return the number of pieces that an elastic link (index from 0) needs, not rounded."""
        if factor == 1.0:
            return self._needed[number].at(square)
        return self._pieces_needed(number, factor).at(square)

    @functools.cached_property
    def _needed(self) -> dict[int, Needed]:
        """What elastic links need for factor 1, by index."""
        elastic = [k for k, link in enumerate(self.model.links) if not link.rigid]
        return {number: self._pieces_needed(number, 1.0) for number in elastic}

    def _pieces_needed(self, number: int, factor: float) -> Needed:
        beam, forces = self.model.values.links[number].beam, factor * self._looked_at[number]
        return pieces_needed(beam, self.model.theory, forces)

    def pieces(self, number: int, factor: complex, count: int, square: complex = 0.0) -> Pieces:
        """Return a link (index from 0) cut into pieces; imaginary parts are kept."""
        beam, theory = self.model.values.links[number].beam, self.model.theory
        if factor == 1.0 and square and not self.varied:
            key = number, count
            if key not in self._series:
                forces = functools.partial(self.forces, number)
                self._series[key] = transfer_series(
                    beam, theory, forces, np.arange(count) / count, 1.0 / count
                )
            return pieces_at(self._series[key], square)

        def forces_at(shares: Floats) -> Any:
            return factor * self.forces(number, shares)

        return pieces_of(beam, theory, forces_at, square, count)

    @functools.cached_property
    def _series(self) -> dict[tuple[int, int], Any]:
        """Series of `transfer_series` so far, by the index of a link and its number of pieces."""
        return {}


def bar(model: ModalModel, number: int) -> Floats:
    """Return the mass matrix (6, 6) of a rigid link about its start, in section axes; imaginary parts are kept."""
    length: Any = model.values.links[number].beam.length
    inertia = line_inertia(model, number) * length
    moment = skew(np.array([1.0, 0.0, 0.0])) * (0.5 * length * inertia[0])
    across = inertia[0] * length**2 / 3.0
    found = np.diag(inertia + np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0]) * across)
    found[:3, 3:], found[3:, :3] = -moment, moment
    return found
