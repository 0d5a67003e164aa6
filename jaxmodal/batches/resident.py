"""Batches that stay on the device: a GPU solves many cells without transfers to the host.

Blocks of cells go through `resident_passes`. Only the indices of open cells return to the host, where `work` solves
them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import columns_on_device
from jaxmodal.batches.kernels import BatchProblem, Encloser
from jaxmodal.batches.pilots import Pilots, Scaling
from jaxmodal.batches.resident_passes import Lanes, begun, finished, later_passes
from jaxmodal.batches.variants import Variants
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.results import NaturalFrequencies, fields_of
from jaxmodal.runtime.device_blocks import in_blocks_of_cells


@functools.partial(jax.jit, static_argnames=("addresses", "angular", "logarithmic"))
def prepared(
    arm: Arm,
    values: Array,
    low: Array,
    span: Array,
    *,
    addresses: tuple[str, ...],
    angular: tuple[bool, ...],
    logarithmic: tuple[bool, ...],
) -> tuple[Array, Array, Array]:
    """Return columns, validity and features of cells from their values, shape (addresses, cells)."""
    packed, invalid = columns_on_device(arm, addresses, values)
    scaling = Scaling(np.array(angular), np.array(logarithmic), low, span)
    features = scaling.features(jnp.where(invalid[None], 1.0, values))
    return packed, ~invalid, features


@dataclasses.dataclass(frozen=True)
class Resident:
    """A batch on the device.

    Attributes
    ----------
    arm, addresses, theory
        The arm, the addresses that its cells set, and the beam theory.
    problem : BatchProblem
        The problem, without free hinges.
    pilots : Pilots
        The guess for every cell.
    kernel : Encloser
        Program of the first pass.
    size : int
        Number of cells per block.
    lanes : Lanes
        Numbers of modes per call in the later passes.
    """

    arm: Arm
    addresses: tuple[str, ...]
    theory: TheoryName
    problem: BatchProblem
    pilots: Pilots
    kernel: Encloser
    size: int
    lanes: Lanes = dataclasses.field(default_factory=Lanes)

    def solve(
        self, values: np.ndarray, left_open: Callable[[np.ndarray], NaturalFrequencies]
    ) -> NaturalFrequencies:
        """Return the frequencies of cells with given ``values`` (addresses, cells); ``left_open`` solves open cells."""

        def left(cells: np.ndarray) -> dict[str, Array]:
            return fields_of(left_open(cells))

        found: dict[str, Any] = in_blocks_of_cells(self.block, values, self.size, left)
        return NaturalFrequencies(**found, theory=self.theory)

    def block(self, values: np.ndarray) -> tuple[dict[str, Array], Array]:
        """Return the results of one block of cells, and True for open cells."""
        problem, scaling = self.problem, self.pilots.scaling
        packed, valid, features = prepared(
            self.arm.replace(name=""),
            values,
            scaling.low,
            scaling.span,
            addresses=self.addresses,
            angular=tuple(map(bool, scaling.angular)),
            logarithmic=tuple(map(bool, scaling.logarithmic)),
        )
        p = begun(problem, packed, valid, features, self.pilots.guess, kernel=self.kernel)
        for later in later_passes(self.lanes):
            p = later(problem, p)
        return finished(p)


def stays_on_the_device(variants: Variants, problem: BatchProblem) -> bool:
    """Return True if these passes support the batch: no zero frequencies, no axial forces or loads, no supports."""
    links = variants.arm.links
    forced = variants.arm.loads is not None or any(x.axial_force is not None for x in links)
    return not problem.hinged and not forced and not variants.supported
