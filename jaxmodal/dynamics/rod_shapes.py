"""Assumed shapes of a link that stretches or twists: what its displacement along it or its turn about it may look like.

As the shapes of bending they are functions of xi = x/l alone, held at the base; there only the value is 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from jaxmodal.arm.arguments import positive
from jaxmodal.dynamics.shapes import samples
from jaxmodal.runtime.errors import ArmError

Numbers = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class RodShapes:
    """Shapes of a rod, held at its base.

    Attributes
    ----------
    count
        Number of shapes; 0 neither stretches nor twists.
    evaluate
        From places xi in [0, 1], shape (s,), to phi and phi' in xi, each of shape (s, count).
    """

    count: int
    evaluate: Callable[[Numbers], tuple[Numbers, Numbers]]

    def in_tip_values(self) -> RodShapes:
        """The same shapes, each 1 at the end."""
        inner = self.evaluate
        factors = 1.0 / inner(np.ones(1))[0][0]

        def evaluate(xi: Numbers) -> tuple[Numbers, Numbers]:
            phi, slope = inner(xi)
            return phi * factors, slope * factors

        return RodShapes(self.count, evaluate)


def polynomial_rods(count: int) -> RodShapes:
    """Polynomials held at the base with orthogonal slopes: integrals of Legendre's."""
    return combined_rods(np.eye(max(count, 1), count))


def combined_rods(coefficients: NDArray[Any]) -> RodShapes:
    """Shapes as combinations of the first polynomials of `polynomial_rods`, shape (size, count)."""
    integrals = _integrals(coefficients)

    def evaluate(xi: Numbers) -> tuple[Numbers, Numbers]:
        x = 2.0 * np.asarray(xi) - 1.0
        return _table(x, integrals), _table(x, coefficients)

    return RodShapes(coefficients.shape[1], evaluate)


def _integrals(slopes: NDArray[Any]) -> NDArray[Any]:
    """Legendre series of what has these slopes in xi and is 0 at the base."""
    return np.asarray(legendre.legint(slopes, lbnd=-1.0, scl=0.5))


def sampled_rods(stations: Any, values: Any, tolerance: float = 1e-8) -> RodShapes:
    """A user's shapes of a link that stretches or twists, given at stations.

    Parameters
    ----------
    stations
        Places x/l, ascending from 0 to 1, shape (s,). Places that crowd to the ends fit best.
    values
        Each shape there, relative to the base, shape (s, m); any scale.
    tolerance
        Largest allowed difference of the fit from the samples, over their largest value.

    Raises
    ------
    ArmError
        If polynomials of a degree that suits s stations do not meet the samples, as those of a shape that is not held
        at the base.
    """
    xi, given = samples(stations, "values", values, "deform")
    tolerance = positive("tolerance", tolerance)
    return combined_rods(fitted_rods(xi, given, tolerance))


def fitted_rods(xi: Numbers, values: Numbers, tolerance: float) -> NDArray[Any]:
    """Coefficients, for `combined_rods`, of polynomials held at the base that meet samples, shape (size, m)."""
    size = int(min(xi.size - 2, max(3, 3.0 * np.sqrt(xi.size))))
    table = _table(2.0 * xi - 1.0, _integrals(np.eye(size)))
    coefficients, *_ = np.linalg.lstsq(table, values, rcond=None)
    gap = np.abs(table @ coefficients - values).max() / np.abs(values).max()
    if not gap <= tolerance:
        raise ArmError(
            f"values: polynomials held at the base miss them by {gap:.1e} of their size, must be at most "
            f"{tolerance:.1e}; give more stations, smoother shapes, or values that begin with 0."
        )
    return np.asarray(coefficients)


def _table(x: Numbers, coefficients: NDArray[Any]) -> Numbers:
    """Legendre series by columns of coefficients, shape (places, count)."""
    table: Numbers = legendre.legvander(x, len(coefficients) - 1) @ coefficients
    return table


def monomial_rods(count: int) -> RodShapes:
    """The shapes xi .. xi^count."""
    powers = np.arange(1, count + 1)

    def evaluate(xi: Numbers) -> tuple[Numbers, Numbers]:
        x = np.asarray(xi)[:, None]
        return np.asarray(x**powers), np.asarray(powers * x ** (powers - 1))

    return RodShapes(count, evaluate)


def end_mass_rods(count: int, ratio: float) -> RodShapes:
    """The eigenfunctions of a uniform rod held at its base with a mass at its end, ``ratio`` times its own.

    Of the roots of z tan z = 1/ratio there is one in each half period; bisection finds it to the last bits.
    """
    low = np.pi * np.arange(count)
    high = low + 0.5 * np.pi
    for _ in range(60):
        middle = 0.5 * (low + high)
        beyond = np.cos(middle) - ratio * middle * np.sin(middle) < 0.0
        beyond = beyond != (np.arange(count) % 2 == 1)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    waves = 0.5 * (low + high)

    def evaluate(xi: Numbers) -> tuple[Numbers, Numbers]:
        x = np.asarray(xi)[:, None]
        return np.sin(waves * x), np.asarray(waves * np.cos(waves * x))

    return RodShapes(count, evaluate)
