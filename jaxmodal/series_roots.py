"""Roots of a posture series in many postures at once, as compiled array operations.

Arrays have a row per cell (posture); lanes are pairs of a cell and one of its roots.
"""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmodal.arm import BeamArrays
from jaxmodal.beams import Theory
from jaxmodal.condensation import Stiffness, _Tally, add_link, evaluate
from jaxmodal.posture_harmonics import harmonics
from jaxmodal.posture_tables import DEGREES, PostureSeries

#: Newton's steps on a panel's polynomial after its chord; bracketed ones where these do not suffice
_STEPS, _SAFE_STEPS = 4, 24
#: the last step, in units of half a panel, after which the remainder of Newton's method is below rounding
_LAST_STEP = 1e-8
#: half-width of an enclosure, relative to omega, at the least
_NARROW = 2.5e-13
#: an enclosure is wider than the noise by this factor: D is beyond the error of the series at both ends
_MARGIN = 2.5
#: the count is taken where D is no smaller than this share of its size
_CLEAR = 1e-6


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Grid:
    """Separators and what lies between them.

    Attributes
    ----------
    table : Array, shape (H, N)
        Coefficients at the separators.
    weak : Array, shape (N,)
        Modulus below which the sign of a value there is not certain; at the last, the count.
    panel : Array, shape (N - 1,)
        Panel of each interval.
    ends : Array, shape (2, N - 1)
        Its ends in the coordinate u of that panel.
    """

    table: Array
    weak: Array
    panel: Array
    ends: Array


def grid_of(series: PostureSeries, fine: int | None) -> Grid:
    """The series' own separators, or ``fine`` of them on every panel."""
    edges, error = np.asarray(series.edges), np.asarray(series.error)
    panels = edges.size - 1
    table, x = np.asarray(series.at_separators), np.asarray(series.separators)
    if fine is not None:
        u = -np.cos((np.arange(fine) + 0.5) * np.pi / fine)
        inner = np.einsum("ud,pdh->puh", u[:, None] ** np.arange(DEGREES), series.taylor)
        table = np.concatenate([table[:1], inner.reshape(-1, inner.shape[2]), table[-1:]])
        half, centre = 0.5 * np.diff(edges)[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
        x = np.concatenate([edges[:1], (centre + half * u).ravel(), edges[-1:]])
    weakest = np.maximum(error[-1:], _CLEAR * np.asarray(series.size)[-1:])
    own = np.repeat(np.arange(panels), (x.size - 2) // panels)
    panel = np.append(0, own)
    low, high = edges[panel], edges[panel + 1]
    ends = (2.0 * np.stack([x[:-1], x[1:]]) - low - high) / (high - low)
    return Grid(
        table=jnp.asarray(table.T.copy()),
        weak=jnp.asarray(np.concatenate([error[:1], error[own], weakest])),
        panel=jnp.asarray(panel, jnp.int32),
        ends=jnp.asarray(ends),
    )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Panels:
    """The polynomials of all panels: ``table`` (H, P d), and centre, half-width and error of each panel, (P,)."""

    table: Array
    centre: Array
    half: Array
    error: Array


def panels_of(series: PostureSeries) -> Panels:
    """The polynomials of a series as one table."""
    taylor, edges = np.asarray(series.taylor), np.asarray(series.edges)
    return Panels(
        table=jnp.asarray(taylor.reshape(-1, taylor.shape[2]).T.copy()),
        centre=jnp.asarray(0.5 * (edges[1:] + edges[:-1])),
        half=jnp.asarray(0.5 * np.diff(edges)),
        error=series.error,
    )


@jax.jit
def terms_of(angles: Array) -> Array:
    """`harmonics` of postures (n - 1, cells), a row per cell."""
    return harmonics(angles).T


@jax.jit
def product(terms: Array, table: Array) -> Array:
    """All cells times all columns of a table."""
    return terms @ table


@jax.jit
def changes_of_sign(values: Array, weak: Array) -> tuple[Array, Array]:
    """Where neighbouring separators differ in sign, (cells, N - 1), and cells with an uncertain sign."""
    negative = values < 0.0
    return negative[:, 1:] != negative[:, :-1], jnp.any(jnp.abs(values) < weak[None], axis=1)


@jax.jit
def count_at(beams: BeamArrays, theory: Theory, omega: Array, angles: Array) -> tuple[Array, Array]:
    """J at one frequency, shape (1,), in the postures ``angles`` (n - 1, cells), and the smallest denominator.

    All that does not depend on the posture is computed once.
    """
    zero, one = jnp.zeros_like(omega), jnp.ones_like(omega)
    outboard, tally = Stiffness(*(zero,) * 6), _Tally(one, zero, zero, one, one)
    for i in reversed(range(beams.length.shape[0])):
        link = jax.tree_util.tree_map(lambda x, i=i: x[i : i + 1], beams)
        if i > 0:
            link = dataclasses.replace(link, joint_angle=angles[i - 1])
        outboard, tally = add_link(link, theory, omega, outboard, tally, False)
    even = 2.0 * jnp.floor(0.5 * tally.passed) == tally.passed
    agrees = (tally.sign > 0.0) == even
    shape = angles.shape[1:]
    return (
        jnp.broadcast_to(jnp.where(agrees, tally.passed, -1.0), shape),
        jnp.broadcast_to(jnp.minimum(tally.smallest, tally.factor), shape),
    )


@functools.partial(jax.jit, static_argnames=("safe",))
def refined(
    polynomials: Array, cell: Array, interval: Array, grid: Grid, panels: Panels, *, safe: bool
) -> tuple[Array, Array, Array]:
    """Roots in given intervals, shape (lanes,): omega, relative half-width of the proven enclosure, rounding noise.

    The half-width is infinite where the root is not proven.
    """
    panel = grid.panel[interval]
    a = polynomials.reshape(-1, DEGREES)[cell * panels.centre.shape[0] + panel].T
    low, high = grid.ends[0][interval], grid.ends[1][interval]
    low, high, panel = _once(low, high, panel)
    below, above = _polynomial(a, low), _polynomial(a, high)
    u = low + (high - low) * (below / (below - above))
    if safe:
        u = _bracketed(a, low, high, below, u)
    else:
        for _ in range(_STEPS):
            u = jnp.clip(u - _polynomial(a, u) / _slope(a, u), low, high)
    u, below = _once(u, below)
    value, slope = _once(_polynomial(a, u), _slope(a, u))
    step = value / slope
    root = u - step
    x = panels.centre[panel] + panels.half[panel] * root
    # relative to omega = x^2
    noise = 2.0 * panels.half[panel] * panels.error[panel] / (jnp.abs(slope) * x)
    width = jnp.maximum(_NARROW, _MARGIN * noise)
    rising = (slope > 0.0) == (below < 0.0)
    inside = (root > low - 1e-9) & (root < high + 1e-9)
    proven = rising & inside & (jnp.abs(step) < _LAST_STEP)
    return x * x, jnp.where(proven, width, jnp.inf), noise


def _once(*values: Array) -> tuple[Array, ...]:
    """The values, written to memory: XLA would compute them anew for every result that uses them."""
    kept: tuple[Array, ...] = lax.optimization_barrier(values)  # type: ignore[no-untyped-call]
    return kept


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


def _bracketed(a: Array, low: Array, high: Array, below: Array, u: Array) -> Array:
    """Newton's steps that never leave the bracket and halve it where they would."""

    def step(_: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        low, high, u = state
        value = _polynomial(a, u)
        left = (value < 0.0) == (below < 0.0)
        low, high = jnp.where(left, u, low), jnp.where(left, high, u)
        newton = u - value / _slope(a, u)
        inside = (newton >= low) & (newton <= high)
        return low, high, jnp.where(inside, newton, 0.5 * (low + high))

    return lax.fori_loop(0, _SAFE_STEPS, step, (low, high, u))[2]


@jax.jit
def counts_of(beams: BeamArrays, theory: Theory, omega: Array, angles: Array) -> Array:
    """J of lanes (omega, angles), float64: ``omega`` of shape (lanes,)."""
    links = beams.length.shape[0]
    lanes = jax.tree_util.tree_map(
        lambda x: jnp.broadcast_to(x[:, None], (links, *omega.shape)), beams
    )
    turned = jnp.concatenate([jnp.zeros((1, *omega.shape)), angles])
    return evaluate(dataclasses.replace(lanes, joint_angle=turned), theory, omega, False).count
