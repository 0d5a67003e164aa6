"""Which kinematics a model has: those of a planar arm or of one in space."""

from __future__ import annotations

from typing import Any

from jaxmodal.dynamics.mechanics import kinematics, kinematics_in_space
from jaxmodal.dynamics.model import FlexibleArm, FlexibleModel


def kinematics_of(model: FlexibleModel) -> Any:
    """The kinematics of the kind of arm that a model is of: components, Gram matrices, what turning adds."""
    return kinematics if isinstance(model, FlexibleArm) else kinematics_in_space
