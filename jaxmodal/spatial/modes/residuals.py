"""Residuals of the modes of an arm in space in the conditions at its joints and tips."""

from __future__ import annotations

import numpy as np

from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import Joint, Motion, forces_of_supports, joints_of, of_number


def condition_residuals(model: ModalModel, omega: np.ndarray, modes: Motion) -> np.ndarray:
    """Return the residual of each condition for modes (K,), relative to its scale.

    Returns
    -------
    np.ndarray, shape (K, n, 4)
        Continuity of displacements and of rotations at the joint of each link, balance of forces and of moments at its
        tip. Spring laws are included in the balance, that of an elastic base at link 1.

    Notes
    -----
    The scales are: for displacements, the largest displacement on the arm; for rotations, the largest rotation, or the
    largest displacement divided by the length of the arm; for forces, the largest section or inertia force; for
    moments, the largest moment, including those of bodies, or the largest force times the smallest radius of gyration.
    The alternatives apply to modes without rotation, such as axial modes of a straight arm. For its torsional modes a
    displacement is at least a rotation times that radius, and a force at least a moment divided by the length.
    """
    found = [_of_mode(model, float(w), of_number(modes, k)) for k, w in enumerate(omega)]
    return np.reshape(found, (-1, len(model.links), 4))


def _of_mode(model: ModalModel, omega: float, mode: Motion) -> np.ndarray:
    square, links = omega * omega, model.values.links
    joints = joints_of(model, omega, mode)
    missed = np.zeros((len(links), 12))
    for i, (link, joint, t) in enumerate(zip(links, joints, model.transfers, strict=True)):
        gives = mode.gives[i, : link.stiffness.size]
        missed[i, :6] = joint.beyond - joint.before - gives @ link.directions
        mass, after = link.tip, np.zeros(6)
        if i + 1 < len(links):
            mass = mass + links[i + 1].stator
            after = model.transfers[i + 1].turn @ joints[i + 1].carried
        tip = t.end_force @ mode.outer[i, 6:]
        missed[i, 6:] = tip - square * (mass @ joint.tip) - after
        if model.turning is not None:
            missed[i, 9:] += model.turning.links[i].end @ joint.tip[3:]
        if link.supports is not None:
            missed[i, 6:] += forces_of_supports(model, mode, i) @ link.supports
    largest = np.abs(missed)
    laws = np.array([_spring_laws(model, square, i, mode, joint) for i, joint in enumerate(joints)])
    if model.values.base is not None:
        stiffness = model.values.base - square * links[0].stator
        gap = stiffness @ mode.base - model.transfers[0].turn @ joints[0].carried
        if model.turning is not None:
            gap[3:] += model.turning.base @ mode.base[3:]
        laws[0] = np.maximum(laws[0], [np.abs(gap[:3]).max(), np.abs(gap[3:]).max()])
    parts = np.stack([largest[:, 3 * k : 3 * k + 3].max(axis=1) for k in range(4)], axis=1)
    parts[:, 2:] = np.maximum(parts[:, 2:], laws)
    return np.asarray(parts / _scales(model, square, mode, joints))


def _spring_laws(
    model: ModalModel, square: float, number: int, mode: Motion, joint: Joint
) -> list[float]:
    """Return the residuals of the spring laws of a joint, along and about directions, N and N m."""
    link = model.values.links[number]
    found, loaded = [0.0, 0.0], joint.loaded
    if model.turning is not None:
        loaded = loaded - joint.before @ model.turning.links[number].joint
    for spring in model.springs[number]:
        direction = link.directions[spring]
        force = link.stiffness[spring] * mode.gives[number, spring]
        if spring == link.stiffness.size - 1:
            inertia, ratio = link.rotor
            force -= square * inertia * ratio * joint.spin
        kind = int(np.any(direction[3:]))
        found[kind] = max(found[kind], abs(force - direction @ loaded))
    return found


def _scales(model: ModalModel, square: float, mode: Motion, joints: list[Joint]) -> np.ndarray:
    """Scales of displacement, rotation, force and moment."""
    everywhere = np.concatenate([mode.inner[:, None], mode.nodes, mode.outer[:, None]], axis=1)
    size = np.abs(everywhere).max(axis=(0, 1))
    displacement, rotation, force, moment = (size[3 * k : 3 * k + 3].max() for k in range(4))
    beams = [link.beam for link in model.values.links]
    length = float(sum(beam.length for beam in beams)) or 1.0
    gyrations = [np.sqrt(beam.polar / beam.mass) for beam in beams if beam.mass > 0.0]
    gyration = min(gyrations, default=length)  # only bodies rotate, on their springs
    displacement = max(displacement, rotation * gyration)
    rotation = max(rotation, displacement / length)
    for link, joint in zip(model.values.links, joints, strict=True):
        bodies = ((link.tip, joint.tip), (link.hub, joint.beyond), (link.stator, joint.previous))
        for matrix, motion in bodies:
            inertia = np.abs(square * (matrix @ motion))
            force, moment = max(force, inertia[:3].max()), max(moment, inertia[3:].max())
        moment = max(moment, square * link.rotor[0] * abs(link.rotor[1] * joint.spin))
    force = max(force, moment / length)
    return np.array([displacement, rotation, force, max(moment, force * gyration)])
