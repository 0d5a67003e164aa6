"""Derivatives of the frequencies of planar arms by address, alone and projected on modes that coincide."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import jax
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.addresses import addresses as all_addresses
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.eigenspaces.frequency_derivatives import mean_gradient, projected_gradients
from jaxmodal.eigenspaces.modal_mass import quadrature_size
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.fields import mode_fields
from jaxmodal.runtime.namespace import Array, to_host
from jaxmodal.statics.beam_arrays import BeamArrays


def planar_derivatives(arm: Arm, found: NaturalFrequencies, theory: TheoryName) -> dict[str, Array]:
    """The derivatives of the frequencies, of groups of them of their means, by every address; each of shape (K,)."""
    free = found.omega == 0.0  # these stay zero for every change but that of their hinges
    gradient = mean_gradient(
        quadrature_size(found.omega.shape[0]),
        beam_values(arm),
        theory_flags(theory),
        np.where(free, 1.0, found.omega[found.group]),
        np.where(free, 1, found.multiplicity),
    )
    gradient = jax.tree_util.tree_map(lambda x: np.where(free[:, None], 0.0, x), gradient)
    return _pulled_back(arm, gradient)


def _values(arm: Arm, names: tuple[str, ...]) -> NDArray[np.float64]:
    """The values at addresses of single values."""
    return np.array([float(get_parameter(arm, name)) for name in names])


def _pulled_back(arm: Arm, gradient: BeamArrays) -> dict[str, Array]:
    """Derivatives with respect to every address of the arm, each of shape (K,)."""
    names = tuple(all_addresses(arm))
    unnamed = arm.replace(name="")  # another name would be another program
    of_values = np.asarray(_pull_back(unnamed, names, _values(arm, names), gradient))
    return {name: of_values[:, i] for i, name in enumerate(names)}


def _changed(arm: Arm, names: tuple[str, ...], values: Array) -> BeamArrays:
    """The link values of the arm with other values at addresses."""
    return beam_values(set_parameters(arm, dict(zip(names, values, strict=True))))


#: these two run once for an arm: one program each, for as single operations they would be a hundred
_runs_once = functools.partial(
    jax.jit,
    static_argnames="names",
    compiler_options={"xla_backend_optimization_level": 0},
)


@_runs_once
def _pull_back(arm: Arm, names: tuple[str, ...], values: Array, gradient: BeamArrays) -> Array:
    """Derivatives with respect to the values at addresses from those with respect to the link values."""
    _, pull_back = jax.vjp(functools.partial(_changed, arm, names), values)
    (of_values,) = jax.vmap(pull_back)(gradient)
    return of_values


@_runs_once
def _pushed_forward(arm: Arm, names: tuple[str, ...], values: Array, rates: Array) -> BeamArrays:
    """Rates of change of the link values from those of the values at addresses."""
    of_links: BeamArrays = jax.jvp(functools.partial(_changed, arm, names), (values,), (rates,))[1]
    return of_links


def planar_projection(
    arm: Arm, found: NaturalFrequencies, theory: TheoryName, rate_of: Mapping[str, float]
) -> Callable[[NDArray[np.int64]], Array]:
    """What gives the derivative in a direction projected on some modes, (m, m), m being their number."""
    names, along = tuple(rate_of), np.array(list(rate_of.values()), np.float64)
    unnamed = arm.replace(name="")
    rates = to_host(_pushed_forward(unnamed, names, _values(arm, names), along))
    beams, flags = beam_values(arm), theory_flags(theory)
    with np.errstate(all="ignore"):
        modes = mode_fields(beams, flags, found)

    def projected_on(members: NDArray[np.int64]) -> Array:
        omega = np.mean(found.omega[members])
        own = jax.tree_util.tree_map(lambda x: x[members], modes)
        gradients = projected_gradients(beams, flags, omega, own)
        terms = jax.tree_util.tree_map(lambda g, r: np.einsum("abn,n->ab", g, r), gradients, rates)
        return sum(jax.tree_util.tree_leaves(terms))

    return projected_on
