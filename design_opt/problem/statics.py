"""Arms with blocked joints at rest, at the postures of a design: deflections of the tip and buckling factors."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from design_opt.problem.designs import Design
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.arm.kinds import ByKind
from jaxmodal.arm.loaded import under_forces
from jaxmodal.at_rest.traced import inverse_buckling_factor, second_order_deflection
from jaxmodal.at_rest.traced_in_space import inverse_factors, tips_at_rest
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags
from jaxmodal.response.forced.traced_deflections import tips_under_gravity
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.loads import LoadsInSpace
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import equilibrium

STANDARD_GRAVITY = 9.80665


def tip_deflection(
    beams: BeamArrays,
    theory: Theory,
    gravity: float = STANDARD_GRAVITY,
    tip_force: tuple[float, float] = (0.0, 0.0),
) -> Array:
    """Return the displacement of the tip under gravity and a force at the tip, by linear statics.

    Parameters
    ----------
    beams
        Link values, leaves of shape (n,); the last tip mass includes the payload. ``joint_angle`` of link 1 is its
        angle to the horizontal.
    theory
        Flags of the theory: with or without shear and axial deformation.
    gravity
        Acceleration of gravity in m/s^2, along -y.
    tip_force
        Force at the tip in N, along x and y.

    Returns
    -------
    Array, shape (2,)
        Displacement in m along x (horizontal) and y (up).

    Examples
    --------
    >>> import jaxmodal as jm
    >>> from jaxmodal.dynamic_stiffness.beams import theory_flags
    >>> beam = jm.Arm((jm.Link(2.0, 7e10, 2700.0, jm.rectangle(0.1, 0.1)),), jm.Payload(10.0))
    >>> from jaxmodal.arm.arrays import beam_arrays
    >>> down = tip_deflection(beam_arrays(beam), theory_flags("euler_bernoulli"), 9.81)
    >>> weight, stiffness = 2700 * 0.01 * 9.81, 7e10 * 0.1**4 / 12
    >>> bool(abs(down[1] + (weight * 2**4 / 8 + 10 * 9.81 * 2**3 / 3) / stiffness) < 1e-15)
    True
    """
    return _displacement(beams, theory, gravity, tip_force)


@jax.jit
def _displacement(
    beams: BeamArrays, theory: Theory, gravity: float, tip_force: tuple[float, float]
) -> Array:
    zero = jnp.zeros_like(beams.length[0])
    loads = DeadLoads(zero, zero - gravity, zero + tip_force[0], zero + tip_force[1])
    tip = equilibrium(beams, theory.shear, theory.axial, loads).displacements.tip
    return jnp.stack([tip[0][-1], tip[1][-1]])


@dataclasses.dataclass(frozen=True)
class _Statics:
    """A design at rest at the P postures of a set; ``pull`` is gravity, m/s^2, along the axes of the base or ground."""

    design: Design
    postures: str
    theory: TheoryName
    pull: tuple[Any, ...]


class _InThePlane(_Statics):
    axes: ClassVar[int] = 2

    @staticmethod
    def check_deflection(arm: Arm) -> None:
        """Refuse an arm whose deflection is not known: none in the plane, with any forces at rest."""

    def tips(self) -> Array:
        """Return the displacements of the tip, (P, axes), m."""
        flags = theory_flags(self.theory)

        def one(arm: Arm) -> Array:
            beams = beam_arrays(arm)
            # JAX cannot differentiate the force method for supports, which may be rigid
            if under_forces(arm) or beams.supports is not None:
                return second_order_deflection(arm, self.theory, gravity=self.pull)
            return tip_deflection(beams, flags, -self.pull[1])

        return self.design.at_each_posture(self.postures, one)

    def inverse_factors(self, at_tip: Sequence[float]) -> Array:
        """Return 1 over the buckling factor with loads at the tip, forces first, (P,)."""
        loads: dict[str, Any] = {"gravity": self.pull, "tip_force": at_tip[:2]}

        def one(arm: Arm) -> Array:
            return inverse_buckling_factor(arm, self.theory, **loads)

        return self.design.at_each_posture(self.postures, one)


class _InSpace(_Statics):
    axes: ClassVar[int] = 3

    @staticmethod
    def check_deflection(arm: SpatialArm) -> None:
        """Refuse supports with axial forces."""
        if _pressed(arm):
            arm.refuse_supports("a deflection under axial forces")

    def tips(self) -> Array:
        """Return what `_InThePlane.tips` returns."""
        arm: Any = self.design.arm
        given = arm, self.design.positions(self.postures), self.theory
        if _pressed(arm):
            return tips_under_gravity(*given, self.pull)
        return tips_at_rest(*given, LoadsInSpace(np.array(self.pull), np.zeros(3), np.zeros(3)))

    def inverse_factors(self, at_tip: Sequence[float]) -> Array:
        """Return what `_InThePlane.inverse_factors` returns."""
        arm: Any = self.design.arm
        loads = LoadsInSpace(np.array(self.pull), *np.split(np.array(at_tip), 2))
        return inverse_factors(arm, self.design.positions(self.postures), self.theory, loads)


def _pressed(arm: SpatialArm) -> bool:
    """Return True if a link has an axial force, with which deflections are of second order."""
    return any(link.axial_force is not None for link in arm.links)


#: the statics of designs of an arm
STATICS: ByKind[Any] = ByKind(_InThePlane, _InSpace)
