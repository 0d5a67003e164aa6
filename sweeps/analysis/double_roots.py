"""Double roots in a sweep over two axes: points where two neighbouring frequencies coincide."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.batches.many_arms import natural_frequencies_batch
from jaxmodal.runtime.array_types import Bools, Floats
from sweeps.analysis.cells import arm_of_cell, definition_of
from sweeps.definition.errors import SweepError

if TYPE_CHECKING:
    import xarray as xr

#: largest relative gap of a double root: well above rounding, well below resolved pairs
COINCIDENT = 1e-9
_ROUNDS = 14
#: most points in one call of the solver, to limit memory
_BLOCK = 1024


@dataclasses.dataclass(frozen=True)
class DoubleRoot:
    """A point where modes ``mode`` and ``mode + 1`` coincide; x and y in the units of the axes.

    ``gap`` is the relative distance of the two frequencies at this point, ``frequency`` their mean in Hz.
    """

    mode: int
    x: float
    y: float
    frequency: float
    gap: float


def find_double_roots(ds: xr.Dataset, x: str, y: str) -> list[DoubleRoot]:
    """Find the points of a map at which two neighbouring frequencies coincide.

    Parameters
    ----------
    ds
        Result of a sweep over the two axes, for one theory, without other axes.
    x, y
        Names of the two axes, each over one parameter.

    Returns
    -------
    list of DoubleRoot
        The points, sorted by mode, x and y, without duplicates.

    Raises
    ------
    SweepError
        If the dataset has other axes, or an axis has a single point or several parameters.

    Notes
    -----
    In general, two frequencies coincide only if two parameters are tuned. Around such a point the gap is a cone, so
    that its square is smooth. Local minima of the gap on the grid are refined by fitting a quadratic to its square on
    successively smaller squares of nine points; those with a final relative gap below 1e-9 are returned. Completeness
    depends on the grid: two cones within a cell can be missed.
    """
    if set(ds.frequency.dims) != {x, y, "mode"}:
        dims = ", ".join(map(str, ds.frequency.dims))
        raise SweepError(f"double roots need the dimensions {x}, {y} and mode; this has {dims}.")
    for name in (x, y):
        if name not in ds.coords or ds.sizes[name] < 2:
            raise SweepError(
                f"axis {name!r}: double roots need axes over one parameter each, with two points or more."
            )
    values = ds.frequency.transpose(x, y, "mode").values
    gaps = (values[..., 1:] - values[..., :-1]) / values[..., 1:]
    plane = _Plane(ds, x, y, values.shape[-1])
    starts = [
        (m, i, j)
        for m in range(gaps.shape[-1])
        for i, j in zip(*_minima(gaps[..., m]), strict=True)
    ]
    found: list[DoubleRoot] = []
    for root in _refined(plane, np.array(starts, int).reshape(-1, 3)):
        if not any(_same(root, other, plane.step) for other in found):
            found.append(root)
    return sorted(found, key=lambda root: (root.mode, root.x, root.y))


class _Plane:
    """The plane of the two parameters, with frequencies at arbitrary points."""

    def __init__(self, ds: xr.Dataset, x: str, y: str, num_modes: int) -> None:
        self.arm, self.theory = arm_of_cell(ds.isel({x: 0, y: 0}))
        self.num_modes = num_modes
        columns = definition_of(ds)["axes"]
        self.about = [columns[name][name] for name in (x, y)]
        self.axes = [ds[name].values for name in (x, y)]
        self.step = np.array([np.abs(np.diff(values)).max() for values in self.axes])

    def inside(self, points: Floats) -> Bools:
        """Return True for each of the points, shape (N, 2), that lies in the map."""
        ends = np.array([(values.min(), values.max()) for values in self.axes]).T
        return np.asarray(np.all((points >= ends[0]) & (points <= ends[1]), axis=1))

    def frequencies(self, points: Floats) -> Floats:
        """Return the frequencies in Hz, shape (N, K), at points of shape (N, 2) in the units of the axes."""
        blocks = []
        for start in range(0, len(points), _BLOCK):
            block = points[start : start + _BLOCK]
            values = {
                about["parameter"]: np.deg2rad(column) if about["unit"] == "degree" else column
                for about, column in zip(self.about, block.T, strict=True)
            }
            found = natural_frequencies_batch(self.arm, values, self.num_modes, theory=self.theory)
            blocks.append(np.asarray(found.frequencies_hz))
        return np.concatenate(blocks)


def _minima(gap: Floats) -> Any:
    """Return the indices of local minima of the gap that can be the apex of a cone.

    At these the gap is at most its increase within one step; at a smooth minimum the increase is small.
    """
    padded = np.pad(gap, 1, mode="edge")
    n, m = gap.shape
    around = np.stack([padded[a : a + n, b : b + m] for a in range(3) for b in range(3)])
    lowest = gap <= around.min(axis=0)
    return np.nonzero(lowest & (gap <= around.max(axis=0) - gap))


#: the nine points of a square, and the matrix of the least-squares fit of 1, a, b, a^2, ab, b^2 to values there
_SQUARE = np.array([(a, b) for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)])
_FIT = np.linalg.pinv(
    np.stack(
        [np.ones(9), *_SQUARE.T, _SQUARE[:, 0] ** 2, _SQUARE.prod(axis=1), _SQUARE[:, 1] ** 2], 1
    )
)


def _refined(plane: _Plane, starts: NDArray[np.int_]) -> Iterator[DoubleRoot]:
    modes = starts[:, 0]
    places = np.stack(
        [axis[i] for axis, i in zip(plane.axes, starts[:, 1:].T, strict=True)], axis=-1
    )
    origin, size = places.copy(), np.full(len(places), 0.5)
    for _ in range(_ROUNDS):
        if not len(places):
            return
        points = places[:, None] + size[:, None, None] * _SQUARE * plane.step
        values = plane.frequencies(points.reshape(-1, 2)).reshape(len(places), 9, -1)
        lower = np.take_along_axis(values, modes[:, None, None], axis=2)[..., 0]
        upper = np.take_along_axis(values, modes[:, None, None] + 1, axis=2)[..., 0]
        gap = (upper - lower) / upper
        done = np.abs(gap[:, 4]) < COINCIDENT
        for k in np.flatnonzero(done & plane.inside(places)):
            mean = float(lower[k, 4] + upper[k, 4]) / 2.0
            yield DoubleRoot(
                int(modes[k]) + 1,
                float(places[k, 0]),
                float(places[k, 1]),
                mean,
                abs(float(gap[k, 4])),
            )
        places = places + _towards_minimum(gap**2) * size[:, None] * plane.step
        stayed = np.all(np.abs(places - origin) < 2.5 * plane.step, axis=1)
        kept = ~done & stayed & np.all(np.isfinite(places), axis=1)
        places, origin, modes, size = places[kept], origin[kept], modes[kept], 0.2 * size[kept]


def _towards_minimum(values: Floats) -> Floats:
    """Return steps, shape (N, 2) in units of the square, to the minimum of the quadratic fitted to (N, 9) values."""
    _, a, b, aa, ab, bb = (values / values.max(axis=1, keepdims=True) @ _FIT.T).T
    determinant = 4.0 * aa * bb - ab * ab
    convex = (determinant > 0.0) & (aa > 0.0)
    scale = np.where(convex, 1.0 / np.where(convex, determinant, 1.0), 0.0)
    step = np.stack([ab * b - 2.0 * bb * a, ab * a - 2.0 * aa * b], axis=-1) * scale[:, None]
    lowest = _SQUARE[np.argmin(values, axis=1)]
    return np.clip(np.where(convex[:, None], step, lowest), -1.5, 1.5)


def _same(a: DoubleRoot, b: DoubleRoot, step: Floats) -> bool:
    """Return True if two searches ended at the same root: closer than a thousandth of the map's step."""
    apart = np.array([a.x - b.x, a.y - b.y]) / step
    return a.mode == b.mode and bool(np.hypot(*apart) < 1e-3)
