"""Links and bodies of an arm in space from the tables of a file; keys may have unit suffixes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from jaxmodal.arm import files as planar
from jaxmodal.arm.arguments import require_truth
from jaxmodal.arm.documents import check_keys, table
from jaxmodal.arm.joint_limits import LIMITS
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.shapes import Section
from jaxmodal.arm.units import in_si, made_of, named_as_given, with_units
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Rotation, as_inertia
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.sections import SpatialSection
from jaxmodal.spatial.parts.springs import Spring, Support
from jaxmodal.statics.link_parts import ROTOR

_UNITS, _SECTION = planar.units_of(SpatialLink) | LIMITS, planar.units_of(SpatialSection)
#: units of joint values that differ for prismatic joints
_OF_SLIDES = {"joint_limits": "m", "joint_velocity_limit": "m/s"}
#: keys of a table ``joint``, and the keys of the link for which they stand
_JOINT = {
    "axis": "joint_axis",
    "angle": "joint_angle",
    "frame": "joint_frame",
    "stiffness": "joint_stiffness",
    "damping": "joint_damping",
    "springs": "joint_springs",
    **dict(zip(ROTOR, ROTOR, strict=True)),
    "motor": "motor",
    "limits": "joint_limits",
    "velocity_limit": "joint_velocity_limit",
}
_OF_JOINT = {name: _UNITS[key] for name, key in _JOINT.items() if key in _UNITS}
#: keys with a unit, lists included, and all known keys
_WITH_UNITS = _UNITS | {"base_offset": "m", "end_offset": "m"}
_KNOWN = (
    *(
        *_WITH_UNITS,
        "joint_axis",
        "joint_frame",
        "joint_springs",
        "supports",
        *SpatialLink.bodies,
        "section",
    ),
    *(
        "rigid",
        "prismatic",
        "segment",
        "motor",
        "name",
        "joint",
        *(name for name in _SECTION if name not in _UNITS),
    ),
)
#: keys that divide a planar link, and the methods that divide a link in space
_OF_PLANAR = {"taper": "with_taper", "bodies": "with_body"}
_BODY = {"mass": "kg", "centre": "m", "inertia": "kg m^2"}
REQUIRED = ("length", "youngs_modulus", "density", "section")
#: all keys of a link or its section that may have a unit suffix, with their SI units
UNITS = _WITH_UNITS | _SECTION


def link_values(
    entry: Mapping[str, Any], required: Sequence[str] = REQUIRED, prismatic: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the arguments of `SpatialLink` from the table of a link, and the given form of converted values.

    A rigid link requires only its length. ``prismatic`` marks a sliding joint, as the link's own key also can.
    """
    slides = _OF_SLIDES if prismatic or entry.get("prismatic") is True else {}
    keys, given = in_si(entry, UNITS | slides)
    if keys.get("rigid") is True:
        required = [key for key in required if key == "length"]
    joint = keys.pop("joint", None)
    if joint is not None:
        with within("joint."):
            units = {key: slides.get(_JOINT[key], unit) for key, unit in _OF_JOINT.items()}
            values, converted = in_si(table("joint", joint, ArmError), units)
            if "prismatic" in values:
                raise ArmError(
                    f"prismatic = {shown(values['prismatic'])}: is a key of the link; write it beside joint."
                )
            check_keys(values, _JOINT, (), ArmError, with_units(units))
        for name, value in values.items():
            if _JOINT[name] in keys:
                raise ArmError(
                    f"joint.{name} = {shown(value)}: {_JOINT[name]} is given as well; give one."
                )
            keys[_JOINT[name]] = value
        given |= {_JOINT[name]: f"joint.{text}" for name, text in converted.items()}
    if "section" not in keys and "area" in keys:
        keys["section"] = {name: keys.pop(name) for name in _SECTION if name in keys}
    for name, instead in _OF_PLANAR.items():
        if name in keys:
            raise ArmError(
                f"{name!r} is a key of planar links; of an arm in space write the pieces as links, or make them with "
                f"SpatialArm.{instead} and write_arm."
            )
    check_keys(keys, _KNOWN, required, ArmError, with_units(_WITH_UNITS | slides))
    for name in _SECTION:
        if name in keys and name not in _UNITS:
            raise ArmError(f"{name} = {shown(keys[name])}: stands beside section; give one.")
    if "section" in keys:
        keys["section"] = section_from_dict(keys["section"])
    for name in SpatialLink.bodies:
        if name in keys:
            keys[name] = body_from_dict(name, keys[name])
    for name, kind in (("joint_springs", Spring), ("supports", Support)):
        if name in keys:
            springs = enumerate(_tables(name, keys[name]), start=1)
            keys[name] = tuple(_spring(f"{name}{number}", kind, x) for number, x in springs)
    if keys.get("joint_axis", ()) is None:
        del keys["joint_axis"]
    if "joint_frame" in keys:
        keys["joint_frame"] = _frame(keys["joint_frame"])
    return keys, given


def link_from_dict(entry: Mapping[str, Any]) -> SpatialLink:
    """Return the link described by a table."""
    keys, given = link_values(entry)
    with named_as_given(given):
        return SpatialLink(**keys)


def _spring(
    place: str, kind: type[Spring] | type[Support], entry: Mapping[str, Any]
) -> Spring | Support:
    with within(f"{place}."):

        def spring(stiffness: Any, **values: Any) -> Spring | Support:
            return kind(stiffness=math.inf if stiffness is None else stiffness, **values)

        turns = entry.get("kind") == "rotation"
        units = {"stiffness": "N m/rad", "damping": "N m s/rad"} if turns else {}
        required = ("kind", "direction", "stiffness")
        beside = ("damping",) if kind is Spring else ()
        units = {key: unit for key, unit in units.items() if key in (*required, *beside)}
        without = [key for key in (*required, *beside) if key not in units]
        return made_of(spring, entry, units, without, required)


def _tables(name: str, value: object) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, (list, tuple)):
        raise ArmError(f"{name} = {shown(value)}: must be a list of tables.")
    return [table(f"{name}{number}", x, ArmError) for number, x in enumerate(value, start=1)]


def _frame(value: object) -> Any:
    """Return the rotations of a joint frame from a list of tables; rows of a matrix are returned unchanged."""
    if isinstance(value, (list, tuple)) and any(isinstance(x, (list, tuple)) for x in value):
        return value
    turns = []
    for number, entry in enumerate(_tables("joint_frame", value), start=1):
        with within(f"joint_frame{number}."):
            keys = ("axis", "angle")
            turns.append(made_of(Rotation, entry, {"angle": "rad"}, ("axis",), keys))
    return tuple(turns)


def body_from_dict(name: str, value: object) -> RigidBody | None:
    """Return the body described by a table; None without a table."""
    if value is None:
        return None
    with within(f"{name}."):
        return made_of(_body, table(name, value, ArmError), _BODY, ("inertia_check",))


def _body(inertia: Any = None, inertia_check: Any = True, **values: Any) -> RigidBody:
    """Return a body from a file; an impossible inertia tensor is reported with the other implausible values."""
    require_truth("inertia_check", inertia_check)
    tensor = None if inertia is None else as_inertia("inertia", inertia, inertia_check)
    return RigidBody(inertia=tensor, inertia_check=inertia_check, **values)


def section_from_dict(entry: object) -> Section | SpatialSection:
    """Return the section described by a table, by shape or by values."""
    keys = table("section", entry, ArmError)
    if "shape" in keys:
        return planar.section_from_dict(keys)
    required = [name for name in _SECTION if not name.startswith("shear")]
    return made_of(SpatialSection, keys, _SECTION, required=required, place="section.")
