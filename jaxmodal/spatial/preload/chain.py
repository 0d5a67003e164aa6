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

Forces at rest in rigid parts and joints have the energies of `turning`. Rotations in several springs of a joint add as
vectors, without an order.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.modes.modal_model import ModalModel, transfer
from jaxmodal.spatial.modes.motions import line_inertia, mass_and_centre
from jaxmodal.spatial.modes.turning import Turning, TurningParts, joint_coupling, turned_by
from jaxmodal.spatial.modes.values import LinkValues
from jaxmodal.spatial.parts.loads import LoadsInSpace
from jaxmodal.spatial.preload.equilibrium import RestInSpace
from jaxmodal.spatial.preload.members import (
    MOST_PIECES,
    Pieces,
    pieces_needed,
    pieces_of,
    roots,
)
from jaxmodal.spatial.preload.series import pieces_at, transfer_series
from jaxmodal.spatial.stiffness.matrices import skew

#: shares of a link's length at which its forces are sampled
_LOOKED_AT = np.linspace(0.0, 1.0, 9)
#: eigenvalues of pivots below this are kept, not eliminated, and those below this share of the largest, which may be
#: rounding
_NEAR = 1e-2
_ROUNDED = 1e-12
#: least singular value, of scaled works, for which the force of a rigid support is released with deflections
_ACTS = 1e-12


class Step(NamedTuple):
    """One step inwards: a rigid part, or the release of an elastic element.

    For a rigid part the motion of its outer end is ``matrix`` times that of its inner end. For a release ``matrix`` are
    the roots L of its flexibility; the deflections q, followed by the unknowns kept before, are ``fixed`` times the
    motion of the inner side plus ``kept`` times the unknowns that are kept on.
    """

    matrix: Floats
    fixed: Floats | None = None
    kept: Floats | None = None


class Condensed(NamedTuple):
    """The steps from the tip to the base, and their pivots.

    ``ends`` are, for each link, the numbers of steps done at the ends of its pieces, from tip to base. ``pivots`` are
    the eigenvalues of the eliminated matrices, step by step; ``last`` is the matrix of the unknowns that remain at the
    base; ``forces`` is the number of unknowns that are forces of rigid supports.
    """

    steps: list[Step]
    ends: list[list[int]]
    pivots: list[Floats]
    last: Floats
    forces: int

    @property
    def moving(self) -> int:
        """Number of deflections, less those that rigid supports hold."""
        return sum(x.size for x in self.pivots) + len(self.last) - 2 * self.forces


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
    def carriers(self) -> list[tuple[Floats, Floats, Floats]]:
        """Motions (6, 6) of each link.

        They are those of the tip for that of the end of its elastic part, of the start of this part for that beyond the
        joint, and before the joint for that of the previous tip; imaginary parts are kept.
        """
        found = []
        for link in self.model.values.links:
            t = transfer(link)
            found.append((t.end, t.roll.T @ shift(link.base_offset), t.turn.T))
        return found

    @functools.cached_property
    def _looked_at(self) -> list[Floats]:
        """Section forces of each link, for factor 1, at the places that determine the number of its pieces."""
        return [self.forces(number, _LOOKED_AT) for number in range(len(self.model.links))]

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
        beam, forces = self.model.values.links[number].beam, factor * self._looked_at[number]
        return pieces_needed(beam, self.model.theory, forces, square)

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

    def condensed(self, factor: float, counts: list[int], square: float = 0.0) -> Condensed:
        """Return all steps from the tip to the base."""
        return _Condensing(self, factor, square).all(counts)


class _Condensing:
    """The stiffness while it is carried inwards."""

    def __init__(self, chain: PrestressedChain, factor: float, square: float) -> None:
        self.chain, self.factor, self.square = chain, factor, square
        self.w = np.zeros((6, 6))
        #: of the unknowns that are kept: their coupling to the motion here, (6, ...), and their own stiffness
        self.beside, self.own = np.zeros((6, 0)), np.zeros((0, 0))
        #: directions (6, ...) of forces of rigid supports that have done no work on an elastic element yet
        self.held = np.zeros((6, 0))
        self.forces = 0
        self.steps: list[Step] = []
        self.pivots: list[Floats] = []

    def all(self, counts: list[int]) -> Condensed:
        links, turning = self.chain.model.values.links, self.chain.turning
        ends: list[list[int]] = [[] for _ in links]
        for number in range(len(links) - 1, -1, -1):
            link, own = links[number], turning.links[number]
            self.w -= self.square * link.tip
            self._support(link)
            if number + 1 < len(links):
                self.w -= self.square * links[number + 1].stator
            self._turning(own.end)
            end, start, turn = self.chain.carriers[number]
            self._rigid(end)
            ends[number].append(len(self.steps))
            if self.chain.model.links[number].rigid:
                self._rigid(shift(np.array([float(link.beam.length), 0.0, 0.0])))
                self._turning(own.along)
                self.w -= self.square * bar(self.chain.model, number)
                ends[number].append(len(self.steps))
            else:
                given = number, self.factor, counts[number], self.square
                self._pieces(self.chain.pieces(*given), ends[number])
            self._rigid(start)
            self._turning(own.start)
            self.w -= self.square * link.hub
            self._joint(number)
            self._rigid(turn)
        self._base()
        return Condensed(self.steps, ends, self.pivots, self.own, self.forces)

    def _turning(self, matrix: Floats) -> None:
        """Add a stiffness against rotation, of forces at rest."""
        self.w[3:, 3:] += self.factor * matrix

    def _support(self, link: LinkValues) -> None:
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
        self.steps.append(Step(matrix))

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
        done = size > max(_NEAR, _ROUNDED * float(size.max(initial=0.0)))
        known = np.hstack([(acting + coupled) * scale, beyond])
        acted = known @ vectors[:, done]
        self.w = self.w - (acted / values[done]) @ acted.T
        self.w = 0.5 * (self.w + self.w.T)
        self.beside, self.own = known @ vectors[:, ~done], np.diag(values[~done])
        self.pivots.append(values[done])
        # deflections and unknowns kept before; forces that are released here are not needed again
        back = np.concatenate([scale, np.ones(before)])[:, None] * vectors[: scale.size + before]
        self.steps.append(Step(roots, -(back[:, done] / values[done]) @ acted.T, back[:, ~done]))

    def _release_all(self, roots: Floats, corner: Floats, scale: Floats, known: Floats) -> bool:
        """Release an element with nothing kept before, if nothing is to be kept; otherwise return False."""
        values, vectors = np.linalg.eigh(corner * scale[:, None] * scale)
        size = np.abs(values)
        if not size.min() > max(_NEAR, _ROUNDED * float(size.max())):
            return False
        vectors *= scale[:, None]
        acted = known @ vectors
        self.w = self.w - (acted / values) @ acted.T
        self.w = 0.5 * (self.w + self.w.T)
        self.pivots.append(values)
        self.steps.append(Step(roots, -(vectors / values) @ acted.T, np.zeros((len(scale), 0))))
        return True

    def _scale(self, roots: Floats, unit: Floats) -> Floats:
        """Return scales of the deflections: free ones by the stiffness against motions of their kind, others 1."""
        whole = np.abs(np.diag(self.w)).reshape(2, 3).max(axis=1).repeat(3)
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
        scale = 1.0 / np.where(largest > 0.0, largest, np.inf)
        left, values, right = np.linalg.svd(acting * scale)
        rank = int(np.sum(values > _ACTS))
        held, left = self.held * scale, left[:, :rank]
        self.held = held @ right[rank:].T if rank else self.held
        stiff = np.einsum("ij,ik,kj->j", left, corner, left)
        found: Floats = held @ right[:rank].T * (np.sqrt(np.maximum(1.0, stiff)) / values[:rank])
        return found

    def _pieces(self, pieces: Pieces, ends: list[int]) -> None:
        every = pieces._replace(give=roots(pieces.give))
        for stiffness, carried, root in zip(*(x[::-1] for x in every), strict=True):
            self._release(root)
            self._rigid(carried)
            self.w += stiffness
            ends.append(len(self.steps))

    def _joint(self, number: int) -> None:
        """Release the springs of a joint and add its rotor.

        The rotor has ``J (a . phi_before + N q)^2/2``, where q is the deflection about the axis.
        """
        link = self.chain.model.values.links[number]
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

    def _base(self) -> None:
        """Release an elastic base, which carries the stator of joint 1."""
        base = self.chain.model.values.base
        if base is not None:
            self.w -= self.square * self.chain.model.values.links[0].stator
            self._turning(self.chain.turning.base)
            self._release(np.linalg.inv(np.linalg.cholesky(base)).T)


def shift(offset: Floats) -> Floats:
    """Return the motion of a place at ``offset`` for that of the place from which it is seen."""
    motion = np.eye(6, dtype=offset.dtype)
    motion[:3, 3:] = -skew(offset)
    return motion


def bar(model: ModalModel, number: int) -> Floats:
    """Return the mass matrix (6, 6) of a rigid link about its start, in section axes; imaginary parts are kept."""
    length: Any = model.values.links[number].beam.length
    inertia = line_inertia(model, number) * length
    moment = skew(np.array([1.0, 0.0, 0.0])) * (0.5 * length * inertia[0])
    across = inertia[0] * length**2 / 3.0
    found = np.diag(inertia + np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0]) * across)
    found[:3, 3:], found[3:, :3] = -moment, moment
    return found
