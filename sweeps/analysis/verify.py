"""Independent verification of a sweep: modes of sampled cells are counted again, one arm at a time."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.frequencies.counts import certify
from jaxmodal.frequencies.models import concrete_model
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.statuses import Status
from sweeps.analysis.cells import arm_of_cell
from sweeps.definition.errors import SweepError
from sweeps.solution.quantity import NOT_COMPUTED

if TYPE_CHECKING:
    import xarray as xr

#: relative distance from each frequency at which modes are counted
TOLERANCE = 1e-10


@dataclasses.dataclass(frozen=True)
class Verification:
    """Result of `verify`.

    Attributes
    ----------
    cells : int
        Number of cells checked.
    modes : int
        Number of frequencies checked by counts.
    invalid : int
        Number of cells with the status invalid_input among those checked.
    failures : tuple of str
        One line for each cell that fails.
    """

    cells: int
    modes: int
    invalid: int
    failures: tuple[str, ...]


def verify(ds: xr.Dataset, cells: int = 20, *, seed: int = 0) -> Verification:
    """Count the modes of randomly chosen cells again.

    Parameters
    ----------
    ds
        Result of a sweep, in memory or from a store.
    cells
        Number of cells to check.
    seed
        Seed of the random choice.

    Notes
    -----
    Each arm is built from the labels in the dataset, and its frequencies are checked by `jaxmodal.certify`, which
    counts modes at a relative distance of 1e-10 on both sides in double-double. The batch solver is not involved. The
    number of zero frequencies must equal the number of motions without strain.

    Raises
    ------
    SweepError
        If the dataset is not the result of a sweep, or none of its cells has been computed.

    Examples
    --------
    >>> from sweeps import Sweep, axis, run
    >>> ds = run(Sweep("example:two_link_flexible", [axis("theta_2", [0, 90], unit="degree")]))
    >>> verify(ds, cells=2)
    Verification(cells=2, modes=20, invalid=0, failures=())
    """
    dims = [str(name) for name in ds.frequency.dims if name != "mode"]
    done = np.flatnonzero((ds.status != NOT_COMPUTED).all("mode").transpose(*dims).values)
    if done.size == 0:
        raise SweepError("no cell has been computed; run the sweep first.")
    chosen = np.random.default_rng(seed).choice(done, min(cells, done.size), replace=False)
    modes, invalid, failures = 0, 0, []
    for flat in np.sort(chosen):
        index = np.unravel_index(flat, [ds.sizes[name] for name in dims])
        cell = ds.isel({name: int(i) for name, i in zip(dims, index, strict=True)}).load()
        if np.any(cell.status == int(Status.invalid_input)):
            invalid += 1
            problem = _not_refused(cell)
        elif np.any(cell.status == int(Status.unstable)):
            problem = _not_buckled(cell)
        else:
            modes += cell.sizes["mode"]
            problem = _not_confirmed(cell)
        if problem:
            place = ", ".join(
                f"{name} = {cell[name].item()}" for name in dims if name in cell.coords
            )
            failures.append(f"{place}: {problem}")
    return Verification(len(chosen), modes, invalid, tuple(failures))


def _not_refused(cell: xr.Dataset) -> str:
    try:
        arm_of_cell(cell)
    except ArmError:
        return ""
    return "has the status invalid_input, but the arm is valid"


def _not_buckled(cell: xr.Dataset) -> str:
    model = concrete_model(*arm_of_cell(cell))
    buckled = model is not None and model.unstable
    return "" if buckled else "has the status unstable, but its forces at rest do not buckle it"


def _not_confirmed(cell: xr.Dataset) -> str:
    arm, theory = arm_of_cell(cell)
    frequencies = cell.frequency.values
    if not np.all(np.isfinite(frequencies)):
        return "has no finite frequency"
    model = concrete_model(arm, theory)
    hinges = 0 if model is None else model.zero_frequencies
    free = int(np.count_nonzero(frequencies == 0.0))
    if free != min(hinges, frequencies.size):
        return f"has {free} frequencies of zero, but {hinges} motions without strain"
    if free == frequencies.size:
        return ""
    found = certify(arm, 2.0 * math.pi * frequencies[free:], theory=theory, tolerance=TOLERANCE)
    wrong = free + np.flatnonzero(~np.asarray(found.certified) & cell.certified.values[free:])
    return f"modes {', '.join(str(k + 1) for k in wrong)} are not confirmed" if wrong.size else ""
