"""The constants of one simple mode at a natural frequency, by elimination along the arm and inverse iteration.

The conditions of the arm (`eigenspaces.end_conditions`) couple each link with its neighbours only. Elimination with
partial pivoting goes from the base to the tip, nine rows at a time, and costs O(n); three solutions with it, each
from the one before, give the null vector. No decomposition of a whole matrix is needed, and everything is
elementwise in many modes side by side. `eigenspaces` serves repeated frequencies, and derivatives.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmodal.arm import BeamArrays
from jaxmodal.beams import Theory
from jaxmodal.eigenspaces import end_conditions, opposed, power_of_two, with_heavy_bodies
from jaxmodal.fields import link_fields, link_motion
from jaxmodal.modal_mass import ModeFields, mass_coordinates, quadrature

#: where the sizes of the fields along a link are looked at, beside its ends
_PLACES = (0.0, 1.0, 0.17, 0.31, 0.44, 0.59, 0.73, 0.86)
#: pivots are at least this, of entries near one
_TINY = 1e-18
_ITERATIONS = 3


class _Blocks(NamedTuple):
    """Matrices (n, 6, 6) of the conditions as `end_conditions` lists them, or their scales."""

    own: Array
    previous: Array
    following: Array


class _Step(NamedTuple):
    """What the elimination of the six constants of a link leaves, an entry for each link.

    Attributes
    ----------
    chosen : Array, shape (n, 6, 9)
        One-hot: the pivot row of each column.
    factors : Array, shape (n, 6, 9)
        Multiples of the pivot row that were taken off the other rows.
    pivot_rows : Array, shape (n, 6, 12)
        The pivot rows.
    kept : Array, shape (n, 3, 9)
        One-hot: the rows that go on to the next link.
    """

    chosen: Array
    factors: Array
    pivot_rows: Array
    kept: Array


def simple_mode(beams: BeamArrays, theory: Theory, omega: Array, num_points: int) -> ModeFields:
    """Fields of the mode at a simple natural frequency, mass-normalised; its sign is arbitrary.

    Parameters
    ----------
    beams : BeamArrays
        Values of the n links.
    theory : Theory
        Flags of the theory.
    omega : Array
        A natural frequency in rad/s, well apart from the others.
    num_points : int
        Number of quadrature nodes, see `modal_mass.quadrature_size`.

    Returns
    -------
    ModeFields
        As from `eigenspaces.eigenspace`; not for differentiation.
    """
    constants = _null_vector(beams, theory, omega)
    nodes = np.concatenate([[0.0], quadrature(num_points)[0], [1.0]])
    motion = jax.vmap(link_motion, in_axes=(0, None, None, None, 0))
    fields = jnp.swapaxes(motion(beams, theory, omega, jnp.asarray(nodes), constants), 1, 2)
    fields = with_heavy_bodies(beams, omega, fields, num_points + 1)
    mode = ModeFields(fields[:, 0], fields[:, 1:-1], fields[:, -1])
    coordinates = mass_coordinates(beams, theory, mode)
    size = jnp.sqrt(jnp.sum(coordinates * coordinates))
    scaled: ModeFields = jax.tree_util.tree_map(lambda x: x / size, mode)
    return scaled


def _null_vector(beams: BeamArrays, theory: Theory, omega: Array) -> Array:
    """Constants of the links, (n, 6), that meet all conditions.

    The residual that the rounding of the frequency leaves goes where a change of frequency would put it, as in
    `eigenspaces`.
    """
    xi = jnp.array(_PLACES)

    def rows(omega: Array) -> Array:
        of_links = jax.vmap(link_fields, in_axes=(0, None, None, None))
        found: Array = of_links(beams, theory, omega, xi[:2])
        return found

    def blocks(omega: Array) -> _Blocks:
        ends = rows(omega)
        return _Blocks(*end_conditions(beams, omega, ends[:, 0], ends[:, 1]))

    matrix, slope = jax.jvp(blocks, (omega,), (jnp.ones_like(omega),))
    along = jax.vmap(link_fields, in_axes=(0, None, None, None))(beams, theory, omega, xi)
    row, column = _scales(beams, omega, jnp.max(jnp.abs(along), axis=1))
    matrix, slope = (_scaled(x, row, column) for x in (matrix, slope))
    steps = _eliminated(matrix)
    n = beams.length.shape[0]
    # a right-hand side without symmetry
    vector = _unit(
        _solved(steps, jnp.asarray(1.0 + 0.5 * np.sin(1.0 + np.arange(6.0 * n))).reshape(n, 6))
    )
    for _ in range(_ITERATIONS - 1):
        target = _times(slope, vector)
        solution = _solved(steps, target)
        size = jnp.max(jnp.abs(solution))
        vector, target = solution / size, target / size
    # one refinement makes the residual of each condition small beside its own terms
    vector = vector + _solved(steps, target - _times(matrix, vector))
    return vector * column


def _unit(x: Array) -> Array:
    return x / jnp.max(jnp.abs(x))


def _scales(beams: BeamArrays, omega: Array, amplitudes: Array) -> tuple[Array, Array]:
    """Powers of two for rows and columns, (n, 6) each; see `eigenspaces.equilibration`."""
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
    """Entries of the link before (1) or after (-1); zero where there is none."""
    moved = jnp.roll(x, by, axis=0)
    return moved.at[0 if by > 0 else -1].set(0.0)


def _over_neighbours(x: _Blocks) -> Array:
    """The largest of what the links put into each row."""
    return jnp.maximum(x.own, jnp.maximum(_shifted(x.previous, 1), _shifted(x.following, -1)))


def _scaled(x: _Blocks, row: Array, column: Array) -> _Blocks:
    scales = (row, _shifted(row, -1), _shifted(row, 1))
    return _Blocks(
        *(b * r[:, :, None] * column[:, None, :] for b, r in zip(x, scales, strict=True))
    )


def _times(x: _Blocks, vector: Array) -> Array:
    """The matrix times a vector (n, 6)."""
    own, previous, following = (jnp.einsum("nij,nj->ni", block, vector) for block in x)
    return own + _shifted(previous, 1) + _shifted(following, -1)


def _eliminated(x: _Blocks) -> _Step:
    """Elimination from the base to the tip.

    Link i has nine rows: three that are left from before, the balance at its tip, the continuity at the next
    joint; the last link has no next joint, and those rows are never chosen.
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
    return jnp.where(jnp.abs(pivot) < _TINY, _TINY, pivot)


def _solved(steps: _Step, target: Array) -> Array:
    """The solution (n, 6) for the right-hand side (n, 6)."""

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
