"""Energies of the modes of an arm in space, by kind."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.runtime.namespace import Array
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import (
    Joint,
    Motion,
    body_points,
    forces_of_supports,
    joints_of,
    line_inertia,
    of_number,
)
from jaxmodal.spatial.modes.values import BeamValues


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SpatialEnergies:
    """Energy distribution of modes: peak values over a period in J, for unit modal amplitude, for each link.

    Attributes
    ----------
    stretching, torsion : Array, shape (..., n)
        Strain energy of stretching and of torsion.
    bending_y, bending_z : Array, shape (..., n)
        Strain energy of bending about the y axis of the section (in the x-z plane) and about its z axis (in the x-y
        plane).
    shear_y, shear_z : Array, shape (..., n)
        Strain energy of shear along y and z.
    joint : Array, shape (..., n)
        Strain energy of the joint's springs at its base and of supports at its tip; for link 1 also of an elastic base.
    translation, rotation : Array, shape (..., n)
        Kinetic energy of translation of the link's mass, and of rotation of its sections, including that about its
        axis.
    body_translation, body_rotation : Array, shape (..., n)
        Kinetic energy of the bodies at its tip, including the payload and the stator of the next joint.
    hub : Array, shape (..., n)
        Kinetic energy of the hub and the rotor at its base; for link 1 also of a stator on an elastic base.
    preload : Array, shape (..., n), or None
        Contribution of the axial force of a link to its strain energy, negative under compression; under loads that of
        all forces at rest in a link, its joint and its rigid parts. None if there are no such forces.
    """

    stretching: Array
    torsion: Array
    bending_y: Array
    bending_z: Array
    shear_y: Array
    shear_z: Array
    joint: Array
    translation: Array
    rotation: Array
    body_translation: Array
    body_rotation: Array
    hub: Array
    preload: Array | None = None

    @property
    def strain(self) -> Array:
        """Strain energy of the whole arm in J, shape (...,)."""
        beams = self.stretching + self.torsion + self.bending_y + self.bending_z
        own = beams + self.shear_y + self.shear_z + self.joint
        return (own if self.preload is None else own + self.preload).sum(axis=-1)

    @property
    def kinetic(self) -> Array:
        """Kinetic energy of the whole arm in J, shape (...,); equal to ``strain`` for a mode."""
        links = self.translation + self.rotation + self.hub
        return (links + self.body_translation + self.body_rotation).sum(axis=-1)


def rigidities(beam: BeamValues) -> np.ndarray:
    """Return the rigidities of a link for the section forces in their order, (6,)."""
    forces = (beam.stretching, beam.shearing_y, beam.shearing_z)
    return np.array([*forces, beam.torsion, beam.bending_y, beam.bending_z])


def gives_way(model: ModalModel, number: int) -> np.ndarray:
    """Return 1 for each section force that deforms a link, otherwise 0, (6,)."""
    shear, axial = float(model.theory.shear), float(model.theory.axial)
    deforms = not model.links[number].rigid
    return deforms * np.array([axial, shear, shear, 1.0, 1.0, 1.0])


def strain_forces(model: ModalModel, number: int, fields: np.ndarray) -> np.ndarray:
    """Return the section forces due to the strains of a link, from its fields (..., 12), without the terms of N.

    From the transverse force Q of a plane: ``kappa G A (v' - psi) = h (Q - N psi)``, h = 1/(1 + N/(kappa G A)).
    """
    found = fields[..., 6:]
    if model.links[number].axial_force is None:
        return found
    beam, found = model.values.links[number].beam, found.copy()
    h = _slope_share(model, number)
    found[..., 1:3] = h * (found[..., 1:3] - beam.force * turns(fields))
    found[..., 3] *= beam.torsion / beam.twisting
    return found


def slopes(model: ModalModel, number: int, fields: np.ndarray) -> np.ndarray:
    """Return the slopes of a link's axis in both planes, x-y first, (..., 2): ``v' = h (psi + Q/(kappa G A))``."""
    give = gives_way(model, number)[1:3] / rigidities(model.values.links[number].beam)[1:3]
    found: np.ndarray = _slope_share(model, number) * (turns(fields) + give * fields[..., 7:9])
    return found


def _slope_share(model: ModalModel, number: int) -> np.ndarray:
    beam = model.values.links[number].beam
    give = gives_way(model, number)[1:3] / rigidities(beam)[1:3]
    return np.asarray(1.0 / (1.0 + beam.force * give))


def turns(fields: np.ndarray) -> np.ndarray:
    """Return the rotations psi of the sections in both planes."""
    return np.stack([fields[..., 5], -fields[..., 4]], axis=-1)


def is_pressed(model: ModalModel) -> bool:
    """Return whether a link has an axial force, or forces at rest."""
    return model.turning is not None or any(link.axial_force is not None for link in model.links)


class Strains:
    """What strains in the modes of an arm: section forces at nodes, and energies of the axial forces of its links."""

    def __init__(self, model: ModalModel) -> None:
        self.model = model

    def forces(self, number: int, nodes: np.ndarray) -> np.ndarray:
        """Return the section forces due to the strains of a link, (..., q, 6), from its fields at nodes."""
        return strain_forces(self.model, number, nodes)

    def preload(self, number: int, mode: Motion, joint: Joint) -> float:
        """Return what forces at rest add to the strain energy of a link."""
        beam, fields = self.model.values.links[number].beam, mode.nodes[number]
        weights = quadrature(len(fields))[1]
        bent = np.einsum("qp,q->", slopes(self.model, number, fields) ** 2, weights)
        twists = gives_way(self.model, number)[3] * self.forces(number, fields)[:, 3] / beam.torsion
        twisted = beam.gyration * (weights @ twists**2)
        return float(0.5 * beam.force * beam.length * (bent + twisted))


def mode_energies(
    model: ModalModel, omega: np.ndarray, modes: Motion, strains: Strains | None = None
) -> SpatialEnergies:
    """Return the energies of modes (K,), arrays of shape (K, n)."""
    strains = Strains(model) if strains is None else strains
    rows = [_of_mode(model, float(w), of_number(modes, k), strains) for k, w in enumerate(omega)]
    names, n = dataclasses.fields(SpatialEnergies), len(model.links)
    found = SpatialEnergies(*np.moveaxis(np.reshape(rows, (-1, n, len(names))), -1, 0))
    return found if is_pressed(model) else dataclasses.replace(found, preload=None)


def _of_mode(model: ModalModel, omega: float, mode: Motion, strains: Strains) -> list[list[float]]:
    weights = quadrature(mode.nodes.shape[1])[1]
    joints, kinetic = joints_of(model, omega, mode), 0.5 * omega * omega
    rows = []
    for i, (link, joint) in enumerate(zip(model.values.links, joints, strict=True)):
        beam, fields = link.beam, mode.nodes[i]
        parts = np.hstack([fields[:, :6], strains.forces(i, fields)])
        integral = np.einsum("qf,q->f", parts**2, weights) * beam.length
        gives = gives_way(model, i)
        strain = 0.5 * gives * integral[6:] / rigidities(beam)
        preload = strains.preload(i, mode, joint)
        moving = kinetic * line_inertia(model, i) * integral[:6]
        tip = _body_energy(link.tip, joint.tip)
        if i + 1 < len(joints):
            tip = tip + _body_energy(model.values.links[i + 1].stator, joint.tip)
        stiffness = np.where(np.isfinite(link.stiffness), link.stiffness, 0.0)
        give = mode.gives[i, : stiffness.size]
        spring = float(stiffness @ give**2)
        if link.held is not None:
            sprung = np.isfinite(link.held) & (link.held > 0.0)
            forces = forces_of_supports(model, mode, i)
            spring += float(np.sum(forces[sprung] ** 2 / link.held[sprung]))
        hub = _body_energy(link.hub, joint.beyond).sum() + link.rotor[0] * joint.spin**2
        if i == 0 and model.values.base is not None:
            spring += float(mode.base @ model.values.base @ mode.base)
            hub += _body_energy(link.stator, mode.base).sum()
        rows.append(
            [
                *(strain[0], strain[3], strain[4], strain[5], strain[1], strain[2]),
                *(0.5 * spring, moving[:3].sum(), moving[3:].sum()),
                *(kinetic * tip[0], kinetic * tip[1], kinetic * hub, preload),
            ]
        )
    return rows


def _body_energy(matrix: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Return the kinetic energies of translation and rotation, times 2/omega^2."""
    moved, masses = body_points(matrix, motion)
    parts = masses * moved**2
    return np.array([parts[:3].sum(), parts[3:].sum()])
