"""Roots of a posture series in a block of postures at once, in NumPy or as one compiled program.

Cells (postures) are the last axis: the determinant at all separators is a matrix product, of shape (separators, cells).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.postures.changes_of_sign import signs_of, signs_on_host
from jaxmodal.postures.combinations import Combinations, combined, in_groups, products
from jaxmodal.postures.expansions import Counter
from jaxmodal.postures.newton import zeros_in_brackets
from jaxmodal.postures.polynomial_values import Ranges, scaled
from jaxmodal.postures.series import DEGREES, PostureSeries
from jaxmodal.postures.terms import Terms
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


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SeparatorTable:
    """Separators and the intervals between them.

    Attributes
    ----------
    table : tuple of Array, shapes (separators, R)
        Coefficients at the separators of each group of panels, N + 1 in all.
    weakest : Array, shape (1, polynomials)
        Modulus below which the sign of the value at the last separator, or the count there, is not certain; at the
        others that is the error of their panel. That of a cell is the sum with its `Terms.weights`.
    panel : Array, shape (N,)
        Panel of each interval.
    ends : Array, shape (2, N)
        Its ends in the coordinate u of that panel.
    """

    table: tuple[Array, ...]
    weakest: Array
    panel: Array
    ends: Array

    @property
    def rows(self) -> int:
        """Number of separators."""
        return int(self.panel.shape[0]) + 1


def grid_of(
    series: PostureSeries,
    fine: int | None,
    combinations: Combinations | None = None,
    clear: float = _CLEAR,
) -> SeparatorTable:
    """The series' own separators, or ``fine`` of them on every panel.

    ``clear`` is the share of its size that D has at the least where the count is taken; 0 for counts in double-double.
    """
    edges = np.asarray(series.edges)
    panels = edges.size - 1
    error, size = (np.asarray(x).reshape(panels, -1) for x in (series.error, series.size))
    at, x = np.asarray(series.at_separators), np.asarray(series.separators)
    if fine is None:
        inner = in_groups(combinations, at[1:-1].reshape(panels, -1, at.shape[1]))
    else:
        u = -np.cos((np.arange(fine) + 0.5) * np.pi / fine)
        powers = u[:, None] ** np.arange(DEGREES)
        taylor = in_groups(combinations, np.asarray(series.taylor))
        inner = [np.einsum("ud,pdh->puh", powers, part) for part in taylor]
        half, centre = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
        x = np.concatenate([edges[:1], (centre + half * u).ravel(), edges[-1:]])
    own = np.repeat(np.arange(panels), (x.size - 2) // panels)
    table = [part.reshape(-1, part.shape[2]) for part in inner]
    at_ends = [in_groups(combinations, at[row].repeat(panels, axis=0)) for row in ([0], [-1])]
    table[0] = np.concatenate([at_ends[0][0][:1], table[0]])
    table[-1] = np.concatenate([table[-1], at_ends[1][-1][-1:]])
    panel = np.concatenate([[0], own])
    low, high = edges[panel], edges[panel + 1]

    def in_panels(x: np.ndarray) -> np.ndarray:
        return (2.0 * x - low - high) / (high - low)

    return SeparatorTable(
        table=tuple(table),
        weakest=np.maximum(error[-1:], clear * size[-1:]),
        panel=panel.astype(np.int32),
        ends=in_panels(np.stack([x[:-1], x[1:]])),
    )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Panels:
    """The polynomials of all panels: ``table`` (panels d, R) of each group; centre and half-width of each panel, (P,).

    Errors of values in a cell are sums of ``error``, (P, polynomials), with its `Terms.weights`.
    ``combinations`` say what tables are of, None where they are of the terms; ``ranges`` where values lie that vary
    beside angles.
    """

    table: tuple[Array, ...]
    centre: Array
    half: Array
    error: Array
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
    return Panels(
        table=tuple(part.reshape(-1, part.shape[2]) for part in parts),
        centre=0.5 * (edges[1:] + edges[:-1]),
        half=0.5 * np.diff(edges),
        error=np.asarray(series.error).reshape(edges.size - 1, -1),
        combinations=combinations,
        ranges=ranges,
    )


class Roots(NamedTuple):
    """Frequencies of a block of cells.

    Attributes
    ----------
    omega : Array, shape (cells, modes)
        Frequencies in rad/s.
    width : Array, shape (cells, modes)
        Relative half-width of an enclosure at whose ends D is beyond the error of the series; infinite where there
        is none.
    noise : Array, shape (cells, modes)
        Relative rounding noise of a frequency.
    number : Array, shape (cells,)
        Changes of sign below the last separator. Where that is the count there, each interval with one holds one mode.
    apart : Array, shape (cells,)
        Every sign is certain, and no two enclosures touch.
    """

    omega: Array
    width: Array
    noise: Array
    number: Array
    apart: Array


def roots_in(
    places: Array,
    grid: SeparatorTable,
    panels: Panels,
    *,
    terms: Terms,
    modes: int,
    safe: bool,
) -> Roots:
    """The lowest ``modes`` roots at the ``places`` of cells (joints + values, cells).

    ``safe`` takes more steps, which never leave an interval.
    """
    places = scaled(panels.ranges, places)
    groups = combined(panels.combinations, terms.of(places))
    values, polynomials = once((products(grid.table, groups), products(panels.table, groups)))
    weakest, error = grid.weakest, panels.error
    if terms.powers:
        weights = once(terms.weights(places))
        weakest, error = once((product(weakest, weights), product(error, weights)))
    signs = signs_on_host if on_host(polynomials) else signs_of
    number, interval, clear = signs(values, error, weakest, modes)
    # below a mode the sign of the first separator has changed as often as there are modes below
    odd = np.arange(modes)[:, None] % 2 == 1
    negative = (values[:1] < 0.0) != odd
    omega, width, noise = _refined(polynomials, negative, interval, grid, panels, error, safe)
    # neighbouring enclosures do not touch
    clear &= xp.all(omega[1:] * (1.0 - 2.0 * WIDEST) > omega[:-1], axis=0)
    return Roots(omega.T, width.T, noise.T, number, clear)


roots_of = jax.jit(roots_in, static_argnames=("terms", "modes", "safe"))


def count_in(counter: Counter, places: Array) -> tuple[Array, Array]:
    """`Counter.count` of its one frequency, shape (cells,)."""
    count, clear = counter.count(places)
    return count[0], clear[0]


@jax.jit
def count_at(counter: Counter, places: Array) -> tuple[Array, Array]:
    """As `count_in`, as a program for CPUs that counts few cells at a time, for what is between stays in cache."""
    rows, cells = places.shape
    if cells % _COUNTED:
        return count_in(counter, places)
    parts = jnp.moveaxis(places.reshape(rows, -1, _COUNTED), 1, 0)
    count, clear = lax.map(functools.partial(count_in, counter), parts)
    return count.reshape(-1), clear.reshape(-1)


def _refined(
    polynomials: Array,
    negative: Array,
    interval: Array,
    grid: SeparatorTable,
    panels: Panels,
    errors: Array,
    safe: bool,
) -> tuple[Array, Array, Array]:
    """Roots in given intervals, shape (modes, cells), with width and noise as in `Roots`; errors (P, cells or 1).

    ``negative`` says where D is below 0 at the lower ends of the intervals.
    """
    cells = interval.shape[1]
    panel, low, high = once((grid.panel[interval], grid.ends[0][interval], grid.ends[1][interval]))
    cell = np.arange(cells, dtype=np.int32)[None]
    # one element after the other: faster than rows of coefficients, which would have to be transposed
    rows = panel[None] * DEGREES + np.arange(DEGREES, dtype=np.int32)[:, None, None]
    a = once(polynomials.ravel()[rows * cells + cell[None]])
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
    error = errors[panel, 0] if errors.shape[1] == 1 else errors[panel, cell]
    x = centre + half * root
    # relative to omega = x^2, with the sign of the slope: XLA would compute the slope for each use
    rising = once(2.0 * half * error / (slope * x))
    noise = xp.abs(rising)
    width = xp.maximum(_NARROW, _MARGIN * noise)
    inside = (root > low - _EDGE) & (root < high + _EDGE)
    proven = ((rising > 0.0) == negative) & inside & (xp.abs(step) < _LAST_STEP)
    return x * x, xp.where(proven, width, xp.inf), noise


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
