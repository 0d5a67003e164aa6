"""The energy of second order of an arm in space at rest, in coordinates of strain, and what derivatives take of it.

Its motion follows, from the base to the tip, from that of an elastic base, the gives of joints, and the forces f that
push the outer ends of pieces: one whose inner end moves by d0 has ``H d0 + R f`` at its outer end, and the energy
``(d0.F d0 + f.R f)/2``. Whatever else the arm is made of, these coordinates stay; where the energy E is stationary in
them, and in the forces X that rigid supports exert, ``dE = 0`` is the rate of a load factor:
``d factor/dp = -E_p/E_factor``. Nothing but E is varied, by complex steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.columns import STEP
from jaxmodal.arm.paths import unchecked
from jaxmodal.at_rest.in_space import forces_at_rest
from jaxmodal.at_rest.loaded_in_space import SpatialLoadedArm
from jaxmodal.at_rest.prestressed_chain import PrestressedChain
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.motions import mass_and_centre
from jaxmodal.spatial.modes.values import ArmValues, LinkValues, arm_values
from jaxmodal.spatial.stiffness.matrices import skew

Floats = NDArray[np.float64]
#: real numbers, or complex ones with imaginary parts that are rates
Numbers = NDArray[Any]

#: directions in which a piece gives less than this, beside what it gives in others, are rigid
_RIGID = 1e-13


class Stationary(NamedTuple):
    """Where the energy of an arm is stationary.

    Attributes
    ----------
    coordinates : array, shape (c,)
        Motion of an elastic base, gives of joints and forces on pieces, from the base to the tip.
    forces : array, shape (s,)
        Of rigid supports.
    counts : list of int
        How many pieces each link has.
    """

    coordinates: Floats
    forces: Floats
    counts: list[int]


class Energy(NamedTuple):
    """Of m sets of coordinates twice the mixed energies, (m, m), and how they move rigid supports, (s, m)."""

    twice: Numbers
    moved: Numbers


def _energy(
    chain: PrestressedChain,
    factor: complex,
    counts: Sequence[int],
    coordinates: Numbers,
) -> Energy:
    """The energy of second order of motions that coordinates (c, m) make."""
    return _Outwards(chain, factor, coordinates).all(counts)


def _columns(chain: PrestressedChain, factor: float, counts: Sequence[int]) -> Floats:
    """Columns (c, k) of independent coordinates, by size such that what they deform has the energy 1/2."""
    blocks: list[Floats] = []
    if chain.model.values.base is not None:
        blocks.append(np.linalg.inv(np.linalg.cholesky(chain.model.values.base)).T)
    for number, link in enumerate(chain.model.values.links):
        given = link.stiffness[np.isfinite(link.stiffness)]
        blocks.append(np.diag(1.0 / np.sqrt(np.where(given > 0.0, given, 1.0))))
        if counts[number]:
            gives = chain.pieces(number, factor, counts[number]).give
            blocks += [_basis(give) for give in gives]
    found = np.zeros((sum(x.shape[0] for x in blocks), sum(x.shape[1] for x in blocks)))
    row = column = 0
    for block in blocks:
        found[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return found


def _basis(give: Floats) -> Floats:
    """Forces on a piece of which each does unit work on what the piece gives, and none on what others make it give."""
    size = np.sqrt(np.maximum(np.diag(give), 0.0))
    scale = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(give * scale[:, None] * scale)
    kept = values > _RIGID * values[-1]
    found: Floats = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return found


def _stationary(problem: SpatialLoadedArm, factor: float) -> Stationary:
    """Where the energy is stationary at a simple buckling factor, which has the sign with which the loads act."""
    chain = problem.chain
    counts = chain.pieces_for(factor)
    assert counts is not None
    columns = _columns(chain, factor, counts)
    found = _energy(chain, factor, counts, columns)
    held = np.zeros((len(found.moved),) * 2)
    matrix = np.block([[found.twice, found.moved.T], [found.moved, held]])
    # what moves freely and forces of supports are measured by what they meet
    size = np.abs(matrix).max(axis=0, initial=0.0)
    scale = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    scaled = matrix * scale[:, None] * scale
    values, vectors = np.linalg.eigh(0.5 * (scaled + scaled.T))
    vector = scale * vectors[:, np.argmin(np.abs(values))]
    own = columns.shape[1]
    return Stationary(columns @ vector[:own], vector[own:], counts)


def _mixed(chain: PrestressedChain, at: Stationary, factor: complex) -> Any:
    """Twice the energy there, and the work of the forces of rigid supports; of an arm that may be varied."""
    found = _energy(chain, factor, at.counts, at.coordinates[:, None])
    return found.twice[0, 0] + 2.0 * (at.forces @ found.moved[:, 0])


def factor_rates(
    problem: SpatialLoadedArm, arm: SpatialArm, factors: Sequence[float], singles: Sequence[str]
) -> Floats:
    """The derivatives (factors, addresses) of simple buckling factors, negative ones of loads reversed."""
    where = [_stationary(problem, factor) for factor in factors]
    pairs = list(zip(where, factors, strict=True))
    by_factor = [np.imag(_mixed(problem.chain, at, factor + 1j * STEP)) for at, factor in pairs]
    found = np.zeros((len(singles), len(pairs)))
    for k, single in enumerate(singles):
        varied = varied_chain(problem.chain, arm, single)
        if varied is not None:
            found[k] = [-np.imag(_mixed(varied, *pair)) for pair in pairs]
    return (found / np.array(by_factor)).T


def varied_chain(chain: PrestressedChain, arm: SpatialArm, single: str) -> PrestressedChain | None:
    """The chain of an arm whose value at a single address has the imaginary part `STEP`; None where it is rigid."""
    value = np.atleast_1d(arm.value_at(single))
    if np.isinf(value[0]):
        return None
    moved = unchecked(arm, single, value + 1j * STEP)
    with np.errstate(all="ignore"):
        every = arm_values(moved.links, moved.payload, moved.base_stiffness)
    values: ArmValues = jax.tree_util.tree_map(lambda x: x[..., 0], every)
    model = dataclasses.replace(chain.model, values=values)
    with np.errstate(all="ignore"):
        rest = forces_at_rest(model, chain.loads)
    return dataclasses.replace(chain, model=model, rest=rest)


class _Outwards:
    """Motions (6, m) while they are carried from the base to the tip, and the energy that they have made."""

    def __init__(self, chain: PrestressedChain, factor: complex, coordinates: Numbers) -> None:
        self.chain, self.factor = chain, factor
        self.left = coordinates
        self.motion: Numbers = np.zeros((6, coordinates.shape[1]))
        self.twice: Numbers = np.zeros((coordinates.shape[1],) * 2)
        self.moved: list[Numbers] = []

    def all(self, counts: Sequence[int]) -> Energy:
        model, rest = self.chain.model, self.chain.rest
        links = model.values.links
        if model.values.base is not None:
            self.motion = self._next(6)
            self._spring(model.values.base, self.motion)
            self._body(links[0].stator, np.eye(3))
        for number, link in enumerate(links):
            at, carried = rest.places[number], rest.links[number]
            self._turn(link.rotation.T)
            self._joint(link, rest.joints[number])
            self._body(link.hub, at.axes)
            along = np.array([1.0, 0.0, 0.0]) * link.beam.length
            line = at.section.T @ carried.line
            force = at.axes.T @ carried.end[:3]
            start = force + link.roll @ (link.beam.length * line)
            self._shift(link.base_offset, start)
            self._turn(link.roll.T)
            if model.links[number].rigid:
                self._hang(link.beam.length * line, 0.5 * along)
                self._shift(along, link.roll.T @ force)
            else:
                self._pieces(number, counts[number])
            self._turn(link.roll)
            self._shift(link.end_offset, force)
            self._body(link.tip, at.axes)
            if number + 1 < len(links):
                self._body(links[number + 1].stator, at.axes)
            self._support(link)
        empty = np.zeros((0, self.motion.shape[1]))
        return Energy(self.twice, np.array(self.moved) if self.moved else empty)

    def _next(self, count: int) -> Numbers:
        found, self.left = self.left[:count], self.left[count:]
        return found

    def _spring(self, matrix: Numbers, motion: Numbers) -> None:
        self.twice = self.twice + motion.T @ matrix @ motion

    def _turn(self, axes: Numbers) -> None:
        """To other axes, which ``axes`` take components to."""
        self.motion = np.concatenate([axes @ self.motion[:3], axes @ self.motion[3:]])

    def _hang(self, force: Numbers, place: Numbers) -> None:
        """A force at rest at a place of a rigid part; it does ``(F.r) phi^2/2 - (F.phi)(r.phi)/2``."""
        outer = np.outer(force, place)
        matrix = force @ place * np.eye(3) - 0.5 * (outer + outer.T)
        self._spring(self.factor * matrix, self.motion[3:])

    def _shift(self, offset: Numbers, force: Numbers) -> None:
        """To a place seen from this one at ``offset``, which carries ``force`` there."""
        self._hang(force, offset)
        moved = self.motion[:3] - skew(offset) @ self.motion[3:]
        self.motion = np.concatenate([moved, self.motion[3:]])

    def _body(self, matrix: Numbers, axes: Numbers) -> None:
        mass, centre = mass_and_centre(matrix)
        self._hang(mass * (axes.T @ self.chain.loads.gravity), centre)

    def _joint(self, link: LinkValues, load: Numbers) -> None:
        given = np.isfinite(link.stiffness)
        gives = self._next(int(np.sum(given)))
        before = self.motion[3:]
        give = link.directions[given].T @ gives
        self._spring(np.diag(link.stiffness[given]), gives)
        coupled = skew(load[:3]) @ give[:3] + 0.5 * skew(load[3:]) @ give[3:]
        mixed = self.factor * (before.T @ coupled)
        self.twice = self.twice + mixed + mixed.T
        self.motion = self.motion + give

    def _pieces(self, number: int, count: int) -> None:
        for stiffness, carried, give in zip(
            *self.chain.pieces(number, self.factor, count), strict=True
        ):
            forces = self._next(6)
            self._spring(stiffness, self.motion)
            self._spring(give, forces)
            self.motion = carried @ self.motion + give @ forces

    def _support(self, link: LinkValues) -> None:
        if link.supports is None or link.held is None:
            return
        for direction, stiffness in zip(link.supports, link.held, strict=True):
            moved = direction @ self.motion
            if np.isfinite(stiffness):
                self.twice = self.twice + stiffness * np.outer(moved, moved)
            else:
                self.moved.append(moved)
