"""Symmetric stiffness matrices entry by entry, for the bases of planar and spatial arms."""

from __future__ import annotations

import contextlib
import numbers
from typing import Any, ClassVar, TypeVar

import numpy as np

from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import FINITE, Constraint, Record, quantity, shown
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced, linalg, xp

#: the smallest eigenvalue, beside the diagonal, of a matrix that counts as positive definite
_DEFINITE = 1e-12
#: how far the two entries of a pair may be apart, beside the largest on the diagonal: the rounding of R K R^T
_ROUNDING = 1e-12
S = TypeVar("S", bound="SymmetricStiffness")
REMEDY = "give the stiffness of the foundation, N/m, N/rad and N m/rad"


def mixed(unit: str, directions: str) -> Any:
    """Declare an off-diagonal entry."""
    return quantity(
        unit, f"stiffness of the base, {directions}", FINITE, "0 couples nothing", default=0.0
    )


class SymmetricStiffness(Record):
    """Symmetric stiffness of the base by its entries k11, k12 and so on."""

    place: ClassVar[str] = "base_stiffness."
    size: ClassVar[int]
    needed: ClassVar[str]
    """Description of the accepted input, for messages."""

    @classmethod
    def of(cls: type[S], value: object) -> S:
        """Return a stiffness from the rows of the matrix or from its diagonal."""
        if isinstance(value, cls):
            return value
        return cls(**_upper_entries("base_stiffness", value, cls.size, cls.needed))

    def rows(self) -> list[list[Any]]:
        """Return the rows of the matrix, of numbers of whatever kind it has."""
        places = range(1, self.size + 1)
        return [[getattr(self, f"k{min(i, j)}{max(i, j)}") for j in places] for i in places]


def positive_definite(entries: list[Any], size: int, of: str, remedy: str) -> Constraint:
    """Return the constraint that a matrix with unit diagonal, given row by row, is positive definite.

    ``of`` and ``remedy`` are appended to the texts of its message.
    """
    entries = xp.broadcast_arrays(*entries)
    matrix: Array = xp.stack(entries, axis=-1).reshape((*np.shape(entries[0]), size, size))
    matrix = xp.where(xp.isfinite(matrix), matrix, -1.0)
    if is_traced(matrix):  # no message is made of it
        least = _least_pivot(matrix, size)
        holds = least > 0.0
    else:
        least = linalg.eigvalsh(matrix)[..., 0]
        holds = least > _DEFINITE
    return Constraint(
        "smallest_eigenvalue",
        least if np.ndim(least) else least[()],
        holds,
        f"greater than {_DEFINITE:g}, that of the matrix scaled to ones on its diagonal{of}",
        f"check signs and units of the entries beside the diagonal{remedy}",
    )


def _least_pivot(matrix: Array, size: int) -> Array:
    """Greater than 0 exactly where all eigenvalues are greater than `_DEFINITE`: Sylvester's law of inertia."""
    rows = [
        [matrix[..., i, j] - (_DEFINITE if i == j else 0.0) for j in range(i + 1)]
        for i in range(size)
    ]
    least = rows[0][0]
    for k in range(size):
        pivot = rows[k][k]
        least = xp.minimum(least, pivot)
        safe = xp.where(pivot > 0.0, pivot, 1.0)
        for i in range(k + 1, size):
            for j in range(k + 1, i + 1):
                rows[i][j] = rows[i][j] - rows[i][k] * rows[j][k] / safe
    return least


def symmetric_part(name: str, matrix: Floats, first: int) -> Floats:
    """Return the mean of a square matrix and its transpose, which may differ only by rounding.

    The ``first`` rows have one unit, the others another.

    Raises
    ------
    ArmError
        If they differ by more than rounding; the message names the entries.
    """
    size = np.abs(np.where(np.isfinite(matrix), matrix, 0.0))
    largest = np.empty(len(matrix))
    for rows in (slice(first), slice(first, None)):
        largest[rows] = np.max(np.diag(size)[rows], initial=0.0)
    allowed = _ROUNDING * np.sqrt(np.outer(largest, largest))
    with np.errstate(invalid="ignore"):
        apart = np.abs(matrix - matrix.T)
    wrong = np.argwhere(~((matrix == matrix.T) | (apart <= allowed) | np.isnan(matrix + matrix.T)))
    if wrong.size:
        i, j = wrong[0]
        raise ArmError(
            f"{name} = {shown(matrix.tolist())}: must be symmetric; entry {i + 1} {j + 1} is {matrix[i, j]:.17g} and "
            f"entry {j + 1} {i + 1} is {matrix[j, i]:.17g}, farther apart than rounding. Give the same number twice."
        )
    with np.errstate(invalid="ignore"):
        return np.where(matrix == matrix.T, matrix, 0.5 * matrix + 0.5 * matrix.T)


def _upper_entries(name: str, value: object, size: int, needed: str) -> dict[str, float]:
    """Return the upper entries k11, k12, ... from the rows of a matrix or from its diagonal.

    Raises
    ------
    ArmError
        If ``value`` is neither (``needed`` describes the expected input), is not symmetric, or is traced; traced values
        are set by address.
    """
    if is_traced(value):
        raise ArmError(
            f"{name}: is of traced values; give numbers, and set the entries that vary by address, such as "
            "set_parameters(arm, {'base_stiffness.k11': k})."
        )
    value = plain(name, value)
    matrix: Floats = np.zeros(0)
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        given = np.asarray(value, object)
        if all(isinstance(x, numbers.Real) and not isinstance(x, bool) for x in given.flat):
            matrix = given.astype(np.float64)
    if matrix.shape == (size,):
        matrix = np.diag(matrix)
    if matrix.shape != (size, size):
        raise ArmError(f"{name} = {shown(value)}: must be {needed}.")
    matrix = symmetric_part(name, matrix, (size + 1) // 2)
    return {f"k{i + 1}{j + 1}": float(matrix[i, j]) for i in range(size) for j in range(i, size)}
