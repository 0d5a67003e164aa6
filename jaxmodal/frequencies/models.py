"""Arms as the searches of NumPy see them: planar ones, and those that make their own model."""

from __future__ import annotations

import dataclasses
import functools
from typing import Protocol, runtime_checkable

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import invalid_of
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, prepared_values
from jaxmodal.dynamic_stiffness.condensation import LOG_AT_ZERO, evaluate
from jaxmodal.dynamic_stiffness.cut_links import cut_links
from jaxmodal.dynamic_stiffness.evaluation import Evaluation, Model
from jaxmodal.dynamic_stiffness.link_constants import LinkConstants, link_constants
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.resolution import starting_scale
from jaxmodal.frequencies.stability import number_unstable
from jaxmodal.runtime.namespace import tree_on_host
from jaxmodal.statics.beam_arrays import BeamArrays


@runtime_checkable
class OtherArm(Protocol):
    """An arm that is not planar: it makes its model itself."""

    @property
    def name(self) -> str: ...

    def model(self, theory: TheoryName) -> Model: ...

    def possible(self) -> bool: ...

    def frequency_gradients(
        self, theory: TheoryName, omega: np.ndarray, first: np.ndarray, multiplicity: np.ndarray
    ) -> np.ndarray: ...


@dataclasses.dataclass(frozen=True)
class PlanarModel:
    """Beams and flags of NumPy; see `evaluation.Model`."""

    beams: BeamArrays
    flags: Theory
    invalid: bool = False

    @property
    def scale(self) -> np.float64:
        return np.float64(starting_scale(self.beams))

    @property
    def log_at_zero(self) -> np.float64:
        return np.float64(LOG_AT_ZERO * self.beams.length.shape[0])

    @property
    def zero_frequencies(self) -> int:
        return int(number_of_zero_modes(self.beams))

    @functools.cached_property
    def unstable(self) -> bool:
        if self.beams.axial_force is None or self.invalid:
            return False
        with np.errstate(all="ignore"):
            beams = dataclasses.replace(self.beams, has_shear=True)
            return bool(number_unstable(beams, self.flags, np.int64(self.zero_frequencies)) > 0)

    @functools.cached_property
    def _links(self) -> dict[Arithmetic, LinkConstants | BeamArrays]:
        return {}

    def evaluate(self, omega: np.ndarray, arithmetic: Arithmetic) -> Evaluation:
        if arithmetic not in self._links:
            beams = dataclasses.replace(self.beams, has_shear=True)
            self._links[arithmetic] = link_constants(beams, self.flags, arithmetic)
        return evaluate(self._links[arithmetic], self.flags, omega, arithmetic)

    def otherwise(self) -> PlanarModel:
        """The same arm with its links cut in two."""
        return PlanarModel(cut_links(self.beams), self.flags, self.invalid)

    def harmless(self) -> PlanarModel:
        """An arm of ones, to be solved in place of one with invalid values."""
        return PlanarModel(jax.tree_util.tree_map(np.ones_like, self.beams), self.flags, True)


def model_of(arm: Arm | OtherArm, theory: TheoryName) -> Model | None:
    """The model of a concrete arm; None for a planar one of which a value is traced."""
    if isinstance(arm, OtherArm):
        return arm.model(theory)
    beams, flags = prepared_values(arm, theory)
    if not tree_on_host(beams):
        return None
    return PlanarModel(beams, flags, bool(invalid_of(arm, beams)))
