"""Masses and inertias of one body that a batch varies together, as one value of its determinant.

With ``M(x) = A + B x``, the mass matrix of a body is linear in one value x, and the determinant is a polynomial in x of
the rank of B: 3 for the mass, wherever its centre is, and one more for each axis that a component of the tensor about
this centre belongs to. So a tensor that grows as a whole takes degree 3, and with its mass 6, however many of its
components vary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from jaxmodal.postures.polynomial_values import Part, Quantity, Tie

_PART = re.compile(
    r"(payload|link\d+\.(?:body|hub|stator))\.(mass|inertia\.([xyz])([xyz]))", re.ASCII
)
#: values are tied where they are a line to so many roundings of the largest of their kind in the cell
_ROUNDINGS = 8.0 * 2.0**-52
#: the degree of D in a mass
OF_MASS = 3


def is_mass(address: str) -> bool:
    """Whether an address is that of the mass of a body in space."""
    named = _PART.fullmatch(address)
    return named is not None and named[2] == "mass"


def ties_of(singles: Mapping[int, str], values: np.ndarray) -> list[Tie]:
    """Return what varies together of the addresses of some rows of values (rows, cells): lines in all these cells."""
    bodies: dict[str, list[int]] = {}
    for row, address in singles.items():
        if named := _PART.fullmatch(address):
            bodies.setdefault(named[1], []).append(row)
    found = []
    for rows in bodies.values():
        left = sorted(rows, key=lambda row: _order(singles[row]))
        finite = np.isfinite(values[left]).all(axis=0)
        while len(left) > 1:
            some = values[:, finite]
            first = next((row for row in left if some.size and np.ptp(some[row]) > 0.0), None)
            if first is None:
                break
            tie = _tie([first, *(row for row in left if row != first)], singles, some)
            found += [tie] if len(tie.rows) > 1 else []
            left = [row for row in left if row not in tie.rows]
    return found


def _order(address: str) -> int:
    """Of values that are one the first sets the others: the mass, else a moment, which is not negative."""
    first, second = _axes(address)
    return 0 if is_mass(address) else 1 if first == second else 2


def _tie(rows: Sequence[int], singles: Mapping[int, str], values: np.ndarray) -> Tie:
    """Return the first of some rows with those that are lines in it."""
    first = singles[rows[0]]
    found = Tie(Quantity(first, 0, False, (Part(first, 0.0, 1.0),)), (rows[0],))
    x = values[rows[0]]
    low, high, far = int(np.argmin(x)), int(np.argmax(x)), int(np.argmax(np.abs(x)))
    for row in rows[1:]:
        y = values[row]
        slope = (y[high] - y[low]) / (x[high] - x[low])
        start = y[far] - slope * x[far]
        if abs(start) <= _ROUNDINGS * abs(y[far]):  # in proportion, down to the least
            start, slope = 0.0, y[far] / x[far]
        parts = (*found.quantity.parts, Part(singles[row], float(start), float(slope)))
        quantity = found.quantity._replace(degree=degree_of_parts(parts), parts=parts)
        with_it = Tie(quantity, (*found.rows, row))
        found = with_it if is_tied(with_it, values).all() else found
    return found


def is_tied(tie: Tie, values: np.ndarray) -> np.ndarray:
    """Whether the values (rows, cells) of a tie lie on its line, in each cell."""
    given = values[list(tie.rows)]
    expected = np.stack(list(tie.quantity.columns(given[0]).values()))
    masses = np.array([is_mass(part.address) for part in tie.quantity.parts])
    good = np.ones(values.shape[1], bool)
    for own in (masses, ~masses):
        if own.any():
            with np.errstate(invalid="ignore"):
                size = np.max(np.abs(given[own]), axis=0)
                away = np.max(np.abs(given[own] - expected[own]), axis=0)
            good &= away <= _ROUNDINGS * size
    return good


def degree_of_parts(parts: Sequence[Part]) -> int:
    """The rank of what a mass matrix changes by: 3 for a mass, 1 for each axis of a component that varies."""
    moved = [part.address for part in parts if part.slope]
    axes = {axis for address in moved for axis in _axes(address)} - {""}
    return OF_MASS * any(map(is_mass, moved)) + len(axes)


def _axes(address: str) -> tuple[str, str]:
    named = _PART.fullmatch(address)
    return (named[3] or "", named[4] or "") if named else ("", "")
