"""Arms with free joints and bases that several tests of optimisation share."""

import math

import jaxmodal as jm

FREE = {"joint_stiffness": 0.0, "joint_axial_stiffness": 0.0, "joint_shear_stiffness": 0.0}


def steel(**changes):
    section = jm.rectangle(0.01, 0.03, 0.85)
    return jm.Link(0.5, 2.1e11, 7800.0, section, poisson_ratio=0.3, **changes)


def pair(base=None, **first):
    second = steel(joint_angle=0.4, joint_stiffness=3e3, tip_mass=2.0)
    return jm.Arm((steel(joint_angle=0.3, **first), second), base_stiffness=base)


STANDING = {
    "free": (pair(**FREE), 3),
    "pinned": (pair(joint_stiffness=0.0), 1),
    "free along the ground": (pair([0.0, 3e5, 4e3], joint_stiffness=2e3), 1),
    "afloat": (pair([0.0, 0.0, 0.0]), 3),
}

PIN = {"support_x_stiffness": math.inf, "support_y_stiffness": math.inf}


def linkage(crank=None):
    """A four-bar linkage, its crank locked or, with a stiffness of 0, loose."""
    return jm.Arm(
        (
            steel(joint_angle=1.2, joint_stiffness=crank),
            steel(joint_angle=-1.0, joint_stiffness=0.0, tip_mass=2.0),
            steel(joint_angle=-1.5, joint_stiffness=0.0, **PIN),
        )
    )
