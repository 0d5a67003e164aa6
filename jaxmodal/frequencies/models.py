"""Models of planar and spatial arms for one theory: an arm lowered once, from which all results are computed."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import invalid_of
from jaxmodal.arm.kinds import ByKind
from jaxmodal.arm.refusals import require_known
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, prepared_values
from jaxmodal.dynamic_stiffness.condensation import LOG_AT_ZERO, evaluate
from jaxmodal.dynamic_stiffness.cut_links import cut_links
from jaxmodal.dynamic_stiffness.evaluation import Evaluation, Model
from jaxmodal.dynamic_stiffness.link_constants import LinkConstants, link_constants
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.resolution import starting_scale
from jaxmodal.frequencies.stability import number_unstable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced, on_host, to_host
from jaxmodal.statics.beam_arrays import BeamArrays


class OtherArm(Protocol):
    """Protocol of an arm that is not planar; it builds its own model for searches."""

    @property
    def name(self) -> str: ...

    def search_model(self, theory: TheoryName) -> Model: ...

    def possible(self) -> bool: ...

    def frequency_gradients(
        self, theory: TheoryName, omega: np.ndarray, first: np.ndarray, multiplicity: np.ndarray
    ) -> np.ndarray: ...


@dataclasses.dataclass(frozen=True)
class PlanarModel:
    """Beams and theory flags as NumPy arrays; see `evaluation.Model`."""

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
        """Return the model of the same arm with every link cut in two."""
        return PlanarModel(cut_links(self.beams), self.flags, self.invalid)

    def harmless(self) -> PlanarModel:
        """Return the model of an arm of ones, to be solved in place of an arm with invalid values."""
        return PlanarModel(jax.tree_util.tree_map(np.ones_like, self.beams), self.flags, True)


@dataclasses.dataclass(frozen=True)
class TracedModel:
    """A planar arm with a traced value, and a theory.

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
        """True if the arm has a value that its constructor would refuse."""
        return jnp.asarray(invalid_of(self._arm, self.beams))

    @functools.cached_property
    def known(self) -> PlanarModel | None:
        """The model of the concrete values, if the arm is differentiated but not compiled; otherwise None."""
        values = to_host(lax.stop_gradient(self._arm))
        return None if is_traced(values) else _planar_model(values, self._theory)


def model_of(arm: Arm | OtherArm, theory: TheoryName) -> Model | TracedModel:
    """Return the model of an arm of either kind: lowered, validated and, with loads, with its equilibrium, once.

    Raises
    ------
    ArmError
        If it is not an arm, lacks what the theory needs, is not held against its loads, or if a value of an arm in
        space is traced.
    ValueError
        If the theory is unknown.
    X64DisabledError
        If JAX's 64-bit mode is off.
    """
    return _MODELS.of(arm)(arm, theory)


def require_theory(arm: Arm | OtherArm, theory: TheoryName) -> None:
    """Refuse an arm of either kind, of concrete values, that lacks what a theory needs; errors as of `model_of`."""
    _REQUIREMENTS.of(arm)(arm, theory)


def concrete_model(arm: Arm | OtherArm, theory: TheoryName) -> Model:
    """Return `model_of` an arm with concrete values."""
    model = on_host_model(model_of(arm, theory))
    assert model is not None
    return model


def on_host_model(model: Model | TracedModel, *values: Array) -> Model | None:
    """Return ``model`` if neither it nor the values are traced, so that NumPy computes; otherwise None."""
    return None if isinstance(model, TracedModel) or not on_host(*values) else model


def _planar_model(arm: Arm, theory: TheoryName) -> PlanarModel:
    """Return the model of a concrete planar arm."""
    beams, flags = prepared_values(arm, theory)
    return PlanarModel(beams, flags, bool(invalid_of(arm, beams)))


def _in_the_plane(arm: Arm, theory: TheoryName) -> PlanarModel | TracedModel:
    return (
        TracedModel(*prepared_values(arm, theory), arm, theory)
        if is_traced(arm)
        else _planar_model(arm, theory)
    )


def _in_space(arm: OtherArm, theory: TheoryName) -> Model:
    return arm.search_model(theory)


_MODELS: ByKind[Callable[..., Model | TracedModel]] = ByKind(_in_the_plane, _in_space)
_REQUIREMENTS: ByKind[Callable[..., Any]] = ByKind(require_known, _in_space)


def planar(model: Model | TracedModel) -> PlanarModel | TracedModel:
    """Return ``model`` if it is of a planar arm, whose formulas can be compiled; refuse that of an arm in space."""
    if isinstance(model, PlanarModel | TracedModel):
        return model
    raise ArmError(
        "omega is traced; for an arm in space give concrete frequencies: call this outside of jit, vmap and grad."
    )
