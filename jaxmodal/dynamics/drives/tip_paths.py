"""Paths of the tip in space: lines and circles, from rest to rest; what follows them is in `path_following`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxmodal.dynamics.drives.rules import Named, numbers

_PLACE = "three finite numbers, x, y and z (m)"
_DURATION = ("finite and greater than 0 (s)", lambda x: np.isfinite(x) & (x > 0.0))


class TipPath(Named):
    """A path of the tip: called with a time it gives a place, m."""

    def __call__(self, time: float) -> np.ndarray:
        """Place of the tip at a time, m."""
        raise NotImplementedError


def _way(time: float, duration: float) -> float:
    """Share of a way that is done, from rest to rest: the fifth-order polynomial of `RestToRest`."""
    part = min(max(time / duration, 0.0), 1.0)
    return part**3 * (10.0 + part * (6.0 * part - 15.0))


@dataclasses.dataclass(frozen=True, repr=False)
class LinePath(TipPath):
    """A straight line in space, from rest to rest: ``start``, ``end`` in m, shape (3,), ``duration`` in s."""

    start: Any = numbers(_PLACE, shape=(3,))
    end: Any = numbers(_PLACE, shape=(3,))
    duration: Any = numbers(*_DURATION)

    def __call__(self, time: float) -> np.ndarray:
        start, end = np.asarray(self.start, float), np.asarray(self.end, float)
        return start + (end - start) * _way(time, self.duration)


@dataclasses.dataclass(frozen=True, repr=False)
class CirclePath(TipPath):
    """A circle in space, from rest to rest.

    Attributes
    ----------
    centre, start
        Centre, and the place where it starts, m, shape (3,).
    normal
        Direction of the axis through the centre, about which it turns counter-clockwise, shape (3,).
    duration
        s.
    turns
        How many, or which part of one; negative clockwise.
    """

    centre: Any = numbers(_PLACE, shape=(3,))
    start: Any = numbers(_PLACE, shape=(3,))
    normal: Any = numbers(
        "three finite numbers, not all 0",
        lambda x: np.isfinite(x) & bool(np.any(np.asarray(x) != 0.0)),
        (3,),
    )
    duration: Any = numbers(*_DURATION)
    turns: Any = numbers("one finite number", shape=(), default=1.0)

    def __call__(self, time: float) -> np.ndarray:
        centre, normal = np.asarray(self.centre, float), np.asarray(self.normal, float)
        axis = normal / np.linalg.norm(normal)
        arm = np.asarray(self.start, float) - centre
        along = axis * (axis @ arm)
        angle = 2.0 * np.pi * self.turns * _way(time, self.duration)
        turned = np.cos(angle) * (arm - along) + np.sin(angle) * np.cross(axis, arm)
        return centre + along + turned
