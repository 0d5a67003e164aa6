"""Angles with a given frequency, and resonance maps, as tables for people and as labelled datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.frequencies.tables import certificate_text
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.statuses import status_variable
from jaxmodal.runtime.tables import Table, shortened
from jaxmodal.spatial.parts.parameters import describe_address, unit_of_address

if TYPE_CHECKING:
    import xarray

    from jaxmodal.postures.inverse import PosturesAt
    from jaxmodal.postures.resonance_results import ResonanceMap

#: digits behind the point of an angle in degrees
_ANGLE = "{:.6f}"


def postures_table(found: PosturesAt, title: str = "") -> Table:
    """Return the angles in degrees with mode and certificate."""
    angle = np.degrees(np.atleast_2d(np.asarray(found.angle)))
    mode, status = (np.atleast_2d(np.asarray(x)) for x in (found.mode, found.status))
    hertz = np.atleast_1d(np.asarray(found.omega)) / (2.0 * np.pi)
    hertz = np.broadcast_to(hertz, angle.shape[:1])
    many = np.ndim(found.angle) > 1
    rows = []
    for i, k in zip(*np.nonzero(np.isfinite(angle)), strict=True):
        own = [str(i + 1), f"{hertz[i]:.6g}"] if many else []
        texts = [_ANGLE.format(angle[i, k]), str(mode[i, k] or "?"), certificate_text(status[i, k])]
        rows.append([*own, *texts])
    count = len(rows) or "no"
    of = f"{len(angle)} frequencies and postures" if many else f"{hertz[0]:.6g} Hz"
    head = (
        title
        or f"{count} angle{'s' * (count != 1)} of joint {found.joint} with {of} ({found.theory})"
    )
    headings = [f"joint {found.joint} [°]", "mode", "certificate"]
    first = ["cell", "frequency [Hz]"] if many else []
    return Table(head, [*first, *headings], shortened(rows), (), ("certificate",))


def postures_dataset(found: PosturesAt) -> xarray.Dataset:
    """Return angles in degrees, modes and status; dims place, and cell for many arms."""
    import xarray

    dims = (*("cell",) * (np.ndim(found.angle) - 1), "place")
    angle, above = np.degrees(np.asarray(found.angle)), "natural frequencies up to just above"
    variables: dict[str, Any] = {
        "angle": variable(dims, angle, f"angle of joint {found.joint}", "degree"),
        "mode": variable(dims, found.mode, "number of the mode, 0 for no angle"),
        "count_below": variable(dims, found.count_below, "natural frequencies just below"),
        "count_above": variable(dims, found.count_above, above),
        "status": status_variable(dims, found.status),
        "frequency": in_hertz(dims[: np.ndim(found.omega)], found.omega, "frequency asked for"),
    }
    return xarray.Dataset(variables, attrs={"joint": found.joint, "theory": found.theory})


def resonance_tables(found: ResonanceMap, title: str = "") -> list[Table]:
    """Return the share of free postures and every border; for one joint the intervals to avoid as well."""
    hertz = np.asarray(found.band) / (2.0 * np.pi)
    share = 100.0 * float(np.mean(np.asarray(found.free)))
    border, mode = np.degrees(np.asarray(found.border)), np.asarray(found.border_mode)
    across, heading = row_values(found)
    end = np.asarray(found.end)
    head = title or f"{hertz[0]:.6g} to {hertz[1]:.6g} Hz ({found.theory})"
    count = int(np.isfinite(border).sum())
    certified = "all certified" if found.certified else "NOT all certified"
    within = limited(found)
    of = f"postures {within}" if within else "postures"
    notes = [f"{share:.2f} % of the {of} are free of resonance; {count} borders, {certified}"]
    if not found.across:
        spans = [f"{low:.1f}° to {high:.1f}°" for low, high in found.avoid]
        notes.append(f"avoid, of joint {found.joint}: {', '.join(spans) or 'nothing'}")
    rows = []
    for i, j in zip(*np.nonzero(np.isfinite(border)), strict=True):
        row = [f"{across[i]:.6g}"] if found.across else []
        number = str(mode[i, j]) if mode[i, j] > 0 else "? NOT certified"
        rows.append([*row, _ANGLE.format(border[i, j]), number, f"{hertz[end[i, j]]:.6g}"])
    headings = [f"joint {found.joint} [°]", "mode", "has [Hz]"]
    if found.across:
        headings = [heading, *headings]
    return [Table(head, (), (), notes), Table("borders", headings, shortened(rows))]


def row_values(found: ResonanceMap) -> tuple[np.ndarray, str]:
    """Values of the rows of a map as people read them, and what they are, with the unit."""
    values = np.asarray(found.across_angle)
    if isinstance(found.across, str):
        unit = unit_of_address(found.across)
        if unit == "rad":
            return np.degrees(values), f"{found.across} [°]"
        return values, found.across if unit == "1" else f"{found.across} [{unit}]"
    return np.degrees(values), f"joint {found.across} [°]"


def limited(found: ResonanceMap) -> str:
    """Within which limits the joint turns, in words; nothing for a full turn."""
    low, high = np.degrees(np.asarray(found.limits))
    return "" if high - low > 359.999 else f"within {low:g}° to {high:g}°"


def resonance_dataset(found: ResonanceMap) -> xarray.Dataset:
    """Return borders in degrees, and the number of natural frequencies in the band between them."""
    import xarray

    of_border, of_piece = ("row", "border"), ("row", "piece")
    ends = {"long_name": "end of the band", "flag_values": np.array([-1, 0, 1], np.int8)}
    ends["flag_meanings"] = "none lower upper"
    angle = np.degrees(np.asarray(found.border))
    variables: dict[str, Any] = {
        "border_angle": variable(
            of_border, angle, f"border, angle of joint {found.joint}", "degree"
        ),
        "end": (of_border, np.asarray(found.end, np.int8), ends),
        "border_mode": variable(of_border, found.border_mode, "mode at the border"),
        "modes_inside": variable(
            of_piece,
            found.modes_inside,
            "natural frequencies in the band between borders, -1 for no piece",
        ),
        "free": variable("row", found.free, "share of a turn that is free", "1"),
    }
    rows: dict[str, Any] = {}
    if isinstance(found.across, str):
        meaning, unit = describe_address(found.across), unit_of_address(found.across)
        rows = {"across_value": variable("row", found.across_angle, meaning, unit)}
    elif found.across:
        rows = {"across_angle": ("row", row_values(found)[0], {"units": "degree"})}
    band = (np.asarray(found.band) / (2.0 * np.pi)).tolist()
    attrs = {"band_hz": band, "joint": found.joint, "across": found.across, "theory": found.theory}
    attrs["limits_deg"] = np.degrees(np.asarray(found.limits)).tolist()
    return xarray.Dataset(variables, rows, attrs)
