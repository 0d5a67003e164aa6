"""What a batch yields while it fills: host arrays, cells first, and which modes are settled."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from jaxmodal.frequencies import NaturalFrequencies
from jaxmodal.guided_search import WIDTH, Enclosure
from jaxmodal.status import Status

#: a float64 frequency is accepted when the last evaluation, at a converged estimate, changed it by less, and when no
#: denominator on the way was smaller (the lost digits go with its square)
_NOISE, _DENOMINATOR = 2e-14, 1.0 / 100.0


def accepted(e: Enclosure) -> np.ndarray:
    """Modes that are proven and whose rounding noise is small, shape (modes, cells)."""
    return proven(e) & (e.error <= _NOISE) & (e.smallest >= _DENOMINATOR)


def proven(e: Enclosure) -> np.ndarray:
    """Modes that the counts at both ends of a narrow enclosure prove, the ends clear of the noise at the mode."""
    number = np.arange(1, e.omega.shape[0] + 1)[:, None]
    return np.asarray(
        (e.lower_count == number - 1)
        & (e.upper_count == number)
        & e.consistent
        & (e.upper - e.lower <= WIDTH * e.upper)
        & (np.minimum(e.omega - e.lower, e.upper - e.omega) > 0.1 * WIDTH * e.omega)
    )


@dataclasses.dataclass
class Results:
    """Output arrays of shape (cells, modes) and what more the type of the result holds."""

    omega: np.ndarray
    status: np.ndarray
    counts: np.ndarray
    bracket: np.ndarray
    residual: np.ndarray
    group: np.ndarray
    evaluations: np.ndarray

    @classmethod
    def empty(cls, cells: int, modes: int) -> Results:
        """Nothing solved yet."""
        return cls(
            omega=np.full((cells, modes), np.nan),
            status=np.full((cells, modes), int(Status.uncertified), np.uint8),
            counts=np.zeros((2, cells, modes), np.int32),
            bracket=np.full((cells, modes, 2), np.nan),
            residual=np.full((cells, modes), np.nan, np.float32),
            group=np.tile(np.arange(modes, dtype=np.int32), (cells, 1)),
            evaluations=np.zeros(cells, np.int32),
        )

    def store(self, at: np.ndarray, e: Enclosure) -> None:
        """Write enclosures, arrays of shape (modes, cells), to the rows ``at``."""
        self.omega[at] = e.omega.T
        self.status[at] = np.where(
            accepted(e).T, int(Status.certified), int(Status.uncertified)
        ).astype(np.uint8)
        self.counts[0, at] = e.lower_count.T
        self.counts[1, at] = np.minimum(e.upper_count.T, 2**31 - 1)
        self.bracket[at, :, 0], self.bracket[at, :, 1] = e.lower.T, e.upper.T
        self.residual[at] = e.error.T / 2.0**-52

    def refuse(self, at: np.ndarray) -> None:
        """Cells with an impossible value."""
        self.omega[at], self.bracket[at] = np.nan, np.nan
        self.status[at] = int(Status.invalid_input)

    def polish(
        self,
        cells: np.ndarray,
        modes: np.ndarray,
        refined: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
    ) -> None:
        """Modes that two evaluations in double-double settled; ``lower`` and ``upper`` hold frequency and count."""
        proven = (lower[1] == modes) & (upper[1] == modes + 1)
        cells, modes, refined, lower, upper = (
            x[..., proven] for x in (cells, modes, refined, lower, upper)
        )
        self.omega[cells, modes] = refined
        self.bracket[cells, modes] = np.stack([lower[0], upper[0]], axis=-1)
        self.counts[0, cells, modes], self.counts[1, cells, modes] = lower[1], upper[1]
        self.status[cells, modes] = int(Status.certified)
        self.residual[cells, modes] = 1.0
        np.add.at(self.evaluations, cells, 2)

    def settle(self, at: np.ndarray, exact: NaturalFrequencies) -> None:
        """Cells that the general search has solved; surplus cells at its end are dropped."""
        size = at.size
        self.omega[at], self.status[at] = exact.omega[:size], exact.status[:size]
        self.counts[0, at], self.counts[1, at] = exact.count_below[:size], exact.count_above[:size]
        self.bracket[at], self.group[at] = exact.bracket[:size], exact.group[:size]
        self.residual[at] = exact.residual_ratio[:size]
        self.evaluations[at] += np.asarray(exact.evaluations[:size], np.int32)

    def open_cells(self) -> np.ndarray:
        """Cells with a mode that is not certified."""
        return np.flatnonzero((self.status == Status.uncertified).any(axis=1))

    def frozen(self, theory: str) -> NaturalFrequencies:
        """The result as callers get it."""
        return NaturalFrequencies(
            omega=jnp.asarray(self.omega),
            status=jnp.asarray(self.status),
            count_below=jnp.asarray(self.counts[0]),
            count_above=jnp.asarray(self.counts[1]),
            bracket=jnp.asarray(self.bracket),
            group=jnp.asarray(self.group),
            residual_ratio=jnp.asarray(self.residual),
            evaluations=jnp.asarray(self.evaluations),
            theory=theory,
        )
