"""Sweep definitions from TOML files, with every key checked; the built-in sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxmodal.arm.built_in import BuiltIn
from jaxmodal.arm.documents import check_document, check_keys, check_kind, parse_toml, table
from jaxmodal.arm.quantities import shown
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.files.named_arms import arm_of_entry
from sweeps.definition.axes import Axis, axis, geomspace, linspace, over_limits, zipped
from sweeps.definition.errors import SweepError, about
from sweeps.definition.random_designs import Range, random_design
from sweeps.definition.response import response_from_dict
from sweeps.definition.sweep import Sweep

_KEYS = ("name", "arm", "theories", "num_modes", "outputs", "sensitivity_to", "response", "axes")
_SPACES = {"linspace": linspace, "geomspace": geomspace}
_EXAMPLES = "see `jaxmodal sweep examples` for valid files."
_VALUE_KEYS = ("values", *_SPACES, "limits")
_AXIS_KEYS = ("parameter", "name", "unit", *_VALUE_KEYS)
_SPACE_KEYS = ("start", "stop", "num")
_SPACE_EXAMPLES = {
    "linspace": "{ start = 0, stop = 90, num = 7 }",
    "geomspace": "{ start = 1e3, stop = 1e6, num = 7 }",
    "limits": "{ num = 7 }",
}
_RANDOM_KEYS = ("method", "num", "seed", "ranges")
_RANGE_KEYS = ("parameter", "low", "high", "unit", "name", "scale")


_FILES = BuiltIn(("sweeps", "data"), "built-in sweep", SweepError)


def sweep_names() -> list[str]:
    """Return the names of the built-in sweeps, sorted."""
    return _FILES.names()


def sweep_text(name: str) -> str:
    """Return the TOML file of a built-in sweep, with its comments.

    Raises
    ------
    SweepError
        If there is no such sweep.
    """
    return _FILES.text(name)


def read_sweep(source: str | Path, *, points: int | None = None) -> Sweep:
    """Read the definition of a sweep.

    Parameters
    ----------
    source
        Path of a TOML file, or ``"example:NAME"`` for a built-in sweep.
    points
        Number of points of every linspace, geomspace and limits, instead of that in the file.

    Returns
    -------
    Sweep
        The validated definition. The path of an arm in the file is relative to the file.

    Raises
    ------
    SweepError
        If the file cannot be read or is not TOML, if a key is missing or unknown, or a value is not
        allowed. The message starts with the file and the axis.
    ArmError
        If the arm is invalid.

    Examples
    --------
    >>> read_sweep("example:three_link_posture_map").shape
    (256, 256)
    """
    text, place, folder = _FILES.source(source)
    with about(place, SweepError):
        document = parse_toml(text, SweepError, _EXAMPLES)
        return sweep_from_dict(document, folder=folder, points=points)


def sweep_from_dict(
    document: Mapping[str, Any], *, folder: str | Path = ".", points: int | None = None
) -> Sweep:
    """Return the sweep described by the plain tables of a sweep file.

    Parameters
    ----------
    document
        Mapping with the keys ``arm`` and ``axes``, and optionally ``name``, ``theories``, ``num_modes``,
        ``outputs``, ``sensitivity_to`` and ``response``. ``arm`` is a path, ``"example:NAME"`` or the tables of
        an arm file.
    folder
        Folder to which the path of an arm is relative.
    points
        As in `read_sweep`.

    Raises
    ------
    SweepError, ArmError
        As for `read_sweep`.
    """
    check_document(document, SweepError)
    check_kind(document, "axes", SweepError)
    check_keys(table("a sweep", document, SweepError), _KEYS, ("arm", "axes"), SweepError)
    arm = arm_of_entry(document["arm"], folder, SweepError)
    entries = document["axes"]
    if not isinstance(entries, list) or not entries:
        raise SweepError("axes: must be one table or more; start each axis with a line [[axes]].")
    axes = []
    for number, entry in enumerate(entries, start=1):
        with about(f"axes[{number}]", SweepError):
            axes.append(_axis(arm, entry, points))
    keys = ("theories", "num_modes", "outputs", "sensitivity_to", "name")
    options = {key: document[key] for key in keys if key in document}
    if "response" in document:
        options["response"] = response_from_dict(document["response"])
    return Sweep(arm, axes, **options)


def _axis(arm: AnyArm, entry: object, points: int | None) -> Axis:
    keys = table("an axis", entry, SweepError)
    if "zip" in keys:
        check_keys(keys, ("name", "zip"), ("name",), SweepError)
        parts = keys["zip"]
        if not isinstance(parts, list):
            raise SweepError(
                f"zip = {shown(parts)}: must be a list of tables, one for each parameter."
            )
        return zipped(*(_plain_axis(arm, part, points) for part in parts), name=keys["name"])
    if "random" in keys:
        return _random_axis(keys)
    return _plain_axis(arm, keys, points)


def _plain_axis(arm: AnyArm, entry: object, points: int | None) -> Axis:
    keys = table("an axis", entry, SweepError)
    known = (*_AXIS_KEYS, "zip", "random")
    for key in keys:
        plain = str(key).removesuffix("_deg")
        if key not in known and plain in _VALUE_KEYS:
            raise SweepError(
                f'{key} = {shown(keys[key])}: is not a known key; write {plain}, and unit = "degree" beside it.'
            )
    check_keys(keys, known, ("parameter",), SweepError)
    given = [key for key in _VALUE_KEYS if key in keys]
    if len(given) != 1:
        had = f"{' and '.join(given)} are given" if given else "none is given"
        raise SweepError(f"one of {', '.join(_VALUE_KEYS)} is needed, {had}.")
    names = {key: keys[key] for key in ("unit", "name") if key in keys}
    if given == ["values"]:
        return axis(keys["parameter"], keys["values"], **names)
    if not isinstance(keys[given[0]], Mapping):
        raise SweepError(
            f"{given[0]} = {shown(keys[given[0]])}: must be a table such as {_SPACE_EXAMPLES[given[0]]}; "
            "numbers one by one are values = [...]."
        )
    space = dict(keys[given[0]])
    if points is not None:
        space["num"] = points
    if given == ["limits"]:
        check_keys(space, ("num",), ("num",), SweepError)
        return over_limits(arm, keys["parameter"], space["num"], **names)
    check_keys(space, _SPACE_KEYS, _SPACE_KEYS, SweepError)
    make = _SPACES[given[0]]
    return make(keys["parameter"], space["start"], space["stop"], space["num"], **names)


def _random_axis(keys: Mapping[str, Any]) -> Axis:
    check_keys(keys, ("name", "random"), (), SweepError)
    random = table("random", keys["random"], SweepError)
    check_keys(random, _RANDOM_KEYS, ("num", "seed", "ranges"), SweepError)
    entries = random["ranges"]
    if not isinstance(entries, list):
        raise SweepError(
            f"ranges = {shown(entries)}: must be a list of tables, one for each parameter."
        )
    ranges = []
    for entry in entries:
        part = table("a range", entry, SweepError)
        check_keys(part, _RANGE_KEYS, ("parameter", "low", "high"), SweepError)
        ranges.append(Range(**part))
    options = {key: random[key] for key in ("num", "seed", "method") if key in random}
    if "name" in keys:
        options["name"] = keys["name"]
    return random_design(ranges, **options)
