"""Where in the workspace of an arm a band of excitation meets no natural frequency."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import is_whole, real_array, real_number
from jaxmodal.arm.arm import Arm, require_planar
from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import Theory, prepared_values
from jaxmodal.postures.harmonics import determinant
from jaxmodal.postures.inverse import postures_at
from jaxmodal.postures.tables import resonance_dataset, resonance_tables
from jaxmodal.postures.trigonometric_zeros import MOST_ANGLES
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.tables import ShowsDatasets, Table

if TYPE_CHECKING:
    import xarray

#: most borders along one row: the angles of both ends of the band
_BORDERS = 2 * MOST_ANGLES


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class ResonanceMap(Drawn, ShowsDatasets):
    """Exact borders of the postures with natural frequencies inside a band.

    A row for each angle of one joint; along it, the other joint turns from -pi to pi through pieces
    between borders, at which a natural frequency enters or leaves the band.

    Attributes
    ----------
    across_angle : Array, shape (M,)
        Angles of the joint ``across`` in rad; one NaN if there is no such joint.
    border : Array, shape (M, 8)
        Angles of ``joint`` at which an end of the band is a natural frequency, ascending in (-pi, pi], NaN beyond.
    end : Array, shape (M, 8)
        Which end: 0 the lower, 1 the upper, -1 beyond the last border.
    border_mode : Array, shape (M, 8)
        Number of the mode that has that frequency, from 1; 0 where it is not certified.
    modes_inside : Array, shape (M, 9)
        Number of natural frequencies in the band before the first border, between borders and after the
        last; -1 beyond. Zero is free of resonance.
    band : Array, shape (2,)
        Ends of the band in rad/s.
    joint, across : int
        Numbers of the links whose joints turn; ``across`` is 0 if there is none.
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
    joint: int = dataclasses.field(metadata={"static": True})
    across: int = dataclasses.field(metadata={"static": True})
    theory: str = dataclasses.field(metadata={"static": True})

    @property
    def certified(self) -> bool:
        """True when the counts confirm every border."""
        return bool(jnp.all((self.border_mode > 0) | ~jnp.isfinite(self.border)))

    @property
    def free(self) -> Array:
        """Share of a turn of ``joint`` without a natural frequency in the band, by row, shape (M,)."""
        edges = self._edges()
        widths = jnp.where(self.modes_inside == 0, edges[:, 1:] - edges[:, :-1], 0.0)
        return jnp.sum(widths, axis=1) / (2.0 * math.pi)

    @property
    def avoid(self) -> list[tuple[float, float]]:
        """Intervals of ``joint``, degrees in [-180, 180], with a natural frequency in the band; of the first row.

        Ends that lie at a border are exact; an interval that goes on across 180 degrees is cut there.
        """
        edges, inside = np.degrees(np.asarray(self._edges())[0]), np.asarray(self.modes_inside)[0]
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

    def _edges(self) -> Array:
        """Ends of the pieces, shape (M, 10); those that do not exist have no width."""
        inner = jnp.where(jnp.isfinite(self.border), self.border, math.pi)
        rows = inner.shape[0]
        return jnp.concatenate(
            [jnp.full((rows, 1), -math.pi), inner, jnp.full((rows, 1), math.pi)], axis=1
        )

    def on_grid(self, angles: Any) -> np.ndarray:
        """Number of natural frequencies in the band at angles (P,) of ``joint`` in [-pi, pi], shape (M, P)."""
        piece = np.sum(np.asarray(self.border)[:, :, None] < real_array(angles, "angles"), axis=1)
        return np.take_along_axis(np.asarray(self.modes_inside), piece, axis=1)


def resonance_free(
    arm: Arm,
    omega_min: float,
    omega_max: float,
    joint: int = 2,
    across: int | None = None,
    points: int = 181,
    theory: str = "timoshenko",
) -> ResonanceMap:
    """Postures of an arm whose natural frequencies stay out of a band, with exact borders.

    Parameters
    ----------
    arm : Arm
        The arm, of at least two links; joints that do not turn keep its angles.
    omega_min, omega_max : float
        Ends of the band in rad/s, 0 < omega_min < omega_max.
    joint : int
        The joint (2 to n) along which borders are solved for.
    across : int, optional
        The joint of the rows; by default the next one, or joint 2 after the last. Two-link arms have none.
    points : int
        Number of rows, evenly spaced from -pi to pi.
    theory : str
        As for `natural_frequencies`.

    Returns
    -------
    ResonanceMap
        Borders by row, and the number of natural frequencies in the band between them.

    Raises
    ------
    ValueError
        The band is empty or not finite, or a joint is not one of the arm's, or both are the same.

    Examples
    --------
    >>> import numpy as np
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> found = resonance_free(arm, 2 * np.pi * 0.21, 2 * np.pi * 0.24)
    >>> np.degrees(found.border[0, :4]).round(2).tolist(), found.modes_inside[0, :5].tolist()
    ([-82.0, -42.14, 42.14, 82.0], [0, 1, 0, 1, 0])
    """
    require_planar(arm)
    low = real_number(omega_min, "omega_min", "in rad/s")
    high = real_number(omega_max, "omega_max", "in rad/s")
    if not 0.0 < low < high < math.inf:
        raise ValueError(
            f"omega_min = {low!r}, omega_max = {high!r}: a band needs 0 < omega_min < omega_max, finite, in rad/s"
        )
    if not is_whole(points, 2):
        raise ValueError(f"points = {shown(points)}; expected a whole number of 2 or more")
    row = _across(arm, joint, across)
    rows = points if row else 1
    angles = np.linspace(-np.pi, np.pi, points) if row else np.full(1, np.nan)
    own = [float(link.joint_angle) for link in arm.links[1:]]
    postures = np.tile(np.array(own), (rows, 1))
    if row:
        postures[:, row - 2] = angles
    ends = [postures_at(arm, np.full(rows, w), joint, postures, theory) for w in (low, high)]
    border = np.concatenate([e.angle for e in ends], axis=1)
    order = np.argsort(border, axis=1)
    border = np.take_along_axis(border, order, axis=1)
    mode = np.take_along_axis(np.concatenate([e.mode for e in ends], axis=1), order, axis=1)
    end = np.where(np.isfinite(border), order // MOST_ANGLES, -1)
    beams, flags = prepared_values(arm, theory)
    inside = _inside(beams, flags, (low, high), postures, joint - 2, border)
    return jax.device_put(
        ResonanceMap(
            across_angle=angles,
            border=border,
            end=end.astype(np.int32),
            border_mode=mode.astype(np.int32),
            modes_inside=inside.astype(np.int32),
            band=np.array([low, high]),
            joint=joint,
            across=row,
            theory=theory,
        )
    )


def _across(arm: Arm, joint: int, across: Any) -> int:
    """Number of the joint of the rows, 0 for none."""
    joints = range(2, arm.num_links + 1)
    if across is None:
        return 0 if len(joints) < 2 else (joint + 1 if joint < arm.num_links else 2)
    if not is_whole(across, 2, arm.num_links) or across == joint:
        raise ValueError(
            f"across = {shown(across)}, joint = {shown(joint)}; expected two different joints out of {list(joints)}"
        )
    return int(across)


def _inside(
    beams: BeamArrays,
    flags: Theory,
    band: tuple[float, float],
    postures: np.ndarray,
    column: int,
    border: np.ndarray,
) -> np.ndarray:
    """Number of natural frequencies in the band in the middle of each piece, shape (M, 9), -1 where there is none."""
    rows = border.shape[0]
    edges = np.concatenate(
        [np.full((rows, 1), -np.pi), np.nan_to_num(border, nan=np.pi), np.full((rows, 1), np.pi)], 1
    )
    row, piece = np.nonzero(
        np.arange(_BORDERS + 1) <= np.sum(np.isfinite(border), axis=1, keepdims=True)
    )
    middle = postures[row].T.copy()
    middle[column] = 0.5 * (edges[row, piece] + edges[row, piece + 1])
    below, above = (
        determinant(beams, flags, np.full(row.size, omega), middle).passed for omega in band
    )
    inside = np.full((rows, _BORDERS + 1), -1)
    inside[row, piece] = above - below
    return inside
