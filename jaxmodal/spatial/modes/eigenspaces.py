"""Modes of an arm in space at its natural frequencies: mass-normalised, orthogonal to each other, with signs."""

from __future__ import annotations

import jax
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
    of_number,
    rigid_motions,
)

#: the greatest multiplicity of a natural frequency: the six reactions at the base determine a motion
SLOTS = 6


def modes_of(
    model: ModalModel,
    omega: np.ndarray,
    first: np.ndarray,
    multiplicity: np.ndarray,
    num_points: int,
    stations: np.ndarray,
) -> tuple[Motion, np.ndarray]:
    """The modes of ascending frequencies, of unit modal mass, and their motions at all masses.

    Parameters
    ----------
    omega, first, multiplicity : np.ndarray, shape (K,)
        Frequencies > 0 in rad/s, index of the first of each one's group, and how many modes that group has.
    num_points : int
        Nodes of Gauss's rule, see `modal_mass.quadrature_size`.
    stations : np.ndarray, shape (s,)
        Where else fields are wanted, x/L.

    Returns
    -------
    Motion
        With a leading axis of modes.
    motions : np.ndarray, shape (K, D)
        At the points of `mass_points`.
    """
    if not omega.size:
        no_fields = np.zeros((6, len(model.links), stations.size, 12))
        rigid = rigid_motions(model, num_points)._replace(at=no_fields)
        return Motion(*(x[:0] for x in rigid)), carried_motions(model, num_points)[0][:0]
    found = []
    for start in np.unique(first):
        members = int(np.sum(first == start))
        slots = int(np.clip(multiplicity[start], members, SLOTS))
        space = _null_vectors(model, float(omega[start]), slots, num_points, stations)
        found.append(Motion(*(x[:members] for x in space)))
    modes: Motion = jax.tree_util.tree_map(lambda *x: np.concatenate(x), *found)
    points = [mass_points(model, of_number(modes, k)) for k in range(omega.size)]
    motions, masses = np.stack([p[0] for p in points]), points[0][1]
    size = np.sqrt(np.einsum("kd,kd,d->k", motions, motions, masses))
    modes, motions = _changed(np.diag(1.0 / size), modes), motions / size[:, None]
    apart = omega[1:] - omega[:-1] > MIXING * omega[1:]
    basis = unmixing((motions * masses) @ motions.T, apart & (first[1:] != first[:-1]))
    modes, motions = _changed(basis, modes), basis @ motions
    sign = np.diag(_signs(model, modes.outer))
    return _changed(sign, modes), sign @ motions


def _changed(matrix: np.ndarray, modes: Motion) -> Motion:
    return Motion(*(np.einsum("kj,j...->k...", matrix, x) for x in modes))


def _null_vectors(
    model: ModalModel,
    omega: float,
    number: int,
    num_points: int,
    stations: np.ndarray,
) -> Motion:
    """So many motions that meet all conditions at a natural frequency, any amplitudes."""
    xi = np.concatenate([[0.0], quadrature(num_points)[0], [1.0], stations])
    last = num_points + 1
    fields = arm_fields(model, omega, xi)
    matrix = conditions(model, omega, fields[:, 0], fields[:, last])
    largest = np.max(np.abs(fields[:, : last + 1]), axis=1)
    scales = equilibration(conditions(model, omega, largest, largest, sizes=True))

    def at(w: float) -> np.ndarray:
        ends = arm_fields(model, w, np.array([0.0, 1.0]))
        return conditions(model, w, ends[:, 0], ends[:, 1])

    step = SLOPE_STEP * omega
    slope = (at(omega + step) - at(omega - step)) / (2.0 * step)
    used = np.ones(number)
    unknowns = null_space(matrix, slope, *scales, used).T
    n = len(model.links)
    motion = np.einsum("nsfc,mnc->mnsf", fields, unknowns[:, : 12 * n].reshape(number, n, 12))
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
    )


def _signs(model: ModalModel, outer: np.ndarray) -> np.ndarray:
    """The factors +1 or -1 that give modes their sign; ``outer`` has shape (K, n, 12)."""
    length = sum(link.beam.length for link in model.values.links)
    order, scale = [1, 2, 0, 5, 4, 3], np.array([1.0, 1.0, 1.0, length, length, length])
    signs: np.ndarray = signs_of(outer[..., order] * scale)
    return signs
