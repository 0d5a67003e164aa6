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
    odd factors. Each of them times Chebyshev polynomials of up to the degrees ``powers`` in further values, which are
    between -1 and 1.
    """

    degree: int
    mirrored: bool
    powers: tuple[int, ...] = ()

    @property
    def points(self) -> int:
        """Angles of one joint that determine what it does."""
        return 2 * self.degree + 1

    def number(self, joints: int) -> int:
        """Number of terms."""
        every = self.points**joints
        return ((every + 1) // 2 if self.mirrored else every) * self._polynomials

    @property
    def _polynomials(self) -> int:
        """Products of powers for each of sines and cosines."""
        return math.prod(power + 1 for power in self.powers)

    def largest(self, number: int) -> float:
        """What the root of the sum of squares of all terms, so many, never exceeds."""
        # the terms of a joint have squares that add up to degree + 1, those of a value to power + 1 at the most
        return math.sqrt((self.degree + 1.0) ** self.joints(number) * self._polynomials)

    def joints(self, number: int) -> int:
        """How many joints make so many terms."""
        number = number // self._polynomials
        every = 2 * number - 1 if self.mirrored else number
        return round(float(np.log(every) / np.log(self.points)))

    def of(self, places: Array) -> Array:
        """The terms in postures.

        Parameters
        ----------
        places : Array, shape (joints + powers, ...)
            Joint angles in rad, and the further values.

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
        even: list[Array] = [
            xp.ones_like(places[0]) if places.shape[0] else np.ones(places.shape[1:])
        ]
        odd: list[Array] = []
        for angle in angles:
            ((sine, cosine, _),) = sin_cos(xp.abs(angle))
            sine, cosine = keep(xp.where(angle < 0.0, -sine, sine)), keep(cosine)
            first, second = [cosine], [sine]
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
        for power, value in zip(self.powers, places[len(angles) :], strict=True):
            polynomials = [xp.ones_like(value), value][: power + 1]
            for _ in range(1, power):
                polynomials.append(2.0 * value * polynomials[-1] - polynomials[-2])
            found = [a * b for a in found for b in polynomials]
        return xp.stack(found)

    def names(self, joints: Sequence[int]) -> list[str]:
        """What each term is, for joints of these numbers."""
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
        """Places (joints + powers, H) that determine D, and the matrix (H, H) from its values there to coefficients.

        Of terms that are not mirrored the postures are all of a grid, of which the last joint's angles follow one
        another. Each comes with all combinations of the further values, of which the last follow one another.
        """
        if self.powers:
            return self._with_values(*dataclasses.replace(self, powers=()).sampling(joints))
        points = self.points
        steps = np.concatenate([np.arange(self.degree + 1), np.arange(-self.degree, 0)])
        angles_of_one = 2.0 * np.pi / points * steps
        every = list(itertools.product(range(points), repeat=joints))
        grid = np.array(every, int).reshape(points**joints, joints)
        if self.mirrored:  # of each posture and its mirror image, the first
            chosen = [tuple(row) <= tuple(-row % points) for row in grid]
            grid = grid[np.array(chosen)]
        angles = angles_of_one[grid].T
        terms = self.of(angles)
        # on all points of the grid the terms are orthogonal; of mirrored ones each but the first stands for two
        both = 2.0 if self.mirrored else 1.0
        weighted = terms * np.where(np.arange(angles.shape[1]) == 0, 1.0, both)
        return angles, weighted / np.sum(weighted * terms, axis=1)[:, None]

    def _with_values(self, angles: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`sampling` with the further values, at zeros of Chebyshev polynomials, from that without."""
        places = angles
        for power in self.powers:
            order = np.arange(power + 1)
            nodes = np.cos((order + 0.5) * np.pi / (power + 1))
            values = np.cos(order[:, None] * np.arccos(nodes))
            share = np.where(order == 0, 1.0, 2.0)[:, None] / (power + 1)
            matrix = np.kron(matrix, share * values)
            places = np.concatenate(
                [np.repeat(places, power + 1, axis=1), np.tile(nodes, places.shape[1])[None]]
            )
        return places, matrix


#: of the three solutions outboard of a joint, of weights -1, 0 and 1, of arms that are their own mirror images
IN_THE_PLANE = Terms(2, mirrored=True)
#: of six solutions of twelve, of weights -1, 0 and 1, four of each
IN_SPACE = Terms(4, mirrored=False)
