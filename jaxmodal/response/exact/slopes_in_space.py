"""Derivatives of responses and damped roots of arms in space, by their values and by the frequency.

Those under loads are derivatives about the equilibrium, which changes with a value, too.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.nothing import as_array
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.driven.spatial_systems import spatial_system
from jaxmodal.response.driven.stepped_arms import stepped_arm
from jaxmodal.response.exact.slopes import kept_slopes, with_rate
from jaxmodal.response.receptance.characteristic_in_space import characteristic_factors
from jaxmodal.response.receptance.dual_motions import dual_motions, parted_motions
from jaxmodal.response.receptance.in_space import growth_in_space
from jaxmodal.response.receptance.still_ports import off_axis
from jaxmodal.spatial.arms.arm import SpatialArm

#: number of directions times frequencies that are computed at a time under loads, with some 30 kB for each
_UNDER_LOADS = 2000


class SpatialSlopes:
    """An arm in space with ports, with derivatives by single-value addresses and, last, by the frequency."""

    def __init__(
        self,
        arm: SpatialArm,
        theory: TheoryName,
        quantity: str,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        singles: Sequence[str],
    ) -> None:
        model, moved = arm.search_model(theory), stepped_arm(arm, singles)
        asked = quantity, inputs, outputs
        self._plain = spatial_system(arm, model, *asked)
        with np.errstate(all="ignore"):
            self._dual = spatial_system(moved, model, *asked)
        self._directions = len(singles) + 1
        at = with_rate(off_axis(self._plain), self._directions)
        self._parted = parted_motions(self._plain, self._dual, at)

    def motions(self, omega: np.ndarray) -> tuple[Dual, Dual]:
        """Return motions of the ports that are read, and the frequencies, as `PlanarSlopes.motions`."""
        growth = functools.partial(growth_in_space, self._plain)
        return kept_slopes(self._motions, growth, omega)

    def _motions(self, omega: np.ndarray) -> np.ndarray:
        """Return values and derivatives, (1 + directions, read, inputs, F)."""
        width = max(1, omega.size)
        if self._plain.at_rest is not None:
            width = min(width, max(1, _UNDER_LOADS // self._directions))
        blocks = [self._block(omega[k : k + width]) for k in range(0, max(1, omega.size), width)]
        return np.concatenate(blocks, axis=-1)

    def _block(self, omega: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = dual_motions(self._dual, with_rate(omega, self._directions), self._parted)
        slopes = np.broadcast_to(found.slopes, (self._directions, *found.shape))
        return np.concatenate([found.value[None], slopes])

    def factors(self, roots: np.ndarray) -> list[Dual]:
        """Return the factors of the characteristic determinant at complex frequencies, with derivatives, (1, roots)."""
        omega = with_rate(roots, self._directions)
        return [as_array(x, omega)[None] for x in characteristic_factors(self._dual, omega)]
