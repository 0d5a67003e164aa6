"""Order of the generalised coordinates of a planar arm, and what those of an arm in space share with it."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np


@dataclasses.dataclass(frozen=True)
class Layout:
    """Order of the generalised coordinates in the vector q.

    Attributes
    ----------
    modes
        Number of modes of each link.
    elastic
        True for each of the n joints that has a spring between motor and link.
    """

    modes: tuple[int, ...]
    elastic: tuple[bool, ...]
    #: ways in which a link deforms
    deformations: ClassVar[tuple[str, ...]] = ("mode",)

    @property
    def size(self) -> int:
        """Number of generalised coordinates N."""
        return len(self.elastic) + sum(self.modes) + sum(self.elastic)

    @property
    def modal(self) -> slice:
        """Slice of the modal coordinates in q."""
        return slice(len(self.elastic), len(self.elastic) + sum(self.modes))

    @property
    def driven(self) -> np.ndarray:
        """Index of the coordinate that each motor drives: the joint angle, or the motor angle of an elastic joint."""
        motors = iter(range(self.modal.stop, self.size))
        return np.array([next(motors) if e else i for i, e in enumerate(self.elastic)], int)

    @property
    def free(self) -> np.ndarray:
        """1 for each coordinate that no motor drives, 0 for the others, shape (N,)."""
        return 1.0 - np.isin(np.arange(self.size), self.driven)

    @property
    def given(self) -> np.ndarray:
        """Indices of the coordinates of a driven base; empty for a planar arm."""
        return np.zeros(0, int)

    @property
    def loose(self) -> np.ndarray:
        """0 for each prescribed rate of a driven base; 1 for the others, those of joints included."""
        return np.ones(self.size)

    @property
    def width(self) -> int:
        """Largest number of modes of a link, m."""
        return max(self.modes, default=0)

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices j <= k of the shapes of each Gamma_jk, in the order of the functions of a link."""
        rows, columns = np.triu_indices(self.width)
        return rows, columns

    @property
    def places(self) -> np.ndarray:
        """Index of each modal coordinate in q, shape (n, m); N where a link has fewer modes."""
        found = np.full((len(self.modes), self.width), self.size)
        start = len(self.modes)
        for i, count in enumerate(self.modes):
            found[i, :count] = np.arange(start, start + count)
            start += count
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates: ``theta1``, ``link1.mode1``, ``motor1`` and so on."""
        bent = [
            f"{f'link{link}' if link else 'base'}.{kind}{j}"
            for link, kind, j in self.modal_coordinates
        ]
        return (*self.joints, *bent, *(f"motor{i}" for i, e in enumerate(self.elastic, 1) if e))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joint coordinates."""
        return tuple(f"theta{i}" for i in range(1, len(self.elastic) + 1))

    @property
    def moving(self) -> np.ndarray:
        """Indices, from 0, of the links that begin with a joint, in space of the pieces, shape (n,)."""
        return np.arange(len(self.elastic))

    @property
    def turns(self) -> np.ndarray:
        """True for each joint that turns, shape (n,); False for sliding joints."""
        return np.ones(len(self.elastic), bool)

    @property
    def modal_coordinates(self) -> list[tuple[int, str, int]]:
        """Link (from 1; 0 is the base), kind, and number within the kind of each modal coordinate."""
        (kind,) = self.deformations
        return [(i, kind, j) for i, count in enumerate(self.modes, 1) for j in range(1, count + 1)]

    @property
    def spread(self) -> np.ndarray:
        """Matrices that map the modes of each link to q, shape (n, N, m)."""
        return np.moveaxis(np.eye(self.size + 1)[:-1, self.places], 1, 0)
