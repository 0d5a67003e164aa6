"""The lowest natural frequencies of a set of postures as one differentiable function, for programs of JAX that loop.

`jaxmodal.natural_frequencies` can be traced, too, and certifies in double-double, a hundred times the work of what is
needed at every step of a line search. Here the frequencies are enclosed by the same search in float64, where that
suffices, and a frequency counts only if the counts at both ends of its bracket agree with the sign of the determinant;
designs that are looked at between the rounds and at the end are certified. The derivatives are those of `jaxmodal`.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import evaluate, log_at_zero
from jaxmodal.eigenspaces.frequency_derivatives import with_derivative
from jaxmodal.eigenspaces.modal_mass import unpadded_quadrature_size
from jaxmodal.eigenspaces.null_spaces import SLOTS
from jaxmodal.frequencies.resolution import starting_scale
from jaxmodal.frequencies.root_search import find_brackets, grid_trials
from jaxmodal.statics.beam_arrays import BeamArrays

#: frequencies closer than this, relative, are differentiated as one group, by the derivative of its mean
GROUP_TOLERANCE = 1e-8
#: arms with more links are searched in double-double: their short links cost float64 the digits that gradients need
_FLOAT64_LINKS = 6
#: relative widths of the brackets in float64 and in double-double, and the rounds allowed for them
_WIDTH, _WIDTH_EXTENDED, _MAX_ROUNDS = 1e-11, 2.0**-50, 200
#: lanes beyond the modes sought, whose estimates help the interpolation of the last ones
_EXTRA = 2


def spectra(
    num_modes: int, beams: BeamArrays, flags: Theory, zeros: np.ndarray | None = None
) -> Array:
    """Lowest natural frequencies of cells, leaves of shape (cells, n), in rad/s, (cells, num_modes); may be traced.

    NaN where one was not enclosed, or the counts contradict the determinant. Members of a group closer than
    `GROUP_TOLERANCE` all get the derivative of its mean, as `with_derivative` says. ``zeros``, shape (cells,), is how
    many modes of each cell have frequency 0; these are 0 whatever the beams.
    """
    numbers = np.arange(1, num_modes + 1)
    still = np.zeros((1, num_modes), bool) if zeros is None else numbers <= zeros[:, None]
    omega = _searched(num_modes, jax.lax.stop_gradient(beams), flags, zeros)
    apart = (omega[:, 1:] - omega[:, :-1]) > GROUP_TOLERANCE * omega[:, 1:]
    apart = apart | still[:, :-1]  # there copies of the lowest other mode stand for the time being
    starts = jnp.concatenate([jnp.ones_like(apart, shape=(omega.shape[0], 1)), apart], axis=1)
    first = jax.lax.cummax(jnp.where(starts, jnp.arange(num_modes), 0), axis=1)
    size = jnp.clip(jnp.sum(first[:, :, None] == first[:, None, :], axis=2), 1, SLOTS)
    attached = functools.partial(with_derivative, unpadded_quadrature_size(num_modes))
    with_rates: Array = jax.vmap(attached, (0, None, 0, 0, 0))(beams, flags, omega, first, size)
    return with_rates if zeros is None else jnp.where(still, 0.0, with_rates)


def _searched(num_modes: int, beams: BeamArrays, flags: Theory, zeros: np.ndarray | None) -> Array:
    links = beams.length.shape[1]
    beams = jax.tree_util.tree_map(lambda x: x.T[:, None, :], beams)  # (n, 1, cells)
    first = grid_trials(starting_scale(beams) / links, num_modes + _EXTRA)
    numbers = jnp.arange(1, num_modes + _EXTRA + 1)[:, None]
    if zeros is not None:  # no search finds them: the lowest other mode in their place
        numbers = jnp.maximum(numbers, zeros[None] + 1)
    extended = links > _FLOAT64_LINKS
    arithmetic = Arithmetic.double_double if extended else Arithmetic.float64
    width = _WIDTH_EXTENDED if extended else _WIDTH
    found = find_brackets(
        lambda omega: evaluate(beams, flags, omega, arithmetic),
        numbers,
        first,
        first,
        log_at_zero(links),
        width,
        _MAX_ROUNDS,
    )
    certified = found.converged(width) & found.consistent
    return jax.lax.cummax(jnp.where(certified, found.estimate, jnp.nan)[:num_modes].T, axis=1)
