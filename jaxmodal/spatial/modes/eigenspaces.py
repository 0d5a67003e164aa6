"""Modes of an arm in space at its natural frequencies: mass-normalised, mutually orthogonal, with defined signs."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from jaxmodal.eigenspaces.clusters import MIXING, unmixing
from jaxmodal.eigenspaces.modal_mass import quadrature, signs_of
from jaxmodal.eigenspaces.null_spaces import SLOPE_STEP, equilibration, null_space
from jaxmodal.spatial.modes.conditions import conditions
from jaxmodal.spatial.modes.fields import arm_fields
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import (
    Motion,
    carried_motions,
    mass_points,
    no_gives,
    rigid_motions,
)

#: largest multiplicity of a natural frequency: the six reactions at the base determine a motion
SLOTS = 6
#: number of stations, over all links and frequencies, at which fields are computed in parallel: 144 numbers each
_TOGETHER = 20_000

#: from frequencies, members, slots, number of nodes and stations, see `_null_vectors`
NullVectors = Callable[[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray], Motion]


def modes_of(
    model: ModalModel,
    omega: np.ndarray,
    first: np.ndarray,
    multiplicity: np.ndarray,
    num_points: int,
    stations: np.ndarray,
    null_vectors: NullVectors | None = None,
) -> tuple[Motion, np.ndarray]:
    """Return modes of unit modal mass at ascending frequencies, and their motions at all points with mass.

    Parameters
    ----------
    omega, first, multiplicity : np.ndarray, shape (K,)
        Frequencies > 0 in rad/s, index of the first mode of each mode's group of equal frequencies, and size of this
        group.
    num_points : int
        Nodes of Gauss's rule, see `modal_mass.quadrature_size`.
    stations : np.ndarray, shape (s,)
        Further positions x/L at which fields are computed.
    null_vectors : function, optional
        In the place of `_null_vectors`, with the arguments after the model.

    Returns
    -------
    Motion
        Modes along a leading axis; NaN if a motion has no mass, as for a spurious frequency, caused by rounding, of
        springs that move no mass.
    motions : np.ndarray, shape (K, D)
        Motions at the points of `mass_points`.
    """
    if not omega.size:
        no_fields = np.zeros((6, len(model.links), stations.size, 12))
        rigid = rigid_motions(model, num_points)._replace(at=no_fields)
        return Motion(*(x[:0] for x in rigid)), carried_motions(model, num_points)[0][:0]
    starts = np.unique(first)
    members = np.array([np.sum(first == start) for start in starts])
    slots = np.clip(multiplicity[starts], members, SLOTS)
    most = max(1, _TOGETHER // (len(model.links) * (num_points + 2 + stations.size)))
    blocks = [slice(k, k + most) for k in range(0, starts.size, most)]
    vectors = functools.partial(_null_vectors, model) if null_vectors is None else null_vectors
    found = [vectors(omega[starts[b]], members[b], slots[b], num_points, stations) for b in blocks]
    modes = Motion(*(np.concatenate(x) for x in zip(*found, strict=True)))
    motions, masses = mass_points(model, modes)
    size = np.sqrt(np.einsum("kd,kd,d->k", motions, motions, masses))
    still = size == 0.0
    by = 1.0 / np.where(still, 1.0, size)
    modes, motions = _changed(np.diag(by), modes), motions * by[:, None]
    apart = omega[1:] - omega[:-1] > MIXING * omega[1:]
    gram = (motions * masses) @ motions.T + np.diag(still.astype(float))
    basis = unmixing(gram, apart & (first[1:] != first[:-1]))
    modes, motions = _changed(basis, modes), basis @ motions
    sign = np.diag(_signs(model, modes.outer))
    modes, motions = _changed(sign, modes), sign @ motions
    for x in (*modes, motions):
        x[still] = np.nan
    return modes, motions


def _changed(matrix: np.ndarray, modes: Motion) -> Motion:
    return Motion(*(np.einsum("kj,j...->k...", matrix, x) for x in modes))


def _null_vectors(
    model: ModalModel,
    omega: np.ndarray,
    members: np.ndarray,
    slots: np.ndarray,
    num_points: int,
    stations: np.ndarray,
) -> Motion:
    """Return null vectors of the conditions at natural frequencies (m,), of arbitrary amplitude.

    For each frequency, its ``members`` are selected from the ``slots`` vectors of its null space.
    """
    xi = np.concatenate([[0.0], quadrature(num_points)[0], [1.0], stations])
    last, n = num_points + 1, len(model.links)
    fields = arm_fields(model, omega, xi)
    matrix = conditions(model, omega, fields[:, :, 0], fields[:, :, last])
    largest = np.max(np.abs(fields[:, :, : last + 1]), axis=2)
    sizes = conditions(model, omega, largest, largest, sizes=True)
    step = SLOPE_STEP * omega
    aside = np.concatenate([omega + step, omega - step])
    ends = arm_fields(model, aside, np.array([0.0, 1.0]))
    above, below = np.split(conditions(model, aside, ends[:, :, 0], ends[:, :, 1]), 2)
    slope = (above - below) / (2.0 * step)[:, None, None]
    rows, columns = equilibration(sizes)
    found: list[np.ndarray] = [np.zeros(0)] * omega.size
    for several in np.unique(slots):
        at = np.flatnonzero(slots == several)
        vectors_of = null_space(matrix[at], slope[at], rows[at], columns[at], np.ones(several))
        for k, vectors in zip(at, vectors_of, strict=True):
            found[k] = vectors.T[: members[k]]
    unknowns, number = np.concatenate(found), int(members.sum())
    constants = unknowns[:, : 12 * n].reshape(number, n, 12)
    motion = np.einsum("mnsfc,mnc->mnsf", fields.repeat(members, axis=0), constants)
    gives = no_gives(model, number)
    for i, springs in enumerate(model.springs):
        place = model.place[i]
        gives[:, i, list(springs)] = unknowns[:, place : place + len(springs)]
    base = np.zeros((number, 6))
    if model.base is not None:
        base = unknowns[:, model.base : model.base + 6]
    return Motion(
        inner=motion[:, :, 0],
        nodes=motion[:, :, 1:last],
        outer=motion[:, :, last],
        gives=gives,
        base=base,
        at=motion[:, :, last + 1 :],
        held=unknowns[:, model.held[0].start : model.held[-1].stop],
    )


def _signs(model: ModalModel, outer: np.ndarray) -> np.ndarray:
    """Return the factors +1 or -1 that define the signs of the modes; ``outer`` has shape (K, n, 12)."""
    length = sum(link.beam.length for link in model.values.links)
    order, scale = [1, 2, 0, 5, 4, 3], np.array([1.0, 1.0, 1.0, length, length, length])
    signs: np.ndarray = signs_of(outer[..., order] * scale)
    return signs
