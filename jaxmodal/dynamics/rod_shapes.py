"""Assumed shapes of stretch and torsion of a link: displacement along its line, or rotation about it.

Like the shapes of bending they are functions of xi = x/l alone; at the base the value is 0, the slope is free.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from jaxmodal.arm.arguments import positive
from jaxmodal.dynamics.shapes import fitted, samples
from jaxmodal.runtime.array_types import Floats, Numbers


@dataclasses.dataclass(frozen=True)
class RodShapes:
    """Shapes of a rod that is held at its base.

    Attributes
    ----------
    count
        Number of shapes; a link with 0 shapes neither stretches nor twists.
    evaluate
        Function from positions xi in [0, 1], shape (s,), to phi and phi' with respect to xi, each of shape (s, count).
    """

    count: int
    evaluate: Callable[[Floats], tuple[Floats, Floats]]

    def in_tip_values(self) -> RodShapes:
        """Return the same shapes, each scaled to the value 1 at the end."""
        inner = self.evaluate
        factors = 1.0 / inner(np.ones(1))[0][0]

        def evaluate(xi: Floats) -> tuple[Floats, Floats]:
            phi, slope = inner(xi)
            return phi * factors, slope * factors

        return RodShapes(self.count, evaluate)


def polynomial_rods(count: int) -> RodShapes:
    """Return polynomials that are 0 at the base with orthogonal slopes: integrals of Legendre polynomials."""
    return combined_rods(np.eye(max(count, 1), count))


def combined_rods(coefficients: Numbers) -> RodShapes:
    """Return combinations of the first polynomials of `polynomial_rods`; ``coefficients`` has shape (size, count)."""
    integrals = _integrals(coefficients)

    def evaluate(xi: Floats) -> tuple[Floats, Floats]:
        x = 2.0 * np.asarray(xi) - 1.0
        return _table(x, integrals), _table(x, coefficients)

    return RodShapes(coefficients.shape[1], evaluate)


def _integrals(slopes: Numbers) -> Numbers:
    """Return the Legendre series that have these slopes in xi and are 0 at the base."""
    return np.asarray(legendre.legint(slopes, lbnd=-1.0, scl=0.5))


def sampled_rods(stations: Any, values: Any, tolerance: float = 1e-8) -> RodShapes:
    """Return shapes of stretch or torsion given by values at stations.

    Parameters
    ----------
    stations
        Positions x/l, ascending from 0 to 1, shape (s,). Positions that are denser near the ends fit best.
    values
        Value of each shape at the stations, relative to the base, shape (s, m); any scale.
    tolerance
        Largest allowed difference between fit and samples, relative to the largest sample.

    Raises
    ------
    ArmError
        If polynomials of a degree suitable for s stations do not fit the samples, as for a shape that is not 0 at the
        base.
    """
    xi, given = samples(stations, "values", values, "deform")
    tolerance = positive("tolerance", tolerance)
    return combined_rods(fitted_rods(xi, given, tolerance))


def fitted_rods(xi: Floats, values: Floats, tolerance: float) -> Numbers:
    """Return coefficients (size, m), for `combined_rods`, of polynomials that are 0 at the base and fit samples."""
    size = int(min(xi.size - 2, max(3, 3.0 * np.sqrt(xi.size))))
    table = _table(2.0 * xi - 1.0, _integrals(np.eye(size)))
    return fitted(table, values, tolerance, ("values", "held", "0"))


def _table(x: Floats, coefficients: Numbers) -> Floats:
    """Return the values of the Legendre series in the columns of ``coefficients``, shape (places, count)."""
    table: Numbers = legendre.legvander(x, len(coefficients) - 1) @ coefficients
    return table


def monomial_rods(count: int) -> RodShapes:
    """Return the shapes xi .. xi^count."""
    powers = np.arange(1, count + 1)

    def evaluate(xi: Floats) -> tuple[Floats, Floats]:
        x = np.asarray(xi)[:, None]
        return np.asarray(x**powers), np.asarray(powers * x ** (powers - 1))

    return RodShapes(count, evaluate)


def end_mass_rods(count: int, ratio: float) -> RodShapes:
    """Return the eigenfunctions of a uniform rod held at its base with an end mass of ``ratio`` times its own.

    The equation z tan z = 1/ratio has one root in each interval [k pi, (k + 1/2) pi]; bisection finds it to rounding.
    """
    low = np.pi * np.arange(count)
    high = low + 0.5 * np.pi
    for _ in range(60):
        middle = 0.5 * (low + high)
        beyond = np.cos(middle) - ratio * middle * np.sin(middle) < 0.0
        beyond = beyond != (np.arange(count) % 2 == 1)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    waves = 0.5 * (low + high)

    def evaluate(xi: Floats) -> tuple[Floats, Floats]:
        x = np.asarray(xi)[:, None]
        return np.sin(waves * x), np.asarray(waves * np.cos(waves * x))

    return RodShapes(count, evaluate)
