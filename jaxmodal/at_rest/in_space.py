"""Arms in space in equilibrium under dead loads, with the methods of `planar.PlanarAtRest`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from jaxmodal.at_rest.loads import IN_SPACE, Asked, require_one, require_some
from jaxmodal.at_rest.spatial_equilibrium import SpatialEquilibrium, equilibrium_in_space
from jaxmodal.at_rest.stability import mechanism_error, rigid_error
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.bounded import BoundedFrequencies
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.parts.loads import LoadsInSpace
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.energies import factor_rates
from jaxmodal.spatial.preload.equilibrium import rest_in_space
from jaxmodal.spatial.preload.loaded import SpatialLoadedArm
from jaxmodal.spatial.preload.loaded_modes import buckling_shape
from jaxmodal.spatial.preload.vibrating import frequencies_under_loads
from jaxmodal.statics.load_factors import Factor


@dataclasses.dataclass(frozen=True)
class SpatialAtRest:
    """An arm in space with all its loads."""

    rotation_axes: ClassVar[int] = 1
    arm: SpatialArm
    theory: TheoryName
    problem: SpatialLoadedArm

    @classmethod
    def of(
        cls, arm: SpatialArm, theory: TheoryName, what: str, asked: Asked, or_axial: bool = False
    ) -> SpatialAtRest:
        """Return the arm under loads; arguments and errors as of `resting.resting`."""
        require_one(arm, what)
        loads = with_own(arm, LoadsInSpace(*asked.vectors(IN_SPACE)))
        require_some(arm, loads, IN_SPACE, or_axial)
        return cls(arm, theory, loaded_in_space(arm, theory, loads))

    def require_held(self) -> None:
        if self.problem.rigid():
            raise rigid_error()
        if self.problem.moves_without_strain():
            raise mechanism_error(self.problem.free_joints())

    def shape(
        self, sign: float, factor: Factor, place: int, stations: int
    ) -> tuple[Floats, Floats]:
        own, xi = max(place - factor.count_below, 0), np.linspace(0.0, 1.0, stations)
        return buckling_shape(self.problem.chain, sign * factor.value, own, xi)

    def rates(self, found: Sequence[tuple[float, int, Factor]], singles: Sequence[str]) -> Floats:
        signed = [sign * factor.value for sign, _, factor in found]
        return factor_rates(self.problem, self.arm, signed, singles)

    def end_forces(self) -> Floats:
        chain, ends = self.problem.chain, np.array([0.0, 1.0])
        return np.array([chain.forces(k, ends)[:, 0] for k in range(self.arm.num_links)])

    def positions(self, stations: Floats) -> Floats:
        places = self.problem.chain.rest.places
        return np.array([at.start + stations[:, None] * (at.end - at.start) for at in places])

    def equilibrium(self, shares: Floats) -> SpatialEquilibrium:
        return equilibrium_in_space(self.arm, self.theory, self.problem, shares)

    def frequencies(self, number: int) -> BoundedFrequencies:
        return frequencies_under_loads(self.problem, number, self.theory)


def with_own(arm: SpatialArm, loads: LoadsInSpace) -> LoadsInSpace:
    """Return loads and those of the arm together."""
    return loads if arm.loads is None else loads.plus(arm.loads.dead())


def loaded_in_space(arm: SpatialArm, theory: TheoryName, loads: LoadsInSpace) -> SpatialLoadedArm:
    """Return a concrete arm at rest under all its loads.

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
    return SpatialLoadedArm(PrestressedChain(modal, rest_in_space(modal, loads), loads))
