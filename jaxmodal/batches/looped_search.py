"""The six evaluations per mode of `guided_search`, and one more, in a loop with a single evaluation.

The loop is for arms whose evaluation is a long program, so that it is compiled once. The accuracy is measured by
perturbing rounded values by several roundings. The sixth evaluation perturbs them in the opposite direction to those
before: in the estimate after it, between ends on both sides of the mode, the perturbations cancel; in the estimate
before it they do not. The seventh uses another direction and does not change the estimate, because the effect of one
direction may be small by accident. The larger of both changes is the measured error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax

from jaxmodal.batches.guided_search import (
    SCHEDULE,
    Others,
    advanced,
    isolated,
    scheduled,
    trial_frequency,
)
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.frequencies.root_search import separating_trials
from jaxmodal.runtime.namespace import Array, repeat, tree_on_host, xp

#: one more evaluation above the estimate, at another place than before
_SCHEDULE = [*SCHEDULE, (0.0, 0.6 * SCHEDULE[-1][1])]
#: number of evaluations per mode
EVALUATIONS = len(_SCHEDULE) + 1


def enclose_in_a_loop(
    evaluate: Callable[[Array, tuple[Array, Array]], Evaluation],
    modes: Array,
    guess: Array,
    log_at_zero: Array,
    skipped: Array,
) -> tuple[Enclosure, Array]:
    """Return `guided_search.enclose` without the first ``skipped`` of its two evaluations at the estimate.

    ``evaluate`` takes frequencies, and two amounts by which it perturbs rounded values, one per direction. ``skipped``
    may be traced. The second result is the number of modes below the first trial above the last mode, (arms,): if it is
    larger than the number of requested modes, the next mode is closer than ``guess`` states.
    """
    known = modes.shape[0]
    others = Others(known, tuple(guess[known:, None]))
    own, first = guess[:known], separating_trials(guess, known)
    place, last = scheduled(_SCHEDULE), len(_SCHEDULE) - skipped

    def value_known(value: Evaluation) -> Callable[[Array], Evaluation]:
        return lambda omega: value

    def at_first(value: Evaluation) -> Enclosure:
        return isolated(value_known(value), modes, own, first, others, log_at_zero)

    def stage(i: Array | int, state: tuple[Enclosure, Array]) -> tuple[Enclosure, Array]:
        e, passed = state
        trial = xp.where(i == 0, first, trial_frequency(e, *place(i - 1 + skipped)))
        along = xp.where(i < last - 1, 1.0, xp.where(i == last, 0.0, -1.0))
        value = evaluate(trial, (along, xp.where(i == last, 1.0, 0.0)))
        start, later = at_first(value), advanced(e, modes, trial, value_known(value), None, others)
        later = dataclasses.replace(
            later,
            omega=xp.where(i == last, e.omega, later.omega),
            error=xp.where(i == last, xp.maximum(e.error, later.error), later.error),
        )
        found: Enclosure = jax.tree_util.tree_map(lambda x, y: xp.where(i == 0, x, y), start, later)
        return found, xp.where(i == 0, value.count[-1].astype(passed.dtype), passed)

    nothing = xp.zeros_like(own)
    start = at_first(Evaluation(nothing, nothing, nothing, nothing)), nothing[-1]
    return repeat(0, last + 1, stage, start, tree_on_host(guess, modes))
