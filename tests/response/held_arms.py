"""An arm with rigid supports at both tips, and its motions in 40 digits, for several tests."""

import mpmath
import numpy as np

import jaxmodal as jm
from jaxmodal.statics.beam_arrays import SUPPORTS
from tests.response.arms import bent, target, with_damping
from tests.response.exact_chain import Chain

HELD = {"tip_1.rotation": 0, "tip_2.x": 1, "tip_2.y": 1}
OUTPUTS = ["link_1@0.4.across", "link_2@0.5.y", "tip.rotation", "joint_2.relative_rotation"]
CLAMPED = dict.fromkeys(SUPPORTS, np.inf)
PINNED = {"support_x_stiffness": np.inf, "support_y_stiffness": np.inf}


def without_supports():
    arm = with_damping(bent(joint_stiffness=3e4), 3)
    first = arm.links[0].replace(joint_angle=0.3, end_offset_y=0.05)
    return arm.replace(links=(first, arm.links[1]))


def held():
    first, second = without_supports().links
    second = second.replace(support_x_stiffness=np.inf, support_y_stiffness=np.inf)
    return jm.Arm((first.replace(support_torsional_stiffness=np.inf), second))


def undamped(arm):
    names = ("loss_factor", "kelvin_voigt_time", "joint_damping")
    return arm.replace(links=tuple(x.replace(**dict.fromkeys(names)) for x in arm.links))


def held_in_40_digits(arm, omega, source, kind=complex, outputs=OUTPUTS):
    """The arm without supports, and the forces that keep three of its motions at zero."""
    chain = Chain(arm, omega)
    targets = [target(arm, name) for name in (*outputs, *HELD)]
    moved = {name: chain.response(target(arm, name), targets) for name in (source, *HELD)}
    last = len(outputs)
    square = mpmath.matrix([[moved[s][last + k] for s in HELD] for k in range(3)])
    forces = mpmath.lu_solve(square, mpmath.matrix([moved[source][last + k] for k in range(3)]))
    return [
        kind(moved[source][o] - sum(moved[s][o] * f for s, f in zip(HELD, forces, strict=True)))
        for o in range(last)
    ]
