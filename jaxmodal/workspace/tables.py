"""Tables and labelled datasets of extremes over ranges and of shares below a frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.addresses import full_address, joint_named
from jaxmodal.frequencies.tables import certificate_text, hertz_text
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.statuses import remarks_on, status_variable
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.parts.parameters import unit_of_address

if TYPE_CHECKING:
    import xarray

    from jaxmodal.arm.arm import Arm
    from jaxmodal.spatial.arms.arm import SpatialArm
    from jaxmodal.workspace.results import Extreme, Extremes, ShareBelow

#: climbs whose frequencies agree so far, relative, reached one
_SAME = 1e-6


def shown_value(address: str, value: float) -> float:
    """Text of a value; angles are in degrees."""
    return float(np.degrees(value)) if unit_of_address(address) == "rad" else value


def heading_of(address: str, arm: Arm | SpatialArm) -> str:
    """Parameter with its unit; joints by their names: ``elbow [°]``, ``theta_2 [°]``, ``payload.mass [kg]``."""
    full, unit = full_address(address), unit_of_address(address)
    link, _, field = full.partition(".")
    if name := joint_named(arm, full):
        address = name
    elif field == "joint_angle" and link[4:].isdigit():
        address = f"theta_{link[4:]}"
    return address if unit == "1" else f"{address} [{'°' if unit == 'rad' else unit}]"


def extremes_table(found: Extremes, title: str, digits: int) -> Table:
    """Return a row for each cell, with the starting cells, the local searches and the limits of the claim as notes."""
    sides = {"lowest": found.lowest, "highest": found.highest}
    rows = []
    for name, side in sides.items():
        values = zip(found.addresses, side.values.tolist(), strict=True)
        status = int(np.asarray(side.frequencies.status)[-1])
        rows.append(
            [
                name,
                hertz_text(side.frequency_hz, digits),
                certificate_text(status),
                *(f"{shown_value(address, value):.4f}" for address, value in values),
            ]
        )
    number = len(found.addresses)
    head = title or (
        f"mode {found.mode} over {number} range{'s' * (number > 1)} ({found.theory}): "
        f"{hertz_text(found.lowest.frequency_hz, digits)} to "
        f"{hertz_text(found.highest.frequency_hz, digits)} Hz"
    )
    headings = (
        "",
        "frequency [Hz]",
        "certificate",
        *(heading_of(address, found.lowest.arm) for address in found.addresses),
    )
    statuses = [np.asarray(side.frequencies.status)[-1] for side in sides.values()]
    notes = [_ranges(found), _starts(found, digits)]
    notes += [f"{name}, reached from {_climbs(side, digits)}" for name, side in sides.items()]
    notes += [
        "certified: that these postures have these frequencies; not claimed: that none has a lower or higher one"
    ]
    return Table(head, headings, rows, [*notes, *remarks_on(statuses)], ("", "certificate"))


def _ranges(found: Extremes) -> str:
    each = [
        f"{heading_of(address, found.lowest.arm)} {shown_value(address, low):.6g} to {shown_value(address, high):.6g}"
        for address, (low, high) in zip(found.addresses, found.ranges.tolist(), strict=True)
    ]
    return f"ranges: {', '.join(each)}"


def _starts(found: Extremes, digits: int) -> str:
    hertz = found.starts[np.isfinite(found.starts)] / (2.0 * np.pi)
    low, middle, high = (hertz_text(x, digits) for x in np.quantile(hertz, [0.0, 0.5, 1.0]))
    left = found.starts.size - hertz.size
    without = f"; {left:,} more are not certified, and were left out" if left else ""
    return f"starts: {hertz.size:,} spread evenly, {low} to {high} Hz, median {middle} Hz{without}"


def _climbs(side: Extreme, digits: int) -> str:
    """Text with the frequencies reached and the numbers of searches that reached them, best first."""
    hertz = side.reached / (2.0 * np.pi)
    groups: list[tuple[float, int]] = []
    for value in hertz.tolist():
        if groups and abs(value - groups[-1][0]) <= _SAME * value:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((value, 1))
    texts = [f"{hertz_text(value, digits)} ({count})" for value, count in groups]
    return f"the {hertz.size} best starts [Hz (starts)]: {', '.join(texts)}"


def extremes_dataset(found: Extremes) -> xarray.Dataset:
    """Return both cells, the results of the local searches and the starting cells; dims side, climb and start."""
    import xarray

    sides = (found.lowest, found.highest)
    status = np.array([np.asarray(side.frequencies.status)[-1] for side in sides])
    variables: dict[str, Any] = {
        "frequency": in_hertz(
            "side", [side.omega for side in sides], f"frequency of mode {found.mode}"
        ),
        "status": status_variable(("side",), status),
        "reached": in_hertz(
            ("side", "climb"), [side.reached for side in sides], "reached by a climb"
        ),
        "start_frequency": in_hertz("start", found.starts, "of a start, NaN if not certified"),
    }
    for i, address in enumerate(found.addresses):
        unit = unit_of_address(address)
        given = [shown_value(address, float(side.values[i])) for side in sides]
        name = joint_named(found.lowest.arm, full_address(address)) or address
        variables[address] = variable("side", given, name, "degree" if unit == "rad" else unit)
    attrs = {"mode": found.mode, "theory": found.theory}
    return xarray.Dataset(variables, {"side": ["lowest", "highest"]}, attrs)


def share_table(found: ShareBelow) -> Table:
    """Return the share with its error, and a note on its sample."""
    low, high = (100.0 * x for x in found.interval)
    head = (
        f"mode {found.mode} lies below {hertz_text(found.omega / (2.0 * np.pi))} Hz in {100.0 * found.share:.2f} % of "
        f"the ranges, standard error {100.0 * found.error:.2f} %, 95 % interval {low:.2f} to {high:.2f} % "
        f"({found.theory})"
    )
    left = found.samples - found.certified
    without = f"; {left:,} more are not certified, and were left out" if left else ""
    return Table(
        head,
        (),
        (),
        [f"of {found.certified:,} independent random postures, uniform over the ranges{without}"],
    )
