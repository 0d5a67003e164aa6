"""Arms in files: TOML or JSON, read with every key checked, written so that they read back."""

import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jaxmodal.arm import Arm, Link, Payload
from jaxmodal.errors import ArmError, suggestion, within
from jaxmodal.links import FLAGS
from jaxmodal.quantities import FINITE, Record, as_scalar, quantities, shown
from jaxmodal.sections import shear_fields
from jaxmodal.segments import tapered, with_body_at
from jaxmodal.shapes import SHAPES, RawSection, Section

_REQUIRED_OF_LINK = ("length", "youngs_modulus", "density", "section")


def read_arm(path: str | Path) -> Arm:
    """Read an arm from a TOML or JSON file.

    Parameters
    ----------
    path
        File in UTF-8. The suffix ``.toml`` or ``.json`` tells the format; with any other suffix
        a file that starts with a brace is JSON.

    Returns
    -------
    Arm
        The validated arm. Values are in SI units and radians (``joint_angle_deg`` in degrees).

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
    A link has the keys length, youngs_modulus, density and section, and optionally
    poisson_ratio or shear_modulus, tip_mass, tip_inertia, joint_angle or joint_angle_deg,
    joint_stiffness (null in JSON is rigid), thickness_factor, and what `Link` lists beyond; a
    null in JSON leaves those out. ``bodies``, a list of tables with position (m from the base of the
    link), mass, inertia, centre_x and centre_y, and ``taper``, a table with the section at the tip and
    the number of pieces (16), cut a link into segments.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ArmError(f"{path}: cannot be read ({reason}); give a TOML or JSON file.") from error
    except UnicodeDecodeError as error:
        raise ArmError(f"{path}: is not text in UTF-8; give a TOML or JSON file.") from error
    suffix = path.suffix.lower()
    braced = text.lstrip().startswith("{")
    is_json = suffix == ".json" or (suffix != ".toml" and braced)
    with within(f"{path}: "):
        document = _parse_json(text) if is_json else _parse_toml(text)
    return arm_from_dict(document, source=str(path))


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ArmError(f"is not TOML: {error}; see jaxmodal.examples for a valid file.") from error


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        raise ArmError(f"is not JSON: {error}.") from error


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ArmError(f"{key} is given twice; keep one.")
        table[key] = value
    return table


def arm_from_dict(document: object, source: str = "") -> Arm:
    """Return the arm that the plain tables of an arm file describe.

    Parameters
    ----------
    document
        Mapping with the keys ``links`` (a list of mappings), and optionally ``name`` and
        ``payload``, as in an arm file.
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
    with within(f"{source}: " if source else ""):
        table = _table("an arm", document)
        _check_keys(table, known=("name", "links", "payload"), required=("links",))
        entries = table["links"]
        if not isinstance(entries, (list, tuple)) or not entries:
            raise ArmError(
                f"links = {shown(entries)}: must be one table or more; start each link with a "
                "line [[links]] (in JSON, a list of objects)."
            )
        links: list[Link] = []
        for number, entry in enumerate(entries, start=1):
            with within(f"link{number}."):
                links += _links(entry)
        payload = _table("payload", table.get("payload", {}))
        with within("payload."):
            _check_keys(payload, known=_fields(Payload))
        return Arm(tuple(links), Payload(**payload), table.get("name", ""))


def _links(entry: object) -> tuple[Link, ...]:
    """The links of one table: several where it has a taper or bodies along it."""
    keys = dict(_table("a link", entry))
    taper, bodies = keys.pop("taper", None), keys.pop("bodies", None)
    link = _link(keys)
    if taper is not None and bodies is not None:
        raise ArmError("bodies: stands beside taper; write the segments of the link one by one.")
    if taper is not None:
        table = _table("taper", taper)
        with within("taper."):
            _check_keys(table, ("section", "pieces"), ("section",))
            return tapered(link, _section(table["section"]), table.get("pieces", 16))
    return _with_bodies(link, bodies)


def _with_bodies(link: Link, bodies: object) -> tuple[Link, ...]:
    if bodies is None:
        return (link,)
    if not isinstance(bodies, (list, tuple)):
        raise ArmError(f"bodies = {shown(bodies)}: must be a list of tables.")
    made: list[Link] = []
    passed = 0.0
    for number, entry in enumerate(bodies, start=1):
        with within(f"bodies[{number}]."):
            table = _table("a body", entry)
            known = ("position", "mass", "inertia", "centre_x", "centre_y")
            _check_keys(table, known, ("position", "mass"))
            place = float(as_scalar("position", table["position"], "in metres"))
            if not place > passed:
                raise ArmError(
                    f"position = {place!r}: must be greater than 0 and ascend from body to body."
                )
            rest = [table.get(name) for name in known[3:]]
            inner, link = with_body_at(
                link, place - passed, table["mass"], table.get("inertia", 0.0), *rest
            )
            made.append(inner)
            passed = place
    return (*made, link)


def _link(entry: object) -> Link:
    known = [name for name in _fields(Link) if name != "section"]
    keys = _table("a link", entry)
    _check_keys(keys, [*known, "section", "joint_angle_deg", *FLAGS], _REQUIRED_OF_LINK)
    values = {name: keys[name] for name in (*known, *FLAGS) if name in keys}
    if "joint_angle_deg" in keys:
        degrees = keys["joint_angle_deg"]
        if "joint_angle" in keys:
            raise ArmError(
                f"joint_angle_deg = {shown(degrees)}: joint_angle is given as well; give one of "
                "the two."
            )
        scalar = as_scalar("joint_angle_deg", degrees, "finite (degrees)")
        if not FINITE.holds(scalar):
            raise ArmError(f"joint_angle_deg = {shown(scalar)}: must be finite (degrees).")
        values["joint_angle"] = math.radians(float(scalar))
    return Link(section=_section(keys["section"]), **values)


def _section(entry: object) -> Section:
    table = dict(_table("section", entry))
    shape = table.pop("shape", None)
    if shape is None and "area" not in table and "second_moment" not in table:
        raise ArmError(
            f"section = {shown(entry)}: needs a shape ({', '.join(SHAPES)}) with its dimensions, "
            "or area and second_moment."
        )
    if shape is not None and (not isinstance(shape, str) or shape not in SHAPES):
        hint = suggestion(shape, SHAPES) if isinstance(shape, str) else ""
        raise ArmError(f"section.shape = {shape!r}: must be one of {', '.join(SHAPES)}.{hint}")
    kind = RawSection if shape is None else SHAPES[shape]
    known = _fields(kind)
    with within("section."):
        _check_keys(table, known, [name for name in known if name != "shear_coefficient"])
    return kind(**table | shear_fields(table.pop("shear_coefficient", None)))


def _fields(kind: type[Record]) -> list[str]:
    return [item.name for item in quantities(kind)]


def _table(what: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ArmError(f"{what} = {shown(value)}: must be a table of keys and values.")
    return value


def _check_keys(
    table: Mapping[str, Any], known: Iterable[str], required: Iterable[str] = ()
) -> None:
    known = list(known)
    for key in table:
        if key not in known:
            raise ArmError(
                f"{key} = {shown(table[key])}: is not a known key; known are {', '.join(known)}."
                f"{suggestion(str(key), known)}"
            )
    for key in required:
        if key not in table:
            raise ArmError(f"{key} is missing; add it (required are {', '.join(required)}).")


def write_arm(arm: Arm, path: str | Path) -> None:
    """Write an arm to a file, as JSON if its suffix is ``.json`` and else as TOML.

    `read_arm` reads the file back to an equal arm: numbers are written with all their digits.

    Raises
    ------
    ArmError
        If a value of the arm is traced or batched.
    """
    path = Path(path)
    if path.suffix.lower() == ".json":
        text = json.dumps(arm.to_dict(), indent=2, ensure_ascii=False) + "\n"
    else:
        text = arm.to_toml()
    path.write_text(text, encoding="utf-8", newline="\n")
