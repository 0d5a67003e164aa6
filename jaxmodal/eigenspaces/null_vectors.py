"""Constants of one simple mode at a natural frequency, by elimination along the arm and inverse iteration.

The conditions of the arm (`null_spaces.end_conditions`) couple each link only with its neighbours. Elimination with
partial pivoting proceeds from the base to the tip, nine rows at a time, and costs O(n). Three solutions with it, each
starting from the previous one, give the null vector. No decomposition of a whole matrix is needed, and everything is
elementwise for many modes at once. `null_spaces` handles repeated frequencies and derivatives.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmodal.dynamic_stiffness.attachments import opposed
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.fields import field_sizes, link_fields
from jaxmodal.eigenspaces.null_spaces import end_conditions, power_of_two
from jaxmodal.statics.beam_arrays import BeamArrays

#: where the sizes of the fields along a link are looked at
_PLACES = (0.0, 0.31, 0.59, 0.83, 1.0)
#: pivots are at least this, of entries near one: far enough above rounding that two solutions agree
_TINY = 1e-13
_ITERATIONS = 3
_CORRECTIONS = 6


class _Blocks(NamedTuple):
    """Matrices (n, 6, 6) of the conditions in the layout of `end_conditions`, or their scales."""

    own: Array
    previous: Array
    following: Array


class _Step(NamedTuple):
    """Result of the elimination of the six constants of a link, with an entry for each link.

    Attributes
    ----------
    chosen : Array, shape (n, 6, 9)
        One-hot: the pivot row of each column.
    factors : Array, shape (n, 6, 9)
        Multiples of the pivot row that were subtracted from the other rows.
    pivot_rows : Array, shape (n, 6, 12)
        The pivot rows.
    kept : Array, shape (n, 3, 9)
        One-hot: the rows that are passed on to the next link.
    """

    chosen: Array
    factors: Array
    pivot_rows: Array
    kept: Array


def null_vector(beams: BeamArrays, theory: Theory, omega: Array) -> tuple[Array, Array]:
    """Return constants of the links, (n, 6), that satisfy all conditions at a simple natural frequency.

    Amplitude and sign are arbitrary.

    Parameters
    ----------
    omega : Array
        A natural frequency in rad/s, well separated from the others.

    Returns
    -------
    constants : Array, shape (n, 6)
    change : Array
        Change in the last correction relative to the largest constant, both in the scaled system. If it is small, the
        corrections have converged, and so has the residual of every condition.

    Notes
    -----
    The residual left by the rounding of the frequency is placed as in `null_spaces`. Not for differentiation.
    """
    ends_at, places = jnp.array([0.0, 1.0]), jnp.array(_PLACES)

    def blocks(omega: Array) -> _Blocks:
        of_links = jax.vmap(link_fields, in_axes=(0, None, None, None))
        ends = of_links(beams, theory, omega, ends_at)
        return _Blocks(*end_conditions(beams, omega, ends[:, 0], ends[:, 1]))

    matrix, slope = jax.jvp(blocks, (omega,), (jnp.ones_like(omega),))
    sizes = jax.vmap(field_sizes, in_axes=(0, None, None, None))(beams, theory, omega, places)
    row, column = _scales(beams, omega, sizes)
    matrix, slope = (_scaled(x, row, column) for x in (matrix, slope))
    steps = _eliminated(matrix)
    n = beams.length.shape[0]
    # a first right-hand side without symmetry
    first = jnp.asarray(1.0 + 0.5 * np.sin(1.0 + np.arange(6.0 * n))).reshape(n, 6)

    def improved(
        k: Array, state: tuple[Array, Array, Array, Array]
    ) -> tuple[Array, Array, Array, Array]:
        """Inverse iteration first; then corrections of the vector beside itself, with the shift that they need."""
        vector, target, shift, _ = state
        refined = k >= _ITERATIONS
        towards = jnp.where(k == 0, first, _times(slope, vector))
        target = jnp.where(refined, target, towards)
        given = jnp.where(refined, shift * target - _times(matrix, vector), target)
        solution = _solved(steps, given)
        share = jnp.sum(solution * vector) / jnp.maximum(jnp.sum(vector * vector), 1e-300)
        size = jnp.max(jnp.abs(solution))
        correction = solution - share * vector
        change = jnp.max(jnp.abs(correction)) / jnp.max(jnp.abs(vector))
        vector = jnp.where(refined, vector + correction, solution / size)
        return vector, target, jnp.where(refined, shift * (1.0 - share), 1.0 / size), change

    zero, none = jnp.zeros((n, 6)), jnp.float64(0.0)
    start = (zero, zero, none, none)
    last = lax.fori_loop(0, _ITERATIONS + _CORRECTIONS, improved, start)
    return last[0] * column, last[3]


def _scales(beams: BeamArrays, omega: Array, amplitudes: Array) -> tuple[Array, Array]:
    """Return powers of two for rows and columns, (n, 6) each; see `null_spaces.equilibration`."""
    terms = end_conditions(opposed(beams), omega, amplitudes, amplitudes, sizes=True)
    size = _Blocks(*(jnp.abs(x) for x in terms))
    row = column = jnp.ones(amplitudes.shape[:2])
    for _ in range(3):
        by_column = _Blocks(*(jnp.max(x * column[:, None, :], axis=2) for x in size))
        row = 1.0 / power_of_two(_over_neighbours(by_column))
        before, after = _shifted(row, 1), _shifted(row, -1)
        largest = jnp.maximum(
            jnp.max(size.own * row[:, :, None], axis=1),
            jnp.maximum(
                jnp.max(size.previous * after[:, :, None], axis=1),
                jnp.max(size.following * before[:, :, None], axis=1),
            ),
        )
        column = 1.0 / power_of_two(largest)
    return row, column


def _shifted(x: Array, by: int) -> Array:
    """Return entries of the previous link (1) or of the next one (-1); zero where there is none."""
    moved = jnp.roll(x, by, axis=0)
    return moved.at[0 if by > 0 else -1].set(0.0)


def _over_neighbours(x: _Blocks) -> Array:
    """Return the largest contribution of the links to each row."""
    return jnp.maximum(x.own, jnp.maximum(_shifted(x.previous, 1), _shifted(x.following, -1)))


def _scaled(x: _Blocks, row: Array, column: Array) -> _Blocks:
    scales = (row, _shifted(row, -1), _shifted(row, 1))
    return _Blocks(
        *(b * r[:, :, None] * column[:, None, :] for b, r in zip(x, scales, strict=True))
    )


def _times(x: _Blocks, vector: Array) -> Array:
    """Return the matrix times a vector (n, 6)."""
    own, previous, following = (jnp.einsum("nij,nj->ni", block, vector) for block in x)
    return own + _shifted(previous, 1) + _shifted(following, -1)


def _eliminated(x: _Blocks) -> _Step:
    """Eliminate from the base to the tip.

    Link i has nine rows: three that are left from before, the balance at its tip, and the continuity at the next joint.
    The last link has no next joint, and those rows are never chosen.
    """
    n = x.own.shape[0]
    after_own, after_following = jnp.roll(x.own, -1, axis=0), jnp.roll(x.following, -1, axis=0)
    tip = jnp.concatenate([x.own[:, 3:], after_following[:, 3:].at[-1].set(0.0)], axis=2)
    joint = jnp.concatenate([x.previous[:, :3], after_own[:, :3]], axis=2).at[-1].set(0.0)
    usable = jnp.ones((n, 9), bool).at[-1, 6:].set(False)

    def link(left: Array, rows: tuple[Array, Array, Array]) -> tuple[Array, _Step]:
        tip, joint, free = rows
        table = jnp.concatenate([jnp.concatenate([left, jnp.zeros_like(left)], axis=1), tip, joint])
        chosen, factors, pivot_rows = [], [], []
        for j in range(6):
            entries = table[:, j]
            at = jnp.argmax(jnp.where(free, jnp.abs(entries), -1.0))
            one = jnp.arange(9) == at
            row = jnp.sum(jnp.where(one[:, None], table, 0.0), axis=0)
            free = free & ~one
            factor = jnp.where(free, entries / _bounded(row[j]), 0.0)
            table = table - factor[:, None] * row[None, :]
            chosen.append(one.astype(table.dtype))
            factors.append(factor)
            pivot_rows.append(row)
        place = jnp.cumsum(free) - 1
        kept = (free[None, :] & (place[None, :] == jnp.arange(3)[:, None])).astype(table.dtype)
        step = _Step(jnp.stack(chosen), jnp.stack(factors), jnp.stack(pivot_rows), kept)
        return kept @ table[:, 6:], step

    _, steps = lax.scan(link, x.own[0, :3], (tip, joint, usable))
    found: _Step = steps
    return found


def _bounded(pivot: Array) -> Array:
    return jnp.where(jnp.abs(pivot) < _TINY, jnp.where(pivot < 0.0, -_TINY, _TINY), pivot)


def _solved(steps: _Step, target: Array) -> Array:
    """Return the solution (n, 6) for the right-hand side (n, 6)."""

    def forward(left: Array, given: tuple[_Step, Array, Array]) -> tuple[Array, Array]:
        step, tip, joint = given
        table = jnp.concatenate([left, tip, joint])
        values = []
        for j in range(6):
            value = jnp.sum(step.chosen[j] * table)
            table = table - step.factors[j] * value
            values.append(value)
        return step.kept @ table, jnp.stack(values)

    joint = _shifted(target[:, :3], -1)
    _, values = lax.scan(forward, target[0, :3], (steps, target[:, 3:], joint))

    def backward(after: Array, given: tuple[Array, Array]) -> tuple[Array, Array]:
        rows, value = given
        value = value - jnp.sum(rows[:, 6:] * after[None, :], axis=1)
        found = jnp.zeros(6)
        for j in reversed(range(6)):
            rest = value[j] - jnp.sum(rows[j, :6] * found)
            found = found.at[j].set(rest / _bounded(rows[j, j]))
        return found, found

    _, solution = lax.scan(backward, jnp.zeros(6), (steps.pivot_rows, values), reverse=True)
    answer: Array = solution
    return answer
