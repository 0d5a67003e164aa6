"""The determinant of an arm in all its postures, between two frequencies.

At one frequency it is a trigonometric polynomial in the joint angles (`harmonics`). Over frequency the
coefficients of its terms are analytic functions of sqrt(omega); on short panels they are polynomials to the last digit.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array
from numpy.polynomial import chebyshev

from jaxmodal.arithmetic.double_double import DoubleDouble, as_double_double
from jaxmodal.arithmetic.operations import Arithmetic, number
from jaxmodal.arm.arguments import real_array
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN
from jaxmodal.postures.combinations import Combinations, combined, in_groups
from jaxmodal.postures.expansions import Expansion
from jaxmodal.postures.terms import Terms
from jaxmodal.postures.value_nodes import balanced
from jaxmodal.postures.value_ranges import unscaled
from jaxmodal.runtime.namespace import product
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.statics.beam_arrays import BeamArrays

#: coefficients of a panel's polynomial, and the share of its largest value that the last of them may have
DEGREES, _TAIL = 20, 1e-15
#: rounding of a series value in units of the sum of its terms: sines, products, sums, polynomial
_ROUNDING = 16.0 * 2.0**-52
#: phase of a new panel in units of pi, about its number of modes, and how often a panel may be halved
_PHASE, _HALVINGS = 1.0, 10
#: ratio of the ends of a new panel where values vary beside angles
_RATIO = 4.0
#: frequencies between which the phase is interpolated, to place the first edges: their place is a matter of speed alone
_PHASE_SAMPLES = 2049
#: error of interpolation in units of the last two coefficients' root of squares: what follows them falls off like them
_TAIL_TO_ERROR = 4.0
#: held-back values are those of the series within so many errors; what evaluations there may have rounded (omega^2)
_HELD_ERRORS, _DIGITS = 4.0, 1e-12


def is_polynomial(beams: BeamArrays) -> bool:
    """Whether the determinant of an arm is a trigonometric polynomial in each joint angle.

    It has no free joint, no base that is free in a direction, no axial force, and not all links are rigid.
    """
    base = (beams.base_xx, beams.base_yy, beams.base_rr)
    springs = (*beams.springs, *base)
    held = all(x is None or np.all(np.asarray(x) > 0.0) for x in springs)
    flexible = beams.flexible is None or np.any(np.asarray(beams.flexible) > 0.0)
    return bool(held and flexible and beams.axial_force is None)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class PostureSeries(ShowsTables):
    """The determinant of an arm between two frequencies, in all postures.

    ``D(omega, theta) = exp(scale) * sum_h coefficient_h(omega) harmonic_h(theta)`` with a positive
    scale that depends on omega alone.

    Attributes
    ----------
    edges : Array, shape (P + 1,)
        Ends of the panels, in sqrt(rad/s).
    taylor : Array, shape (P, d, H)
        Coefficients of the powers of u, -1 <= u <= 1 across a panel, of the coefficient of each term.
    nodes : Array, shape (P d + 2,)
        The frequencies at which the determinant itself was evaluated, in sqrt(rad/s), ascending: both ends and the
        nodes of the panels.
    at_nodes : Array, shape (P d + 2, H)
        Coefficients at these frequencies: here the series is the exact one, not an interpolation.
    error : Array, shape (P,)
        Estimate of the largest error of a value, from rounding and interpolation.
    size : Array, shape (P,)
        Largest value that the series can take on a panel: the sum of the moduli of its coefficients. Where values vary
        beside angles both are of shape (P, polynomials), and those of a cell the sums with its `Terms.weights`.
    log_scale : Array, shape (P, 2)
        ``scale = log_scale[p, 0] + log_scale[p, 1] u``.
    theory : str
        Name of the theory.
    terms : Terms
        Which products of sines and cosines the harmonics are.
    joints : tuple of int
        Numbers of the links whose joints vary.
    """

    edges: Array
    taylor: Array
    nodes: Array
    at_nodes: Array
    error: Array
    size: Array
    log_scale: Array
    theory: TheoryName = dataclasses.field(metadata={"static": True})
    terms: Terms = dataclasses.field(metadata={"static": True})
    joints: tuple[int, ...] = dataclasses.field(metadata={"static": True})

    def tables(self) -> list[Table]:
        """Return what the series covers: frequencies, joints, terms, and how exact it is."""
        edges = np.asarray(self.edges) ** 2 / (2.0 * math.pi)
        panels, _, terms = self.taylor.shape
        relative = float(np.max(np.asarray(self.error) / np.asarray(self.size)))
        rows = [
            ["frequencies [Hz]", f"{edges[0]:.6g} to {edges[-1]:.6g}"],
            ["joint angles", f"{len(self.joints)}, any values"],
            ["panels", str(panels)],
            ["terms", str(terms)],
            ["largest error, of the largest value", f"{relative:.1e}"],
        ]
        title = f"posture series of a determinant ({self.theory})"
        return [Table(title, ("what", "value"), rows, (), ("what",))]

    def evaluate(self, omega: Any, angles: Any) -> SeriesValues:
        """Values for all combinations of frequencies and postures.

        Parameters
        ----------
        omega : array or list, shape (M,)
            Angular frequencies in rad/s within the range of the series.
        angles : array or list, shape (N, joints)
            Angles of `joints` in rad, of a planar arm that leans on nothing theta_2 .. theta_n.

        Returns
        -------
        SeriesValues
            ``value`` of shape (M, N).

        Raises
        ------
        ValueError
            A frequency lies outside the range, or the shape of ``angles`` does not fit the arm.
        """
        x = np.sqrt(np.atleast_1d(real_array(omega, "omega")))
        postures = real_array(angles, "angles")
        edges = np.asarray(self.edges)
        joints = len(self.joints)
        if (
            x.ndim != 1
            or not ((x >= edges[0] * (1 - 1e-12)) & (x <= edges[-1] * (1 + 1e-12))).all()
        ):
            raise ValueError(
                f"omega must be one-dimensional and within {edges[0] ** 2:.6g} to {edges[-1] ** 2:.6g} rad/s, the range"
                " of this series; make one with another omega_max"
            )
        if postures.ndim != 2 or postures.shape[1] != joints:
            raise ValueError(
                f"angles has shape {postures.shape}; expected (N, {joints}): {self._angles}"
            )
        panel = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, edges.size - 2)
        low, high = edges[panel], edges[panel + 1]
        u = (2.0 * x - low - high) / (high - low)
        taylor = np.moveaxis(np.asarray(self.taylor)[panel], 1, 0)
        coefficients = functools.reduce(lambda c, t: c * u[:, None] + t, taylor[::-1])
        scale = np.asarray(self.log_scale)[panel]
        values = {
            "value": product(coefficients, self.terms.of(np.ascontiguousarray(postures.T))),
            "error": np.asarray(self.error)[panel],
            "log_scale": scale[:, 0] + scale[:, 1] * u,
        }
        return SeriesValues(**jax.device_put(values))

    @property
    def _angles(self) -> str:
        """Words for the columns of angles."""
        names = [f"theta_{joint}" for joint in self.joints]
        return ", ".join(names) if len(names) < 3 else f"{names[0]} to {names[-1]}"


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SeriesValues:
    """``D = value * exp(log_scale)``; ``value`` of shape (M, N) is right to ``error``, both others of shape (M,)."""

    value: Array
    error: Array
    log_scale: Array


class _Panels(NamedTuple):
    """Tables of finished panels while they are collected, rows in any order; see `PostureSeries`."""

    low: np.ndarray
    high: np.ndarray
    nodes: np.ndarray
    taylor: np.ndarray
    size: np.ndarray
    tail: np.ndarray
    log_scale: np.ndarray

    def rows(self, chosen: np.ndarray) -> _Panels:
        return _Panels(*(x[chosen] for x in self))


def tabulate(
    expansion: Expansion, low: float, high: float, name: TheoryName, least: int = 1
) -> PostureSeries:
    """`posture_series` between two values of sqrt(omega); panels, ``least`` or more, are halved until they do."""
    edges = _first_edges(expansion, low, high, least)
    low_ends, high_ends = edges[:-1], edges[1:]
    ends = np.array([low, high])
    at_ends: list[np.ndarray] = []
    done: list[_Panels] = []
    for halving in range(_HALVINGS + 1):
        # with the first panels: few frequencies take nearly as long as many
        more = np.empty(0) if at_ends else ends
        panels, others = _tabulated(expansion, low_ends, high_ends, more)
        at_ends = at_ends or others
        # the demand falls as the panels do, so that rounding noise is not halved for ever
        allowed = _TAIL * 2.0**halving
        fine = np.all(panels.tail <= allowed * panels.size, axis=1)
        # in space, or on short panels, powers that weigh little may be noise beside the others
        if halving >= 2 or expansion.in_space:
            fine |= panels.tail.sum(axis=1) <= allowed * panels.size.sum(axis=1)
        fine |= halving == _HALVINGS
        done.append(panels.rows(fine))
        if fine.all():
            break
        centre = 0.5 * (low_ends + high_ends)[~fine]
        low_ends, high_ends = (
            np.concatenate([low_ends[~fine], centre]),
            np.concatenate([centre, high_ends[~fine]]),
        )
    p = _Panels(*map(np.concatenate, zip(*done, strict=True)))
    p = p.rows(np.argsort(p.low))
    coefficients, growth, rest = at_ends
    scaled = _scaled(growth, rest, p.log_scale[[0, -1]], np.array([-1.0, 1.0]))
    coefficients = coefficients * scaled[:, None]
    nodes = 0.5 * (p.low + p.high)[:, None] + 0.5 * (p.high - p.low)[:, None] * _nodes()
    between = p.nodes.reshape(-1, p.nodes.shape[2])
    arrays = {
        "edges": np.append(p.low, high),
        "taylor": p.taylor,
        "nodes": np.concatenate([ends[:1], nodes.ravel(), ends[1:]]),
        "at_nodes": np.concatenate([coefficients[:1], between, coefficients[1:]]),
        "error": _of_cells(_ROUNDING * p.size + _TAIL_TO_ERROR * p.tail, expansion.terms),
        "size": _of_cells(p.size, expansion.terms),
        "log_scale": p.log_scale,
    }
    numbers = tuple(joint + 1 for joint in expansion.joints)
    return PostureSeries(
        **jax.device_put(arrays), theory=name, terms=expansion.terms, joints=numbers
    )


def holds(series: PostureSeries, expansion: Expansion) -> bool:
    """Whether the series is the determinant in postures and at frequencies that have not made it; see `confirmed`."""
    return confirmed(series, expansion) is not None


def confirmed(
    series: PostureSeries,
    expansion: Expansion,
    combinations: Combinations | None = None,
    values: int = 4,
) -> np.ndarray | None:
    """The largest error of so many ``values`` of each panel, (P,), whose frequencies and places have not made it.

    It is a share of the largest value that the series can take in the cell. None where one is larger than the series
    says by more than chance, or where digits of the determinant itself are lost. ``combinations`` are those of
    terms with which values are made (`fewer_terms`).
    """
    rng, edges = np.random.default_rng(0), np.asarray(series.edges)
    panels, joints = edges.size - 1, len(expansion.joints)
    panel = np.repeat(np.arange(panels), values)
    low, high = edges[panel], edges[panel + 1]
    # closer towards the ends of a panel, where errors of interpolation are largest
    x = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(rng.uniform(0.0, np.pi, panel.size))
    u, places = _places(x, low, high), rng.uniform(-np.pi, np.pi, (joints, panel.size))
    if expansion.ranges is not None:
        places = np.concatenate([places, expansion.ranges.drawn(rng, panel.size)])
    d = expansion.determinant(x * x, unscaled(expansion.ranges, places))
    scale, powers = np.asarray(series.log_scale)[panel], expansion.terms.weights(places).T
    error, size = (
        np.sum(np.asarray(x).reshape(panels, -1)[panel] * powers, axis=1)
        for x in (series.error, series.size)
    )
    with np.errstate(all="ignore"):
        exact = d.factor * _scaled(d.growth, d.rest, scale, u)
        # places of a panel follow one another
        tables = in_groups(combinations, np.asarray(series.taylor))
        groups, start, columns = combined(combinations, expansion.terms.of(places)), 0, []
        for table, group in zip(tables, groups, strict=True):
            own = group[:, start : start + len(table) * values]
            columns.append(np.einsum("kdh,hk->dk", table.repeat(values, axis=0), own))
            start += own.shape[1]
        polynomials = np.concatenate(columns, axis=1)
        away = np.abs(functools.reduce(lambda v, c: c + v * u, polynomials[::-1]) - exact)
    good = (away <= _HELD_ERRORS * error) & (CERTAIN * d.noise < _DIGITS)
    return np.max((away / size).reshape(panels, values), axis=1) if good.all() else None


def _of_cells(rows: np.ndarray, terms: Terms) -> np.ndarray:
    """Rows (P, polynomials) as `PostureSeries` has them."""
    return rows if terms.powers else rows[:, 0]


def _scaled(
    growth: np.ndarray, rest: np.ndarray, log_scale: np.ndarray, u: np.ndarray
) -> np.ndarray:
    """What values are multiplied by where D has the factor exp(growth + rest), with log_scale (..., 2), at u.

    The exponent is a difference of numbers of some tens, one of which stands for the size of the values: it is taken to
    twice the digits, or its rounding would be the largest error of all.
    """
    exponent = DoubleDouble(growth, rest) - log_scale[..., 0]
    exponent = exponent - as_double_double(log_scale[..., 1]) * u
    return np.asarray(np.exp(exponent.hi) * (1.0 + exponent.lo))


def _places(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where on their panels, in u, the square roots of the rounded frequencies ``x * x`` lie."""
    centre, half = 0.5 * (low + high), 0.5 * (high - low)
    exact = number(x, Arithmetic.double_double) * number(x, Arithmetic.double_double)
    beside = (x * x - exact.hi) - exact.lo
    return np.asarray(((x - centre) + beside / (2.0 * x)) / half)


def _nodes() -> np.ndarray:
    """Chebyshev nodes, ascending."""
    return -np.cos((2.0 * np.arange(DEGREES) + 1.0) * np.pi / (2.0 * DEGREES))


@functools.cache
def _polynomials() -> tuple[np.ndarray, np.ndarray]:
    """Matrices (d, d) from values at the nodes to Chebyshev coefficients, and from those to powers of u."""
    to_chebyshev = np.linalg.inv(chebyshev.chebvander(_nodes(), DEGREES - 1))
    powers = [chebyshev.cheb2poly(row[: j + 1]) for j, row in enumerate(np.eye(DEGREES))]
    return to_chebyshev, np.array([np.pad(p, (0, DEGREES - p.size)) for p in powers]).T


def _first_edges(expansion: Expansion, low: float, high: float, least: int) -> np.ndarray:
    """Ends of panels over which waves of all links together turn by about pi, and at least so many panels."""
    even = np.linspace if expansion.ranges is None else np.geomspace
    x = even(low, high, _PHASE_SAMPLES)
    with np.errstate(all="ignore"):
        turns = expansion.turns(x * x)
    if (
        expansion.ranges is not None
    ):  # heavy bodies and soft springs have modes far below those of waves
        steps = np.maximum(np.diff(turns) / _PHASE, np.diff(np.log(x)) / math.log(_RATIO))
        turns = _PHASE * np.append(0.0, np.cumsum(np.maximum(steps, 0.0)))
    panels = max(least, math.ceil((turns[-1] - turns[0]) / _PHASE))
    if turns[-1] <= turns[0]:
        return np.linspace(low, high, panels + 1)
    return np.interp(np.linspace(turns[0], turns[-1], panels + 1), turns, x)


def _tabulated(
    expansion: Expansion, low: np.ndarray, high: np.ndarray, more: np.ndarray
) -> tuple[_Panels, list[np.ndarray]]:
    """Tables of the panels between ``low`` and ``high``, shapes (P,), and the coefficients at ``more``."""
    nodes, powers = _nodes(), expansion.terms.powers

    def of_powers(rows: np.ndarray) -> np.ndarray:
        return rows.reshape(*rows.shape[:2], -1, expansion.terms.polynomials)

    x = 0.5 * (low + high)[:, None] + 0.5 * (high - low)[:, None] * nodes
    found = expansion.coefficients(np.concatenate([x.ravel(), more]) ** 2)
    c, growth, rest = (values[: x.size] for values in found)
    c = c.reshape(*x.shape, -1)
    growth, rest = growth.reshape(x.shape), rest.reshape(x.shape)
    # a scale that is linear over the panel, so that values are of order 1 and rounding is not scaled up
    magnitude = np.mean(np.log(np.abs(of_powers(c)).sum(axis=2)), axis=2) + growth
    slope, centre = np.polyfit(nodes, magnitude.T, 1)
    log_scale = np.stack([centre, slope], axis=1)
    c = c * _scaled(growth, rest, log_scale[:, None], nodes)[:, :, None]
    to_chebyshev, to_powers = _polynomials()
    # frequencies are rounded: values are those of places beside the nodes, and are taken to these
    beside = _places(x, low[:, None], high[:, None]) - nodes
    at_nodes = np.vander(nodes, DEGREES, increasing=True)[:, :-1] * np.arange(1, DEGREES)
    to_slopes = at_nodes @ (to_powers @ to_chebyshev)[1:]
    c = c - beside[:, :, None] * (slope[:, None, None] * c + np.einsum("ud,pdh->puh", to_slopes, c))
    series = np.einsum("jd,pdh->pjh", to_chebyshev, c)
    size = balanced(np.abs(of_powers(c)).sum(axis=2).max(axis=1), powers)
    panels = _Panels(
        low=low,
        high=high,
        nodes=c,
        taylor=np.einsum("mj,pjh->pmh", to_powers, series),
        size=size,
        tail=np.sqrt((of_powers(series[:, -2:]) ** 2).sum(axis=(1, 2))),
        log_scale=log_scale,
    )
    return panels, [values[x.size :] for values in found]
