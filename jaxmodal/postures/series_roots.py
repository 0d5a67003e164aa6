"""Roots of a posture series in a block of postures at once, in NumPy or as one compiled program.

Cells (postures) are the last axis: the coefficients of the polynomials of all panels are a matrix product, of shape
(panels d, cells).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.postures.changes_of_sign import (
    Changes,
    changes_of_sign,
    dips,
    first_intervals,
    separators,
)
from jaxmodal.postures.combinations import Combinations, combined, in_groups, products
from jaxmodal.postures.expansions import Counter
from jaxmodal.postures.newton import zeros_in_brackets
from jaxmodal.postures.series import DEGREES, PostureSeries
from jaxmodal.postures.terms import Terms
from jaxmodal.postures.value_ranges import Ranges, scaled
from jaxmodal.runtime.namespace import Array, on_host, once, product, xp

#: Halley's steps on a panel's polynomial, from the middle of an interval, and Newton's after one of these that cannot
#: leave the interval
_STEPS, _SAFE_STEPS = 3, 12
#: the last step, in units of half a panel, after which the remainder of Newton's method is below rounding
_LAST_STEP = 1e-8
#: a root may leave its interval by so many half panels: by rounding, and far less than neighbours are apart
_EDGE = 1e-9
#: half-width of an enclosure, relative to omega, at the least, and at most
_NARROW, WIDEST = 2.5e-13, 1e-12
#: an enclosure is wider than the noise by this factor: D is beyond the error of the series at both ends
_MARGIN = 2.5
#: the count is taken where D is no smaller than this share of its size
_CLEAR = 1e-6
#: cells that a program counts at a time
_COUNTED = 256
#: of no interval
_NOWHERE = np.int32(2**30)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Panels:
    """The polynomials of all panels: ``table`` (panels d, R) of each group; centre and half-width of each panel, (P,).

    Errors of values in a cell are sums of ``error``, (P, polynomials), with its `Terms.weights`. The sign at the last
    separator, or the count there, is certain from such a sum of ``weakest``, (1, polynomials), on.
    ``combinations`` say what tables are of, None where they are of the terms; ``ranges`` where values lie that vary
    beside angles.
    """

    table: tuple[Array, ...]
    centre: Array
    half: Array
    error: Array
    weakest: Array
    combinations: Combinations | None = None
    ranges: Ranges | None = None


def panels_of(
    series: PostureSeries,
    combinations: Combinations | None = None,
    ranges: Ranges | None = None,
) -> Panels:
    """The polynomials of a series as tables."""
    edges = np.asarray(series.edges)
    parts = in_groups(combinations, np.asarray(series.taylor))
    error, size = (np.asarray(x).reshape(edges.size - 1, -1) for x in (series.error, series.size))
    return Panels(
        table=tuple(part.reshape(-1, part.shape[2]) for part in parts),
        centre=0.5 * (edges[1:] + edges[:-1]),
        half=0.5 * np.diff(edges),
        error=error,
        weakest=np.maximum(error[-1:], _CLEAR * size[-1:]),
        combinations=combinations,
        ranges=ranges,
    )


class Roots(NamedTuple):
    """Frequencies of a block of cells.

    Attributes
    ----------
    omega : Array, shape (cells, modes)
        Frequencies in rad/s.
    bracket : Array, shape (cells, modes, 2)
        Ends of an enclosure, at which D is beyond the error of the series; infinite where there is none.
    residual_ratio : Array, shape (cells, modes)
        Relative rounding noise of a frequency in roundings, float32.
    number : Array, shape (cells,)
        Changes of sign below the last separator. Where that is the count there, each interval with one holds one mode.
    apart : Array, shape (cells,)
        Every sign is certain, and no two enclosures touch.
    narrow : Array, shape (cells,)
        No enclosure is wider than `WIDEST`.
    width : Array, shape (cells, modes)
        Relative half-widths of enclosures, of a ``safe`` search; else of shape (cells, 0).
    """

    omega: Array
    bracket: Array
    residual_ratio: Array
    number: Array
    apart: Array
    narrow: Array
    width: Array


def roots_in(
    places: Array,
    panels: Panels,
    *,
    terms: Terms,
    modes: int,
    intervals: int,
    safe: bool,
) -> Roots:
    """The lowest ``modes`` roots at the ``places`` of cells (joints + values, cells).

    There are so many ``intervals`` between the separators of a panel. ``safe`` takes more steps, which never leave an
    interval, and looks for two roots in one where D has an extreme value towards 0.
    """
    places = scaled(panels.ranges, places)
    groups = combined(panels.combinations, terms.of(places))
    polynomials = once(products(panels.table, groups))
    weakest, error = panels.weakest, panels.error
    if terms.powers:
        weights = once(terms.weights(places))
        weakest, error = once((product(weakest, weights), product(error, weights)))
    a = polynomials.reshape(-1, DEGREES, polynomials.shape[1])
    changes = changes_of_sign(a, error, weakest, intervals, single=not safe)
    known = first_intervals(changes.words, modes, intervals)
    number, (panel, low, high) = changes.number, _ends(known, intervals, len(a))
    if safe:
        more, found = _pairs(a, error, changes, intervals, max(modes // 2, 1))
        order = xp.argsort(xp.concatenate([2 * known, more]), axis=0, stable=True)[:modes]
        pairs = zip((panel, low, high), found, strict=True)
        panel, low, high = (
            xp.take_along_axis(xp.concatenate([x, y]), order, axis=0) for x, y in pairs
        )
        number = number + xp.sum(more < _NOWHERE, axis=0).astype(np.float64)
    # below a mode the sign of the first separator has changed as often as there are modes below
    odd = np.arange(modes)[:, None] % 2 == 1
    negative = changes.negative[None] != odd
    omega, width, noise = _refined(a, negative, panel, low, high, panels, error, safe)
    # neighbouring enclosures do not touch
    apart = xp.all(omega[1:] * (1.0 - 2.0 * WIDEST) > omega[:-1], axis=0)
    bracket = xp.stack([omega * (1.0 - width), omega * (1.0 + width)])
    return Roots(
        omega=omega.T,
        bracket=bracket.transpose(2, 1, 0),
        residual_ratio=(noise * 2.0**52).astype(np.float32).T,
        number=number,
        apart=changes.clear & apart,
        narrow=xp.all(width <= WIDEST, axis=0),
        width=width.T[:, : modes if safe else 0],
    )


def _ends(interval: Array, intervals: int, panels: int) -> tuple[Array, Array, Array]:
    """Panel of each interval, counted through all panels, and its ends in u; the last stands for those beyond."""
    interval = xp.minimum(interval, np.int32(panels * intervals - 1))
    panel = interval // np.int32(intervals)
    u, own = separators(intervals), interval - panel * np.int32(intervals)
    low, high = (x[own] if on_host(own) else jnp.asarray(x)[own] for x in (u[:-1], u[1:]))
    return once((panel, low, high))


def _pairs(
    a: Array, error: Array, changes: Changes, intervals: int, most: int
) -> tuple[Array, tuple[Array, Array, Array]]:
    """Pairs of roots in intervals without a change of sign, the first ``most``: panel and ends, (2 most, cells).

    Before them twice the number of the interval, for the second of a pair one more, from `_NOWHERE` on where there is
    none.
    """
    known = first_intervals(dips(a, changes, intervals), most, intervals)
    panel, low, high = _ends(known, intervals, len(a))
    own = _of_panels(a, panel)
    sign = xp.where(_expanded(own, low, 0)[0] < 0.0, -1.0, 1.0)
    # the slope of |D| is negative at the lower end
    at = zeros_in_brackets(
        lambda u: sign * _expanded(own, u, 1)[1],
        lambda u: sign * 2.0 * _expanded(own, u, 2)[2],
        *(low, high, -xp.ones_like(low), 0.5 * (low + high)),
        _SAFE_STEPS,
    )
    beyond = sign * _expanded(own, at, 0)[0] <= -_at(error, panel)
    some = beyond & (known < np.int32(len(a) * intervals))
    pair = xp.concatenate([2 * known, 2 * known + 1])
    twice = xp.concatenate([some, some])
    ends = xp.concatenate([panel, panel]), xp.concatenate([low, at]), xp.concatenate([at, high])
    return xp.where(twice, pair, _NOWHERE), ends


@functools.partial(jax.jit, static_argnames=("terms", "modes", "intervals", "safe", "block"))
def roots_of(
    places: Array,
    panels: Panels,
    *,
    terms: Terms,
    modes: int,
    intervals: int,
    safe: bool,
    block: int | None = None,
) -> Roots:
    """As `roots_in`, as a program that solves so many cells at a time, by default all."""

    def solve(some: Array) -> Roots:
        return roots_in(some, panels, terms=terms, modes=modes, intervals=intervals, safe=safe)

    found: Roots = _in_blocks(solve, places, block)
    return found


def _in_blocks(solve: Callable[[Array], Any], places: Array, block: int | None) -> Any:
    """What ``solve`` finds at places of cells, in a program for CPUs of a block of cells at a time, or of all."""
    rows, cells = places.shape
    if block is None or cells % block:
        return solve(places)
    found = lax.map(solve, jnp.moveaxis(places.reshape(rows, -1, block), 1, 0))
    return jax.tree_util.tree_map(lambda x: x.reshape(cells, *x.shape[2:]), found)


def count_in(counter: Counter, places: Array) -> tuple[Array, Array]:
    """`Counter.count` of its one frequency, shape (cells,)."""
    count, clear = counter.count(places)
    return count[0], clear[0]


@jax.jit
def count_at(counter: Counter, places: Array) -> tuple[Array, Array]:
    """As `count_in`, as a program for CPUs that counts few cells at a time, for what is between stays in cache."""
    found: tuple[Array, Array] = _in_blocks(functools.partial(count_in, counter), places, _COUNTED)
    return found


def _refined(
    polynomials: Array,
    negative: Array,
    panel: Array,
    low: Array,
    high: Array,
    panels: Panels,
    errors: Array,
    safe: bool,
) -> tuple[Array, Array, Array]:
    """Roots between ends in panels, (modes, cells), with their relative half-widths and noise; errors (P, cells or 1).

    ``negative`` says where D is below 0 at the lower ends.
    """
    a = _of_panels(polynomials, panel)
    u = 0.5 * (low + high)
    for _ in range(1 if safe else _STEPS):
        u = once(_halley(a, u, low, high))
    if safe:
        u = zeros_in_brackets(
            lambda u: _expanded(a, u, 0)[0],
            lambda u: _expanded(a, u, 1)[1],
            *(low, high, xp.where(negative, -1.0, 1.0), u),
            _SAFE_STEPS,
        )
    value, slope = _expanded(a, once(u), 1)
    step = once(value / slope)
    root = u - step
    centre, half = panels.centre[panel], panels.half[panel]
    x = centre + half * root
    # relative to omega = x^2, with the sign of the slope: XLA would compute the slope for each use
    rising = once(2.0 * half * _at(errors, panel) / (slope * x))
    noise = xp.abs(rising)
    width = xp.maximum(_NARROW, _MARGIN * noise)
    inside = (root > low - _EDGE) & (root < high + _EDGE)
    proven = ((rising > 0.0) == negative) & inside & (xp.abs(step) < _LAST_STEP)
    return x * x, xp.where(proven, width, xp.inf), noise


def _of_panels(polynomials: Array, panel: Array) -> Array:
    """The coefficients (d, ..., cells) of polynomials (P, d, cells) on given panels (..., cells)."""
    _, degrees, cells = polynomials.shape
    cell = np.arange(cells, dtype=np.int32)[None]
    # one element after the other: faster than rows of coefficients, which would have to be transposed
    rows = panel[None] * degrees + np.arange(degrees, dtype=np.int32)[:, None, None]
    return once(polynomials.ravel()[rows * cells + cell[None]])


def _at(errors: Array, panel: Array) -> Array:
    """Errors (P, cells or 1) of given panels (..., cells)."""
    if errors.shape[1] == 1:
        return errors[panel, 0]
    return errors[panel, np.arange(errors.shape[1], dtype=np.int32)[None]]


def _halley(a: Array, u: Array, low: Array, high: Array) -> Array:
    """One step of Halley's method, of third order; the middle of the interval where there is none."""
    value, slope, bend = _expanded(a, u, 2)
    found = xp.clip(u - value * slope / (slope * slope - value * bend), low, high)
    return xp.where(xp.isfinite(found), found, 0.5 * (low + high))


def _expanded(a: Array, u: Array, order: int) -> list[Array]:
    """Coefficients of the powers up to ``order`` of what is beside u, of polynomials a (d, ...): value, slope, ..."""
    found = [a[-1], *(xp.zeros_like(u) for _ in range(order))]
    for k in range(DEGREES - 2, -1, -1):
        for j in range(order, 0, -1):
            found[j] = found[j] * u + found[j - 1]
        found[0] = found[0] * u + a[k]
    return found
