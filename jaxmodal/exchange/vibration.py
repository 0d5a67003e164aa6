"""Frequencies of a chain of rigid pieces on springs with locked motors, and their derivatives by the springs."""

from __future__ import annotations

import numpy as np

from jaxmodal.exchange.chain import Chain, rotation
from jaxmodal.runtime.array_types import Floats


class Stance:
    """Inertia of a chain in one posture, which is independent of its springs.

    ``coupled`` is True if rotors take part in the rotation of the part that carries them; formats that model rotors as
    armatures neglect this.
    """

    def __init__(self, chain: Chain, posture: Floats, coupled: bool) -> None:
        self.mass = mass_matrix(chain, posture, coupled)
        joints = chain.joints
        self.gives = np.flatnonzero(np.isfinite([joint.stiffness for joint in joints]))
        self.groups = np.array([joints[k].group for k in self.gives])
        self.held = self.mass[np.ix_(self.gives, self.gives)]

    def modes(self, stiffness: Floats) -> tuple[Floats, Floats]:
        """Return angular frequencies (rad/s, ascending) and the fraction of a mode's strain energy in each spring."""
        root = 1.0 / np.sqrt(stiffness)
        squares, vectors = np.linalg.eigh(root[:, None] * self.held * root)
        squares, vectors = squares[::-1], vectors[:, ::-1]
        moving = squares > 1e-14 * squares[0]  # motions without inertia have no frequency
        return 1.0 / np.sqrt(squares[moving]), np.asarray(vectors.T[moving] ** 2)


def springs_of(chain: Chain) -> Floats:
    """Return the stiffnesses of all elastic joints with motors locked."""
    stiffness = np.array([joint.stiffness for joint in chain.joints])
    return stiffness[np.isfinite(stiffness)]


def mass_matrix(chain: Chain, posture: Floats, coupled: bool) -> Floats:
    """Return the mass matrix over all joints in a posture; held rotors move with the part that carries them."""
    joints = chain.joints
    size, moved = len(joints), np.zeros(len(joints))
    moved[[k for k, joint in enumerate(joints) if joint.motor]] = posture
    matrix = np.zeros((size, size))
    points, axes = np.zeros((3, size)), np.zeros((3, size))
    slides = np.array([joint.kind == "slide" for joint in joints], bool)
    turn, place, k = np.eye(3), np.zeros(3), 0
    for piece in chain.pieces:
        place = place + turn @ piece.place
        turn = turn @ piece.turn
        for joint in piece.joints:
            axis = turn @ joint.axis
            inertia, ratio = joint.rotor
            if inertia:
                spin = np.where(slides[:k], 0.0, axis @ axes[:, :k])
                turns = 0.0 if joint.held else ratio
                matrix[k, k] += inertia * turns**2
                if coupled:
                    matrix[:k, :k] += inertia * np.outer(spin, spin)
                    matrix[:k, k] += inertia * turns * spin
                    matrix[k, :k] += inertia * turns * spin
            points[:, k], axes[:, k] = place, axis
            if slides[k]:
                place = place + moved[k] * axis
            elif moved[k]:
                turn = rotation(axis, moved[k]) @ turn
            k += 1
        mass, centre, tensor = piece.lump
        if k and (mass or np.any(tensor)):
            arms = (place + turn @ centre)[:, None] - points[:, :k]
            shifts = np.where(slides[:k], axes[:, :k], np.cross(axes[:, :k], arms, axis=0))
            spins = np.where(slides[:k], 0.0, axes[:, :k])
            own = turn @ tensor @ turn.T
            matrix[:k, :k] += mass * shifts.T @ shifts + spins.T @ own @ spins
    return matrix
