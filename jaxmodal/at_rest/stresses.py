"""Stresses in the sections of arms at rest, from section forces, at points of their outlines.

y and z are the axes of the section, its depth along y and its width along z. A bending moment M_y causes tension where
z > 0, M_z where y < 0. Stresses of N and of bending are those of plane sections, stresses of shear forces those of D.
J. Jourawski (1856), and stresses of torsion those of Saint-Venant, in thin walls the shear flow of R. Bredt (1896).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from jaxmodal.arm.shapes import Circle, HollowCircle, HollowRectangle, Rectangle, Section
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.parts.sections import section_values

#: number of points of a section
_POINTS = 8
#: corners, counter-clockwise from both positive, then middles of the sides in the same order from y > 0
_CORNERS = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
_MIDDLES = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
#: sum of (-1)^k/(2 k + 1)^2
_CATALAN = 0.915965594177219015054603514932
#: odd numbers k up to which exp(-k pi/2)/k^2 matters in double precision
_ODD = np.arange(1.0, 24.0, 2.0)


@dataclasses.dataclass(frozen=True, repr=False)
class Stresses(Result):
    """Stresses at S stations of each of n links, at 8 points of each section.

    The points of rectangles and rectangular tubes are the corners and the middles of the sides. Those of round sections
    are the points of largest bending stress and of largest shear stress, two each, and those on the axes y and z.

    Attributes
    ----------
    stations : array, shape (S,)
        Places along each link, as shares of its length.
    points : array, shape (n, S, 8, 2)
        y and z of the points, m, in section axes.
    normal : array, shape (n, S, 8)
        Normal stresses, Pa, tension positive.
    shear : array, shape (n, S, 8)
        Shear stresses along the outline, Pa, positive from y to z.
    status : Status
        Status of the equilibrium: large_deflection if section forces are only a first estimate.
    arm : Arm or SpatialArm
    theory : str
    """

    stations: Floats
    points: Floats
    normal: Floats
    shear: Floats
    status: Status
    arm: Any
    theory: TheoryName

    @property
    def von_mises(self) -> Floats:
        """Equivalent stress of R. von Mises, (n, S, 8), Pa: the tensile stress with the same energy of distortion."""
        return np.sqrt(self.normal**2 + 3.0 * self.shear**2)

    @property
    def largest(self) -> float:
        """The largest equivalent stress, Pa."""
        return float(np.nanmax(self.von_mises))

    def tables(self) -> list[Table]:
        """Return for each link the point with the largest equivalent stress."""
        rows, notes = [], []
        for number, link in enumerate(self.von_mises, start=1):
            if np.isnan(link).all():
                notes.append(
                    f"link {number}: no stress, since it is rigid or its section has no shape"
                )
                continue
            s, p = np.unravel_index(np.nanargmax(link), link.shape)
            place, at = self.points[number - 1, s, p], (number - 1, s, p)
            stress = link[s, p], self.normal[at], self.shear[at]
            where = f"{self.stations[s]:g}", *(f"{1e3 * x + 0.0:.4g}" for x in place)
            rows.append([f"link {number}", *(f"{1e-6 * x:.5g}" for x in stress), *where])
        stresses = "equivalent [MPa]", "normal [MPa]", "shear [MPa]"
        title = f"largest stresses: {self.arm.name or 'the arm'} ({self.theory})"
        return [Table(title, ["", *stresses, "x/L", "y [mm]", "z [mm]"], rows, notes)]

    def to_xarray(self) -> Any:
        """Return stresses and points as a dataset with dims link, station and point."""
        import xarray

        along = ("link", "station", "point")
        variables = {
            "normal_stress": variable(along, self.normal, "normal stress", "Pa"),
            "shear_stress": variable(along, self.shear, "shear stress", "Pa"),
            "equivalent_stress": variable(along, self.von_mises, "equivalent stress", "Pa"),
            "place": variable((*along, "axis"), self.points, "place in the section", "m"),
        }
        coordinates = {
            "link": np.arange(1, len(self.normal) + 1),
            "station": self.stations,
            "axis": ["y", "z"],
        }
        return xarray.Dataset(variables, coordinates, {"theory": self.theory})


def stresses_of(
    arm: Any, stations: Floats, forces: Floats, status: Status, theory: TheoryName
) -> Stresses:
    """Return the stresses for section forces (n, S, 6) of an equilibrium with a status; see `AtRest.stresses`."""
    shape = (*forces.shape[:2], _POINTS)
    points, normal, shear = (np.full(x, np.nan) for x in ((*shape, 2), shape, shape))
    shapes = [None if link.rigid else link.scaled_section for link in arm.links]
    if not any(isinstance(x, Rectangle | HollowRectangle | Circle | HollowCircle) for x in shapes):
        raise ArmError(
            "stresses: no link that deforms has a section with a shape, such as rectangle(...) or hollow_circle(...); "
            "values such as area and second moments do not give its outline."
        )
    for k, section in enumerate(shapes):
        if isinstance(section, Circle | HollowCircle):
            points[k], normal[k], shear[k] = _round(section, forces[k])
        elif isinstance(section, Rectangle | HollowRectangle):
            points[k], normal[k], shear[k] = _rectangular(section, forces[k])
    return Stresses(stations, points, normal, shear, status, arm, theory)


def _constants(section: Section) -> tuple[float, float, float, float]:
    """Return A, I_y, I_z and J."""
    found = section_values(section.replace(shear_coefficient=None, shear_rule=None), None)
    return tuple(float(x) for x in found[:4])  # type: ignore[return-value]


def _normal(section: Section, forces: Floats, points: Floats) -> Floats:
    area, i_y, i_z, _ = _constants(section)
    n, m_y, m_z = (forces[:, k, None] for k in (0, 4, 5))
    found: Floats = n / area + m_y * points[..., 1] / i_y - m_z * points[..., 0] / i_z
    return found


def _round(section: Circle | HollowCircle, forces: Floats) -> tuple[Floats, Floats, Floats]:
    """Return points, normal and shear stresses; a shear force V causes 4 V/(3 A) at the ends of its neutral line.

    For a tube this is multiplied by (R^2 + R r + r^2)/(R^2 + r^2), between 1 and 1.5.
    """
    area, _, _, polar = _constants(section)
    if isinstance(section, Circle):
        radius, factor = 0.5 * float(section.diameter), 1.0
    else:
        radius = 0.5 * float(section.outer_diameter)
        inner = radius - float(section.wall_thickness)
        factor = 1.0 + radius * inner / (radius**2 + inner**2)
    _, v_y, v_z, torque, m_y, m_z = forces.T
    bent, sheared = np.arctan2(m_y, -m_z), np.arctan2(v_z, v_y) + 0.5 * np.pi
    first = np.stack([bent, bent + np.pi, sheared, sheared + np.pi], axis=-1)
    on_axes = np.broadcast_to(0.5 * np.pi * np.arange(4.0), first.shape)
    angle = np.concatenate([first, on_axes], axis=-1)
    y, z = np.cos(angle), np.sin(angle)
    points = radius * np.stack([y, z], axis=-1)
    flow = 4.0 * factor / (3.0 * area) * (v_z[:, None] * y - v_y[:, None] * z)
    return points, _normal(section, forces, points), torque[:, None] * radius / polar + flow


def _rectangular(
    section: Rectangle | HollowRectangle, forces: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return points, normal and shear stresses at the corners and the middles of the sides."""
    signs = np.concatenate([_CORNERS, _MIDDLES])
    half = 0.5 * np.array([float(section.depth), float(section.width)])
    points = np.broadcast_to(signs * half, (len(forces), _POINTS, 2))
    _, v_y, v_z, torque, _, _ = (x[:, None] for x in forces.T)
    own = _solid(section) if isinstance(section, Rectangle) else _walled(section)
    by_y, by_z, by_torque = own
    # along the outline from y to z: V_z acts with it where y > 0, V_y against it where z > 0
    shear = torque * by_torque + v_z * signs[:, 0] * by_z - v_y * signs[:, 1] * by_y
    return points, _normal(section, forces, points), shear


def _solid(section: Rectangle) -> tuple[Floats, Floats, Floats]:
    """Return shear stresses at the points for unit V_y, V_z and torque.

    Those of forces are 0 at corners and 3/(2 A) at the middles of the sides.
    """
    depth, width = float(section.depth), float(section.width)
    area, _, _, torsion = _constants(section)
    middle = np.concatenate([np.zeros(4), np.full(4, 1.5 / area)])
    short, long = sorted((depth, width))
    ratio = 0.5 * math.pi * long / short
    decayed = np.exp(-_ODD * ratio)
    # 1/cosh x and 1 - tanh x by exp(-x)
    on_long = 1.0 - 8.0 / math.pi**2 * np.sum(2.0 * decayed / (_ODD**2 * (1.0 + decayed**2)))
    alternating = np.where(_ODD % 4.0 == 1.0, 1.0, -1.0)
    lost = np.sum(alternating * 2.0 * decayed**2 / (_ODD**2 * (1.0 + decayed**2)))
    on_short = 8.0 / math.pi**2 * (_CATALAN - lost)
    # the side at y > 0 is parallel to z and as long as the width
    along_z, along_y = (on_long, on_short) if width >= depth else (on_short, on_long)
    sides = short / torsion * np.array([along_z, along_y, along_z, along_y])
    return middle, middle, np.concatenate([np.zeros(4), sides])


def _walled(section: HollowRectangle) -> tuple[Floats, Floats, Floats]:
    """Return shear stresses at the points of a tube for unit V_y, V_z and torque.

    The shear flow of a force is 0 in the middles of the walls across it and grows towards the walls along it.
    """
    wall = float(section.wall_thickness)
    depth, width = float(section.depth) - wall, float(section.width) - wall
    _, i_y, i_z, _ = _constants(section)
    corner = 0.25 * depth * width
    by_y = np.concatenate([np.full(4, corner), np.full(4, corner + 0.125 * depth**2)]) / i_z
    by_z = np.concatenate([np.full(4, corner), np.full(4, corner + 0.125 * width**2)]) / i_y
    return by_y, by_z, np.full(_POINTS, 0.5 / (depth * width * wall))
