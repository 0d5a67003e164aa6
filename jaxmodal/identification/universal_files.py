"""Frequency responses from universal files of experimental modal analysis, data set 58, read by pyuff."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxmodal.identification.measurements import MeasuredResponse
from jaxmodal.response.driven.ports import port
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.optional import require_pyuff

#: quantities by the data type of the motion
_QUANTITIES = {8: "receptance", 11: "mobility", 12: "accelerance"}
_FREQUENCY_RESPONSE = 4


def read_universal_file(
    path: str | Path,
    arm: Any,
    *,
    places: Mapping[tuple[int, int], str] | None = None,
    settings: Mapping[str, float] | None = None,
) -> list[MeasuredResponse]:
    """Read frequency responses from a universal file; needs ``jaxmodal[uff]``.

    Parameters
    ----------
    path
        Path of the file, with data sets 58 of frequency responses in SI units.
    arm
        The arm to which the ports belong.
    places : mapping, optional
        Port of each pair of node and direction, ``{(1, 3): "tip.z", (7, -2): "-joint_2.y"}``, with a minus for opposite
        directions. Data sets written by `write_universal_file` contain their ports.
    settings
        Known values during the measurement, as for `MeasuredModes`.

    Returns
    -------
    list of MeasuredResponse
        One response for each quantity and list of frequencies; pairs that are not in the file are NaN.

    Raises
    ------
    ArmError
        If the file cannot be read, has no such data, or the port of a node is unknown.
    ImportError
        If pyuff is not installed.
    """
    pyuff = require_pyuff()
    name = Path(path)
    if not name.is_file():
        raise ArmError(f"{path}: is no file; give a universal file with data sets 58.")
    try:
        sets = pyuff.UFF(str(name)).read_sets()
    except Exception as error:  # pyuff raises errors of many types
        raise ArmError(f"{path}: is no universal file that pyuff can read ({error}).") from error
    sets = [sets] if isinstance(sets, dict) else sets
    groups: dict[tuple[Any, ...], dict[tuple[str, str], Any]] = {}
    axes: dict[tuple[Any, ...], Any] = {}
    for number, each in enumerate(sets, start=1):
        if each.get("type") != 58 or each.get("func_type") != _FREQUENCY_RESPONSE:
            continue
        where = f"{path}, set {number}"
        quantity = _QUANTITIES.get(int(each.get("ordinate_spec_data_type", 0)))
        if quantity is None:
            raise ArmError(
                f"{where}: the kind of its motion is {each.get('ordinate_spec_data_type')}; must be 8 (displacement), "
                "11 (velocity) or 12 (acceleration)."
            )
        sides = _sides(where, each, arm, places or {})
        hertz = np.asarray(each["x"], float)
        key = (quantity, hertz.tobytes())
        axes[key] = hertz
        sign = (-1.0) ** sum(side.startswith("-") for side in sides)
        pair = sides[0].lstrip("-"), sides[1].lstrip("-")
        if pair in groups.setdefault(key, {}):
            raise ArmError(f"{where}: {pair[0]} / {pair[1]} stands twice; leave one out.")
        groups[key][pair] = sign * np.asarray(each["data"], complex)
    if not groups:
        raise ArmError(
            f"{path}: holds no frequency response (data set 58 of function type 4) among {len(sets)} sets."
        )
    made = []
    for key, pairs in groups.items():
        outputs = list(dict.fromkeys(output for output, _ in pairs))
        inputs = list(dict.fromkeys(into for _, into in pairs))
        hertz = axes[key]
        values = np.full((len(outputs), len(inputs), hertz.size), np.nan + 0j)
        for (output, into), data in pairs.items():
            values[outputs.index(output), inputs.index(into)] = data
        above = hertz > 0.0
        made.append(
            MeasuredResponse(
                hertz[above], values[..., above], inputs, outputs, key[0], settings=settings or {}
            )
        )
    return made


def _sides(where: str, each: Mapping[str, Any], arm: Any, places: Any) -> tuple[str, str]:
    """Return output and input port of a data set, from ``places`` or from the data set."""
    nodes = (
        (int(each["rsp_node"]), int(each["rsp_dir"])),
        (int(each["ref_node"]), int(each["ref_dir"])),
    )
    written = re.fullmatch(r"(\S+) / (\S+)", str(each.get("id2", "")).strip())
    found = []
    for side, node in enumerate(nodes):
        name = places.get(node)
        if (
            name is None and (node[0], -node[1]) in places
        ):  # the opposite direction along the same axis
            name = "-" + places[node[0], -node[1]]
            name = name.removeprefix("--")
        if name is None and written is not None:
            name = written[side + 1]
        if name is None:
            raise ArmError(
                f"{where}: does not say where node {node[0]}, direction {node[1]}, is; give "
                f"places={{({node[0]}, {node[1]}): 'tip.y'}}, on the command line --place {node[0]}:{node[1]}=tip.y."
            )
        port(name.lstrip("-"), arm)
        found.append(name)
    return found[0], found[1]
