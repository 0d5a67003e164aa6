"""Natural frequencies of one concrete arm in NumPy, without compilation.

Formulas, search and certificate are the same as in the compiled solver. A NumPy call costs about a microsecond,
whether it works on ten numbers or on a few hundred, so that a round of trials costs the same for ten frequencies as for
a hundred. This search therefore makes few rounds with many trials, where the compiled search makes few trials. Figures
below: the three-link example, ten modes, two cores of a shared machine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN, Evaluation, Model
from jaxmodal.frequencies.certificate import ABOUT, EPS, TOLERANCE, Certificate, Claims, confirm
from jaxmodal.frequencies.programs import MAX_ROUNDS, WIDTH, Solution
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.frequencies.root_search import LARGEST, Brackets, find_brackets, grid_trials
from jaxmodal.runtime.array_types import Floats, Integers

#: relative width to which each mode is enclosed in float64, which then is right to 3e-12 in 99 of 100 of the 812
#: reference frequencies, to 6e-11 in all, and to 1e-15 in 4 of 5
_FLOAT64_WIDTH = 1e-11
#: or until the estimate of a mode alone is right to about this, which serves as well and takes three rounds less
_FLOAT64_ENOUGH = 1e-13
#: rounds of that search at most (12 in the median); what float64 cannot enclose is left to double-double
_FLOAT64_ROUNDS = 40
#: trials of its first round for each mode, and at most
_GRID_DENSITY, _LARGEST_GRID = 16, 1024
#: the range of that grid, in trials of `root_search.grid_trials`: from 1e-5 to 1e9 times the starting scale. The
#: float64 determinant overflows from 1e21 on; modes above the grid are reached by going upward
_WIDEST_GRID = 24
#: the grid starts no lower, rad/s, however long the links
_LEAST_SCALE = 1e-100
#: relative distances from the float64 frequency at which double-double tries first: the inner two enclose most modes,
#: the outer two those next to another
_ASIDE = np.array([-3e-8, -0.4e-12, 0.4e-12, 3e-8])
#: the same where float64 has enclosed several modes and no estimate is better than the middle
_ASIDE_OF_SEVERAL = np.array([-3e-8, -1e-11, 1e-11, 3e-8])
#: and those from its estimate after that: both ends of the bracket sought, with which 54 of 63 reference arms are done
_SIDES = np.array([-0.4, 0.4]) * WIDTH
#: nothing comes after the first where the inner two enclose every mode so closely that the chord between them is right
#: for all that neighbours do to it, and where the certificate's points suggest the same frequency to two last digits
_INSIDE, _RIGHT, _SAME = 1e-12, 1e-18, 2.0 * EPS
#: by how much rounding may move a frequency at which modes are counted, relative
_MOVED = 1e-15
#: modes beyond those sought, whose estimates speed up the interpolation
_BEYOND = 2
#: to which they are enclosed
_BEYOND_WIDTH = 1e-3


def solve_on_host(model: Model, modes: Integers) -> Solution:
    """Return the natural frequencies of ascending mode numbers; see `programs.solve_padded`.

    They are found in float64, whose counts serve only as a guess, and then enclosed and confirmed in double-double.
    """
    remembered = _Remembered(model)
    asked = np.zeros(0)

    def ahead(omega: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """Evaluate the points of the certificate at estimates and at their sides; return the improved estimates."""
        nonlocal asked
        asked = omega
        claims = Claims.of(omega, np.int64(omega.size), np.float64(TOLERANCE))
        points = claims.points(omega)
        remembered.evaluate(np.concatenate([sides, points.ravel()]))
        d = remembered(points, Arithmetic.double_double)
        low, here, high = d.sign * np.exp(d.log_abs - np.max(d.log_abs, axis=0))
        moved = here * (claims.above - claims.below) / (low - high)
        return np.where(np.any(CERTAIN * d.noise > _RIGHT, axis=0), np.nan, omega + moved)

    with np.errstate(all="ignore"):
        found, width = enclosed(remembered, model.scale, model.log_at_zero, modes, ahead)
        omega = np.maximum.accumulate(found.estimate)
        alone = bool(np.all(found.isolated))
        certificate = _confirmed(remembered, omega, modes, TOLERANCE, asked if alone else None)
        evaluations = remembered.evaluations
        omega = np.where(found.lower < LARGEST, omega, np.nan)  # there is no such mode
    return Solution(omega, found.converged(width), certificate, np.int64(evaluations))


class _Remembered:
    """Evaluations of one arm, with a cache of the last ones in double-double."""

    def __init__(self, model: Model) -> None:
        self.model, self.evaluations = model, 0
        self._places: dict[float, int] = {}
        self._values: Evaluation | None = None

    def __call__(self, omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
        if self._values is not None and arithmetic is Arithmetic.double_double:
            places = [self._places.get(x) for x in omega.ravel().tolist()]
            if None not in places:
                return jax.tree_util.tree_map(
                    lambda x: x[places].reshape(omega.shape), self._values
                )
        self.evaluations += omega.size
        return _evaluated(self.model, omega, arithmetic)

    def evaluate(self, omega: np.ndarray) -> None:
        """Evaluate at frequencies of shape (trials,) and cache the values."""
        self._values = self(omega, Arithmetic.double_double)
        self._places = {x: place for place, x in enumerate(omega.tolist())}


def _evaluated(model: Model, omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
    return model.evaluate(resolved(model.scale, omega, arithmetic), arithmetic)


def enclosed(
    evaluate: Callable[[np.ndarray, Arithmetic], Evaluation],
    scale: np.ndarray | np.float64,
    log_at_zero: np.float64,
    modes: Integers,
    ahead: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> tuple[Brackets, np.ndarray]:
    """Return brackets of ascending modes in double-double, and the width that each should reach.

    ``modes`` has shape (modes,) or, for several arms at once, (modes, cells); ``scale`` has shape () or (cells,).
    Trials that overflow are ignored. ``ahead`` is called with the estimates and the trials next to them; it returns
    better estimates, NaN where rounding matters.
    """
    cells = modes.shape[1:]
    further = np.arange(_BEYOND).reshape((-1,) + (1,) * len(cells))
    sought = np.concatenate([modes, modes[-1:] + 1 + further])
    count, lanes = sought.shape[0], modes.shape[0]
    # a scale beyond double precision is that of an arm of which nothing can be found
    scale = np.clip(np.nan_to_num(scale, nan=1.0), _LEAST_SCALE, LARGEST)
    grid = grid_trials(scale, min(int(np.max(sought)), _WIDEST_GRID))
    dense = max(count, min(_GRID_DENSITY * count, _LARGEST_GRID))
    spread = np.geomspace(grid[0], grid[-1], count)
    narrow = np.where(np.arange(count) < lanes, _FLOAT64_WIDTH, _BEYOND_WIDTH)
    rough = find_brackets(
        lambda omega: evaluate(omega, Arithmetic.float64),
        sought,
        np.geomspace(grid[0], grid[-1], dense),
        spread,
        log_at_zero,
        narrow.reshape((-1,) + (1,) * len(cells)),
        _FLOAT64_ROUNDS,
        beyond_wanted=_BEYOND,
        enough=_FLOAT64_ENOUGH,
    )
    known = np.isfinite(rough.estimate) & (rough.estimate > 0.0)
    guess = np.maximum.accumulate(np.where(known, rough.estimate, spread))
    # the middle of the bracket of a repeated mode, which has no other estimate, is right to half its width
    several = (rough.upper_count - rough.lower_count)[:lanes] > 1.0
    width = np.where(several, 0.5 * WIDTH, WIDTH)

    def search(
        about: np.ndarray, aside: np.ndarray, rounds: int, known: Brackets | None = None
    ) -> tuple[Brackets, np.ndarray]:
        trials = about[:lanes, None] * (1.0 + aside)
        others = np.full(lanes, np.nan)
        if ahead is not None:
            others = ahead(np.maximum.accumulate(about[:lanes]), trials.ravel())
        found = find_brackets(
            lambda omega: evaluate(omega, Arithmetic.double_double),
            modes,
            trials.reshape(-1, *cells),
            about,
            log_at_zero,
            width,
            rounds,
            known=known,
        )
        return found, others

    beside, beside_several, sides = (
        x.reshape((-1,) + (1,) * len(cells)) for x in (_ASIDE, _ASIDE_OF_SEVERAL, _SIDES)
    )
    near, others = search(guess, np.where(several[:, None], beside_several, beside), 0)
    close = near.converged(_INSIDE) & near.well_estimated(_RIGHT)
    if ahead is not None and np.all(close & (np.abs(near.estimate - others) <= _SAME * others)):
        return near, np.full_like(width, _INSIDE)
    about = np.concatenate([near.estimate, guess[lanes:]])
    found, _ = search(about, sides, MAX_ROUNDS, near)
    # the estimate of a mode alone, from ends where D is more than rounding, is the frequency to its last digit
    inside = (found.lower <= near.estimate) & (near.estimate <= found.upper)
    kept = found.converged(width) & inside & near.isolated
    return dataclasses.replace(found, estimate=np.where(kept, near.estimate, found.estimate)), width


def count_on_host(model: Model, omega: Floats) -> Integers:
    """Return counts below frequencies of any shape (see `programs.count_padded`); -1 for an invalid arm."""
    if model.invalid:
        return np.full(omega.shape, -1)
    flat, counts = omega.ravel(), np.zeros(omega.size, np.int64)
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, _LARGEST_GRID):
            x = flat[start : start + _LARGEST_GRID]
            above = np.where(x > 0.0, x, 1.0)
            count = _counted(model, above)
            counts[start : start + x.size] = np.where(x > 0.0, count, 0)
    return counts.reshape(omega.shape)


def _counted(model: Model, omega: np.ndarray) -> np.ndarray:
    """Return counts in double-double.

    Where rounding may change a count, it is repeated with the model's other formulas.
    """
    value = _evaluated(model, omega, Arithmetic.double_double)
    unclear = CERTAIN * value.noise > _MOVED
    other = model.otherwise() if unclear.any() else None
    if other is not None:
        again = _evaluated(other, omega[unclear], Arithmetic.double_double)
        better = again.noise < value.noise[unclear]
        value.count[unclear] = np.where(better, again.count, value.count[unclear])
    return value.count


def confirm_on_host(
    model: Model,
    omega: Floats,
    modes: Integers,
    tolerance: float,
) -> Certificate:
    """Return the certificate of a list of frequencies (see `programs.confirm_padded`).

    If it fails, it is repeated with the model's other formulas.
    """
    found = _confirmed(_Remembered(model), omega, modes, tolerance)
    other = None if found.ok else model.otherwise()
    again = found if other is None else _confirmed(_Remembered(other), omega, modes, tolerance)
    return again if again.ok else found


def _confirmed(
    known: _Remembered,
    omega: Floats,
    modes: Integers,
    tolerance: float,
    asked: Floats | None = None,
) -> Certificate:
    """Return `confirm`, using evaluations at frequencies ``asked`` for before, if these are still the same."""
    if asked is not None and not np.all(np.abs(omega - asked) <= ABOUT * tolerance * omega):
        asked = None
    with np.errstate(all="ignore"):
        return confirm(
            lambda x: known(x, Arithmetic.double_double),
            omega,
            modes,
            np.int64(omega.size),
            np.float64(tolerance),
            asked,
        )
