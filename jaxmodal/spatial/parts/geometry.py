"""Vectors, rotations and inertia tensors as records, so that every component has its own address."""

import math
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import (
    ANGLE,
    FINITE,
    Constraint,
    Record,
    Scalar,
    frozen_pytree,
    quantity,
    shown,
    static,
)
from jaxmodal.arm.symmetric import symmetric_part
from jaxmodal.runtime.errors import ArmError, within

#: largest deviation of the columns of a matrix from orthonormal vectors: the precision of values written by hand
_ORTHOGONAL = 1e-6
#: largest negative value, relative to the trace, that counts as rounding of 0
_ROUNDING = 1e-9
#: least and largest length of a direction; beyond, its square is out of the range of double precision
_SHORTEST, _LONGEST = 1e-100, 1e100


@frozen_pytree
class Position(Record):
    """Position relative to a reference point: components in m, in the axes given by the field that holds it."""

    x: Scalar = quantity("m", "component along x", FINITE, "give it in metres", default=0.0)
    y: Scalar = quantity("m", "component along y", FINITE, "give it in metres", default=0.0)
    z: Scalar = quantity("m", "component along z", FINITE, "give it in metres", default=0.0)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))


@frozen_pytree
class Direction(Record):
    """A direction: three components of any length, normalised where they are used."""

    x: Scalar = quantity("1", "component along x", FINITE, "give a number", default=0.0)
    y: Scalar = quantity("1", "component along y", FINITE, "give a number", default=0.0)
    z: Scalar = quantity("1", "component along z", FINITE, "give a number", default=0.0)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def constraints(self) -> tuple[Constraint, ...]:
        squares: Any = sum((x * x for x in self), start=0.0)
        size = squares**0.5
        return (
            Constraint(
                "length",
                size,
                (size > _SHORTEST) & (size < _LONGEST),
                "greater than 0, for a vector of length zero has no direction",
                "give the components of a direction, such as (0, 0, 1)",
            ),
        )


@frozen_pytree
class Rotation(Record):
    """A rotation about an axis by the right-hand rule, rad."""

    axis: Direction
    angle: Scalar = quantity(
        "rad", "angle of a turn", ANGLE, "give it in radians, without whole turns", default=0.0
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", as_vector(Direction, "axis", self.axis))
        super().__post_init__()


@frozen_pytree
class InertiaTensor(Record):
    """The inertia tensor of a body about its centre of gravity, in the link's axes, kg m^2.

    ``xy, yz, xz`` are components of the tensor, that is, minus the products of inertia: xy = - integral of x y dm.
    """

    xx: Scalar = quantity("kg m^2", "inertia about x", FINITE, "0 is no inertia", default=0.0)
    yy: Scalar = quantity("kg m^2", "inertia about y", FINITE, "0 is no inertia", default=0.0)
    zz: Scalar = quantity("kg m^2", "inertia about z", FINITE, "0 is no inertia", default=0.0)
    xy: Scalar = quantity("kg m^2", "component x y", FINITE, "0 for axes of symmetry", default=0.0)
    yz: Scalar = quantity("kg m^2", "component y z", FINITE, "0 for axes of symmetry", default=0.0)
    xz: Scalar = quantity("kg m^2", "component x z", FINITE, "0 for axes of symmetry", default=0.0)
    check: bool = static(default=True)
    """Whether it has to be the tensor of a body; else no moment may be negative, or kinetic energy would be."""

    def rows(self) -> tuple[tuple[Any, Any, Any], ...]:
        """Return the three rows of the tensor, of numbers of whatever kind it has."""
        return (
            (self.xx, self.xy, self.xz),
            (self.xy, self.yy, self.yz),
            (self.xz, self.yz, self.zz),
        )

    def constraints(self) -> tuple[Constraint, ...]:
        # the tensor of a body is (trace S) 1 - S, where S = integral of r r^T dm is positive semidefinite
        trace: Any = self.xx + self.yy + self.zz
        x, y, z = self.xx, self.yy, self.zz
        xy, yz, xz = self.xy, self.yz, self.xz
        if self.check:
            x, y, z = (0.5 * trace - own for own in (x, y, z))
            xy, yz, xz = -xy, -yz, -xz
        rounding = _ROUNDING * abs(trace)
        pairs = ((x, y, xy), (y, z, yz), (x, z, xz))
        holds: Any = trace >= 0.0
        for own in (x, y, z):
            holds = holds & (own >= -rounding)
        for first, second, mixed in pairs:
            holds = holds & (first * second - mixed * mixed >= -rounding * abs(trace))
        determinant = x * (y * z - yz * yz) - xy * (xy * z - yz * xz) + xz * (xy * yz - y * xz)
        holds = holds & (determinant >= -rounding * trace * trace)
        found, fault, way_on = trace, "", ""
        if isinstance(holds, np.bool_) and not holds:
            found, fault = self.moment_at_fault()
            if fault.endswith("other two"):
                way_on = (
                    "; published moments that break the rule are taken by inertia_check = false"
                )
        return (
            Constraint(
                "principal_moments",
                found,
                holds,
                "those of a body: no principal moment negative"
                + (", and none greater than the sum of the other two" if self.check else ""),
                f"{fault}; check units and signs; off-diagonal entries are tensor components, minus the products of "
                f"inertia{way_on}",
            ),
        )

    def moment_at_fault(self) -> tuple[tuple[float, ...], str]:
        """Return the three principal moments for a message, and a description of the impossible one."""
        turned = any(float(x) != 0.0 for x in (self.xy, self.yz, self.xz))
        moments = np.array([self.xx, self.yy, self.zz], np.float64)
        if turned and np.all(np.isfinite(np.array(self.rows(), np.float64))):
            moments = np.linalg.eigvalsh(np.array(self.rows(), np.float64))
        least, most = int(np.argmin(moments)), int(np.argmax(moments))
        at = least if moments[least] < 0.0 else most
        axis = "" if turned else f" about {'xyz'[at]}"
        others = float(np.sum(np.delete(moments, at)))
        why = (
            f"is greater than {others:.6g}, the sum of the other two"
            if at == most
            else "is negative"
        )
        text = tuple(float(f"{x:.6g}") for x in moments)
        return text, f"the one{axis}, {moments[at]:.6g} kg m^2, {why}"


V = TypeVar("V", Position, Direction)


def as_vector(kind: type[V], name: str, value: object) -> V:
    """Convert three numbers to a `Position` or a `Direction`; records are returned unchanged."""
    if isinstance(value, kind):
        return value
    if not (isinstance(value, (tuple, list, np.ndarray)) and len(value) == 3):
        raise ArmError(f"{name} = {shown(value)}: must be three numbers, along x, y and z.")
    with within(f"{name}."):
        return kind(*value)


def as_inertia(name: str, value: object, check: bool = True) -> InertiaTensor:
    """Convert a 3 x 3 matrix, three moments about the axes, or one moment for all axes to an `InertiaTensor`."""
    if isinstance(value, InertiaTensor):
        return value
    if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 3:
        rows = list(value)
        if all(isinstance(row, (tuple, list, np.ndarray)) and len(row) == 3 for row in rows):
            matrix = real_matrix(name, rows)
            matrix = symmetric_part(name, matrix, first=3)
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = matrix
            with within(f"{name}."):
                return InertiaTensor(xx, yy, zz, xy, yz, xz, check)
        if not any(isinstance(row, (tuple, list, np.ndarray)) for row in rows):
            with within(f"{name}."):
                xx, yy, zz = rows
                return InertiaTensor(xx, yy, zz, check=check)
    raise ArmError(
        f"{name} = {shown(value)}: must be an inertia tensor, three rows of three numbers (kg m^2), or three moments "
        "about the axes."
    )


def real_matrix(name: str, rows: object) -> "np.ndarray[Any, Any]":
    """Check a 3 x 3 matrix of finite numbers."""
    rows = plain(name, rows)
    try:
        matrix = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        matrix = np.full((3, 3), np.nan)
    if matrix.shape != (3, 3) or not np.all(np.isfinite(matrix)):
        raise ArmError(f"{name} = {shown(rows)}: must be three rows of three finite numbers.")
    return matrix


def rotation_of(name: str, rows: object) -> Rotation:
    """Convert an orthogonal, right-handed 3 x 3 matrix to a single rotation.

    Raises
    ------
    ArmError
        If the matrix is not orthogonal, or is a reflection.
    """
    matrix = real_matrix(name, rows)
    distance = float(np.max(np.abs(matrix.T @ matrix - np.eye(3))))
    if distance > _ORTHOGONAL:
        raise ArmError(
            f"{name} = {matrix.tolist()}: must be orthogonal; its columns are {distance:.3g} from unit vectors at "
            "right angles. Give the axes of the link as columns, or a list of turns with axis and angle."
        )
    if np.linalg.det(matrix) < 0.0:
        raise ArmError(
            f"{name} = {matrix.tolist()}: is left-handed (its determinant is -1); turn one axis round."
        )
    # the quaternion of a rotation matrix, from its largest component
    trace = float(np.trace(matrix))
    squares = np.array([trace, *(2.0 * matrix[i, i] - trace for i in range(3))]) + 1.0
    largest = int(np.argmax(squares))
    if largest == 0:
        turned = matrix - matrix.T
        vector = np.array([turned[2, 1], turned[0, 2], turned[1, 0]])
        scalar = squares[0]
    else:
        i = largest - 1
        vector = matrix[i] + matrix[:, i]
        vector[i] = squares[largest]
        j, k = (i + 1) % 3, (i + 2) % 3
        scalar = matrix[k, j] - matrix[j, k]
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        return Rotation(Direction(0.0, 0.0, 1.0), 0.0)
    axis = Direction(*(float(x) for x in vector / np.max(np.abs(vector))))
    return Rotation(axis, 2.0 * math.atan2(size, float(scalar)))


def as_frame(name: str, value: object) -> tuple[Rotation, ...]:
    """Convert a list of rotations, or an orthogonal matrix, to the successive rotations of a frame."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (tuple, list)):
        raise ArmError(f"{name} = {shown(value)}: must be a list of turns with axis and angle.")
    if len(value) == 3 and all(
        isinstance(row, (tuple, list, np.ndarray)) and len(row) == 3 for row in value
    ):
        return (rotation_of(name, value),)
    for number, turn in enumerate(value, start=1):
        if not isinstance(turn, Rotation):
            raise ArmError(
                f"{name}{number} = {shown(turn)}: must be a turn, Rotation(axis, angle)."
            )
    return tuple(value)
