"""Branches of modes along an axis of a sweep, tracked through crossings and veerings by their mode shapes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm
from sweeps.analysis.cells import arm_of_cell, checked
from sweeps.definition.errors import SweepError

if TYPE_CHECKING:
    import xarray as xr

#: least modal assurance criterion between neighbouring points at which a shape counts as the same
RECOGNISED = 0.8

FOLLOWED, SWAPPED, UNCLEAR = 0, 1, 2
FLAG_MEANINGS = "followed crossing_or_veering_narrower_than_the_step unclear"


def track(
    ds: xr.Dataset, along: str, *, progress: Callable[[int, int], None] | None = None
) -> xr.Dataset:
    """Return the dataset with the branch of every mode along an axis.

    Parameters
    ----------
    ds
        Result of a sweep, or a selection of it. Its modes stay sorted by frequency.
    along
        Name of the axis.
    progress
        Called with (cells done, number of cells).

    Returns
    -------
    xarray.Dataset
        The dataset with two more coordinates over the dimensions of ``frequency``: ``branch``, the mode number at
        the first point of the branch, and ``branch_flag``.

    Raises
    ------
    SweepError
        If there is no such axis, or it has a single point.

    Notes
    -----
    Neighbouring points are compared by the modal assurance criterion of their mode shapes, in the axes of each link and
    weighted by mass; branches are connected so that its sum is largest. In a veering that the points resolve, shapes
    change gradually and branches keep their order: flag 0. If two shapes exchange places from one point to the next,
    they have either crossed or veered within the step, which cannot be distinguished: flag 1, at the second point. If
    the shape is not recognised (criterion below 0.8), for example in the middle of a veering or if a mode beyond the
    last one takes part, the flag is 2.

    Every cell needs one computation of mode shapes, which takes 0.01 to 0.02 s; in space 0.1 s, if a frequency of the
    cell is not certified.
    """
    checked(ds, along)
    if ds.sizes[along] < 2:
        raise SweepError(f"along = {along!r}: has a single point; give an axis with two or more.")
    others = [str(name) for name in ds.frequency.dims if name not in ("mode", along)]
    dims = (*others, along, "mode")
    shape = tuple(ds.sizes[name] for name in dims)
    branch, flag = np.empty(shape, np.int32), np.empty(shape, np.uint8)
    every = math.prod(shape[:-1])
    done = itertools.count(1)

    def advance() -> None:
        if progress is not None:
            progress(next(done), every)

    for index in itertools.product(*(range(ds.sizes[name]) for name in others)):
        line = ds.isel(dict(zip(others, index, strict=True))).transpose(along, "mode", ...)
        branch[index], flag[index] = _line(line, along, advance)
    about = {"long_name": f"branch along {along}", "units": "1"}
    flags = {
        "long_name": f"how the branch was followed from the previous {along}",
        "units": "1",
        "flag_values": np.array([FOLLOWED, SWAPPED, UNCLEAR], np.uint8),
        "flag_meanings": FLAG_MEANINGS,
    }
    return ds.assign_coords(branch=(dims, branch, about), branch_flag=(dims, flag, flags))


def by_branch(ds: xr.Dataset) -> xr.DataArray:
    """Return the frequencies of a tracked dataset with the dimension ``branch`` in place of ``mode``.

    Raises
    ------
    SweepError
        If the dataset has not been tracked.
    """
    import xarray as xr

    if "branch" not in ds.coords:
        raise SweepError("the dataset has no branches; give track(ds, along=...).")
    order = ds.branch.argsort(ds.branch.get_axis_num("mode"))
    sorted_values = ds.frequency.transpose(*ds.branch.dims)
    values = np.take_along_axis(sorted_values.values, order.values, axis=-1)
    dims = [*ds.branch.dims[:-1], "branch"]
    kept = {k: v for k, v in ds.coords.items() if set(v.dims) <= set(dims)}
    labels = np.arange(1, ds.sizes["mode"] + 1, dtype=np.int32)
    found = xr.DataArray(values, dims=dims, coords=kept, attrs=ds.frequency.attrs, name="frequency")
    return found.assign_coords(branch=("branch", labels))


def _line(
    line: xr.Dataset, along: str, advance: Callable[[], None]
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return branches and flags, shape (points, K), along one line of cells; ``advance`` is called for each cell."""
    from jaxmodal.modes.mode_shapes import assurance

    points, modes = line.sizes[along], line.sizes["mode"]
    branch = np.tile(np.arange(1, modes + 1, dtype=np.int32), (points, 1))
    flag = np.zeros((points, modes), np.uint8)
    before = None
    for point in range(points):
        cell = line.isel({along: point})
        advance()
        try:
            arm, theory = arm_of_cell(cell)
        except ArmError:  # a cell with invalid input: branches start again after it
            before, flag[point] = None, UNCLEAR
            continue
        moving = _motions(cell, arm, theory)
        if before is not None:
            mac = assurance(before[1], moving[1], before[0], moving[0])
            branch[point], flag[point] = _joined(mac, branch[point - 1])
        elif point:
            flag[point] = UNCLEAR
        before = moving
    return branch, flag


def _motions(cell: xr.Dataset, arm: AnyArm, theory: TheoryName) -> tuple[Floats, Floats]:
    """Return the motions of the modes of a cell, (K, D), and the corresponding masses, (D,).

    The frequencies of the cell are used if it says that all are certified, because their search takes most of the time.
    """
    from jaxmodal.modes.mode_shapes import known_motions, mode_shapes

    omega = 2.0 * math.pi * cell.frequency.values
    if "certified" in cell and bool(cell.certified.all()) and np.all(omega > 0.0):
        return known_motions(arm, omega, theory)
    shapes = mode_shapes(arm, omega.size, theory=theory, stations=2, throw=False)
    return np.asarray(shapes.motions), np.asarray(shapes.masses)


def _joined(mac: Floats, labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return labels and flags of the modes at a point from the criterion between it and the previous point."""
    from scipy.optimize import linear_sum_assignment

    came_from = linear_sum_assignment(-np.nan_to_num(mac).T)[1]
    recognised = np.take_along_axis(mac, came_from[None, :], axis=0)[0] >= RECOGNISED
    moved = came_from != np.arange(len(labels))
    flag = np.where(recognised, np.where(moved, SWAPPED, FOLLOWED), UNCLEAR)
    return labels[came_from], flag.astype(np.uint8)
