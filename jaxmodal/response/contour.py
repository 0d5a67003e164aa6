"""How many zeros of an analytic function lie inside a polygon, by the argument principle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

#: logarithm of a function without poles inside, at an array of points; only its phase is used
LogFunction = Callable[[np.ndarray], np.ndarray]


def zeros_inside(
    log_function: LogFunction, known: np.ndarray, corners: Sequence[complex]
) -> int | None:
    """How often the phase turns around a polygon, counter-clockwise: the zeros inside; None where it is not known.

    Parameters
    ----------
    log_function
        Logarithm of the function.
    known
        Points near which the phase turns fast, as zeros do, inside or outside.
    corners
        Corners of the polygon, counter-clockwise.
    """
    turns = [
        _turned(log_function, known, start, end)
        for start, end in zip(corners, [*corners[1:], corners[0]], strict=True)
    ]
    sure = [turn for turn in turns if turn is not None]
    return round(sum(sure) / (2.0 * np.pi)) if len(sure) == len(turns) else None


def _graded(start: complex, end: complex, known: np.ndarray) -> np.ndarray:
    """Places from 0 to 1 along a line: equal steps, and about each known zero or pole steps that grow from it.

    Near a zero at the distance ``h`` the phase turns by pi within a few ``h``; steps of ``h sinh`` keep it below 0.5.
    """
    places = [np.linspace(0.0, 1.0, 65)]
    for point in (known - start) / (end - start):
        h = max(abs(point.imag), 1e-9)
        u = np.arange(0.0, np.arcsinh((1.0 + abs(point.real)) / h), 0.5)
        places += [point.real + h * np.sinh(u), point.real - h * np.sinh(u)]
    joined = np.unique(np.concatenate(places))
    return joined[(joined >= 0.0) & (joined <= 1.0)]


def _turned(
    log_function: LogFunction, known: np.ndarray, start: complex, end: complex
) -> float | None:
    """By how much the phase turns along a straight line; None where it cannot be followed.

    Small steps, and the same turn with every step halved: a full turn between two places would else go unseen.
    """
    places = _graded(start, end, known)
    phases = log_function(start + (end - start) * places).imag
    before = np.inf
    for _ in range(24):
        steps = np.angle(np.exp(1j * np.diff(phases)))
        coarse = ~(np.abs(steps) < 0.7)
        if coarse.any():
            before = np.inf
        elif abs(steps.sum() - before) < 1.0:  # they differ by whole turns or by rounding
            return float(steps.sum())
        else:
            before, coarse = steps.sum(), np.ones_like(coarse)
        if places.size > 100_000 or not np.isfinite(phases).all():
            return None
        more = 0.5 * (places[:-1] + places[1:])[coarse]
        places = np.concatenate([places, more])
        phases = np.concatenate([phases, log_function(start + (end - start) * more).imag])
        order = np.argsort(places)
        places, phases = places[order], phases[order]
    return None
