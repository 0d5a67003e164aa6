"""Unit suffixes of keys in files: ``length_mm``, ``joint_stiffness_nm_per_arcmin``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from jaxmodal.arm.documents import check_keys
from jaxmodal.arm.quantities import FINITE, as_scalar, shown
from jaxmodal.runtime.errors import ArmError, within

#: minutes of arc in a radian: a spring of 1 N m/arcmin has so many N m/rad
ARCMINUTES = 180.0 * 60.0 / math.pi

#: what may stand behind a key: the SI unit that it replaces, its own, and what turns it into SI. Powers of ten are
#: divided by, not multiplied with, so that 900 mm are 0.9 m to the last bit
SUFFIXES: Mapping[str, tuple[str, str, Callable[[float], float]]] = {
    "_deg": ("rad", "degrees", math.radians),
    "_mm": ("m", "mm", lambda x: x / 1e3),
    "_mm2": ("m^2", "mm^2", lambda x: x / 1e6),
    "_mm4": ("m^4", "mm^4", lambda x: x / 1e12),
    "_mpa": ("Pa", "MPa", lambda x: x * 1e6),
    "_gpa": ("Pa", "GPa", lambda x: x * 1e9),
    "_g_per_cm3": ("kg/m^3", "g/cm^3", lambda x: x * 1e3),
    "_kg_cm2": ("kg m^2", "kg cm^2", lambda x: x / 1e4),
    "_deg_per_s": ("rad/s", "degrees/s", math.radians),
    "_nm_per_arcmin": ("N m/rad", "N m/arcmin", lambda x: x * ARCMINUTES),
}


def with_units(units: Mapping[str, str]) -> list[str]:
    """Return every key with a unit suffix that is allowed for the given keys and their SI units."""
    return [
        name + suffix
        for name, unit in units.items()
        for suffix, (replaced, _, _) in SUFFIXES.items()
        if unit == replaced
    ]


def in_si(
    entries: Mapping[str, Any], units: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Convert keys with a unit suffix to keys without, in SI units.

    Parameters
    ----------
    entries
        A table of a file.
    units
        The allowed keys, with their SI units.

    Returns
    -------
    entries : dict
        The entries in SI units and radians; unknown keys are kept.
    given : dict
        For each converted key, its original form: ``"length_mm = -500"``.

    Raises
    ------
    ArmError
        If a value is given twice, or a value with a unit is not a finite number.
    """
    found: dict[str, Any] = {}
    given: dict[str, str] = {}
    for key, value in entries.items():
        name, unit, convert = _parted(key, units)
        if convert is None:
            found[key] = value
            continue
        if name in entries or name in found:
            other = name if name in entries else given[name].partition(" ")[0]
            raise ArmError(
                f"{key} = {shown(value)}: {other} is given as well; give one of the two."
            )
        found[name] = _converted(key, value, unit, convert)
        given[name] = f"{key} = {shown(value)}"
    return found, given


Made = TypeVar("Made")


def made_of(
    kind: Callable[..., Made],
    entries: Mapping[str, Any],
    units: Mapping[str, str],
    others: Iterable[str] = (),
    required: Iterable[str] = (),
    place: str = "",
) -> Made:
    """Return ``kind(**keys)`` for a table: keys of ``units`` may have a unit suffix, ``others`` may not.

    ``place`` is the prefix of the keys in messages about them; errors of ``kind`` include their own prefix.
    """
    with within(place):
        keys, given = in_si(entries, units)
        check_keys(keys, [*units, *others], required, ArmError, with_units(units))
    with named_as_given(given):
        return kind(**keys)


def _converted(key: str, value: Any, unit: str, convert: Callable[[float], float]) -> Any:
    """Return a number in SI units, or a list or a table of them."""
    if isinstance(value, Mapping):
        return {name: _converted(f"{key}.{name}", x, unit, convert) for name, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [_converted(key, x, unit, convert) for x in value]
    scalar = as_scalar(key, value, f"finite ({unit})")
    if not FINITE.holds(scalar):
        raise ArmError(f"{key} = {shown(scalar)}: must be finite ({unit}).")
    return convert(float(scalar))


def _parted(key: str, units: Mapping[str, str]) -> tuple[str, str, Callable[[float], float] | None]:
    for suffix, (replaced, unit, convert) in SUFFIXES.items():
        name = key.removesuffix(suffix)
        if name != key and units.get(name) == replaced:
            return name, unit, convert
    return key, "", None


@contextmanager
def named_as_given(given: Mapping[str, str]) -> Iterator[None]:
    """Context in which an `ArmError` about a converted value also gives its original form."""
    try:
        yield
    except ArmError as error:
        name = str(error).partition(" = ")[0].rpartition(".")[2]
        if name not in given:
            raise
        raise ArmError(f"{error} It was given as {given[name]}.") from error.__cause__
