"""The fields of one element of a link, from Legendre polynomials of its strains."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.polynomial import legendre

from .cases import FELink

TAPER = 40
"""Quadrature points and degrees more where sections change along a link: the expansions converge geometrically."""


@cache
def quadrature(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points and weights, computed once: every element of a run of tests has the same few."""
    return legendre.leggauss(number)


@cache
def _uniform(degree: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """`_antiderivatives` of an element whose section does not change, at Gauss points and its end, computed once."""
    return _antiderivatives(degree, np.append(quadrature(number)[0], 1.0))


def _antiderivatives(
    degree: int, points: np.ndarray, weight: Callable[[np.ndarray], np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """First and second antiderivatives from -1 of P_0 ... P_degree, (points, degree + 1).

    With a weight those of weight * P_n, from the expansion of that product to TAPER degrees more.
    """
    series = np.eye(degree + 1)
    if weight is not None:
        nodes, weights = quadrature(degree + TAPER)
        basis = legendre.legvander(nodes, degree + TAPER - 1)
        product = basis[:, : degree + 1] * (weights * weight(nodes))[:, None]
        series = (basis * (np.arange(degree + TAPER) + 0.5)).T @ product
    once = legendre.legval(points, legendre.legint(series, m=1, lbnd=-1.0, axis=0)).T
    twice = legendre.legval(points, legendre.legint(series, m=2, lbnd=-1.0, axis=0)).T
    return once, twice


def element_fields(link: FELink, length: float, model: str, degree: int, number: int):
    """Fields (u, v, psi, v') of one element relative to its base per unit-energy strain coefficient.

    At as many Gauss points and at the element's end.
    """
    points = np.append(quadrature(number)[0], 1.0)

    def along(part: int) -> tuple[np.ndarray, np.ndarray]:
        """Antiderivatives of the strains that A (0) or I (1) resists, over the root of its share."""
        taper, full = link.taper, (link.A, link.I)[part]
        if taper is None:
            return _uniform(degree, number)
        return _antiderivatives(degree, points, lambda x: np.sqrt(full / taper((x + 1) / 2)[part]))

    once, twice = along(1)
    stretched, _ = along(0)
    order = np.arange(degree + 1)
    zero = np.zeros_like(once)
    scale = np.sqrt(2 * order + 1.0)
    half = length / 2
    bend = scale / np.sqrt(link.E * link.I * length)
    u, v, psi = [zero], [half**2 * twice * bend], [half * once * bend]
    slope = [*psi]
    if model == "timoshenko":
        shear = scale / np.sqrt(link.kG * link.A * length)
        u, v, psi = [*u, zero], [*v, half * stretched * shear], [*psi, zero]
        slope = [*slope, legendre.legvander(points, degree) * shear]
    if model != "bending_only":
        axial = scale / np.sqrt(link.E * link.A * length)
        u, v, psi = [*u, half * stretched * axial], [*v, zero], [*psi, zero]
        slope = [*slope, zero]
    return np.hstack(u), np.hstack(v), np.hstack(psi), np.hstack(slope)
