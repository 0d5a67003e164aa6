"""Enclosure of natural frequencies: isolated by the count, refined on the determinant, all modes of an arm together.

Every evaluation yields the count J and the determinant D at a trial frequency. Each count tightens
the brackets of all modes;
a bracket that holds one mode alone is refined by a bracketing interpolation (N. Anderson and A. Bjorck, BIT 13, 1973,
253-264) on D, one that holds several is cut by the count, so that coincident modes are enclosed like any others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax

from jaxmodal.condensation import Evaluation

#: final relative width of a bracket, and least distance of a trial frequency from the bracket's ends
WIDTH = 4 * 2.0**-52
_STEP = 1.5 * 2.0**-52
#: neighbouring trial frequencies of the first round differ by this factor
_GRID_RATIO = 4.0
_MAX_ROUNDS = 300
_LARGEST = 1e100
_UNBOUNDED = 2**62


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Brackets:
    """Brackets of the sought modes and what is known at their ends; every array of shape (lanes,).

    ``lower_count < mode <= upper_count``; ``lower_log, upper_log`` are log|D| at the ends, lowered
    by the weights of the
    interpolation; ``side`` the end replaced last (-1, +1); ``mark, stalled`` the width that three rounds should halve.
    """

    lower: Array
    upper: Array
    lower_count: Array
    upper_count: Array
    lower_log: Array
    upper_log: Array
    side: Array
    mark: Array
    stalled: Array
    rounds: Array
    evaluations: Array

    @property
    def converged(self) -> Array:
        """Which brackets are as narrow as float64 frequencies allow."""
        return jnp.isfinite(self.upper) & (self.upper - self.lower <= WIDTH * self.upper)


def find_brackets(evaluate: Callable[[Array], Evaluation], modes: Array, scale: Array) -> Brackets:
    """Enclose modes of one arm to a few units in the last place.

    Parameters
    ----------
    evaluate : Callable
        Count and determinant at frequencies of shape (lanes,).
    modes : Array
        The mode numbers sought, from 1, shape (lanes,), ascending; repeated numbers only cost time.
    scale : Array
        A frequency of the order of the lowest, rad/s.

    Returns
    -------
    Brackets
        ``converged`` tells which modes were enclosed; the others stopped after 300 rounds or left the range of float64.
    """
    lanes = modes.shape[0]
    zeros, infinite = jnp.zeros(lanes), jnp.full(lanes, jnp.inf)
    count = jnp.zeros(lanes, jnp.int64)
    start = Brackets(
        lower=zeros,
        upper=infinite,
        lower_count=count,
        upper_count=count + _UNBOUNDED,
        lower_log=zeros,
        upper_log=zeros,
        side=jnp.zeros(lanes, jnp.int64),
        mark=infinite,
        stalled=jnp.zeros(lanes, jnp.int64),
        rounds=jnp.int64(0),
        evaluations=jnp.int64(0),
    )
    grid = scale * _GRID_RATIO ** (jnp.arange(lanes, dtype=jnp.float64) - float(lanes // 3))

    def unfinished(b: Brackets) -> Array:
        reachable = (b.lower < _LARGEST) & jnp.isfinite(b.lower + scale)
        return jnp.any(~b.converged & reachable) & (b.rounds < _MAX_ROUNDS)

    def body(b: Brackets) -> Brackets:
        trial = jnp.where(b.rounds == 0, grid, _trial(b, modes))
        return _tightened(b, modes, trial, evaluate(trial))

    return lax.while_loop(unfinished, body, start)


def _trial(b: Brackets, modes: Array) -> Array:
    """The next trial frequency of each bracket."""
    isolated = b.upper_count - b.lower_count == 1
    several = jnp.maximum(b.upper_count - b.lower_count, 1).astype(b.lower.dtype)
    share = ((modes - b.lower_count).astype(b.lower.dtype) - 0.5) / several
    interpolated = 1.0 / (1.0 + jnp.exp(jnp.clip(b.upper_log - b.lower_log, -700.0, 700.0)))
    fraction = jnp.where(isolated & (b.stalled < 3), interpolated, jnp.where(isolated, 0.5, share))
    finite_upper = jnp.where(jnp.isfinite(b.upper), b.upper, 1.0)
    wide = (finite_upper > _GRID_RATIO * b.lower) & (b.lower > 0.0)
    ratio = jnp.where(wide, finite_upper / jnp.where(b.lower > 0.0, b.lower, 1.0), 1.0)
    trial = jnp.where(
        wide,
        b.lower * ratio ** jnp.where(isolated, 0.5, fraction),
        b.lower + fraction * (finite_upper - b.lower),
    )
    trial = jnp.clip(trial, b.lower * (1.0 + _STEP), finite_upper * (1.0 - _STEP))
    trial = jnp.where(b.lower == 0.0, finite_upper / _GRID_RATIO**4, trial)
    return jnp.where(jnp.isfinite(b.upper), trial, b.lower * _GRID_RATIO**4)


def _tightened(b: Brackets, modes: Array, trial: Array, value: Evaluation) -> Brackets:
    """Brackets after one round: every trial frequency may replace the ends of every bracket."""
    passed = value.count[None, :] >= modes[:, None]
    low = jnp.argmax(jnp.where(passed, -jnp.inf, trial[None, :]), axis=1)
    high = jnp.argmin(jnp.where(passed, trial[None, :], jnp.inf), axis=1)
    new_low = jnp.any(~passed, axis=1) & (trial[low] > b.lower) & (trial[low] < b.upper)
    lower = jnp.where(new_low, trial[low], b.lower)
    new_high = jnp.any(passed, axis=1) & (trial[high] < b.upper) & (trial[high] > lower)
    upper = jnp.where(new_high, trial[high], b.upper)
    # Anderson and Bjorck: the end that stays for the second time is weighted by 1 - D(new)/D(old), or by 1/2
    weight_high = _log_weight(value.log_abs[low] - b.lower_log)
    weight_low = _log_weight(value.log_abs[high] - b.upper_log)
    again_low, again_high = (
        new_low & ~new_high & (b.side == -1),
        new_high & ~new_low & (b.side == 1),
    )
    lower_log = jnp.where(
        new_low, value.log_abs[low], b.lower_log + jnp.where(again_high, weight_low, 0.0)
    )
    upper_log = jnp.where(
        new_high, value.log_abs[high], b.upper_log + jnp.where(again_low, weight_high, 0.0)
    )
    halved = ~(upper - lower > 0.5 * b.mark) | (b.stalled >= 3)
    return Brackets(
        lower=lower,
        upper=upper,
        lower_count=jnp.where(new_low, value.count[low], b.lower_count),
        upper_count=jnp.where(new_high, value.count[high], b.upper_count),
        lower_log=lower_log,
        upper_log=upper_log,
        side=jnp.where(new_low & ~new_high, -1, jnp.where(new_high & ~new_low, 1, 0)),
        mark=jnp.where(halved, upper - lower, b.mark),
        stalled=jnp.where(halved, 0, b.stalled + 1),
        rounds=b.rounds + 1,
        evaluations=b.evaluations + jnp.sum(~b.converged),
    )


def _log_weight(log_ratio: Array) -> Array:
    """``log(1 - r)`` for the ratio r of the new to the replaced value, ``log(1/2)`` where r >= 1."""
    ratio = jnp.exp(jnp.minimum(log_ratio, 0.0))
    return jnp.where(ratio < 1.0, jnp.log1p(-jnp.where(ratio < 1.0, ratio, 0.0)), jnp.log(0.5))


def best_estimate(b: Brackets) -> Array:
    """The frequency of each bracket: the zero of the chord of D where one mode is inside, else the middle."""
    isolated = b.upper_count - b.lower_count == 1
    fraction = 1.0 / (1.0 + jnp.exp(jnp.clip(b.upper_log - b.lower_log, -700.0, 700.0)))
    fraction = jnp.where(isolated & jnp.isfinite(fraction), fraction, 0.5)
    return jnp.clip(b.lower + fraction * (b.upper - b.lower), b.lower, b.upper)
