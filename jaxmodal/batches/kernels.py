"""The compiled parts of the batch solver: what is done to a block of cells, float64 or double-double.

Cells are columns: arrays have shape (modes, cells), the values of the varied parameters (addresses, cells).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import BeamArrays, beam_arrays, invalid_values
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.batches.guided_search import Enclosure, enclose, improve
from jaxmodal.batches.pilots import Guess, fit
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import Evaluation, evaluate, log_at_zero
from jaxmodal.dynamic_stiffness.joints import number_of_hinges
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.root_search import find_brackets, grid_trials

#: modes beyond the last that pilots provide: they shape the interpolation of the last ones
EXTRA = 5
_GRID_ROUNDS = 60
#: cells that are searched from a grid to guess all others
_PILOTS = 256


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Problem:
    """What every block of one call shares: the arm, the theory and which of its parameters vary.

    ``hinged`` says whether any cell has a free hinge. Modes are then numbered from the first that vibrates.
    """

    arm: Arm
    flags: Theory
    addresses: tuple[str, ...] = dataclasses.field(metadata={"static": True})
    modes: int = dataclasses.field(metadata={"static": True})
    hinged: bool = dataclasses.field(default=False, metadata={"static": True})


def _cell_beams(problem: Problem, values: Array) -> tuple[BeamArrays, Array]:
    """Beams of shape (n, 1, cells) and which cells are invalid."""

    def one(cell: Array) -> tuple[BeamArrays, Array]:
        varied = set_parameters(problem.arm, dict(zip(problem.addresses, cell, strict=True)))
        return beam_arrays(varied), jnp.asarray(invalid_values(varied))

    beams, invalid = jax.vmap(one, in_axes=1)(values)
    beams = jax.tree_util.tree_map(lambda x: jnp.where(invalid, 1.0, x.T)[:, None], beams)
    return beams, invalid


def _evaluate(problem: Problem, beams: BeamArrays, omega: Array, extended: bool) -> Evaluation:
    """Determinant and count, the zero frequencies of free hinges divided out and not counted."""
    value = evaluate(beams, problem.flags, omega, extended)
    if not problem.hinged:
        return value
    return without_hinges(value, number_of_hinges(beams, beams.length.shape[0]), omega)


def without_hinges(value: Evaluation, free: Array, omega: Array) -> Evaluation:
    """``value`` with the zero frequencies of ``free`` hinges, int64, divided out and not counted."""
    return dataclasses.replace(
        value,
        sign=jnp.where(free % 2 == 0, value.sign, -value.sign),
        log_abs=value.log_abs - 2.0 * free.astype(omega.dtype) * jnp.log(omega),
        count=value.count - free,
    )


def _float64(problem: Problem, beams: BeamArrays) -> Callable[[Array], Evaluation]:
    return lambda omega: _evaluate(problem, beams, omega, False)


def _numbers(problem: Problem) -> Array:
    return jnp.arange(1.0, problem.modes + 1.0)[:, None]


class Start(NamedTuple):
    """What the enclosure of cells starts from.

    Beams of shape (n, 1, cells), which cells are invalid, shape (cells,), rough frequencies, shape (modes + EXTRA,
    cells), and how many evaluations these took, shape (cells,).
    """

    beams: BeamArrays
    invalid: Array
    rough: Array
    evaluations: Array


@jax.jit
def first_guess(problem: Problem, values: Array, guess: Guess) -> Start:
    """What the enclosure starts from, the frequencies guessed."""
    beams, invalid = _cell_beams(problem, values)
    none = jnp.zeros(invalid.shape, jnp.int64)
    return Start(beams, invalid, guess.frequencies(values), none)


@jax.jit
def grid_guess(problem: Problem, values: Array) -> Start:
    """As `first_guess`, but searched from a grid of frequencies."""
    beams, invalid = _cell_beams(problem, values)
    rigidity = beams.youngs_modulus * beams.second_moment / (beams.density * beams.area)
    scale = jnp.min(jnp.sqrt(rigidity) / (beams.length * beams.length), axis=(0, 1))
    first = grid_trials(scale, problem.modes + EXTRA)
    numbers = jnp.arange(1, problem.modes + EXTRA + 1)[:, None]
    zero = log_at_zero(beams.length.shape[0])
    b = find_brackets(_float64(problem, beams), numbers, first, first, zero, 1e-5, _GRID_ROUNDS)
    return Start(beams, invalid, b.estimate, jnp.sum(b.evaluations, axis=0).astype(jnp.int64))


def _at_once(work: Callable[[np.ndarray], Any], cells: np.ndarray) -> list[Any]:
    return [work(cells)]


def pilot_guess(
    problem: Problem,
    values: np.ndarray,
    free: np.ndarray,
    each: Callable[[Callable[[np.ndarray], Any], np.ndarray], list[Any]] = _at_once,
) -> Guess | None:
    """The guess from pilot cells, ``free`` hinges in each cell; None for batches too small to pay for them.

    ``each(work, cells)`` lists ``work`` on every part of the pilot cells, in their order.
    """
    cells = values.shape[1]
    if cells < 2 * _PILOTS:
        return None
    pilots = np.sort(np.random.default_rng(0).choice(cells, _PILOTS, replace=False))

    def solve(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = grid_guess(problem, jnp.asarray(values[:, at]))
        return np.asarray(found.invalid), np.asarray(found.rough)

    parts = each(solve, pilots)
    invalid, omega = (np.concatenate(x, axis=-1) for x in zip(*parts, strict=True))
    chosen = values[:, pilots]
    good = ~invalid & np.isfinite(chosen).all(axis=0) & np.isfinite(omega).all(axis=0)
    good &= free[pilots] == free.min()  # the frequencies with a hinge are no limit of those without
    if good.sum() < 8:
        return None
    return fit(chosen[:, good], omega[:, good], problem.addresses)


@jax.jit
def enclosed(problem: Problem, beams: BeamArrays, rough: Array) -> Enclosure:
    """Enclosures from roughly known frequencies, by six evaluations per mode."""
    zero = log_at_zero(beams.length.shape[0])
    return enclose(_float64(problem, beams), _numbers(problem), rough, zero)


class Encloser(Protocol):
    """`enclosed` or a program like it; hashable."""

    def enclosed(self, problem: Problem, beams: BeamArrays, rough: Array) -> Enclosure:
        """Enclosures from roughly known frequencies."""
        ...


def _block_by_block(block: Callable[[Any], Any], blocks: int, used: Array, lanes: Any) -> Any:
    """What ``block`` makes of each of the first ``used`` of so many ``blocks``, the last axis over the lanes of all."""
    if blocks == 1:
        return block(lanes)

    def part(i: Array) -> Any:
        def of(x: Array) -> Array:
            apart = x.reshape(*x.shape[:-1], blocks, x.shape[-1] // blocks)
            return lax.dynamic_index_in_dim(apart, i, -2, keepdims=False)

        return block(jax.tree_util.tree_map(of, lanes))

    def add(i: Array, found: Any) -> Any:
        put = functools.partial(lax.dynamic_update_index_in_dim, index=i, axis=0)
        return jax.tree_util.tree_map(put, found, part(i))

    shapes = jax.eval_shape(part, used)
    empty = jax.tree_util.tree_map(lambda x: jnp.zeros((blocks, *x.shape), x.dtype), shapes)
    found = lax.fori_loop(0, used, add, empty)
    return jax.tree_util.tree_map(
        lambda x: jnp.moveaxis(x, 0, -2).reshape((*x.shape[1:-1], -1)), found
    )


@functools.partial(jax.jit, static_argnames=("kernel", "blocks"))
def searched(
    problem: Problem,
    values: Array,
    used: Array,
    guess: Guess | None,
    *,
    kernel: Encloser,
    blocks: int,
) -> tuple[Array, Array, Array, Enclosure]:
    """`first_guess`, without a guess `grid_guess`, and the kernel's `enclosed` of several blocks of cells in turn.

    ``values`` has shape (addresses, cells of all blocks); the first ``used`` blocks are solved. Returns which cells are
    invalid, the rough frequencies, how many evaluations these took, and the enclosures.
    """

    def block(values: Array) -> tuple[Array, Array, Array, Enclosure]:
        begin = functools.partial(first_guess, guess=guess) if guess is not None else grid_guess
        start = begin(problem, values)
        found = kernel.enclosed(problem, start.beams, start.rough)
        return start.invalid, start.rough, start.evaluations, found

    found: tuple[Array, Array, Array, Enclosure] = _block_by_block(block, blocks, used, values)
    return found


@functools.partial(jax.jit, static_argnames=("blocks",))
def improved(
    problem: Problem,
    values: Array,
    e: Enclosure,
    modes: Array,
    omegas: Array,
    rough: Array,
    purpose: Array,
    used: Array,
    *,
    blocks: int,
) -> Enclosure:
    """Enclosures of single modes that were left open, after the evaluations of `improve`; fields of shape (lanes,).

    ``values`` has shape (addresses, lanes of all blocks), ``modes`` holds the mode numbers, ``omegas`` and ``rough``
    all frequencies of each lane's cell, shape (modes, lanes) and (modes + EXTRA, lanes). The first ``used`` blocks are
    improved.
    """

    def block(lanes: tuple[Array, Enclosure, Array, Array, Array]) -> Enclosure:
        beams, _ = _cell_beams(problem, lanes[0])
        row = jax.tree_util.tree_map(lambda x: x[None], lanes[1])
        known = lanes[2][None], *lanes[3:]
        better = improve(row, _float64(problem, beams), *known, purpose)
        return jax.tree_util.tree_map(lambda x: x[0], better)

    found: Enclosure = _block_by_block(block, blocks, used, (values, e, modes, omegas, rough))
    return found


@functools.partial(jax.jit, static_argnames=("blocks",))
def extended(
    problem: Problem, values: Array, omega: Array, used: Array, *, blocks: int
) -> tuple[Array, Array, Array]:
    """Sign of D, log|D| and count in double-double at one frequency of each cell: ``omega`` has shape (cells,).

    The cells are those of ``blocks`` blocks, of which the first ``used`` are evaluated.
    """

    def block(lanes: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        beams, _ = _cell_beams(problem, lanes[0])
        rows = jax.tree_util.tree_map(lambda x: x[:, 0], beams)
        value = _evaluate(problem, rows, lanes[1], True)
        return value.sign, value.log_abs, value.count

    found: tuple[Array, Array, Array] = _block_by_block(block, blocks, used, (values, omega))
    return found


@functools.partial(jax.jit, static_argnames=("theory",))
def exact(problem: Problem, values: Array, *, theory: str) -> NaturalFrequencies:
    """The general search of `natural_frequencies`, of shape (cells, modes)."""

    def one(cell: Array) -> NaturalFrequencies:
        varied = set_parameters(problem.arm, dict(zip(problem.addresses, cell, strict=True)))
        return natural_frequencies(varied, problem.modes, theory)

    return jax.vmap(one, in_axes=1)(values)
