"""Rough frequencies of a batch from a few hundred pilot cells, by radial basis functions.

The guess decides how many evaluations a cell takes, never its result.
"""

from __future__ import annotations

import dataclasses
import itertools

import jax
import numpy as np

from jaxmodal.runtime.namespace import Array, product, xp

#: cells that are searched from a grid to guess all others
PILOTS = 256
#: features of a guess are padded to a multiple of this number, so that guesses over few values share their programs
_FEATURES = 8
#: positive values whose largest is more than this multiple of the least are taken by their logarithms
_WIDE = 4.0
#: guessed frequencies rise by this at least, in ln(omega): a trial has to fit between
_RISE = 1e-3
#: a solution of the pilots' equations that misses them by more, in ln(omega), gives way to one of least squares, which
#: takes singular values for zero below this share of the largest
_MISSED, _SINGULAR = 1e-5, 1e-12
#: unknowns that are eliminated at once: so few that no LAPACK shares their inversion out over threads
_BLOCK = 32


def _filled(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def number_of_features(addresses: tuple[str, ...], multiple: int = _FEATURES) -> int:
    """How many rows `Scaling.features` has, a ``multiple`` of some number."""
    return _filled(sum(2 if _is_angle(address) else 1 for address in addresses), multiple)


def _is_angle(address: str) -> bool:
    return address.endswith(".joint_angle")


@dataclasses.dataclass(frozen=True)
class Scaling:
    """How a cell's values become features: an angle its cosine and sine, a positive value of wide range its logarithm.

    ``angular`` and ``logarithmic`` are flags, ``low`` and ``span`` the range of the plain ones; shape (addresses,).
    There is a ``multiple`` of some number of features.
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
        """That of the values (addresses, cells) of some cells, finite; joint angles are recognised by their address."""
        angular = np.array([_is_angle(address) for address in addresses])
        low, high = values.min(axis=1), values.max(axis=1)
        logarithmic = ~angular & (low > 0.0) & (high > _WIDE * low)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (np.where(logarithmic, np.log(x), x) for x in (low, high))
        span = np.where(high > low, high - low, 1.0)
        return cls(angular, logarithmic, low, span, multiple)

    def features(self, values: Array) -> Array:
        """Scaled features of values (addresses, cells), shape (features, cells); the last are zero."""
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

    ``centres`` (features, pilots) are the pilots' features, ``weights`` (modes, pilots + 1 + features) those of the
    functions; weights of features and pilots that there are not are zero.
    """

    centres: Array
    weights: Array

    def frequencies(self, features: Array) -> Array:
        """Guessed frequencies in rad/s, ascending, shape (modes, cells), from features (features, cells)."""
        logs = product(self.weights, _basis(features, self.centres))
        # ascending, and never quite equal
        steps = xp.concatenate([logs[:1], xp.maximum(logs[1:] - logs[:-1], _RISE)])
        return xp.exp(xp.cumsum(steps, axis=0))


def _basis(x: Array, centres: Array) -> Array:
    """Cubes of the distances to the centres, one, and the features: shape (centres + 1 + features, cells)."""
    products = product(centres.T, x)
    square = (
        xp.sum(centres * centres, axis=0)[:, None] + xp.sum(x * x, axis=0)[None] - 2.0 * products
    )
    square = xp.maximum(square, 0.0)
    return xp.concatenate([square * xp.sqrt(square), xp.ones_like(x[:1]), x])


def _spread(features: np.ndarray, number: int) -> np.ndarray:
    """An order of the pilots: each of the first ones is the farthest from those before it."""
    order, nearest = [0], np.full(features.shape[1], np.inf)
    while len(order) < min(number, nearest.size):
        apart = features - features[:, order[-1:]]
        nearest = np.minimum(nearest, np.sum(apart * apart, axis=0))
        nearest[order[-1]] = -1.0  # even where all others coincide with pilots that are chosen
        order.append(int(nearest.argmax()))
    others = np.setdiff1d(np.arange(nearest.size), order)
    return np.concatenate([np.array(order), others])


@dataclasses.dataclass(frozen=True)
class Eliminated:
    """Elimination of a linear system block by block, the ``first`` unknowns at once.

    The linear part and as many pilots again, far from each other, are among these: what they leave of the system is
    positive definite, and needs no pivots. The bits are the same whatever the number of threads that LAPACK would use.
    """

    a: np.ndarray
    blocks: list[slice]
    inverses: list[np.ndarray]

    @classmethod
    def of(cls, system: np.ndarray, first: int) -> Eliminated:
        a, size = system.copy(), len(system)
        edges = [0, *range(first, size, _BLOCK), size] if first < size else [0, size]
        blocks, inverses = [slice(*ends) for ends in itertools.pairwise(edges)], []
        with np.errstate(all="ignore"):  # of a singular system nothing is finite
            for block in blocks:
                below, inverse = slice(block.stop, size), np.linalg.inv(a[block, block])
                a[block, below] = product(inverse, a[block, below])
                a[below, below] -= product(a[below, block], a[block, below])
                inverses.append(inverse)
        return cls(a, blocks, inverses)

    def solved(self, right: np.ndarray) -> np.ndarray:
        """The solution for each column of the right side."""
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
    """The guess that pilot cells gave, and how the values of a cell become what it is given for."""

    guess: Guess
    scaling: Scaling


@dataclasses.dataclass(frozen=True)
class Centres:
    """Pilot cells as centres of a guess: all that can be made before their frequencies are known.

    Attributes
    ----------
    scaling : Scaling
        Of their values.
    cells : np.ndarray
        Places of the centres among the cells, in the order of their equations.
    features : np.ndarray, shape (features, centres)
        Their features.
    used : np.ndarray
        Which of the functions, ones and features (`_basis`) have a weight.
    system : np.ndarray
        The equations of the weights, those of ones and features first.
    eliminated : Eliminated, optional
        Its blocks; None of a system that is singular.
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
        """From finite values (addresses, cells) of pilot cells; ``multiple`` is that of `Scaling.of`."""
        scaling = Scaling.of(values, addresses, multiple)
        features = scaling.features(values)
        # of pilots that coincide, as -180 and 180 degrees do, the first
        cells = np.sort(np.unique(np.round(features, 12), axis=1, return_index=True)[1])
        features = features[:, cells]
        # a feature that does not vary has no slope
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
        """The guess from frequencies (modes, cells) of the cells in rad/s, with room for ``size`` centres."""
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
        """Solution of the equations, or the smallest of their best ones where pilots coincide nearly."""
        if self.eliminated is not None:
            solution = self.eliminated.solved(right)
            if np.abs(product(self.system, solution) - right).max() <= _MISSED:
                return solution
        return np.asarray(np.linalg.lstsq(self.system, right, rcond=_SINGULAR)[0])
