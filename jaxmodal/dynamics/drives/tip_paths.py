"""Paths of the tip in space: lines and circles, from rest to rest, for `path_following`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxmodal.dynamics.drives.rules import DURATION, Named, numbers

_PLACE = "three finite numbers, x, y and z (m)"


class TipPath(Named):
    """Path of the tip: a function of time that returns a position, m."""

    def __call__(self, time: float) -> np.ndarray:
        """Return the position of the tip at a time, m."""
        raise NotImplementedError


def _way(time: float, duration: float) -> float:
    """Return the completed share of a path, from rest to rest: the fifth-order polynomial of `RestToRest`."""
    part = min(max(time / duration, 0.0), 1.0)
    return part**3 * (10.0 + part * (6.0 * part - 15.0))


@dataclasses.dataclass(frozen=True, repr=False)
class LinePath(TipPath):
    """Straight line in space, from rest to rest: ``start``, ``end`` in m, shape (3,), ``duration`` in s."""

    start: Any = numbers(_PLACE, shape=(3,))
    end: Any = numbers(_PLACE, shape=(3,))
    duration: Any = numbers(*DURATION)

    def __call__(self, time: float) -> np.ndarray:
        start, end = np.asarray(self.start, float), np.asarray(self.end, float)
        return start + (end - start) * _way(time, self.duration)


@dataclasses.dataclass(frozen=True, repr=False)
class CirclePath(TipPath):
    """Circle in space, from rest to rest.

    Attributes
    ----------
    centre, start
        Centre, and the starting point, m, shape (3,).
    normal
        Direction of the axis through the centre, about which the tip turns counter-clockwise, shape (3,).
    duration
        Time of the motion, s.
    turns
        Number of turns, which may be a fraction; negative for clockwise.
    """

    centre: Any = numbers(_PLACE, shape=(3,))
    start: Any = numbers(_PLACE, shape=(3,))
    normal: Any = numbers(
        "three finite numbers, not all 0",
        lambda x: np.isfinite(x) & bool(np.any(np.asarray(x) != 0.0)),
        (3,),
    )
    duration: Any = numbers(*DURATION)
    turns: Any = numbers("one finite number", shape=(), default=1.0)

    def __call__(self, time: float) -> np.ndarray:
        centre, normal = np.asarray(self.centre, float), np.asarray(self.normal, float)
        axis = normal / np.linalg.norm(normal)
        arm = np.asarray(self.start, float) - centre
        along = axis * (axis @ arm)
        angle = 2.0 * np.pi * self.turns * _way(time, self.duration)
        turned = np.cos(angle) * (arm - along) + np.sin(angle) * np.cross(axis, arm)
        return centre + along + turned
