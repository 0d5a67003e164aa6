"""What the posture series finds, while it fills, and the result that callers get."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.status import Status
from jaxmodal.postures.series_roots import WIDEST, Roots
from jaxmodal.runtime.namespace import Array, xp


@dataclasses.dataclass
class SeriesResults:
    """Output arrays while they fill, cells first; NaN where nothing has been found.

    ``count`` is how many modes lie below the last separator, -1 where that is not certain.
    """

    omega: np.ndarray
    bracket: np.ndarray
    noise: np.ndarray
    open: np.ndarray
    by_sign_changes: np.ndarray
    count: np.ndarray

    @classmethod
    def empty(cls, cells: int, modes: int) -> SeriesResults:
        shape = (cells, modes)
        return cls(
            omega=np.full(shape, np.nan),
            bracket=np.full((*shape, 2), np.nan),
            noise=np.full(shape, np.nan, np.float32),
            open=np.ones(cells, bool),
            by_sign_changes=np.zeros(shape, bool),
            count=np.full(cells, -1.0),
        )

    def store(self, at: np.ndarray, found: Roots) -> tuple[np.ndarray, np.ndarray]:
        """Keep the roots of the cells ``at``: proven where there are as many as the count says, none wide.

        Returns which of them have all their roots apart, and the widths of the enclosures.
        """
        omega, width, noise, _, _ = found
        first, last = at[0], at[0] + at.size
        side_by_side = np.array_equal(at, np.arange(first, last))  # a slice is written faster
        cells = slice(first, last) if side_by_side else at
        complete, proven = judged(found, self.count[cells])
        self.omega[cells] = omega
        self.bracket[cells, :, 0] = omega * (1.0 - width)
        self.bracket[cells, :, 1] = omega * (1.0 + width)
        self.noise[cells] = np.where(complete[:, None], noise, np.nan)
        self.open[cells] = ~proven
        self.by_sign_changes[cells] = proven[:, None]
        return complete, width


def judged(found: Roots, count: Array) -> tuple[Array, Array]:
    """Cells with as many roots as the count says, and those whose enclosures are narrow besides; shape (cells,)."""
    complete = found.apart & (found.number == count) & (found.number >= found.omega.shape[1])
    return complete, complete & xp.all(found.width <= WIDEST, axis=1)


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
    columns: dict[str, Callable[[], np.ndarray]] = {
        "omega": lambda: results.omega,
        "status": lambda: np.full((cells, modes), int(Status.certified), np.uint8),
        "count_below": lambda: np.tile(numbers, (cells, 1)),
        "count_above": lambda: np.tile(numbers + 1, (cells, 1)),
        "bracket": lambda: results.bracket,
        "group": lambda: np.tile(numbers, (cells, 1)),
        "residual_ratio": lambda: results.noise * np.float32(2.0**52),
        "evaluations": lambda: np.ones(cells, np.int32),
    }

    def filled(name: str) -> np.ndarray:
        column = columns[name]()
        if found is not None:
            column[left] = np.asarray(getattr(found, name))
        if name in ("omega", "bracket", "residual_ratio"):
            column[invalid] = np.nan
        elif name != "group":
            column[invalid] = int(Status.invalid_input) if name == "status" else 0
        return column

    merged = dict(zip(columns, pool.map(filled, columns), strict=True))
    proof = results.by_sign_changes
    return jax.device_put(NaturalFrequencies(**merged, by_sign_changes=proof, theory=theory))
