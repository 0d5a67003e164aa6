"""The lowest natural frequencies of a set of postures as one differentiable function, for use inside an optimiser.

`jaxmodal.natural_frequencies` certifies every frequency it returns and pays for it. Inside the loop of an
optimiser the frequencies are enclosed by the same count and the same interpolation, with as many lanes as there are
modes and in float64 where that suffices; the final design is certified afterwards. The derivatives are the exact
ones of `jaxmodal`: energies of the modes at the frequencies found.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import evaluate, log_at_zero
from jaxmodal.eigenspaces.energies import frequency_gradient
from jaxmodal.eigenspaces.modal_mass import ModeFields
from jaxmodal.eigenspaces.null_spaces import SLOTS, eigenspace
from jaxmodal.frequencies.root_search import find_brackets, grid_trials

#: arms with more links are searched in double-double: their short links cost float64 the digits that gradients need
FLOAT64_LINKS = 6
#: frequencies closer than this, relative, are differentiated as one group, by the derivative of its mean
GROUP_TOLERANCE = 1e-8
_WIDTH, _WIDTH_EXTENDED = 1e-11, 2.0**-50
_MAX_ROUNDS = 200
#: lanes beyond the modes sought, whose estimates help the interpolation of the last ones
_EXTRA = 2


def quadrature_points(num_modes: int) -> int:
    """Number of Gauss nodes for each link that integrate products of the lowest modes to rounding."""
    return 24 + -(-13 * (num_modes + 2) // 4)


@functools.partial(jax.jit, static_argnums=(0,))
def search(num_modes: int, beams: BeamArrays, flags: Theory) -> Array:
    """Lowest natural frequencies of many arms side by side.

    Parameters
    ----------
    num_modes
        How many.
    beams
        Link values, leaves of shape (cells, n).
    flags
        Flags of the theory.

    Returns
    -------
    Array, shape (cells, num_modes)
        Angular frequencies in rad/s, ascending; NaN where one was not enclosed.
    """
    beams = jax.tree_util.tree_map(lambda x: x.T[:, None, :], beams)  # (n, 1, cells)
    links = beams.length.shape[0]
    extended = links > FLOAT64_LINKS
    width = _WIDTH_EXTENDED if extended else _WIDTH
    lanes = num_modes + _EXTRA
    numbers = jnp.arange(1, lanes + 1)[:, None]
    rigidity = beams.youngs_modulus * beams.second_moment / (beams.density * beams.area)
    scale = jnp.min(jnp.sqrt(rigidity) / (beams.length * beams.length), axis=(0, 1))
    first = grid_trials(scale / (1.0 * links), lanes)
    found = find_brackets(
        lambda omega: evaluate(beams, flags, omega, extended),
        numbers,
        first,
        first,
        log_at_zero(links),
        width,
        _MAX_ROUNDS,
    )
    omega = jnp.where(found.converged(width), found.estimate, jnp.nan)
    return jax.lax.cummax(omega[:num_modes].T, axis=1)


def groups(omega: Array, tolerance: float = GROUP_TOLERANCE) -> tuple[Array, Array]:
    """First member and size of the group of (nearly) equal frequencies that each one belongs to.

    Parameters
    ----------
    omega
        Ascending frequencies, shape (cells, K).
    tolerance
        Neighbours closer than this, relative, are of one group.

    Returns
    -------
    first, size
        Integer arrays of the shape of ``omega``; the size is at most three, as many modes as one frequency can have.
    """
    modes = omega.shape[1]
    apart = (omega[:, 1:] - omega[:, :-1]) > tolerance * omega[:, 1:]
    starts = jnp.concatenate([jnp.ones((omega.shape[0], 1), bool), apart], axis=1)
    first = jax.lax.cummax(jnp.where(starts, jnp.arange(modes)[None, :], 0), axis=1)
    size = jnp.sum(first[:, :, None] == first[:, None, :], axis=2)
    return first, jnp.clip(size, 1, SLOTS)


@functools.partial(jax.jit, static_argnums=(0,))
def beam_gradients(
    num_modes: int, beams: BeamArrays, flags: Theory, omega: Array, multiplicity: Array
) -> BeamArrays:
    """Derivative of single frequencies, or of the mean of a group, with respect to the link values.

    Parameters
    ----------
    num_modes
        The highest mode number among them; sets the quadrature.
    beams
        Link values of each lane, leaves of shape (lanes, n).
    flags
        Flags of the theory.
    omega, multiplicity
        A frequency in rad/s for each lane and the size of its group, shape (lanes,).

    Returns
    -------
    BeamArrays
        Leaves of shape (lanes, n), rad/s per SI unit.
    """

    def lane(own: BeamArrays, omega: Array, multiplicity: Array) -> BeamArrays:
        space = eigenspace(own, flags, omega, multiplicity, quadrature_points(num_modes))
        modes = ModeFields(space.inner, space.nodes, space.outer)
        each = jax.vmap(lambda mode: frequency_gradient(own, flags, omega, mode, mode))(modes)
        mean: BeamArrays = jax.tree_util.tree_map(
            lambda x: jnp.sum(x, axis=0) / multiplicity.astype(x.dtype), each
        )
        return mean

    return jax.vmap(lane)(beams, omega, multiplicity)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def spectra(num_modes: int, beams: BeamArrays, flags: Theory) -> Array:
    """`search` as a differentiable function of ``beams``; the same arguments and result.

    Notes
    -----
    Members of a group closer than `GROUP_TOLERANCE` all get the derivative of its mean: symmetric functions of a
    whole group are differentiated exactly, single members are not.
    """
    return search(num_modes, beams, flags)


@spectra.defjvp
def _spectra_jvp(
    num_modes: int, primals: tuple[BeamArrays, Theory], tangents: tuple[BeamArrays, Any]
) -> tuple[Array, Array]:
    beams, flags = primals
    omega = search(num_modes, beams, flags)
    cells, modes = omega.shape
    first, size = groups(omega)
    centre = jnp.take_along_axis(omega, first, axis=1)
    lanes = jax.tree_util.tree_map(lambda x: jnp.repeat(x, modes, axis=0), beams)
    gradient = beam_gradients(num_modes, lanes, flags, centre.reshape(-1), size.reshape(-1))
    rate = sum(
        jnp.einsum("ckn,cn->ck", g.reshape(cells, modes, -1), t)
        for g, t in zip(
            jax.tree_util.tree_leaves(gradient), jax.tree_util.tree_leaves(tangents[0]), strict=True
        )
    )
    return omega, jnp.asarray(rate)


def cluster_derivatives(
    num_modes: int, beams: BeamArrays, flags: Theory, omega: np.ndarray
) -> BeamArrays:
    """Derivative of the stiffness of a cluster of one posture, projected on its modes.

    Parameters
    ----------
    num_modes
        The highest mode number of the cluster.
    beams
        Link values, leaves of shape (n,).
    flags
        Flags of the theory.
    omega
        The m frequencies of the cluster, ascending, rad/s.

    Returns
    -------
    BeamArrays
        Leaves of shape (m, m, n): symmetric matrices whose eigenvalues, for one direction of change, are the
        directional derivatives of the frequencies where these coincide.
    """
    close = bool(np.ptp(omega) <= GROUP_TOLERANCE * omega[-1])
    return _projected(num_modes, close, beams, flags, jnp.asarray(omega))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _projected(
    num_modes: int, close: bool, beams: BeamArrays, flags: Theory, omega: Array
) -> BeamArrays:
    """As `cluster_derivatives`; ``close`` frequencies are one root, others have a null space each."""
    points, count, centre = quadrature_points(num_modes), omega.shape[0], jnp.mean(omega)
    if close:
        space = eigenspace(beams, flags, centre, jnp.int64(count), points)
        modes = ModeFields(space.inner[:count], space.nodes[:count], space.outer[:count])
    else:
        spaces = jax.vmap(lambda w: eigenspace(beams, flags, w, jnp.int64(1), points))(omega)
        modes = ModeFields(spaces.inner[:, 0], spaces.nodes[:, 0], spaces.outer[:, 0])

    def entry(a: ModeFields, b: ModeFields) -> BeamArrays:
        return frequency_gradient(beams, flags, centre, a, b)

    return jax.vmap(lambda a: jax.vmap(lambda b: entry(a, b))(modes))(modes)
