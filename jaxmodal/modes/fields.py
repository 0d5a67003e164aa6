"""Fields of all modes of one arm, with their signs; neighbouring modes are made orthogonal."""

from __future__ import annotations

import functools

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.clusters import MIXING, unmixing
from jaxmodal.eigenspaces.modal_mass import ModeFields, mass_coordinates, padding, quadrature_size
from jaxmodal.eigenspaces.null_spaces import SLOTS, eigenspace
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.shape_checks import signs
from jaxmodal.runtime.namespace import Array, constant, mapped, tree_on_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays


def mode_fields(beams: BeamArrays, theory: Theory, found: NaturalFrequencies) -> ModeFields:
    """Return mass-normalised fields of modes at the ends and the quadrature nodes of the links, leading axis K."""
    num_modes = found.omega.shape[0]
    host = tree_on_host(beams, theory, found)
    lanes, fill = padding(num_modes)
    modes, _ = (fields_at if host else _compiled_fields)(
        quadrature_size(lanes),
        beams,
        theory,
        found.omega[fill],
        found.group[fill],
        found.multiplicity[fill],
        np.zeros(1),
        np.int64(num_modes),
    )
    kept: ModeFields = jax.tree_util.tree_map(lambda x: x[:num_modes], modes)
    return kept


def fields_at(
    num_points: int,
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    first: Array,
    multiplicity: Array,
    xi: Array,
    num_modes: Array,
) -> tuple[ModeFields, Array]:
    """Return fields at the ends and the quadrature nodes, and (K, n, s, 6) at the stations ``xi``.

    Parameters
    ----------
    num_points : int
        Number of quadrature nodes per link, see `quadrature_size`.
    omega, first, multiplicity : Array, shape (K,)
        Frequencies in rad/s, index of the first mode of each mode's group, and number of modes in the group.
    num_modes : Array
        Number of modes among the K entries; the rest is padding.
    """

    def one(omega: Array, multiplicity: Array, slot: Array) -> tuple[ModeFields, Array]:
        space = eigenspace(beams, theory, omega, multiplicity, num_points, xi)
        fields = ModeFields(space.inner[slot], space.nodes[slot], space.outer[slot])
        return fields, space.at[slot]

    # what stands beyond the modes asked for repeats the last one, which has no more slots
    multiplicity = xp.clip(multiplicity, 1, SLOTS)
    slots = xp.minimum(np.arange(omega.shape[0]) - first, multiplicity - 1)
    modes, at = mapped(one)(omega[first], multiplicity, slots)
    return _unmixed(beams, theory, omega, modes, at, num_modes)


_compiled_fields = functools.partial(jax.jit, static_argnums=0)(fields_at)


def _unmixed(
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    modes: ModeFields,
    at: Array,
    num_modes: Array,
) -> tuple[ModeFields, Array]:
    """Return the modes with their signs; modes with close frequencies are made orthogonal to each other."""
    coordinates = mapped(lambda m: mass_coordinates(beams, theory, m))(modes)
    # what stands beyond the modes asked for is padding
    apart = omega[1:] - omega[:-1] > MIXING * omega[1:]
    apart = apart | (np.arange(1, omega.shape[0]) >= num_modes)
    correction = unmixing(coordinates @ coordinates.T, apart)
    sign = signs(xp.einsum("kj,j...->k...", correction, constant(modes.outer)), beams)
    correction = correction * sign[:, None]
    modes, at = jax.tree_util.tree_map(
        lambda x: xp.einsum("kj,j...->k...", correction, x), (modes, at)
    )
    return modes, at
