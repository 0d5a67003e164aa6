"""An arm as plain tables for its file, and tables as TOML text."""

import json
from collections.abc import Mapping
from typing import Any

from jaxmodal.arm.links import Link
from jaxmodal.arm.loads import BOUNDS, PIECES, Loads
from jaxmodal.arm.quantities import Record, given, shown
from jaxmodal.arm.shapes import Section
from jaxmodal.arm.straight_links import StraightLink
from jaxmodal.runtime.errors import ArmError


def record_table(record: Record) -> dict[str, Any]:
    """Return a record's values as plain numbers; values at their defaults are left out.

    Raises
    ------
    ArmError
        If a value is traced or batched.
    """
    table: dict[str, Any] = {}
    for item, value in given(record):
        if not isinstance(value, float):
            name = record.place + item.name
            raise ArmError(
                f"{name} = {shown(value)}: must be one number with a known value: only a single arm can be written, "
                "checked, drawn or located; take the values one at a time, outside jit, grad and vmap."
            )
        table[item.name] = float(value)
    return table


def own_table(link: StraightLink) -> dict[str, Any]:
    """Return the flags that are set, the motor and the values of a link, planar or in space."""
    flags = {name: True for name in link.flags if getattr(link, name)}
    motor = {} if link.motor is None else {"motor": link.motor}
    return flags | motor | record_table(link)


def link_table(link: Link) -> dict[str, Any]:
    """Return a link as a table of an arm file, with its section as a nested table."""
    return own_table(link) | {"section": section_table(link.section)}


def section_table(section: Record) -> dict[str, Any]:
    """Return a section as a table, with its shape and shear rule if it has them."""
    if not isinstance(section, Section):
        return record_table(section)
    table = ({"shape": section.shape} if section.shape else {}) | record_table(section)
    rule = section.shear_rule
    return table if rule is None else table | {"shear_coefficient": rule}


def loads_table(loads: Loads) -> dict[str, Any]:
    """Return the loads of a planar arm as a table of its file."""
    found: dict[str, Any] = record_table(loads)
    if loads.pieces != PIECES:
        found["pieces"] = loads.pieces
    return found if loads.bound == BOUNDS[0] else found | {"bound": loads.bound}


def toml_text(document: Mapping[str, Any]) -> str:
    """Return a table as TOML text that reads back to exactly the same values.

    The standard library reads TOML but does not write it.

    Parameters
    ----------
    document
        Numbers, booleans and strings; tables of them, written inline inside a list of tables; lists of tables, and
        inside these, lists of anything. Keys are bare words.

    Examples
    --------
    >>> print(toml_text({"name": "arm", "links": [{"length": 0.5, "section": {"area": 1e-4}}]}))
    name = "arm"
    <BLANKLINE>
    [[links]]
    length = 0.5
    section = { area = 0.0001 }
    <BLANKLINE>
    """
    lines = []
    for key, value in document.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{key}]", *_pairs(value)]
        elif isinstance(value, list) and isinstance(value[0], Mapping):
            for table in value:
                lines += ["", f"[[{key}]]", *_pairs(table)]
        else:
            lines.append(f"{key} = {_value(value)}")
    return "\n".join(lines).lstrip("\n") + "\n"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_pairs(value)) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # a JSON string is a TOML basic string, but for DEL, which TOML wants escaped
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int) else repr(float(value))
