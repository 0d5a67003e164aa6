"""Arms in space under loads."""

from __future__ import annotations

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.parts.loads import LoadsInSpace
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.equilibrium import rest_in_space
from jaxmodal.spatial.preload.loaded import SpatialLoadedArm


def loaded_in_space(arm: SpatialArm, theory: TheoryName, loads: LoadsInSpace) -> SpatialLoadedArm:
    """Return a concrete arm at rest under loads and its own.

    Raises
    ------
    ArmError
        If a value of the arm is invalid, or a free joint is not held against the loads.
    """
    model = arm.unloaded_model(theory)
    if model.invalid:
        raise ArmError(
            "arm: one of its values is invalid; arms made of traced values are not checked. Make it again from "
            "numbers, with jaxmodal.set_parameters or arm.replace, which name the value."
        )
    modal = modal_model(model)
    loads = loads if arm.loads is None else loads.plus(arm.loads.dead())
    rest = rest_in_space(modal, loads)
    return SpatialLoadedArm(PrestressedChain(modal, rest, loads))
