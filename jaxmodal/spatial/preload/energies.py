"""The second-order energy of an arm in space at rest, in strain coordinates, and derivatives of buckling factors.

The motion follows, from the base to the tip, from the motion of an elastic base, the deflections of joints, and the
forces f on the outer ends of pieces. A piece whose inner end moves by d0 has the motion ``H d0 + R f`` at its outer
end, and the energy ``(d0.F d0 + f.R f)/2``. The coordinates are kept when a value of the arm is varied. The energy E is
stationary in them and in the forces X of supports, to which it adds ``X.x - X.C X/2``: x are the motions of the
supports, C their compliances, 0 for rigid ones. So no stiff spring hides what is soft. Therefore ``d factor/dp =
-E_p/E_factor`` is the derivative of a load factor: only E has to be varied, by complex steps. With the kinetic energy
subtracted, which is the square of a frequency times a mass form, the derivative of that square follows likewise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arm.columns import STEP
from jaxmodal.arm.paths import unchecked, value_at
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.spatial.modes.values import ArmValues, arm_values
from jaxmodal.spatial.parts.loads import LoadsInSpace, SpatialLoads
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.equilibrium import forces_at_rest
from jaxmodal.spatial.preload.loaded import SpatialLoadedArm
from jaxmodal.spatial.preload.parts import Along, ChainParts, LinkParts

#: directions in which the compliance of a piece is below this share of its largest are rigid
_RIGID = 1e-13
#: number of times that rows and columns are scaled
_BALANCED = 6


class Stationary(NamedTuple):
    """The m sets of coordinates at which the energy of an arm is stationary.

    Attributes
    ----------
    coordinates : array, shape (c, m)
        Motion of an elastic base, deflections of joints and forces on pieces, from the base to the tip.
    forces : array, shape (s, m)
        Forces of supports, from the base to the tip.
    counts : list of int
        Number of pieces of each link.
    """

    coordinates: Floats
    forces: Floats
    counts: list[int]


class Energy(NamedTuple):
    """For m sets of coordinates: twice their mixed energies, (m, m), and motions (s, m) and compliances of supports."""

    twice: Numbers
    moved: Numbers
    gives: Numbers


def _energy(
    chain: PrestressedChain,
    factor: complex,
    counts: Sequence[int],
    coordinates: Numbers,
    square: complex = 0.0,
) -> Energy:
    """Return the second-order energy of the motions for coordinates (c, m).

    At the ``square`` of a frequency, the kinetic energy is subtracted.
    """
    way = Outwards(chain, factor, counts, coordinates, square)
    way.outwards()
    moved = np.array(way.moved) if way.moved else np.zeros((0, coordinates.shape[1]))
    return Energy(way.twice, moved, np.array(way.compliances))


def _columns(
    chain: PrestressedChain, factor: float, counts: Sequence[int], square: float
) -> Floats:
    """Return columns (c, k) of independent coordinates, each of elastic energy 1/2."""
    blocks: list[Floats] = []
    if chain.model.values.base is not None:
        blocks.append(np.linalg.inv(np.linalg.cholesky(chain.model.values.base)).T)
    for number, link in enumerate(chain.model.values.links):
        given = link.stiffness[np.isfinite(link.stiffness)]
        blocks.append(np.diag(1.0 / np.sqrt(np.where(given > 0.0, given, 1.0))))
        if counts[number]:
            gives = chain.pieces(number, factor, counts[number], square).give
            blocks += [_basis(give) for give in gives]
    found = np.zeros((sum(x.shape[0] for x in blocks), sum(x.shape[1] for x in blocks)))
    row = column = 0
    for block in blocks:
        found[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return found


def _basis(give: Floats) -> Floats:
    """Return forces on a piece, orthonormal in its compliance: each does unit work on its own deflection only."""
    size = np.sqrt(np.maximum(np.diag(give), 0.0))
    scale = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(give * scale[:, None] * scale)
    kept = values > _RIGID * values[-1]
    found: Floats = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return found


def stationary(
    chain: PrestressedChain,
    factor: float,
    square: float = 0.0,
    count: int = 1,
    counts: list[int] | None = None,
) -> Stationary:
    """Return the ``count`` sets of coordinates at which the energy is stationary.

    At a buckling factor, which has the sign of the loads, or at the square of a frequency, of this multiplicity.
    ``counts`` are the pieces of the links, if they are not those needed there.
    """
    counts = chain.pieces_for(factor, square) if counts is None else counts
    assert counts is not None
    columns = _columns(chain, factor, counts, square)
    matrix = _bordered(_energy(chain, factor, counts, columns, square))
    # all are scaled so that their largest coupling is 1, also halfway, where nothing cancels
    halfway = (factor, 0.5 * square) if square else (0.5 * factor, 0.0)
    half = _bordered(_energy(chain, halfway[0], counts, columns, halfway[1]))
    scale = _balancing(np.maximum(np.abs(matrix), np.abs(half)))
    scaled = matrix * scale[:, None] * scale
    values, vectors = np.linalg.eigh(0.5 * (scaled + scaled.T))
    vector = scale[:, None] * vectors[:, np.argsort(np.abs(values))[:count]]
    own = columns.shape[1]
    return Stationary(columns @ vector[:own], vector[own:], counts)


def _balancing(amounts: Floats) -> Floats:
    """Return scales of rows and columns with which the largest entry of each is about 1."""
    scale = np.ones(len(amounts))
    for _ in range(_BALANCED):
        size = (amounts * scale[:, None] * scale).max(axis=0, initial=0.0)
        scale /= np.sqrt(np.where(size > 0.0, size, 1.0))
    return scale


def _bordered(found: Energy) -> Floats:
    """Return the matrix of energies with the motions of supports as its border."""
    return np.block([[found.twice, found.moved.T], [found.moved, -np.diag(found.gives)]])


def _mixed(
    chain: PrestressedChain, at: Stationary, factor: complex, square: complex = 0.0
) -> Numbers:
    """Return twice the mixed energies (m, m) at given coordinates, with the work of the forces of supports.

    The arm may be varied.
    """
    found = _energy(chain, factor, at.counts, at.coordinates, square)
    work = at.forces.T @ found.moved
    return found.twice + work + work.T - (at.forces.T * found.gives) @ at.forces


def frequency_rates(
    chain: PrestressedChain, arm: SerialArm, omega: Sequence[float], singles: Sequence[str]
) -> Floats:
    """Return derivatives by addresses, projected on the m modes of these frequencies, (m, m, addresses).

    A frequency is repeated by its multiplicity. The loads act with factor 1; the modes have unit modal masses.
    """
    counts = chain.pieces_for(1.0, max(omega) ** 2)
    assert counts is not None
    parts = [
        stationary(chain, 1.0, own**2, list(omega).count(own), counts) for own in sorted(set(omega))
    ]
    coordinates = np.hstack([each.coordinates for each in parts])
    at = Stationary(coordinates, np.hstack([each.forces for each in parts]), counts)
    centre = float(np.mean(omega))
    masses = -np.imag(_mixed(chain, at, 1.0, centre**2 + 1j * STEP)) / STEP
    root = np.linalg.inv(np.linalg.cholesky(masses))
    found = np.zeros((len(omega), len(omega), len(singles)))
    for k, single in enumerate(singles):
        varied = varied_chain(chain, arm, single)
        if varied is not None:
            slope = np.imag(_mixed(varied, at, 1.0, centre**2)) / STEP
            found[..., k] = root @ slope @ root.T
    return found / (2.0 * centre)


def factor_rates(
    problem: SpatialLoadedArm, arm: SerialArm, factors: Sequence[float], singles: Sequence[str]
) -> Floats:
    """Return the derivatives (factors, addresses) of simple buckling factors, negative for reversed loads."""
    where = [stationary(problem.chain, factor) for factor in factors]
    pairs = list(zip(where, factors, strict=True))
    by_factor = [
        np.imag(_mixed(problem.chain, at, factor + 1j * STEP))[0, 0] for at, factor in pairs
    ]
    found = np.zeros((len(singles), len(pairs)))
    for k, single in enumerate(singles):
        varied = varied_chain(problem.chain, arm, single)
        if varied is not None:
            found[k] = [-np.imag(_mixed(varied, *pair))[0, 0] for pair in pairs]
    return (found / np.array(by_factor)).T


def varied_chain(chain: PrestressedChain, arm: SerialArm, single: str) -> PrestressedChain | None:
    """Return the chain of an arm whose value at an address has the imaginary part `STEP`; None if the value is inf."""
    value = np.atleast_1d(value_at(arm, single))
    if np.isinf(value[0]):
        return None
    moved = unchecked(arm, single, value + 1j * STEP)
    with np.errstate(all="ignore"):
        every = arm_values(moved.links, moved.payload, moved.base_stiffness)
    return chain_of(chain, jax.tree_util.tree_map(lambda x: x[..., 0], every), moved.loads)


def chain_of(
    chain: PrestressedChain, values: ArmValues, own: SpatialLoads | None
) -> PrestressedChain:
    """Return the chain of an arm whose values and own loads have imaginary parts, from that without them."""
    model = dataclasses.replace(chain.model, values=values)
    loads = chain.loads
    if own is not None:
        steps: Any = [1j * np.imag(x) for x in own.dead()]
        loads = loads.plus(LoadsInSpace(*steps))
    with np.errstate(all="ignore"):
        rest = forces_at_rest(model, loads)
    return dataclasses.replace(chain, model=model, rest=rest, loads=loads, varied=True)


class Outwards(Along):
    """The motions (6, m), carried from the base to the tip, and the energy summed on the way."""

    def __init__(
        self,
        chain: PrestressedChain,
        factor: complex,
        counts: Sequence[int],
        coordinates: Numbers,
        square: complex,
    ) -> None:
        self.chain, self.factor, self.counts, self.square = chain, factor, counts, square
        self.left = coordinates
        self.motion: Numbers = np.zeros((6, coordinates.shape[1]))
        self.twice: Numbers = np.zeros((coordinates.shape[1],) * 2)
        self.moved: list[Numbers] = []
        self.compliances: list[complex] = []

    @property
    def parts(self) -> ChainParts:
        return self.chain.parts

    def _next(self, count: int) -> Numbers:
        found, self.left = self.left[:count], self.left[count:]
        return found

    def _spring(self, matrix: Numbers, motion: Numbers) -> None:
        self.twice = self.twice + motion.T @ matrix @ motion

    def _rigid(self, matrix: Numbers) -> None:
        self.motion = matrix @ self.motion

    def _turning(self, matrix: Numbers) -> None:
        self._spring(self.factor * matrix, self.motion[3:])

    def _mass(self, matrix: Numbers) -> None:
        if self.square:
            self._spring(-self.square * matrix, self.motion)

    def _base(self, stiffness: Numbers) -> None:
        self.motion = self._next(6)
        self._spring(stiffness, self.motion)

    def _joint(self, number: int, part: LinkParts) -> None:
        link, coupling = part.values, part.turning.joint
        given = np.isfinite(link.stiffness)
        gives = self._next(int(np.sum(given)))
        before = self.motion[3:]
        give = link.directions[given].T @ gives
        self._spring(np.diag(link.stiffness[given]), gives)
        mixed = self.factor * (before.T @ coupling[3:] @ give)
        self.twice = self.twice + mixed + mixed.T
        inertia, ratio = link.rotor
        if self.square and inertia != 0.0:
            axis = link.directions[-1, 3:]
            spin = axis @ before
            if given[-1]:
                spin = spin + ratio * (axis @ axis) * gives[-1]
            self._spring(np.reshape(-self.square * inertia, (1, 1)), spin[None, :])
        self.motion = self.motion + give

    def _pieces(self, number: int) -> None:
        pieces = self.chain.pieces(number, self.factor, self.counts[number], self.square)
        for piece in zip(*pieces, strict=True):
            self._piece(*piece)

    def _piece(self, stiffness: Numbers, carried: Numbers, give: Numbers) -> None:
        forces = self._next(6)
        self._spring(stiffness, self.motion)
        self._spring(give, forces)
        self.motion = carried @ self.motion + give @ forces

    def _support(self, number: int, part: LinkParts) -> None:
        link = part.values
        if link.supports is None or link.held is None:
            return
        for direction, stiffness in zip(link.supports, link.held, strict=True):
            moved = direction @ self.motion
            if np.real(stiffness) == 0.0:  # none, or varied from none
                self.twice = self.twice + stiffness * np.outer(moved, moved)
            else:
                self.moved.append(moved)
                self.compliances.append(0.0 if np.isinf(stiffness) else 1.0 / stiffness)
