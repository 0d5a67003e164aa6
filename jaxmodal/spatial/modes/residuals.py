"""By how much the modes of an arm in space miss the conditions at its joints and tips."""

from __future__ import annotations

import numpy as np

from jaxmodal.spatial.modes.conditions import Chain
from jaxmodal.spatial.modes.motions import Joint, Motion, joints_of


def condition_residuals(chain: Chain, omega: float, mode: Motion) -> np.ndarray:
    """What each condition of one mode is missed by, relative to its scale.

    Returns
    -------
    np.ndarray, shape (n, 4)
        Continuity of displacements and of rotations at the joint of each link, balance of forces and of moments at its
        tip; the laws of the springs count where their forces do, the balance of an elastic base at link 1.

    Notes
    -----
    Scales: the largest displacement on the arm; the largest rotation, or that displacement over the length of the arm;
    the largest section or inertia force; the largest moment, of a body too, or that force times the least radius of
    gyration. The second terms serve modes in which nothing turns, such as the axial ones of a straight arm; for its
    torsion a displacement is at least a rotation times that radius, and a force a moment over the length.
    """
    square, links = omega * omega, chain.values.links
    joints = joints_of(chain, omega, mode)
    missed = np.zeros((len(links), 12))
    for i, (link, joint, t) in enumerate(zip(links, joints, chain.transfers, strict=True)):
        gives = mode.gives[i, mode.gives.shape[1] - link.stiffness.shape[0] :]
        missed[i, :6] = joint.beyond - joint.before - gives @ link.directions[..., 0]
        mass, after = link.tip[..., 0], np.zeros(6)
        if i + 1 < len(links):
            mass = mass + links[i + 1].stator[..., 0]
            after = chain.transfers[i + 1].turn @ joints[i + 1].carried
        tip = t.end_force @ mode.outer[i, 6:]
        missed[i, 6:] = tip - square * (mass @ joint.tip) - after
    largest = np.abs(missed)
    laws = np.array([_spring_laws(chain, square, i, mode, joint) for i, joint in enumerate(joints)])
    if chain.values.base is not None:
        stiffness = chain.values.base[..., 0] - square * links[0].stator[..., 0]
        gap = stiffness @ mode.base - chain.transfers[0].turn @ joints[0].carried
        laws[0] = np.maximum(laws[0], [np.abs(gap[:3]).max(), np.abs(gap[3:]).max()])
    parts = np.stack([largest[:, 3 * k : 3 * k + 3].max(axis=1) for k in range(4)], axis=1)
    parts[:, 2:] = np.maximum(parts[:, 2:], laws)
    return np.asarray(parts / _scales(chain, square, mode, joints))


def _spring_laws(
    chain: Chain, square: float, number: int, mode: Motion, joint: Joint
) -> list[float]:
    """What the springs along directions, and those about directions, of a joint miss their laws by, N and N m."""
    link = chain.values.links[number]
    behind = link.stiffness.shape[0]
    found = [0.0, 0.0]
    for spring in chain.springs[number]:
        direction = link.directions[spring, :, 0]
        force = link.stiffness[spring, 0] * mode.gives[number, spring - behind]
        if spring == behind - 1:
            inertia, ratio = link.rotor[:, 0]
            force -= square * inertia * ratio * joint.spin
        kind = int(np.any(direction[3:]))
        found[kind] = max(found[kind], abs(force - direction @ joint.loaded))
    return found


def _scales(chain: Chain, square: float, mode: Motion, joints: list[Joint]) -> np.ndarray:
    """Of displacement, rotation, force and moment."""
    everywhere = np.concatenate([mode.inner[:, None], mode.nodes, mode.outer[:, None]], axis=1)
    size = np.abs(everywhere).max(axis=(0, 1))
    displacement, rotation, force, moment = (size[3 * k : 3 * k + 3].max() for k in range(4))
    beams = [link.beam for link in chain.values.links]
    length = sum(beam.length[0] for beam in beams)
    gyration = min(np.sqrt(beam.polar[0] / beam.mass[0]) for beam in beams)
    displacement = max(displacement, rotation * gyration)
    rotation = max(rotation, displacement / length)
    for link, joint in zip(chain.values.links, joints, strict=True):
        bodies = ((link.tip, joint.tip), (link.hub, joint.beyond), (link.stator, joint.previous))
        for matrix, motion in bodies:
            inertia = np.abs(square * (matrix[..., 0] @ motion))
            force, moment = max(force, inertia[:3].max()), max(moment, inertia[3:].max())
        moment = max(moment, square * link.rotor[0, 0] * abs(link.rotor[1, 0] * joint.spin))
    force = max(force, moment / length)
    return np.array([displacement, rotation, force, max(moment, force * gyration)])
