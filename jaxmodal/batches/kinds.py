"""The choice between the batches of planar arms and of arms in space."""

from typing import Any

from jaxmodal.arm.kinds import ByKind
from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.plan import Plan

#: the class of the plans of an arm; both have the same methods
PLANS: ByKind[Any] = ByKind(Plan, PlanInSpace)
