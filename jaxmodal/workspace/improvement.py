"""Local search for extremes of a frequency inside ranges, from many starting cells in parallel.

Exact gradients of all searches are computed in one batch, and all trial steps are solved in one batch: a quasi-Newton
step, the steepest ascent, and some random steps, the first two in several lengths. Where two modes cross, the extreme
may be at the kink, which the gradient of one mode does not show; there the step is in the direction in which both modes
rise.
"""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.batches.many_arms import natural_frequencies_batch
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.batches import derivatives_of_cells
from jaxmodal.runtime.namespace import to_host
from jaxmodal.spatial.arms.plausibility import most_modes
from jaxmodal.workspace.ranges import Ranges

#: lengths of the first trial steps, and the length at which a search without gain ends, as shares of the ranges
_FIRST, _LAST = 0.1, 1e-6
#: lengths of trial steps, relative to the quasi-Newton step and to the radius; number of random steps in each round of
#: a search; largest number of rounds
_NEWTON, _STEEPEST = (1.0, 0.5, 0.1), (1.0, 0.2, 0.02)
_ASIDE, _ROUNDS = 2, 60
#: gain in the logarithm below which steps get shorter, as without gain; otherwise searches along a kink take too many
#: steps
_SMALL = 1e-8
#: largest distance, in the logarithm, of another mode that may cross
_NEAR = 1e-3


@dataclasses.dataclass
class _Climbs:
    """State of R searches: shares (R, P), heights (R,), gradients by the shares, and approximate curvature."""

    shares: np.ndarray
    height: np.ndarray
    gradient: np.ndarray
    crossing: np.ndarray
    inverse: np.ndarray
    fresh: np.ndarray
    radius: np.ndarray


@dataclasses.dataclass(frozen=True)
class Height:
    """Logarithm of the frequency of a mode over ranges, times the sign of each search: 1 for maxima, -1 for minima."""

    ranges: Ranges
    mode: int
    theory: TheoryName

    def at(self, shares: np.ndarray) -> np.ndarray:
        """Return frequencies (N,) in rad/s of cells (N, P); NaN if not certified."""
        cells = self.ranges.cells(shares)
        found = to_host(
            natural_frequencies_batch(self.ranges.arm, cells, self.mode, theory=self.theory)
        )
        return np.where(found.certified[:, -1], found.omega[:, -1], np.nan)

    def with_neighbour(self, shares: np.ndarray) -> tuple[np.ndarray, NaturalFrequencies]:
        """Return `at`, and the frequencies of all modes up to the next higher one, if there is one."""
        arm = self.ranges.arm
        count, cells = self.mode + int(self.mode < most_modes(arm)), self.ranges.cells(shares)
        found = to_host(natural_frequencies_batch(arm, cells, count, theory=self.theory))
        place = self.mode - 1
        return np.where(found.certified[:, place], found.omega[:, place], np.nan), found

    def slopes(
        self, shares: np.ndarray, found: NaturalFrequencies, sign: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return gradients (R, P) of the heights, and of the neighbouring modes that limit the extremes.

        The neighbour is the next higher mode for maxima, the next lower one for minima; its gradient is NaN if it
        limits nothing. ``found`` are the frequencies from `with_neighbour`.
        """
        arm, cells, names = self.ranges.arm, self.ranges.cells(shares), self.ranges.addresses
        omega, count = found.omega, found.omega.shape[1]
        derivative = derivatives_of_cells(arm, cells, found, names)
        width = self.ranges.high - self.ranges.low
        with np.errstate(invalid="ignore", divide="ignore"):
            each = sign[:, None, None] * derivative * width / omega[..., None]
            rows, other = np.arange(sign.size), self.mode - 1 + sign.astype(int)
            here = (other >= 0) & (other < count)
            other = np.where(here, other, self.mode - 1)
            apart = np.abs(np.log(omega[rows, other] / omega[:, self.mode - 1]))
        near = here & (apart < _NEAR)
        crossing = np.where(near[:, None], each[rows, other], np.nan)
        return np.nan_to_num(each[:, self.mode - 1]), crossing


def climbed(height: Height, shares: np.ndarray, sign: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return shares (R, P) and frequencies (R,) reached from starting cells, none worse than its start.

    ``sign`` is that of `Height`.
    """
    rng, (number, size) = np.random.default_rng(0), shares.shape
    start, found = height.with_neighbour(shares)
    with np.errstate(divide="ignore"):  # a frequency of 0 is left as it is
        begun = sign * np.log(start)
    state = _Climbs(
        shares.copy(),
        begun,
        *height.slopes(shares, found, sign),
        np.tile(0.01 * np.eye(size), (number, 1, 1)),
        np.ones(number, bool),
        np.full(number, _FIRST),
    )
    for _ in range(_ROUNDS):
        lanes = np.flatnonzero((state.radius > _LAST) & np.isfinite(state.height))
        if not lanes.size:
            break
        trials = np.stack([_trials(height.ranges, state, k, rng) for k in lanes.tolist()])
        omega, found = height.with_neighbour(trials.reshape(-1, size))
        with np.errstate(divide="ignore"):
            logs = np.log(omega.reshape(trials.shape[:2]))
            reached = np.nan_to_num(sign[lanes, None] * logs, nan=-np.inf)
        best = np.argmax(reached, axis=1)
        gain = reached[np.arange(lanes.size), best] - state.height[lanes]
        rises = gain > 1e-15
        if rises.any():
            moved, at = lanes[rises], np.flatnonzero(rises)
            chosen = at * trials.shape[1] + best[at]
            known = jax.tree_util.tree_map(lambda x, k=chosen: x[k] if np.ndim(x) else x, found)
            slopes = height.slopes(trials[at, best[at]], known, sign[moved])
            _move(height, state, moved, trials[at, best[at]], reached[at, best[at]], *slopes)
        state.radius[lanes[gain < _SMALL]] *= 0.1
    return state.shares, np.exp(sign * state.height)


def _trials(ranges: Ranges, state: _Climbs, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return trial cells (T, P) of the next step of one search."""
    shares, radius = state.shares[k], state.radius[k]
    gradient, crossing = state.gradient[k], state.crossing[k]
    free = _free(ranges, shares, gradient)
    newton = np.where(free, state.inverse[k] @ np.where(free, gradient, 0.0), 0.0)
    length = np.linalg.norm(newton)
    newton *= min(1.0, 2.0 * radius / length) if length > 0.0 else 0.0
    steepest = _both_rise(gradient, crossing)
    steepest = np.where(_free(ranges, shares, steepest), steepest, 0.0)
    length = np.linalg.norm(steepest)
    steepest *= radius / length if length > 0.0 else 0.0
    aside = rng.normal(size=(_ASIDE, shares.size))
    aside *= radius / np.linalg.norm(aside, axis=1, keepdims=True)
    steps = [scale * newton for scale in _NEWTON] + [scale * steepest for scale in _STEEPEST]
    return ranges.inside(shares + np.array([*steps, *aside]))


def _both_rise(gradient: np.ndarray, crossing: np.ndarray) -> np.ndarray:
    """Return the shortest convex combination of two gradients, along which both heights rise.

    If there is only one gradient, return it.
    """
    apart = gradient - crossing
    square = apart @ apart
    if not np.isfinite(square) or square == 0.0:
        return gradient
    part = float(np.clip(apart @ gradient / square, 0.0, 1.0))
    return np.asarray(gradient - part * apart)


def _free(ranges: Ranges, shares: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return which shares can follow a direction: those at an end of their range cannot move beyond it."""
    stopped = ((shares <= 0.0) & (direction < 0.0)) | ((shares >= 1.0) & (direction > 0.0))
    return np.asarray(ranges.turns | ~stopped)


def _move(
    height: Height,
    state: _Climbs,
    lanes: np.ndarray,
    shares: np.ndarray,
    reached: np.ndarray,
    gradient: np.ndarray,
    crossing: np.ndarray,
) -> None:
    """Accept steps that rise: update gradients, the BFGS curvature, and the radius from the step lengths."""
    step = shares - state.shares[lanes]
    step -= np.where(height.ranges.turns, np.round(step), 0.0)
    change = state.gradient[lanes] - gradient
    for k, s, y in zip(lanes, step, change, strict=True):
        length, product = float(np.linalg.norm(s)), float(s @ y)
        if product > 1e-10 * length * float(np.linalg.norm(y)):
            if state.fresh[k]:  # the first curvature sets the scale
                state.inverse[k] = product / float(y @ y) * np.eye(s.size)
            state.fresh[k] = False
            turned = np.eye(s.size) - np.outer(s, y) / product
            state.inverse[k] = turned @ state.inverse[k] @ turned.T + np.outer(s, s) / product
        state.radius[k] = np.clip(2.0 * length, 0.1 * state.radius[k], _FIRST)
    state.shares[lanes], state.height[lanes] = shares, reached
    state.gradient[lanes], state.crossing[lanes] = gradient, crossing
