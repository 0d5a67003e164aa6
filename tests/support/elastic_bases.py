"""Arms on an elastic base that several tests share."""

import math

import numpy as np

import jaxmodal as jm
from tests.support.real_arms import steel

FULL = [[3e6, -8e5, 4e4], [-8e5, 2e6, 9e4], [4e4, 9e4, 5e4]]
TWO = (steel(joint_angle=0.4, joint_stiffness=1e5), steel(joint_angle=0.7, tip_mass=2.0))


def on_base(stiffness=FULL, links=TWO, **arm):
    return jm.Arm(links, base_stiffness=stiffness, **arm)


def on_rigid_link(arm, short=2.0**-10):
    """The same arm on a rigid link without mass, on springs along the axes of the foundation, at its elastic centre."""
    stiffness = np.array([[float(x) for x in row] for row in arm.base_stiffness.rows()])
    coupled = np.linalg.solve(stiffness[:2, :2], stiffness[:2, 2])
    (along, across), axes = np.linalg.eigh(stiffness[:2, :2])
    angle = math.atan2(axes[1, 0], axes[0, 0])
    c, s = math.cos(angle), math.sin(angle)
    x, y = -coupled[1], coupled[0]
    section = jm.raw_section(1.0, 1.0, shear_coefficient=0.85)
    ground = jm.Link(
        short, 1.0, 1e-14, section, poisson_ratio=0.3, rigid=True, joint_angle=angle,
        joint_axial_stiffness=along, joint_shear_stiffness=across,
        joint_stiffness=stiffness[2, 2] - stiffness[2, :2] @ coupled,
        base_offset_x=c * x + s * y - short, base_offset_y=c * y - s * x,
    )  # fmt: skip
    first = arm.links[0].replace(joint_angle=float(arm.links[0].joint_angle) - angle)
    return arm.replace(links=(ground, first, *arm.links[1:]), base_stiffness=None)
