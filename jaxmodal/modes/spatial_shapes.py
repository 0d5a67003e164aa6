"""Mode shapes of arms in space, with section forces, energies and base excitation."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import numpy as np

from jaxmodal.eigenspaces.modal_mass import unpadded_quadrature_size
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.exact_shapes import ExactShapes
from jaxmodal.modes.shape_words import IN_SPACE, ShapeWords
from jaxmodal.runtime.namespace import Array
from jaxmodal.spatial.modes.energies import SpatialEnergies
from jaxmodal.spatial.modes.fields import FORCE, MOTION
from jaxmodal.spatial.modes.motions import carried_bodies, carried_motions, frames
from jaxmodal.spatial.modes.residuals import condition_residuals
from jaxmodal.spatial.preload.loaded_modes import eigenmodes_of
from jaxmodal.spatial.preload.model import LoadedModel
from jaxmodal.spatial.stiffness.model import SpatialModel


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class SpatialModeShapes(ExactShapes):
    """Mode shapes of one arm in space: K modes, n links, S stations per link; unit modal mass; SI units.

    ``motion`` and ``force`` are given in each link's section axes: x along the link from its base to its tip, y and z
    the principal axes of its section, turned by ``section_roll``. They are amplitudes of a harmonic motion
    ``sin(omega t)``. Unit modal mass means that the mass-weighted square of the amplitude, bodies included, is
    1 kg m^2.

    Attributes
    ----------
    frequencies : NaturalFrequencies
        The frequencies of the modes, with their certificates.
    stations : Array, shape (S,)
        x/L, the same on every link.
    motion : Array, shape (K, n, S, 6)
        Displacements u, v, w in m and rotations phi_x, phi_y, phi_z in rad, right-handed about x, y, z.
    force : Array, shape (K, n, S, 6)
        Section forces ``N = E A u'``, ``V_y = kappa_y G A (v' - phi_z)``, ``V_z = kappa_z G A (w' + phi_y)`` in N,
        torque ``G J phi_x'`` and bending moments ``E I_y phi_y'``, ``E I_z phi_z'`` in N m. An axial force P adds
        ``P v'``, ``P w'`` and ``P (I_y + I_z)/A phi_x'``; under loads moments at rest add theirs, so that forces stay
        conjugate to displacements and rotations.
    position : Array, shape (n, S, 3)
        Positions of the stations at rest relative to joint 1, in m, in ground axes.
    displacement, rotation : Array, shape (K, n, S, 3)
        Displacements (m) and rotations (rad) in ground axes.
    energies : SpatialEnergies
        Peak strain and kinetic energies in J by kind, arrays of shape (K, n).
    residuals : Array, shape (K, n, 4)
        Residual of each condition, relative to its scale: continuity of displacements and rotations at the joint of
        each link, balance of forces and moments at its tip, spring laws included. The scale is the largest value of
        its kind on the arm in that mode.
    participation : Array, shape (K, 6)
        Participation factors of a base that moves along (sqrt(kg)) or turns about (m sqrt(kg)) the ground's x, y, z.
    total_mass : Array, shape (6,)
        Mass (kg), three times, and moments of inertia about the base (kg m^2) of everything that moves with the base.
    orthogonality : Array, shape (K, K)
        Mass inner products of the modes; the identity but for rounding.
    motions : Array, shape (K, D)
        The modes at all points with a mass, in m and rad: at nodes along the links and at bodies.
    masses : Array, shape (D,)
        The masses (kg) and inertias (kg m^2) at these points; products of inertia give entries of both signs.
    bodies : Array, shape (n, 2, 4)
        The bodies that move with the base of each link (hub) and with its tip (tip body, payload, stator of the next
        joint): mass, kg, and centre of gravity at rest relative to the end of the elastic part, m, in ground axes.
    """

    told: ClassVar[ShapeWords] = IN_SPACE
    motion: Array
    force: Array
    rotation: Array
    energies: SpatialEnergies

    @property
    def fields(self) -> dict[str, Array]:
        motion = {name: self.motion[..., k] for k, name in enumerate(MOTION)}
        return motion | {name: self.force[..., k] for k, name in enumerate(FORCE)}


def spatial_motions(
    lowered: SpatialModel | LoadedModel,
    omega: np.ndarray,
    first: np.ndarray,
    multiplicity: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return `mode_shapes.known_motions` of an arm in space."""
    own, points = eigenmodes_of(lowered), unpadded_quadrature_size(omega.size)
    _, motions = own.modes(omega, first, multiplicity, points, np.zeros(0))
    return motions, carried_motions(own.model, points)[1]


def spatial_mode_shapes(
    lowered: SpatialModel | LoadedModel, found: NaturalFrequencies, xi: np.ndarray
) -> SpatialModeShapes:
    """Return `mode_shapes` of an arm in space at known frequencies ``found`` and stations ``xi``."""
    own, num_modes = eigenmodes_of(lowered), found.omega.shape[0]
    model = own.model
    points = unpadded_quadrature_size(num_modes)
    free = int(np.sum(found.omega == 0.0))
    known = np.flatnonzero(found.omega > 0.0)  # NaN: there is no such mode
    carried, masses = carried_motions(model, points)
    weighed = carried * masses

    def rows(values: np.ndarray) -> np.ndarray:
        full = np.full((num_modes, *values.shape[1:]), np.nan)
        full[known] = values
        return full

    gram = np.full((num_modes, num_modes), np.nan)
    omega, group = found.omega[known], found.group[known] - free
    modes, motions = own.modes(omega, group, found.multiplicity[known], points, xi)
    gram[np.ix_(known, known)] = (motions * masses) @ motions.T
    places = frames(model.values.links)
    section = np.stack([frame.section for frame in places])
    position = np.stack([frame.start + xi[:, None] * (frame.end - frame.start) for frame in places])
    return jax.device_put(
        SpatialModeShapes(
            frequencies=found,
            stations=xi,
            motion=rows(modes.at[..., :6]),
            force=rows(modes.at[..., 6:]),
            position=position,
            displacement=rows(np.einsum("nij,knsj->knsi", section, modes.at[..., :3])),
            rotation=rows(np.einsum("nij,knsj->knsi", section, modes.at[..., 3:6])),
            energies=jax.tree_util.tree_map(rows, own.energies(omega, modes)),
            residuals=rows(condition_residuals(model, omega, modes)),
            participation=rows(motions @ weighed.T),
            total_mass=np.einsum("kd,kd->k", carried, weighed),
            orthogonality=gram,
            motions=rows(motions),
            masses=masses,
            bodies=carried_bodies(model),
        )
    )
