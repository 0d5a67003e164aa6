"""Arm files of both kinds, planar and in space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxmodal.arm import files as planar
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.documents import check_document, check_keys, table
from jaxmodal.arm.plausibility import warn_of_implausible_values
from jaxmodal.arm.quantities import as_scalar, quantities, shown
from jaxmodal.arm.shapes import Section
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arm import SpatialArm
from jaxmodal.spatial.bodies import RigidBody
from jaxmodal.spatial.geometry import Rotation
from jaxmodal.spatial.links import SpatialLink, Spring
from jaxmodal.spatial.sections import SpatialSection
from jaxmodal.spatial.tables import DIMENSIONS

_VALUES = tuple(item.name for item in quantities(SpatialLink))
_SECTION = tuple(item.name for item in quantities(SpatialSection))
#: what a table ``joint`` may hold, and the keys of the link that it stands for
_JOINT = {
    "axis": "joint_axis",
    "angle": "joint_angle",
    "angle_deg": "joint_angle_deg",
    "frame": "joint_frame",
    "stiffness": "joint_stiffness",
    "springs": "joint_springs",
    "rotor_inertia": "rotor_inertia",
    "gear_ratio": "gear_ratio",
}
_PARTS = ("joint_axis", "base_offset", "end_offset")
_ONLY_IN_SPACE = {
    *("joint", "joint_axis", "joint_frame", "joint_springs", "section_roll", "torsion_constant"),
    *("base_offset", "end_offset", *SpatialLink.bodies, "second_moment_y", "second_moment_z"),
}
_KNOWN = (
    *(*_VALUES, *_PARTS, "joint_frame", "joint_springs", *SpatialLink.bodies, "section", "rigid"),
    *("joint", "joint_angle_deg", *(name for name in _SECTION if name not in _VALUES)),
)


def read_arm(path: str | Path, *, check: bool = True) -> Arm | SpatialArm:
    """Read an arm, planar or in space, from a TOML or JSON file.

    Parameters
    ----------
    path
        File in UTF-8. The suffix ``.toml`` or ``.json`` tells the format; with any other suffix
        a file that starts with a brace is JSON.
    check
        Give an `ImplausibleWarning` where values of a planar arm look like wrong units, as `check` finds them.

    Returns
    -------
    Arm or SpatialArm
        The validated arm. Values are in SI units and radians; keys that end in ``_deg``, ``_mm``, ``_gpa`` and so on
        are in those units (in space ``_deg`` alone).

    Raises
    ------
    ArmError
        If the file cannot be read or is neither TOML nor JSON, if a key is missing, unknown or
        given twice, or if a value is not allowed. The message starts with the file, the link and
        the key.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    A link has the keys length, youngs_modulus, density and section, and optionally what `Link`, or for an arm in
    space `SpatialLink`, lists beyond; a null in JSON leaves those out. A file with ``dimensions = 3``, or with a key
    that only links in space have, is an arm in space. ``bodies`` and ``taper`` cut a planar link into segments.
    """
    arm = arm_from_dict(planar.read_document(path), source=str(path))
    if check and isinstance(arm, Arm):
        warn_of_implausible_values(arm, str(path))
    return arm


def arm_from_dict(document: object, source: str = "") -> Arm | SpatialArm:
    """Return the arm, planar or in space, that the plain tables of an arm file describe.

    Parameters
    ----------
    document
        Mapping with the keys ``links`` (a list of mappings), and optionally ``name``, ``payload`` and
        ``dimensions`` (2 or 3), as in an arm file. ``dynamics`` may stand there and is not looked at.
    source
        Name of the file, for error messages.

    Raises
    ------
    ArmError
        As `read_arm`.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Examples
    --------
    >>> section = {"area": 1e-4, "second_moment": 1e-9}
    >>> link = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700, "section": section}
    >>> arm_from_dict({"links": [link]}).num_links
    1
    """
    if not is_spatial(document):
        return planar.arm_from_dict(document, source)
    with within(f"{source}: " if source else ""):
        check_document(document, ArmError)
        keys = table("an arm", document, ArmError)
        known = ("name", "links", "payload", "dynamics", "base_stiffness", DIMENSIONS[0])
        check_keys(keys, known, ("links",), ArmError)
        entries = keys["links"]
        if not isinstance(entries, (list, tuple)) or not entries:
            raise ArmError(
                f"links = {shown(entries)}: must be one table or more; start each link with a "
                "line [[links]] (in JSON, a list of objects)."
            )
        if len(entries) > limits.LINKS:
            raise ArmError(
                f"links: there are {len(entries):,}; an arm has at most {limits.LINKS:,}."
            )
        links = []
        for number, entry in enumerate(entries, start=1):
            with within(f"link{number}."):
                links.append(_link(table(f"link{number}", entry, ArmError)))
        with within("payload."):
            payload = _body("payload", keys.get("payload")) or RigidBody()
        base = keys.get("base_stiffness")
        return SpatialArm(tuple(links), payload, keys.get("name", ""), base)


def is_spatial(document: object) -> bool:
    """Whether the tables of a file are those of an arm in space."""
    if not isinstance(document, Mapping):
        return False
    dimensions = document.get(DIMENSIONS[0])
    if dimensions is not None:
        if isinstance(dimensions, bool) or dimensions not in (2, 3):
            raise ArmError(
                f"dimensions = {shown(dimensions)}: must be 2, for an arm in the plane, or 3."
            )
        return bool(dimensions == DIMENSIONS[1])
    if "base_stiffness" in document:
        return True
    links = document.get("links")
    if not isinstance(links, (list, tuple)):
        return False
    for link in links:
        if isinstance(link, Mapping):
            section = link.get("section")
            inner = set(section) if isinstance(section, Mapping) else set()
            if _ONLY_IN_SPACE & ({str(k) for k in link} | {str(k) for k in inner}):
                return True
    return False


def _link(entry: Mapping[str, Any]) -> SpatialLink:
    keys = dict(entry)
    joint = keys.pop("joint", None)
    if joint is not None:
        given = table("joint", joint, ArmError)
        with within("joint."):
            check_keys(given, _JOINT, (), ArmError)
        for name, value in given.items():
            if _JOINT[name] in keys:
                raise ArmError(
                    f"joint.{name} = {shown(value)}: {_JOINT[name]} is given as well; give one."
                )
            keys[_JOINT[name]] = value
    if "section" not in keys and "area" in keys:
        keys["section"] = {name: keys.pop(name) for name in _SECTION if name in keys}
    check_keys(keys, _KNOWN, ("length", "youngs_modulus", "density", "section"), ArmError)
    for name in _SECTION:
        if name in keys and name not in _VALUES:
            raise ArmError(f"{name} = {shown(keys[name])}: stands beside section; give one.")
    keys["section"] = _section(keys["section"])
    if "joint_angle_deg" in keys:
        if "joint_angle" in keys:
            raise ArmError(
                f"joint_angle_deg = {shown(keys['joint_angle_deg'])}: joint_angle is given as well; give one of the "
                "two."
            )
        keys["joint_angle"] = _radians("joint_angle_deg", keys.pop("joint_angle_deg"))
    for name in SpatialLink.bodies:
        if name in keys:
            with within(f"{name}."):
                keys[name] = _body(name, keys[name])
    springs = _tables("joint_springs", keys.pop("joint_springs", None))
    made = []
    for number, spring in enumerate(springs, start=1):
        with within(f"joint_springs{number}."):
            required = ("kind", "direction", "stiffness")
            check_keys(spring, required, required, ArmError)
            stiffness = math.inf if spring["stiffness"] is None else spring["stiffness"]
            made.append(Spring(spring["kind"], spring["direction"], stiffness))
    keys["joint_springs"] = tuple(made)
    if keys.get("joint_axis", ()) is None:
        del keys["joint_axis"]
    keys["joint_frame"] = _frame(keys.pop("joint_frame", None))
    return SpatialLink(**keys)


def _radians(name: str, value: object) -> float:
    scalar = float(as_scalar(name, value, "finite (degrees)"))
    if not math.isfinite(scalar):
        raise ArmError(f"{name} = {scalar!r}: must be finite (degrees).")
    return math.radians(scalar)


def _tables(name: str, value: object) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, (list, tuple)):
        raise ArmError(f"{name} = {shown(value)}: must be a list of tables.")
    return [table(f"{name}{number}", x, ArmError) for number, x in enumerate(value, start=1)]


def _frame(value: object) -> Any:
    """Turns in tables, or the rows of a matrix as they are."""
    if isinstance(value, (list, tuple)) and any(isinstance(x, (list, tuple)) for x in value):
        return value
    turns = []
    for number, entry in enumerate(_tables("joint_frame", value), start=1):
        with within(f"joint_frame{number}."):
            keys = dict(entry)
            check_keys(keys, ("axis", "angle", "angle_deg"), ("axis",), ArmError)
            if ("angle" in keys) == ("angle_deg" in keys):
                raise ArmError("angle: give it, or angle_deg, one of the two.")
            if "angle_deg" in keys:
                keys["angle"] = _radians("angle_deg", keys["angle_deg"])
            turns.append(Rotation(keys["axis"], keys["angle"]))
    return tuple(turns)


def _body(name: str, value: object) -> RigidBody | None:
    if value is None:
        return None
    keys = table(name, value, ArmError)
    check_keys(keys, ("mass", "centre", "inertia"), (), ArmError)
    return RigidBody(**keys)


def _section(entry: object) -> Section | SpatialSection:
    keys = table("section", entry, ArmError)
    if "shape" in keys:
        return planar.section_from_dict(keys)
    with within("section."):
        required = [name for name in _SECTION if not name.startswith("shear")]
        check_keys(keys, _SECTION, required, ArmError)
    return SpatialSection(**keys)
