"""Sweep definitions in TOML files, every key checked; the built-in sweeps."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from jaxmodal.arm import Arm
from jaxmodal.arm_files import arm_from_dict
from jaxmodal.errors import ArmError, suggestion
from sweeps.axes import Axis, Range, axis, geomspace, linspace, random_design, zipped
from sweeps.definition import EXAMPLE_PREFIX, Sweep
from sweeps.errors import SweepError

_KEYS = ("name", "arm", "theories", "num_modes", "outputs", "axes")
_SPACES = {"linspace": linspace, "geomspace": geomspace}
_VALUE_KEYS = ("values", *_SPACES)
_AXIS_KEYS = ("parameter", "name", "unit", *_VALUE_KEYS)
_SPACE_KEYS = ("start", "stop", "num")
_RANDOM_KEYS = ("method", "num", "seed", "ranges")
_RANGE_KEYS = ("parameter", "low", "high", "unit", "name", "scale")


def sweep_names() -> list[str]:
    """Return the names of the built-in sweeps, sorted."""
    files = resources.files("sweeps").joinpath("data").iterdir()
    return sorted(file.name[: -len(".toml")] for file in files if file.name.endswith(".toml"))


def sweep_text(name: str) -> str:
    """Return the TOML file of a built-in sweep, with its comments.

    Raises
    ------
    SweepError
        If there is no such sweep.
    """
    if name not in sweep_names():
        raise SweepError(
            f"built-in sweep {name!r} is unknown; known are {', '.join(sweep_names())}."
            f"{suggestion(name, sweep_names())}"
        )
    return resources.files("sweeps").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")


def read_sweep(source: str | Path, *, points: int | None = None) -> Sweep:
    """Read the definition of a sweep.

    Parameters
    ----------
    source
        Path of a TOML file, or ``"example:NAME"`` for a built-in sweep.
    points
        Number of points for every linspace and geomspace in place of the file's own.

    Returns
    -------
    Sweep
        The validated definition. A path of an arm in the file is relative to the file.

    Raises
    ------
    SweepError
        If the file cannot be read or is not TOML, if a key is missing or unknown, or a value is not
        allowed. The message starts with the file and the axis.
    ArmError
        If the arm is wrong.

    Examples
    --------
    >>> read_sweep("example:three_link_posture_map").shape
    (256, 256)
    """
    text, place, folder = _text(source)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SweepError(f"{place}: is not TOML: {error}.") from error
    try:
        return sweep_from_dict(document, folder=folder, points=points)
    except SweepError as error:
        raise SweepError(f"{place}: {error}") from error


def _text(source: str | Path) -> tuple[str, str, Path]:
    if isinstance(source, str) and source.startswith(EXAMPLE_PREFIX):
        return sweep_text(source.removeprefix(EXAMPLE_PREFIX)), source, Path()
    path = Path(source)
    try:
        return path.read_bytes().decode("utf-8-sig"), str(path), path.parent
    except OSError as error:
        hint = ""
        if str(source) in sweep_names():
            hint = f" For the built-in sweep of this name write {EXAMPLE_PREFIX}{source}."
        reason = error.strerror or str(error)
        raise SweepError(f"{path}: cannot be read ({reason}); give a TOML file.{hint}") from error
    except UnicodeDecodeError as error:
        raise SweepError(f"{path}: is not text in UTF-8; give a TOML file.") from error


def sweep_from_dict(
    document: Mapping[str, Any], *, folder: str | Path = ".", points: int | None = None
) -> Sweep:
    """Return the sweep that the plain tables of a sweep file describe.

    Parameters
    ----------
    document
        Mapping with the keys ``arm`` and ``axes``, and optionally ``name``, ``theories``, ``num_modes``
        and ``outputs``. ``arm`` is a path, ``"example:NAME"`` or the tables of an arm file.
    folder
        Folder that a path of an arm is relative to.
    points
        As in `read_sweep`.

    Raises
    ------
    SweepError, ArmError
        As `read_sweep`.
    """
    _check_keys(document, _KEYS, ("arm", "axes"))
    entries = document["axes"]
    if not isinstance(entries, list) or not entries:
        raise SweepError("axes: must be one table or more; start each axis with a line [[axes]].")
    axes = []
    for number, entry in enumerate(entries, start=1):
        try:
            axes.append(_axis(entry, points))
        except SweepError as error:
            raise SweepError(f"axes[{number}]: {error}") from error
    keys = ("theories", "num_modes", "outputs", "name")
    options = {key: document[key] for key in keys if key in document}
    for key in ("theories", "outputs"):
        if not isinstance(options.get(key, []), (list, str)):
            raise SweepError(f"{key} = {options[key]!r}: must be a list of names.")
    if isinstance(options.get("outputs"), str):
        options["outputs"] = [options["outputs"]]
    return Sweep(_arm(document["arm"], Path(folder)), axes, **options)


def _arm(entry: object, folder: Path) -> Arm | str | Path:
    if isinstance(entry, Mapping):
        try:
            return arm_from_dict(entry)
        except ArmError as error:
            raise SweepError(f"arm: {error}") from error
    if isinstance(entry, str) and not entry.startswith(EXAMPLE_PREFIX):
        path = folder / entry
        return path if path.exists() else entry
    return entry  # type: ignore[return-value]  # judged by Sweep


def _axis(entry: object, points: int | None) -> Axis:
    table = _table("an axis", entry)
    if "zip" in table:
        _check_keys(table, ("name", "zip"), ("name",))
        parts = table["zip"]
        if not isinstance(parts, list):
            raise SweepError(f"zip = {parts!r}: must be a list of tables, one for each parameter.")
        return zipped(*(_plain_axis(part, points) for part in parts), name=table["name"])
    if "random" in table:
        return _random_axis(table)
    return _plain_axis(table, points)


def _plain_axis(entry: object, points: int | None) -> Axis:
    table = _table("an axis", entry)
    known = (*_AXIS_KEYS, "zip", "random")
    _check_keys(table, known, ("parameter",))
    given = [key for key in _VALUE_KEYS if key in table]
    if len(given) != 1:
        had = f"{' and '.join(given)} are given" if given else "none is given"
        raise SweepError(f"one of {', '.join(_VALUE_KEYS)} is needed, {had}.")
    names = {key: table[key] for key in ("unit", "name") if key in table}
    if given == ["values"]:
        return axis(table["parameter"], table["values"], **names)
    space = dict(_table(given[0], table[given[0]]))
    if points is not None:
        space["num"] = points
    _check_keys(space, _SPACE_KEYS, _SPACE_KEYS)
    make = _SPACES[given[0]]
    return make(table["parameter"], space["start"], space["stop"], space["num"], **names)


def _random_axis(table: Mapping[str, Any]) -> Axis:
    _check_keys(table, ("name", "random"))
    random = _table("random", table["random"])
    _check_keys(random, _RANDOM_KEYS, ("num", "seed", "ranges"))
    entries = random["ranges"]
    if not isinstance(entries, list):
        raise SweepError(f"ranges = {entries!r}: must be a list of tables, one for each parameter.")
    ranges = []
    for entry in entries:
        part = _table("a range", entry)
        _check_keys(part, _RANGE_KEYS, ("parameter", "low", "high"))
        ranges.append(Range(**part))
    options = {key: random[key] for key in ("method",) if key in random}
    if "name" in table:
        options["name"] = table["name"]
    return random_design(ranges, random["num"], seed=random["seed"], **options)


def _table(what: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SweepError(f"{what} = {value!r}: must be a table of keys and values.")
    return value


def _check_keys(
    table: Mapping[str, Any], known: Iterable[str], required: Iterable[str] = ()
) -> None:
    known = list(known)
    for key in table:
        if key not in known:
            raise SweepError(
                f"{key!r} is not a known key; known are {', '.join(known)}."
                f"{suggestion(str(key), known)}"
            )
    for key in required:
        if key not in table:
            raise SweepError(f"{key!r} is missing; add it (required are {', '.join(required)}).")
