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
    slopes = np.eye(max(count, 1), count)
    integrals = legendre.legint(slopes, lbnd=-1.0, scl=0.5)

    def evaluate(xi: Numbers) -> tuple[Numbers, Numbers]:
        x = 2.0 * np.asarray(xi) - 1.0
        return _table(x, integrals), _table(x, slopes)

    return RodShapes(count, evaluate)


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


def fixed_free_rods(count: int) -> RodShapes:
    """The eigenfunctions of a uniform rod held at its base and free at its end: sin((2 j - 1) pi xi/2)."""
    waves = (np.arange(1, count + 1) - 0.5) * np.pi

    def evaluate(xi: Numbers) -> tuple[Numbers, Numbers]:
        x = np.asarray(xi)[:, None]
        return np.sin(waves * x), np.asarray(waves * np.cos(waves * x))

    return RodShapes(count, evaluate)
