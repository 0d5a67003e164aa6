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

from jaxmodal.postures.combinations import Combinations, combined, in_groups, products
from jaxmodal.postures.expansions import Counter
from jaxmodal.postures.newton import zeros_in_brackets
from jaxmodal.postures.polynomial_values import Ranges, scaled
from jaxmodal.postures.series import DEGREES, PostureSeries
from jaxmodal.postures.terms import Terms
from jaxmodal.runtime.namespace import Array, on_host, once, product, xp

#: Newton's steps on the cubic through four separators, which gives the start; on a panel's polynomial from there, and
#: as many that cannot leave the interval
_CUBIC_STEPS, _STEPS, _SAFE_STEPS = 4, 2, 12
#: separators of a cubic
_FOUR = 4
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
#: intervals whose changes of sign are the bits of one word
_WORD = 64


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
    first : Array, shape (N,)
        The first of four neighbouring separators of its panel, about it.
    four : Array, shape (4, N)
        Where these lie, in u.
    """

    table: tuple[Array, ...]
    weakest: Array
    panel: Array
    ends: Array
    first: Array
    four: Array

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

    # values of another panel have another scale
    inside = (x.size - 2) // panels
    first = np.arange(panel.size) - _FOUR // 2 + 1
    first = np.clip(first, inside * panel + 1, inside * (panel + 1) + 1 - _FOUR)
    return SeparatorTable(
        table=tuple(table),
        weakest=np.maximum(error[-1:], clear * size[-1:]),
        panel=panel.astype(np.int32),
        ends=in_panels(np.stack([x[:-1], x[1:]])),
        first=first.astype(np.int32),
        four=in_panels(x[first + np.arange(_FOUR)[:, None]]),
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
    changes = _changes_on_host if on_host(values) else _changes
    number, interval = changes(values, modes)
    weakest, error = grid.weakest, panels.error
    if terms.powers:
        weights = once(terms.weights(places))
        weakest, error = once((product(weakest, weights), product(error, weights)))
    clear = _clear_signs(values, error, weakest)
    omega, width, noise = _refined(polynomials, values, interval, grid, panels, error, safe)
    # neighbouring enclosures do not touch
    clear &= xp.all(omega[1:] * (1.0 - 2.0 * WIDEST) > omega[:-1], axis=0)
    return Roots(omega.T, width.T, noise.T, number, clear)


def _clear_signs(values: Array, error: Array, weakest: Array) -> Array:
    """Whether all values (separators, cells) are beyond the errors (P, cells or 1) of their panels."""
    size = xp.abs(values)
    inner = size[1:-1].reshape(error.shape[0], -1, values.shape[1])
    clear = (size[0] >= error[0]) & (size[-1] >= weakest[0])
    return clear & xp.all(xp.min(inner, axis=1) >= error, axis=0)


roots_of = jax.jit(roots_in, static_argnames=("terms", "modes", "safe"))


def _changes(values: Array, modes: int) -> tuple[Array, Array]:
    """How often the values of every cell change their sign, and the first intervals in which they do, (modes, cells).

    The last interval stands where there are fewer.
    """
    words = once(_changes_of_sign(values))
    number = jnp.sum(lax.population_count(words), axis=0).astype(jnp.float64)
    return number, jnp.minimum(_first_bits(words, modes), values.shape[0] - 2)


def _changes_on_host(values: np.ndarray, modes: int) -> tuple[np.ndarray, np.ndarray]:
    """As `_changes`, in NumPy."""
    negative = values < 0.0
    cell, place = np.nonzero((negative[1:] != negative[:-1]).T)
    number = np.bincount(cell, minlength=values.shape[1])
    rank = np.arange(cell.size) - (np.cumsum(number) - number)[cell]
    first = rank < modes
    interval = np.full((modes, values.shape[1]), values.shape[0] - 2)
    interval[rank[first], cell[first]] = place[first]
    return number.astype(np.float64), interval


def _changes_of_sign(values: Array) -> Array:
    """Bit i of word w, shape (W, cells): the sign differs between the rows 64 w + i and the next."""
    last, cells = values.shape[0] - 1, values.shape[1]
    first = jnp.arange(-(-last // _WORD)) * _WORD

    def step(i: Array, words: Array) -> Array:
        low, high = (values[jnp.minimum(first + k, last)] < 0.0 for k in (i, i + 1))
        bit = jnp.left_shift(jnp.uint64(1), i.astype(jnp.uint64))
        return words | jnp.where(low != high, bit, jnp.uint64(0))

    return lax.fori_loop(0, _WORD, step, jnp.zeros((first.size, cells), jnp.uint64))


def _first_bits(words: Array, number: int) -> Array:
    """Positions of the lowest bits that are set, shape (number, cells); the last position where there are fewer."""
    one, last = jnp.uint64(1), words.shape[0] - 1

    def step(words: tuple[Array, ...], _: None) -> tuple[tuple[Array, ...], Array]:
        word, at = words[last], jnp.full(words[last].shape, last, jnp.int32)
        for i in reversed(range(last)):
            some = words[i] != 0
            word, at = jnp.where(some, words[i], word), jnp.where(some, i, at)
        lowest = word & (~word + one)
        bit = lax.population_count(lowest - one).astype(jnp.int32)
        left = tuple(jnp.where(at == i, w ^ lowest, w) for i, w in enumerate(words))
        return left, jnp.minimum(_WORD * at + bit, _WORD * (last + 1) - 1)

    return lax.scan(step, tuple(words), None, length=number)[1]


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
    values: Array,
    interval: Array,
    grid: SeparatorTable,
    panels: Panels,
    errors: Array,
    safe: bool,
) -> tuple[Array, Array, Array]:
    """Roots in given intervals, shape (modes, cells), with width and noise as in `Roots`; errors (P, cells or 1)."""
    cells = interval.shape[1]
    panel, low, high = once((grid.panel[interval], grid.ends[0][interval], grid.ends[1][interval]))
    cell = np.arange(cells, dtype=np.int32)[None]

    def entries(table: Array, first: Array, number: int) -> Array:
        # one element after the other: faster than rows of coefficients, which would have to be transposed
        rows = first[None] + np.arange(number, dtype=np.int32)[:, None, None]
        return table.ravel()[rows * cells + cell[None]]

    a = once(entries(polynomials, panel * DEGREES, DEGREES))
    below = values.ravel()[interval * cells + cell]
    four, at = entries(values, grid.first[interval], _FOUR), grid.four
    u = once(_start([x[interval] for x in at], four, low, high))
    if safe:
        u = zeros_in_brackets(
            lambda u: _polynomial(a, u),
            lambda u: _slope(a, u),
            *(low, high, below, u),
            _SAFE_STEPS,
        )
    else:
        for _ in range(_STEPS):
            u = xp.clip(u - _polynomial(a, u) / _slope(a, u), low, high)
    u, below = once((u, below))
    value, slope = once((_polynomial(a, u), _slope(a, u)))
    step = value / slope
    root = u - step
    centre, half = panels.centre[panel], panels.half[panel]
    error = errors[panel, 0] if errors.shape[1] == 1 else errors[panel, cell]
    x = centre + half * root
    # relative to omega = x^2
    noise = 2.0 * half * error / (xp.abs(slope) * x)
    width = xp.maximum(_NARROW, _MARGIN * noise)
    rising = (slope > 0.0) == (below < 0.0)
    inside = (root > low - _EDGE) & (root < high + _EDGE)
    proven = rising & inside & (xp.abs(step) < _LAST_STEP)
    return x * x, xp.where(proven, width, xp.inf), noise


def _start(at: list[Array], values: Array, low: Array, high: Array) -> Array:
    """Zeros between ``low`` and ``high`` of the cubics through four ``values`` (4, ...) at places u; not yet exact."""
    c = list(values)
    for order in range(1, _FOUR):  # divided differences
        for k in range(_FOUR - 1, order - 1, -1):
            c[k] = (c[k] - c[k - 1]) / (at[k] - at[k - order])

    def cubic(u: Array) -> tuple[Array, Array]:
        value, slope = c[3], 0.0 * u
        for k in (2, 1, 0):
            slope = slope * (u - at[k]) + value
            value = value * (u - at[k]) + c[k]
        return value, slope

    below, above = cubic(low)[0], cubic(high)[0]
    u = low + (high - low) * (below / (below - above))
    for _ in range(_CUBIC_STEPS):
        value, slope = cubic(u)
        u = xp.clip(u - value / slope, low, high)
    return xp.where(xp.isfinite(u), u, 0.5 * (low + high))


def _polynomial(a: Array, u: Array) -> Array:
    total = a[-1]
    for k in range(DEGREES - 2, -1, -1):
        total = total * u + a[k]
    return total


def _slope(a: Array, u: Array) -> Array:
    total = (DEGREES - 1.0) * a[-1]
    for k in range(DEGREES - 2, 0, -1):
        total = total * u + float(k) * a[k]
    return total
