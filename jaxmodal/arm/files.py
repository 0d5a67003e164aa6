"""Read arms from TOML or JSON files, with every key checked, and write them."""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from jaxmodal.arm.arm import TAKE_ARMS_IN_SPACE, Arm, Link, Payload
from jaxmodal.arm.documents import (
    check_document,
    check_keys,
    check_kind,
    parse_json,
    parse_toml,
    read_text,
    table,
)
from jaxmodal.arm.link_rules import FLAGS
from jaxmodal.arm.loads import Loads
from jaxmodal.arm.quantities import Record, as_scalar, quantities, shown
from jaxmodal.arm.segments import tapered, with_body_at
from jaxmodal.arm.shapes import SHAPES, RawSection, Section
from jaxmodal.arm.units import made_of
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, suggestion, within

_EXAMPLES = "`jaxmodal examples two_link_flexible` prints a valid file."
_OF_BODY = {"position": "m", "mass": "kg", "inertia": "kg m^2", "centre_x": "m", "centre_y": "m"}
_REQUIRED_OF_LINK = ("length", "youngs_modulus", "density", "section")


def read_document(path: object) -> Any:
    """Return the content of a TOML or JSON file; the format is detected as in `read_arm`.

    Raises
    ------
    ArmError
        If the file cannot be read or is neither TOML nor JSON.
    """
    path = place_of(path)
    text = read_text(path, ArmError, "give a TOML or JSON file.")
    suffix = path.suffix.lower()
    braced = text.lstrip().startswith("{")
    is_json = suffix == ".json" or (suffix != ".toml" and braced)
    with within(f"{path}: "):
        return parse_json(text, ArmError) if is_json else parse_toml(text, ArmError, _EXAMPLES)


def arm_from_dict(document: object, source: str = "") -> Arm:
    """Return a planar arm from a dict (see `jaxmodal.arm_from_dict`); an arm in space is refused."""
    with within(f"{source}: " if source else ""):
        check_document(document, ArmError)
        check_kind(document, "links", ArmError)
        keys = table("an arm", document, ArmError)
        if keys.get("dimensions") == 3:
            raise ArmError(
                "dimensions = 3: an arm in space, where a planar one is expected. Arms in space are taken by "
                f"{', '.join(TAKE_ARMS_IN_SPACE)}."
            )
        known = ("name", "base_stiffness", "links", "payload", "loads", "dynamics", "dimensions")
        check_keys(keys, known, ("links",), ArmError)
        links: list[Link] = []
        for number, entry in enumerate(link_tables(keys["links"]), start=1):
            with within(f"link{number}."):
                links += _links(entry)
                if len(links) > limits.LINKS:
                    raise ArmError(
                        f"taper: the arm then has {len(links):,} links, segments counted; at most {limits.LINKS:,}. "
                        "Give fewer pieces."
                    )
        payload = table("payload", keys.get("payload", {}), ArmError)
        body = made_of(Payload, payload, units_of(Payload), place="payload.")
        base: Any = keys.get("base_stiffness")
        return Arm(tuple(links), body, keys.get("name", ""), _loads(keys.get("loads")), base)


def _loads(entry: object) -> Loads | None:
    """Return the loads of an arm file, or None if it has none."""
    if entry is None:
        return None
    loads = table("loads", entry, ArmError)
    return made_of(Loads, loads, units_of(Loads), ("pieces", "bound"), place="loads.")


def link_tables(entries: object) -> list[Mapping[str, Any]]:
    """Return the tables of the links of an arm file; at least one and at most `limits.LINKS`."""
    if not isinstance(entries, (list, tuple)) or not entries:
        raise ArmError(
            f"links = {shown(entries)}: must be one table or more; start each link with a "
            "line [[links]] (in JSON, a list of objects)."
        )
    if len(entries) > limits.LINKS:
        raise ArmError(f"links: there are {len(entries):,}; an arm has at most {limits.LINKS:,}.")
    return [table(f"link{k}", entry, ArmError) for k, entry in enumerate(entries, start=1)]


def _links(entry: Mapping[str, Any]) -> tuple[Link, ...]:
    """Return the links made from one table: several for a taper or bodies along it."""
    keys = dict(entry)
    taper, bodies = keys.pop("taper", None), keys.pop("bodies", None)
    link = _link(keys)
    if taper is not None and bodies is not None:
        raise ArmError(
            "bodies: cannot be combined with taper; write the segments of the link one by one."
        )
    if taper is not None:
        values = table("taper", taper, ArmError)
        with within("taper."):
            check_keys(values, ("section", "pieces"), ("section",), ArmError)
            section = section_from_dict(values["section"])
            return tapered(link, section, values.get("pieces", 16))
    return _with_bodies(link, bodies)


def _with_bodies(link: Link, bodies: object) -> tuple[Link, ...]:
    if bodies is None:
        return (link,)
    if not isinstance(bodies, (list, tuple)):
        raise ArmError(f"bodies = {shown(bodies)}: must be a list of tables.")
    if len(bodies) >= limits.LINKS:
        raise ArmError(
            f"bodies: there are {len(bodies):,}; at most {limits.LINKS - 1:,} cut a link."
        )
    made: list[Link] = []
    passed, length = 0.0, float(link.length)
    for number, entry in enumerate(bodies, start=1):
        body = table(f"bodies[{number}]", entry, ArmError)
        with within(f"bodies[{number}]."):
            body = made_of(dict, body, _OF_BODY, required=("position", "mass"))
            place = float(as_scalar("position", body["position"], "in metres"))
            if not passed < place < length:
                raise ArmError(
                    f"position = {place!r}: must be greater than 0, ascend from body to body and be less than the "
                    f"length of the link, {length!r} m; a body at its end is its tip_mass and tip_inertia."
                )
            rest = [body.get(name) for name in ("centre_x", "centre_y")]
            inner, link = with_body_at(
                link, place - passed, body["mass"], body.get("inertia", 0.0), *rest
            )
            made.append(inner)
            passed = place
    return (*made, link)


def _link(keys: Mapping[str, Any]) -> Link:
    def link(section: object, **values: Any) -> Link:
        return Link(section=section_from_dict(section), **values)

    return made_of(link, keys, units_of(Link), ("section", "motor", *FLAGS), _REQUIRED_OF_LINK)


def section_from_dict(entry: object) -> Section:
    """Return a planar section from a table: a shape with its dimensions, or area and second moment."""
    keys = dict(table("section", entry, ArmError))
    shape = keys.pop("shape", None)
    if shape is None and not any(key.startswith(("area", "second_moment")) for key in keys):
        raise ArmError(
            f"section = {shown(entry)}: needs a shape ({', '.join(SHAPES)}) with its dimensions, "
            "or area and second_moment."
        )
    if shape is not None and (not isinstance(shape, str) or shape not in SHAPES):
        hint = suggestion(shape, SHAPES) if isinstance(shape, str) else ""
        raise ArmError(f"section.shape = {shown(shape)}: must be one of {', '.join(SHAPES)}.{hint}")
    kind = RawSection if shape is None else SHAPES[shape]
    units = units_of(kind)
    required = [name for name in units if name != "shear_coefficient"]
    return made_of(kind, keys, units, required=required, place="section.")


def units_of(kind: type[Record]) -> dict[str, str]:
    """Return the keys of a record's table, with the SI unit of each."""
    return {item.name: item.metadata["unit"] for item in quantities(kind)}


def place_of(path: object) -> Path:
    """Return a path argument as a `Path`; an ArmError if it is not a path."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArmError(f"path = {shown(path)}: must be the name of a file, such as 'arm.toml'.")
    return Path(path)


@runtime_checkable
class Tabular(Protocol):
    """Protocol of an arm that can be written to a file: `Arm` or `SpatialArm`."""

    def to_dict(self) -> dict[str, Any]: ...

    def to_toml(self) -> str: ...


def write_arm(arm: Tabular, path: str | Path) -> None:
    """Write an arm to a file: as JSON if the suffix of ``path`` is ``.json``, otherwise as TOML.

    `read_arm` reads the file back to an equal arm: numbers are written with all their digits.

    Raises
    ------
    ArmError
        If a value of the arm is traced or batched, or the file cannot be written.
    """
    place = place_of(path)
    if place.suffix.lower() == ".json":
        text = json.dumps(arm.to_dict(), indent=2, ensure_ascii=False) + "\n"
    else:
        text = arm.to_toml()
    with being_written(place):
        place.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def being_written(place: Path) -> Iterator[None]:
    """Convert an OSError inside the context to an ArmError that names the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArmError(
            f"{place}: cannot be written ({reason}); give a file in a folder that can."
        ) from error
