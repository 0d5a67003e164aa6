"""Displacements and section forces along the links of an arm in space, from the planar solutions in two planes.

Fields are (u, v, w, phi_x, phi_y, phi_z, N, V_y, V_z, M_x, M_y, M_z) in the section's axes. Forces are those of the
outer part on the inner one, so that each is conjugate to its displacement.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import WaveNumbers, waves_at
from jaxmodal.dynamic_stiffness.fields import plane_fields
from jaxmodal.dynamic_stiffness.preload import member_waves
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import line_inertia

#: names of the fields in their order
MOTION = ("u", "v", "w", "phi_x", "phi_y", "phi_z")
FORCE = ("normal", "shear_y", "shear_z", "torque", "moment_y", "moment_z")
#: indices and signs of the planar fields (u, v, psi, N, V, M) of the two planes among the fields in space
_PLANES = (
    (np.array([0, 1, 5, 6, 7, 11]), np.ones(6)),
    (np.array([3, 2, 4, 9, 8, 10]), np.array([1.0, 1.0, -1.0, 1.0, 1.0, -1.0])),
)


def arm_fields(model: ModalModel, omega: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """Return the fields of all links for unit values of each of their twelve constants.

    Parameters
    ----------
    omega : np.ndarray, shape (m,)
        Angular frequencies > 0 in rad/s.

    Returns
    -------
    np.ndarray, shape (m, n, s, 12, 12)
        Axes: frequency, link, station, field, constant.
    """
    found = np.zeros((omega.size, len(model.links), xi.size, 12, 12))
    rigid = np.array([link.rigid for link in model.links])
    for k in np.flatnonzero(rigid):
        length, inertia = model.values.links[k].beam.length, line_inertia(model, int(k))
        for number, square in enumerate(omega * omega):
            found[number, k] = rigid_fields(length * xi, square * inertia)
    if not rigid.all():
        found[:, ~rigid] = _beam_fields(model, omega, xi, np.flatnonzero(~rigid))
    return found


def rigid_fields(x: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Return the fields of a rigid link at places x for unit displacements and forces at its base, (s, 12, 12).

    ``inertia`` is omega^2 times mass and moments of inertia per length.
    """
    mass, (polar, about_y, about_z) = inertia[0], inertia[3:]
    found = np.tile(np.eye(12), (x.size, 1, 1))
    square, cube = 0.5 * x * x, x * x * x / 6.0
    u, v, w, phi_x, phi_y, phi_z, normal, shear_y, shear_z, torque, moment_y, moment_z = range(12)
    found[:, v, phi_z], found[:, w, phi_y] = x, -x
    found[:, normal, u] = -mass * x
    found[:, shear_y, v], found[:, shear_y, phi_z] = -mass * x, -mass * square
    found[:, shear_z, w], found[:, shear_z, phi_y] = -mass * x, mass * square
    found[:, torque, phi_x] = -polar * x
    found[:, moment_y, shear_z], found[:, moment_y, w] = x, -mass * square
    found[:, moment_y, phi_y] = mass * cube - about_y * x
    found[:, moment_z, shear_y], found[:, moment_z, v] = -x, mass * square
    found[:, moment_z, phi_z] = mass * cube - about_z * x
    return found


def _beam_fields(
    model: ModalModel, omega: np.ndarray, xi: np.ndarray, flexible: np.ndarray
) -> np.ndarray:
    """Return the fields of the flexible links, by their places: (m, links, s, 12, 12)."""
    values, theory = [model.values.links[k] for k in flexible], model.theory
    beams, n, m = model.beams, len(values), omega.size
    assert beams is not None

    def flat(x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(x[..., 0], (2, n, m)).reshape(-1, 1)

    if beams.pressed is None:
        waves, lever, share = waves_at(beams.planes, omega[:, None]), beams.length, None
    else:
        waves, lever, share = member_waves(
            beams.pressed, theory, omega[:, None], Arithmetic.float64
        )
        mu = beams.planes.mu * omega[:, None]
        waves = waves._replace(mu=mu, axial_rigidity=beams.planes.axial_rigidity)
    lengths = np.array([value.beam.length for value in values])
    polar = np.array([value.beam.polar for value in values]) * lengths
    turning = (omega * omega)[None, :] * polar[:, None]
    # both planes of all links at all frequencies in one call, the plane of stretching first
    w = WaveNumbers(*map(flat, waves))
    w = w._replace(mass_term=np.concatenate([w.mass_term[: n * m], turning.reshape(-1, 1)]))
    axial = np.repeat([float(theory.axial), 1.0], n * m)[:, None]
    own = plane_fields(
        w,
        dataclasses.replace(theory, axial=axial),
        flat(lever),
        None,
        xi,
        None if share is None else flat(share),
    )
    own = own.reshape(2, n, m, xi.size, 6, 6).swapaxes(1, 2)
    found = np.zeros((m, n, xi.size, 12, 12))
    for plane, (places, signs) in enumerate(_PLANES):
        columns = np.arange(6) + 6 * plane
        found[..., places[:, None], columns] = own[plane] * signs[:, None]
    return found
