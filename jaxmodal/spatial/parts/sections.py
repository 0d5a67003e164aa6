"""Section properties of a link in space: two second moments, a torsion constant, two shear coefficients.

The depth of a shape is along y and its width along z, as in the plane of a planar arm.
"""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar, NamedTuple

from jax.typing import ArrayLike

from jaxmodal.arm.quantities import (
    POSITIVE,
    Constraint,
    Record,
    Scalar,
    frozen_pytree,
    quantity,
)
from jaxmodal.arm.shapes import HollowRectangle, Rectangle, Section
from jaxmodal.runtime.namespace import xp

#: sum over odd k of 1/k^5 = (31/32) zeta(5)
_ODD_FIFTHS = 31.0 / 32.0 * 1.036927755143369926331365486457
#: odd numbers k up to which exp(-k pi)/k^5 matters in double precision
_ODD = (1, 3, 5, 7, 9, 11)
#: relative precision of section values written by hand
_WRITTEN = 1e-5
_KAPPA = "give a value such as 0.85"


@frozen_pytree
class SpatialSection(Record):
    """A section given by its values only; created by `spatial_section`."""

    place: ClassVar[str] = "section."
    area: Scalar = quantity("m^2", "area of the section", POSITIVE, "give it in m^2")
    second_moment_y: Scalar = quantity(
        "m^4", "second moment of area, bending in the x-z plane", POSITIVE, "give it in m^4"
    )
    second_moment_z: Scalar = quantity(
        "m^4", "second moment of area, bending in the x-y plane", POSITIVE, "give it in m^4"
    )
    torsion_constant: Scalar = quantity(
        "m^4", "torsion constant of Saint-Venant", POSITIVE, "give it in m^4"
    )
    shear_coefficient_y: Scalar | None = quantity(
        "1", "shear coefficient of the shear force along y", POSITIVE, _KAPPA, default=None
    )
    shear_coefficient_z: Scalar | None = quantity(
        "1", "shear coefficient of the shear force along z", POSITIVE, _KAPPA, default=None
    )

    def constraints(self) -> tuple[Constraint, ...]:
        return (
            possible_torsion(self.torsion_constant, self.second_moment_y + self.second_moment_z),
        )


def possible_torsion(torsion_constant: Any, polar: Any) -> Constraint:
    """Check that the torsion constant does not exceed that of a section without warping, I_y + I_z."""
    return Constraint(
        "torsion_constant",
        torsion_constant,
        torsion_constant <= polar * (1.0 + _WRITTEN),
        "at most second_moment_y + second_moment_z, which a section has that does not warp",
        "check both; only circles and round tubes reach it",
    )


def spatial_section(
    area: ArrayLike,
    second_moment_y: ArrayLike,
    second_moment_z: ArrayLike,
    torsion_constant: ArrayLike,
    shear_coefficient_y: ArrayLike | None = None,
    shear_coefficient_z: ArrayLike | None = None,
) -> SpatialSection:
    """Return a section of a link in space given by its values only.

    Parameters
    ----------
    area
        Area A, m^2.
    second_moment_y, second_moment_z
        I_y = integral of z^2, for bending in the x-z plane, and I_z = integral of y^2, for bending in the x-y plane,
        m^4; y and z are the principal axes.
    torsion_constant
        Saint-Venant torsion constant J, m^4, at most I_y + I_z.
    shear_coefficient_y, shear_coefficient_z
        Shear coefficients for forces along y (with I_z) and along z (with I_y); only Timoshenko theory needs them.

    Raises
    ------
    ArmError
        If a concrete value is invalid.

    Examples
    --------
    >>> float(spatial_section(1e-3, 2e-7, 3e-7, 4e-7).torsion_constant)
    4e-07
    """
    return SpatialSection(  # the record converts its arguments
        area,  # type: ignore[arg-type]
        second_moment_y,  # type: ignore[arg-type]
        second_moment_z,  # type: ignore[arg-type]
        torsion_constant,  # type: ignore[arg-type]
        shear_coefficient_y,  # type: ignore[arg-type]
        shear_coefficient_z,  # type: ignore[arg-type]
    )


class SectionValues(NamedTuple):
    """Area, m^2; second moments and torsion constant, m^4; shear coefficients, None if not given."""

    area: Any
    second_moment_y: Any
    second_moment_z: Any
    torsion_constant: Any
    shear_coefficient_y: Any
    shear_coefficient_z: Any


#: values for a rigid link without a section; they are arbitrary, since it has no density and does not deform
NO_SECTION = SectionValues(1.0, 1.0, 1.0, 1.0, None, None)


def section_values(section: Section | SpatialSection, poisson_ratio: Any) -> SectionValues:
    """Return the section properties that a link in space needs; elementwise on columns of values.

    Notes
    -----
    The torsion constant of round sections is J = I_y + I_z, which is exact. That of the solid rectangle is the exact
    series. That of the rectangular tube is Bredt's formula 2 t a^2 b^2/(a + b) with the centre lines a, b of its walls;
    for a square tube it is low by 0.9 % for a wall of 1/50 of the side, 2.5 % for 1/20 and 5.4 % for 1/10. A shear
    coefficient given as a number applies to both directions; a rule is evaluated for each.
    """
    if isinstance(section, SpatialSection):
        return SectionValues(*(getattr(section, name) for name in SectionValues._fields))
    across = turned(section)
    own, other = section.second_moment_at(1.0), across.second_moment_at(1.0)
    if isinstance(section, Rectangle):
        torsion = rectangle_torsion(section.depth, section.width)
    elif isinstance(section, HollowRectangle):
        torsion = tube_torsion(section.depth, section.width, section.wall_thickness)
    else:
        torsion = own + other
    return SectionValues(
        section.area_at(1.0),
        other,
        own,
        torsion,
        section.shear_coefficient_value(poisson_ratio),
        across.shear_coefficient_value(poisson_ratio),
    )


def turned(section: Section) -> Section:
    """Return the section rotated by a right angle: depth and width exchanged; round sections are unchanged."""
    if not isinstance(section, Rectangle | HollowRectangle):
        return section
    changed = copy.copy(section)
    changed.__dict__.update(depth=section.width, width=section.depth)
    return changed


def rectangle_torsion(depth: Any, width: Any) -> Any:
    """Return the torsion constant of a solid rectangle, m^4.

    Notes
    -----
    ``J = (a b^3/3) [1 - (192 b/(pi^5 a)) sum over odd k of tanh(k pi a/2b)/k^5]``, a >= b (S. P. Timoshenko,
    J. N. Goodier, Theory of Elasticity, 1970, art. 109), with ``tanh x = 1 - 2/(exp(2x) + 1)``, so that six terms of
    the sum suffice for double precision.
    """
    flat = depth < width
    a, b = xp.where(flat, width, depth), xp.where(flat, depth, width)
    total = _ODD_FIFTHS
    for k in _ODD:
        decayed = xp.exp(-k * math.pi * (a / b))
        total = total - 2.0 * decayed / (k**5 * (1.0 + decayed))
    return a * b**3 / 3.0 * (1.0 - 192.0 * b / (math.pi**5 * a) * total)


def tube_torsion(depth: Any, width: Any, wall_thickness: Any) -> Any:
    """Return the torsion constant of a rectangular tube by Bredt's formula (R. Bredt, 1896), m^4."""
    a, b = depth - wall_thickness, width - wall_thickness
    return 2.0 * wall_thickness * a * a * b * b / (a + b)
