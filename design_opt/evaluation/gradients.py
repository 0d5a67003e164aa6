"""Derivatives of frequencies at many postures of one arm: those of its link values, taken on to the variables."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from design_opt.problem.designs import OWN
from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.frequency_derivatives import group_gradient, projected_gradients
from jaxmodal.eigenspaces.modal_mass import ModeFields, unpadded_quadrature_size
from jaxmodal.eigenspaces.null_spaces import eigenspace
from jaxmodal.runtime.namespace import mapped, to_host, xp

#: lanes that NumPy differentiates, 10 ms each with 3 links and 55 ms with 32, rather than a program, which is compiled
#: for seconds
_FEW = 4


def at_postures(own: BeamArrays, name: str, angles: np.ndarray) -> BeamArrays:
    """Link values of one arm at some postures of a set, (lanes, n); the set ``own`` takes the design's angles."""
    lanes: BeamArrays = jax.tree_util.tree_map(
        lambda x: xp.broadcast_to(x, (len(angles), *x.shape)), own
    )
    return lanes if name == OWN else dataclasses.replace(lanes, joint_angle=angles)


def gradients(
    highest_mode: int, lanes: BeamArrays, flags: Theory, omega: np.ndarray, multiplicity: np.ndarray
) -> BeamArrays:
    """`group_gradient` of a frequency of each lane, (lanes, n): a few in NumPy, more in compiled pieces."""
    count, links = lanes.length.shape
    if count == 0:
        return lanes
    points, parts = unpadded_quadrature_size(highest_mode), []
    if count <= _FEW:
        each = mapped(functools.partial(group_gradient, points), (0, None, 0, 0))
        host: BeamArrays = each(lanes, to_host(flags), omega, multiplicity)
        return host
    size = 4 if links > 12 else 32
    for start in range(0, count, size):
        at = np.minimum(np.arange(start, start + size), count - 1)
        own, *modes = jax.tree_util.tree_map(lambda x, at=at: x[at], (lanes, omega, multiplicity))
        parts.append(to_host(_piece(points, own, flags, *modes)))
    return jax.tree_util.tree_map(lambda *x: np.concatenate(x)[:count], *parts)


@functools.partial(jax.jit, static_argnums=0)
def _piece(points: int, lanes: BeamArrays, flags: Theory, omega: Array, multiplicity: Array) -> Any:
    def lane(own: BeamArrays, omega: Array, multiplicity: Array) -> BeamArrays:
        return group_gradient(points, own, flags, omega, multiplicity)

    return jax.vmap(lane)(lanes, omega, multiplicity)


@functools.partial(jax.jit, static_argnums=(0, 4))
def projected(
    highest_mode: int, beams: BeamArrays, flags: Theory, omega: Array, close: bool
) -> BeamArrays:
    """Derivative of the stiffness of a cluster of m modes of one posture, projected on its modes, (m, m, n).

    The eigenvalues of these symmetric matrices are, for one direction of change, the directional derivatives of the
    frequencies where these coincide. ``close`` frequencies are one root, others have a null space each.
    """
    points, count, centre = unpadded_quadrature_size(highest_mode), len(omega), jnp.mean(omega)
    if close:
        space = eigenspace(beams, flags, centre, jnp.int64(count), points)
        modes = ModeFields(space.inner[:count], space.nodes[:count], space.outer[:count])
    else:
        spaces = jax.vmap(lambda w: eigenspace(beams, flags, w, jnp.int64(1), points))(omega)
        modes = ModeFields(spaces.inner[:, 0], spaces.nodes[:, 0], spaces.outer[:, 0])
    return projected_gradients(beams, flags, centre, modes)


def by_name(beams: BeamArrays) -> dict[str, Any]:
    """The link values that the arm has, by name."""
    values = vars(beams).items()
    return {name: value for name, value in values if value is not None and name != "has_shear"}


def pulled_back(gradient: BeamArrays, rates: dict[str, Array], name: str) -> np.ndarray:
    """Chain rule from link values, (..., n) and (n, variables), to the variables: (..., variables)."""
    total = np.zeros((*gradient.length.shape[:-1], rates["length"].shape[-1]))
    for key, of_variables in rates.items():
        rate = np.asarray(of_variables)
        if rate.any() and not (key == "joint_angle" and name != OWN):
            total += np.asarray(getattr(gradient, key)) @ rate
    return total
