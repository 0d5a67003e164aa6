"""Arms of both kinds at a theory, lowered once: what all that is asked of an arm is computed from."""

from __future__ import annotations

import dataclasses
import functools
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

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
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced, to_host
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


@dataclasses.dataclass(frozen=True)
class TracedModel:
    """A planar arm of which a value is traced, and a theory.

    Attributes
    ----------
    beams, flags
        Link values, traced, and the flags of the theory.
    """

    beams: BeamArrays
    flags: Theory
    _arm: Arm
    _theory: TheoryName

    @functools.cached_property
    def invalid(self) -> Array:
        """Whether a value is one that construction would have refused."""
        return jnp.asarray(invalid_of(self._arm, self.beams))

    @functools.cached_property
    def known(self) -> PlanarModel | None:
        """The arm of its values where it is differentiated, not compiled: only rates are unknown then."""
        values = to_host(lax.stop_gradient(self._arm))
        return None if is_traced(values) else _planar_model(values, self._theory)


def model_of(arm: Arm | OtherArm, theory: TheoryName) -> Model | TracedModel:
    """An arm of either kind as all that is asked of it sees it: lowered, judged and, under loads, at rest, once.

    Raises
    ------
    ArmError
        It is no arm, lacks what the theory needs, or is not held against its loads; or a value of an arm in space is
        traced.
    ValueError
        The theory is not known.
    X64DisabledError
        JAX runs in 32 bits.
    """
    if isinstance(arm, OtherArm):
        return arm.model(theory)
    return (
        TracedModel(*prepared_values(arm, theory), arm, theory)
        if is_traced(arm)
        else _planar_model(arm, theory)
    )


def concrete_model(arm: Arm | OtherArm, theory: TheoryName) -> Model:
    """`model_of` an arm whose values are numbers."""
    model = model_of(arm, theory)
    assert not isinstance(model, TracedModel)
    return model


def _planar_model(arm: Arm, theory: TheoryName) -> PlanarModel:
    """The model of a concrete arm."""
    beams, flags = prepared_values(arm, theory)
    return PlanarModel(beams, flags, bool(invalid_of(arm, beams)))


def planar(model: Model | TracedModel) -> PlanarModel | TracedModel:
    """The model of a planar arm, whose formulas are compiled, too; refuse that of an arm in space."""
    if isinstance(model, PlanarModel | TracedModel):
        return model
    raise ArmError(
        "frequencies are traced, which for an arm in space have to be numbers; call this outside of jit, vmap and grad."
    )
