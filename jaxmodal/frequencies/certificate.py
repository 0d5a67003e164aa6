"""The certificate: counts on both sides of every frequency prove that no mode is missed and none invented."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np
from jax import lax

from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.runtime.namespace import Array, cummax, on_host, xp

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
    index = np.arange(omega.shape[0])
    used = index < num_modes
    gap = xp.where(used[1:], omega[1:] - omega[:-1], xp.inf)
    starts = xp.concatenate([np.ones(1, bool), ~(gap <= tolerance * omega[1:])])
    first = cummax(xp.where(starts, index, 0))
    ends = xp.concatenate([starts[1:], np.ones(1, bool)])
    last = -cummax(-xp.where(ends, index, omega.shape[0] - 1)[::-1])[::-1]
    previous = xp.where(first > 0, omega[xp.maximum(first - 1, 0)], 0.0)
    beyond = xp.minimum(last + 1, omega.shape[0] - 1)
    following = xp.where((last + 1 < omega.shape[0]) & used[beyond], omega[beyond], xp.inf)
    below = xp.maximum(omega[first] * (1.0 - tolerance), 0.5 * (previous + omega[first]))
    above = xp.minimum(omega[last] * (1.0 + tolerance), 0.5 * (omega[last] + following))
    points = xp.stack([below, omega, above])
    positive = xp.where(points > 0.0, points, xp.nan)
    values = evaluate(positive) if on_host(omega) else lax.map(evaluate, positive)
    even = values.count % 2 == 0
    agrees = ((values.sign > 0.0) == even) & (values.sign != 0.0)
    consistent = agrees[0] & agrees[2]
    multiplicity = xp.maximum(values.count[2] - values.count[0], 1).astype(omega.dtype)
    chord = xp.logaddexp(values.log_abs[0], values.log_abs[2])
    share = xp.exp(xp.minimum((values.log_abs[1] - chord) / multiplicity, 0.0))
    ordered = xp.concatenate([np.ones(1, bool), ~(omega[1:] < omega[:-1])])
    enclosed = (values.count[0] <= modes[first] - 1) & (values.count[2] >= modes[last])
    return Confirmation(
        confirmed=enclosed & consistent & ordered & xp.isfinite(omega) & (omega > 0.0),
        count_below=values.count[0],
        count_above=values.count[2],
        bracket=xp.stack([below, above], axis=-1),
        group=first,
        error_estimate=share * (above - below) / omega,
    )
