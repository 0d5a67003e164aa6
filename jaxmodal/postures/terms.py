"""Which products of sines, cosines and powers the determinant is made of, and the places that determine it."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np

from jaxmodal.arithmetic.operations import keep, sin_cos
from jaxmodal.runtime.namespace import Array, xp


@dataclasses.dataclass(frozen=True)
class Terms:
    """Products of 1, cos k theta (even) and sin k theta (odd) of every joint, k up to ``degree``.

    Of an arm that is ``mirrored``, which has the same frequencies in the opposite posture, those with an even number of
    odd factors. Each of them times the `value_polynomials` of the degrees ``powers`` in further values, which are
    between 0 and 1, or those that are ``signed`` between -1 and 1: their signs stay the same on each side of 0 and
    their sizes, the `weights` of a cell, add up to 2 at the most for each, so that terms which differ by many powers of
    ten do not spoil each other.
    """

    degree: int
    mirrored: bool
    powers: tuple[int, ...] = ()
    signed: tuple[bool, ...] = ()

    @property
    def points(self) -> int:
        """Angles of one joint that determine what it does."""
        return 2 * self.degree + 1

    def number(self, joints: int) -> int:
        """Number of terms."""
        every = self.points**joints
        return ((every + 1) // 2 if self.mirrored else every) * self.polynomials

    @property
    def polynomials(self) -> int:
        """Products of polynomials in the values for each of sines and cosines."""
        return math.prod(power + 1 for power in self.powers)

    @property
    def of_angles(self) -> Terms:
        """The terms in the angles alone."""
        return dataclasses.replace(self, powers=(), signed=())

    def over(self, signed: tuple[bool, ...]) -> Terms:
        """The terms of values of which some are ``signed``."""
        return dataclasses.replace(self, signed=signed)

    def largest(self, number: int) -> float:
        """Return a bound of the root of the sum of squares of so many terms' sines and cosines."""
        # those of a joint have squares that add up to degree + 1
        return math.sqrt((self.degree + 1.0) ** self.joints(number))

    def joints(self, number: int) -> int:
        """How many joints make so many terms; none where the degree is 0."""
        if self.degree == 0:
            return 0
        number = number // self.polynomials
        every = 2 * number - 1 if self.mirrored else number
        return round(float(np.log(every) / np.log(self.points)))

    def of(self, places: Array) -> Array:
        """The terms in postures.

        Parameters
        ----------
        places : Array, shape (joints + powers, ...)
            Joint angles in rad, and the further values, 0 to 1 or -1 to 1.

        Returns
        -------
        Array, shape (H, ...)
            In the order of `names`.

        Examples
        --------
        >>> import numpy as np
        >>> IN_THE_PLANE.of(np.zeros((2, 1))).shape, IN_SPACE.of(np.zeros((2, 1))).shape
        ((13, 1), (81, 1))
        """
        angles = places[: len(places) - len(self.powers)]
        even: list[Array] = [_ones(places)]
        odd: list[Array] = []
        for angle in angles:
            ((sine, cosine, _),) = sin_cos(xp.abs(angle))
            sine, cosine = keep(xp.where(angle < 0.0, -sine, sine)), keep(cosine)
            # of degree 0 an angle has no terms: it turns nothing
            first, second = [cosine][: self.degree], [sine][: self.degree]
            for k in range(
                1, self.degree
            ):  # of k + 1 from k: the half of it, or from those of 1 and k
                half = (k + 1) // 2 - 1 if k % 2 else 0
                c, s, d, t = first[half], second[half], first[k - 1 - half], second[k - 1 - half]
                first.append(keep(c * d - s * t))
                second.append(keep(2.0 * s * c if k % 2 else s * d + c * t))
            even, odd = (
                even + [a * b for a in even for b in first] + [a * b for a in odd for b in second],
                odd + [a * b for a in odd for b in first] + [a * b for a in even for b in second],
            )
        found = even if self.mirrored else even + odd
        if not self.powers:
            return xp.stack(found)
        # one operation, of which XLA makes one loop, and not one for each term
        products = xp.stack(found)[:, None] * xp.stack(self._products(places))[None]
        return products.reshape(-1, *places.shape[1:])

    def weights(self, places: Array) -> Array:
        """Sizes of the products of polynomials in the further values of `places`, (polynomials, ...)."""
        found = xp.stack(self._products(places))
        return xp.abs(found) if any(self.signed) else found

    def _products(self, places: Array) -> list[Array]:
        found: list[Array] = [_ones(places)]
        values = places[len(places) - len(self.powers) :]
        signed = self.signed or (False,) * len(self.powers)
        for power, value, both in zip(self.powers, values, signed, strict=True):
            polynomials = [keep(x) for x in value_polynomials(value, power, both)]
            found = [a * b for a in found for b in polynomials]
        return found

    def names(self, joints: Sequence[int]) -> list[str]:
        """Return the name of each term, for joints of these numbers."""
        even, odd = [""], list[str]()
        for joint in joints:
            first, second = (
                [f" {f}({k} theta{joint})".replace("(1 ", "(") for k in range(1, self.degree + 1)]
                for f in ("cos", "sin")
            )
            even, odd = (
                even + [a + b for a in even for b in first] + [a + b for a in odd for b in second],
                odd + [a + b for a in odd for b in first] + [a + b for a in even for b in second],
            )
        every = even if self.mirrored else even + odd
        return [name.strip() or "1" for name in every]

    @functools.lru_cache(maxsize=8)  # noqa: B019 (there are few of them)
    def sampling(self, joints: int) -> tuple[np.ndarray, np.ndarray]:
        """Postures (joints, J) that determine what angles do, and the matrix (J, J) from values there to coefficients.

        Of terms that are not mirrored they are all of a grid, of which the last joint's angles follow one another.
        """
        points = self.points
        steps = np.concatenate([np.arange(self.degree + 1), np.arange(-self.degree, 0)])
        angles_of_one = 2.0 * np.pi / points * steps
        every = list(itertools.product(range(points), repeat=joints))
        grid = np.array(every, int).reshape(points**joints, joints)
        if self.mirrored:  # of each posture and its mirror image, the first
            chosen = [tuple(row) <= tuple(-row % points) for row in grid]
            grid = grid[np.array(chosen)]
        angles = angles_of_one[grid].T
        terms = self.of_angles.of(angles)
        # on all points of the grid the terms are orthogonal; of mirrored ones each but the first stands for two
        both = 2.0 if self.mirrored else 1.0
        weighted = terms * np.where(np.arange(angles.shape[1]) == 0, 1.0, both)
        return angles, weighted / np.sum(weighted * terms, axis=1)[:, None]


#: of the three solutions outboard of a joint, of weights -1, 0 and 1, of arms that are their own mirror images
IN_THE_PLANE = Terms(2, mirrored=True)
#: of six solutions of twelve, of weights -1, 0 and 1, four of each
IN_SPACE = Terms(4, mirrored=False)


def value_polynomials(value: Array, power: int, signed: bool) -> list[Array]:
    """Polynomials of a degree in a value of 0 to 1, Bernstein's, which are positive and add up to 1.

    Of one that is ``signed``, from -1 to 1, Bernstein's polynomials in its square, in turn with those times the value:
    the parts of a polynomial that are even and odd, so that what is small at 0 keeps its digits there, too.
    """
    if not signed:
        return _bernstein(value, power)
    if power == 0:
        return _bernstein(value, 0)
    square = value * value
    even, odd = _bernstein(square, power // 2), _bernstein(square, (power - 1) // 2)
    return [value * odd[k // 2] if k % 2 else even[k // 2] for k in range(power + 1)]


def _bernstein(value: Array, power: int) -> list[Array]:
    rest = 1.0 - value
    return [math.comb(power, k) * value**k * rest ** (power - k) for k in range(power + 1)]


def _ones(places: Array) -> Array:
    """A 1 for each cell, of an arm in which nothing may vary, too."""
    return xp.ones_like(places[0]) if places.shape[0] else np.ones(places.shape[1:])
