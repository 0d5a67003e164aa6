"""Float64 program for many arms in space, and estimates for the next search."""

from __future__ import annotations

import functools

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.batches.kernels import block_by_block
from jaxmodal.batches.looped_search import enclose_in_a_loop
from jaxmodal.batches.pilots import Guess
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.stiffness.condensation import evaluate_lanes
from jaxmodal.spatial.stiffness.uniform_links import Layout


@functools.partial(jax.jit, static_argnames=("layout", "modes", "blocks"))
def enclosed_in_space(
    flags: Theory,
    log_at_zero: Array,
    packed: Array,
    scale: Array,
    features: Array,
    rough: Array,
    guess: Guess,
    skipped: Array,
    used: Array,
    *,
    layout: Layout,
    modes: int,
    blocks: int,
) -> tuple[Array, Enclosure, Array]:
    """Return start values and enclosures of the first modes, for the first ``used`` of several ``blocks`` of cells.

    The third result, (cells,), is True for arms with no known further mode close above the last.

    Parameters
    ----------
    flags, log_at_zero
        Common to all cells.
    skipped
        Number of skipped evaluations, see `looped_search.enclose_in_a_loop`.
    packed, scale : Array, shapes (fields, links, cells) and (cells,)
        From `uniform_links.packed_links` and `SpatialModel.scales`.
    features, guess : Array, shape (features, cells), and Guess
        Data of the guess, used if nothing is skipped.
    rough : Array, shape (modes + EXTRA, cells)
        Frequencies in rad/s, ascending: the start if evaluations are skipped.
    """
    numbers = np.arange(1.0, modes + 1.0)[:, None]

    def block(lanes: tuple[Array, Array, Array, Array]) -> tuple[Array, Enclosure, Array]:
        links, lowest, of_cells, known = lanes
        start = xp.where(skipped > 0, known, guess.frequencies(of_cells))

        def evaluate(omega: Array, rounding: tuple[Array, Array]) -> Evaluation:
            at = resolved(lowest[None], omega, Arithmetic.float64)
            return evaluate_lanes(links[:, :, None], layout, flags, at, rounding)

        e, passed = enclose_in_a_loop(evaluate, numbers, start, log_at_zero, skipped)
        return start, e, passed == modes

    lanes = packed, scale, features, rough
    found: tuple[Array, Enclosure, Array] = block_by_block(block, blocks, used, lanes)
    return found


def next_guess(e: Enclosure, rough: np.ndarray) -> np.ndarray:
    """Return ascending estimates (modes + EXTRA, cells) for another search of the same cells.

    Brackets of several modes are divided into as many parts.
    """
    modes = e.omega.shape[0]
    ends, counts = (
        np.concatenate([e.lower, e.upper]),
        np.concatenate([e.lower_count, e.upper_count]),
    )
    own = np.empty_like(e.omega)
    for k in range(modes):  # ends of other modes may be closer
        passed = counts >= k + 1.0
        below, above = np.where(passed, -np.inf, ends), np.where(passed, ends, np.inf)
        low, high = np.argmax(below, axis=0)[None], np.argmin(above, axis=0)[None]
        lower, upper = (np.take_along_axis(ends, at, axis=0)[0] for at in (low, high))
        first, last = (np.take_along_axis(counts, at, axis=0)[0] for at in (low, high))
        lower, place = np.maximum(lower, upper * 2.0**-8), k + 1.0 - first
        cut = lower * (upper / lower) ** ((place - 0.5) / (last - first))
        cut = np.where(last > 2.0**52, lower * 1.2**place, cut)
        inside = (lower < e.omega[k]) & (e.omega[k] < upper)
        own[k] = np.where((last - first == 1.0) & inside, e.omega[k], cut)
    own = np.where(np.isfinite(own) & (own > 0.0), own, rough[:modes])
    steps = 1.0 + np.array([2.0**-50] * modes + [0.02] * (rough.shape[0] - modes))
    found = np.concatenate([own, rough[modes:]])
    for k in range(1, len(found)):
        found[k] = np.maximum(found[k], found[k - 1] * steps[k])
    return found
