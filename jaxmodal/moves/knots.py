"""Where the accelerations of a motion may jump, and when it ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import positive
from jaxmodal.dynamics.drives.motions import Motion, Shaped
from jaxmodal.dynamics.drives.piecewise import PiecewiseCubic
from jaxmodal.runtime.errors import ArmError

Floats = NDArray[np.float64]


def knots_of(move: Motion, duration: float | None = None) -> Floats:
    """Ascending times from the beginning of a move to its stop, s; between them its accelerations have no jumps.

    Raises
    ------
    ArmError
        The move does not know when it ends, and no duration is given.
    """
    known = _own(move)
    if duration is None:
        if known is None:
            raise ArmError(
                f"move = {type(move).__name__}(...): does not say when it ends; give duration, the time of its stop, s."
            )
        return known
    stop = positive("duration", duration, "s")
    inside = np.zeros(1) if known is None else known[known < stop]
    return np.concatenate([inside, [stop]])


def _own(move: Motion) -> Floats | None:
    if isinstance(move, PiecewiseCubic):
        return np.asarray(move.breaks, np.float64)
    if isinstance(move, Shaped):
        inner = _own(move.motion)
        if inner is None:
            return None
        return _apart(np.add.outer(inner, np.asarray(move.delays, np.float64)).ravel())
    duration = getattr(move, "duration", None)
    return None if duration is None else np.array([0.0, float(duration)])


def _apart(times: Floats) -> Floats:
    """Times in order, without those that rounding alone parts."""
    ordered = np.sort(times)
    close = 1e-12 * (ordered[-1] - ordered[0])
    return ordered[np.concatenate([[True], np.diff(ordered) > close])]
