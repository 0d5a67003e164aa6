"""Reading of measurements from CSV files; errors name the line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.documents import read_text
from jaxmodal.arm.file_kinds import MEASUREMENTS, UNIVERSAL, kind_of
from jaxmodal.arm.files import place_of
from jaxmodal.identification.measurements import Measured, MeasuredModes, MeasuredResponse
from jaxmodal.response.driven.ports import port
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.parts.parameters import unit_of_address

_MODES = ("frequency_hz", "standard_deviation_hz", "mode", "measurement")
_RESPONSE = (
    *("frequency_hz", "real", "imaginary", "standard_deviation"),
    *("input", "output", "quantity", "measurement"),
)
_ABOVE = ("frequency_hz", "standard_deviation_hz", "standard_deviation")
_WORDS = ("input", "output", "quantity", "measurement")


def read_measurements(path: str | Path, arm: Any) -> list[Measured]:
    """Read measured frequencies or frequency responses from a CSV file.

    Parameters
    ----------
    path
        Path of the file. The first row is the header; lines that begin with ``#`` are ignored. Columns for frequencies
        are ``frequency_hz`` and optionally ``standard_deviation_hz``, ``mode`` (the number), ``measurement`` (a name)
        and names of ports, with the mode shape there. Columns for responses are ``frequency_hz``, ``real``,
        ``imaginary``, ``input`` and ``output`` and optionally ``standard_deviation``, ``quantity`` (by default a
        receptance) and ``measurement``. Every other column is an address with its value during the measurement, in SI
        units, or in degrees if the name ends in ``_deg``: ``theta_2_deg``.
    arm
        The arm to which the addresses and ports belong.

    Returns
    -------
    list of MeasuredModes or MeasuredResponse
        One item for all rows with the same settings and name.

    Raises
    ------
    ArmError
        If the file cannot be read, or a row is invalid; the message names the line.
    """
    place = str(path)
    text = read_text(place_of(path), ArmError, "give a CSV file of measurements.")
    other = kind_of(text)
    if other is UNIVERSAL:
        raise ArmError(f"{place}: is {other.what}; give it under a name that ends in .uff or .unv.")
    if other is not None and other is not MEASUREMENTS:
        raise ArmError(
            f"{place}: {other.instead_of('a table of measurements', ' (CSV, with the heading frequency_hz)')}"
        )
    lines = [
        (number, [cell.strip() for cell in row])
        for number, row in enumerate(csv.reader(text.splitlines()), start=1)
        if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")
    ]
    if len(lines) < 2:
        raise ArmError(f"{place}: has no row of values; must be headings and a row for each value.")
    (at, headings), *rows = lines
    kind = _RESPONSE if "real" in headings else _MODES
    with within(f"{place}, line {at}: "):
        places, settings = _columns(headings, kind, arm)
    groups: dict[tuple[Any, ...], list[tuple[int, dict[str, Any]]]] = {}
    for number, row in rows:
        with within(f"{place}, line {number}: "):
            if len(row) != len(headings):
                raise ArmError(f"{len(row)} values; must be {len(headings)}, one for each heading.")
            cells: dict[str, Any] = {
                name: cell if name in _WORDS else _number(name, cell)
                for name, cell in zip(headings, row, strict=True)
                if cell or name not in kind or name == "frequency_hz"
            }
            if kind is _RESPONSE:
                for name in ("input", "output", "real", "imaginary"):
                    if name not in cells:
                        raise ArmError(f"{name}: is empty; must be given in each row of responses.")
            group = (
                cells.get("measurement", ""),
                *((settings[name], _si(name, cells[name])) for name in settings),
                *((cells.get("quantity", "receptance"),) if kind is _RESPONSE else ()),
            )
            groups.setdefault(group, []).append((number, cells))
    made = []
    for group, members in groups.items():
        set_there: dict[str, float] = dict(part for part in group if isinstance(part, tuple))
        first, last = members[0][0], members[-1][0]
        with within(f"{place}, lines {first} to {last}: "):
            made.append(
                _response(members, set_there, str(group[0]))
                if kind is _RESPONSE
                else _modes(members, set_there, str(group[0]), places)
            )
    return made


def _columns(
    headings: list[str], kind: tuple[str, ...], arm: Any
) -> tuple[list[str], dict[str, str]]:
    """Return the columns that are ports, and the columns that set an address, with that address."""
    if len(set(headings)) < len(headings):
        twice = next(name for name in headings if headings.count(name) > 1)
        raise ArmError(f"heading {twice!r} stands twice; give it once.")
    needed = ("frequency_hz", "imaginary", "input", "output") if kind is _RESPONSE else kind[:1]
    for name in needed:
        if name not in headings:
            raise ArmError(
                f"there is no heading {name!r} in {','.join(headings)!r}; must be headings such as {', '.join(kind)} "
                "and addresses that were set, with commas between."
            )
    places, settings = [], {}
    for name in headings:
        if name in kind:
            continue
        address = name.removesuffix("_deg")
        try:
            units = {unit_of_address(single, arm) for single in resolve_address(arm, address)}
        except ArmError as error:
            try:
                if kind is _RESPONSE:
                    raise error
                port(name, arm)
            except ArmError:
                raise ArmError(
                    f"heading {name!r}: is none of {', '.join(kind)}, no address that can be set and no port. {error}"
                ) from error
            places.append(name)
        else:
            if name != address and units != {"rad"}:
                raise ArmError(
                    f"heading {name!r}: {address} is no angle, its unit is {', '.join(sorted(units))}; leave _deg away."
                )
            settings[name] = address
    return places, settings


def _number(name: str, cell: str) -> float:
    try:
        value = float(cell) if cell.isascii() else np.nan
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ArmError(f"{name} = {cell!r}: must be a finite number.")
    if name in _ABOVE and not value > 0.0:
        raise ArmError(f"{name} = {cell}: must be greater than 0.")
    return value


def _si(name: str, value: float) -> float:
    return float(np.radians(value)) if name.endswith("_deg") else value


def _all_or_none(name: str, members: list[tuple[int, dict[str, Any]]]) -> list[Any] | None:
    """Return the values of a column; None if no row has one. A mixture is an error."""
    given = [name in cells for _, cells in members]
    if not any(given):
        return None
    if not all(given):
        raise ArmError(
            f"{name}: is empty in line {members[given.index(False)][0]}; give it in all rows of a measurement or "
            "in none."
        )
    return [cells[name] for _, cells in members]


def _modes(
    members: list[tuple[int, dict[str, Any]]],
    settings: dict[str, float],
    name: str,
    places: list[str],
) -> MeasuredModes:
    numbers = _all_or_none("mode", members)
    if numbers is not None:
        numbers = [int(each) if float(each).is_integer() else each for each in numbers]
    return MeasuredModes(
        [cells["frequency_hz"] for _, cells in members],
        _all_or_none("standard_deviation_hz", members),
        numbers,
        settings,
        [[cells[each] for each in places] for _, cells in members] if places else None,
        places,
        name,
    )


def _response(
    members: list[tuple[int, dict[str, Any]]], settings: dict[str, float], name: str
) -> MeasuredResponse:
    rows = [cells for _, cells in members]
    hertz = sorted({cells["frequency_hz"] for cells in rows})
    inputs = list(dict.fromkeys(cells["input"] for cells in rows))
    outputs = list(dict.fromkeys(cells["output"] for cells in rows))
    values = np.full((len(outputs), len(inputs), len(hertz)), np.nan + 0j)
    spread = np.ones(values.shape)
    known = _all_or_none("standard_deviation", members) is not None
    where = {value: k for k, value in enumerate(hertz)}
    for number, cells in members:
        at = (
            outputs.index(cells["output"]),
            inputs.index(cells["input"]),
            where[cells["frequency_hz"]],
        )
        if np.isfinite(values[at]):
            raise ArmError(
                f"line {number}: {cells['output']} / {cells['input']} at {cells['frequency_hz']:g} Hz stands twice; "
                "give it once."
            )
        values[at] = complex(cells["real"], cells["imaginary"])
        spread[at] = cells["standard_deviation"] if known else 1.0
    quantity = rows[0].get("quantity", "receptance")
    return MeasuredResponse(
        *(hertz, values, inputs, outputs, quantity, spread if known else None, settings, name)
    )
