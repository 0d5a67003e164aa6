"""Locked frequencies of three arms in space at five postures, clamped and floating, beside the exact ones.

What compiles: one linearisation for each number of shapes and each base, whatever the arm and its posture.
"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import base_pose, flexible_arm, linearise, static_state
from tests.support.satellites import SATELLITE, space_arm

DEFORMATIONS = ("stretch", "torsion", "bending_xy", "bending_xz")
POSTURES = ((0.0, 0.0), (0.4, 0.7), (-1.1, 2.0), (2.5, -0.6), (3.0, 1.5))
TUBE = jm.hollow_circle(outer_diameter=0.05, wall_thickness=0.002, shear_coefficient="cowper")


def l_frame():
    """Two strips at a right angle, which twist where they bend; no mass but theirs and a payload's."""
    strip = jm.SpatialLink(
        0.6, 2.1e11, 7850.0, jm.rectangle(0.004, 0.03, "cowper"), poisson_ratio=0.3
    )
    first = strip.replace(stator=SATELLITE)
    second = strip.replace(length=0.5, joint_axis=(0.0, 1.0, 0.0), section_roll=np.pi / 2)
    return jm.SpatialArm((first, second), jm.RigidBody(0.25))


def booms():
    """A long tube and a shorter one, with bodies at their ends."""
    boom = jm.SpatialLink(2.0, 7e10, 2700.0, TUBE, poisson_ratio=0.33, stator=SATELLITE)
    elbow = jm.RigidBody(1.5, (0.0, 0.05, 0.0), (0.02, 0.01, 0.03))
    second = boom.replace(length=1.4, joint_axis=(0.3, 1.0, 0.2), stator=elbow)
    return jm.SpatialArm((boom, second), jm.RigidBody(4.0, (0.2, 0.0, 0.1), (0.3, 0.2, 0.4)))


ARMS = {"rolled sections": space_arm(), "l frame": l_frame(), "booms": booms()}


def posed(arm, angles):
    links = zip(arm.links, angles, strict=True)
    return arm.replace(links=tuple(link.replace(joint_angle=angle) for link, angle in links))


def exact(arm, free):
    """Six frequencies of the engine; an arm floats there by a first link on six free springs."""
    if free:
        kinds = ("translation", "rotation")
        floating = [jm.Spring(kind, e, 0.0) for kind in kinds for e in np.eye(3)]
        carrier = jm.SpatialLink(0.0, rigid=True, hub=SATELLITE, joint_springs=floating)
        first, second = arm.links
        arm = arm.replace(links=(carrier, first.replace(stator=None), second))
    count = 6 + 6 * free
    return np.asarray(jm.natural_frequencies(arm, count, theory="euler_bernoulli").omega)[
        6 * free :
    ]


@pytest.mark.slow
@pytest.mark.parametrize("base", ["clamped", "free"])
def test_frequencies_come_down_to_the_exact_ones(base):
    """From above, by a hundred and more from three shapes of each deformation to six, in every posture."""
    worst = {}
    wanted = {
        (name, angles): exact(posed(arm, angles), base == "free")
        for name, arm in ARMS.items()
        for angles in POSTURES
    }
    for count in (3, 6):
        for name, arm in ARMS.items():
            model = flexible_arm(arm, dict.fromkeys(DEFORMATIONS, count), base=base)
            for angles in POSTURES:
                q = static_state(model, angles)
                if base == "free":
                    q[-7:] = base_pose((1.0, 2.0, 3.0), (0.3, -2.0, 0.5))
                every = linearise(model, q, joints="locked").natural_frequencies()
                found, omega = every[6 * (base == "free") :][:6], wanted[name, angles]
                # squared frequencies are known to rounding of the largest
                lost = 1e-12 + 4.0 * np.finfo(float).eps * (every[-1] / omega) ** 2
                excess = found / omega - 1.0
                assert np.all(excess > -lost), (name, angles)
                worst[name, angles, count] = np.max(excess - lost)
    for name in ARMS:
        for angles in POSTURES:
            assert worst[name, angles, 3] < 0.02
            assert worst[name, angles, 6] < max(1e-2 * worst[name, angles, 3], 1e-9)
