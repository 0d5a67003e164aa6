"""Rigid bodies on joints with springs: the mass matrix by Jacobians of homogeneous transforms, and frequencies.

It shares nothing with the engine, which knows no coordinates of joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.spatial.finite_elements import turn


class Joint(NamedTuple):
    """A joint, the bodies that move with it, and its rotor.

    ``fixed`` (4, 4) leads from the moving frame before to the joint's, in which it turns about ``axis`` by ``angle``,
    or slides along it by that; ``bodies`` are (mass, centre, tensor about it) in the moving frame; ``rotor`` is inertia
    and gear ratio.
    """

    fixed: np.ndarray
    axis: tuple[float, float, float]
    angle: float
    stiffness: float
    bodies: tuple = ()
    rotor: tuple[float, float] = (0.0, 1.0)
    slides: bool = False


def transform(rotation, place):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, place
    return matrix


def rpy(roll, pitch, yaw):
    return turn((0, 0, 1), yaw) @ turn((0, 1, 0), pitch) @ turn((1, 0, 0), roll)


def frames(joints):
    """Where the moving frames are, (4, 4), and the axes there, seen from the ground."""
    at, found = np.eye(4), []
    for joint in joints:
        at = at @ joint.fixed
        axis = np.asarray(joint.axis, float) / np.linalg.norm(joint.axis)
        unit = at[:3, :3] @ axis
        if joint.slides:
            at = at @ transform(np.eye(3), joint.angle * axis)
        else:
            at = at @ transform(turn(joint.axis, joint.angle), np.zeros(3))
        found.append((at, unit))
    return found


def mass_matrix(joints):
    places = frames(joints)
    n = len(joints)
    matrix = np.zeros((n, n))
    spins = np.zeros((3, n))
    for k, (joint, (at, unit)) in enumerate(zip(joints, places, strict=True)):
        inertia, ratio = joint.rotor
        row = unit @ spins
        row[k] += ratio
        matrix += inertia * np.outer(row, row)
        spins[:, k] = 0.0 if joint.slides else unit
        for mass, centre, tensor in joint.bodies:
            point = at[:3, :3] @ np.asarray(centre, float) + at[:3, 3]
            moved = np.zeros((3, n))
            for j in range(k + 1):
                frame, axis = places[j]
                moved[:, j] = axis if joints[j].slides else np.cross(axis, point - frame[:3, 3])
            own = at[:3, :3] @ np.asarray(tensor, float) @ at[:3, :3].T
            matrix += mass * moved.T @ moved + spins.T @ own @ spins
    return matrix


def frequencies_hz(joints):
    """Of the joints whose stiffness is finite; the others are rigid."""
    gives = np.flatnonzero(np.isfinite([joint.stiffness for joint in joints]))
    matrix = mass_matrix(joints)[np.ix_(gives, gives)]
    half = np.linalg.inv(np.linalg.cholesky(np.diag([joints[k].stiffness for k in gives])))
    return 1.0 / (2.0 * np.pi * np.sqrt(np.linalg.eigvalsh(half @ matrix @ half.T)[::-1]))
