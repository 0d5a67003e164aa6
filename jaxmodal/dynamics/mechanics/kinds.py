"""The modules of mechanics that a model has, by the kind of its arm. Both of a pair have the same functions."""

from __future__ import annotations

from typing import Any

from jaxmodal.arm.kinds import ByKind
from jaxmodal.dynamics.mechanics import (
    kinematics,
    kinematics_in_space,
    recursion,
    recursion_in_space,
)
from jaxmodal.dynamics.model import FlexibleModel

_KINEMATICS: ByKind[Any] = ByKind(kinematics, kinematics_in_space)
_RECURSIONS: ByKind[Any] = ByKind(recursion, recursion_in_space)


def kinematics_of(model: FlexibleModel) -> Any:
    """The kinematics of a model: components, Gram matrices, what turning adds."""
    return _KINEMATICS.along(model.axes)


def recursion_of(model: FlexibleModel) -> Any:
    """The articulated recursion of a model: when it `pays`, and what it has `solved`."""
    return _RECURSIONS.along(model.axes)
