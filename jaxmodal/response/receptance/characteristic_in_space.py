"""Characteristic determinant of damped arms in space at complex frequencies, arm by arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.spatial_systems import (
    SpatialSystem,
    is_free,
    spatial_system,
    stiffness_of,
)
from jaxmodal.response.receptance.recursion_in_space import inward
from jaxmodal.response.receptance.rigid_supports import support_pivots
from jaxmodal.response.receptance.under_loads import LoadedRecursion
from jaxmodal.runtime.array_types import Complexes, Floats, Integers, Numbers
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.symmetric import Symmetric


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
                found[mine] = log_characteristic(self.systems[cell], omega[mine], share[mine])
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


def log_characteristic(system: SpatialSystem, omega: Numbers, share: Any) -> Any:
    """Return the logarithm of the characteristic determinant at complex frequencies, shape (F,).

    Positive factors are left out. ``share`` scales the damping, one number per frequency.
    """
    total: Any = np.zeros(omega.shape, complex)
    for factor in characteristic_factors(system, omega, share):
        total = total + np.log(factor + 0j)
    return total


def characteristic_factors(system: SpatialSystem, omega: Any, share: Any = 1.0) -> list[Any]:
    """Return the factors of the characteristic determinant, except positive ones, as numbers or arrays (F,)."""
    factors: list[Any] = []
    if system.at_rest is not None:
        found = LoadedRecursion(system.at_rest, system.size, omega, share)
        return found.factors + _factors_of_supports(found.symmetric(), system.forces)
    for each in inward(system, omega, share):
        factors += [plane.delta for plane in each.planes]
        factors += [release.factor for release in each.added.releases]
        factors += each.added.pivots
        for plain, spring in zip(each.link.entries.springs, each.springs, strict=True):
            if spring is not plain and not is_free(plain):
                # the pivot of a damped spring has a pole where its complex stiffness vanishes
                factors.append(1.0 / (spring.compliance * stiffness_of(plain)))
    return factors + _factors_of_supports(each.added.stiffness, system.forces)


def _factors_of_supports(w: Symmetric, rigid: int) -> list[Any]:
    held = range(w.size - rigid, w.size)
    return support_pivots([[-w[s, t] for t in held] for s in held])
