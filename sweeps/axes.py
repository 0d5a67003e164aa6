"""Axes of a sweep: named dimensions along which parameters of an arm take listed values."""

from __future__ import annotations

import dataclasses
import math
import numbers
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.errors import ArmError, suggestion
from jaxmodal.parameters import unit_of
from sweeps.errors import SweepError

FloatArray = NDArray[np.float64]

#: short names of parameters; ``theta_2`` and so on are understood as well
ALIASES = {
    "thickness_factor": "link*.thickness_factor",
    "payload_mass": "payload.mass",
    "payload_inertia": "payload.inertia",
}
RESERVED_NAMES = ("mode", "theory")
RANDOM_METHODS = ("latin_hypercube", "sobol")
SCALES = ("linear", "log")
_THETA = re.compile(r"theta_([1-9][0-9]*)", re.ASCII)
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
    """

    name: str
    address: str
    unit: str
    values: FloatArray

    @property
    def si_values(self) -> FloatArray:
        """The values in SI units and radians, shape (n,)."""
        return np.deg2rad(self.values) if self.unit == "degree" else self.values


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


@dataclasses.dataclass(frozen=True)
class Range:
    """Range of one parameter in a random design: ``low`` to ``high``, uniform on the given scale."""

    parameter: str
    low: float
    high: float
    unit: str | None = None
    name: str | None = None
    scale: str = "linear"


def axis(
    parameter: str, values: Iterable[float], *, unit: str | None = None, name: str | None = None
) -> Axis:
    """Axis over explicit values of one parameter.

    Parameters
    ----------
    parameter
        A parameter address (``link2.joint_angle``, ``link*.section.depth``, ``payload.mass``) or an
        alias (``theta_2``, ``thickness_factor``, ``payload_mass``, ``payload_inertia``).
    values
        Finite numbers (a joint's stiffness may be inf), one or more, no value twice.
    unit
        ``"degree"`` for an angle in degrees; else the SI unit, which is also the default.
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
    column = _column(parameter, values, unit, name)
    unique, counts = np.unique(column.values, return_counts=True)
    if np.any(counts > 1):
        twice = float(unique[np.argmax(counts > 1)])
        raise SweepError(
            f"axis {column.name!r}: value {twice!r} is given twice, and could not be told apart in "
            "the result; give each value once."
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
    """Axis over ``num`` equally spaced values from ``start`` to ``stop``, both included."""
    count = _count(parameter, "num", num)
    ends = _ends(parameter, start, stop)
    return axis(parameter, np.linspace(*ends, count), unit=unit, name=name)


def geomspace(
    parameter: str,
    start: float,
    stop: float,
    num: int,
    *,
    unit: str | None = None,
    name: str | None = None,
) -> Axis:
    """Axis over ``num`` values in equal ratios from ``start`` to ``stop``, both included.

    Both ends must have the same sign and be different from 0.
    """
    count = _count(parameter, "num", num)
    first, last = _ends(parameter, start, stop)
    if not first * last > 0.0:
        raise SweepError(
            f"axis {parameter!r}: geomspace from {first!r} to {last!r}: both ends must have the same "
            "sign and differ from 0; use linspace instead."
        )
    return axis(parameter, np.geomspace(first, last, count), unit=unit, name=name)


def zipped(*axes: Axis, name: str) -> Axis:
    """One dimension along which several parameters change together, point by point.

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
    sizes = {entry.name: entry.size for entry in axes}
    if len({entry.size for entry in axes}) > 1:
        lengths = ", ".join(f"{key} {size}" for key, size in sizes.items())
        raise SweepError(
            f"axis {name!r}: zipped axes differ in length ({lengths}); give all of them the same "
            "number of values."
        )
    return Axis(_name(name), tuple(column for entry in axes for column in entry.columns))


def random_design(
    ranges: Sequence[Range],
    num: int,
    *,
    seed: int,
    method: str = "latin_hypercube",
    name: str = "sample",
) -> Axis:
    """One dimension of random samples that fill the given ranges evenly.

    Parameters
    ----------
    ranges
        One `Range` for each parameter that varies.
    num
        Number of samples; for ``"sobol"`` a power of 2.
    seed
        Seed of the random numbers, 0 or more; the same seed gives the same samples.
    method
        ``"latin_hypercube"`` or ``"sobol"`` (scrambled), from `scipy.stats.qmc`.
    name
        Name of the dimension.

    Raises
    ------
    SweepError
        If a range, the number, the seed or the method cannot be used, or SciPy is missing.

    Examples
    --------
    >>> ranges = [Range("payload.mass", 0.0, 20.0), Range("theta_2", -90, 90, unit="degree")]
    >>> design = random_design(ranges, 8, seed=1, method="sobol")
    >>> design.size, bool(np.all(np.abs(design.columns[1].values) <= 90.0))
    (8, True)
    """
    count = _count(name, "num", num)
    if not is_whole(seed, 0):
        raise SweepError(
            f"axis {name!r}: seed = {seed!r}: must be a whole number of 0 or more, so that the same "
            "samples can be drawn again."
        )
    if not ranges:
        raise SweepError(f"axis {name!r}: a random design needs one range or more.")
    unit_square = _random_numbers(method, len(ranges), count, int(seed), name)
    columns = tuple(
        _column(entry.parameter, _stretched(entry, unit_square[:, index]), entry.unit, entry.name)
        for index, entry in enumerate(ranges)
    )
    return Axis(_name(name), columns)


def _random_numbers(method: str, width: int, count: int, seed: int, name: str) -> FloatArray:
    if method not in RANDOM_METHODS:
        raise SweepError(
            f"axis {name!r}: method = {method!r}: must be one of {', '.join(RANDOM_METHODS)}."
            f"{suggestion(str(method), RANDOM_METHODS)}"
        )
    if method == "sobol" and count & (count - 1):
        raise SweepError(
            f"axis {name!r}: num = {count}: a Sobol design needs a power of 2, such as "
            f"{1 << count.bit_length()}, to be balanced."
        )
    try:
        from scipy.stats import qmc
    except ImportError as error:
        raise SweepError(
            f"axis {name!r}: random designs need SciPy; install jaxmodal[sweeps]."
        ) from error
    sampler = qmc.LatinHypercube if method == "latin_hypercube" else qmc.Sobol
    return np.asarray(sampler(width, rng=seed).random(count), np.float64)


def _stretched(entry: Range, fraction: FloatArray) -> FloatArray:
    low, high = _ends(entry.parameter, entry.low, entry.high)
    if entry.scale not in SCALES:
        raise SweepError(
            f"range of {entry.parameter!r}: scale = {entry.scale!r}: must be 'linear' or 'log'."
            f"{suggestion(str(entry.scale), SCALES)}"
        )
    if not low < high or (entry.scale == "log" and not low > 0.0):
        positive = " and greater than 0 on a log scale" if entry.scale == "log" else ""
        raise SweepError(
            f"range of {entry.parameter!r} from {low!r} to {high!r}: low must be less than high"
            f"{positive}."
        )
    if entry.scale == "log":
        return low * (high / low) ** fraction
    return low + (high - low) * fraction


def full_address(parameter: object) -> str:
    """Return the address that a parameter name stands for: itself, unless it is an alias."""
    if not isinstance(parameter, str):
        raise SweepError(
            f"parameter = {parameter!r}: must be text such as 'link2.joint_angle' or 'theta_2'."
        )
    theta = _THETA.fullmatch(parameter)
    return f"link{theta[1]}.joint_angle" if theta else ALIASES.get(parameter, parameter)


def _column(parameter: str, values: Any, unit: str | None, name: str | None) -> Column:
    address = full_address(parameter)
    try:
        si_unit = unit_of(address)
    except ArmError as error:
        hint = suggestion(address, [*ALIASES, "theta_2", "theta_3"])
        raise SweepError(f"axis over {parameter!r}: {error}{hint}") from error
    if name is None:
        alias = parameter != address
        name = parameter if alias else address.removeprefix("link*.").replace(".", "_")
    return Column(_name(name), address, _unit(name, unit, si_unit), _values(name, values, address))


def _unit(name: str, unit: str | None, si_unit: str) -> str:
    if unit is None or unit == si_unit:
        return si_unit
    if si_unit == "rad" and unit in _DEGREE:
        return "degree"
    allowed = "'rad' or 'degree'" if si_unit == "rad" else repr(si_unit)
    raise SweepError(f"axis {name!r}: unit = {unit!r}: must be {allowed}.")


def _values(name: str, values: Any, address: str) -> FloatArray:
    try:
        entries = np.asarray(list(values) if isinstance(values, Iterable) else values)
        if entries.dtype.kind not in "iuf" and entries.size:
            raise TypeError
        array = entries.astype(np.float64)
    except (TypeError, ValueError):
        raise SweepError(f"axis {name!r}: values = {_short(values)}: must be numbers.") from None
    if array.ndim != 1 or array.size == 0:
        raise SweepError(
            f"axis {name!r}: values = {_short(values)}: must be a list of one number or more."
        )
    allowed = array if not address.endswith("_stiffness") else array[array != math.inf]
    if not np.all(np.isfinite(allowed)):
        wrong = float(allowed[~np.isfinite(allowed)][0])
        raise SweepError(f"axis {name!r}: value {wrong!r}: must be finite.")
    array.setflags(write=False)
    return array


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _count(name: str, key: str, value: Any) -> int:
    if not is_whole(value, 1):
        raise SweepError(f"axis {name!r}: {key} = {value!r}: must be a whole number of 1 or more.")
    return int(value)


def is_whole(value: object, least: int) -> bool:
    """Return whether a value is a whole number, and not a truth value, of ``least`` or more."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return whole and int(value) >= least  # type: ignore[call-overload]


def _ends(name: str, start: object, stop: object) -> tuple[float, float]:
    for value in (start, stop):
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not real or not math.isfinite(value):  # type: ignore[arg-type]
            raise SweepError(f"axis {name!r}: end {value!r}: must be a finite number.")
    return float(start), float(stop)  # type: ignore[arg-type]


def _name(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier() or name in RESERVED_NAMES:
        raise SweepError(
            f"axis name {name!r}: must be a word of letters, digits and underscores, and neither "
            f"{' nor '.join(map(repr, RESERVED_NAMES))}."
        )
    return name
