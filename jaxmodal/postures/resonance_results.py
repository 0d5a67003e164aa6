"""Borders of the postures with natural frequencies inside a band."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np

from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.postures.tables import resonance_dataset, resonance_tables
from jaxmodal.runtime.namespace import Array, to_host
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result, certified_where
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class ResonanceMap(Drawn, Result):
    """Exact borders of the postures with natural frequencies inside a band.

    A row for each angle of one joint, or for each value of any parameter; along it, another joint turns within its
    limits through pieces between borders, at which a natural frequency enters or leaves the band. B is the most borders
    that there may be: 8 in the plane, 16 in space.

    Attributes
    ----------
    across_angle : Array, shape (M,)
        Of the rows: angles of the joint ``across`` in rad, or values of the parameter ``across`` in its SI unit; one
        NaN if there is neither.
    border : Array, shape (M, B)
        Angles of ``joint`` at which an end of the band is a natural frequency, ascending in (-pi, pi], NaN beyond.
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
        Least and largest angle of ``joint``, rad.
    joint : int
        Number of the link whose joint turns along the rows.
    across : int or str
        Number of the link whose joint has an angle for each row, or the address of a parameter; 0 if there is none.
    theory : str
        Name of the theory.
    """

    picture: ClassVar[str] = "jaxmodal.plots.resonance_maps:draw_resonance_map"
    across_angle: Array
    border: Array
    end: Array
    border_mode: Array
    modes_inside: Array
    band: Array
    limits: Array
    joint: int = dataclasses.field(metadata={"static": True})
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
        """Intervals of ``joint``, degrees within its limits, with a natural frequency in the band; of the first row.

        Ends that lie at a border are exact; an interval that goes on across a limit or 180 degrees is cut there.
        """
        edges, inside = np.degrees(self._edges()[0]), np.asarray(self.modes_inside)[0]
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
        """Return borders (degrees) and counts as a dataset with dims row, border and piece."""
        return resonance_dataset(self)

    def _edges(self) -> np.ndarray:
        """Ends of the pieces, shape (M, B + 2); those that do not exist have no width."""
        border, (low, high) = to_host((self.border, self.limits))
        inner = np.where(np.isfinite(border), border, high)
        return np.pad(inner, ((0, 0), (1, 1)), constant_values=(low, high))

    def on_grid(self, angles: Any) -> np.ndarray:
        """Number of natural frequencies in the band at angles (P,) of ``joint`` within its limits, shape (M, P)."""
        given, (low, high) = real_array(angles, "angles"), np.asarray(self.limits).tolist()
        if given.ndim != 1 or not np.all((given >= low) & (given <= high)):
            raise ValueError(
                f"angles = {shown(angles)}: must be angles of joint {self.joint} in one row, within its limits from "
                f"{low:.6g} to {high:.6g} rad"
            )
        piece = np.sum(np.asarray(self.border)[:, :, None] < given, axis=1)
        return np.take_along_axis(np.asarray(self.modes_inside), piece, axis=1)
