"""Elastic base with coupled stiffness in six directions."""

from __future__ import annotations

from typing import Any, ClassVar

from jaxmodal.arm.quantities import (
    POSITIVE,
    Constraint,
    Scalar,
    frozen_pytree,
    quantity,
)
from jaxmodal.arm.symmetric import REMEDY, SymmetricStiffness, mixed, positive_definite
from jaxmodal.runtime.namespace import xp


def _own(unit: str, direction: str) -> Any:
    return quantity(unit, f"stiffness of the base, {direction}", POSITIVE, REMEDY)


@frozen_pytree
class BaseStiffness(SymmetricStiffness):
    """A symmetric 6 x 6 stiffness of the base over (u, v, w, phi_x, phi_y, phi_z), in the axes of the ground.

    It maps displacements and rotations of the base at joint 1 to forces, N, and moments, N m.
    """

    size: ClassVar[int] = 6
    needed: ClassVar[str] = (
        "six rows of six numbers, or the six of a diagonal, over u, v, w, phi_x, phi_y, phi_z"
    )
    k11: Scalar = _own("N/m", "u")
    k22: Scalar = _own("N/m", "v")
    k33: Scalar = _own("N/m", "w")
    k44: Scalar = _own("N m/rad", "phi_x")
    k55: Scalar = _own("N m/rad", "phi_y")
    k66: Scalar = _own("N m/rad", "phi_z")
    k12: Scalar = mixed("N/m", "u with v")
    k13: Scalar = mixed("N/m", "u with w")
    k23: Scalar = mixed("N/m", "v with w")
    k14: Scalar = mixed("N/rad", "u with phi_x")
    k15: Scalar = mixed("N/rad", "u with phi_y")
    k16: Scalar = mixed("N/rad", "u with phi_z")
    k24: Scalar = mixed("N/rad", "v with phi_x")
    k25: Scalar = mixed("N/rad", "v with phi_y")
    k26: Scalar = mixed("N/rad", "v with phi_z")
    k34: Scalar = mixed("N/rad", "w with phi_x")
    k35: Scalar = mixed("N/rad", "w with phi_y")
    k36: Scalar = mixed("N/rad", "w with phi_z")
    k45: Scalar = mixed("N m/rad", "phi_x with phi_y")
    k46: Scalar = mixed("N m/rad", "phi_x with phi_z")
    k56: Scalar = mixed("N m/rad", "phi_y with phi_z")

    def constraints(self) -> tuple[Constraint, ...]:
        rows = self.rows()
        scales = [xp.sqrt(rows[i][i]) for i in range(6)]
        scaled = [rows[i][j] / (scales[i] * scales[j]) for i in range(6) for j in range(6)]
        gives = ", so that every force gives a finite, positive displacement"
        return (positive_definite(scaled, 6, gives, ""),)
