"""Planar arms in equilibrium under dead loads, as statics, buckling and frequencies under loads use them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.refusals import require_known
from jaxmodal.at_rest.derivatives import beams_of, factor_rate, varied_by_addresses
from jaxmodal.at_rest.loaded_arms import LoadedArm
from jaxmodal.at_rest.loads import IN_PLANE, Asked, require_one, require_some
from jaxmodal.at_rest.planar_equilibrium import StaticEquilibrium, equilibrium_in_plane
from jaxmodal.at_rest.shapes import null_vector, positions, shape_along
from jaxmodal.at_rest.stability import mechanism_error, rigid_error
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.precision import require_x64
from jaxmodal.statics.beam_arrays import SPRINGS, BeamArrays
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import Equilibrium, held_equilibrium
from jaxmodal.statics.load_factors import Factor
from jaxmodal.statics.stability import NO_STIFFNESS


@dataclasses.dataclass(frozen=True)
class PlanarAtRest:
    """A planar arm with all its loads; ``beams`` are its arrays without loads."""

    rotation_axes: ClassVar[int] = 0
    arm: Arm
    theory: TheoryName
    flags: Theory
    beams: BeamArrays
    loads: DeadLoads

    @classmethod
    def of(
        cls, arm: Arm, theory: TheoryName, what: str, asked: Asked, or_axial: bool = False
    ) -> PlanarAtRest:
        """Return the arm under loads; arguments and errors as of `resting.resting`."""
        asked.refuse_moment()
        flags = theory_flags(theory)
        require_x64()
        require_one(arm, what)
        require_known(arm, theory)
        down, force, _ = asked.vectors(IN_PLANE)
        loads = DeadLoads(*down, *force)
        if arm.loads is not None:
            loads = DeadLoads(*map(np.float64, arm.loads.dead())).plus(loads)
        require_some(arm, loads, IN_PLANE, or_axial)
        return cls(arm, theory, flags, beam_values(arm.replace(loads=None)), loads)

    @functools.cached_property
    def rest(self) -> Equilibrium:
        """The forces and deflections of the chain."""
        return held_equilibrium(self.beams, self.flags.shear, self.flags.axial, self.loads)

    @functools.cached_property
    def problem(self) -> LoadedArm:
        return LoadedArm.at_rest(self.beams, self.flags, self.loads, self.rest)

    def require_held(self) -> None:
        """Refuse an arm that is rigid, or moves without strain when it has no load."""
        values, held = self.problem.eigenvalues(0.0)
        if not values.size:
            raise rigid_error()
        small = np.abs(values) <= NO_STIFFNESS * np.max(np.abs(values))
        if not small.any() and int(np.sum(values < 0.0)) == held:
            return
        free = [
            f"link{i + 1}.{name}"
            for name, springs in zip(SPRINGS, self.beams.springs, strict=True)
            for i, k in enumerate(() if springs is None else springs)
            if k == 0.0
        ]
        raise mechanism_error(free)

    def _pushed(self, sign: float) -> LoadedArm:
        return self.problem if sign > 0.0 else self.problem.reversed()

    def shape(
        self, sign: float, factor: Factor, place: int, stations: int
    ) -> tuple[Floats, Floats]:
        """Return displacements (n, S, 2) and rotations (n, S) of the shape of a buckling factor.

        ``sign`` is that of the loads, ``place`` the index of the factor among those of this sign.
        """
        pushed = self._pushed(sign)
        vector = null_vector(pushed, factor.value, place)
        return shape_along(pushed, factor.value, vector, np.linspace(0.0, 1.0, stations))

    def rates(self, found: Sequence[tuple[float, int, Factor]], singles: Sequence[str]) -> Floats:
        """Return the derivatives (factors, addresses) of simple buckling factors, negative for reversed loads."""
        # with values without effect for absent fields, as the varied arms have them
        own = dataclasses.replace(self, beams=beams_of(self.arm.replace(loads=None)))
        rates = []
        for sign, place, factor in found:
            vector = null_vector(own._pushed(sign), factor.value, place)
            rates.append(factor_rate(own.problem, sign * factor.value, vector))
        made = np.empty((len(rates), len(singles)))
        for place, (beams, dead) in enumerate(varied_by_addresses(self.arm, self.loads, singles)):
            varied = LoadedArm.under(beams, self.flags, dead)
            made[:, place] = [rate(varied) for rate in rates]
        return made

    def end_forces(self) -> Floats:
        """Return the axial forces at both ends of the links, (n, 2)."""
        forces = self.problem.prestress
        return np.stack([forces.start, forces.outer], axis=1)

    def positions(self, stations: Floats) -> Floats:
        """Return the positions of stations in the undeformed posture, (n, S, 2)."""
        return positions(self.beams, stations)

    def equilibrium(self, shares: Floats) -> StaticEquilibrium:
        """Return the result of `static_equilibrium` at shares of the length of each link."""
        given = self.arm, self.beams, self.flags, self.rest, shares
        return equilibrium_in_plane(*given, self.theory)

    def frequencies(self, number: int) -> None:
        """Return none: frequencies under loads need links that are cut into segments."""
