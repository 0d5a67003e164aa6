"""Conversion of an arm in space to the tables of an arm file."""

from __future__ import annotations

from typing import Any

from jaxmodal.arm.quantities import Record
from jaxmodal.arm.tables import own_table, record_table, section_table
from jaxmodal.runtime.errors import within
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Direction, InertiaTensor, Position, Rotation
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.springs import Spring, Support

#: the key and its value that mark an arm in space
DIMENSIONS = ("dimensions", 3)


def link_table(link: SpatialLink) -> dict[str, Any]:
    """Return the table of a link as in an arm file, without default values."""
    table = ({"name": link.name} if link.name else {}) | own_table(link)
    axis = _plain(link.joint_axis)
    if axis != [0.0, 0.0, 1.0]:
        table["joint_axis"] = axis
    for name in ("joint_frame", "joint_springs", "supports"):
        if getattr(link, name):
            table[name] = [_plain(part) for part in getattr(link, name)]
    for name in ("base_offset", "end_offset", *SpatialLink.bodies):
        if getattr(link, name) is not None:
            with within(f"{name}."):
                table[name] = _plain(getattr(link, name))
    if link.joint_limits is not None:
        table["joint_limits"] = list(link.joint_limits)
    if link.joint_velocity_limit is not None:
        table["joint_velocity_limit"] = link.joint_velocity_limit
    return table if link.section is None else table | {"section": section_table(link.section)}


def body_table(body: RigidBody) -> dict[str, Any]:
    """Return the table of a body as in an arm file."""
    table = record_table(body)
    for name in ("centre", "inertia"):
        if getattr(body, name) is not None:
            table[name] = _plain(getattr(body, name))
    if not body.inertia_check:
        table["inertia_check"] = False
    return table


def _plain(record: Record) -> Any:
    if isinstance(record, RigidBody):
        return body_table(record)
    if isinstance(record, Rotation):
        return {"axis": _plain(record.axis), "angle": float(record.angle)}
    if isinstance(record, Spring | Support):
        return {"kind": record.kind, "direction": _plain(record.direction)} | record_table(record)
    record_table(record)  # refuses anything but one number
    if isinstance(record, InertiaTensor):
        return [[float(x) for x in row] for row in record.rows()]
    assert isinstance(record, Direction | Position)
    return [float(x) for x in record]
