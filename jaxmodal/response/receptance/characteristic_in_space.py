"""Characteristic determinant of damped arms in space at complex frequencies, arm by arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.spatial_systems import SpatialSystem, spatial_system, stiffness_of
from jaxmodal.response.receptance.in_space import characteristic_in_space
from jaxmodal.runtime.array_types import Complexes, Floats, Integers
from jaxmodal.spatial.arms.arm import SpatialArm


class SpatialCharacteristic:
    """`Characteristic` of arms in space.

    Parameters
    ----------
    arm, theory
        The arm and the theory.
    addresses, values
        Values that vary from cell to cell, shape (addresses, cells).
    """

    def __init__(
        self,
        arm: SpatialArm,
        theory: TheoryName,
        addresses: Sequence[str],
        values: Floats,
    ) -> None:
        cells = [dict(zip(addresses, cell.tolist(), strict=True)) for cell in values.T]
        arms = [set_parameters(arm, cell) for cell in cells]
        self.systems = [
            spatial_system(x, x.search_model(theory), "receptance", (), ()) for x in arms
        ]
        with np.errstate(divide="ignore"):
            self.highest = np.array([0.5 / np.max(_times(x)) for x in self.systems])
        pairs = [_springless(x) for x in self.systems]
        self.springless = np.full((len(pairs), max(map(len, pairs))), complex(np.nan, np.nan))
        for row, found in zip(self.springless, pairs, strict=True):
            row[: len(found)] = found

    def __call__(self, cells: Integers, omega: Complexes, share: Any = 1.0) -> Complexes:
        share, found = np.broadcast_to(share, omega.shape), np.empty(omega.shape, complex)
        with np.errstate(all="ignore"):
            for cell in np.unique(cells):
                mine = cells == cell
                found[mine] = characteristic_in_space(self.systems[cell], omega[mine], share[mine])
        return found


def _times(system: SpatialSystem) -> Any:
    """Return the Kelvin-Voigt times, 0 for none."""
    return np.zeros(1) if system.kelvin_voigt_time is None else system.kelvin_voigt_time


def _springless(system: SpatialSystem) -> list[complex]:
    """Return frequencies at which the complex stiffness of a spring and its damper vanishes."""
    found = []
    for link in system.links:
        for spring, damper in zip(link.entries.springs, link.dampers, strict=False):
            stiffness = stiffness_of(spring)
            if damper > 0.0 and 0.0 < stiffness < np.inf:
                found.append(1j * stiffness / damper)
    return found
