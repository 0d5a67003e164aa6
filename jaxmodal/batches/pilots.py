"""Rough frequencies of a batch from a few hundred pilot cells, by radial basis functions.

The guess decides how many evaluations a cell takes, never its result.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Guess:
    """Cubic radial basis functions with a linear part for log(omega), over scaled features of a cell's values.

    ``angular`` and ``logarithmic`` (float64 flags, shape (addresses,)) say how a value becomes
    features: an angle its cosine and sine, a positive value of wide range its logarithm.
    """

    angular: Array
    logarithmic: Array
    low: Array
    span: Array
    centres: Array
    weights: Array

    def features(self, values: Array) -> Array:
        """Scaled features, shape (2 addresses, cells); the second of a plain value is zero."""
        return _features(values, self.angular, self.logarithmic, self.low, self.span)

    def frequencies(self, values: Array) -> Array:
        """Guessed frequencies in rad/s, ascending, shape (modes, cells), of values (addresses, cells)."""
        x = self.features(values)
        logs = jnp.einsum("mp,pc->mc", self.weights, _basis(x, self.centres))
        # ascending, and never quite equal
        steps = jnp.concatenate([logs[:1], jnp.maximum(logs[1:] - logs[:-1], 1e-3)])
        return jnp.exp(jnp.cumsum(steps, axis=0))


def _features(values: Array, angular: Array, logarithmic: Array, low: Array, span: Array) -> Array:
    angular, logarithmic = angular[:, None] > 0.0, logarithmic[:, None] > 0.0
    plain = jnp.where(logarithmic, jnp.log(jnp.where(logarithmic, values, 1.0)), values)
    plain = (plain - low[:, None]) / span[:, None]
    first = jnp.where(angular, jnp.cos(values), plain)
    second = jnp.where(angular, jnp.sin(values), 0.0)
    return jnp.concatenate([first, second])


def _basis(x: Array, centres: Array) -> Array:
    """Cubes of the distances to the centres, one, and the features: shape (centres + 1 + features, cells)."""
    products = jnp.einsum("fp,fc->pc", centres, x)
    square = (
        jnp.sum(centres * centres, axis=0)[:, None] + jnp.sum(x * x, axis=0)[None] - 2.0 * products
    )
    square = jnp.maximum(square, 0.0)
    return jnp.concatenate([square * jnp.sqrt(square), jnp.ones_like(x[:1]), x])


def fit(values: np.ndarray, omega: np.ndarray, addresses: tuple[str, ...]) -> Guess:
    """Fit the guess to pilot cells.

    Parameters
    ----------
    values : np.ndarray, shape (addresses, pilots)
        Finite values of the varied parameters.
    omega : np.ndarray, shape (modes, pilots)
        Their frequencies in rad/s.
    addresses : tuple of str
        Joint angles are recognised by their address.
    """
    angular = np.array([a.endswith(".joint_angle") for a in addresses])
    low, high = values.min(axis=1), values.max(axis=1)
    logarithmic = ~angular & (low > 0.0) & (high > 4.0 * low)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (
            np.where(logarithmic, np.log(low), low),
            np.where(logarithmic, np.log(high), high),
        )
    span = np.where(high > low, high - low, 1.0)
    arguments = tuple(map(jnp.asarray, (angular * 1.0, logarithmic * 1.0, low, span)))
    centres = np.asarray(_features(jnp.asarray(values), *arguments))
    basis = np.asarray(_basis(jnp.asarray(centres), jnp.asarray(centres)))
    pilots = centres.shape[1]
    # a feature that does not vary has no slope
    used = np.concatenate([np.full(pilots + 1, True), np.ptp(centres, axis=1) > 0.0])
    tail = basis[used][pilots:]
    system = np.block([[basis[:pilots], tail.T], [tail, np.zeros((len(tail), len(tail)))]])
    right = np.zeros((system.shape[0], omega.shape[0]))
    right[:pilots] = np.log(omega).T
    weights = np.zeros((used.size, omega.shape[0]))
    weights[used] = _solved(system, right)
    angles, logarithms, start, width = arguments
    return Guess(
        angular=angles,
        logarithmic=logarithms,
        low=start,
        span=width,
        centres=jnp.asarray(centres),
        weights=jnp.asarray(weights.T),
    )


def _solved(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution of a linear system, or the smallest of its best ones where pilots that coincide make it singular."""
    try:
        solution = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        solution = np.full_like(right, np.nan)
    if np.abs(system @ solution - right).max() <= 1e-6:
        return np.asarray(solution)
    return np.asarray(np.linalg.lstsq(system, right, rcond=1e-12)[0])
