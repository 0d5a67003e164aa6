"""Frequencies of arms in space in float64, in parallel, accepted where the measured rounding error is small enough.

The rounding error of a determinant is measured by perturbing its rounded quantities by a few more roundings, in four
ways, and by changing the order in which the directions of the elastic ends are released. A mode is accepted if all
eight counts at the ends of four narrow brackets are correct and the zeros of the four determinants agree. For the other
modes the ends are evaluated again in double-double; modes that this does not confirm remain open.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN, Evaluation
from jaxmodal.frequencies.brackets import chord
from jaxmodal.frequencies.certificate import EPS, Certificate
from jaxmodal.frequencies.programs import Solution
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.frequencies.root_search import find_brackets, grid_trials
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.stiffness.model import SpatialModel

#: relative half-widths of the brackets at whose ends modes are counted, one for each of the four rounding variants
_HALVES = 1e-8, 0.7e-8, 0.85e-8, 0.9e-8
#: relative width of the first brackets of the estimates, and largest number of rounds
_ROUGH, _ROUNDS = 1e-4, 9
#: number of modes beyond those sought, whose estimates the interpolation needs
_BEYOND = 2
#: relative distance from its neighbours below which a mode is left to double-double, and below which the chord does not
#: locate it there either: an error e of the neighbour's estimate causes an error e (1e-8/distance)^2
CLOSE, _CROWDED = 1e-3, 1e-5
#: relative error of a chord's zero: omega f''/f' is at most 100, for D with the nearest modes divided out
OF_CHORD = 100.0 * _HALVES[0] * _HALVES[0]
#: largest relative distance of the four zeros, and ratio of the error of their mean to it
_ALLOWED, _SURE = 6e-13, 1.5
#: first trials of each mode, and their range in trials of `grid_trials`, as for a single arm
_DENSITY, _WIDEST = 16, 24


def search(
    model: SpatialModel,
    cells: int,
    num_modes: int,
    near: np.ndarray | None,
) -> tuple[Solution, np.ndarray]:
    """Return the lowest modes of every cell, with arrays of shape (modes, cells).

    ``converged`` modes are confirmed; for the others ``omega`` is an estimate. The second array returned holds the
    estimates at the middles of the brackets, including those of the next modes.

    Parameters
    ----------
    model : SpatialModel
        Arms in parallel, without free joints.
    cells, num_modes : int
        Numbers of cells and modes.
    near : np.ndarray, shape (num_modes + 2, cells), optional
        Frequencies of similar arms, in rad/s.
    """
    scale = np.broadcast_to(model.scales, (cells,))
    tried = 0

    def evaluated(omega: np.ndarray, rounding: int = 0) -> Evaluation:
        nonlocal tried
        tried += omega.shape[0]
        return model.evaluate_cells(
            resolved(scale, omega, Arithmetic.float64), Arithmetic.float64, rounding
        )

    every = rough_frequencies(evaluated, model, scale, num_modes + _BEYOND, near)
    samples = [
        _sample(functools.partial(evaluated, rounding=rounding), every[:num_modes], half)
        for rounding, half in enumerate(_HALVES)
    ]
    found = _judged(every, np.arange(1, num_modes + 1), samples, CLOSE)
    spread = EPS * found.certificate.residual_ratio
    certificate = dataclasses.replace(
        found.certificate, residual_ratio=(_SURE * spread + OF_CHORD) / EPS
    )
    proven = found.converged & (spread < _ALLOWED)
    return Solution(found.omega, proven, certificate, np.int64(tried)), every


def rough_frequencies(
    evaluate: Callable[[np.ndarray], Evaluation],
    model: SpatialModel,
    scale: np.ndarray,
    num_modes: int,
    near: np.ndarray | None,
    width: float = _ROUGH,
    rounds: int = _ROUNDS,
) -> np.ndarray:
    """Return estimates of the lowest modes of every cell, shape (modes, cells), from counts and interpolation.

    ``near``, of that shape, are frequencies of similar arms; ``scale`` is `SpatialModel.scales` of each cell. The
    frequencies are bracketed to a relative ``width`` in at most ``rounds`` rounds.
    """
    modes = np.arange(1, num_modes + 1)
    if near is None:
        grid = grid_trials(scale, min(modes.size, _WIDEST))
        first = np.geomspace(grid[0], grid[-1], _DENSITY * modes.size)
        guess = np.geomspace(grid[0], grid[-1], modes.size)
    else:
        guess = near
        first = np.concatenate(
            [0.5 * near[:1], np.sqrt(near[:-1] * near[1:]), near[-1:] * [[1.1], [2.0]]]
        )
    numbers = np.broadcast_to(modes[:, None], (modes.size, scale.size))
    zero = model.log_at_zero
    return np.asarray(find_brackets(evaluate, numbers, first, guess, zero, width, rounds).estimate)


def settle(model: SpatialModel, every: np.ndarray, mode: np.ndarray) -> Solution:
    """Check one mode of each cell in double-double at the ends of its bracket; shapes (1, cells).

    Parameters
    ----------
    every : np.ndarray, shape (modes, cells)
        Estimates of all modes of each cell, including the next modes.
    mode : np.ndarray, shape (cells,)
        Index of the mode, from 0.
    """
    scale = np.broadcast_to(model.scales, mode.shape)
    sample = _sample(
        lambda omega: model.evaluate_cells(
            resolved(scale, omega, Arithmetic.double_double), Arithmetic.double_double
        ),
        np.take_along_axis(every, mode[None], axis=0),
        _HALVES[0],
    )
    found = _judged(every, mode[None] + 1, [sample], _CROWDED, mode)
    error = np.full_like(found.omega, OF_CHORD / EPS)
    certificate = dataclasses.replace(found.certificate, residual_ratio=error)
    clear = np.all(CERTAIN * sample.values.noise < OF_CHORD, axis=0)
    return found._replace(converged=found.converged & clear, certificate=certificate)


class Sample(NamedTuple):
    """Points on both sides of estimates (modes, cells), and the evaluations there; shape (2, modes, cells)."""

    ends: np.ndarray
    values: Evaluation


def _sample(evaluate: Callable[[np.ndarray], Evaluation], omega: np.ndarray, half: float) -> Sample:
    ends = np.stack([omega * (1.0 - half), omega * (1.0 + half)])
    values = evaluate(ends.reshape(-1, omega.shape[1]))
    return Sample(ends, jax.tree_util.tree_map(lambda x: x.reshape(ends.shape), values))


def _judged(
    every: np.ndarray,
    numbers: np.ndarray,
    samples: Sequence[Sample],
    close: float,
    place: np.ndarray | None = None,
) -> Solution:
    """Decide from evaluations at the ends of the brackets which of the modes ``numbers`` are confirmed.

    ``every`` holds the estimates of all modes, shape (all, cells); no other estimate may be closer than the relative
    distance ``close``. With ``place`` there is one mode for each cell, at this index among all; otherwise the modes are
    the first ones.
    """
    first = samples[0]
    size = first.values.count.shape[1]
    chosen = np.arange(size)[:, None] if place is None else place[None]
    omega = np.take_along_axis(every, np.broadcast_to(chosen, (size, every.shape[1])), axis=0)
    wanted = np.stack([numbers - 1, numbers])
    wanted = wanted[:, :, None] if place is None else wanted
    right = np.isfinite(omega)
    for sample in samples:
        signs = (sample.values.sign > 0.0) == (wanted % 2 == 0)
        right &= np.all((sample.values.count == wanted) & signs, axis=0)
    zeros = np.empty((len(samples), *omega.shape))
    apart = np.empty_like(omega)
    for k in range(size):
        own = np.arange(every.shape[0])[:, None] == chosen[k]
        others = np.where(own, np.nan, every)
        apart[k] = np.nanmin(np.abs(others / omega[k] - 1.0), axis=0)
        for zero, sample in zip(zeros, samples, strict=True):
            zero[k] = chord(sample.ends[:, k], sample.values.log_abs[:, k], others)
    found = np.mean(zeros, axis=0)
    spread = np.max(zeros, axis=0) - np.min(zeros, axis=0)
    proven = right & (apart > close) & np.isfinite(found)
    certificate = Certificate(
        status=np.where(proven, int(Status.certified), int(Status.uncertified)),
        count_below=first.values.count[0],
        count_above=first.values.count[1],
        bracket=np.stack([first.ends[0], first.ends[1]], axis=-1),
        group=np.broadcast_to(numbers.reshape(size, -1) - 1, omega.shape),
        residual_ratio=spread / found / EPS,
    )
    return Solution(found, proven, certificate, np.int64(0))
