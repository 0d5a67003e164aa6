"""Results of a batch while it is solved: host arrays, with cells on the first axis, and certified modes."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.batches.acceptance import distance_to_nearest, stated
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.frequencies.certificate import EPS
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.zero_modes import with_zero_modes
from jaxmodal.runtime.statuses import Status


def _whole(count: np.ndarray) -> np.ndarray:
    """Return counts clipped to int32; NaN becomes 0, which certifies nothing."""
    return np.asarray(np.fmin(np.fmax(count, 0.0), 2.0**31 - 1.0))


def _columns(e: Enclosure, good: np.ndarray) -> dict[str, np.ndarray]:
    """Return the fields of results that come from enclosures; ``good`` ones are certified."""
    return {
        "omega": e.omega,
        "status": np.where(good, int(Status.certified), int(Status.uncertified)).astype(np.uint8),
        "count_below": _whole(e.lower_count),
        "count_above": _whole(e.upper_count),
        "lower": e.lower,
        "upper": e.upper,
        "residual_ratio": stated(e) / EPS,
    }


#: fields per mode with the same names in `Results` and `NaturalFrequencies`
_OF_MODES = (
    "omega",
    "status",
    "count_below",
    "count_above",
    "bracket",
    "residual_ratio",
    "group",
)


@dataclasses.dataclass
class Results:
    """Output arrays of shape (cells, modes), and further data of the result.

    ``free``, shape (cells,), is the number of zero frequencies (free hinges) to be inserted before the others.
    """

    omega: np.ndarray
    status: np.ndarray
    count_below: np.ndarray
    count_above: np.ndarray
    bracket: np.ndarray
    residual_ratio: np.ndarray
    group: np.ndarray
    evaluations: np.ndarray
    free: np.ndarray

    @classmethod
    def empty(cls, free: np.ndarray, modes: int) -> Results:
        """Return the results of unsolved cells with the given numbers of free hinges."""
        cells = free.size
        return cls(
            omega=np.full((cells, modes), np.nan),
            status=np.full((cells, modes), int(Status.uncertified), np.uint8),
            count_below=np.zeros((cells, modes), np.int32),
            count_above=np.zeros((cells, modes), np.int32),
            bracket=np.full((cells, modes, 2), np.nan),
            residual_ratio=np.full((cells, modes), np.nan, np.float32),
            group=np.tile(np.arange(modes, dtype=np.int32), (cells, 1)),
            evaluations=np.zeros(cells, np.int32),
            free=free.copy(),
        )

    @property
    def lower(self) -> np.ndarray:
        """Lower ends of the brackets, as a view."""
        return self.bracket[..., 0]

    @property
    def upper(self) -> np.ndarray:
        """Upper ends of the brackets, as a view."""
        return self.bracket[..., 1]

    def store(self, cells: np.ndarray, e: Enclosure, good: np.ndarray) -> None:
        """Write the enclosures of all modes, arrays of shape (modes, cells), and certify the ``good`` ones."""
        for name, value in _columns(e, good).items():
            getattr(self, name)[cells] = value.T

    def store_modes(self, cells: np.ndarray, modes: np.ndarray, e: Enclosure) -> None:
        """Write the enclosures of single modes, arrays of shape (lanes,), none certified yet."""
        for name, value in _columns(e, np.zeros(cells.shape, bool)).items():
            getattr(self, name)[cells, modes] = value

    def certify(
        self, cells: np.ndarray, modes: np.ndarray, error: np.ndarray | None = None
    ) -> None:
        """Certify single modes as stored, or with another bound of the relative error."""
        self.status[cells, modes] = int(Status.certified)
        if error is not None:
            self.residual_ratio[cells, modes] = error / EPS

    def nearest(self, cells: np.ndarray, modes: np.ndarray) -> np.ndarray:
        """Return the distance of single modes to the nearest other mode of the cell, relative to the higher one."""
        last = self.omega.shape[1] - 1
        below, own, above = (
            self.omega[cells, np.clip(modes + step, 0, last)] for step in (-1, 0, 1)
        )
        below, above = np.where(modes > 0, below, np.nan), np.where(modes < last, above, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(distance_to_nearest(below, own, above))

    def refuse(self, at: np.ndarray, status: Status) -> None:
        """Set cells to NaN with a status: invalid values, or arms that buckle."""
        self.omega[at], self.bracket[at] = np.nan, np.nan
        self.status[at] = int(status)
        self.free[at] = 0

    def polish(
        self, cells: np.ndarray, modes: np.ndarray, e: Enclosure, settled: np.ndarray
    ) -> None:
        """Store and certify modes ``settled`` in double-double; others are unchanged."""
        at = cells[settled], modes[settled]
        self.omega[at], self.lower[at], self.upper[at], self.residual_ratio[at] = (
            x[settled] for x in (e.omega, e.lower, e.upper, e.error / EPS)
        )
        self.count_below[at], self.count_above[at] = at[1], at[1] + 1
        self.status[at] = int(Status.certified)

    def reopen_contradictions(self) -> None:
        """Withdraw the certificate of modes that do not ascend or lie outside their brackets."""
        certified = self.status == Status.certified
        outside = certified & ~((self.lower < self.omega) & (self.omega < self.upper))
        descending = self.omega[:, 1:] <= self.omega[:, :-1]
        outside[:, 1:] |= descending & certified[:, 1:]
        outside[:, :-1] |= descending & certified[:, :-1]
        self.status[outside] = int(Status.uncertified)

    def settle(self, at: np.ndarray, exact: NaturalFrequencies) -> None:
        """Store cells from the general search; padding cells at the end are dropped."""
        exact = jax.tree_util.tree_map(lambda x: np.asarray(x)[: at.size], exact)
        self._take(at, exact)
        self.evaluations[at] += np.asarray(exact.evaluations, np.int32)

    def _take(self, at: np.ndarray, exact: NaturalFrequencies) -> None:
        """Store cells with complete modes, including zero frequencies."""
        for name in _OF_MODES:
            getattr(self, name)[at] = getattr(exact, name)
        self.free[at] = 0

    def open_cells(self) -> np.ndarray:
        """Return the indices of cells with a mode that is not certified."""
        return np.flatnonzero((self.status == Status.uncertified).any(axis=1))

    def _as_result(self, at: np.ndarray | slice, theory: TheoryName) -> NaturalFrequencies:
        own = {name: getattr(self, name)[at] for name in (*_OF_MODES, "evaluations")}
        return NaturalFrequencies(**own, theory=theory)

    def _put_zero_modes(self, theory: TheoryName) -> None:
        """Insert zero frequencies before the modes, which are numbered from the first that vibrates."""
        (at,) = np.nonzero(self.free)
        if not at.size:
            return
        free, numbers = self.free[at], np.arange(self.omega.shape[1])
        place = np.maximum(numbers - free[:, None], 0)
        for x in (getattr(self, name) for name in _OF_MODES if name != "group"):
            moved = place.reshape(*place.shape, *[1] * (x.ndim - 2))
            x[at] = np.take_along_axis(x[at], moved, axis=1)
        self.count_below[at] += free[:, None]
        self.count_above[at] += free[:, None]
        self._take(at, with_zero_modes(self._as_result(at, theory), numbers + 1, free))

    def frozen(self, theory: TheoryName) -> NaturalFrequencies:
        """Return the result as JAX arrays."""
        self._put_zero_modes(theory)
        # one transfer, because single conversions would compile programs
        return jax.device_put(self._as_result(slice(None), theory))
