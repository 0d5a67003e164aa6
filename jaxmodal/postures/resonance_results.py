"""Borders of the postures with natural frequencies inside a band."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.postures.readings import as_read, cell_text, described, heading
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.namespace import Array, to_host
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result, certified_where
from jaxmodal.runtime.tables import Table, shortened
from jaxmodal.spatial.parts.parameters import describe_address, unit_of_address

if TYPE_CHECKING:
    import xarray


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class ResonanceMap(Drawn, Result):
    """Exact borders of the postures with natural frequencies inside a band.

    A row for each angle of one joint, or for each value of any parameter; along it, another joint turns, or a mass or a
    spring varies, within its limits through pieces between borders, at which a natural frequency enters or leaves the
    band. B is the most borders that there may be: 8 in the plane, 16 in space, of a value twice the determinant's
    degree.

    Attributes
    ----------
    across_angle : Array, shape (M,)
        Of the rows: angles of the joint ``across`` in rad, or values of the parameter ``across`` in its SI unit; one
        NaN if there is neither.
    border : Array, shape (M, B)
        Angles of ``joint`` at which an end of the band is a natural frequency, ascending in (-pi, pi], or values in SI
        units, NaN beyond.
    end : Array, shape (M, B)
        Which end: 0 the lower, 1 the upper, -1 beyond the last border.
    border_mode : Array, shape (M, B)
        Number of the mode that has that frequency, from 1; 0 where it is not certified.
    modes_inside : Array, shape (M, B + 1)
        Number of natural frequencies in the band before the first border, between borders and after the
        last; -1 beyond. Zero is free of resonance.
    band : Array, shape (2,)
        Ends of the band in rad/s.
    limits : Array, shape (2,)
        Least and largest angle of ``joint``, rad, or value.
    joint : int or str
        Number of the link whose joint turns along the rows, or the address of the value that varies along them.
    across : int or str
        Number of the link whose joint has an angle for each row, or the address of a parameter; 0 if there is none.
    theory : str
        Name of the theory.
    """

    across_angle: Array
    border: Array
    end: Array
    border_mode: Array
    modes_inside: Array
    band: Array
    limits: Array
    joint: int | str = dataclasses.field(metadata={"static": True})
    across: int | str = dataclasses.field(metadata={"static": True})
    theory: TheoryName = dataclasses.field(metadata={"static": True})

    @property
    def status(self) -> Any:
        """`Status` codes of the rows, shape (M,): certified where the counts confirm every border."""
        return certified_where(
            np.all((np.asarray(self.border_mode) > 0) | ~np.isfinite(self.border), axis=-1)
        )

    @property
    def certified(self) -> bool:
        """True when the counts confirm every border."""
        return self.ok

    @property
    def free(self) -> Array:
        """Share of the range of ``joint`` without a natural frequency in the band, by row, shape (M,)."""
        edges, (inside, (low, high)) = self._edges(), to_host((self.modes_inside, self.limits))
        widths = np.where(inside == 0, edges[:, 1:] - edges[:, :-1], 0.0)
        return jax.device_put(np.sum(widths, axis=1) / (high - low))

    @property
    def avoid(self) -> list[tuple[float, float]]:
        """Intervals of ``joint``, in degrees or SI units, with a natural frequency in the band; of the first row.

        Ends that lie at a border are exact; an interval that goes on across a limit or 180 degrees is cut there.
        """
        edges, inside = as_read(self.joint, self._edges()[0]), np.asarray(self.modes_inside)[0]
        found: list[tuple[float, float]] = []
        for low, high, count in zip(edges[:-1], edges[1:], inside, strict=True):
            if count > 0 and found and found[-1][1] == low:
                found[-1] = (found[-1][0], float(high))
            elif count > 0:
                found.append((float(low), float(high)))
        return found

    def tables(self) -> list[Table]:
        """Return the share of free postures, and of an arm with one joint the angles to avoid and every border."""
        return resonance_tables(self)

    def to_xarray(self) -> xarray.Dataset:
        """Return borders (degrees, or values) and counts as a dataset with dims row, border and piece."""
        import xarray

        of_border, of_piece = ("row", "border"), ("row", "piece")
        ends = {"long_name": "end of the band", "flag_values": np.array([-1, 0, 1], np.int8)}
        ends["flag_meanings"] = "none lower upper"
        named, meaning, unit = described(self.joint)
        border = as_read(self.joint, self.border)
        range_of = "the range" if isinstance(self.joint, str) else "a turn"
        variables: dict[str, Any] = {
            f"border_{named}": variable(of_border, border, f"border, {meaning}", unit),
            "end": (of_border, np.asarray(self.end, np.int8), ends),
            "border_mode": variable(of_border, self.border_mode, "mode at the border"),
            "modes_inside": variable(
                of_piece,
                self.modes_inside,
                "natural frequencies in the band between borders, -1 for no piece",
            ),
            "free": variable("row", self.free, f"share of {range_of} that is free", "1"),
        }
        rows: dict[str, Any] = {}
        if isinstance(self.across, str):
            meaning, unit = describe_address(self.across), unit_of_address(self.across)
            rows = {"across_value": variable("row", self.across_angle, meaning, unit)}
        elif self.across:
            rows = {"across_angle": ("row", row_values(self)[0], {"units": "degree"})}
        band = (np.asarray(self.band) / (2.0 * np.pi)).tolist()
        attrs = {"band_hz": band, "joint": self.joint, "across": self.across, "theory": self.theory}
        limits = "limits" if isinstance(self.joint, str) else "limits_deg"
        attrs[limits] = as_read(self.joint, self.limits).tolist()
        return xarray.Dataset(variables, rows, attrs)

    def _edges(self) -> np.ndarray:
        """Ends of the pieces, shape (M, B + 2); those that do not exist have no width."""
        border, (low, high) = to_host((self.border, self.limits))
        inner = np.where(np.isfinite(border), border, high)
        return np.pad(inner, ((0, 0), (1, 1)), constant_values=(low, high))

    def on_grid(self, angles: Any) -> np.ndarray:
        """Number of natural frequencies in the band at angles or values (P,) of ``joint`` within limits, (M, P)."""
        given, (low, high) = real_array(angles, "angles"), np.asarray(self.limits).tolist()
        if given.ndim != 1 or not np.all((given >= low) & (given <= high)):
            what, unit = f"angles of joint {self.joint}", "rad"
            if isinstance(self.joint, str):
                what, unit = f"values of {self.joint}", unit_of_address(self.joint)
            raise ValueError(
                f"angles = {shown(angles)}: must be {what} in one row, within its limits from {low:.6g} to {high:.6g} "
                f"{unit}"
            )
        piece = np.sum(np.asarray(self.border)[:, :, None] < given, axis=1)
        return np.take_along_axis(np.asarray(self.modes_inside), piece, axis=1)


def resonance_tables(found: ResonanceMap, title: str = "") -> list[Table]:
    """Return the share of free postures and every border; for one row the intervals to avoid as well."""
    hertz = np.asarray(found.band) / (2.0 * np.pi)
    share = 100.0 * float(np.mean(np.asarray(found.free)))
    border, mode = as_read(found.joint, found.border), np.asarray(found.border_mode)
    across, of_rows = row_values(found)
    end = np.asarray(found.end)
    head = title or f"{hertz[0]:.6g} to {hertz[1]:.6g} Hz ({found.theory})"
    count = int(np.isfinite(border).sum())
    certified = "all certified" if found.certified else "NOT all certified"
    within, of_value = limited(found), isinstance(found.joint, str)
    of = "map" if of_value else f"postures {within}" if within else "postures"
    are = "is" if of_value else "are"
    notes = [f"{share:.2f} % of the {of} {are} free of resonance; {count} borders, {certified}"]
    if not found.across:
        ends = "{:.6g} to {:.6g}" if of_value else "{:.1f}° to {:.1f}°"
        spans = ", ".join(ends.format(*span) for span in found.avoid)
        what = found.joint if of_value else f"joint {found.joint}"
        notes.append(f"avoid, of {what}: {spans or 'nothing'}")
    rows = []
    for i, j in zip(*np.nonzero(np.isfinite(border)), strict=True):
        row = [f"{across[i]:.6g}"] if found.across else []
        number = str(mode[i, j]) if mode[i, j] > 0 else "? NOT certified"
        text = cell_text(found.joint, border[i, j])
        rows.append([*row, text, number, f"{hertz[end[i, j]]:.6g}"])
    headings = [heading(found.joint), "mode", "has [Hz]"]
    if found.across:
        headings = [of_rows, *headings]
    return [Table(head, (), (), notes), Table("borders", headings, shortened(rows))]


def row_values(found: ResonanceMap) -> tuple[np.ndarray, str]:
    """Values of the rows of a map as people read them, and what they are, with the unit."""
    return as_read(found.across, found.across_angle), heading(found.across)


def limited(found: ResonanceMap) -> str:
    """Within which limits the joint turns, or the value is, in words; nothing for a full turn."""
    low, high = as_read(found.joint, found.limits)
    if isinstance(found.joint, str):
        return f"from {low:g} to {high:g} {unit_of_address(found.joint)}"
    return "" if high - low > 359.999 else f"within {low:g}° to {high:g}°"
