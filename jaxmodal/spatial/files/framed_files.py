"""Arm files whose links are given by Denavit-Hartenberg rows, or by joint origins as in URDF."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from jaxmodal.arm.documents import table
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.units import in_si, made_of, named_as_given
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.arms.joint_frames import (
    DenavitHartenberg,
    JointOrigin,
    arm_from_denavit_hartenberg,
    arm_from_joint_origins,
)
from jaxmodal.spatial.files.link_files import link_values
from jaxmodal.spatial.parts.bodies import RigidBody

_ROW, _ORIGIN = "denavit_hartenberg", "joint_origin"
#: the keys that give the joint's frame; all links of an arm have the same one
WAYS = (_ROW, _ORIGIN)
#: keys of the arm that belong to these, and the units of those that have one
OF_FRAMES = ("convention", "tip")
FRAME_UNITS = {"tip": "m"}
_OF_ROW = {"theta": "rad", "d": "m", "a": "m", "alpha": "rad", "offset": "rad"}
_OF_ORIGIN = {"xyz": "m", "rpy": "rad"}
_POSITION = {"joint_position": "m"}


def framed_arm(
    tables: Sequence[Mapping[str, Any]], payload: RigidBody, name: str, frames: Mapping[str, Any]
) -> SpatialArm:
    """Return the arm from the tables of its links, each with a Denavit-Hartenberg row or each with a joint origin."""
    way = _ROW if _ROW in tables[0] else _ORIGIN
    given: list[Any] = []
    links = []
    converted: dict[str, dict[str, str]] = {}
    for number, entry in enumerate(tables, start=1):
        with within(f"link{number}."):
            if way not in entry or (other := WAYS[way == _ROW]) in entry:
                stands = f"{other} stands here" if way in entry else f"{way} is missing"
                raise ArmError(
                    f"{stands}: either every link of an arm has denavit_hartenberg, or every one joint_origin."
                )
            keys = dict(entry)
            values = table(way, keys.pop(way), ArmError)
            along = keys.pop("along", None) if way == _ROW else None
            moved = {}
            if way == _ORIGIN:  # only for prismatic joints; angles are among the link's keys
                keys, _ = in_si(keys, _POSITION)
                moved = {name: keys.pop(name) for name in _POSITION if name in keys}
            with within(f"{way}."):
                given.append(_row(values) if way == _ROW else _origin(values))
            link, converted[f"link{number}"] = link_values(keys, (), given[-1].prismatic is True)
            links.append(link | moved | ({} if along is None else {"along": along}))
    if way == _ROW:
        convention = frames.get("convention", "standard")
        with _links_as_given(converted):
            return arm_from_denavit_hartenberg(
                given, links, convention, tip=frames.get("tip"), payload=payload, name=name
            )
    if "convention" in frames:
        raise ArmError(
            f"convention = {shown(frames['convention'])}: belongs to denavit_hartenberg; leave it out."
        )
    if "tip" not in frames:
        raise ArmError("tip is missing; give the end of the last link, [x, y, z] in its frame, m.")
    with _links_as_given(converted):
        return arm_from_joint_origins(given, links, frames["tip"], payload=payload, name=name)


@contextmanager
def _links_as_given(converted: Mapping[str, Mapping[str, str]]) -> Iterator[None]:
    """Run a block in which errors about converted link values show the value as given in the file."""
    try:
        yield
    except ArmError as error:
        with named_as_given(converted.get(str(error).partition(".")[0], {})):
            raise


def _row(values: Mapping[str, Any]) -> DenavitHartenberg:
    row = functools.partial(DenavitHartenberg, theta=0.0)
    return made_of(row, values, _OF_ROW, ("prismatic",), required=("d", "a", "alpha"))


def _origin(values: Mapping[str, Any]) -> JointOrigin:
    return made_of(JointOrigin, values, _OF_ORIGIN, ("axis", "prismatic"))
