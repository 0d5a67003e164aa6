"""Responses of arms in space under loads: the recursion of arms without, with pieces under all forces at rest.

The stiffness over six directions and loads, ``d^T W d/2 - f^T q d - f^T G f/2``, is carried inwards as in
`stiffness.entries`, in dense matrices for all frequencies at once. Forces at rest stiffen rigid parts against rotation
and couple the motion before a joint to the deflections of its springs, which are therefore released together. Dual
numbers go through it with the derivatives of all that, those of the forces at rest among them.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from jaxmodal.arithmetic.dual import Dual, value_of, zeros
from jaxmodal.response.driven.held_tips import STIFF, beside_force
from jaxmodal.response.driven.loaded_chains import LoadedChain
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.namespace import Array, is_complex
from jaxmodal.spatial.preload.parts import Along, ChainParts, LinkParts
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places

#: leaves the rotations of a motion
_TURNS = np.repeat([0.0, 1.0], 3)
#: relative addition to a singular matrix, the smallest that changes 1
_NUDGE = 2.0**-52


class LoadedRecursion(Along):
    """The recursion of one arm at frequencies (F,); ``share`` scales the damping, one number per frequency.

    Frequencies may be dual numbers, for derivatives by them and by the values that are stepped in the arm.

    Attributes
    ----------
    stiffness : array, shape (F, size, size)
        Stiffness and loads at the ground, those of rigid supports last.
    growth : array, shape (F,)
        Approximate ratio of intermediate numbers to results.
    factors : list of array
        Factors of the characteristic determinant, without those of rigid supports and positive ones.
    """

    def __init__(self, loaded: LoadedChain, size: int, omega: Array, share: Any = 1.0) -> None:
        self.loaded, self.omega, self.square, self.share = loaded, omega, omega * omega, share
        # derivatives by a damping of 0 are complex where the values are real
        kind = (omega, 1j) if isinstance(omega, Dual) else (omega,)
        whole = size + self._stiff()
        self.stiffness: Array = zeros((omega.size, whole, whole), *kind)
        self.growth: Floats = np.zeros(omega.size)
        self.factors: list[Array] = []
        # loads of rigid supports are numbered from the base, and met from the tip
        self._held = self._sprung = size
        self.inwards()
        self._without_springs(size)

    def symmetric(self) -> Symmetric:
        """Return the stiffness as entries."""
        w = self.stiffness
        return Symmetric([w[:, i, j] for i, j in places(w.shape[-1])])

    @property
    def parts(self) -> ChainParts:
        return self.loaded.parts

    def _mass(self, matrix: Array) -> None:
        self.stiffness[:, :6, :6] -= self.square[:, None, None] * matrix

    def _turning(self, matrix: Array) -> None:
        self.stiffness[:, 3:6, 3:6] += matrix

    def _rigid(self, matrix: Array) -> None:
        w = self.stiffness
        w[:, :6] = matrix.T @ w[:, :6]
        w[:, :, :6] = w[:, :, :6] @ matrix

    def _bar(self, number: int, matrix: Array) -> None:
        self._rigid(matrix)
        self._loads(number, 0.0)

    def _load(self, row: Array, place: int) -> None:
        self.stiffness[:, :6, place] -= row
        self.stiffness[:, place, :6] -= row

    def _loads(self, number: int, station: float) -> None:
        for k, each in enumerate(self.loaded.readings, start=6):
            if (each.link, each.station) == (number, station):
                self._load(each.row, k)

    def _support(self, number: int, part: LinkParts) -> None:
        """Add springs, and a load for each support much stiffer than what a spring beside it has.

        Beside a rigid one this spring has no effect, as without loads. Of others it is a part, and the compliance of
        the load that of the rest.
        """
        link = part.values
        if link.supports is None or link.held is None:
            return
        self._held -= int(np.sum(np.isinf(link.held)))
        place = self._held
        for direction, stiffness in zip(link.supports, link.held, strict=True):
            beside = self._beside(number, direction)
            if np.isinf(stiffness):
                self._load(direction, place)
                place, stiffness = place + 1, beside
            elif value_of(stiffness) > STIFF * beside:
                self._load(direction, self._sprung)
                self.stiffness[:, self._sprung, self._sprung] -= 1.0 / (stiffness - beside)
                self._sprung, stiffness = self._sprung + 1, beside
            self.stiffness[:, :6, :6] += stiffness * (direction[:, None] * direction)

    def _beside(self, number: int, direction: Array) -> float:
        """Return `beside_force` of a link; the support acts along a direction (6,)."""
        beam = self.loaded.chain.model.values.links[number].beam
        bending = min(beam.bending_y, beam.bending_z)
        return float(beside_force(beam.length, bending, bool(np.any(direction[3:]))))

    def _stiff(self) -> int:
        """Return the number of springs of supports that become loads."""
        found = 0
        for number, part in enumerate(self.parts.links):
            link = part.values
            if link.supports is not None and link.held is not None:
                for direction, stiffness in zip(link.supports, link.held, strict=True):
                    least = STIFF * self._beside(number, direction)
                    found += bool(least < value_of(stiffness) < np.inf)
        return found

    def _without_springs(self, size: int) -> None:
        """Eliminate the loads of stiff springs, which follow on all others."""
        own = self.stiffness[:, size:, size:]
        if not own.size:
            return
        self.factors.append(np.linalg.det(-own))
        given = self.stiffness[:, :size, size:] @ _inverse(own) @ self.stiffness[:, size:, :size]
        self.stiffness = self.stiffness[:, :size, :size] - 0.5 * (given + given.swapaxes(1, 2))

    def _base(self, stiffness: Array) -> None:
        self._release(np.broadcast_to(np.linalg.inv(stiffness), (self.omega.size, 6, 6)))

    def _pieces(self, number: int) -> None:
        for outer, inner in itertools.pairwise(self.loaded.stations(number)):
            self._loads(number, outer)
            self._within(number, inner, outer)
        self._loads(number, 0.0)

    def _within(self, number: int, start: float, end: float) -> None:
        pieces = self.loaded.pieces(number, start, end, self.omega, self.share)
        for k in range(pieces.give.shape[1] - 1, -1, -1):
            stiffness, carried, give = (x[:, k] for x in pieces)
            # 1/cos of the wave along the piece is the determinant of what it carries
            self.factors.append(1.0 / np.linalg.det(carried))
            self._release(give)
            w = self.stiffness
            w[:, :6] = carried.swapaxes(1, 2) @ w[:, :6]
            w[:, :, :6] = w[:, :, :6] @ carried
            w[:, :6, :6] += stiffness

    def _release(self, give: Array) -> None:
        """Release a flexibility (F, 6, 6) in all six directions: ``(1 + W R)^-1 W``."""
        if is_complex(give) and not is_complex(self.stiffness):
            self.stiffness = self.stiffness.astype(complex)
        w = self.stiffness
        square = np.eye(6) + w[:, :6, :6] @ give
        inverse = _inverse(square)
        # forces in units that deflect the element alike
        size = np.sqrt(np.abs(np.diagonal(value_of(give), axis1=1, axis2=2)))
        size = np.where(size > 0.0, size, 1.0)
        scaled = np.abs(value_of(inverse)) * size[:, :, None] / size[:, None, :]
        self.growth = np.maximum(self.growth, scaled.max(axis=(1, 2)))
        self.factors.append(np.linalg.det(square))
        released = inverse @ w[:, :6]
        across = w[:, 6:, :6] @ give @ released[:, :, 6:]
        w[:, 6:, 6:] -= 0.5 * (across + across.swapaxes(1, 2))
        w[:, :6] = released
        w[:, :6, :6] = 0.5 * (w[:, :6, :6] + w[:, :6, :6].swapaxes(1, 2))
        w[:, 6:, :6] = released[:, :, 6:].swapaxes(1, 2)

    def _joint(self, number: int, part: LinkParts) -> None:
        link, coupling = part.values, part.turning.joint
        given = np.isfinite(link.stiffness)
        directions, inertia, ratio = link.directions[given], *link.rotor
        spin = (link.directions[-1] * _TURNS)[:, None]
        turning = (self.square * inertia)[:, None, None]
        plain = self.stiffness
        if given.any():
            dampers = (self.omega * self.share)[:, None] * self.loaded.dampers[number][given]
            stiffness: Any = np.broadcast_to(link.stiffness[given], dampers.shape)
            if np.any(dampers):
                stiffness = stiffness + 1j * dampers
            turns = zeros((int(given.sum()), 1), directions, ratio)
            if given[-1]:
                turns[-1] = ratio * (directions[-1:] @ spin)[0]
            acting = directions @ plain[:, :6]
            own = acting[:, :, :6] @ directions.T - turning * (turns @ turns.T)
            if given[-1]:
                for k, each in enumerate(self.loaded.readings, start=6):
                    if each.link == number:
                        acting[:, -1, k] -= each.give
            acting[:, :, :6] += directions @ coupling.T - turning * (turns @ spin.T)
            springs = stiffness[:, :, None] * np.eye(int(given.sum()))
            whole = springs + own
            inverse = _inverse(whole)
            left = np.abs(np.diagonal(value_of(own), axis1=1, axis2=2))
            terms = np.abs(value_of(stiffness)) + left
            size = np.sqrt(np.where(terms > 0.0, terms, 1.0))
            scaled = np.abs(value_of(inverse)) * size[:, :, None] * size[:, None, :]
            self.growth = np.maximum(self.growth, scaled.max(axis=(1, 2)))
            known = value_of(link.stiffness)[given]
            scale = np.prod(np.where(known > 0.0, known, 1.0))
            self.factors.append(np.linalg.det(whole) / scale)
            given_up = acting.swapaxes(1, 2) @ inverse @ acting
            self.stiffness = plain - 0.5 * (given_up + given_up.swapaxes(1, 2))
        self.stiffness[:, :6, :6] -= turning * (spin @ spin.T)


def _inverse(matrices: Array) -> Array:
    """Return inverses; near those of singular matrices, whose response is then that near a resonance."""
    singular = np.linalg.det(value_of(matrices)) == 0.0
    if singular.any():
        size = np.abs(value_of(matrices)).max(axis=(1, 2)) * singular
        size = np.where(size > 0.0, size, singular)
        matrices = matrices + (_NUDGE * size)[:, None, None] * np.eye(matrices.shape[-1])
    return np.linalg.inv(matrices)
