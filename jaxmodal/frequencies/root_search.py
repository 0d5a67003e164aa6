"""Enclosure of natural frequencies: isolation by counts, refinement on the determinant, all modes of an arm together.

Every evaluation yields the count J and the determinant D at a trial frequency. Each count tightens the brackets of
all modes. A bracket with a single mode is refined by the interpolation of N. Anderson and A. Bjorck (BIT 13,
1973, 253-264) on D with the other modes divided out, which is nearly linear. A bracket with several modes is divided
by counts, so that coincident modes are enclosed like any others.

Arrays have shape (modes, ...); further axes are arms that are searched at the same time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.brackets import Bracket, raised
from jaxmodal.runtime.namespace import Array, loop, on_host, xp

#: neighbouring trial frequencies of a first round without a guess differ by this factor, and where a bracket has no
#: upper end yet, or reaches far down, the next ones by this
_GRID_RATIO, _LEAP = 4.0, 256.0
#: beyond this frequency nothing is sought; an arm of rigid links has as few modes as it has springs
LARGEST = 1e100
#: stands for the frequency of a mode that there is not, where a number is needed
NOT_THERE = 1e102
#: the count at an upper end that is not known yet: beyond any, and exact in float64
_UNBOUNDED = 2.0**62
#: rounds without halving after which a bracket with one mode is cut like one with several: while it is wide, and near
#: the mode, where a trial beside it moves one end alone and the other follows rounds later
_PATIENCE, _PATIENCE_NEAR = 3.0, 6.0
#: near the mode trials aim beyond it, by so many half-widths sought: less than one, so that the end is narrow enough
_ASIDE = 0.8
#: estimates of modes beyond those sought count as at least this multiple of the highest upper end
CLEAR = 1.02
_LOG_HALF = -0.6931471805599453


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Brackets(Bracket):
    """Brackets of the modes sought, with the values at their ends; arrays of shape (modes, ...).

    ``lower_count < mode <= upper_count``. ``lower_weight, upper_weight`` are the logarithmic weights of the
    interpolation; ``side`` is the end replaced last (-1, +1); ``mark`` and ``stalled`` monitor that three rounds halve
    a bracket; ``estimate`` is the interpolated frequency; ``consistent`` is True if the parity of J agrees with the
    sign of D at both ends. ``evaluations`` is the number of evaluations in the search of each mode.
    """

    lower_weight: Array
    upper_weight: Array
    side: Array
    mark: Array
    stalled: Array
    estimate: Array
    consistent: Array
    evaluations: Array
    rounds: Array

    def converged(self, width: float | Array) -> Array:
        """Return True for brackets with a relative width of at most ``width``."""
        return xp.isfinite(self.upper) & (self.upper - self.lower <= width * self.upper)

    def well_estimated(self, error: float) -> Array:
        """Return True where a mode is isolated and its chord estimate has at most this relative error.

        The error of a chord is the product of the distances to its ends over the distance to the nearest other mode.
        Estimates of a mode that is sought more than once are equal, and no neighbours of each other. Where an estimate
        is NaN no mode counts as well estimated.
        """
        apart = xp.abs(self.estimate[:, None] - self.estimate[None])
        gap = xp.minimum(xp.min(xp.where(apart == 0.0, xp.inf, apart), axis=1), self.estimate)
        missed = (self.estimate - self.lower) * (self.upper - self.estimate)
        return self.isolated & xp.isfinite(self.upper) & (missed <= error * gap * self.estimate)


def find_brackets(
    evaluate: Callable[[Array], Evaluation],
    modes: Array,
    first_trials: Array,
    guess: Array,
    log_at_zero: Array,
    width: float | Array,
    max_rounds: int,
    beyond_wanted: int = 0,
    known: Brackets | None = None,
    enough: float = 0.0,
) -> Brackets:
    """Enclose the given modes.

    Parameters
    ----------
    evaluate : Callable
        Count and determinant at frequencies of the shape of ``first_trials`` and of ``guess``.
    modes : Array
        The mode numbers sought, from 1, shape (modes, 1, ...), ascending; repeated numbers only cost time.
    first_trials : Array
        Trial frequencies of the first round in rad/s, shape (modes, ...), ideally between the modes. If their number
        differs from that of the modes, they form a separate round, and a compiled search has a second copy of the
        evaluation.
    guess : Array
        Estimates of the modes. Entries beyond the number of modes are estimates of the next higher modes, which only
        speed up the interpolation.
    log_at_zero : Array
        Limit of log|D| at zero frequency, below all modes, where every search starts.
    width : float or Array
        Relative width to reach, for all modes or for each; at least 2 units in the last place. The ends are then about
        half a width from the mode.
    max_rounds : int
        Largest number of evaluations of each lane.
    beyond_wanted : int
        Number of last modes that are sought only to help the others. If no frequency above them is known when the
        others are enclosed, they may not exist and are given up.
    known : Brackets, optional
        Brackets of the same modes from another call.
    enough : float
        Relative error at which the search of an isolated mode stops because its estimate is good enough; its bracket
        then stays wide.

    Returns
    -------
    Brackets
        ``converged(width)`` is True for the enclosed modes. A narrow bracket with a count
        difference of two or more contains a cluster.
    """
    shape = (modes.shape[0], *first_trials.shape[1:])
    estimate = guess[: shape[0]]
    zeros, infinite = xp.zeros_like(estimate), xp.full_like(estimate, xp.inf)
    start = Brackets(
        lower=zeros,
        upper=infinite,
        lower_count=zeros,
        upper_count=xp.full_like(estimate, _UNBOUNDED),
        lower_log=xp.broadcast_to(log_at_zero, shape),
        upper_log=zeros,
        lower_weight=zeros,
        upper_weight=zeros,
        side=zeros,
        mark=infinite,
        stalled=zeros,
        estimate=estimate,
        consistent=xp.isfinite(infinite) | True,
        evaluations=zeros,
        rounds=np.int64(0),
    )
    if known is not None:
        start = dataclasses.replace(known, estimate=estimate, rounds=start.rounds)
    numbers = modes.astype(first_trials.dtype)
    beyond = guess[shape[0] :]
    repeated = xp.concatenate([xp.zeros_like(modes[:1], dtype=bool), modes[1:] == modes[:-1]])

    wanted = np.arange(shape[0]).reshape((-1,) + (1,) * (len(shape) - 1)) < shape[0] - beyond_wanted

    def sought(b: Brackets) -> Array:
        found = ~b.converged(width) & (b.lower < LARGEST)
        if enough:
            found = found & ~b.well_estimated(enough)
        if not beyond_wanted:
            return found
        return found & (xp.isfinite(b.upper) | xp.any(found & wanted, axis=0))

    def unfinished(b: Brackets) -> Array:
        return xp.any(sought(b)) & (b.rounds < max_rounds)

    def after(b: Brackets, trial: Array) -> Brackets:
        b = _tightened(b, numbers, trial, evaluate(trial), width)
        return dataclasses.replace(b, estimate=_interpolated(b, numbers, repeated, beyond))

    def body(b: Brackets) -> Brackets:
        trial = _trial(b, numbers, width)
        if first_trials.shape == shape:
            trial = xp.where(b.rounds == 0, first_trials, trial)
        found = after(b, trial)
        if len(shape) == 1 and on_host(trial):  # one arm: the loop goes on for it alone
            return found
        # what a cell gives does not depend on how long the others of its block take
        more = xp.any(sought(b), axis=0, keepdims=True)
        kept = {
            field.name: xp.where(more, getattr(found, field.name), getattr(b, field.name))
            for field in dataclasses.fields(b)
            if field.name != "rounds"
        }
        return dataclasses.replace(found, **kept)

    if first_trials.shape != shape:
        start = after(start, first_trials)
    b = loop(unfinished, body, start, on_host(first_trials))
    b = dataclasses.replace(b, lower_weight=zeros, upper_weight=zeros)
    return dataclasses.replace(b, estimate=_interpolated(b, numbers, repeated, beyond))


def grid_trials(scale: Array, lanes: int) -> Array:
    """Return first trial frequencies without a guess: a geometric grid about ``scale``, shape (lanes, ...)."""
    exponents = np.arange(lanes, dtype=scale.dtype) - float(lanes // 3)
    return scale[None] * (_GRID_RATIO**exponents).reshape((lanes,) + (1,) * scale.ndim)


def separating_trials(guess: Array, lanes: int) -> Array:
    """Return first trial frequencies between (and one above) the first ``lanes`` modes of a longer guess."""
    return xp.sqrt(guess[:lanes] * guess[1 : lanes + 1])


def _trial(b: Brackets, modes: Array, width: float | Array) -> Array:
    """Return the next trial frequency of each bracket."""
    several = xp.maximum(b.upper_count - b.lower_count, 1.0)
    share = (modes - b.lower_count - 0.5) / several
    upper = xp.where(xp.isfinite(b.upper), b.upper, 1.0)
    lower = xp.maximum(b.lower, upper / _LEAP)
    cut = xp.where(
        upper > _GRID_RATIO * lower,
        lower * (upper / lower) ** share,
        lower + share * (upper - lower),
    )
    # close to the mode: aim beyond it by half a width, at the side of the farther end, so that both close in
    step = 0.5 * width * upper
    to_lower, to_upper = b.estimate - b.lower, upper - b.estimate
    near = xp.minimum(to_lower, to_upper) < xp.sqrt(width) * upper
    beyond = b.estimate + xp.where(to_lower < to_upper, _ASIDE, -_ASIDE) * step
    refined = xp.where(near, beyond, b.estimate)
    refined = xp.clip(refined, b.lower + 0.5 * step, upper - 0.5 * step)
    patience = xp.where(near, _PATIENCE_NEAR, _PATIENCE)
    trial = xp.where(b.isolated & (b.stalled < patience), refined, cut)
    return xp.where(xp.isfinite(b.upper), trial, b.lower * _LEAP)


def _interpolated(b: Brackets, modes: Array, repeated: Array, beyond: Array) -> Array:
    """Return the zero of the weighted chord of D with the other modes divided out; for a cluster, the middle."""
    known = xp.isfinite(b.upper)
    upper = xp.where(known, b.upper, 2.0 * b.lower)
    skipped = repeated[None] | (modes[None] == modes[:, None])
    other = xp.where(skipped, 0.0, b.estimate[None])
    reach = 1.0 / xp.max(upper, axis=0, keepdims=True)
    other2, lower2, upper2 = (
        (other * reach[None]) ** 2,
        (b.lower * reach) ** 2,
        (upper * reach) ** 2,
    )
    from_lower = xp.where(skipped, 1.0, xp.abs(lower2[:, None] - other2))
    from_upper = xp.where(skipped, 1.0, xp.abs(upper2[:, None] - other2))
    ratio = xp.prod(from_lower, axis=1) / xp.prod(from_upper, axis=1)
    for higher in beyond:
        # beyond the bracket: an estimate inside it would spoil the chord
        square = (xp.maximum(higher[None] * reach, CLEAR)) ** 2
        ratio = ratio * (square - lower2) / (square - upper2)
    ratio = xp.where((ratio > 0.0) & xp.isfinite(ratio), ratio, 1.0)
    logs = b.upper_log + b.upper_weight - b.lower_log - b.lower_weight
    fraction = 1.0 / (1.0 + ratio * xp.exp(xp.clip(logs, -700.0, 700.0)))
    fraction = xp.where(b.isolated & known, fraction, 0.5)
    # the chord over omega^2, of which D is a function
    span = fraction * (upper - b.lower) * (upper + b.lower)
    return xp.clip(raised(b.lower, span), b.lower, upper)


def _tightened(
    b: Brackets, modes: Array, trial: Array, value: Evaluation, width: float | Array
) -> Brackets:
    """Return the brackets after one round; every trial frequency may replace an end of every bracket."""
    count = value.count.astype(trial.dtype)
    agrees = (value.sign > 0.0) == (value.count % 2 == 0)
    passed = count[None] >= modes[:, None]
    below = xp.where(passed, -xp.inf, trial[None])
    above = xp.where(passed, trial[None], xp.inf)
    low, high = xp.max(below, axis=1), xp.min(above, axis=1)

    def at(chosen: Array, quantity: Array) -> Array:
        return xp.max(xp.where(chosen, quantity[None], -xp.inf), axis=1)

    is_low, is_high = below == low[:, None], above == high[:, None]
    new_low = (low > b.lower) & (low < b.upper)
    lower = xp.where(new_low, low, b.lower)
    new_high = (high < b.upper) & (high > lower)
    upper = xp.where(new_high, high, b.upper)
    low_log, high_log = at(is_low, value.log_abs), at(is_high, value.log_abs)
    # Anderson and Bjorck: the end that stays for the second time is weighted by 1 - D(new)/D(old), or by 1/2
    again_low, again_high = (
        new_low & ~new_high & (b.side < 0.0),
        new_high & ~new_low & (b.side > 0.0),
    )
    upper_weight = xp.where(new_high, 0.0, b.upper_weight)
    lower_weight = xp.where(new_low, 0.0, b.lower_weight)
    upper_weight = xp.where(
        again_low, b.upper_weight + _log_weight(low_log - b.lower_log), upper_weight
    )
    lower_weight = xp.where(
        again_high, b.lower_weight + _log_weight(high_log - b.upper_log), lower_weight
    )
    agreeing = agrees.astype(trial.dtype)
    doubtful = (new_low & (at(is_low, agreeing) == 0.0)) | (
        new_high & (at(is_high, agreeing) == 0.0)
    )
    halved = ~(upper - lower > 0.5 * b.mark) | (b.stalled >= _PATIENCE_NEAR)
    return Brackets(
        lower=lower,
        upper=upper,
        lower_count=xp.where(new_low, at(is_low, count), b.lower_count),
        upper_count=xp.where(new_high, at(is_high, count), b.upper_count),
        lower_log=xp.where(new_low, low_log, b.lower_log),
        upper_log=xp.where(new_high, high_log, b.upper_log),
        lower_weight=lower_weight,
        upper_weight=upper_weight,
        side=xp.where(new_low & ~new_high, -1.0, xp.where(new_high & ~new_low, 1.0, 0.0)),
        mark=xp.where(halved, upper - lower, b.mark),
        stalled=xp.where(halved, 0.0, b.stalled + 1.0),
        estimate=b.estimate,
        consistent=b.consistent & ~doubtful,
        evaluations=b.evaluations + xp.where(b.converged(width), 0.0, 1.0),
        rounds=b.rounds + 1,
    )


def _log_weight(log_ratio: Array) -> Array:
    """Return ``log(1 - r)`` for the ratio r of the new to the replaced value, ``log(1/2)`` where r >= 1."""
    ratio = xp.exp(xp.minimum(log_ratio, 0.0))
    return xp.where(ratio < 1.0, xp.log1p(-xp.where(ratio < 1.0, ratio, 0.0)), _LOG_HALF)
