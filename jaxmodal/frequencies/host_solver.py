"""The frequencies of one concrete arm in NumPy: nothing is compiled; formulas, search and certificate are the same.

A call of NumPy costs about a microsecond, whatever the few hundred numbers that it works on, so that a round of trials
costs the same for ten frequencies as for a hundred. Few rounds with many trials are therefore sought here, where the
compiled search seeks few trials. Figures: the three-link example, ten modes, two cores of a shared machine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.evaluation import Evaluation, Model
from jaxmodal.frequencies.certificate import TOLERANCE, Certificate, confirm
from jaxmodal.frequencies.programs import MAX_ROUNDS, WIDTH, Solution
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.frequencies.root_search import LARGEST, Brackets, find_brackets, grid_trials

#: relative width to which each mode is enclosed in float64, which then is right to 3e-12 in 99 of 100 of the 812
#: reference frequencies, to 6e-11 in all, and to 1e-15 in 4 of 5
_FLOAT64_WIDTH = 1e-11
#: rounds of that search at most (12 in the median); what float64 cannot enclose is left to double-double
_FLOAT64_ROUNDS = 40
#: trials of its first round for each mode, and at most
_GRID_DENSITY, _LARGEST_GRID = 16, 1024
#: the range of that grid, in trials of `root_search.grid_trials`: from 1e-5 to 1e9 times the starting scale. The
#: float64 determinant overflows from 1e21 on; modes above the grid are reached by going upward
_WIDEST_GRID = 24
#: the grid starts no lower, rad/s, however long the links
_LEAST_SCALE = 1e-100
#: relative distances from the float64 frequency at which double-double tries first: the inner two enclose 99 of 100
#: modes, from where two rounds reach `WIDTH` (3 in the median, 13 at most); the outer two those next to another
_ASIDE = np.array([-3e-8, -1e-11, 1e-11, 3e-8])
#: modes beyond those sought, whose estimates speed up the interpolation
_BEYOND = 2


def solve_on_host(model: Model, modes: NDArray[np.int64]) -> Solution:
    """The frequencies of ascending mode numbers, as `programs.solve_padded`.

    They are found in float64, whose counts only serve as a guess, and then enclosed and confirmed in double-double.
    """
    evaluations = 0

    def evaluated(omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
        nonlocal evaluations
        evaluations += omega.size
        return _evaluated(model, omega, arithmetic)

    with np.errstate(all="ignore"):
        found, width = enclosed(evaluated, model.scale, model.log_at_zero, modes)
        omega = np.maximum.accumulate(found.estimate)
        certificate = confirm_on_host(model, omega, modes, TOLERANCE)
        evaluations += certificate.bracket.size + omega.size
        omega = np.where(found.lower < LARGEST, omega, np.nan)  # there is no such mode
    return Solution(omega, found.converged(width), certificate, np.int64(evaluations))


def _evaluated(model: Model, omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
    return model.evaluate(resolved(model.scale, omega, arithmetic), arithmetic)


def enclosed(
    evaluate: Callable[[np.ndarray, Arithmetic], Evaluation],
    scale: np.ndarray | np.float64,
    log_at_zero: np.float64,
    modes: NDArray[np.int64],
) -> tuple[Brackets, np.ndarray]:
    """Brackets of ascending modes in double-double, and the width sought of each.

    ``modes`` has shape (modes,) or, for arms side by side, (modes, cells), ``scale`` shape () or (cells,). A trial may
    overflow: nothing is learnt from it.
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
    rough = find_brackets(
        lambda omega: evaluate(omega, Arithmetic.float64),
        sought,
        np.geomspace(grid[0], grid[-1], dense),
        spread,
        log_at_zero,
        _FLOAT64_WIDTH,
        _FLOAT64_ROUNDS,
        beyond_wanted=_BEYOND,
    )
    known = np.isfinite(rough.estimate) & (rough.estimate > 0.0)
    guess = np.maximum.accumulate(np.where(known, rough.estimate, spread))
    trials = guess[:lanes, None] * (1.0 + _ASIDE).reshape((-1,) + (1,) * len(cells))
    # the middle of the bracket of a repeated mode, which has no other estimate, is right to half its width
    several = (rough.upper_count - rough.lower_count)[:lanes] > 1.0
    width = np.where(several, 0.5 * WIDTH, WIDTH)
    found = find_brackets(
        lambda omega: evaluate(omega, Arithmetic.double_double),
        modes,
        trials.reshape(-1, *cells),
        guess,
        log_at_zero,
        width,
        MAX_ROUNDS,
    )
    return found, width


def count_on_host(model: Model, omega: NDArray[np.float64]) -> NDArray[np.int64]:
    """Counts below frequencies, any shape, as `programs.count_padded`; -1 of an arm with an impossible value."""
    if model.invalid:
        return np.full(omega.shape, -1)
    flat, counts = omega.ravel(), np.zeros(omega.size, np.int64)
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, _LARGEST_GRID):
            x = flat[start : start + _LARGEST_GRID]
            above = np.where(x > 0.0, x, 1.0)
            count = _evaluated(model, above, Arithmetic.double_double).count
            counts[start : start + x.size] = np.where(x > 0.0, count, 0)
    return counts.reshape(omega.shape)


def confirm_on_host(
    model: Model,
    omega: NDArray[np.float64],
    modes: NDArray[np.int64],
    tolerance: float,
) -> Certificate:
    """The certificate of a list of frequencies, as `programs.confirm_padded`."""
    with np.errstate(all="ignore"):
        return confirm(
            lambda x: _evaluated(model, x, Arithmetic.double_double),
            omega,
            modes,
            np.int64(omega.size),
            np.float64(tolerance),
        )
