"""Reading of arm files, planar and in space."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from jaxmodal.arm import files as planar
from jaxmodal.arm.documents import check_document, check_keys, table
from jaxmodal.arm.loads import Loads
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.units import in_si, made_of, named_as_given, with_units
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.arms.plausibility import warn_of_implausible_values
from jaxmodal.spatial.files.framed_files import FRAME_UNITS, OF_FRAMES, WAYS, framed_arm
from jaxmodal.spatial.files.link_files import UNITS, body_from_dict, link_from_dict
from jaxmodal.spatial.files.robot_files import is_robot, robot_path, robot_values
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.loads import SpatialLoads
from jaxmodal.spatial.parts.tables import DIMENSIONS
from jaxmodal.spatial.robots.reading import read_urdf

_ONLY_IN_SPACE = {
    *WAYS,
    *(
        "joint",
        "joint_axis",
        "joint_frame",
        "joint_springs",
        "supports",
        "section_roll",
        "torsion_constant",
    ),
    "prismatic",
    *("base_offset", "end_offset", *SpatialLink.bodies, "second_moment_y", "second_moment_z"),
}
_ONLY_IN_SPACE |= set(with_units({k: unit for k, unit in UNITS.items() if k in _ONLY_IN_SPACE}))
#: keys of loads that arms of one kind have alone
_PLANAR_LOADS, _SPATIAL_LOADS = (
    {item.name for item in dataclasses.fields(kind)} for kind in (Loads, SpatialLoads)
)
_ONLY_PLANAR_LOADS = sorted({*(_PLANAR_LOADS - _SPATIAL_LOADS), "gravity_direction_deg"})
_ONLY_SPATIAL_LOADS = _SPATIAL_LOADS - _PLANAR_LOADS
_OF_FRAMES = {*OF_FRAMES, *with_units(FRAME_UNITS)}


def read_arm(path: str | Path, *, check: bool = True) -> AnyArm:
    """Read an arm, planar or in space, from a TOML or JSON file or a URDF file.

    Parameters
    ----------
    path
        File in UTF-8. The suffix ``.toml`` or ``.json`` determines the format; with any other suffix, a file that
        starts with a brace is JSON. A ``.urdf`` file is read by `read_urdf`. If the file has the key ``urdf``, the URDF
        file of that name is read, and the other keys are arguments of `read_urdf`.
    check
        Give an `ImplausibleWarning` for values that look like wrong units, as in `check_arm`.

    Returns
    -------
    Arm or SpatialArm
        The validated arm. Values are in SI units and radians; keys that end in ``_deg``, ``_mm``, ``_gpa`` and so on
        are in those units.

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
    A link has the keys length, youngs_modulus, density and section, and optionally the other arguments of `Link`, or of
    `SpatialLink` for an arm in space; null in JSON stands for a missing key. A file with ``dimensions = 3``, or with a
    key that only links in space have, describes an arm in space. Two keys divide a planar link into segments:
    ``bodies``, a list of tables with position (m from the base of the link), mass, inertia, centre_x and centre_y, and
    ``taper``, a table with the section at the tip and the number of pieces (default 16).
    """
    if is_robot(path):
        return read_urdf(path, check=check)
    document = planar.read_document(path)
    robot = robot_of(document, path, check)
    if robot is not None:
        return robot
    arm = arm_from_dict(document, source=str(path))
    if check:
        warn_of_implausible_values(arm, str(path))
    return arm


def robot_of(document: object, path: str | Path, check: bool = True) -> SpatialArm | None:
    """Return the arm of the URDF file that the tables of a file name, or None.

    Its path is relative to the file's folder.
    """
    robot = robot_path(document, path)
    if robot is None or not isinstance(document, Mapping):
        return None
    with within(f"{path}: "):
        values = robot_values(document)
    return read_urdf(robot, check=check, **values)


def arm_from_dict(document: object, source: str = "") -> AnyArm:
    """Return the arm, planar or in space, described by the tables of an arm file.

    Parameters
    ----------
    document
        Mapping with the keys ``links`` (a list of mappings), and optionally ``name``, ``payload`` and ``dimensions`` (2
        or 3), as in an arm file. A key ``dynamics`` is ignored.
    source
        Name of the file, for error messages.

    Raises
    ------
    ArmError
        As for `read_arm`.
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
        with within(f"{source}: " if source else ""):
            _refuse_loads_in_space(document)
        return planar.arm_from_dict(document, source)
    with within(f"{source}: " if source else ""):
        check_document(document, ArmError)
        keys, given = in_si(table("an arm", document, ArmError), FRAME_UNITS)
        known = (
            "name",
            "links",
            "payload",
            "dynamics",
            "base_stiffness",
            "loads",
            DIMENSIONS[0],
            *OF_FRAMES,
        )
        check_keys(keys, known, ("links",), ArmError, with_units(FRAME_UNITS))
        tables = planar.link_tables(keys["links"])
        payload = body_from_dict("payload", keys.get("payload")) or RigidBody()
        name, base = keys.get("name", ""), keys.get("base_stiffness")
        loads = _loads(keys.get("loads"))
        if any(way in entry for entry in tables for way in WAYS):
            frames = {k: keys[k] for k in OF_FRAMES if k in keys}
            with named_as_given(given):
                arm = framed_arm(tables, payload, name, frames)
            arm = arm if base is None else arm.replace(base_stiffness=base)
            return arm if loads is None else arm.replace(loads=loads)
        for key in OF_FRAMES:
            if key in keys:
                raise ArmError(
                    f"{key} = {shown(keys[key])}: belongs to links with {' or '.join(WAYS)}; leave it out."
                )
        links = []
        for number, entry in enumerate(tables, start=1):
            with within(f"link{number}."):
                links.append(link_from_dict(entry))
        return SpatialArm(tuple(links), payload, name, base, loads)


def _loads(entry: object) -> SpatialLoads | None:
    """Return the loads of an arm file, or None if it has none."""
    if entry is None:
        return None
    loads = table("loads", entry, ArmError)
    for key in _ONLY_PLANAR_LOADS:
        if key in loads:
            remedy = (
                "in space give gravity_x, gravity_y and gravity_z, m/s^2 along the axes of the ground, such as "
                "gravity_z = -9.81"
                if key.startswith("gravity")
                else "leave it out: in space no link is cut into segments"
            )
            raise ArmError(f"loads.{key} = {shown(loads[key])}: belongs to planar arms; {remedy}.")
    return made_of(SpatialLoads, loads, planar.units_of(SpatialLoads), place="loads.")


def _refuse_loads_in_space(document: object) -> None:
    """Refuse keys of loads in the file of a planar arm that only arms in space have."""
    loads = document.get("loads") if isinstance(document, Mapping) else None
    if not isinstance(loads, Mapping):
        return
    for key in loads:
        if key in _ONLY_SPATIAL_LOADS:
            raise ArmError(
                f"loads.{key} = {shown(loads[key])}: belongs to arms in space; give dimensions = 3, or in the plane "
                "gravity = 9.81, m/s^2, with gravity_direction, or tip_force_x and tip_force_y, N."
            )


def is_spatial(document: object) -> bool:
    """Return whether the tables of a file describe an arm in space."""
    if not isinstance(document, Mapping):
        return False
    dimensions = document.get(DIMENSIONS[0])
    if dimensions is not None:
        if isinstance(dimensions, bool) or dimensions not in (2, 3):
            raise ArmError(
                f"dimensions = {shown(dimensions)}: must be 2, for an arm in the plane, or 3."
            )
        return bool(dimensions == DIMENSIONS[1])
    base = document.get("base_stiffness")
    of_six = isinstance(base, (list, tuple)) and len(base) == 6
    if of_six or any(key in document for key in _OF_FRAMES):
        return True
    links = document.get("links")
    if not isinstance(links, (list, tuple)):
        return False
    for link in links:
        if isinstance(link, Mapping):
            section = link.get("section")
            inner = set(section) if isinstance(section, Mapping) else set()
            given = {str(k) for k in link} | {str(k) for k in inner}
            if _ONLY_IN_SPACE & given:
                return True
    return False
