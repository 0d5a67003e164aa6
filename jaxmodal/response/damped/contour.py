"""Number of zeros of an analytic function inside polygons, by the argument principle; many polygons at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jaxmodal.runtime.array_types import Floats, Integers

#: logarithm of a function without poles inside, for an array of points; the first argument is the polygon of each
#: point; only the phase is used
LogFunction = Callable[[Integers, np.ndarray], np.ndarray]
#: largest number of points on a line
_MOST = 100_000


def zeros_inside(
    log_function: LogFunction, known: Sequence[np.ndarray], corners: np.ndarray, steps: int = 64
) -> Floats:
    """Return the number of zeros inside each polygon, from the winding of the phase; NaN where it is unknown.

    Parameters
    ----------
    log_function
        Logarithm of the function.
    known
        Points for each polygon near which the phase varies fast, such as zeros, inside or outside.
    corners : array, shape (polygons, corners)
        Corners in counter-clockwise order.
    steps
        Initial number of equal steps per side.
    """
    polygons, sides = corners.shape
    starts, ends = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    owner = np.repeat(np.arange(polygons), sides)
    turns = np.full(starts.size, np.nan)
    graded = [
        _graded(start, end, known[k], steps)
        for start, end, k in zip(starts, ends, owner.tolist(), strict=True)
    ]
    line = np.repeat(np.arange(starts.size), [x.size for x in graded])
    place = np.concatenate([*graded, np.zeros(0)])

    def phases_at(line: np.ndarray, place: np.ndarray) -> np.ndarray:
        points = starts[line] + (ends[line] - starts[line]) * place
        return log_function(owner[line], points).imag

    phase, before = phases_at(line, place), np.full(starts.size, np.inf)
    for _ in range(24):
        if line.size == 0:
            break
        same = line[1:] == line[:-1]
        turned = np.where(same, np.angle(np.exp(1j * np.diff(phase))), 0.0)
        coarse = same & ~(np.abs(turned) < 0.7)
        sums, number = (
            np.bincount(line[1:], weights, starts.size) for weights in (turned, same.astype(float))
        )
        failed = ~np.isfinite(sums) | (number > _MOST)
        rough = np.bincount(line[1:][coarse], minlength=starts.size) > 0
        # the same turn with every step halved: otherwise a full turn between two points would not be noticed
        settled = ~failed & ~rough & (number > 0) & (np.abs(sums - before) < 1.0)
        turns[settled] = sums[settled]
        before = np.where(rough, np.inf, sums)
        over = failed | settled
        split = same & ~over[line[1:]] & (coarse | ~rough[line[1:]])
        middle = 0.5 * (place[1:] + place[:-1])[split]
        of = line[1:][split]
        kept = ~over[line]
        line, place, phase = (
            np.concatenate([x[kept], more])
            for x, more in ((line, of), (place, middle), (phase, phases_at(of, middle)))
        )
        order = np.lexsort((place, line))
        line, place, phase = line[order], place[order], phase[order]
    found: Floats = np.round(turns.reshape(polygons, sides).sum(axis=1) / (2.0 * np.pi))
    return found


def _graded(start: complex, end: complex, known: np.ndarray, steps: int) -> np.ndarray:
    """Return parameters from 0 to 1 along a line: equal steps, and graded steps about each known zero or pole.

    Near a zero at the distance ``h`` the phase turns by pi within a few ``h``; steps of ``h sinh`` keep the turn below
    0.5.
    """
    places = [np.linspace(0.0, 1.0, steps + 1)]
    for point in (known - start) / (end - start):
        h = max(abs(point.imag), 1e-9)
        u = np.arange(0.0, np.arcsinh((1.0 + abs(point.real)) / h), 0.5)
        places += [point.real + h * np.sinh(u), point.real - h * np.sinh(u)]
    joined = np.unique(np.concatenate(places))
    return joined[(joined >= 0.0) & (joined <= 1.0)]
