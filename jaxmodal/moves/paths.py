"""Motions as paths: where their accelerations may jump, when they end, and what they are at many times."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import positive
from jaxmodal.dynamics.drives.motions import Motion, Shaped
from jaxmodal.dynamics.drives.piecewise import PiecewiseCubic
from jaxmodal.runtime.errors import ArmError

Floats = NDArray[np.float64]

#: times that one program evaluates, so that every number of them takes the same one
_BLOCK = 4096


def moved(move: Motion, times: Floats) -> tuple[Floats, Floats, Floats]:
    """Angles, rates and accelerations at times (T,), each (T, n)."""
    if isinstance(move, PiecewiseCubic):
        return _of_pieces(move, times)
    parts = []
    for first in range(0, times.size, _BLOCK):
        some = times[first : first + _BLOCK]
        filled = np.concatenate([some, np.full(_BLOCK - some.size, some[-1])])
        parts.append([np.asarray(x)[: some.size] for x in _block(move, filled)])
    angles, rates, changes = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return angles, rates, changes


@jax.jit
def _block(move: Motion, times: Any) -> Any:
    return jax.vmap(lambda time: move(time))(times)


def _of_pieces(move: PiecewiseCubic, times: Floats) -> tuple[Floats, Floats, Floats]:
    """The same in NumPy, which compiles nothing."""
    breaks, table = (np.asarray(x, np.float64) for x in (move.breaks, move.coefficients))
    piece = np.clip(np.searchsorted(breaks, times, side="right") - 1, 0, breaks.size - 2)
    at = (np.clip(times, breaks[0], breaks[-1]) - breaks[piece])[:, None]
    a, b, c, d = np.moveaxis(table[piece], 1, 0)
    inside = ((times >= breaks[0]) & (times <= breaks[-1]))[:, None]
    rates = inside * (b + at * (2.0 * c + at * 3.0 * d))
    return a + at * (b + at * (c + at * d)), rates, inside * (2.0 * c + at * 6.0 * d)


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
