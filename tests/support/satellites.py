"""An arm in space on a satellite that floats freely."""

import functools

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm

SATELLITE = jm.RigidBody(
    40.0, (0.05, 0.02, -0.1), [[4.0, 0.1, 0.2], [0.1, 5.0, -0.3], [0.2, -0.3, 6.0]]
)


@functools.cache
def space_arm(**changes):
    """Two booms on a satellite, with offsets, a rolled section, a hub and a payload; ``changes`` are of both."""
    section = jm.rectangle(0.012, 0.03, "cowper")
    boom = jm.SpatialLink(
        1.0, 7e10, 2700.0, section, poisson_ratio=0.33, section_roll=0.3, **dict(changes)
    )
    first = boom.replace(
        stator=SATELLITE,
        hub=jm.RigidBody(0.5, (0.0, 0.0, 0.0), (0.01, 0.01, 0.02)),
        joint_angle=0.4,
        joint_frame=(jm.Rotation((0.0, 1.0, 0.0), -0.8),),
    )
    second = boom.replace(
        length=0.9,
        joint_axis=(0.2, 1.0, -0.3),
        joint_angle=0.7,
        base_offset=(0.0, 0.05, 0.0),
        end_offset=(0.03, 0.0, 0.02),
    )
    return jm.SpatialArm((first, second), jm.RigidBody(2.0, (0.1, 0.05, 0.0), (0.05, 0.06, 0.07)))


@functools.cache
def small():
    """One boom of two shapes on a satellite, in gravity."""
    boom, _ = space_arm().links
    arm = jm.SpatialArm((boom,), jm.RigidBody(2.0, (0.1, 0.0, 0.0), (0.05, 0.06, 0.07)))
    counts = {"bending_xy": 1, "bending_xz": 1}
    return flexible_arm(arm, counts, gravity=(0.0, 0.0, -1.0), base="free")
