"""An arm in space under loads at rest, condensed from the tip to the base: its count of what is unstable.

Rigid parts carry the stiffness W inwards; what is elastic is released with the roots of its flexibility, so that
nothing cancels without load and the determinant begins at 1. By Haynsworth's additivity the negative eigenvalues of
``1 + L^T W L`` of all releases (0 for the 1 of what moves freely) are those of the arm; no piece of a member is long
enough to add any of its own.

A force F that acts on a rigid part at r from the place where its motion is known works on its turn of second order:
``(F.r) phi^2/2 - (F.phi)(r.phi)/2``. A moment m in a joint does ``-m . (phi_before x phi_beyond)/2``; gives g of its
springs move with the part before, ``-F . (phi_before x g)``, and rotations of several act together, in no order.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxmodal.at_rest.in_space import RestInSpace
from jaxmodal.at_rest.prestressed_members import (
    MOST_PIECES,
    Pieces,
    pieces_needed,
    pieces_of,
)
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import line_inertia, mass_and_centre
from jaxmodal.spatial.stiffness.matrices import skew

Floats = NDArray[np.float64]

#: shares of a link at which the size of its forces is looked at
_LOOKED_AT = np.linspace(0.0, 1.0, 9)


class Step(NamedTuple):
    """One step inwards: a rigid part, whose outer end moves by ``matrix`` times its inner, or something elastic.

    Of a release ``matrix`` are the roots L of its flexibility, ``pivots`` is 1 + L^T W L, and ``known`` is
    (W + Gamma) L, by which the motion of its inner side acts on it.
    """

    matrix: Floats
    pivots: Floats | None = None
    known: Floats | None = None


class Condensed(NamedTuple):
    """Steps from the tip to the base; of each link how many were done when its outer and its inner end was reached."""

    steps: list[Step]
    outer: list[int]
    inner: list[int]

    @property
    def pivots(self) -> list[Floats]:
        """Of all releases."""
        return [step.pivots for step in self.steps if step.pivots is not None]


@dataclasses.dataclass(frozen=True)
class PrestressedChain:
    """An arm in space at rest under loads, which are all multiplied by a factor."""

    model: ModalModel
    rest: RestInSpace
    gravity: Floats

    def pieces_for(self, factor: float, square: float = 0.0) -> list[int] | None:
        """How many pieces each link is cut into; None where a link would need too many."""
        found = []
        for number, link in enumerate(self.model.values.links):
            if self.model.links[number].rigid:
                found.append(0)
                continue
            forces = factor * self.rest.forces(number, _LOOKED_AT)
            needed = pieces_needed(link.beam, self.model.theory, forces, square)
            if not needed <= MOST_PIECES:
                return None
            found.append(int(np.ceil(needed)))
        return found

    def condensed(self, factor: float, counts: list[int], square: float = 0.0) -> Condensed:
        """All steps from the tip to the base."""
        return _Condensing(self, factor, square).all(counts)


class _Condensing:
    """The stiffness while it is carried inwards."""

    def __init__(self, chain: PrestressedChain, factor: float, square: float) -> None:
        self.chain, self.factor, self.square = chain, factor, square
        self.w = np.zeros((6, 6))
        self.steps: list[Step] = []

    def all(self, counts: list[int]) -> Condensed:
        links, rest = self.chain.model.values.links, self.chain.rest
        outer, inner = [0] * len(links), [0] * len(links)
        for number in range(len(links) - 1, -1, -1):
            link, at, carried = links[number], rest.places[number], rest.links[number]
            axes, last = at.axes, number == len(links) - 1
            self._body(link.tip, axes)
            if not last:
                self._body(links[number + 1].stator, axes)
            force = axes.T @ carried.end[:3]
            self._shift(link.end_offset, force)
            self._turn(link.roll)
            outer[number] = len(self.steps)
            along = np.array([float(link.beam.length), 0.0, 0.0])
            line = at.section.T @ carried.line
            force = link.roll.T @ force
            if self.chain.model.links[number].rigid:
                self._shift(along, force)
                self._hang(along[0] * line, 0.5 * along)
                self.w -= self.square * _bar(self.chain.model, number)
            else:
                self._pieces(self._of_link(number, counts[number]))
            inner[number] = len(self.steps)
            self._turn(link.roll.T)
            start = link.roll @ (force + along[0] * line)
            self._shift(link.base_offset, start)
            self._body(link.hub, axes)
            self._joint(number)
            self._turn(link.rotation.T)
        self._base()
        return Condensed(self.steps, outer, inner)

    def _of_link(self, number: int, count: int) -> Pieces:
        chain = self.chain
        beam = chain.model.values.links[number].beam

        def forces(shares: Floats) -> Floats:
            return self.factor * chain.rest.forces(number, shares)

        return pieces_of(beam, chain.model.theory, forces, self.square, count)

    def _add(self, matrix: Floats) -> None:
        """A stiffness against rotation."""
        self.w[3:, 3:] += self.factor * matrix

    def _hang(self, force: Floats, place: Floats) -> None:
        """A force at a place of a rigid part."""
        outer = np.outer(force, place)
        self._add(force @ place * np.eye(3) - 0.5 * (outer + outer.T))

    def _body(self, matrix: Floats, axes: Floats) -> None:
        mass, centre = mass_and_centre(matrix)
        self._hang(mass * (axes.T @ self.chain.gravity), centre)
        self.w -= self.square * matrix

    def _rigid(self, matrix: Floats) -> None:
        self.w = matrix.T @ self.w @ matrix
        self.steps.append(Step(matrix))

    def _shift(self, offset: Floats, force: Floats) -> None:
        """To a place from which this one is seen at ``offset``, past which ``force`` is carried."""
        motion = np.eye(6)
        motion[:3, 3:] = -skew(offset)
        self._rigid(motion)
        self._hang(force, offset)

    def _turn(self, axes: Floats) -> None:
        """To other axes, in which those of now are the rows of ``axes``."""
        self._rigid(np.asarray(np.kron(np.eye(2), axes), np.float64))

    def _release(
        self, roots: Floats, unit: Floats | None = None, beside: Floats | float = 0.0
    ) -> None:
        """Something elastic; ``beside`` is what couples its give with the motion before besides W."""
        acting = self.w @ roots
        pivots = (np.eye(roots.shape[1]) if unit is None else unit) + roots.T @ acting
        known = acting + beside
        self.w = self.w - known @ solved(pivots, known.T)
        self.w = 0.5 * (self.w + self.w.T)
        self.steps.append(Step(roots, pivots, known))

    def _pieces(self, pieces: Pieces) -> None:
        for stiffness, carried, roots in zip(*(x[::-1] for x in pieces), strict=True):
            self._release(roots)
            self._rigid(carried)
            self.w += stiffness

    def _joint(self, number: int) -> None:
        """Springs and rotor of a joint: ``J (a . phi_before + N q)^2/2``, q the give about the axis."""
        link = self.chain.model.values.links[number]
        given = np.isfinite(link.stiffness)
        stiffness = link.stiffness[given]
        held = (
            stiffness > 0.0
        )  # what moves freely has a root, too, and nothing of its own against it
        roots = (link.directions[given] / np.sqrt(np.where(held, stiffness, 1.0))[:, None]).T
        load = self.chain.rest.joints[number]
        coupling = np.zeros((6, 6))
        coupling[3:, :3], coupling[3:, 3:] = skew(load[:3]), 0.5 * skew(load[3:])
        inertia, ratio = link.rotor
        spin, give = np.concatenate([np.zeros(3), link.directions[-1, 3:]]), np.zeros(held.size)
        if given[-1]:
            give[-1] = ratio * float(spin @ roots[:, -1])
        turning = self.square * inertia
        if held.size:
            unit = np.diag(held.astype(float)) - turning * np.outer(give, give)
            beside = self.factor * (coupling @ roots) - turning * np.outer(spin, give)
            self._release(roots, unit, beside)
        self.w -= turning * np.outer(spin, spin)

    def _base(self) -> None:
        """The springs of an elastic base, on which the stator of joint 1 stands."""
        base = self.chain.model.values.base
        if base is not None:
            self._body(self.chain.model.values.links[0].stator, np.eye(3))
            self._release(np.linalg.inv(np.linalg.cholesky(base)).T)


def solved(pivots: Floats, right: Floats) -> Floats:
    """The solution; the least one where a free joint has nothing against it at all."""
    try:
        return np.asarray(np.linalg.solve(pivots, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(pivots, right, rcond=None)[0])


def _bar(model: ModalModel, number: int) -> Floats:
    """Mass matrix of a rigid link about its start, in the axes of its section."""
    length = float(model.values.links[number].beam.length)
    inertia = line_inertia(model, number) * length
    moment = skew(np.array([0.5 * length * inertia[0], 0.0, 0.0]))
    across = inertia[0] * length**2 / 3.0
    found = np.diag(inertia + np.array([0.0, 0.0, 0.0, 0.0, across, across]))
    found[:3, 3:], found[3:, :3] = -moment, moment
    return found
