"""Arms with supports that several tests share."""

import math

import jaxmodal as jm
from tests.support.real_arms import steel


def held_arm(**tip):
    """Two links on a hinge and springs, supported at both tips."""
    base = {"joint_stiffness": 0.0, "joint_axial_stiffness": 3e6, "joint_shear_stiffness": 2e5}
    elbow = {
        "support_x_stiffness": 4e4,
        "support_y_stiffness": 0.0,
        "support_torsional_stiffness": 0.0,
    }
    first = steel(joint_angle=0.3, **base, **elbow)
    second = steel(joint_angle=0.6, joint_stiffness=1e4, tip_mass=0.5, tip_inertia=1e-3, **tip)
    return jm.Arm((first, second), jm.Payload(0.2, 1e-4))


def supported_two(**tip):
    """Two links in a bend on a clamped base."""
    return jm.Arm((steel(joint_angle=0.2), steel(joint_angle=0.6, **tip)))


TIPS = {
    "springs": {"support_x_stiffness": 2e5, "support_y_stiffness": 7e5, "support_torsional_stiffness": 3e3},
    "rigid": {"support_x_stiffness": 2e5, "support_y_stiffness": math.inf, "support_torsional_stiffness": 3e3},
}  # fmt: skip
