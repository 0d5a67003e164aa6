"""Results of the posture series: while they fill, and as callers get them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.postures.series_roots import Roots
from jaxmodal.runtime.namespace import Array, unfilled
from jaxmodal.runtime.statuses import Status

#: rows of a column that are written at once
_ROWS = 1024


@dataclasses.dataclass
class SeriesResults:
    """Output arrays while they fill, cells first; NaN in cells that are not valid.

    ``count`` is how many modes lie below the last separator, -1 where that is not certain.
    """

    omega: np.ndarray
    bracket: np.ndarray
    residual_ratio: np.ndarray
    open: np.ndarray
    by_sign_changes: np.ndarray
    count: np.ndarray

    @classmethod
    def empty(cls, valid: np.ndarray, modes: int) -> SeriesResults:
        """Room for the cells: what is in the valid ones is not known before `store` has filled it."""
        cells, invalid = valid.size, np.flatnonzero(~valid)
        shape = (cells, modes)
        results = cls(
            omega=unfilled(shape, np.float64),
            bracket=unfilled((*shape, 2), np.float64),
            residual_ratio=unfilled(shape, np.float32),
            open=np.ones(cells, bool),
            by_sign_changes=unfilled(shape, np.bool_),
            count=np.full(cells, -1.0),
        )
        for column in (results.omega, results.bracket, results.residual_ratio):
            column[invalid] = np.nan
        results.by_sign_changes[invalid] = False
        return results

    def store(self, at: np.ndarray, found: Roots) -> tuple[np.ndarray, np.ndarray]:
        """Keep the roots of the cells ``at``: proven where there are as many as the count says, none wide.

        Returns which of them have all their roots apart, and the widths of the enclosures of a safe search.
        """
        first, last = at[0], at[0] + at.size
        side_by_side = np.array_equal(at, np.arange(first, last))  # a slice is written faster
        cells = slice(first, last) if side_by_side else at
        complete, proven = judged(found, self.count[cells])
        self.omega[cells] = found.omega
        self.bracket[cells] = found.bracket
        # long runs first, then the few exceptions: of rows of a few modes NumPy would write each by itself
        self.residual_ratio[cells] = found.residual_ratio
        self.residual_ratio[at[~complete]] = np.nan
        self.open[cells] = ~proven
        self.by_sign_changes[cells] = True
        self.by_sign_changes[at[~proven]] = False
        return complete, found.width


def judged(found: Roots, count: Array) -> tuple[Array, Array]:
    """Cells with as many roots as the count says, and those whose enclosures are narrow besides; shape (cells,)."""
    complete = found.apart & (found.number == count) & (found.number >= found.omega.shape[1])
    return complete, complete & found.narrow


def merged(
    results: SeriesResults,
    valid: np.ndarray,
    left: np.ndarray,
    found: NaturalFrequencies | None,
    theory: TheoryName,
    pool: ThreadPoolExecutor,
) -> NaturalFrequencies:
    """The result; the cells ``left`` open by the series from what the general search found."""
    cells, modes = results.omega.shape
    numbers, invalid = np.arange(modes, dtype=np.int32), np.flatnonzero(~valid)

    def alike(shape: tuple[int, ...], value: np.ndarray | np.generic) -> np.ndarray:
        column = unfilled(shape, value.dtype)
        rows = np.broadcast_to(value, (min(_ROWS, shape[0]), *shape[1:])).copy()
        for start in range(0, shape[0], _ROWS):
            part = column[start : start + _ROWS]
            part[...] = rows[: len(part)]
        return column

    columns: dict[str, Callable[[], np.ndarray]] = {
        "omega": lambda: results.omega,
        "status": lambda: alike((cells, modes), np.uint8(Status.certified)),
        "count_below": lambda: alike((cells, modes), numbers),
        "count_above": lambda: alike((cells, modes), numbers + np.int32(1)),
        "bracket": lambda: results.bracket,
        "group": lambda: alike((cells, modes), numbers),
        "residual_ratio": lambda: results.residual_ratio,
        "evaluations": lambda: alike((cells,), np.int32(1)),
        "by_sign_changes": lambda: results.by_sign_changes,
    }

    def filled(name: str) -> np.ndarray:
        column = columns[name]()
        if found is not None and name != "by_sign_changes":
            column[left] = np.asarray(getattr(found, name))
        if name in ("count_below", "count_above", "evaluations"):
            column[invalid] = 0
        if name == "status":
            column[invalid] = int(Status.invalid_input)
        return column

    # where every mode is alone, its group is the count below: one column, for to fill fresh memory takes long
    alone = found is None or np.array_equal(found.group, found.count_below)
    if alone and not invalid.size:
        del columns["group"]
    merged: dict[str, Any] = dict(zip(columns, pool.map(filled, columns), strict=True))
    merged.setdefault("group", merged["count_below"])
    return jax.device_put(NaturalFrequencies(**merged, theory=theory))
