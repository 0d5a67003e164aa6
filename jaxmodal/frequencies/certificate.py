"""The certificate: counts on both sides of every frequency prove that no mode is missed and none invented."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax

from jaxmodal.dynamic_stiffness.condensation import Evaluation

#: Frequencies closer than this, relative, form one group; the certificate encloses each frequency to this distance.
TOLERANCE = 1e-12


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Confirmation:
    """What the counts say of a list of frequencies; arrays of shape (K,), ``bracket`` of shape (K, 2).

    ``bracket`` holds the two frequencies of the counts, ``group`` the index of the first mode of
    the group, ``error_estimate`` the relative
    distance from the root that the determinant at the frequency suggests.
    """

    confirmed: Array
    count_below: Array
    count_above: Array
    bracket: Array
    group: Array
    error_estimate: Array


def confirm(
    evaluate: Callable[[Array], Evaluation],
    omega: Array,
    modes: Array,
    num_modes: Array,
    tolerance: Array,
) -> Confirmation:
    """Count on both sides of each group of frequencies.

    Parameters
    ----------
    evaluate : Callable
        Count and determinant at frequencies of shape (K,).
    omega : Array
        Ascending frequencies in rad/s, shape (K,).
    modes : Array
        The mode numbers that they are claimed to be, from 1, shape (K,).
    num_modes : Array
        How many of the K entries are claims; the rest is padding.
    tolerance : Array
        Relative half-width of the enclosures, and the distance below which neighbours form one group.

    Notes
    -----
    The counts are taken at a relative distance ``tolerance`` from the group, or half-way to the
    neighbouring group where that is nearer.
    A group is confirmed when J below is at most its first mode number less one and J above at least its last, and when
    both counts have the parity of the sign of the determinant, which is computed independently of them.
    """
    index = jnp.arange(omega.shape[0])
    used = index < num_modes
    gap = jnp.where(used[1:], omega[1:] - omega[:-1], jnp.inf)
    starts = jnp.concatenate([jnp.ones(1, bool), ~(gap <= tolerance * omega[1:])])
    first = lax.cummax(jnp.where(starts, index, 0))
    ends = jnp.concatenate([starts[1:], jnp.ones(1, bool)])
    last = lax.cummin(jnp.where(ends, index, omega.shape[0] - 1), reverse=True)
    previous = jnp.where(first > 0, omega[jnp.maximum(first - 1, 0)], 0.0)
    beyond = jnp.minimum(last + 1, omega.shape[0] - 1)
    following = jnp.where((last + 1 < omega.shape[0]) & used[beyond], omega[beyond], jnp.inf)
    below = jnp.maximum(omega[first] * (1.0 - tolerance), 0.5 * (previous + omega[first]))
    above = jnp.minimum(omega[last] * (1.0 + tolerance), 0.5 * (omega[last] + following))
    points = jnp.stack([below, omega, above])
    values = lax.map(lambda x: evaluate(jnp.where(x > 0.0, x, jnp.nan)), points)
    even = values.count % 2 == 0
    agrees = ((values.sign > 0.0) == even) & (values.sign != 0.0)
    consistent = agrees[0] & agrees[2]
    multiplicity = jnp.maximum(values.count[2] - values.count[0], 1).astype(omega.dtype)
    chord = jnp.logaddexp(values.log_abs[0], values.log_abs[2])
    share = jnp.exp(jnp.minimum((values.log_abs[1] - chord) / multiplicity, 0.0))
    ordered = jnp.concatenate([jnp.ones(1, bool), ~(omega[1:] < omega[:-1])])
    enclosed = (values.count[0] <= modes[first] - 1) & (values.count[2] >= modes[last])
    return Confirmation(
        confirmed=enclosed & consistent & ordered & jnp.isfinite(omega) & (omega > 0.0),
        count_below=values.count[0],
        count_above=values.count[2],
        bracket=jnp.stack([below, above], axis=-1),
        group=first,
        error_estimate=share * (above - below) / omega,
    )
