"""An arm in space under loads at rest, condensed from the tip to the base: its count of what is unstable.

Rigid parts carry the stiffness W inwards; what is elastic is released with the roots of its flexibility, so that
nothing cancels without load and the determinant begins at 1. By Haynsworth's additivity the negative eigenvalues of
``1 + L^T W L`` of all releases (0 for the 1 of what moves freely) are those of the arm; no piece of a member is long
enough to add any of its own. Gives along which that is nearly 0, since the part beyond is near a critical load of its
own, are not eliminated there: they ride along until what lies further in holds them, and what is left at the ground is
the last pivot.

A spring at a tip adds its stiffness to W. The force of a rigid support is an unknown as well, which rides along until
something elastic that it works on is released together with it: each takes a negative eigenvalue off the count. A
support moves what it holds along fixed directions, and works on the rotation vector where it holds a rotation: it has
no energy of second order.

A force F that acts on a rigid part at r from the place where its motion is known works on its turn of second order:
``(F.r) phi^2/2 - (F.phi)(r.phi)/2``. A moment m in a joint does ``-m . (phi_before x phi_beyond)/2``; gives g of its
springs move with the part before, ``-F . (phi_before x g)``, and rotations of several act together, in no order.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxmodal.at_rest.in_space import LoadsInSpace, RestInSpace
from jaxmodal.at_rest.prestressed_members import (
    MOST_PIECES,
    Pieces,
    pieces_needed,
    pieces_of,
    roots,
)
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import line_inertia, mass_and_centre
from jaxmodal.spatial.modes.values import LinkValues
from jaxmodal.spatial.stiffness.matrices import skew

Floats = NDArray[np.float64]

#: shares of a link at which the size of its forces is looked at
_LOOKED_AT = np.linspace(0.0, 1.0, 9)
#: eigenvalues of pivots below this ride along, and those below a share of the largest that rounding may make
_NEAR = 1e-2
_ROUNDED = 1e-12
#: a rigid support acts on gives that it works on more than this, beside what makes up its work
_ACTS = 1e-12


class Step(NamedTuple):
    """One step inwards: a rigid part, whose outer end moves by ``matrix`` times its inner, or something elastic.

    Of a release ``matrix`` are the roots L of its flexibility. Its gives q, and behind them what rode along, are
    ``fixed`` times the motion of its inner side and ``kept`` times what rides on.
    """

    matrix: Floats
    fixed: Floats | None = None
    kept: Floats | None = None


class Condensed(NamedTuple):
    """Steps from the tip to the base, and what they leave.

    ``ends`` are, of each link, how many steps were done at the ends of its pieces, from tip to base; ``pivots`` the
    eigenvalues of what was eliminated, step by step, ``last`` what was left at the ground, and ``forces`` how many of
    the unknowns were forces of rigid supports.
    """

    steps: list[Step]
    ends: list[list[int]]
    pivots: list[Floats]
    last: Floats
    forces: int

    @property
    def moving(self) -> int:
        """How many gives there are beside what rigid supports hold of them."""
        return sum(x.size for x in self.pivots) + len(self.last) - 2 * self.forces


@dataclasses.dataclass(frozen=True)
class PrestressedChain:
    """An arm in space at rest under loads and axial forces of its links, which are all multiplied by a factor."""

    model: ModalModel
    rest: RestInSpace
    loads: LoadsInSpace

    def forces(self, number: int, shares: Floats) -> Floats:
        """Section forces at shares of a link (index from 0), (S, 6)."""
        pressed: Any = self.model.values.links[number].beam.force
        return self.rest.forces(number, shares) + pressed * np.eye(6)[0]

    @functools.cached_property
    def _looked_at(self) -> list[Floats]:
        """Section forces of each link at the shares that decide on its pieces; no factor changes them."""
        return [self.forces(number, _LOOKED_AT) for number in range(len(self.model.links))]

    def pieces_for(self, factor: float, square: float = 0.0) -> list[int] | None:
        """How many pieces each link is cut into; None where a link would need too many."""
        found = []
        for number, link in enumerate(self.model.values.links):
            if self.model.links[number].rigid:
                found.append(0)
                continue
            forces = factor * self._looked_at[number]
            needed = pieces_needed(link.beam, self.model.theory, forces, square)
            if not needed <= MOST_PIECES:
                return None
            found.append(int(np.ceil(needed)))
        return found

    def pieces(self, number: int, factor: complex, count: int, square: float = 0.0) -> Pieces:
        """A link (index from 0) cut into pieces; values may have imaginary parts, which pass."""

        def forces(shares: Floats) -> Any:
            return factor * self.forces(number, shares)

        model = self.model
        return pieces_of(model.values.links[number].beam, model.theory, forces, square, count)

    def condensed(self, factor: float, counts: list[int], square: float = 0.0) -> Condensed:
        """All steps from the tip to the base."""
        return _Condensing(self, factor, square).all(counts)


class _Condensing:
    """The stiffness while it is carried inwards."""

    def __init__(self, chain: PrestressedChain, factor: float, square: float) -> None:
        self.chain, self.factor, self.square = chain, factor, square
        self.w = np.zeros((6, 6))
        #: of what rides along: by how much the motion here works on it, (6, ...), and its own stiffness
        self.beside, self.own = np.zeros((6, 0)), np.zeros((0, 0))
        #: directions (6, ...) of forces of rigid supports that have met nothing elastic
        self.held = np.zeros((6, 0))
        self.forces = 0
        self.steps: list[Step] = []
        self.pivots: list[Floats] = []

    def all(self, counts: list[int]) -> Condensed:
        links, rest = self.chain.model.values.links, self.chain.rest
        ends: list[list[int]] = [[] for _ in links]
        for number in range(len(links) - 1, -1, -1):
            link, at, carried = links[number], rest.places[number], rest.links[number]
            axes, last = at.axes, number == len(links) - 1
            self._body(link.tip, axes)
            self._support(link)
            if not last:
                self._body(links[number + 1].stator, axes)
            force = axes.T @ carried.end[:3]
            self._shift(link.end_offset, force)
            self._turn(link.roll)
            ends[number].append(len(self.steps))
            along = np.array([float(link.beam.length), 0.0, 0.0])
            line = at.section.T @ carried.line
            force = link.roll.T @ force
            if self.chain.model.links[number].rigid:
                self._shift(along, force)
                self._hang(along[0] * line, 0.5 * along)
                self.w -= self.square * _bar(self.chain.model, number)
                ends[number].append(len(self.steps))
            else:
                self._pieces(self._of_link(number, counts[number]), ends[number])
            self._turn(link.roll.T)
            start = link.roll @ (force + along[0] * line)
            self._shift(link.base_offset, start)
            self._body(link.hub, axes)
            self._joint(number)
            self._turn(link.rotation.T)
        self._base()
        return Condensed(self.steps, ends, self.pivots, self.own, self.forces)

    def _of_link(self, number: int, count: int) -> Pieces:
        return self.chain.pieces(number, self.factor, count, self.square)

    def _add(self, matrix: Floats) -> None:
        """A stiffness against rotation."""
        self.w[3:, 3:] += self.factor * matrix

    def _hang(self, force: Floats, place: Floats) -> None:
        """A force at a place of a rigid part."""
        outer = np.outer(force, place)
        self._add(force @ place * np.eye(3) - 0.5 * (outer + outer.T))

    def _body(self, matrix: Floats, axes: Floats) -> None:
        mass, centre = mass_and_centre(matrix)
        self._hang(mass * (axes.T @ self.chain.loads.gravity), centre)
        self.w -= self.square * matrix

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
        self, roots: Floats, unit: Floats | None = None, coupled: Floats | float = 0.0
    ) -> None:
        """Something elastic; ``coupled`` is what couples its give with the motion before besides W."""
        unit = np.eye(roots.shape[1]) if unit is None else unit
        acting = self.w @ roots
        corner = unit + roots.T @ acting
        scale = self._scale(roots, unit)
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
        # what rode along before, and gives; forces that came in here are not asked for again
        back = np.concatenate([scale, np.ones(before)])[:, None] * vectors[: scale.size + before]
        self.steps.append(Step(roots, -(back[:, done] / values[done]) @ acted.T, back[:, ~done]))

    def _scale(self, roots: Floats, unit: Floats) -> Floats:
        """Factors of the gives: what moves freely is measured by the stiffness against motions of its kind."""
        whole = np.abs(np.diag(self.w)).reshape(2, 3).max(axis=1).repeat(3)
        size = np.sum(whole[:, None] * roots**2, axis=0)
        free = (np.diag(unit) <= 0.0) & (size > 0.0)
        return np.where(free, 1.0 / np.sqrt(np.where(free, size, 1.0)), 1.0)

    def _met(self, along: Floats, corner: Floats) -> Floats:
        """Directions (6, ...) of forces of rigid supports that work on gives, scaled to them; taken off ``held``."""
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
            coupled = self.factor * (coupling @ roots) - turning * np.outer(spin, give)
            self._release(roots, unit, coupled)
        self.w -= turning * np.outer(spin, spin)

    def _base(self) -> None:
        """The springs of an elastic base, on which the stator of joint 1 stands."""
        base = self.chain.model.values.base
        if base is not None:
            self._body(self.chain.model.values.links[0].stator, np.eye(3))
            self._release(np.linalg.inv(np.linalg.cholesky(base)).T)


def _bar(model: ModalModel, number: int) -> Floats:
    """Mass matrix (6, 6) of a rigid link about its start, in the axes of its section."""
    length = float(model.values.links[number].beam.length)
    inertia = line_inertia(model, number) * length
    moment = skew(np.array([0.5 * length * inertia[0], 0.0, 0.0]))
    across = inertia[0] * length**2 / 3.0
    found = np.diag(inertia + np.array([0.0, 0.0, 0.0, 0.0, across, across]))
    found[:3, 3:], found[3:, :3] = -moment, moment
    return found
