"""Displacements and section forces along the links of an arm in space: the planar solutions in two planes.

Fields are (u, v, w, phi_x, phi_y, phi_z, N, V_y, V_z, M_x, M_y, M_z) in the section's axes; forces are those that the
outer part exerts on the inner one, so that each is conjugate to its displacement.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import WaveNumbers, waves_at
from jaxmodal.dynamic_stiffness.fields import plane_fields
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.stiffness.members import beams_of, sections_of

#: names of the fields in their order
MOTION = ("u", "v", "w", "phi_x", "phi_y", "phi_z")
FORCE = ("normal", "shear_y", "shear_z", "torque", "moment_y", "moment_z")
#: places and signs of the planar fields (u, v, psi, N, V, M) of the two planes among those in space
_PLANES = (
    (np.array([0, 1, 5, 6, 7, 11]), np.ones(6)),
    (np.array([3, 2, 4, 9, 8, 10]), np.array([1.0, 1.0, -1.0, 1.0, 1.0, -1.0])),
)


def arm_fields(model: ModalModel, omega: float, xi: np.ndarray) -> np.ndarray:
    """The fields of all links for a unit value of each of their twelve constants.

    Parameters
    ----------
    omega : float
        Angular frequency > 0 in rad/s.

    Returns
    -------
    np.ndarray, shape (n, s, 12, 12)
        Link, station, field, constant.
    """
    links, values, theory = model.links, model.values.links, model.theory
    sections, n = sections_of(links), len(links)
    assert sections is not None
    waves = waves_at(beams_of(sections, theory, Arithmetic.float64).planes, np.full((1, 1), omega))
    lengths = np.array([value.beam.length for value in values])
    turning = omega * omega * np.array([value.beam.polar for value in values]) * lengths
    # both planes of all links at once, the plane of stretching first
    w = WaveNumbers(*(np.broadcast_to(x[..., 0, 0], (2, n)).reshape(-1, 1) for x in waves))
    w = w._replace(mass_term=np.concatenate([w.mass_term[:n], turning[:, None]]))
    axial = np.repeat([float(theory.axial), 1.0], n)[:, None]
    own = plane_fields(
        w,
        dataclasses.replace(theory, axial=axial),
        np.tile(lengths, 2)[:, None],
        np.tile([float(not link.rigid) for link in links], 2)[:, None],
        xi,
    )
    found = np.zeros((n, xi.size, 12, 12))
    for plane, (places, signs) in enumerate(_PLANES):
        columns = np.arange(6) + 6 * plane
        found[:, :, places[:, None], columns] = own[plane * n : (plane + 1) * n] * signs[:, None]
    return found
