"""The six evaluations per mode of `guided_search` as one loop with one evaluation in it.

For arms whose evaluation is a long program: it is compiled once. The last evaluation is told apart, so that it can
round otherwise than those before; what it changes is then a measure of the rounding of both.
"""

from __future__ import annotations

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


def enclose_in_a_loop(
    evaluate: Callable[[Array, Array], Evaluation],
    modes: Array,
    guess: Array,
    log_at_zero: Array,
    skipped: Array,
) -> Enclosure:
    """As `guided_search.enclose`, less the first ``skipped`` evaluations at the estimate, of which there are two.

    ``evaluate`` takes frequencies, and whether it is for the last time. What is skipped may be traced.
    """
    known = modes.shape[0]
    others = Others(known, tuple(guess[known:, None]))
    own, first = guess[:known], separating_trials(guess, known)
    place = scheduled(SCHEDULE)

    def value_known(value: Evaluation) -> Callable[[Array], Evaluation]:
        return lambda omega: value

    def at_first(value: Evaluation) -> Enclosure:
        return isolated(value_known(value), modes, own, first, others, log_at_zero)

    def stage(i: Array | int, e: Enclosure) -> Enclosure:
        trial = xp.where(i == 0, first, trial_frequency(e, *place(i - 1 + skipped)))
        value = evaluate(trial, i == len(SCHEDULE) - skipped)
        start, later = at_first(value), advanced(e, modes, trial, value_known(value), None, others)
        found: Enclosure = jax.tree_util.tree_map(lambda x, y: xp.where(i == 0, x, y), start, later)
        return found

    nothing = xp.zeros_like(own)
    start = at_first(Evaluation(nothing, nothing, nothing, nothing))
    return repeat(0, len(SCHEDULE) + 1 - skipped, stage, start, tree_on_host(guess, modes))
