"""Modal quantities of many cells, planar or in space: from derivatives by single values to the returned fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.eigenspaces.clusters import cluster_means
from jaxmodal.runtime.array_types import Integers


class CellFields(NamedTuple):
    """Results for N cells with K modes; arrays have N first.

    Attributes
    ----------
    derivative, value : dict
        Derivatives of the frequencies, (N, K), and the values (N,), by single-value address.
    omega : array, shape (N, K)
        Those frequencies in rad/s; any positive number where it is 0 or unknown.
    invalid : array, shape (N,)
        True for cells without results.
    effective_mass, energies, participation, total_mass
        As in `ModalQuantities`, energies by name.
    """

    derivative: dict[str, Any]
    value: dict[str, Any]
    omega: Any
    invalid: Any
    effective_mass: Any
    energies: dict[str, Any]
    participation: Any
    total_mass: Any

    def quantities(self, first: Integers, members: Sequence[Sequence[str]]) -> dict[str, Any]:
        """Return the fields of `ModalQuantities`: derivatives by address, means over clusters, NaN for invalid cells.

        Parameters
        ----------
        first : array, shape (N, K)
            Index of the first mode of each mode's cluster.
        members
            The single-value addresses that each column of the derivatives sums over.
        """
        relative = {}
        for single, own in self.derivative.items():
            value = self.value[single]
            finite = np.where(np.isfinite(value), value, 0.0)
            relative[single] = own * finite[:, None] / self.omega

        def by_address(of: dict[str, Any]) -> Any:
            columns = [sum(of[single] for single in group) for group in members]
            return np.stack(columns, axis=-1) if columns else np.zeros((*self.omega.shape, 0))

        means = {
            "derivative": by_address(self.derivative),
            "logarithmic": by_address(relative),
            "effective_mass": self.effective_mass,
            "energies": self.energies,
        }
        fields = jax.tree_util.tree_map(lambda x: cluster_means(x, first), means)
        fields |= {"participation": self.participation, "total_mass": self.total_mass}
        found: dict[str, Any] = jax.tree_util.tree_map(
            lambda x: np.where(self.invalid.reshape(-1, *[1] * (x.ndim - 1)), np.nan, x), fields
        )
        return found
