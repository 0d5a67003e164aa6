"""Cross-sections: area, second moment of area, and shear coefficient.

Every shape has a factory (`rectangle`, `hollow_rectangle`, `circle`, `hollow_circle`,
`raw_section`). The depth lies in the plane of motion, the width across it. Areas are in m^2,
second moments in m^4, about the axis normal to the plane of motion.

The shear coefficient kappa, needed only by Timoshenko's theory, is None, a value, or a named rule: ``"cowper"``, the
formula of each shape in G. R. Cowper, The shear coefficient in Timoshenko's beam theory, J. Appl. Mech. 33 (1966)
335-340; or ``"5/6"``, the energy coefficient of a solid rectangle.
"""

from jax.typing import ArrayLike

from jaxmodal.arm.shapes import (
    SHEAR_RULES,
    Circle,
    HollowCircle,
    HollowRectangle,
    RawSection,
    Rectangle,
    Section,
)

__all__ = [
    "SHEAR_RULES",
    "Section",
    "circle",
    "hollow_circle",
    "hollow_rectangle",
    "raw_section",
    "rectangle",
]


def rectangle(
    depth: ArrayLike, width: ArrayLike, shear_coefficient: ArrayLike | str | None = None
) -> Rectangle:
    """Return a solid rectangular section.

    Parameters
    ----------
    depth
        Dimension in the plane of motion, m, greater than 0. A link's thickness factor scales it.
    width
        Dimension across the plane of motion, m, greater than 0.
    shear_coefficient
        None, a value, ``"5/6"``, or ``"cowper"``: 10 (1 + nu) / (12 + 11 nu), Cowper (1966),
        whatever the ratio of depth to width.

    Raises
    ------
    ArmError
        If a concrete value is not allowed.

    Notes
    -----
    A = b h and I = b h^3 / 12. The source paper takes 0.85, Cowper's value rounded, for the
    links of its Table 1.

    Examples
    --------
    >>> section = rectangle(depth=0.2, width=0.1, shear_coefficient="cowper")
    >>> round(float(section.shear_coefficient_value(0.3)), 4)
    0.8497
    """
    return Rectangle(depth, width, shear_coefficient)  # type: ignore[arg-type]


def hollow_rectangle(
    depth: ArrayLike,
    width: ArrayLike,
    wall_thickness: ArrayLike,
    shear_coefficient: ArrayLike | str | None = None,
) -> HollowRectangle:
    """Return a rectangular tube with the same wall thickness all round.

    Parameters
    ----------
    depth
        Outer dimension in the plane of motion, m, greater than 0.
    width
        Outer dimension across the plane of motion, m, greater than 0.
    wall_thickness
        Thickness of one wall, m, greater than 0, less than half the depth and half the width.
    shear_coefficient
        None, a value, ``"5/6"``, or ``"cowper"``: Cowper's (1966) formula of the thin-walled
        box. It is taken on the wall's centre lines, with the walls along the depth as webs; for
        a wall of 1/20 of the depth it is 2 to 3 per cent below the value of Cowper's definition.

    Raises
    ------
    ArmError
        If a concrete value is not allowed.

    Notes
    -----
    A = 2 t (h + b - 2 t) and 12 I = b h^3 - (b - 2 t)(h - 2 t)^3, the latter rearranged so that
    a thin wall costs no digits. The tables of the source paper that belong to its Table 8 are
    reproduced by 0.44, which is not a value of Cowper's formula.

    Examples
    --------
    >>> tube = hollow_rectangle(depth=0.15, width=0.20, wall_thickness=0.01)
    >>> round(1e4 * float(tube.area_at(1.0)), 6), round(1e8 * float(tube.second_moment_at(1.0)), 6)
    (66.0, 2329.5)
    """
    return HollowRectangle(depth, width, wall_thickness, shear_coefficient)  # type: ignore[arg-type]


def circle(diameter: ArrayLike, shear_coefficient: ArrayLike | str | None = None) -> Circle:
    """Return a solid circular section.

    Parameters
    ----------
    diameter
        Diameter, m, greater than 0.
    shear_coefficient
        None, a value, ``"5/6"``, or ``"cowper"``: 6 (1 + nu) / (7 + 6 nu), Cowper (1966).

    Raises
    ------
    ArmError
        If a concrete value is not allowed.

    Notes
    -----
    A = pi d^2 / 4 and I = pi d^4 / 64.

    Examples
    --------
    >>> round(float(circle(0.02, "cowper").shear_coefficient_value(0.3)), 4)
    0.8864
    """
    return Circle(diameter, shear_coefficient)  # type: ignore[arg-type]


def hollow_circle(
    outer_diameter: ArrayLike,
    wall_thickness: ArrayLike,
    shear_coefficient: ArrayLike | str | None = None,
) -> HollowCircle:
    """Return a circular tube.

    Parameters
    ----------
    outer_diameter
        Outer diameter, m, greater than 0.
    wall_thickness
        Thickness of the wall, m, greater than 0 and less than half the outer diameter.
    shear_coefficient
        None, a value, ``"5/6"``, or ``"cowper"``: Cowper's (1966) formula of the hollow circle,
        6 (1 + nu) (1 + m^2)^2 / [(7 + 6 nu) (1 + m^2)^2 + (20 + 12 nu) m^2], with m the ratio
        of the inner to the outer diameter; right for any wall.

    Raises
    ------
    ArmError
        If a concrete value is not allowed.

    Notes
    -----
    With d = D - 2 t: A = pi (D^2 - d^2) / 4 = pi t (D - t) and I = A (D^2 + d^2) / 16.

    Examples
    --------
    >>> thin = hollow_circle(1.0, 1e-9, "cowper").shear_coefficient_value(0.3)
    >>> round(float(thin), 4)   # the thin-walled limit 2 (1 + nu) / (4 + 3 nu)
    0.5306
    """
    return HollowCircle(outer_diameter, wall_thickness, shear_coefficient)  # type: ignore[arg-type]


def raw_section(
    area: ArrayLike,
    second_moment: ArrayLike,
    shear_coefficient: ArrayLike | str | None = None,
) -> RawSection:
    """Return a section given by its area and second moment of area.

    Parameters
    ----------
    area
        Area A, m^2, greater than 0. A link's thickness factor s makes it A s.
    second_moment
        Second moment I for bending in the plane of motion, m^4, greater than 0. A link's
        thickness factor s makes it I s^3.
    shear_coefficient
        None, a value, or ``"5/6"``. Cowper's formulas need a shape.

    Raises
    ------
    ArmError
        If a concrete value is not allowed.

    Examples
    --------
    >>> float(raw_section(2.0, 3.0).second_moment_at(2.0))
    24.0
    """
    return RawSection(area, second_moment, shear_coefficient)  # type: ignore[arg-type]
