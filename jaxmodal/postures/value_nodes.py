"""At which values beside the angles a determinant is evaluated, and what it is made of over their ranges.

Where a value ranges over many powers of ten, D does too. Its coefficients in Bernstein's polynomials at the ends of the
ranges are D there. Those between, of a mass, are found where they weigh most beside their neighbours, another place at
every frequency: so each coefficient has the digits that it needs in any cell.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from jaxmodal.postures.terms import Terms, value_polynomials
from jaxmodal.runtime.namespace import product

#: how near to an end of a range a place between may lie, and rounds over values in search of it where there are several
_NEAREST, _ROUNDS = 1e-12, 8
#: values up to so many times the usual one take one more than the degree, beyond that one of every decade and some more
_FAR = 8.0
#: so many values more of degrees above this one: then each counts by its own size
_MORE, _HIGH = 7, 3
#: a mass below this share of the usual one is as good as none
_SMALL = 0.01


def bernstein_coefficients(
    values: Callable[[np.ndarray], np.ndarray], powers: Sequence[int], to_terms: np.ndarray
) -> np.ndarray:
    """Coefficients of D, of degree 2 at the most in each of some values, at many frequencies.

    Parameters
    ----------
    values : Callable
        D at shares (values, F, N), or (values, 1, N) at all frequencies alike, in J postures, (F, N, J).
    powers : sequence of int
        The degree in each value.
    to_terms : np.ndarray, shape (J, J)
        From D in the postures to coefficients of the terms in the angles.

    Returns
    -------
    np.ndarray, shape (F, J polynomials)
        In the order of `Terms.of`.
    """
    shape = [power + 1 for power in powers]
    ends = [[0, power] if power else [0] for power in powers]
    corners = list(itertools.product(*ends))
    shares = np.array(corners, float).T / np.maximum(powers, 1)[:, None]
    at_corners = _terms(values(shares[:, None]), to_terms)
    found = np.zeros((*shape, *at_corners.shape[::2]))
    for number, corner in enumerate(corners):
        found[corner] = at_corners[:, number]
    curved = [axis for axis, power in enumerate(powers) if power == 2]
    for many in range(1, len(curved) + 1):
        between = [
            index
            for inner in itertools.combinations(curved, many)
            for index in itertools.product(
                *([1] if axis in inner else e for axis, e in enumerate(ends))
            )
        ]
        places = [_place(found, powers, index) for index in between]
        d = _terms(values(np.stack(places, axis=-1)), to_terms)
        for number, (index, place) in enumerate(zip(between, places, strict=True)):
            found[index] = _coefficient(found, d[:, number], place, powers, index)
    number = len(powers)
    return np.moveaxis(found, range(number), range(-number, 0)).reshape(found.shape[-2], -1)


def coefficients_on_grid(
    values: Callable[[np.ndarray], np.ndarray],
    shares: Sequence[np.ndarray],
    terms: Terms,
    to_terms: np.ndarray,
) -> np.ndarray:
    """As `bernstein_coefficients`, of D of any degree, from all combinations of some ``shares`` of each value."""
    grid = np.stack([x.ravel() for x in np.meshgrid(*shares, indexing="ij")])
    rows = _terms(values(grid[:, None]), to_terms)
    return fitted_in_turn(rows.reshape(len(rows), *(x.size for x in shares), -1), shares, terms)


def fitted_in_turn(rows: np.ndarray, shares: Sequence[np.ndarray], terms: Terms) -> np.ndarray:
    """Coefficients (F, J polynomials) from those of the terms in angles at all shares of values, (F, ..., J)."""
    every = zip(shares, terms.powers, terms.signed, strict=True)
    for axis, (own, power, signed) in enumerate(every, start=1):
        of_value = fitted(np.moveaxis(rows, axis, -2), own, power, signed)
        rows = np.moveaxis(of_value, -2, axis)
    return np.moveaxis(rows, -1, 1).reshape(len(rows), -1)


def _terms(values: np.ndarray, to_terms: np.ndarray) -> np.ndarray:
    """Coefficients of terms in the angles, from D in postures, (F, N, J)."""
    rows: np.ndarray = product(values.reshape(-1, values.shape[2]), to_terms.T)
    return rows.reshape(values.shape)


def _inner(powers: Sequence[int], index: tuple[int, ...]) -> list[int]:
    """The values of which an index is that of a coefficient between the ends."""
    return [axis for axis, power in enumerate(powers) if power == 2 and index[axis] == 1]


def _place(found: np.ndarray, powers: Sequence[int], index: tuple[int, ...]) -> np.ndarray:
    """Shares (values, F) where a coefficient between the ends weighs most beside all others, one value after the other.

    In one value that is where both ends weigh as much; how much all weigh beside it is convex in the logarithms of
    t/(1 - t), so that some rounds over all values find it.
    """
    inner, ones = _inner(powers, index), np.ones(found.shape[-2])
    odds = dict.fromkeys(inner, ones)
    for axis in inner * (_ROUNDS if len(inner) > 1 else 1):
        ends = []
        for end in (0, 2):
            total = 0.0 * ones
            own = [
                range(3) if x in inner and x != axis else [end if x == axis else index[x]]
                for x in range(len(powers))
            ]
            for other in itertools.product(*own):
                weight = math.prod(
                    math.comb(2, other[x]) * odds[x] ** other[x] for x in inner if x != axis
                )
                total = total + weight * np.abs(found[other]).sum(axis=1)
            ends.append(total)
        with np.errstate(all="ignore"):
            odds[axis] = np.clip(
                np.nan_to_num(np.sqrt(ends[0] / ends[1]), nan=1.0), _NEAREST, 1.0 / _NEAREST
            )
    rows = [
        odds[x] / (1.0 + odds[x]) if x in inner else ones * (index[x] / max(power, 1))
        for x, power in enumerate(powers)
    ]
    return np.stack(rows)


def _coefficient(
    found: np.ndarray,
    values: np.ndarray,
    place: np.ndarray,
    powers: Sequence[int],
    index: tuple[int, ...],
) -> np.ndarray:
    """The coefficient (F, J) between the ends, of D at its place, when those about it are known."""
    inner, left = _inner(powers, index), values
    weights = {}
    for axis in inner:
        share = place[axis]
        weights[axis] = [(1.0 - share) ** 2, 2.0 * share * (1.0 - share), share**2]
    every = [range(3) if axis in inner else [index[axis]] for axis in range(len(powers))]
    for other in itertools.product(*every):
        weight = math.prod(weights[axis][other[axis]] for axis in inner)
        if other == index:
            own = weight
        else:
            left = left - weight[:, None] * found[other]
    return left / own[:, None]


def balanced(size: np.ndarray, powers: Sequence[int]) -> np.ndarray:
    """Sizes of coefficients (P, polynomials), those between the ends no smaller than what may pass for them.

    Where such a coefficient is smaller than the root of its neighbours, it weighs less than they do in every cell.
    """
    found = size.reshape(-1, *(power + 1 for power in powers)).copy()
    for axis, power in enumerate(powers):
        rows = np.moveaxis(found, axis + 1, 0)
        ends = rows[0].copy(), rows[power].copy()
        for k in range(1, power):
            share = k / power
            rows[k] = np.maximum(rows[k], ends[0] ** (1.0 - share) * ends[1] ** share)
    return found.reshape(size.shape)


def even_shares(low: float, high: float, usual: float, power: int) -> np.ndarray:
    """Shares of a range that determine a polynomial.

    They lie as Chebyshev's places do in x/(x + usual), with ``usual`` moved into the range.
    """
    middle = float(np.clip(usual, low, high))
    ends = low / (low + middle), high / (high + middle)
    order = np.arange(power + 1)
    s = ends[0] + (ends[1] - ends[0]) * 0.5 * (1.0 - np.cos(np.pi * order / max(power, 1)))
    x = np.clip(middle * s / (1.0 - s), low, high)
    shares = (x - low) / (high - low)
    shares[-1] = 1.0 if power else shares[-1]
    return shares


def shares_of_range(
    ends: tuple[float, float, float], usual: float, power: int, bounded: bool = False
) -> np.ndarray:
    """Shares of a range that determine a polynomial to the last digits.

    ``ends`` are the sizes of its near and its far end, and the least share, below 0 of a range on both sides of 0.
    ``bounded`` values are not far from the usual one on either side.
    """
    near, far, least = ends
    if power < 2 or (bounded and least < 0.0):
        return np.linspace(least, 1.0, power + 1)
    if far < _FAR * usual:
        found = even_shares(near, far, usual, power + (_MORE if power > _HIGH else 0))
    else:
        found = wide_shares(near, far, usual, power)
    if least < 0.0:
        found = np.unique(np.concatenate([[least], -found[found < -least], found]))
    return found


def wide_shares(low: float, high: float, usual: float, power: int = 3) -> np.ndarray:
    """Shares of a range of values that goes far beyond the ``usual``: for `fitted`, at least one of every decade.

    Of degrees above 3 as many more as the degree is higher, so that a polynomial with all its powers in one decade is
    determined by the places there.
    """
    most = math.ceil(math.log10(high / max(low, _SMALL * usual)))
    each = math.ceil(power / 3)
    decades = (10.0 ** (-np.arange(each, most * each) / each) * high - low) / (high - low)
    last = np.arange(1.0, power + 2.0) / (power + 1.0)
    return np.unique(np.array([0.0, *decades[decades > 0.0][::-1], *last]))


def fitted(values: np.ndarray, shares: np.ndarray, power: int, signed: bool = False) -> np.ndarray:
    """Coefficients (..., power + 1, J) of `value_polynomials`, from values (..., N, J) at N shares of a range.

    Of more values than coefficients each counts by its own size, however many powers of ten lie between them, so that
    the coefficients give each of them to the last digits.
    """
    basis = np.array(value_polynomials(shares, power, signed)).T
    if shares.size == power + 1:
        return np.einsum("kn,...nj->...kj", np.linalg.inv(basis), values)
    with np.errstate(all="ignore"):
        size = np.sum(np.abs(values), axis=-1)[..., None]
        weighted = basis / np.where((size > 0.0) & np.isfinite(size), size, 1.0)
        largest = np.max(np.abs(weighted), axis=-2, keepdims=True)
        inverse = np.linalg.pinv(weighted / largest) / np.swapaxes(largest, -1, -2)
        inverse = inverse / np.swapaxes(size, -1, -2)
        found: np.ndarray = np.einsum("...kn,...nj->...kj", inverse, values)
        # what the inverse has rounded is taken off
        left = values - np.einsum("nk,...kj->...nj", basis, found)
        found = found + np.einsum("...kn,...nj->...kj", inverse, left)
    return found
