"""The choice between the batches of planar arms and of arms in space."""

from __future__ import annotations

from typing import Any

from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.plan import Plan
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm


def plans_of(arm: AnyArm) -> Any:
    """Return the class of the plans of an arm, `Plan` or `PlanInSpace`, which have the same methods."""
    return PlanInSpace if isinstance(arm, SpatialArm) else Plan
