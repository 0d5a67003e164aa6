"""Solved cells of a batch, whose frequencies are starting values for similar cells."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jaxmodal.spatial.parts.parameters import unit_of_address

#: number of solved cells that are stored
_KEPT = 512


class Neighbours:
    """Frequencies of solved cells, looked up by the nearest parameter values.

    Values are scaled by their spread over all cells. Angles are compared by sine and cosine, so that a full turn is no
    distance.
    """

    def __init__(self, columns: Mapping[str, np.ndarray]) -> None:
        features = []
        for address, column in columns.items():
            finite = np.where(np.isfinite(column), column, 0.0)
            if unit_of_address(address) == "rad":
                features += [np.sin(finite), np.cos(finite)]
            else:
                spread = float(np.std(finite))
                features.append(finite / spread if spread > 0.0 else finite * 0.0)
        self._features = np.stack(features, axis=-1)
        self._cells = np.zeros(0, np.int64)
        self._omega: np.ndarray | None = None

    def add(self, cells: np.ndarray, omega: np.ndarray) -> None:
        """Store the frequencies, shape (modes, cells), of some cells."""
        if self._cells.size >= _KEPT or not cells.size:
            return
        self._cells = np.concatenate([self._cells, cells])
        self._omega = omega if self._omega is None else np.concatenate([self._omega, omega], axis=1)

    def near(self, cells: np.ndarray) -> np.ndarray | None:
        """Return the frequencies of the nearest stored cell of each cell, (modes, cells); None if none is stored."""
        if self._omega is None:
            return None
        away = self._features[cells][:, None] - self._features[self._cells][None]
        return self._omega[:, np.argmin(np.sum(away * away, axis=-1), axis=1)]
