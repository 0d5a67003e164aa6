"""Base of an arm in space: clamped, driven, or a free rigid body."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.arguments import finite
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.model import one_of
from jaxmodal.dynamics.model_in_space import BASES
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.links import SpatialLink


class Base(NamedTuple):
    """Base of a model: its kind, its pseudo-inertia about its point, and the position of joint 1."""

    kind: str
    gram: np.ndarray
    joint_position: np.ndarray


def base_of(kind: Any, joint_position: Any, arm: SpatialArm, body: np.ndarray) -> Base:
    """Return the base of an arm; ``body`` is the pseudo-inertia (4, 4) of the stator of link 1 about joint 1.

    Raises
    ------
    ArmError
        If the kind is unknown, a free base has no inertia or stands on springs, or the springs of joint 1 already let
        the arm float.
    """
    first = arm.links[0]
    one_of("base", kind, BASES, "'free' floats, with the stator of link 1 as its body")
    if kind == "driven" and arm.base_stiffness is not None:
        raise ArmError(
            "base = 'driven': moves as it is told, and base_stiffness of the arm makes it elastic; must be one of the "
            "two: give arm.replace(base_stiffness=None), or leave base out."
        )
    if kind != "free":
        if joint_position is not None:
            raise ArmError(
                f"joint_position = {shown(joint_position)}: is where joint 1 is on a base that floats freely; must be "
                "left out, or used with base = 'free'."
            )
        _refuse_floating_springs(first)
        return Base(kind, np.zeros((4, 4)), np.zeros(3))
    if arm.base_stiffness is not None:
        raise ArmError(
            "base = 'free': floats, and base_stiffness of the arm holds it by springs; must be one of the two: give "
            "arm.replace(base_stiffness=None), or leave base out."
        )
    words = "three finite numbers, m, in the axes of the base"
    given = (0.0, 0.0, 0.0) if joint_position is None else joint_position
    reach = finite("joint_position", given, (3,), words)
    _refuse_floating_springs(first)
    mass = body[0, 0]
    if not least_moment(body) > 0.0:
        raise ArmError(
            "base = 'free': link1.stator is the body of the base, and has no "
            f"{'inertia about some axis' if mass > 0.0 else 'mass'}; must have mass and inertia about every axis: give "
            "link 1 stator = RigidBody(mass, centre, inertia), seen from joint 1 in the axes of the base."
        )
    moved = np.eye(4)
    moved[1:, 0] = reach
    return Base("free", moved @ body @ moved.T, reach)


def least_moment(body: np.ndarray) -> float:
    """Return the smallest moment of inertia of a body about its centre of gravity, from its pseudo-inertia.

    A body without mass has 0.
    """
    mass = body[0, 0]
    if not mass > 0.0:
        return 0.0
    # second moments of mass about the centre of gravity, from which the inertia tensor follows
    spread = body[1:, 1:] - np.outer(body[0, 1:], body[0, 1:]) / mass
    return float(np.linalg.eigvalsh(np.trace(spread) * np.eye(3) - spread)[0])


def _refuse_floating_springs(first: SpatialLink) -> None:
    """Refuse springs that let an arm float: joint 1 would duplicate a rotation that they already allow."""
    turning = [
        [float(x) for x in spring.direction]
        for spring in first.joint_springs
        if spring.kind == "rotation" and float(spring.stiffness) == 0.0
    ]
    if len(turning) >= 3 and np.linalg.matrix_rank(np.array(turning)) == 3:
        raise ArmError(
            "link1.joint_springs: those without stiffness let link 1 turn about every axis, and joint 1 does so about "
            "one of them; must be left out: base = 'free' lets an arm float freely, with the stator of link 1 as the "
            "body of its base."
        )
