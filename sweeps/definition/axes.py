"""Axes of a sweep: named dimensions along which parameters of an arm take listed values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import full_address, may_name_joint, resolve_address
from jaxmodal.arm.arguments import is_finite, is_whole
from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.parts.parameters import unit_of_address
from sweeps.definition import limits
from sweeps.definition.errors import SweepError, about
from sweeps.solution.outputs import DIMENSIONS

RESERVED_NAMES = ("mode", "theory", "parameter_unit", *DIMENSIONS)
_DEGREE = ("degree", "degrees", "deg")


@dataclasses.dataclass(frozen=True)
class Column:
    """Values of one parameter along a dimension, in the unit in which they were given.

    Attributes
    ----------
    name : str
        Name of the coordinate in the dataset.
    address : str
        Parameter address, such as ``link2.joint_angle`` or ``link*.thickness_factor``.
    unit : str
        ``"degree"`` for an angle given in degrees, else the SI unit of the parameter.
    values : array of shape (n,)
        The values in that unit.
    given : str
        The parameter as it was given: the address, or an alias.
    """

    name: str
    address: str
    unit: str
    values: Floats
    given: str

    @property
    def si_values(self) -> Floats:
        """Values in SI units and radians, shape (n,)."""
        return np.deg2rad(self.values) if self.unit == "degree" else self.values

    @property
    def ends(self) -> tuple[str, str]:
        """Smallest and largest value, as text."""
        return f"{self.values.min():.6g}", f"{self.values.max():.6g}"


@dataclasses.dataclass(frozen=True)
class Axis:
    """One dimension of a sweep, with the parameters that change along it (usually one)."""

    name: str
    columns: tuple[Column, ...]

    @property
    def size(self) -> int:
        """Number of points along the axis."""
        return int(self.columns[0].values.shape[0])

    @property
    def is_index(self) -> bool:
        """True when the axis has one parameter, whose values label its points."""
        return len(self.columns) == 1 and self.columns[0].name == self.name


def axis(
    parameter: str, values: Iterable[float], *, unit: str | None = None, name: str | None = None
) -> Axis:
    """Create an axis over explicit values of one parameter.

    Parameters
    ----------
    parameter
        A parameter address (``link2.joint_angle``, ``link*.section.depth``, ``payload.mass``) or an alias (``theta_2``,
        ``thickness_factor``, ``payload_mass``, ``payload_inertia``). For an arm in space also the name of a joint,
        ``elbow`` for its angle or ``elbow.joint_stiffness``; the sweep looks it up in its arm.
    values
        Finite numbers (a joint's stiffness may be inf), at least one, without duplicates.
    unit
        ``"degree"`` for an angle in degrees, otherwise the SI unit, which is also the default.
    name
        Name of the dimension; by default the alias, or the address with ``_`` for the dots.

    Raises
    ------
    SweepError
        If the parameter or unit is unknown, or a value cannot be used.

    Examples
    --------
    >>> axis("link2.joint_angle", [0, 45, 90], unit="degree").name
    'link2_joint_angle'
    >>> axis("theta_2", [0, 45, 90], unit="degree").columns[0].address
    'link2.joint_angle'
    """
    column = make_column(parameter, values, unit, name)
    unique, counts = np.unique(column.values, return_counts=True)
    if np.any(counts > 1):
        twice = float(unique[np.argmax(counts > 1)])
        raise SweepError(
            f"axis {column.name!r}: value {twice!r} is given twice, and could not be distinguished "
            "in the result; give each value once."
        )
    return Axis(column.name, (column,))


def linspace(
    parameter: str,
    start: float,
    stop: float,
    num: int,
    *,
    unit: str | None = None,
    name: str | None = None,
) -> Axis:
    """Create an axis over ``num`` equally spaced values of a ``parameter`` from ``start`` to ``stop``, both included.

    ``unit`` and ``name`` are as for `axis`.
    """
    ends = checked_ends(parameter, start, stop)
    values = np.linspace(*ends, checked_count(parameter, num))
    return axis(parameter, values, unit=unit, name=name)


def geomspace(
    parameter: str,
    start: float,
    stop: float,
    num: int,
    *,
    unit: str | None = None,
    name: str | None = None,
) -> Axis:
    """Create an axis over ``num`` values of a ``parameter`` in equal ratios from ``start`` to ``stop``, both included.

    ``unit`` and ``name`` are as for `axis`. Both ends must have the same sign and be nonzero.
    """
    count = checked_count(parameter, num)
    first, last = checked_ends(parameter, start, stop)
    if not first * last > 0.0:
        raise SweepError(
            f"axis {shown(parameter)}: geomspace from {first!r} to {last!r}: both ends must have the same "
            "sign and differ from 0; use linspace instead."
        )
    return axis(parameter, np.geomspace(first, last, count), unit=unit, name=name)


def over_limits(
    arm: AnyArm,
    parameter: str,
    num: int,
    *,
    unit: str | None = None,
    name: str | None = None,
) -> Axis:
    """Create an axis over ``num`` equally spaced joint positions from the lower to the upper limit, both included.

    Parameters
    ----------
    arm
        The arm of the sweep, whose joint has ``joint_limits``.
    parameter
        The angle of one joint (``theta_2``, ``link2.joint_angle`` or its name), or the position in m of a prismatic
        joint.
    num
        Number of positions.
    unit, name
        As for `axis`.

    Raises
    ------
    SweepError
        If ``parameter`` is not the position of one joint, or the joint has no limits.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.SpatialLink(0.5, rigid=True, joint_limits=(-1.0, 2.0), name="elbow")
    >>> over_limits(jm.SpatialArm((link,)), "elbow", 4).columns[0].values.tolist()
    [-1.0, 0.0, 1.0, 2.0]
    """
    count = checked_count(parameter, num)
    with about(f"axis over {shown(parameter)}"):
        found = resolve_address(arm, parameter)
    link, _, field = found[0].partition(".")
    number = int(link.removeprefix("link")) if link.removeprefix("link").isdigit() else 0
    if not number or len(found) > 1 or field != arm.position_of(number):
        raise SweepError(
            f"axis over {shown(parameter)}: limits need the angle of one joint, or its way where it slides; give "
            "that, or take linspace."
        )
    limits = getattr(arm.links[number - 1], "joint_limits", None)
    if limits is None:
        raise SweepError(
            f"axis over {shown(parameter)}: the joint has no limits; give its link joint_limits, or take linspace"
            f"{'' if arm.slides(number) else ' from -180 to 180 degrees'}."
        )
    lower, upper = (float(limit) for limit in limits)
    values = np.linspace(lower, upper, count)
    return axis(parameter, np.rad2deg(values) if unit in _DEGREE else values, unit=unit, name=name)


def zipped(*axes: Axis, name: str) -> Axis:
    """Create one dimension along which several parameters change together, point by point.

    Parameters
    ----------
    *axes
        Axes of equal length, one or more.
    name
        Name of the common dimension; each parameter becomes a coordinate along it.

    Raises
    ------
    SweepError
        If there is no axis, or they differ in length.

    Examples
    --------
    >>> both = zipped(axis("payload.mass", [0, 5]), axis("payload.inertia", [0, 0.2]), name="payload")
    >>> both.size, [column.name for column in both.columns]
    (2, ['payload_mass', 'payload_inertia'])
    """
    if not axes:
        raise SweepError(f"axis {name!r}: zip is empty; give it one axis or more.")
    for entry in axes:
        if not isinstance(entry, Axis):
            raise SweepError(
                f"axis {name!r}: {shown(entry)}: must be an axis; give one after the other, "
                "zipped(axis(...), axis(...), name=...)."
            )
    sizes = {entry.name: entry.size for entry in axes}
    if len({entry.size for entry in axes}) > 1:
        lengths = ", ".join(f"{key} {size}" for key, size in sizes.items())
        raise SweepError(
            f"axis {name!r}: zipped axes differ in length ({lengths}); give all of them the same "
            "number of values."
        )
    return Axis(checked_name(name), tuple(column for entry in axes for column in entry.columns))


def address_of(parameter: object) -> str:
    """Return the address that a parameter name stands for, see `jaxmodal.arm.parameters.full_address`."""
    if not isinstance(parameter, str):
        raise SweepError(
            f"parameter = {shown(parameter)}: must be text such as 'link2.joint_angle' or 'theta_2'."
        )
    return full_address(parameter)


def make_column(parameter: str, values: Any, unit: str | None, name: str | None) -> Column:
    """Return a column of checked values, with a default name and unit if they are not given."""
    address = address_of(parameter)
    if name is None:
        alias = parameter != address
        name = parameter if alias else address.removeprefix("link*.").replace(".", "_")
    if may_name_joint(address):  # the arm of the sweep gives the address and the unit later
        found = "" if unit is None else unit
    else:
        with about(f"axis over {shown(parameter)}"):
            found = _unit(name, unit, unit_of_address(address))
    return Column(checked_name(name), address, found, _values(name, values, address), parameter)


def axes_of_arm(axes: Iterable[Axis], arm: AnyArm) -> tuple[Axis, ...]:
    """Replace joint names in axes by the addresses and units they stand for on an arm.

    Raises
    ------
    SweepError
        If the arm has no such joint, or a unit is not that of the parameter.
    """
    found = []
    for number, entry in enumerate(axes, start=1):
        with about(f"axes[{number}]", SweepError):
            found.append(Axis(entry.name, tuple(_of_arm(c, arm) for c in entry.columns)))
    return tuple(found)


def _of_arm(column: Column, arm: AnyArm) -> Column:
    if not may_name_joint(column.address):
        return column
    with about(f"axis over {shown(column.given)}"):
        (address,) = resolve_address(arm, column.address)
    unit = _unit(column.name, column.unit or None, unit_of_address(address))
    return dataclasses.replace(column, address=address, unit=unit)


def _unit(name: str, unit: str | None, si_unit: str) -> str:
    if unit is None or unit == si_unit:
        return si_unit
    if si_unit == "rad" and unit in _DEGREE:
        return "degree"
    allowed = "'rad' or 'degree'" if si_unit == "rad" else repr(si_unit)
    raise SweepError(f"axis {name!r}: unit = {shown(unit)}: must be {allowed}.")


def _values(name: str, values: Any, address: str) -> Floats:
    with about(f"axis {name!r}"):
        values = plain("values", values)
    try:
        entries = np.asarray(list(values) if isinstance(values, Iterable) else values)
        if entries.dtype.kind not in "iuf" and entries.size:
            raise TypeError
        array = entries.astype(np.float64)
    except (TypeError, ValueError):
        raise SweepError(f"axis {name!r}: values = {shown(values)}: must be numbers.") from None
    if array.ndim != 1 or array.size == 0:
        raise SweepError(
            f"axis {name!r}: values = {shown(values)}: must be a list of one number or more."
        )
    rigid = address.endswith(
        ("_stiffness", ".stiffness", *(f"base_stiffness.k{k}{k}" for k in (1, 2, 3)))
    )
    allowed = array[array != math.inf] if rigid else array
    if not np.all(np.isfinite(allowed)):
        wrong = float(allowed[~np.isfinite(allowed)][0])
        raise SweepError(f"axis {name!r}: value {wrong!r}: must be finite.")
    array.setflags(write=False)
    return array


def checked_count(name: str, value: Any) -> int:
    """Return a number of points; raise a `SweepError` that names the axis unless it is 1 or more."""
    if not is_whole(value, 1, limits.POINTS):
        raise SweepError(
            f"axis {name!r}: num = {shown(value)}: must be a whole number from 1 to {limits.POINTS:,}."
        )
    return int(value)


def checked_ends(name: str, start: object, stop: object) -> tuple[float, float]:
    """Return the two ends of a range; raise a `SweepError` unless both are finite numbers."""
    for value in (start, stop):
        if not is_finite(value):
            raise SweepError(f"axis {name!r}: end {shown(value)}: must be a finite number.")
    return float(start), float(stop)  # type: ignore[arg-type]


def checked_name(name: object) -> str:
    """Return the name of a dimension; raise a `SweepError` if it is invalid."""
    if not isinstance(name, str) or not name.isidentifier() or name in RESERVED_NAMES:
        raise SweepError(
            f"axis name {shown(name)}: must be a word of letters, digits and underscores, and none of "
            f"{', '.join(RESERVED_NAMES)}."
        )
    return name
