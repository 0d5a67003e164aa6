"""The number of motions of an arm of rigid links that move a mass, which is its number of modes.

A direction without mass in which springs deflect, such as the rotation about the line through a point mass, has no
frequency. Rounding errors of the given axes and of sums leave a small mass there, which would cause a false frequency
of 1e15 rad/s or more. The mass matrix of the spring deflections is computed in double-double. The mass of each
deflection that remains after elimination of the others is compared with the magnitude of the terms it was summed from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, leading
from jaxmodal.spatial.stiffness.constants import ReducedLink
from jaxmodal.spatial.stiffness.matrices import cross, product, shaped, stacked, transposed

#: a mass below this share of its terms is rounding in double-double: axes are given to 2e-16, and a mass has their
#: square
_NO_MASS = 1e-29
#: a mass above this share of its terms is surely a mass in float64
_MASS = 1e-10


def moved_masses(links_in: Callable[[Arithmetic], Sequence[ReducedLink]]) -> np.ndarray:
    """Return the number of independent motions of the springs of rigid links that move a mass, in each cell.

    Parameters
    ----------
    links_in
        Function from an arithmetic to the links, all rigid.

    Returns
    -------
    np.ndarray, shape (1,) or (cells,)
        The numbers; free joints count as springs.
    """
    links = links_in(Arithmetic.float64)
    number = sum(len(link.springs) for link in links)
    if not number:
        return np.zeros(1, np.int64)
    found = _rank(*_masses(links, number), _MASS)
    if np.all(found == number):
        return found
    return _rank(*_masses(links_in(Arithmetic.double_double), number), _NO_MASS)


def _masses(links: Sequence[ReducedLink], number: int) -> tuple[Number, np.ndarray]:
    """Return the mass matrix of the spring deflections, (springs, springs, cells), and sizes of its diagonal terms."""
    zero = links[0].inner.mass * 0.0
    blank = stacked([stacked([zero] * number)] * 3)  # by direction, spring, trial and cell
    along, about, place = blank, blank, 0
    mass, sizes = zero[0] * 0.0, np.zeros(1)
    ways, turns = (
        np.zeros((number, 1)),
        np.zeros((number, 1)),
    )  # upper bounds of velocities for unit deflections
    for link in links:
        back = transposed(link.rotation)
        ways = ways + turns * _norm(link.offset)
        along = product(back, along + cross(about, link.offset[:, None]))
        about = before = product(back, about)
        for spring in link.springs:
            gives = ((leading(spring.unit) == 0.0) | (leading(spring.compliance) > 0.0)) * 1.0
            own = np.zeros((number, 1, 1))
            own[place] = 1.0
            six = spring.direction[:, None] * (own * gives)
            along, about = along + six[:3], about + six[3:]
            ways = ways + own[..., 0] * _norm(spring.direction[:3])
            turns = turns + own[..., 0] * _norm(spring.direction[3:])
            place += 1
        body = link.inner
        momentum = along * body.mass + cross(about, body.moment[:, None])
        spin = cross(body.moment[:, None], along) + product(body.inertia, about)
        mass = mass + _products(along, momentum) + _products(about, spin)
        moment, inertia = _norm(body.moment), _norm(body.inertia)
        sizes = sizes + leading(body.mass)[0] * ways**2 + 2.0 * moment * ways * turns
        sizes = sizes + inertia * turns**2
        if link.rotor is not None:
            axis = link.springs[-1].direction[3:, None]
            for factor, turning in zip(link.rotor, (about - before, about, before), strict=True):
                spun = product(transposed(axis), turning)
                mass = mass + _products(spun * factor, spun)
                sizes = sizes + np.abs(leading(factor)[0]) * turns**2
    return mass, sizes


def _norm(x: Number) -> np.ndarray:
    """Return the root of the sum of squares of small first axes, (cells,)."""
    values = leading(x)
    return np.sqrt(np.sum(values**2, axis=tuple(range(values.ndim - 1))))


def _products(left: Number, right: Number) -> Number:
    """Return the sums over directions of the products of every two gives, (springs, springs, cells)."""
    return product(transposed(left), right)[:, :, 0]


def _rank(mass: Number, sizes: np.ndarray, least: float) -> np.ndarray:
    """Return the number of pivots of an elimination that exceed a share of ``sizes`` (springs, cells).

    The largest remaining pivot is eliminated first.
    """
    size, cells = leading(mass).shape[1:]
    scale = np.broadcast_to(1.0 / np.where(sizes > 0.0, sizes, 1.0), (size, cells))
    left, found = np.ones((size, cells), bool), np.zeros(cells, np.int64)
    for _ in range(size):
        diagonal = np.diagonal(leading(mass)).T
        place = np.argmax(np.where(left, diagonal * scale, -1.0), axis=0)
        row = shaped(mass, lambda x, p=place: np.take_along_axis(x, p[None, None], 0)[0])  # type: ignore[misc]
        pivot = shaped(row, lambda x, p=place: np.take_along_axis(x, p[None], 0))  # type: ignore[misc]
        counts = np.take_along_axis(scale, place[None], 0) * leading(pivot) > least
        found += counts[0]
        np.put_along_axis(left, place[None], False, 0)
        mass = mass - row[:, None] * row[None] / (pivot + ~counts * 1.0) * (counts * 1.0)
    return found
