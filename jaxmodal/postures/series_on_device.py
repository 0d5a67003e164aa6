"""The first pass of the posture series with all that it finds on the device: to fetch it takes longer than to find it.

What it leaves open, a few in a hundred postures, goes the way of `series_passes`.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arm.quantities import ANGLE
from jaxmodal.postures.expansions import Counter
from jaxmodal.postures.series_results import judged
from jaxmodal.postures.series_roots import Panels, count_in, roots_in
from jaxmodal.postures.value_ranges import within
from jaxmodal.runtime.statuses import Status

#: postures of one block at the most, and coefficients of the panels' polynomials: two gigabytes
_POSTURES, _VALUES = 2**18, 2**28


def postures_of_a_block(panels: Panels, cells: int) -> int:
    """A power of two: few sizes, each a program of its own."""
    rows = sum(table.shape[0] for table in panels.table)
    most = min(_POSTURES, _VALUES // rows)
    return int(min(1 << (most.bit_length() - 1), 1 << (cells - 1).bit_length()))


@functools.partial(jax.jit, static_argnames=("modes", "intervals", "given", "rows"))
def first_pass(
    counter: Counter,
    panels: Panels,
    own: Array,
    values: Array,
    *,
    modes: int,
    intervals: int,
    given: tuple[int, ...],
    rows: tuple[int, ...] = (),
) -> tuple[dict[str, Array], Array]:
    """The fields of results, cells first, and the cells that are left open.

    Parameters
    ----------
    counter, panels
        As in `series_passes.Tables`.
    own : Array, shape (n,)
        Joint angles of the arm itself.
    values : Array, shape (addresses, cells)
        What the cells have at the addresses.
    given : tuple of int
        For every joint the row of ``values`` with its angles, -1 for its own.
    rows : tuple of int
        Rows of ``values`` that vary beside angles.
    """
    shape = values.shape[1:]
    angles = [values[k] if k >= 0 else jnp.broadcast_to(own[i], shape) for i, k in enumerate(given)]
    every = jnp.stack(angles)
    valid = jnp.all(ANGLE.holds(every), axis=0)
    places = jnp.concatenate([every[np.array(counter.joints, int)], values[np.array(rows, int)]])
    usable = valid & within(panels.ranges, places)
    places = jnp.where(usable[None], places, 0.0)
    roots = roots_in(
        places, panels, terms=counter.terms, modes=modes, intervals=intervals, safe=True
    )
    count, _ = count_in(counter, places)
    _, proven = judged(roots, count)
    proven &= usable
    numbers = jnp.broadcast_to(jnp.arange(modes, dtype=jnp.int32), roots.omega.shape)
    status = jnp.where(valid, int(Status.certified), int(Status.invalid_input))

    def where_valid(x: Array, otherwise: float | int) -> Array:
        each = valid.reshape(valid.shape + (1,) * (x.ndim - 1))
        return jnp.where(each, x, jnp.asarray(otherwise, x.dtype))

    found = {
        "omega": where_valid(roots.omega, np.nan),
        "status": jnp.broadcast_to(status.astype(jnp.uint8)[:, None], roots.omega.shape),
        "count_below": where_valid(numbers, 0),
        "count_above": where_valid(numbers + 1, 0),
        "bracket": where_valid(roots.bracket, np.nan),
        "group": numbers,
        "residual_ratio": where_valid(roots.residual_ratio, np.nan),
        "evaluations": where_valid(jnp.ones(shape, jnp.int32), 0),
        "by_sign_changes": jnp.broadcast_to((proven & valid)[:, None], roots.omega.shape),
    }
    return found, valid & ~proven
