"""Sampling of motions: angles, rates and accelerations, times at which accelerations may jump, and end times."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxmodal.arm.arguments import positive
from jaxmodal.dynamics.drives.motions import Motion, Shaped, Stretched
from jaxmodal.dynamics.drives.piecewise import PiecewisePolynomial
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError

#: number of times per call of a compiled program, so that one program serves any number of times
_BLOCK = 4096


def moved(move: Motion, times: Floats) -> tuple[Floats, Floats, Floats]:
    """Return angles, rates and accelerations at times (T,), each (T, n)."""
    if isinstance(move, PiecewisePolynomial):
        return _of_pieces(move, times)
    if isinstance(move, Stretched):
        stretch = float(move.stretch)
        angles, rates, changes = moved(move.motion, times / stretch)
        return angles, rates / stretch, changes / stretch**2
    if isinstance(move, Shaped):
        return _of_shaped(move, times)
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


def _of_pieces(move: PiecewisePolynomial, times: Floats) -> tuple[Floats, Floats, Floats]:
    """Return `moved` for piecewise polynomials in NumPy, without compilation."""
    breaks, table = (np.asarray(x, np.float64) for x in (move.breaks, move.coefficients))
    piece = np.clip(np.searchsorted(breaks, times, side="right") - 1, 0, breaks.size - 2)
    at = (np.clip(times, breaks[0], breaks[-1]) - breaks[piece])[:, None]
    own = np.moveaxis(table[piece], 1, 0)
    inside = ((times >= breaks[0]) & (times <= breaks[-1]))[:, None]
    values: list[Any] = [own]
    for _ in range(2):
        powers = np.arange(1, len(values[-1]))
        slopes = values[-1][1:] * powers[:, None, None]
        values.append(slopes if len(slopes) else 0.0 * values[-1][:1])
    found = [np.asarray(np.polynomial.polynomial.polyval(at, x, tensor=False)) for x in values]
    return found[0], np.asarray(inside * found[1]), np.asarray(inside * found[2])


def _of_shaped(move: Shaped, times: Floats) -> tuple[Floats, Floats, Floats]:
    """Return `moved` for a shaped motion: the weighted sum of delayed copies, at rest before the beginning."""
    total: list[Any] = [0.0, 0.0, 0.0]
    for delay, weight in zip(np.asarray(move.delays), np.asarray(move.weights), strict=True):
        begun = (times >= delay)[:, None]
        angles, rates, changes = moved(move.motion, np.maximum(times - delay, 0.0))
        parts = (angles, begun * rates, begun * changes)
        total = [a + weight * b for a, b in zip(total, parts, strict=True)]
    return total[0], total[1], total[2]


def knots_of(move: Motion, duration: float | None = None) -> Floats:
    """Return ascending times from the start of a move to its stop, s; accelerations are continuous between them.

    Raises
    ------
    ArmError
        If the move has no end time and no duration is given.
    """
    known = _own(move)
    if duration is None:
        if known is None:
            raise ArmError(
                f"move = {type(move).__name__}(...): has no end time; give duration, the time of its stop, s."
            )
        return known
    stop = positive("duration", duration, "s")
    inside = np.zeros(1) if known is None else known[known < stop]
    return np.concatenate([inside, [stop]])


def _own(move: Motion) -> Floats | None:
    if isinstance(move, PiecewisePolynomial):
        return np.asarray(move.breaks, np.float64)
    if isinstance(move, Shaped):
        inner = _own(move.motion)
        if inner is None:
            return None
        if inner[0] < 0.0:
            raise ArmError(
                f"move: begins at t = {inner[0]:g} s, and what is shaped stands still before t = 0; let its times "
                "begin at 0."
            )
        return _apart(np.add.outer(inner, np.asarray(move.delays, np.float64)).ravel())
    if isinstance(move, Stretched):
        inner = _own(move.motion)
        return None if inner is None else inner * float(move.stretch)
    duration = getattr(move, "duration", None)
    return None if duration is None else np.array([0.0, float(duration)])


def _apart(times: Floats) -> Floats:
    """Return sorted times; of those that differ by rounding only, keep one."""
    ordered = np.sort(times)
    close = 1e-12 * (ordered[-1] - ordered[0])
    return ordered[np.concatenate([[True], np.diff(ordered) > close])]
