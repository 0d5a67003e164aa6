"""Motions of an arm in space: fields along its links, motions of joints and bodies, and the masses that move.

Used both for modes and for rigid-body motions of the arm with its base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.values import LinkValues
from jaxmodal.spatial.stiffness.matrices import skew

#: the factor and the pairs of axes by which products of two rotations become squares of their sum and difference
_HALF = np.sqrt(0.5)
_PAIRS = ((0, 1), (1, 2), (0, 2))


class Motion(NamedTuple):
    """One motion, or several along leading axes.

    Attributes
    ----------
    inner, nodes, outer : np.ndarray, shape (n, 12), (n, q, 12), (n, 12)
        The fields at the base, at the nodes of Gauss's rule and at the tip of each link, in the section's axes.
    gives : np.ndarray, shape (n, springs)
        Deflections of the springs of each joint, m or rad, the one about its axis last; padded with zeros at the end.
    base : np.ndarray, shape (6,)
        Motion of the base at joint 1, in the axes of the ground.
    at : np.ndarray, shape (n, s, 12)
        The fields at stations.
    held : np.ndarray, shape (supports,)
        Forces and moments of all supports on the ground, N and N m.
    """

    inner: np.ndarray
    nodes: np.ndarray
    outer: np.ndarray
    gives: np.ndarray
    base: np.ndarray
    at: np.ndarray
    held: np.ndarray


class Joint(NamedTuple):
    """Displacements and forces (6,) around the joint of a link, in the link's axes except ``previous``.

    ``previous`` is the motion before the joint in the axes of the previous link, ``before`` is the same in this link's
    axes. ``beyond`` is the motion after the springs, ``tip`` that of the link's tip. ``start`` and ``end`` are the
    section forces at the ends of the link, ``loaded`` is the force on the springs, ``carried`` that on the previous
    link. ``spin`` is the rotation of the rotor.
    """

    previous: np.ndarray
    before: np.ndarray
    beyond: np.ndarray
    tip: np.ndarray
    start: np.ndarray
    end: np.ndarray
    loaded: np.ndarray
    carried: np.ndarray
    spin: np.ndarray


def joints_of(model: ModalModel, omega: np.ndarray | float, motion: Motion) -> list[Joint]:
    """Return displacements and forces around all joints for motions; leading axes are those of ``omega``."""
    found, square = [], np.asarray(omega * omega)[..., None]
    previous = motion.base
    for i, (link, t) in enumerate(zip(model.values.links, model.transfers, strict=True)):
        before = previous @ t.turn
        inner, outer = motion.inner[..., i, :], motion.outer[..., i, :]
        beyond = inner[..., :6] @ t.start.T
        loaded = inner[..., 6:] @ t.start_force.T + square * (beyond @ link.hub.T)
        coupled = 0.0
        if model.turning is not None:
            own, gives = model.turning.links[i], motion.gives[..., i, : link.stiffness.size]
            loaded[..., 3:] -= beyond[..., 3:] @ own.start
            coupled = gives @ link.directions @ own.joint.T
        inertia, ratio = link.rotor
        axis = link.directions[-1]
        spin = before @ axis + ratio * motion.gives[..., i, link.stiffness.size - 1]
        tip = outer[..., :6] @ t.end.T
        found.append(
            Joint(
                previous=previous,
                before=before,
                beyond=beyond,
                tip=tip,
                start=inner[..., 6:] @ t.roll.T,
                end=outer[..., 6:] @ t.roll.T,
                loaded=loaded,
                carried=loaded - coupled + square * inertia * spin[..., None] * axis,
                spin=spin,
            )
        )
        previous = tip
    return found


def mass_points(model: ModalModel, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Return the motions at all points with mass, (..., D), and the masses of these points, (D,).

    Mass-weighted sums of products give the products of the kinetic energy. A body is represented by the motion of its
    centre of gravity and by its rotation; the off-diagonal terms of its tensor are written as squares of both signs.
    """
    weights, lead = quadrature(motion.nodes.shape[-2])[1], motion.base.shape[:-1]
    joints = joints_of(model, 0.0, motion)
    motions, masses = [], []
    for i, (link, joint) in enumerate(zip(model.values.links, joints, strict=True)):
        along = line_inertia(model, i)
        motions.append(motion.nodes[..., i, :, :6].reshape(*lead, -1))
        masses.append((weights[:, None] * (along * link.beam.length)).reshape(-1))
        bodies = [(link.tip, joint.tip), (link.hub, joint.beyond)]
        if i > 0 or model.base is not None:
            bodies.append((link.stator, joint.previous))
        for matrix, place in bodies:
            moved, weighed = body_points(matrix, place)
            motions.append(moved)
            masses.append(weighed)
        motions.append(joint.spin[..., None])
        masses.append(link.rotor[:1])
    return np.concatenate(motions, axis=-1), np.concatenate(masses)


def line_inertia(model: ModalModel, number: int) -> np.ndarray:
    """Return the mass and moments of inertia per length, (6,), for the displacements in a section."""
    beam, rotary = model.values.links[number].beam, float(model.theory.rotary_inertia)
    mass = beam.mass
    return np.array([mass, mass, mass, beam.polar, rotary * beam.rotary_y, rotary * beam.rotary_z])


def body_points(matrix: np.ndarray, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return motions (..., 6) of a body as twelve numbers, with the masses of their squares, from its mass matrix."""
    mass, centre = mass_and_centre(matrix)
    cross = skew(centre)
    inertia = matrix[3:, 3:] + mass * (cross @ cross)
    turn = motion[..., 3:]
    mixed = [
        (turn[..., i] + sign * turn[..., j]) * _HALF for i, j in _PAIRS for sign in (1.0, -1.0)
    ]
    weights = [sign * inertia[i, j] for i, j in _PAIRS for sign in (1.0, -1.0)]
    slid = motion[..., :3] - turn @ cross.T
    moved = np.concatenate([slid, turn, np.stack(mixed, axis=-1)], axis=-1)
    return moved, np.concatenate([[mass] * 3, np.diag(inertia), weights])


def mass_and_centre(matrix: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the mass and centre of gravity of a mass matrix."""
    mass, moment = matrix[0, 0], matrix[3:, :3]  # m [c]
    centre = np.array([moment[2, 1], moment[0, 2], moment[1, 0]])
    return mass, centre / mass if mass != 0.0 else centre


class Frame(NamedTuple):
    """Rest position of a link: axes as columns, (3, 3), axes of its section, joint, start, end and tip, (3,)."""

    axes: np.ndarray
    section: np.ndarray
    joint: np.ndarray
    start: np.ndarray
    end: np.ndarray
    tip: np.ndarray


def frames(links: Sequence[LinkValues]) -> list[Frame]:
    """Return the rest positions of all links, in the axes of the ground, relative to joint 1."""
    found, axes, joint = [], np.eye(3), np.zeros(3)
    for link in links:
        axes = axes @ link.rotation
        start = joint + axes @ link.base_offset
        end = start + axes[:, 0] * link.beam.length
        tip = end + axes @ link.end_offset
        found.append(Frame(axes, axes @ link.roll, joint, start, end, tip))
        joint = tip
    return found


def carried_bodies(model: ModalModel) -> np.ndarray:
    """Return the bodies that move with the base and with the tip of each link, (n, 2, 4).

    Each is given by its mass and centre of gravity. The centre is relative to the end of the elastic part, in the axes
    of the ground.
    """
    found, links = np.zeros((len(model.values.links), 2, 4)), model.values.links
    for i, (link, frame) in enumerate(zip(links, frames(links), strict=True)):
        tip = link.tip + (links[i + 1].stator if i + 1 < len(links) else 0.0)
        ends = (link.hub, frame.joint - frame.start), (tip, frame.tip - frame.end)
        for k, (matrix, place) in enumerate(ends):
            mass, centre = mass_and_centre(matrix)
            found[i, k] = [mass, *(place + frame.axes @ centre)]
    return found


def rigid_motions(model: ModalModel, num_points: int) -> Motion:
    """Return six unit rigid-body motions of the arm with its base: along x, y, z and about them; leading axis 6."""
    places, points = frames(model.values.links), quadrature(num_points)[0]
    n = len(places)
    fields = np.zeros((6, n, num_points + 2, 12))
    xi = np.concatenate([[0.0], points, [1.0]])
    for i, frame in enumerate(places):
        at = frame.start + xi[:, None] * (frame.end - frame.start)
        for k in range(6):
            slide = np.eye(3)[k] if k < 3 else np.zeros(3)
            turn = np.eye(3)[k - 3] if k >= 3 else np.zeros(3)
            fields[k, i, :, :3] = (slide + np.cross(turn, at)) @ frame.section
            fields[k, i, :, 3:6] = turn @ frame.section
    return Motion(
        inner=fields[:, :, 0],
        nodes=fields[:, :, 1:-1],
        outer=fields[:, :, -1],
        gives=no_gives(model, 6),
        base=np.eye(6),
        at=np.zeros((6, n, 0, 12)),
        held=np.zeros((6, number_of_supports(model))),
    )


def number_of_supports(model: ModalModel) -> int:
    """Return the number of supports of all links."""
    return model.held[-1].stop - model.held[0].start


def forces_of_supports(model: ModalModel, motion: Motion, number: int) -> np.ndarray:
    """Return the forces of the supports at the tip of a link, (..., supports)."""
    own, first = model.held[number], model.held[0].start
    found: np.ndarray = motion.held[..., own.start - first : own.stop - first]
    return found


def no_gives(model: ModalModel, motions: int) -> np.ndarray:
    """Return zero `Motion.gives` for a number of motions."""
    most = max(link.stiffness.size for link in model.values.links)
    return np.zeros((motions, len(model.values.links), most))


def of_number(motions: Motion, number: int) -> Motion:
    """Return one of several motions."""
    return Motion(*(x[number] for x in motions))


def carried_motions(model: ModalModel, num_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the six rigid-body motions of the arm with its base at all points with mass, (6, D), and the masses, (D,).

    Translations along, then rotations about x, y, z of the ground.
    """
    return mass_points(model, rigid_motions(model, num_points))
