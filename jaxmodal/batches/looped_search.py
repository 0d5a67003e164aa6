"""The six evaluations per mode of `guided_search`, and one more, as one loop with one evaluation in it.

For arms whose evaluation is a long program: it is compiled once. How many digits there are is measured by moving what
is rounded by some roundings more. The sixth evaluation moves it the other way than those before: in the estimate that
follows, between ends at both sides of the mode, that cancels, in the one before it does not. The seventh moves it in
another way and leaves the estimate as it is, as what one way does may be small by accident. The more of both changes is
what counts.
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

#: once more above the estimate, not where it was evaluated before
_SCHEDULE = [*SCHEDULE, (0.0, 0.6 * SCHEDULE[-1][1])]
#: how many evaluations that are for each mode
EVALUATIONS = len(_SCHEDULE) + 1


def enclose_in_a_loop(
    evaluate: Callable[[Array, tuple[Array, Array]], Evaluation],
    modes: Array,
    guess: Array,
    log_at_zero: Array,
    skipped: Array,
) -> tuple[Enclosure, Array]:
    """As `guided_search.enclose`, less the first ``skipped`` evaluations at the estimate, of which there are two.

    ``evaluate`` takes frequencies, and how much of two ways it is to move what it rounds. What is skipped may be
    traced. Also returned is how many modes the first trial beyond the last one passes, (arms,): where that is more than
    are sought, the next mode is nearer than ``guess`` says.
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
