"""An arm in space under static loads, condensed from the tip to the base, and the count of its negative eigenvalues.

The stiffness W of the part beyond is carried inwards over rigid parts. Each elastic element is released with the roots
L of its flexibility, so that nothing cancels without load and the determinant begins at 1. By Haynsworth's additivity
the negative eigenvalues of ``1 + L^T W L`` of all releases (0 in place of 1 for free motions) are those of the arm,
since no piece of a beam is long enough to add its own. Deflections for which that matrix is nearly singular, because
the part beyond is near a critical load of its own, are not eliminated there. They are kept until an element further
inwards resists them; those that remain at the base form the last pivot.

The force of a support is an unknown that is kept, too, until an element on which it does work is released together with
it. Its own stiffness is minus the compliance of the support, 0 if that is rigid, so that a stiff spring loses no
digits. Where springs hold the same motion, forces of them against each other do no work: those are kept apart, since
their stiffness beside that of the others may be rounding. Each force released is subtracted from the count. A support
acts along fixed directions, or on the rotation vector if it holds a rotation; it has no second-order energy.

What cancels leaves rounding. ``size`` is what W would be if all its terms were added by their amount. A free deflection
is scaled by it, so that a stiffness of rounding alone is near zero, of whatever sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.members import roots
from jaxmodal.spatial.preload.parts import Along, ChainParts, LinkParts

#: eigenvalues of pivots below this are kept, not eliminated, and those below this share of the largest, which may be
#: rounding
NEARLY_SINGULAR = 1e-2
ROUNDED = 1e-12
#: least work, of scaled forces, for which the force of a support is released with deflections
ACTS = 1e-12


class Condensed(NamedTuple):
    """The pivots from the tip to the base.

    ``pivots`` are the eigenvalues of the eliminated matrices, step by step; ``last`` is the matrix of the unknowns that
    remain at the base; ``forces`` is the number of unknowns that are forces of supports, ``rigid`` that of rigid ones.
    """

    pivots: list[Floats]
    last: Floats
    forces: int
    rigid: int

    @property
    def moving(self) -> int:
        """Number of deflections, less those that rigid supports hold."""
        return sum(x.size for x in self.pivots) + len(self.last) - self.forces - self.rigid


def condensed(
    chain: PrestressedChain, factor: float, counts: Sequence[int], square: float = 0.0
) -> Condensed:
    """Return all pivots of a chain from the tip to the base, its links cut into these numbers of pieces."""
    found = _Condensing(chain, factor, counts, square)
    found.inwards()
    return Condensed(found.pivots, found.own, found.forces, found.rigid)


class _Condensing(Along):
    """The stiffness while it is carried inwards."""

    def __init__(
        self, chain: PrestressedChain, factor: float, counts: Sequence[int], square: float
    ) -> None:
        self.chain, self.factor, self.counts, self.square = chain, factor, counts, square
        self.w, self.size = np.zeros((2, 6, 6))
        #: only free deflections are scaled by ``size``
        self.free = any(bool(np.any(x.stiffness == 0.0)) for x in chain.model.values.links)
        #: of the unknowns that are kept: their coupling to the motion here, (6, ...), and their own stiffness
        self.beside, self.own = np.zeros((6, 0)), np.zeros((0, 0))
        #: directions (6, ...) of forces of rigid supports that have done no work on an elastic element yet, and of
        #: springs, with the compliances of these
        self.held, self.sprung, self.gives = np.zeros((6, 0)), np.zeros((6, 0)), np.zeros(0)
        self.forces = self.rigid = 0
        self.pivots: list[Floats] = []
        self.reach = sum(float(np.linalg.norm(at.tip - at.joint)) for at in chain.rest.places)

    @property
    def parts(self) -> ChainParts:
        return self.chain.parts

    def _add(self, matrix: Floats) -> None:
        """Add a stiffness (6, 6)."""
        self.w += matrix
        if self.free:
            self.size.flat[::7] += np.abs(matrix.flat[::7])

    def _turning(self, matrix: Floats) -> None:
        own = self.factor * matrix
        self.w[3:, 3:] += own
        if self.free:
            self.size.flat[21::7] += np.abs(own.flat[::4])

    def _support(self, number: int, part: LinkParts) -> None:
        link = part.values
        if link.supports is None or link.held is None:
            return
        for direction, stiffness in zip(link.supports, link.held, strict=True):
            if np.isinf(stiffness):
                self.held = np.column_stack([self.held, direction])
            elif stiffness > 0.0:
                self.sprung = np.column_stack([self.sprung, direction])
                self.gives = np.append(self.gives, 1.0 / stiffness)

    def _rigid(self, matrix: Floats) -> None:
        self.w = matrix.T @ self.w @ matrix
        if self.free:
            self.size = matrix.T @ self.size @ matrix
        self.beside, self.held = matrix.T @ self.beside, matrix.T @ self.held
        if self.sprung.size:
            self.sprung = matrix.T @ self.sprung

    def _mass(self, matrix: Floats) -> None:
        self._add(-self.square * matrix)

    def _release(
        self, roots: Floats, unit: Floats | None = None, coupled: Floats | float = 0.0
    ) -> None:
        """Release an elastic element; ``coupled`` couples its deflection to the motion before, in addition to W."""
        acting = self.w @ roots
        corner = roots.T @ acting
        scale = np.ones(len(corner))
        if unit is None:
            corner.flat[:: len(corner) + 1] += 1.0
        else:
            corner, scale = corner + unit, self._scale(roots, unit)
        if not (self.beside.size or self.held.size or self.sprung.size) and self._release_all(
            roots, corner, scale, acting + coupled
        ):
            return
        along, before = roots * scale, self.beside.shape[1]
        forces, give = self._met(along, corner * scale[:, None] * scale)
        beyond = np.hstack([self.beside, forces])
        across = along.T @ beyond
        own = np.diag(np.concatenate([np.zeros(before), -give]))
        own[:before, :before] = self.own
        block = np.block([[corner * scale[:, None] * scale, across], [across.T, own]])
        values, vectors = np.linalg.eigh(0.5 * (block + block.T))
        size = np.abs(values)
        done = size > max(NEARLY_SINGULAR, ROUNDED * float(size.max(initial=0.0)))
        known = np.hstack([(acting + coupled) * scale, beyond])
        acted = known @ vectors[:, done]
        self._less(acted, values[done])
        self.beside, self.own = known @ vectors[:, ~done], np.diag(values[~done])
        self.pivots.append(values[done])

    def _release_all(self, roots: Floats, corner: Floats, scale: Floats, known: Floats) -> bool:
        """Release an element with nothing kept before, if nothing is to be kept; otherwise return False."""
        values, vectors = np.linalg.eigh(corner * scale[:, None] * scale)
        size = np.abs(values)
        if not size.min() > max(NEARLY_SINGULAR, ROUNDED * float(size.max())):
            return False
        vectors *= scale[:, None]
        acted = known @ vectors
        self._less(acted, values)
        self.pivots.append(values)
        return True

    def _less(self, acted: Floats, values: Floats) -> None:
        """Subtract ``acted values^-1 acted^T`` from the stiffness."""
        w = self.w - (acted / values) @ acted.T
        self.w = 0.5 * (w + w.T)
        if self.free:
            self.size = self.size + (acted / np.abs(values)) @ acted.T

    def _scale(self, roots: Floats, unit: Floats) -> Floats:
        """Return scales of the deflections: free ones by the terms of the stiffness against their kind, others 1."""
        moved, turned = np.diag(self.size).reshape(2, 3).max(axis=1)
        # what slides as a whole meets rounding alone, beside the stiffness of its loads against rotation
        whole = np.repeat([max(moved, turned / self.reach**2), turned], 3)
        size = np.sum(whole[:, None] * roots**2, axis=0)
        free = (np.diag(unit) <= 0.0) & (size > 0.0)
        return np.where(free, 1.0 / np.sqrt(np.where(free, size, 1.0)), 1.0)

    def _met(self, along: Floats, corner: Floats) -> tuple[Floats, Floats]:
        """Return directions (6, ...) of forces of supports that do work on these deflections, and compliances.

        They are scaled to the deflections and no longer kept.
        """
        given = np.hstack([self.held, self.sprung])
        if not given.size:
            return given, self.gives
        sizes = (np.abs(along).T @ np.abs(given)).max(axis=0, initial=0.0)
        # what does no work here is kept as it is
        scale = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
        given, rigid = given * scale, self.held.shape[1]
        right, values = np.linalg.svd(along.T @ given[:, :rigid])[:0:-1]
        rank = int(np.sum(values > ACTS))
        works = np.linalg.norm(along.T @ given[:, rigid:], axis=0) > ACTS
        if rank:
            self.held = given[:, :rigid] @ right[rank:].T
        sprung, compliant = given[:, rigid:][:, works], (self.gives * scale[rigid:] ** 2)[works]
        self.sprung, self.gives = self.sprung[:, ~works], self.gives[~works]
        if compliant.size > 1:
            sprung = self._apart(along, sprung / np.sqrt(compliant))
            compliant = np.ones(sprung.shape[1])
        found = np.hstack([given[:, :rigid] @ right[:rank].T, sprung])
        gives = np.append(np.zeros(rank), compliant)
        self.forces, self.rigid = self.forces + gives.size, self.rigid + rank
        acting = along.T @ found
        work = np.sum(acting**2, axis=0)
        stiff = np.maximum(1.0, np.sum(acting * (corner @ acting), axis=0) / work) / work
        square = stiff / np.maximum(1.0, stiff * gives)
        return found * np.sqrt(square), gives * square

    def _apart(self, along: Floats, forces: Floats) -> Floats:
        """Return forces of compliance 1 that work on different deflections, in place of those given; keep the others.

        Springs that hold the same motion have forces against each other that do no work, however stiff they are.
        """
        right, values = np.linalg.svd(along.T @ forces)[:0:-1]
        rank, turned = int(np.sum(values > ACTS * values[0])), forces @ right.T
        # what cancels in the others leaves rounding, which would hold what is soft
        rounded = np.abs(turned) <= ACTS * (np.abs(forces) @ np.abs(right.T))
        self.sprung = np.hstack([self.sprung, np.where(rounded, 0.0, turned)[:, rank:]])
        self.gives = np.append(self.gives, np.ones(turned.shape[1] - rank))
        return turned[:, :rank]

    def _pieces(self, number: int) -> None:
        pieces = self.chain.pieces(number, self.factor, self.counts[number], self.square)
        every = pieces._replace(give=roots(pieces.give))
        for stiffness, carried, root in zip(*(x[::-1] for x in every), strict=True):
            self._release(root)
            self._rigid(carried)
            self._add(stiffness)

    def _joint(self, number: int, part: LinkParts) -> None:
        link, coupling = part.values, part.turning.joint
        given = np.isfinite(link.stiffness)
        stiffness = link.stiffness[given]
        held = stiffness > 0.0  # free motions have a root, too, but no own stiffness
        roots = (link.directions[given] / np.sqrt(np.where(held, stiffness, 1.0))[:, None]).T
        inertia, ratio = link.rotor
        spin, give = np.concatenate([np.zeros(3), link.directions[-1, 3:]]), np.zeros(held.size)
        if given[-1]:
            give[-1] = ratio * float(spin @ roots[:, -1])
        turning = self.square * inertia
        if held.size:
            unit = np.diag(held.astype(float)) - turning * np.outer(give, give)
            coupled = self.factor * (coupling @ roots) - turning * np.outer(spin, give)
            self._release(roots, unit, coupled)
        self._add(-turning * np.outer(spin, spin))

    def _base(self, stiffness: Floats) -> None:
        self._release(np.linalg.inv(np.linalg.cholesky(stiffness)).T)
