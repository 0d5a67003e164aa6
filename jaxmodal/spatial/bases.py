"""An elastic base: six directions that give way together."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arm.quantities import (
    FINITE,
    POSITIVE,
    Constraint,
    Record,
    Scalar,
    frozen_pytree,
    quantity,
    shown,
)
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.runtime.namespace import linalg, xp

#: the smallest eigenvalue, beside the diagonal, of a matrix that counts as positive definite
_DEFINITE = 1e-12
_REMEDY = "give the stiffness of the foundation, N/m, N/rad and N m/rad"


def _own(unit: str, direction: str) -> Any:
    return quantity(unit, f"stiffness of the base, {direction}", POSITIVE, _REMEDY)


def _mixed(unit: str, directions: str) -> Any:
    return quantity(
        unit, f"stiffness of the base, {directions}", FINITE, "0 couples nothing", default=0.0
    )


@frozen_pytree
class BaseStiffness(Record):
    """A symmetric 6 x 6 stiffness of the base over (u, v, w, phi_x, phi_y, phi_z), in the axes of the ground.

    It gives the forces, N, and moments, N m, about the place of joint 1 that move the base.
    """

    k11: Scalar = _own("N/m", "u")
    k22: Scalar = _own("N/m", "v")
    k33: Scalar = _own("N/m", "w")
    k44: Scalar = _own("N m/rad", "phi_x")
    k55: Scalar = _own("N m/rad", "phi_y")
    k66: Scalar = _own("N m/rad", "phi_z")
    k12: Scalar = _mixed("N/m", "u with v")
    k13: Scalar = _mixed("N/m", "u with w")
    k23: Scalar = _mixed("N/m", "v with w")
    k14: Scalar = _mixed("N/rad", "u with phi_x")
    k15: Scalar = _mixed("N/rad", "u with phi_y")
    k16: Scalar = _mixed("N/rad", "u with phi_z")
    k24: Scalar = _mixed("N/rad", "v with phi_x")
    k25: Scalar = _mixed("N/rad", "v with phi_y")
    k26: Scalar = _mixed("N/rad", "v with phi_z")
    k34: Scalar = _mixed("N/rad", "w with phi_x")
    k35: Scalar = _mixed("N/rad", "w with phi_y")
    k36: Scalar = _mixed("N/rad", "w with phi_z")
    k45: Scalar = _mixed("N m/rad", "phi_x with phi_y")
    k46: Scalar = _mixed("N m/rad", "phi_x with phi_z")
    k56: Scalar = _mixed("N m/rad", "phi_y with phi_z")

    def rows(self) -> list[list[Scalar]]:
        """The six rows of the matrix."""
        return [
            [getattr(self, f"k{min(i, j)}{max(i, j)}") for j in range(1, 7)] for i in range(1, 7)
        ]

    def constraints(self) -> tuple[Constraint, ...]:
        rows = self.rows()
        scales = [xp.sqrt(rows[i][i]) for i in range(6)]
        scaled = [[rows[i][j] / (scales[i] * scales[j]) for j in range(6)] for i in range(6)]
        entries = xp.broadcast_arrays(*(x for row in scaled for x in row))
        matrix = xp.stack(entries, axis=-1).reshape((*np.shape(entries[0]), 6, 6))
        known = xp.where(xp.isfinite(matrix), matrix, -1.0)
        least = linalg.eigvalsh(known)[..., 0]
        return (
            Constraint(
                "least",
                least,
                least > _DEFINITE,
                "positive: the smallest eigenvalue of the matrix, beside its diagonal, of a base that gives way to "
                "every force and to none without end",
                "check signs and units of the entries beside the diagonal",
            ),
        )


def as_base(name: str, value: object) -> BaseStiffness:
    """A `BaseStiffness` from six rows, or from the six values of a diagonal."""
    if isinstance(value, BaseStiffness):
        return value
    try:
        matrix = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.shape == (6,):
        matrix = np.diag(matrix)
    if matrix.shape != (6, 6):
        raise ArmError(
            f"{name} = {shown(value)}: must be six rows of six numbers, or the six of a diagonal, over u, v, w, phi_x, "
            "phi_y, phi_z."
        )
    if not np.array_equal(matrix, matrix.T):
        raise ArmError(f"{name} = {shown(value)}: must be symmetric.")
    upper = {f"k{i + 1}{j + 1}": float(matrix[i, j]) for i in range(6) for j in range(i, 6)}
    with within(f"{name}."):
        return BaseStiffness(**upper)
