"""The search for the frequencies of one concrete arm in NumPy: no compilation, the same formulas and the same search."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import Evaluation, evaluate, log_at_zero
from jaxmodal.dynamic_stiffness.joints import number_of_hinges
from jaxmodal.frequencies.certificate import TOLERANCE, Confirmation, confirm
from jaxmodal.frequencies.root_search import find_brackets, grid_trials

_WIDTH = 2.0**-50
_FIRST_WIDTH = 1e-11
#: relative distances from a guess at which it is tried, for float64 found most modes to 1e-13
_ASIDE = np.array([-3e-8, -1e-11, 1e-11, 3e-8])
_MAX_ROUNDS = 300
#: modes beyond those sought, whose estimates speed up the interpolation
_BEYOND = 2


def solve_on_host(
    beams: BeamArrays, flags: Theory, first: int, num_modes: int, invalid: bool
) -> tuple[tuple[Any, Any, Confirmation, Any], np.ndarray, np.int64]:
    """Modes ``first + 1`` to ``first + num_modes``: the answer of `programs.solve_padded`.

    Found in float64, whose counts only serve as a guess, and then enclosed and confirmed in double-double.
    """
    if invalid:
        beams = jax.tree_util.tree_map(np.ones_like, beams)
    beams = dataclasses.replace(beams, has_shear=True)
    links = beams.length.shape[0]
    modes = np.arange(first + 1, first + num_modes + 1)
    free = np.int64(0) if invalid else number_of_hinges(beams, links)
    search = np.maximum(modes, free + 1)
    more = np.concatenate([search, search[-1] + 1 + np.arange(_BEYOND)])

    def at(omega: np.ndarray) -> Evaluation:
        return evaluate(beams, flags, omega, True)

    with np.errstate(all="ignore"):
        rigidity = beams.youngs_modulus * beams.second_moment / (beams.density * beams.area)
        scale = np.min(np.sqrt(rigidity) / (beams.length * beams.length))
        zero = log_at_zero(links)
        grid = grid_trials(scale, more.shape[0])
        rough = find_brackets(
            lambda x: evaluate(beams, flags, x, False), more, grid, grid, zero, _FIRST_WIDTH, 40
        )
        guess = np.maximum.accumulate(rough.estimate)
        lanes = np.repeat(np.arange(num_modes), _ASIDE.size)
        trials = guess[lanes] * (1.0 + np.tile(_ASIDE, num_modes))
        guesses = np.concatenate([guess[lanes], guess[num_modes:]])
        b = find_brackets(at, search[lanes], trials, guesses, zero, _WIDTH, _MAX_ROUNDS)
        b = jax.tree_util.tree_map(lambda x: x[:: _ASIDE.size] if np.ndim(x) else x, b)
        omega = np.maximum.accumulate(b.estimate)
        found = confirm(at, omega, search, np.int64(num_modes), np.float64(TOLERANCE))
    if STATS is not None:
        STATS.append((int(rough.rounds), int(b.rounds)))
    evaluations = np.sum(b.evaluations).astype(np.int64) + 3 * num_modes
    return (omega, b.converged(_WIDTH), found, evaluations), modes, free


STATS: list | None = None
