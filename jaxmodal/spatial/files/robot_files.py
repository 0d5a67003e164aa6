"""Arm files that refer to a URDF file and add the data it lacks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxmodal.arm.documents import check_keys, table
from jaxmodal.arm.files import place_of
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.units import in_si, with_units
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.files.link_files import UNITS, body_from_dict, section_from_dict
from jaxmodal.spatial.robots.keywords import MATERIAL

#: the key of an arm file that gives the path of a URDF file
URDF = "urdf"
#: suffixes of files that are always read as URDF, so that errors refer to that format
SUFFIXES = (".urdf", ".xacro")
_PLAIN = ("name", "base", "tip", "structural_mass")
_BY_NAME = {
    "positions": "rad",
    "joint_stiffness": "N m/rad",
    "slide_stiffness": "N/m",
    "section_roll": "rad",
    "along": "m",
    "joint_damping": "N m s/rad",
    "slide_damping": "N s/m",
}
#: tables of tables by name, with the units of their keys, and their keys with text values
_TABLES = {
    "materials": {key: UNITS[key] for key in MATERIAL},
    "rotors": {"inertia": "kg m^2", "gear_ratio": "1"},
}
_WORDS = {"rotors": ("motor",)}
_KNOWN = (*_PLAIN, *_BY_NAME, *_TABLES, "sections", "inertia_check", "payload")


def is_robot(path: str | Path) -> bool:
    """Return whether a path is that of a URDF file."""
    return place_of(path).suffix.lower() in SUFFIXES


def robot_path(document: object, source: str | Path) -> Path | None:
    """Return the path of the URDF file that an arm file names, relative to its folder; None if it names none."""
    if not isinstance(document, Mapping) or URDF not in document:
        return None
    named = document[URDF]
    if not isinstance(named, str):
        raise ArmError(f"{source}: {URDF} = {shown(named)}: must be the path of a URDF file.")
    return Path(source).parent / named


def robot_values(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `read_urdf` from the table of a file; the key ``dynamics`` is ignored.

    Raises
    ------
    ArmError
        If a key is unknown, or a value has the wrong type.
    """
    entries = {key: value for key, value in document.items() if key not in (URDF, "dynamics")}
    keys, _ = in_si(entries, _BY_NAME)
    check_keys(keys, (URDF, *_KNOWN, "dynamics"), (), ArmError, with_units(_BY_NAME))
    for name in _PLAIN:
        if name in keys and not isinstance(keys[name], str):
            raise ArmError(f"{name} = {shown(keys[name])}: must be text.")
    for name in _BY_NAME:
        if name in keys:
            table(name, keys[name], ArmError)
    if "sections" in keys:
        with within("sections."):
            keys["sections"] = {
                name: section_from_dict(entry)
                for name, entry in table("sections", keys["sections"], ArmError).items()
            }
    for name, units in _TABLES.items():
        if name in keys:
            keys[name] = _tables_by_name(name, keys[name], units)
    if "payload" in keys:
        keys["payload"] = body_from_dict("payload", keys["payload"])
    return keys


def _tables_by_name(name: str, value: object, units: Mapping[str, str]) -> dict[str, Any]:
    """Return the tables of links or joints, converted to SI units."""
    found = {}
    for owner, entry in table(name, value, ArmError).items():
        with within(f"{name}.{owner}."):
            found[owner], _ = in_si(table(owner, entry, ArmError), units)
            check_keys(
                found[owner], (*units, *_WORDS.get(name, ())), (), ArmError, with_units(units)
            )
    return found
