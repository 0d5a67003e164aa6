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


def _filled(number: int) -> int:
    return -(-number // _FEATURES) * _FEATURES


def number_of_features(addresses: tuple[str, ...]) -> int:
    """How many rows `Scaling.features` has."""
    return _filled(sum(2 if _is_angle(address) else 1 for address in addresses))


def _is_angle(address: str) -> bool:
    return address.endswith(".joint_angle")


@dataclasses.dataclass(frozen=True)
class Scaling:
    """How a cell's values become features: an angle its cosine and sine, a positive value of wide range its logarithm.

    ``angular`` and ``logarithmic`` are flags, ``low`` and ``span`` the range of the plain ones; shape (addresses,).
    """

    angular: np.ndarray
    logarithmic: np.ndarray
    low: Array
    span: Array

    @classmethod
    def of(cls, values: np.ndarray, addresses: tuple[str, ...]) -> Scaling:
        """That of the values (addresses, cells) of some cells, finite; joint angles are recognised by their address."""
        angular = np.array([_is_angle(address) for address in addresses])
        low, high = values.min(axis=1), values.max(axis=1)
        logarithmic = ~angular & (low > 0.0) & (high > _WIDE * low)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (np.where(logarithmic, np.log(x), x) for x in (low, high))
        return cls(angular, logarithmic, low, np.where(high > low, high - low, 1.0))

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
        rows += [xp.zeros_like(rows[0])] * (_filled(len(rows)) - len(rows))
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


@dataclasses.dataclass(frozen=True)
class Pilots:
    """The guess that pilot cells gave, and how the values of a cell become what it is given for."""

    guess: Guess
    scaling: Scaling

    @classmethod
    def of(cls, values: np.ndarray, addresses: tuple[str, ...], omega: np.ndarray) -> Pilots:
        """From finite values (addresses, pilots) and frequencies (modes, pilots) of pilot cells, `PILOTS` at most."""
        scaling = Scaling.of(values, addresses)
        features = scaling.features(values)
        # of pilots that coincide, as -180 and 180 degrees do, the first
        first = np.sort(np.unique(np.round(features, 12), axis=1, return_index=True)[1])
        return cls(fit(features[:, first], omega[:, first], PILOTS), scaling)


def _basis(x: Array, centres: Array) -> Array:
    """Cubes of the distances to the centres, one, and the features: shape (centres + 1 + features, cells)."""
    products = product(centres.T, x)
    square = (
        xp.sum(centres * centres, axis=0)[:, None] + xp.sum(x * x, axis=0)[None] - 2.0 * products
    )
    square = xp.maximum(square, 0.0)
    return xp.concatenate([square * xp.sqrt(square), xp.ones_like(x[:1]), x])


def fit(features: np.ndarray, omega: np.ndarray, size: int = PILOTS) -> Guess:
    """Fit the guess to pilot cells.

    Parameters
    ----------
    features : np.ndarray, shape (features, pilots)
        Features of finite values, by `Scaling`.
    omega : np.ndarray, shape (modes, pilots)
        Their frequencies in rad/s.
    size : int
        Pilots that the guess makes room for, at least as many as there are.
    """
    count, pilots = features.shape
    # a feature that does not vary has no slope
    varies = np.ptp(features, axis=1) > 0.0
    linear = 1 + int(varies.sum())
    first = max(_BLOCK, 2 * linear)
    order = _spread(features, first - linear)
    features, omega = features[:, order], omega[:, order]
    basis = _basis(features, features)
    used = np.concatenate([np.full(pilots + 1, True), varies])
    tail = basis[used][pilots:]
    system = np.block([[np.zeros((linear, linear)), tail], [tail.T, basis[:pilots]]])
    right = np.zeros((system.shape[0], omega.shape[0]))
    right[linear:] = np.log(omega).T
    solution = _solved(system, right, first)
    found = np.zeros((used.size, omega.shape[0]))
    found[used] = np.roll(solution, pilots, axis=0)
    weights = np.zeros((omega.shape[0], size + 1 + count))
    weights[:, :pilots], weights[:, size:] = found[:pilots].T, found[pilots:].T
    centres = np.zeros((count, size))
    centres[:, :pilots] = features
    return Guess(centres=centres, weights=weights)


def _solved(system: np.ndarray, right: np.ndarray, first: int) -> np.ndarray:
    """Solution of a linear system, or the smallest of its best ones where pilots that coincide make it singular."""
    try:
        solution = _eliminated(system, right, first)
    except np.linalg.LinAlgError:
        solution = np.full_like(right, np.nan)
    if np.abs(product(system, solution) - right).max() <= _MISSED:
        return solution
    return np.asarray(np.linalg.lstsq(system, right, rcond=_SINGULAR)[0])


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


def _eliminated(system: np.ndarray, right: np.ndarray, first: int) -> np.ndarray:
    """Elimination block by block, the ``first`` unknowns at once.

    The linear part and as many pilots again, far from each other, are among these: what they leave of the system is
    positive definite, and needs no pivots. The bits are the same whatever the number of threads that LAPACK would use.
    """
    a, size = np.concatenate([system, right], axis=1), len(system)
    edges = [0, *range(first, size, _BLOCK), size] if first < size else [0, size]
    blocks = [slice(*ends) for ends in itertools.pairwise(edges)]
    with np.errstate(all="ignore"):  # of a singular system nothing is finite
        for block in blocks:
            row, below = a[block, block.stop :], slice(block.stop, size)
            row[:] = product(np.linalg.inv(a[block, block]), row)
            a[below, block.stop :] -= product(a[below, block], row)
        x = a[:, size:]
        for block in reversed(blocks):
            x[: block.start] -= product(a[: block.start, block], x[block])
    return x
