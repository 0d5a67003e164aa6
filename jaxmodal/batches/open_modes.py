"""Single modes of a batch that the first pass left open, gathered for further passes."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.batches.kernels import OpenLanes
from jaxmodal.batches.variants import Cells
from jaxmodal.frequencies.brackets import Enclosure


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class OpenModes:
    """Open modes as host arrays: cell and mode (from 0), shape (lanes,), and enclosure of each.

    ``omegas`` are all frequencies of each mode's cell, shape (modes, lanes), and ``beyond`` estimates of a few higher
    modes.
    """

    cell: np.ndarray
    mode: np.ndarray
    enclosure: Enclosure
    omegas: np.ndarray
    beyond: np.ndarray

    @classmethod
    def of(
        cls,
        cells: np.ndarray,
        e: Enclosure,
        beyond: np.ndarray,
        chosen: np.ndarray,
    ) -> OpenModes:
        """Return the ``chosen`` modes, a mask of shape (modes, cells), of enclosures of this shape."""
        mode, column = np.nonzero(chosen)
        lanes = jax.tree_util.tree_map(lambda x: x[mode, column], e)
        return cls(cells[column], mode, lanes, e.omega[:, column], beyond[:, column])

    @classmethod
    def joined(cls, parts: list[OpenModes]) -> OpenModes:
        """Return all lanes of several parts."""
        found: OpenModes = jax.tree_util.tree_map(lambda *x: np.concatenate(x, axis=-1), *parts)
        return found

    def take(self, lanes: np.ndarray) -> OpenModes:
        """Return some of the lanes."""
        return OpenModes(
            cell=self.cell[lanes],
            mode=self.mode[lanes],
            enclosure=self.enclosure.take(lanes),
            omegas=np.take(self.omegas, lanes, axis=1),  # in C order, for the programs
            beyond=np.take(self.beyond, lanes, axis=1),
        )

    def given(self, cells: Cells) -> OpenLanes:
        """Return these lanes as input of the kernels, with the columns of their ``cells``."""
        columns = cells.columns(self.cell)
        return columns, self.enclosure, self.mode + 1.0, self.omegas, self.beyond

    def replace(self, lanes: np.ndarray, e: Enclosure) -> None:
        """Replace the enclosures of some lanes."""
        self.enclosure.put(lanes, e)

    def nearest(self) -> np.ndarray:
        """Return the modes below and above each mode in its cell, shape (2, lanes); NaN for none."""
        lane, last = np.arange(self.mode.size), self.omegas.shape[0] - 1
        place = self.mode + np.array([[-1], [1]])
        near = self.omegas[np.clip(place, 0, last), lane]
        return np.where((place >= 0) & (place <= last), near, np.nan)
