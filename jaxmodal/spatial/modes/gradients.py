"""Derivatives of the frequencies of an arm in space by an energy balance, with respect to all its values at once.

A mode is a stationary point of the difference of strain energy and omega^2 times the mass form, with continuity at the
joints as constraints whose multipliers are the joint forces. The derivative of omega^2 of a mode of unit modal mass
with respect to any value is therefore that of twice this difference at fixed displacements and forces.
"""

from __future__ import annotations

import jax
import numpy as np

from jaxmodal.eigenspaces.clusters import cluster_means
from jaxmodal.eigenspaces.modal_mass import quadrature, unpadded_quadrature_size
from jaxmodal.spatial.modes.eigenspaces import modes_of
from jaxmodal.spatial.modes.energies import gives_way, rigidities, slopes, strain_forces, turns
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import (
    Joint,
    Motion,
    forces_of_supports,
    joints_of,
    line_inertia,
)
from jaxmodal.spatial.modes.values import ArmValues, BeamValues, LinkValues, rates


def squared_frequency_gradient(
    model: ModalModel, omega: np.ndarray | float, a: Motion, b: Motion
) -> ArmValues:
    """Return the derivative of omega^2 with respect to `values.arm_values`; projected on a and b if they differ.

    Parameters
    ----------
    omega : np.ndarray or float
        Frequencies of the modes, or one for all, rad/s.
    a, b : Motion
        Modes of unit modal mass, orthogonal or identical, with leading axes that broadcast. For a basis of a repeated
        frequency, the entries (a, b) form the symmetric matrix whose eigenvalues are the directional derivatives.

    Returns
    -------
    ArmValues
        Derivatives with the leading axes and without axes of cells; to be multiplied by the rates of the values, entry
        by entry.

    Notes
    -----
    The fields as functions of x/L, the deflections of the springs and the forces in the joints are held fixed. The
    derivative with respect to a rotation is then the moment of the force transmitted there, that of an offset is the
    force times the rotation there, and that of a length is the force ``-dE/dL``, which is constant along a link.
    """
    first, second = joints_of(model, omega, a), joints_of(model, omega, b)
    links = []
    for i in range(len(model.links)):
        beam = _beam_gradient(model, omega, i, a.nodes[..., i, :, :], b.nodes[..., i, :, :])
        pair = (first[i], a, second[i], b), (second[i], b, first[i], a)
        halves = [_half(model, omega, i, beam, *given) for given in pair]
        links.append(jax.tree_util.tree_map(lambda x, y: 0.5 * (x + y), *halves))
    base = None if model.values.base is None else _outer(a.base, b.base)
    return ArmValues(tuple(links), base)


def _beam_gradient(
    model: ModalModel, omega: np.ndarray | float, number: int, a: np.ndarray, b: np.ndarray
) -> BeamValues:
    """Return the derivative with respect to the values of a link, from the fields at the nodes, (..., q, 12)."""
    beam, weights = model.values.links[number].beam, quadrature(a.shape[-2])[1]
    length, rigidity = beam.length, rigidities(beam)

    def mean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("...qf,...qf,q->...f", x, y, weights))

    square = omega * omega
    products = mean(a[..., :6], b[..., :6])
    moved = -np.asarray(square * length)[..., None] * products
    forces, others = (strain_forces(model, number, x) for x in (a, b))
    strain = gives_way(model, number) * mean(forces, others) / rigidity
    of_rigidity = strain * length / rigidity
    # work of the transverse force in a rotation of the sections, and of the axial force in a rotation of the axis
    turning = mean(forces[..., 1:3], turns(b)) + mean(others[..., 1:3], turns(a))
    bent = mean(*(slopes(model, number, x) for x in (a, b))).sum(axis=-1)
    twisted = beam.gyration * strain[..., 3] / rigidity[3]
    kinetic = square * (line_inertia(model, number) * products).sum(axis=-1)
    rotary = float(model.theory.rotary_inertia)
    found = (
        -(strain.sum(axis=-1) + kinetic) - turning.sum(axis=-1) - beam.force * (bent + twisted),
        *np.moveaxis(of_rigidity, -1, 0),
        moved[..., :3].sum(axis=-1),
        *(moved[..., 3], rotary * moved[..., 4], rotary * moved[..., 5]),
        length * (bent + twisted),
        beam.force * of_rigidity[..., 3],
    )
    return BeamValues(*(np.asarray(x) for x in found))


def _half(
    model: ModalModel,
    omega: np.ndarray | float,
    number: int,
    beam: BeamValues,
    x: Joint,
    at_x: Motion,
    y: Joint,
    at_y: Motion,
) -> LinkValues:
    """Return the products of displacements of x with forces of y; the mean over both orders is the derivative."""
    link = model.values.links[number]
    square, inertia = np.asarray(omega * omega), link.rotor[0]
    inner, outer = at_x.inner[..., number, :], at_x.outer[..., number, :]
    gives = at_x.gives[..., number, : link.stiffness.size]
    others = at_y.gives[..., number, : link.stiffness.size]
    by_mass = -square[..., None, None]
    of_rotor = -square * x.spin * y.spin, -2.0 * square * inertia * y.spin * gives[..., -1]
    turn = _products(x.previous, y.carried)
    roll = _products(y.start, inner[..., :6]) - _products(y.end, outer[..., :6])
    directions = -2.0 * _outer(gives, y.loaded)
    directions[..., -1, :] -= (2.0 * square * inertia * y.spin)[..., None] * x.before
    return LinkValues(
        beam=beam,
        rotation=-2.0 * turn,
        roll=2.0 * roll,
        base_offset=-2.0 * np.cross(y.start[..., :3], x.beyond[..., 3:]),
        end_offset=-2.0 * np.cross(y.end[..., :3], x.tip[..., 3:]),
        tip=by_mass * _outer(x.tip, y.tip),
        hub=by_mass * _outer(x.beyond, y.beyond),
        stator=by_mass * _outer(x.previous, y.previous),
        directions=directions,
        stiffness=np.where(np.isfinite(link.stiffness), gives * others, 0.0),
        rotor=np.stack(np.broadcast_arrays(*of_rotor), axis=-1),
        **_of_supports(model, number, x.tip, at_x, y.tip, at_y),
    )


def _of_supports(
    model: ModalModel, number: int, tip: np.ndarray, at_x: Motion, other: np.ndarray, at_y: Motion
) -> dict[str, np.ndarray]:
    """Return the derivative with respect to directions and stiffnesses of supports; 0 for a rigid one's stiffness."""
    link = model.values.links[number]
    if link.supports is None or link.held is None:
        return {}
    forces = forces_of_supports(model, at_y, number)
    moved = (tip @ link.supports.T) * (other @ link.supports.T)
    return {
        "supports": 2.0 * _outer(forces, tip),
        "held": np.where(np.isfinite(link.held), moved, 0.0),
    }


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum of the outer products ``a b^T`` of translations and of rotations, (..., 3, 3)."""
    return _outer(a[..., :3], b[..., :3]) + _outer(a[..., 3:], b[..., 3:])


def _outer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(a[..., :, None] * b[..., None, :])


def _along(gradient: np.ndarray, rate: np.ndarray) -> np.ndarray:
    cells, lead = rate.shape[-1], gradient.ndim - rate.ndim + 1
    known = np.broadcast_to(rate, (*gradient.shape[lead:], cells)).reshape(-1, cells)
    return np.asarray(gradient.reshape(*gradient.shape[:lead], len(known)) @ known)


def leaf_derivatives(
    model: ModalModel, omega: np.ndarray, modes: Motion, to_leaves: ArmValues
) -> np.ndarray:
    """Return derivatives of modal frequencies by the leaves of the arm, given `values.rates`, (K, leaves)."""
    return _by_leaves(model, omega, modes, modes, to_leaves)


def projected_derivatives(
    model: ModalModel, omega: float, modes: Motion, to_leaves: ArmValues
) -> np.ndarray:
    """Return the derivatives for m modes of nearly equal frequency, projected on all pairs, (m, m, leaves)."""
    a, b = (Motion(*(np.expand_dims(x, axis) for x in modes)) for axis in (1, 0))
    return _by_leaves(model, omega, a, b, to_leaves)


def _by_leaves(
    model: ModalModel, omega: np.ndarray | float, a: Motion, b: Motion, to_leaves: ArmValues
) -> np.ndarray:
    terms = jax.tree_util.tree_map(
        _along, squared_frequency_gradient(model, omega, a, b), to_leaves
    )
    return np.asarray(sum(jax.tree_util.tree_leaves(terms)) / np.asarray(2.0 * omega)[..., None])


def frequency_gradients(
    model: ModalModel,
    omega: np.ndarray,
    first: np.ndarray,
    multiplicity: np.ndarray,
    highest_mode: int | None = None,
) -> np.ndarray:
    """Return the derivatives of all frequencies with respect to all leaves of the parts, (K, leaves).

    For a repeated frequency it is the derivative of the group's mean. Zero frequencies have zero derivatives; NaN where
    there is no frequency. The last group may continue beyond the list, which holds the lowest frequencies unless
    ``highest_mode`` gives an upper bound of their numbers.
    """
    found = np.zeros((omega.size, len(jax.tree_util.tree_leaves(model.parts))))
    found[np.isnan(omega)] = np.nan
    known, wanted, starts = whole_groups(omega, first, multiplicity)
    if known.size:
        points = unpadded_quadrature_size(omega.size if highest_mode is None else highest_mode)
        given = omega[wanted], starts, multiplicity[wanted]
        modes, _ = modes_of(model, *given, points, np.zeros(0))
        each = leaf_derivatives(model, omega[wanted], modes, rates(model.parts))
        found[known] = cluster_means(each, starts)[: known.size]
    return found


def whole_groups(
    omega: np.ndarray, first: np.ndarray, multiplicity: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return modes > 0 of a list, the list completed with the rest of its last group, and the starts of the groups.

    Starts are indices into the completed list.
    """
    known = np.flatnonzero(omega > 0.0)
    if not known.size:
        return known, known, known
    missing = int(multiplicity[known[-1]] - np.sum(first == first[known[-1]]))
    wanted = np.concatenate([known, np.repeat(known[-1:], max(missing, 0))])
    groups = np.unique(first[wanted], return_inverse=True)[1]
    return known, wanted, np.searchsorted(groups, groups)
