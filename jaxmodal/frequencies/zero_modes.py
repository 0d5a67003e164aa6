"""Modes of frequency zero due to free joints: excluded from searches, and put first in results."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.runtime.statuses import Status


def without_zero_modes(value: Evaluation, free: Array, omega: Array) -> Evaluation:
    """Return ``value`` with the ``free`` zero frequencies, int64, divided out and not counted."""
    return dataclasses.replace(
        value,
        sign=xp.where(free % 2 == 0, value.sign, -value.sign),
        log_abs=value.log_abs - 2.0 * free.astype(omega.dtype) * xp.log(omega),
        count=value.count - free,
    )


def with_zero_modes(result: NaturalFrequencies, modes: Array, free: Array) -> NaturalFrequencies:
    """Return the result for the first of these mode numbers, with frequency zero for the ``free`` lowest.

    Zero modes replace copies of the lowest other mode, whose lower count is the number of modes below it. If the search
    found none, as for an arm of rigid links, both counts are those far above all modes. ``free`` has the leading axes
    of the result.
    """
    modes = modes[: result.omega.shape[-1]]
    free = xp.asarray(free)[..., None]
    zero = modes <= free
    lowest = result.count_below == free
    none_beyond = xp.isnan(result.omega) & (result.count_above == free)
    sure = lowest & (result.certified | none_beyond)
    certified = xp.where(sure, int(Status.certified), int(Status.uncertified))
    certified = xp.where(result.status >= Status.invalid_input, result.status, certified)
    first = xp.minimum(xp.sum(zero, axis=-1, keepdims=True), np.arange(modes.shape[0]))
    ends = xp.stack([xp.zeros_like(result.omega), result.bracket[..., 0]], axis=-1)
    return dataclasses.replace(
        result,
        omega=xp.where(zero & (result.status != Status.unstable), 0.0, result.omega),
        status=xp.where(zero, certified, result.status),
        count_below=xp.where(zero, 0, result.count_below),
        count_above=xp.where(zero, free, result.count_above),
        bracket=xp.where(zero[..., None], ends, result.bracket),
        group=xp.where(zero, 0, xp.maximum(result.group, first)),
        residual_ratio=xp.where(zero, 0.0, result.residual_ratio),
    )
