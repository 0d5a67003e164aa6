"""Reading of moves from CSV files with times and joint angles in columns."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from jaxmodal.arm.documents import read_text
from jaxmodal.arm.file_kinds import MOVE, kind_of
from jaxmodal.arm.files import place_of
from jaxmodal.dynamics.drives.piecewise import PiecewisePolynomial, cubic_spline
from jaxmodal.runtime.errors import ArmError


def read_move(path: str | Path, num_joints: int | None = None) -> PiecewisePolynomial:
    """Read a move from a CSV file with one row per time: time in s, then the angle of each joint in degrees.

    Parameters
    ----------
    path
        Path of the file. The first row may be a header; lines that begin with ``#`` are ignored.
    num_joints
        Number of joints the file must have; not checked by default.

    Returns
    -------
    PiecewisePolynomial
        The spline through the rows, at rest at both ends (`cubic_spline`).

    Raises
    ------
    ArmError
        If the file cannot be read or a row is invalid; the message names the line.
    """
    place = str(path)
    text = read_text(place_of(path), ArmError, "give a CSV file of times and angles.")
    other = kind_of(text)
    if other is not None and other is not MOVE:
        raise ArmError(
            f"{place}: {other.instead_of('a move (CSV: times in s and angles in degrees)')}"
        )
    lines = [
        (number, row)
        for number, row in enumerate(csv.reader(text.splitlines()), start=1)
        if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")
    ]
    if lines and _numbers(lines[0][1]) is None:
        lines = lines[1:]
    rows: list[list[float]] = []
    for number, row in lines:
        values = _numbers(row)
        if values is None or not np.all(np.isfinite(values)):
            raise ArmError(
                f"{place}, line {number}: {','.join(row)!r} holds something other than finite numbers; must be a time "
                "in s and the angles of the joints in degrees, with commas between."
            )
        size = len(rows[0]) if rows else (num_joints + 1 if num_joints else len(values))
        if len(values) != size or size < 2:
            raise ArmError(
                f"{place}, line {number}: {len(values)} numbers; must be {max(size, 2)}, a time in s and "
                f"{max(size, 2) - 1} angles in degrees."
            )
        if rows and values[0] <= rows[-1][0]:
            raise ArmError(
                f"{place}, line {number}: time {values[0]:g} s; must be later than {rows[-1][0]:g} s, that of the row "
                "before."
            )
        rows.append(values)
    if len(rows) < 2:
        raise ArmError(
            f"{place}: {len(rows)} rows of numbers; must be at least two, each a time in s and angles in degrees."
        )
    table = np.array(rows)
    return cubic_spline(table[:, 0], np.radians(table[:, 1:]))


def _numbers(row: list[str]) -> list[float] | None:
    try:
        return [float(cell) for cell in row]
    except ValueError:
        return None
