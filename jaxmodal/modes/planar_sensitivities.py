"""Derivatives of the frequencies of planar arms by address, for single modes and projected on coincident modes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import rates_of, unpacked
from jaxmodal.eigenspaces.frequency_derivatives import mean_gradient, projected_gradients
from jaxmodal.eigenspaces.modal_mass import quadrature_size
from jaxmodal.frequencies.models import PlanarModel
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.fields import mode_fields
from jaxmodal.runtime.array_types import Floats, Integers
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import BeamArrays


def planar_derivatives(
    arm: Arm, model: PlanarModel, found: NaturalFrequencies, names: Sequence[str]
) -> dict[str, Array]:
    """Return the derivatives of the frequencies by single-value addresses, shape (K,) each; means for repeated ones."""
    free = found.omega == 0.0  # these stay zero for every change but that of their hinges
    gradient = mean_gradient(
        quadrature_size(found.omega.shape[0]),
        model.beams,
        model.flags,
        np.where(free, 1.0, found.omega[found.group]),
        np.where(free, 1, found.multiplicity),
    )
    gradient = jax.tree_util.tree_map(lambda x: np.where(free[:, None], 0.0, x), gradient)
    return {
        name: _summed(jax.tree_util.tree_map(_along, gradient, rates))
        for name, rates in zip(names, _rates(arm, model.beams, names), strict=True)
    }


def _along(gradient: Floats, rate: Floats) -> Floats:
    """Return the product over links; entries of rate 0 are skipped, because they may have no derivative."""
    changes = np.flatnonzero(rate)
    return gradient[..., changes] @ rate[changes]


def _summed(terms: BeamArrays) -> Array:
    return sum(jax.tree_util.tree_leaves(terms))


def _rates(arm: Arm, beams: BeamArrays, names: Sequence[str]) -> Iterator[BeamArrays]:
    """Yield the derivatives of the link values by the value at each single-value address."""
    given = [f.name for f in dataclasses.fields(beams) if getattr(beams, f.name) is not None]
    given.remove("has_shear")
    for _, rate in rates_of(arm, (), np.empty((0, 1)), names):
        columns = unpacked(rate[..., 0])
        yield dataclasses.replace(beams, **{name: getattr(columns, name) for name in given})


def planar_projection(
    arm: Arm, model: PlanarModel, found: NaturalFrequencies, rate_of: Mapping[str, float]
) -> Callable[[Integers], Array]:
    """Return a function that projects the derivative in a direction on m given modes, as a matrix (m, m)."""
    beams, flags = model.beams, model.flags
    rates = jax.tree_util.tree_map(lambda x: np.zeros(x.shape), beams)
    for rate, own in zip(rate_of.values(), _rates(arm, beams, tuple(rate_of)), strict=True):
        rates = jax.tree_util.tree_map(lambda x, y, a=rate: x + a * y, rates, own)
    with np.errstate(all="ignore"):
        modes = mode_fields(beams, flags, found)

    def projected_on(members: Integers) -> Array:
        omega = np.mean(found.omega[members])
        own = jax.tree_util.tree_map(lambda x: x[members], modes)
        gradients = projected_gradients(beams, flags, omega, own)
        return _summed(jax.tree_util.tree_map(_along, gradients, rates))

    return projected_on
