"""An arm in space under static loads, condensed from the tip to the base, and the count of its negative eigenvalues.

The stiffness W of the part beyond is carried inwards over rigid parts. Each elastic element is released with the roots
L of its flexibility, so that nothing cancels without load and the determinant begins at 1. By Haynsworth's additivity
the negative eigenvalues of ``1 + L^T W L`` of all releases (0 in place of 1 for free motions) are those of the arm,
since no piece of a beam is long enough to add its own. Deflections for which that matrix is nearly singular, because
the part beyond is near a critical load of its own, are not eliminated there. They are kept until an element further
inwards resists them; those that remain at the base form the last pivot.

A spring at a tip adds its stiffness to W. The force of a rigid support is an unknown that is kept, too, until an
elastic element on which it does work is released together with it. Each such force is subtracted from the count. A
support acts along fixed directions, or on the rotation vector if it holds a rotation; it has no second-order energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.modes.values import LinkValues
from jaxmodal.spatial.preload.chain import Along, PrestressedChain
from jaxmodal.spatial.preload.members import roots

#: eigenvalues of pivots below this are kept, not eliminated, and those below this share of the largest, which may be
#: rounding
NEARLY_SINGULAR = 1e-2
ROUNDED = 1e-12
#: least singular value, of scaled works, for which the force of a rigid support is released with deflections
ACTS = 1e-12


class Condensed(NamedTuple):
    """The pivots from the tip to the base.

    ``pivots`` are the eigenvalues of the eliminated matrices, step by step; ``last`` is the matrix of the unknowns that
    remain at the base; ``forces`` is the number of unknowns that are forces of rigid supports.
    """

    pivots: list[Floats]
    last: Floats
    forces: int

    @property
    def moving(self) -> int:
        """Number of deflections, less those that rigid supports hold."""
        return sum(x.size for x in self.pivots) + len(self.last) - 2 * self.forces


def condensed(
    chain: PrestressedChain, factor: float, counts: Sequence[int], square: float = 0.0
) -> Condensed:
    """Return all pivots of a chain from the tip to the base, its links cut into these numbers of pieces."""
    found = _Condensing(chain, factor, counts, square)
    found.inwards()
    return Condensed(found.pivots, found.own, found.forces)


class _Condensing(Along):
    """The stiffness while it is carried inwards."""

    def __init__(
        self, chain: PrestressedChain, factor: float, counts: Sequence[int], square: float
    ) -> None:
        self.chain, self.factor, self.counts, self.square = chain, factor, counts, square
        self.w = np.zeros((6, 6))
        #: of the unknowns that are kept: their coupling to the motion here, (6, ...), and their own stiffness
        self.beside, self.own = np.zeros((6, 0)), np.zeros((0, 0))
        #: directions (6, ...) of forces of rigid supports that have done no work on an elastic element yet
        self.held = np.zeros((6, 0))
        self.forces = 0
        self.pivots: list[Floats] = []
        self.reach = sum(float(np.linalg.norm(at.tip - at.joint)) for at in chain.rest.places)

    def _turning(self, matrix: Floats) -> None:
        self.w[3:, 3:] += self.factor * matrix

    def _support(self, number: int, link: LinkValues) -> None:
        if link.supports is None or link.held is None:
            return
        for direction, stiffness in zip(link.supports, link.held, strict=True):
            if np.isfinite(stiffness):
                self.w += stiffness * np.outer(direction, direction)
            else:
                self.held = np.column_stack([self.held, direction])
                self.forces += 1

    def _rigid(self, matrix: Floats) -> None:
        self.w = matrix.T @ self.w @ matrix
        self.beside, self.held = matrix.T @ self.beside, matrix.T @ self.held

    def _mass(self, matrix: Floats) -> None:
        self.w -= self.square * matrix

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
        if not (self.beside.size or self.held.size) and self._release_all(
            roots, corner, scale, acting + coupled
        ):
            return
        along, before = roots * scale, self.beside.shape[1]
        forces = self._met(along, corner * scale[:, None] * scale)
        beyond = np.hstack([self.beside, forces])
        across = along.T @ beyond
        own = np.zeros((beyond.shape[1],) * 2)
        own[:before, :before] = self.own
        block = np.block([[corner * scale[:, None] * scale, across], [across.T, own]])
        values, vectors = np.linalg.eigh(0.5 * (block + block.T))
        size = np.abs(values)
        done = size > max(NEARLY_SINGULAR, ROUNDED * float(size.max(initial=0.0)))
        known = np.hstack([(acting + coupled) * scale, beyond])
        acted = known @ vectors[:, done]
        self.w = self.w - (acted / values[done]) @ acted.T
        self.w = 0.5 * (self.w + self.w.T)
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
        self.w = self.w - (acted / values) @ acted.T
        self.w = 0.5 * (self.w + self.w.T)
        self.pivots.append(values)
        return True

    def _scale(self, roots: Floats, unit: Floats) -> Floats:
        """Return scales of the deflections: free ones by the stiffness against motions of their kind, others 1."""
        moved, turned = np.abs(np.diag(self.w)).reshape(2, 3).max(axis=1)
        # what slides as a whole meets rounding alone, beside the stiffness of its loads against rotation
        whole = np.repeat([max(moved, turned / self.reach**2), turned], 3)
        size = np.sum(whole[:, None] * roots**2, axis=0)
        free = (np.diag(unit) <= 0.0) & (size > 0.0)
        return np.where(free, 1.0 / np.sqrt(np.where(free, size, 1.0)), 1.0)

    def _met(self, along: Floats, corner: Floats) -> Floats:
        """Return directions (6, ...) of forces of rigid supports that do work on these deflections.

        They are scaled to the deflections and removed from ``held``.
        """
        if not self.held.size:
            return self.held
        acting, sizes = along.T @ self.held, np.abs(along).T @ np.abs(self.held)
        largest = sizes.max(axis=0, initial=0.0)
        # what does no work here is kept as it is
        scale = 1.0 / np.where(largest > 0.0, largest, 1.0)
        left, values, right = np.linalg.svd(acting * scale)
        rank = int(np.sum(values > ACTS))
        held, left = self.held * scale, left[:, :rank]
        self.held = held @ right[rank:].T if rank else self.held
        stiff = np.einsum("ij,ik,kj->j", left, corner, left)
        found: Floats = held @ right[:rank].T * (np.sqrt(np.maximum(1.0, stiff)) / values[:rank])
        return found

    def _pieces(self, number: int) -> None:
        pieces = self.chain.pieces(number, self.factor, self.counts[number], self.square)
        every = pieces._replace(give=roots(pieces.give))
        for stiffness, carried, root in zip(*(x[::-1] for x in every), strict=True):
            self._release(root)
            self._rigid(carried)
            self.w += stiffness

    def _joint(self, number: int, link: LinkValues) -> None:
        given = np.isfinite(link.stiffness)
        stiffness = link.stiffness[given]
        held = stiffness > 0.0  # free motions have a root, too, but no own stiffness
        roots = (link.directions[given] / np.sqrt(np.where(held, stiffness, 1.0))[:, None]).T
        coupling = self.chain.turning.links[number].joint
        inertia, ratio = link.rotor
        spin, give = np.concatenate([np.zeros(3), link.directions[-1, 3:]]), np.zeros(held.size)
        if given[-1]:
            give[-1] = ratio * float(spin @ roots[:, -1])
        turning = self.square * inertia
        if held.size:
            unit = np.diag(held.astype(float)) - turning * np.outer(give, give)
            coupled = self.factor * (coupling @ roots) - turning * np.outer(spin, give)
            self._release(roots, unit, coupled)
        self.w -= turning * np.outer(spin, spin)

    def _base(self, stiffness: Floats) -> None:
        self._release(np.linalg.inv(np.linalg.cholesky(stiffness)).T)
