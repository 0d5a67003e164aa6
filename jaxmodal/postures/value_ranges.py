"""Where the values of cells lie, in which a determinant D is a polynomial, and their shares of these ranges.

A value x, of a spring its compliance, is taken as its share t of its range, 0 to 1, and D as a sum of Bernstein's
polynomials in t (`terms`). These are positive: however many powers of ten lie between the ends of a range, every value
of D has the digits that a value there may have. Shares are measured from the end next to 0, and where a range lies on
both sides of it from 0, from -1 to 1: there D is a sum of Bernstein's polynomials in the square of t, even and odd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmodal.postures.polynomial_values import Quantity
from jaxmodal.runtime.namespace import Array, xp

#: a range goes beyond the values of a sample by this factor
_WIDER = 1.05
#: held-back values are drawn down to this share of the end of a range that begins at 0
_NARROWEST = 1e-9
#: the end of a range of bodies of 0, or rigid springs, alone: a share of what is usual, and over what is usual
_LEAST = 1e-3


class Ranges(NamedTuple):
    """Where values lie, of springs their compliances; each of shape (values,).

    Attributes
    ----------
    near, far : Array
        From where shares are measured, 0 or the end next to it, and the end away from it, which has the share 1.
    least : Array
        The least share: 0, or that of the other end of a range on both sides of 0, which is negative.
    spring : Array
        Which are springs.
    """

    near: Array
    far: Array
    least: Array
    spring: Array

    @classmethod
    def of(
        cls, values: np.ndarray, quantities: Sequence[Quantity], usual: Sequence[float]
    ) -> Ranges:
        """Of some values (values, samples) of quantities, springs up to inf; ``usual`` is one of each.

        A stiffness of 0 has another number of modes: no range has it.
        """
        springs = np.array([q.spring for q in quantities], bool)
        rows = _coordinates(values, springs)
        low, high = rows.min(axis=1), rows.max(axis=1)
        low = np.where(low < 0.0, low * _WIDER, low / _WIDER)
        high = np.where(high < 0.0, high / _WIDER, high * _WIDER)
        least = _LEAST * _coordinates(np.array(usual, float)[:, None], springs)[:, 0]
        high = np.where((high > low) | np.isinf(high), high, least)
        down = np.abs(low) > np.abs(high)
        near, far = np.where(down, high, low), np.where(down, low, high)
        both = (low < 0.0) & (high > 0.0)
        least_share = np.where(both, near / np.where(both, far, 1.0), 0.0)
        return cls(np.where(both, 0.0, near), far, least_share, springs)

    @property
    def signed(self) -> tuple[bool, ...]:
        """Which of the ranges lie on both sides of 0."""
        return tuple((np.asarray(self.least) < 0.0).tolist())

    def ends(self, number: int) -> tuple[float, float, float]:
        """The sizes of the near and the far end of one of the ranges, and its least share."""
        near, far, least = (float(np.asarray(x)[number]) for x in self[:3])
        return abs(near), abs(far), least

    def scaled(self, values: Array) -> Array:
        """Values (values, ...) as shares of their ranges."""
        near, far, _, spring = (x.reshape(-1, *(1,) * (values.ndim - 1)) for x in self)
        return (_coordinates(values, spring) - near) / (far - near)

    def values(self, scaled: np.ndarray) -> np.ndarray:
        """Return the values (values, ...) from which `scaled` was made."""
        near, far, _, spring = (np.asarray(x).reshape(-1, *(1,) * (scaled.ndim - 1)) for x in self)
        x = np.where(scaled == 1.0, far, near + (far - near) * scaled)
        return np.asarray(_coordinates(x, spring))

    def drawn(self, rng: np.random.Generator, number: int) -> np.ndarray:
        """Some places of values, (values, number), scaled: every other one evenly in its logarithm.

        Of a range on both sides of 0 these are as often on the one as on the other.
        """
        even = rng.uniform(0.0, 1.0, (len(self.near), number))
        near, far, least = (np.asarray(x)[:, None] for x in self[:3])
        near, far = np.abs(near), np.abs(far)
        start = np.where(near > 0.0, near, _NARROWEST * far)
        at = np.arange(number)
        x = start * (far / start) ** even
        by_size = np.clip((x - near) / (far - near), 0.0, 1.0)
        by_size = np.where((least < 0.0) & (at % 4 == 1), least * by_size, by_size)
        return np.where(at % 2 == 0, least + (1.0 - least) * even, by_size)


def _coordinates(values: Array, spring: Array) -> Array:
    """In what D is a polynomial: values themselves, of springs 1/k, 0 for inf; spring of shape (values,) or wider."""
    spring = spring.reshape(spring.shape + (1,) * (values.ndim - spring.ndim))
    with np.errstate(divide="ignore", over="ignore"):
        return xp.where(spring, 1.0 / xp.where(spring, values, 1.0), values)


def scaled(ranges: Ranges | None, places: Array) -> Array:
    """Places of cells, angles first, with values as shares of their ranges."""
    if ranges is None:
        return places
    angles = places.shape[0] - ranges.near.shape[0]
    return xp.concatenate([places[:angles], ranges.scaled(places[angles:])])


def unscaled(ranges: Ranges | None, places: np.ndarray) -> np.ndarray:
    """Return the values from which `scaled` was made."""
    if ranges is None:
        return places
    angles = places.shape[0] - ranges.near.shape[0]
    return np.concatenate([places[:angles], ranges.values(places[angles:])])


def within(ranges: Ranges | None, places: Array) -> Array:
    """Which cells have all values in their ranges; those of angles alone have."""
    if ranges is None:
        return xp.ones(places.shape[1:], bool)
    values = places[places.shape[0] - ranges.near.shape[0] :]
    share = ranges.scaled(values)
    least, spring = (
        x.reshape(-1, *(1,) * (values.ndim - 1)) for x in (ranges.least, ranges.spring)
    )
    # a stiffness of -inf has the compliance 0, too
    return xp.all(((values >= 0.0) | ~spring) & (share >= least) & (share <= 1.0), axis=0)
