"""Clusters: frequencies so close to each other that single ones have no useful derivative or shape."""

from __future__ import annotations

import math

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxmodal.runtime.array_types import Floats, Integers
from jaxmodal.runtime.namespace import Array, constant, linalg, xp

#: Frequencies closer than this, relative, are treated as one cluster unless the caller says otherwise.
CLUSTER_TOLERANCE = 1e-9
#: frequencies closer than this, relative, have their shapes made orthogonal to each other: rounding mixes them
MIXING = 1e-4


def unmixing(gram: Array, apart: Array) -> Array:
    """Return the matrix (K, K) that makes neighbouring modes orthogonal, from the mass products (K, K) of modes.

    Rounding mixes two modes in proportion to 1e-16 over their relative distance; the symmetric part of this is undone.
    ``apart``, (K - 1,), is True for modes that are not close to the previous one.
    """
    cluster = xp.concatenate([np.zeros(1), xp.cumsum(apart.astype(gram.dtype))])
    own = xp.where(cluster[:, None] == cluster[None, :], gram, 0.0)
    values, vectors = linalg.eigh(constant(own))
    return (vectors / xp.sqrt(xp.maximum(values, 1e-6))[None, :]) @ vectors.T


class RepeatedFrequencyError(ValueError):
    """Raised for a derivative that does not exist: of one member of a group of (nearly) equal frequencies."""


def clusters(
    omega: ArrayLike, group: ArrayLike, tolerance: float = CLUSTER_TOLERANCE
) -> tuple[Integers, Integers]:
    """Return the indices of the first and the last mode of each mode's cluster.

    Parameters
    ----------
    omega, group : array, shape (..., K)
        Ascending frequencies, and the index of the first mode of each mode's group (`NaturalFrequencies`).
    tolerance : float
        Relative distance below which neighbours form a cluster; modes of one group always do.

    Returns
    -------
    first, last : array, shape (..., K)
        Equal for isolated modes, which include those of zero frequency.

    Raises
    ------
    ValueError
        If the tolerance is not between 1e-12, the resolution of frequencies, and 1e-2.
    """
    if not 1e-12 <= tolerance <= 1e-2:
        raise ValueError(
            f"cluster_tolerance = {tolerance!r}; expected a relative distance between 1e-12 and 1e-2"
        )
    omega, group = np.asarray(omega), np.asarray(group)
    joined = (omega[..., 1:] - omega[..., :-1]) <= tolerance * omega[..., 1:]
    joined |= group[..., 1:] == group[..., :-1]
    joined &= omega[..., 1:] > 0.0  # free hinges: each is a motion of its own
    number = np.broadcast_to(np.arange(omega.shape[-1]), omega.shape)
    edge = np.ones_like(omega[..., :1], dtype=bool)
    starts = np.where(np.concatenate([edge, ~joined], axis=-1), number, 0)
    stops = np.where(np.concatenate([~joined, edge], axis=-1), number, omega.shape[-1])
    first = np.maximum.accumulate(starts, axis=-1)
    last = np.minimum.accumulate(stops[..., ::-1], axis=-1)[..., ::-1]
    return first, last


def check_clusters(
    omega: ArrayLike,
    first: Integers,
    last: Integers,
    num_modes: int,
    repeated: str,
    tolerance: float,
) -> None:
    """Refuse clusters that continue beyond the list and, unless ``repeated`` is ``"mean"``, all clusters.

    Raises
    ------
    RepeatedFrequencyError
        With the modes and a remedy.
    """
    clustered = [k for k in range(num_modes) if last[k] > first[k]]
    if any(last[k] == len(first) - 1 for k in clustered):
        raise RepeatedFrequencyError(
            f"mode {num_modes} belongs to a cluster (closer than {tolerance:g}) that goes on beyond mode {len(first)}:"
            " raise num_modes, or lower cluster_tolerance"
        )
    if clustered and repeated == "refuse":
        hz = np.asarray(omega) / (2.0 * math.pi)
        groups = sorted({(int(first[k]), int(last[k])) for k in clustered})
        listed = "; ".join(f"modes {a + 1} to {b + 1} near {hz[a]:.9g} Hz" for a, b in groups)
        raise RepeatedFrequencyError(
            f"{listed}: closer to each other than {tolerance:g}, a single one has no derivative there."
            " Ask for the mean of the cluster with repeated='mean', for one direction with"
            " directional_derivatives, or lower cluster_tolerance"
        )


def refuse_repeated(what: str, omega: ArrayLike, alone: ArrayLike) -> None:
    """Refuse derivatives of modes that are not isolated; omega and alone have shape (..., K).

    Raises
    ------
    RepeatedFrequencyError
        With the modes and a remedy.
    """
    together = ~np.asarray(alone)
    if not together.any():
        return
    modes = np.flatnonzero(together.reshape(-1, together.shape[-1]).any(axis=0)) + 1
    if isinstance(omega, jax.core.Tracer):
        hertz = ""
    else:
        first = np.asarray(omega)[together][0] / (2.0 * math.pi)
        hertz = f" near {first:.9g} Hz"
    raise RepeatedFrequencyError(
        f"{what} of modes {', '.join(map(str, modes))}{hertz} do not exist: the frequencies are closer to"
        f" each other than {CLUSTER_TOLERANCE:g} (relative). Ask for fewer modes (num_modes), move the"
        " arm away from the crossing, or take first derivatives: of the sum of the group, or for one direction"
        " with directional_derivatives"
    )


def cluster_means(values: Floats, first: Integers) -> Floats:
    """Return values of shape (..., K, ...) with each mode's value replaced by the mean over its cluster.

    ``first`` has shape (..., K), which identifies the axis of the modes in ``values``.
    """
    same = (first[..., :, None] == first[..., None, :]).astype(np.float64)
    if not np.any(same.sum(axis=-1) > 1.0):
        return values
    weights = same / same.sum(axis=-1, keepdims=True)
    flat = values.reshape((*first.shape, -1))
    # a mode that stands alone keeps its bits
    mean = np.where((same.sum(axis=-1) > 1.0)[..., None], weights @ flat, flat)
    return mean.reshape(values.shape)
