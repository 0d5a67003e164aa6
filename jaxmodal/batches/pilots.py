"""Rough frequencies of a batch from a few hundred pilot cells, by radial basis functions.

The guess affects the number of evaluations of a cell, not its result.
"""

from __future__ import annotations

import dataclasses
import itertools

import jax
import numpy as np

from jaxmodal.runtime.namespace import Array, product, xp

#: number of pilot cells, which are searched from a grid
PILOTS = 256
#: features of a guess are padded to a multiple of this number, so that guesses over few values share programs
_FEATURES = 8
#: positive values with a larger ratio of largest to smallest enter by their logarithms
_WIDE = 4.0
#: least difference of guessed frequencies in ln(omega), so that a trial fits between them
_RISE = 1e-3
#: largest residual of the solution of the pilots' equations, in ln(omega), above which least squares is used; and the
#: share of the largest singular value below which it takes singular values for zero
_MISSED, _SINGULAR = 1e-5, 1e-12
#: unknowns eliminated together: so few that LAPACK inverts them in one thread
_BLOCK = 32


def _filled(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def number_of_features(addresses: tuple[str, ...], multiple: int = _FEATURES) -> int:
    """Return the number of rows of `Scaling.features`, rounded up to a ``multiple``."""
    return _filled(sum(2 if _is_angle(address) else 1 for address in addresses), multiple)


def _is_angle(address: str) -> bool:
    return address.endswith(".joint_angle")


@dataclasses.dataclass(frozen=True)
class Scaling:
    """Map from values of a cell to features: cosine and sine of angles, logarithm of positive values of wide range.

    ``angular`` and ``logarithmic`` are flags, ``low`` and ``span`` the range of other values; shape (addresses,). The
    number of features is rounded up to a ``multiple``.
    """

    angular: np.ndarray
    logarithmic: np.ndarray
    low: Array
    span: Array
    multiple: int = _FEATURES

    @classmethod
    def of(
        cls, values: np.ndarray, addresses: tuple[str, ...], multiple: int = _FEATURES
    ) -> Scaling:
        """Return the scaling for finite values (addresses, cells); joint angles are recognised by address."""
        angular = np.array([_is_angle(address) for address in addresses])
        low, high = values.min(axis=1), values.max(axis=1)
        logarithmic = ~angular & (low > 0.0) & (high > _WIDE * low)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (np.where(logarithmic, np.log(x), x) for x in (low, high))
        span = np.where(high > low, high - low, 1.0)
        return cls(angular, logarithmic, low, span, multiple)

    def features(self, values: Array) -> Array:
        """Return scaled features of values (addresses, cells), shape (features, cells), padded with zeros."""
        rows = []
        for k, value in enumerate(values):
            if self.angular[k]:
                rows += [xp.cos(value), xp.sin(value)]
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                plain = xp.log(value) if self.logarithmic[k] else value
            rows.append((plain - self.low[k]) / self.span[k])
        rows += [xp.zeros_like(rows[0])] * (_filled(len(rows), self.multiple) - len(rows))
        return xp.stack(rows)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Guess:
    """Cubic radial basis functions with a linear part for log(omega), over features (`Scaling`).

    ``centres`` (features, pilots) are the features of pilots, ``weights`` (modes, pilots + 1 + features) the weights of
    the functions; padded features and pilots have zero weight.
    """

    centres: Array
    weights: Array

    def frequencies(self, features: Array) -> Array:
        """Return guessed frequencies in rad/s, ascending, shape (modes, cells), from features (features, cells)."""
        logs = product(self.weights, _basis(features, self.centres))
        # ascending, with a least difference
        steps = xp.concatenate([logs[:1], xp.maximum(logs[1:] - logs[:-1], _RISE)])
        return xp.exp(xp.cumsum(steps, axis=0))


def _basis(x: Array, centres: Array) -> Array:
    """Return cubed distances to the centres, ones, and the features: shape (centres + 1 + features, cells)."""
    products = product(centres.T, x)
    square = (
        xp.sum(centres * centres, axis=0)[:, None] + xp.sum(x * x, axis=0)[None] - 2.0 * products
    )
    square = xp.maximum(square, 0.0)
    return xp.concatenate([square * xp.sqrt(square), xp.ones_like(x[:1]), x])


def _spread(features: np.ndarray, number: int) -> np.ndarray:
    """Return an order of the pilots in which each of the first ``number`` is the farthest from those before it."""
    order, nearest = [0], np.full(features.shape[1], np.inf)
    while len(order) < min(number, nearest.size):
        apart = features - features[:, order[-1:]]
        nearest = np.minimum(nearest, np.sum(apart * apart, axis=0))
        nearest[order[-1]] = -1.0  # not chosen again, even if all others coincide with chosen ones
        order.append(int(nearest.argmax()))
    others = np.setdiff1d(np.arange(nearest.size), order)
    return np.concatenate([np.array(order), others])


@dataclasses.dataclass(frozen=True)
class Eliminated:
    """Block elimination of a linear system; the ``first`` unknowns form one block.

    They include the linear part and at least as many distant pilots; the rest of the system is then positive definite
    and needs no pivoting. Results do not depend on the number of LAPACK threads.
    """

    a: np.ndarray
    blocks: list[slice]
    inverses: list[np.ndarray]

    @classmethod
    def of(cls, system: np.ndarray, first: int) -> Eliminated:
        a, size = system.copy(), len(system)
        edges = [0, *range(first, size, _BLOCK), size] if first < size else [0, size]
        blocks, inverses = [slice(*ends) for ends in itertools.pairwise(edges)], []
        with np.errstate(all="ignore"):  # a singular system gives values that are not finite
            for block in blocks:
                below, inverse = slice(block.stop, size), np.linalg.inv(a[block, block])
                a[block, below] = product(inverse, a[block, below])
                a[below, below] -= product(a[below, block], a[block, below])
                inverses.append(inverse)
        return cls(a, blocks, inverses)

    def solved(self, right: np.ndarray) -> np.ndarray:
        """Return the solution for each column of the right-hand side."""
        x = right.copy()
        with np.errstate(all="ignore"):
            for block, inverse in zip(self.blocks, self.inverses, strict=True):
                x[block] = product(inverse, x[block])
                x[block.stop :] -= product(self.a[block.stop :, block], x[block])
            for block in reversed(self.blocks):
                x[: block.start] -= product(self.a[: block.start, block], x[block])
        return x


@dataclasses.dataclass(frozen=True)
class Pilots:
    """The guess from pilot cells, and the map from values of a cell to its features."""

    guess: Guess
    scaling: Scaling


@dataclasses.dataclass(frozen=True)
class Centres:
    """Pilot cells as centres of a guess: everything that does not depend on their frequencies.

    Attributes
    ----------
    scaling : Scaling
        Map from values to features.
    cells : np.ndarray
        Indices of the centres among the cells, in the order of the equations.
    features : np.ndarray, shape (features, centres)
        Features of the centres.
    used : np.ndarray
        True for functions, ones and features (`_basis`) that have a weight.
    system : np.ndarray
        Matrix of the equations for the weights; ones and features come first.
    eliminated : Eliminated, optional
        Block elimination of the system; None if it is singular.
    """

    scaling: Scaling
    cells: np.ndarray
    features: np.ndarray
    used: np.ndarray
    system: np.ndarray
    eliminated: Eliminated | None

    @classmethod
    def of(
        cls, values: np.ndarray, addresses: tuple[str, ...], multiple: int = _FEATURES
    ) -> Centres:
        """Return the centres from finite values (addresses, cells) of pilot cells; ``multiple`` as for `Scaling.of`."""
        scaling = Scaling.of(values, addresses, multiple)
        features = scaling.features(values)
        # only the first of coincident pilots (-180 and 180 degrees, for example)
        cells = np.sort(np.unique(np.round(features, 12), axis=1, return_index=True)[1])
        features = features[:, cells]
        # a constant feature has no linear weight
        varies = np.ptp(features, axis=1) > 0.0
        linear = 1 + int(varies.sum())
        first = max(_BLOCK, 2 * linear)
        order = _spread(features, first - linear)
        features = features[:, order]
        basis, count = _basis(features, features), order.size
        used = np.concatenate([np.full(count + 1, True), varies])
        tail = basis[used][count:]
        system = np.block([[np.zeros((linear, linear)), tail], [tail.T, basis[:count]]])
        try:
            eliminated = Eliminated.of(system, first)
        except np.linalg.LinAlgError:
            eliminated = None
        return cls(scaling, cells[order], features, used, system, eliminated)

    def pilots(self, omega: np.ndarray, size: int = PILOTS) -> Pilots:
        """Return the guess from frequencies (modes, cells) of the cells in rad/s, padded to ``size`` centres."""
        modes, (count, centres) = omega.shape[0], self.features.shape
        right = np.zeros((len(self.system), modes))
        right[-centres:] = np.log(omega[:, self.cells]).T
        found = np.zeros((self.used.size, modes))
        found[self.used] = np.roll(self._solved(right), centres, axis=0)
        weights = np.zeros((modes, size + 1 + count))
        weights[:, :centres], weights[:, size:] = found[:centres].T, found[centres:].T
        padded = np.zeros((count, size))
        padded[:, :centres] = self.features
        return Pilots(Guess(centres=padded, weights=weights), self.scaling)

    def _solved(self, right: np.ndarray) -> np.ndarray:
        """Return the solution of the equations, or the least-squares solution if pilots nearly coincide."""
        if self.eliminated is not None:
            solution = self.eliminated.solved(right)
            if np.abs(product(self.system, solution) - right).max() <= _MISSED:
                return solution
        return np.asarray(np.linalg.lstsq(self.system, right, rcond=_SINGULAR)[0])
