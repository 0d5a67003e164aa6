"""Modes of an arm in space at its natural frequencies: mass-normalised, orthogonal to each other, with signs."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.clusters import MIXING
from jaxmodal.eigenspaces.modal_mass import quadrature, signs_of
from jaxmodal.eigenspaces.null_spaces import SLOPE_STEP, null_space
from jaxmodal.spatial.modes.conditions import Chain, conditions, equilibration
from jaxmodal.spatial.modes.fields import arm_fields
from jaxmodal.spatial.modes.motions import Motion, mass_points, of_number
from jaxmodal.spatial.parts.links import SpatialLink

#: the greatest multiplicity of a natural frequency: the six reactions at the base determine a motion
SLOTS = 6


def modes_of(
    links: Sequence[SpatialLink],
    chain: Chain,
    theory: Theory,
    omega: np.ndarray,
    first: np.ndarray,
    multiplicity: np.ndarray,
    num_points: int,
    stations: np.ndarray,
) -> tuple[Motion, np.ndarray, np.ndarray]:
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
    masses : np.ndarray, shape (D,)
        The masses there.
    """
    found = []
    for start in np.unique(first):
        members = int(np.sum(first == start))
        slots = int(np.clip(multiplicity[start], members, SLOTS))
        space = _null_vectors(
            links, chain, theory, float(omega[start]), slots, num_points, stations
        )
        found.append(Motion(*(x[:members] for x in space)))
    modes: Motion = jax.tree_util.tree_map(lambda *x: np.concatenate(x), *found)
    points = [mass_points(chain, theory, of_number(modes, k)) for k in range(omega.size)]
    motions, masses = np.stack([p[0] for p in points]), points[0][1]
    size = np.sqrt(np.einsum("kd,kd,d->k", motions, motions, masses))
    modes, motions = _changed(np.diag(1.0 / size), modes), motions / size[:, None]
    basis = _orthogonal(omega, first, (motions * masses) @ motions.T)
    modes, motions = _changed(basis, modes), basis @ motions
    sign = np.diag(_signs(chain, modes.outer))
    return _changed(sign, modes), sign @ motions, masses


def _changed(matrix: np.ndarray, modes: Motion) -> Motion:
    return Motion(*(np.einsum("kj,j...->k...", matrix, x) for x in modes))


def _null_vectors(
    links: Sequence[SpatialLink],
    chain: Chain,
    theory: Theory,
    omega: float,
    number: int,
    num_points: int,
    stations: np.ndarray,
) -> Motion:
    """So many motions that meet all conditions at a natural frequency, any amplitudes."""
    xi = np.concatenate([[0.0], quadrature(num_points)[0], [1.0], stations])
    last = num_points + 1
    fields = arm_fields(links, chain.values.links, theory, omega, xi)
    matrix = conditions(chain, omega, fields[:, 0], fields[:, last])
    largest = np.max(np.abs(fields[:, : last + 1]), axis=1)
    scales = equilibration(conditions(chain, omega, largest, largest, sizes=True))

    def at(w: float) -> np.ndarray:
        ends = arm_fields(links, chain.values.links, theory, w, np.array([0.0, 1.0]))
        return conditions(chain, w, ends[:, 0], ends[:, 1])

    step = SLOPE_STEP * omega
    slope = (at(omega + step) - at(omega - step)) / (2.0 * step)
    used = np.ones(number)
    unknowns = null_space(matrix, slope, *scales, used).T
    n = len(links)
    motion = np.einsum("nsfc,mnc->mnsf", fields, unknowns[:, : 12 * n].reshape(number, n, 12))
    gives = np.zeros((number, n, max(1, *(link.stiffness.shape[0] for link in chain.values.links))))
    for i, springs in enumerate(chain.springs):
        behind = chain.values.links[i].stiffness.shape[0]
        for place, spring in enumerate(springs):
            gives[:, i, spring - behind] = unknowns[:, chain.place[i] + place]
    base = np.zeros((number, 6))
    if chain.base is not None:
        base = unknowns[:, chain.base : chain.base + 6]
    return Motion(
        inner=motion[:, :, 0],
        nodes=motion[:, :, 1:last],
        outer=motion[:, :, last],
        gives=gives,
        base=base,
        at=motion[:, :, last + 1 :],
    )


def _orthogonal(omega: np.ndarray, first: np.ndarray, gram: np.ndarray) -> np.ndarray:
    """What makes modes of one group, and neighbours in frequency, orthogonal to each other.

    Rounding mixes two modes in proportion to 1e-16 over their relative distance; the symmetric part of that is
    undone here.
    """
    near = omega[1:] - omega[:-1] <= MIXING * omega[1:]
    near |= first[1:] == first[:-1]
    cluster = np.concatenate([[0], np.cumsum(~near)])
    values, vectors = np.linalg.eigh(np.where(cluster[:, None] == cluster[None, :], gram, 0.0))
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1e-300))) @ vectors.T)


def _signs(chain: Chain, outer: np.ndarray) -> np.ndarray:
    """The factors +1 or -1 that give modes their sign; ``outer`` has shape (K, n, 12)."""
    length = sum(link.beam.length[0] for link in chain.values.links)
    order, scale = [1, 2, 0, 5, 4, 3], np.array([1.0, 1.0, 1.0, length, length, length])
    signs: np.ndarray = signs_of(outer[..., order] * scale)
    return signs
