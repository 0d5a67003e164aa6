"""Assumed shapes of bending of one link, clamped at its base.

A shape is a function of xi = x/l alone. Shapes are computed in NumPy and are constants of a model: derivatives of a
model with respect to values of an arm keep them fixed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import positive, reals
from jaxmodal.dynamics.frequency_equation import (
    EndBody,
    basis,
    clamped_polynomials,
    end_conditions,
    wave_numbers,
)
from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.runtime.errors import ArmError

#: phi, phi', phi'' with respect to xi at some positions, each of shape (positions, modes)
Values = tuple[Floats, Floats, Floats]

_BASE_TOLERANCE = 1e-9


@dataclasses.dataclass(frozen=True)
class LinkShapes:
    """Assumed shapes of bending of one link.

    Attributes
    ----------
    count
        Number of shapes m; 0 for a rigid link.
    evaluate
        Function from positions xi in [0, 1], shape (s,), to phi, phi' and phi'' in xi, each of shape (s, m).
    family
        Name of the family, for messages.
    modal_mass
        Modal mass of each shape over the mass of the link, shape (m,); for clamped-mass shapes it includes the body at
        the end.
    """

    count: int
    evaluate: Callable[[Floats], Values]
    family: str
    modal_mass: Floats

    def __post_init__(self) -> None:
        phi, slope, _ = self.evaluate(np.array([0.0, 1.0]))
        scale = np.maximum(np.abs(phi).max(initial=0.0), np.abs(slope).max(initial=0.0))
        worst = np.maximum(np.abs(phi[:1]).max(initial=0.0), np.abs(slope[:1]).max(initial=0.0))
        if not worst <= _BASE_TOLERANCE * scale:
            raise ArmError(
                f"shapes of family {self.family!r}: deflection and slope at the base reach {worst!r}, must be 0; the "
                "joint angle contains the rotation there, so give shapes that are clamped at the base."
            )

    def scaled(self, factors: Floats) -> LinkShapes:
        """Return the same shapes, each multiplied by a factor, shape (m,)."""
        inner = self.evaluate

        def evaluate(xi: Floats) -> Values:
            phi, slope, curvature = inner(xi)
            return phi * factors, slope * factors, curvature * factors

        return LinkShapes(self.count, evaluate, self.family, self.modal_mass * factors**2)

    def in_tip_deflections(self) -> LinkShapes:
        """Return the shapes, each scaled to 1 at the end: a coordinate is the tip deflection of its shape, m."""
        phi, _, _ = self.evaluate(np.linspace(0.0, 1.0, 101))
        if np.any(np.abs(phi[-1]) < 1e-9 * np.abs(phi).max(axis=0, initial=0.0)):
            raise ArmError(
                "coordinates = 'tip_deflection': a shape has a node at the end of its link, so that its tip "
                "deflection is 0; choose coordinates = 'as_given'."
            )
        return self.scaled(1.0 / phi[-1])


def clamped_mass_shapes(
    count: int, end: EndBody, link_mass: float, link_length: float
) -> LinkShapes:
    """Return the first eigenfunctions of a link that is clamped at its base and carries a body at its end.

    Parameters
    ----------
    end
        Body at the end; an `EndBody` of zeros gives clamped-free shapes.
    link_mass, link_length
        Mass in kg and length in m of the uniform link.

    Returns
    -------
    LinkShapes
        Shapes with positive curvature at the base, scaled so that the modal mass, body included, equals the mass of the
        link: eq (30) of De Luca and Siciliano with the tip terms that are missing there.
    """
    mass = end.mass / link_mass
    inertia = end.inertia / (link_mass * link_length**2)
    moment = end.first_moment / (link_mass * link_length)
    waves = wave_numbers(mass, inertia, moment, count)
    matrices = [end_conditions(wave, mass, inertia, moment) for wave in waves]
    combos = np.array([np.linalg.svd(matrix)[2][-1] for matrix in matrices]).reshape(count, 2)

    def raw(xi: Floats) -> Values:
        both = basis(waves[None, :], np.asarray(xi)[:, None])
        of_first, of_second = combos[:, 0], combos[:, 1]
        values = [of_first * a + of_second * b for a, b in zip(*both, strict=True)]
        return values[0], values[1], values[2]

    nodes, weights = quadrature(24 + 2 * count)
    phi, _, _ = raw(nodes)
    tip, tip_slope, _ = (row[0] for row in raw(np.ones(1)))
    modal = weights @ phi**2 + mass * tip**2
    modal = modal + inertia * tip_slope**2 + 2.0 * moment * tip * tip_slope
    sign = np.sign(raw(np.zeros(1))[2][0])
    bare = LinkShapes(count, raw, "clamped_mass", modal)
    return bare.scaled(sign / np.sqrt(modal))


def _with_own_mass(count: int, evaluate: Callable[[Floats], Values], family: str) -> LinkShapes:
    nodes, weights = quadrature(24 + 2 * count)
    phi, _, _ = evaluate(nodes)
    return LinkShapes(count, evaluate, family, weights @ phi**2)


def monomial_shapes(count: int) -> LinkShapes:
    """Return the shapes xi^2 .. xi^(count + 1); with more than eight, rounding dominates: use `polynomial_shapes`."""
    powers = np.arange(2, count + 2)

    def evaluate(xi: Floats) -> Values:
        x = np.asarray(xi)[:, None]
        return (
            x**powers,
            powers * x ** (powers - 1),
            powers * (powers - 1) * x ** (powers - 2),
        )

    return _with_own_mass(count, evaluate, "monomial")


def polynomial_shapes(count: int) -> LinkShapes:
    """Return polynomials of degrees 2 to count + 1 with orthogonal curvatures (Legendre polynomials)."""
    return combined(count, np.eye(count), "polynomial")


def samples(stations: Any, name: str, given: Any, verb: str) -> tuple[Floats, Floats]:
    """Return checked stations (s,) and values (s, m), one column per shape; ``verb`` is used in messages.

    Raises
    ------
    ArmError
        If they do not fit together, or there are none.
    """
    xi = reals("stations", stations, "ascending numbers from 0 to 1, shape (s,)")
    values = reals(name, given, "numbers, a column for each shape, shape (s, m)")
    if xi.ndim != 1 or values.ndim != 2 or len(values) != xi.size or xi.size < 5 or not values.size:
        raise ArmError(
            f"{name}: of shape {values.shape} at stations of shape {xi.shape}; must be (s, m) at (s,) with 5 stations "
            "or more, a column for each shape."
        )
    if not (xi[0] == 0.0 and xi[-1] == 1.0 and np.all(np.diff(xi) > 0.0)):
        raise ArmError(
            f"stations: from {xi[0]!r} to {xi[-1]!r}; must ascend from 0 to 1, in units of the link's length."
        )
    if not np.all(np.isfinite(values)) or not np.all(np.any(values, axis=0)):
        raise ArmError(
            f"{name}: hold a value that is not finite, or a shape of zeros; must be shapes that {verb}, a column for "
            "each."
        )
    return xi, values


def sampled_shapes(stations: Any, deflections: Any, tolerance: float = 1e-8) -> LinkShapes:
    """Return shapes of bending given by deflections at stations.

    Parameters
    ----------
    stations
        Positions x/l, ascending from 0 to 1, shape (s,). Positions that are denser near the ends fit best.
    deflections
        Deflection of each shape at the stations, relative to the tangent at the base, shape (s, m); any scale.
    tolerance
        Largest allowed difference between fit and samples, relative to the largest sample.

    Raises
    ------
    ArmError
        If polynomials of a degree suitable for s stations do not fit the samples, as for a shape that is not clamped at
        the base.
    """
    xi, values = samples(stations, "deflections", deflections, "bend")
    tolerance = positive("tolerance", tolerance)
    size, coefficients = fitted_polynomials(xi, values, tolerance)
    return combined(size, coefficients, "sampled")


def fitted_polynomials(xi: Floats, values: Floats, tolerance: float) -> tuple[int, Numbers]:
    """Return the number of clamped polynomials that fit samples, and their coefficients, shape (size, m)."""
    size = int(min(xi.size - 3, max(3, 3.0 * np.sqrt(xi.size))))
    table, _, _ = clamped_polynomials(xi, size)
    words = "deflections", "clamped", "phi(0) = phi'(0) = 0"
    return size, fitted(table, values, tolerance, words)


def fitted(table: Floats, values: Floats, tolerance: float, words: tuple[str, str, str]) -> Numbers:
    """Return coefficients of the columns of a table that fit samples.

    ``words`` name the samples, how polynomials begin at the base, and how samples have to begin.
    """
    name, held, begin = words
    coefficients, *_ = np.linalg.lstsq(table, values, rcond=None)
    gap = np.abs(table @ coefficients - values).max() / np.abs(values).max()
    if not gap <= tolerance:
        raise ArmError(
            f"{name}: polynomials {held} at the base miss them by {gap:.1e} of their size, must be at most "
            f"{tolerance:.1e}; give more stations, smoother shapes, or {name} that begin with {begin}."
        )
    return np.asarray(coefficients)


def combined(size: int, coefficients: Numbers, family: str) -> LinkShapes:
    """Return combinations of the first ``size`` polynomials of `polynomial_shapes`; coefficients of shape (size, m)."""

    def evaluate(xi: Floats) -> Values:
        tables = clamped_polynomials(np.asarray(xi), size)
        return tables[0] @ coefficients, tables[1] @ coefficients, tables[2] @ coefficients

    return _with_own_mass(coefficients.shape[1], evaluate, family)


def shapes_of_functions(
    functions: Sequence[tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]],
) -> LinkShapes:
    """Return shapes that are each given as three functions of xi = x/l: phi, its slope and its curvature in xi.

    Raises
    ------
    ArmError
        If a slope or curvature is not the derivative of the preceding function.
    """

    def evaluate(xi: Floats) -> Values:
        x = np.asarray(xi, np.float64)
        rows = [
            np.stack([np.broadcast_to(f[k](x), x.shape) for f in functions], axis=-1)
            for k in range(3)
        ]
        return rows[0], rows[1], rows[2]

    places, step = np.linspace(0.1, 0.9, 17), 1e-4
    low, middle, high = (evaluate(places + shift) for shift in (-step, 0.0, step))
    for order, name in ((1, "slope"), (2, "curvature")):
        difference = (high[order - 1] - low[order - 1]) / (2.0 * step)
        size = np.maximum(np.abs(difference).max(axis=0), np.abs(middle[0]).max(axis=0))
        gap = np.abs(difference - middle[order]).max(axis=0) / size
        if not np.all(gap < 1e-5):
            number = int(np.argmax(gap)) + 1
            raise ArmError(
                f"{name} of shape {number}: differs from the derivative by {gap.max():.1e} of its size, must be the "
                "derivative with respect to xi = x/l, not to x."
            )
    return _with_own_mass(len(functions), evaluate, "functions")
