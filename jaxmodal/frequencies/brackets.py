"""Brackets of a mode between two frequencies, as the searches store them, and the interpolation they share."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxmodal.runtime.namespace import Array, xp

#: a JAX array inside compiled code, a NumPy array outside
AnyArray = Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Bracket:
    """Two frequencies with the counts (float64) and log|D| there; by the counts, the mode lies between them."""

    lower: AnyArray
    upper: AnyArray
    lower_count: AnyArray
    upper_count: AnyArray
    lower_log: AnyArray
    upper_log: AnyArray

    @property
    def isolated(self) -> Array:
        """True where the counts leave exactly one mode between the ends."""
        return self.upper_count - self.lower_count == 1.0


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Enclosure(Bracket):
    """A bracket with the estimate inside.

    ``third`` is the end that the last evaluation replaced, and ``third_sign`` the sign of D there relative to that at
    ``lower``, other modes divided out. ``consistent`` is True while counts and signs agree. ``error`` is the relative
    change of ``omega`` in the last evaluation. ``lower_noise`` and ``upper_noise`` are the rounding errors of the
    evaluations at the ends (`Evaluation.noise`).
    """

    omega: AnyArray
    third: AnyArray
    third_log: AnyArray
    third_sign: AnyArray
    consistent: AnyArray
    error: AnyArray
    lower_noise: AnyArray
    upper_noise: AnyArray

    @property
    def noise(self) -> Array:
        """The larger noise of the evaluations at the two ends."""
        return xp.maximum(self.lower_noise, self.upper_noise)

    def take(self, lanes: np.ndarray) -> Enclosure:
        """Return some of the lanes (NumPy arrays)."""
        some: Enclosure = jax.tree_util.tree_map(lambda x: x[lanes], self)
        return some

    def put(self, lanes: np.ndarray, some: Enclosure) -> None:
        """Write some lanes into the NumPy arrays."""
        for field in dataclasses.fields(self):
            getattr(self, field.name)[lanes] = getattr(some, field.name)


def raised(lower: Array, offset: Array) -> Array:
    """Return sqrt(lower^2 + offset) without cancellation."""
    return lower + offset / (lower + xp.sqrt(lower * lower + offset))


def chord(ends: Array, logs: Array, others: Array) -> Array:
    """Zero of the chord of D over omega^2, other modes divided out; shape (lanes,).

    Parameters
    ----------
    ends, logs : Array, shape (2, lanes)
        Two frequencies, the lower one first, and log|D| there; D changes its sign between them.
    others : Array, shape (modes, lanes)
        The nearest other modes, possibly several; NaN for none.
    """
    low, high = ends[:1], ends[1:]
    with np.errstate(all="ignore"):
        ratio = (low - others) * (low + others) / ((high - others) * (high + others))
        low, high, ratio = ends[0], ends[1], xp.nanprod(xp.abs(ratio), axis=0)
        ratio = xp.where((ratio > 0.0) & xp.isfinite(ratio), ratio, 1.0)
        share = 1.0 / (1.0 + ratio * xp.exp(logs[1] - logs[0]))
        return raised(low, share * (high - low) * (high + low))
