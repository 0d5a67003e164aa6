"""Operations on a block of cells in float64 or double-double: functions, and compiled programs of them.

Programs depend only on shapes (number of links and modes) and on whether there are features or free hinges. The arm and
its varying values are converted to columns before (`arm.columns`). Cells are the last axis: beams have shape
(links, 1, cells), frequencies (modes, cells).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.columns import unpacked
from jaxmodal.batches.guided_search import enclose, improve
from jaxmodal.batches.pilots import Guess
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName
from jaxmodal.dynamic_stiffness.condensation import evaluate, log_at_zero
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.dynamic_stiffness.link_constants import link_constants
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.frequencies.one_arm import solve_beams
from jaxmodal.frequencies.resolution import resolved, starting_scale
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.root_search import find_brackets, grid_trials
from jaxmodal.frequencies.zero_modes import without_zero_modes
from jaxmodal.runtime.namespace import Array, once, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: number of further modes in the guess of pilots, for the interpolation of the last modes
EXTRA = 5
#: relative width of enclosures without a guess, and most rounds: six evaluations then finish the search
_GRID_WIDTH, _GRID_ROUNDS = 1e-5, 60


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class BatchProblem:
    """Common data of all blocks of one call: the theory and the number of modes sought in each cell.

    ``hinged`` is True if a cell has a free hinge; modes are then numbered from the first that vibrates.
    """

    flags: Theory
    modes: int = dataclasses.field(metadata={"static": True})
    hinged: bool = dataclasses.field(default=False, metadata={"static": True})


def _row(packed: Array) -> BeamArrays:
    """Return beams of shape (links, 1, cells)."""
    return jax.tree_util.tree_map(lambda x: x[:, None], unpacked(packed))


def _evaluator(
    problem: BatchProblem, beams: BeamArrays, arithmetic: Arithmetic = Arithmetic.float64
) -> Callable[[Array], Evaluation]:
    """Return a function for determinant and count at frequencies, without the zero frequencies of free joints."""
    free = number_of_zero_modes(beams) if problem.hinged else None
    extended = arithmetic is Arithmetic.double_double
    links = beams if extended else once(link_constants(beams, problem.flags))

    def at(omega: Array) -> Evaluation:
        if extended:
            omega = resolved(starting_scale(beams), omega, arithmetic)
        value = evaluate(links, problem.flags, omega, arithmetic)
        return value if free is None else without_zero_modes(value, free, omega)

    return at


class Start(NamedTuple):
    """Rough frequencies, shape (modes + EXTRA, cells), and the number of their evaluations, shape (cells,)."""

    rough: Array
    evaluations: Array


def search_from_grid(problem: BatchProblem, packed: Array) -> Start:
    """Return rough frequencies of cells by a search from a grid."""
    beams = _row(packed)
    first = grid_trials(starting_scale(beams), problem.modes + EXTRA)
    numbers = np.arange(1, problem.modes + EXTRA + 1)[:, None]
    zero = log_at_zero(beams.length.shape[0])
    b = find_brackets(
        _evaluator(problem, beams), numbers, first, first, zero, _GRID_WIDTH, _GRID_ROUNDS
    )
    return Start(b.estimate, xp.sum(b.evaluations, axis=0).astype(np.int64))


grid_guess = jax.jit(search_from_grid)


def enclose_block(problem: BatchProblem, beams: BeamArrays, rough: Array) -> Enclosure:
    """Return enclosures from roughly known frequencies by six evaluations per mode."""
    numbers, zero = np.arange(1.0, problem.modes + 1.0)[:, None], log_at_zero(beams.length.shape[0])
    return enclose(_evaluator(problem, beams), numbers, rough, zero)


enclosed = jax.jit(enclose_block)


class Encloser(Protocol):
    """Protocol of `enclosed` and similar programs; hashable."""

    def enclosed(self, problem: BatchProblem, beams: BeamArrays, rough: Array) -> Enclosure:
        """Return enclosures from roughly known frequencies."""
        ...


def block_by_block(block: Callable[[Any], Any], blocks: int, used: Array, lanes: Any) -> Any:
    """Return results of ``block`` for the first ``used`` of ``blocks`` blocks, the last axis over all lanes."""
    if blocks == 1:
        return block(lanes)

    @functools.partial(jax.jit, inline=True)  # traced once for its shapes and for the loop
    def part(lanes: Any, i: Array) -> Any:
        def of(x: Array) -> Array:
            apart = x.reshape(*x.shape[:-1], blocks, x.shape[-1] // blocks)
            return lax.dynamic_index_in_dim(apart, i, -2, keepdims=False)

        return block(jax.tree_util.tree_map(of, lanes))

    def add(i: Array, found: Any) -> Any:
        put = functools.partial(lax.dynamic_update_index_in_dim, index=i, axis=0)
        # the loop index has a weak type, which would cause a second trace
        return jax.tree_util.tree_map(put, found, part(lanes, jnp.asarray(i, used.dtype)))

    shapes = jax.eval_shape(part, lanes, used)
    empty = jax.tree_util.tree_map(lambda x: jnp.zeros((blocks, *x.shape), x.dtype), shapes)
    found = lax.fori_loop(0, used, add, empty)
    return jax.tree_util.tree_map(
        lambda x: jnp.moveaxis(x, 0, -2).reshape((*x.shape[1:-1], -1)), found
    )


def search_block(
    problem: BatchProblem,
    packed: Array,
    features: Array | None,
    guess: Guess | None,
    kernel: Encloser,
) -> tuple[Start, Enclosure]:
    """Return guessed frequencies of cells (without a guess, from `search_from_grid`), and the kernel's enclosures."""
    if guess is None or features is None:
        start = search_from_grid(problem, packed)
    else:
        start = Start(guess.frequencies(features), np.zeros(packed.shape[-1], np.int64))
    return start, kernel.enclosed(problem, _row(packed), start.rough)


def improve_block(
    problem: BatchProblem,
    packed: Array,
    e: Enclosure,
    modes: Array,
    omegas: Array,
    beyond: Array,
    purpose: Array,
) -> Enclosure:
    """Return enclosures of single open modes after `improve`; fields have shape (lanes,).

    ``packed`` has the columns of each lane's cell, ``modes`` the mode numbers, ``omegas`` and ``beyond`` all
    frequencies of each lane's cell and the estimates above, shapes (modes, lanes) and (EXTRA, lanes).
    """
    row = jax.tree_util.tree_map(lambda x: x[None], e)
    better = improve(row, _evaluator(problem, _row(packed)), modes[None], omegas, beyond, purpose)
    found: Enclosure = jax.tree_util.tree_map(lambda x: x[0], better)
    return found


def extend_block(problem: BatchProblem, packed: Array, omega: Array) -> Evaluation:
    """Return D and count in double-double at one frequency per cell; ``omega`` has shape (cells,)."""
    return _evaluator(problem, unpacked(packed), Arithmetic.double_double)(omega)


@functools.partial(jax.jit, static_argnames=("kernel", "blocks"))
def searched(
    problem: BatchProblem,
    lanes: tuple[Array, Array | None],
    used: Array,
    guess: Guess | None,
    *,
    kernel: Encloser,
    blocks: int,
) -> tuple[Start, Enclosure]:
    """Return `search_block` for the first ``used`` of several ``blocks``; ``lanes`` are columns and features."""

    def block(lanes: tuple[Array, Array | None]) -> tuple[Start, Enclosure]:
        return search_block(problem, *lanes, guess, kernel)

    found: tuple[Start, Enclosure] = block_by_block(block, blocks, used, lanes)
    return found


#: lanes of `improve_block`: columns, enclosures, mode numbers, ``omegas`` and ``beyond``
OpenLanes = tuple[Array, Enclosure, Array, Array, Array]


@functools.partial(jax.jit, static_argnames=("blocks",))
def improved(
    problem: BatchProblem, lanes: OpenLanes, used: Array, purpose: Array, *, blocks: int
) -> Enclosure:
    """Return `improve_block` for the first ``used`` of several ``blocks``."""

    def block(lanes: OpenLanes) -> Enclosure:
        return improve_block(problem, *lanes, purpose)

    found: Enclosure = block_by_block(block, blocks, used, lanes)
    return found


@functools.partial(jax.jit, static_argnames=("blocks",))
def extended(
    problem: BatchProblem, lanes: tuple[Array, Array], used: Array, *, blocks: int
) -> Evaluation:
    """Return `extend_block` for the first ``used`` of several ``blocks``; ``lanes`` are columns and frequencies."""

    def block(lanes: tuple[Array, Array]) -> Evaluation:
        return extend_block(problem, *lanes)

    found: Evaluation = block_by_block(block, blocks, used, lanes)
    return found


@functools.partial(jax.jit, static_argnames=("modes", "theory"))
def exact(flags: Theory, packed: Array, *, modes: int, theory: TheoryName) -> NaturalFrequencies:
    """Return the results of the general search of `natural_frequencies`, (cells, modes), with zero frequencies."""

    def one(cell: Array) -> NaturalFrequencies:
        return solve_beams(unpacked(cell), flags, modes, theory)

    return jax.vmap(one, in_axes=-1)(packed)
