"""Shapes of cross-sections: their dimensions, and the formulas of A, I and kappa."""

import dataclasses
import math
from typing import Any, ClassVar

from jaxmodal.arm.quantities import (
    POSITIVE,
    Constraint,
    Record,
    Scalar,
    frozen_pytree,
    quantity,
    shown,
    static,
)
from jaxmodal.runtime.errors import ArmError, suggestion

SHEAR_RULES = ("cowper", "5/6")
"""Names of formulas that may be given as a shear coefficient."""


_METRES = "give it in metres"
_KAPPA = f"give a value such as 0.85, or one of the rules {', '.join(map(repr, SHEAR_RULES))}"
#: of the field that all shapes have
_SHEAR = quantity("1", "shear coefficient", POSITIVE, _KAPPA, default=None).metadata


class Section(Record):
    """Base class of cross-sections; all methods work elementwise, on floats and on arrays.

    If the shear coefficient is given as the name of a rule, it is stored in ``shear_rule``.
    """

    place: ClassVar[str] = "section."
    shape: ClassVar[str] = ""
    scalable: ClassVar[bool] = False
    """True if a thickness factor other than 1 is allowed for this shape."""
    dimension_to_vary: ClassVar[str] = ""
    shear_coefficient: Scalar | None
    shear_rule: str | None

    def __post_init__(self) -> None:
        named: Any = self.shear_coefficient
        if isinstance(named, str) and self.shear_rule is None:
            object.__setattr__(self, "shear_rule", named)
            object.__setattr__(self, "shear_coefficient", None)
        rule: object = self.shear_rule
        if rule is not None and rule not in SHEAR_RULES:
            hint = suggestion(rule, SHEAR_RULES) if isinstance(rule, str) else ""
            raise ArmError(
                f"{self.place}shear_coefficient = {shown(rule)}: must be a number greater than 0, or one of the "
                f"rules {', '.join(map(repr, SHEAR_RULES))}.{hint}"
            )
        if self.shear_rule is not None and self.shear_coefficient is not None:
            raise ArmError(
                f"{self.place}shear_coefficient = {self.shear_coefficient!r}: the rule "
                f"{self.shear_rule!r} is given as well; give one of the two (shear_rule=None drops the rule)."
            )
        super().__post_init__()

    def constraints(self) -> tuple[Constraint, ...]:
        one = 1.0
        described = "finite and greater than 0 in double precision"
        remedy = "check the dimensions and their units"
        return tuple(
            Constraint(name, value, (value > 0.0) & (value < math.inf), described, remedy)
            for name, value in (
                ("area", self.area_at(one)),
                ("second_moment", self.second_moment_at(one)),
            )
        )

    def area_at(self, thickness_factor: Scalar) -> Scalar:
        """Return the area, m^2."""
        raise NotImplementedError

    def second_moment_at(self, thickness_factor: Scalar) -> Scalar:
        """Return the second moment of area for bending in the plane of motion, m^4."""
        raise NotImplementedError

    def cowper(self, poisson_ratio: Scalar) -> Scalar:
        """Return Cowper's shear coefficient of this shape."""
        raise NotImplementedError

    def shear_coefficient_value(self, poisson_ratio: Scalar | None) -> Scalar | None:
        """Return the shear coefficient, or None if the section has none.

        Parameters
        ----------
        poisson_ratio
            Needed only by the rule ``"cowper"``.

        Raises
        ------
        ArmError
            If the rule is ``"cowper"`` and ``poisson_ratio`` is None.
        """
        if self.shear_rule is None:
            return self.shear_coefficient
        if self.shear_rule == "5/6":
            return 5.0 / 6.0
        if poisson_ratio is None:
            raise ArmError(
                f"{self.place}shear_coefficient = 'cowper': this rule needs the Poisson ratio; "
                "give poisson_ratio, or a number for the shear coefficient."
            )
        return self.cowper(poisson_ratio)


@frozen_pytree
class Rectangle(Section):
    """Solid rectangle; made by `rectangle`."""

    shape: ClassVar[str] = "rectangle"
    scalable: ClassVar[bool] = True
    depth: Scalar = quantity("m", "depth of the section, in the plane of motion", POSITIVE, _METRES)
    width: Scalar = quantity(
        "m", "width of the section, across the plane of motion", POSITIVE, _METRES
    )
    shear_coefficient: Scalar | None = dataclasses.field(default=None, metadata=_SHEAR)
    shear_rule: str | None = static(default=None)

    def area_at(self, thickness_factor: Scalar) -> Scalar:
        return self.width * (self.depth * thickness_factor)

    def second_moment_at(self, thickness_factor: Scalar) -> Scalar:
        return self.width * (self.depth * thickness_factor) ** 3 / 12.0

    def cowper(self, poisson_ratio: Scalar) -> Scalar:
        return 10.0 * (1.0 + poisson_ratio) / (12.0 + 11.0 * poisson_ratio)


@frozen_pytree
class HollowRectangle(Section):
    """Rectangular tube with one wall thickness; made by `hollow_rectangle`."""

    shape: ClassVar[str] = "hollow_rectangle"
    dimension_to_vary: ClassVar[str] = "wall_thickness"
    depth: Scalar = quantity(
        "m", "outer depth of the section, in the plane of motion", POSITIVE, _METRES
    )
    width: Scalar = quantity(
        "m", "outer width of the section, across the plane of motion", POSITIVE, _METRES
    )
    wall_thickness: Scalar = quantity("m", "wall thickness of the section", POSITIVE, _METRES)
    shear_coefficient: Scalar | None = dataclasses.field(default=None, metadata=_SHEAR)
    shear_rule: str | None = static(default=None)

    def constraints(self) -> tuple[Constraint, ...]:
        t = self.wall_thickness
        fits = Constraint(
            "wall_thickness",
            t,
            (2.0 * t < self.depth) & (2.0 * t < self.width),
            "less than half the depth and half the width",
            "give the thickness of one wall, or use shape 'rectangle' for a solid section",
        )
        return (fits, *super().constraints())

    def area_at(self, thickness_factor: Scalar) -> Scalar:
        t = self.wall_thickness
        return 2.0 * t * (self.depth + self.width - 2.0 * t)

    def second_moment_at(self, thickness_factor: Scalar) -> Scalar:
        # b h^3/12 - (b - 2t) hi^3/12 with the cancelling cubes divided out: right for thin walls
        t, h = self.wall_thickness, self.depth
        inner = h - 2.0 * t
        return t * (self.width * (h * h + h * inner + inner * inner) + inner**3) / 6.0

    def cowper(self, poisson_ratio: Scalar) -> Scalar:
        ratio = (self.width - self.wall_thickness) / (self.depth - self.wall_thickness)
        m, n, nu = ratio, ratio, poisson_ratio  # flange area : web area; width : depth
        return (10.0 * (1.0 + nu) * (1.0 + 3.0 * m) ** 2) / (
            (12.0 + 72.0 * m + 150.0 * m**2 + 90.0 * m**3)
            + nu * (11.0 + 66.0 * m + 135.0 * m**2 + 90.0 * m**3)
            + 10.0 * n**2 * ((3.0 + nu) * m + 3.0 * m**2)
        )


@frozen_pytree
class Circle(Section):
    """Solid circle; made by `circle`."""

    shape: ClassVar[str] = "circle"
    dimension_to_vary: ClassVar[str] = "diameter"
    diameter: Scalar = quantity("m", "diameter of the section", POSITIVE, _METRES)
    shear_coefficient: Scalar | None = dataclasses.field(default=None, metadata=_SHEAR)
    shear_rule: str | None = static(default=None)

    def area_at(self, thickness_factor: Scalar) -> Scalar:
        return math.pi * self.diameter**2 / 4.0

    def second_moment_at(self, thickness_factor: Scalar) -> Scalar:
        return math.pi * self.diameter**4 / 64.0

    def cowper(self, poisson_ratio: Scalar) -> Scalar:
        return 6.0 * (1.0 + poisson_ratio) / (7.0 + 6.0 * poisson_ratio)


@frozen_pytree
class HollowCircle(Section):
    """Circular tube; made by `hollow_circle`."""

    shape: ClassVar[str] = "hollow_circle"
    dimension_to_vary: ClassVar[str] = "wall_thickness"
    outer_diameter: Scalar = quantity("m", "outer diameter of the section", POSITIVE, _METRES)
    wall_thickness: Scalar = quantity("m", "wall thickness of the section", POSITIVE, _METRES)
    shear_coefficient: Scalar | None = dataclasses.field(default=None, metadata=_SHEAR)
    shear_rule: str | None = static(default=None)

    def constraints(self) -> tuple[Constraint, ...]:
        fits = Constraint(
            "wall_thickness",
            self.wall_thickness,
            2.0 * self.wall_thickness < self.outer_diameter,
            "less than half the outer diameter",
            "give the thickness of one wall, or use shape 'circle' for a solid section",
        )
        return (fits, *super().constraints())

    def area_at(self, thickness_factor: Scalar) -> Scalar:
        return math.pi * self.wall_thickness * (self.outer_diameter - self.wall_thickness)

    def second_moment_at(self, thickness_factor: Scalar) -> Scalar:
        inner = self.outer_diameter - 2.0 * self.wall_thickness
        return self.area_at(thickness_factor) * (self.outer_diameter**2 + inner**2) / 16.0

    def cowper(self, poisson_ratio: Scalar) -> Scalar:
        nu = poisson_ratio
        m2 = (1.0 - 2.0 * self.wall_thickness / self.outer_diameter) ** 2  # (inner : outer)^2
        return (6.0 * (1.0 + nu) * (1.0 + m2) ** 2) / (
            (7.0 + 6.0 * nu) * (1.0 + m2) ** 2 + (20.0 + 12.0 * nu) * m2
        )


@frozen_pytree
class RawSection(Section):
    """Section given by its area and second moment; made by `raw_section`."""

    scalable: ClassVar[bool] = True
    area: Scalar = quantity("m^2", "area of the section", POSITIVE, "give it in m^2")
    second_moment: Scalar = quantity(
        "m^4", "second moment of area, bending in the plane of motion", POSITIVE, "give it in m^4"
    )
    shear_coefficient: Scalar | None = dataclasses.field(default=None, metadata=_SHEAR)
    shear_rule: str | None = static(default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shear_rule == "cowper":
            raise ArmError(
                "section.shear_coefficient = 'cowper': a section given by area and second_moment "
                "has no shape to take Cowper's formula from; give a number or '5/6'."
            )

    def area_at(self, thickness_factor: Scalar) -> Scalar:
        return self.area * thickness_factor

    def second_moment_at(self, thickness_factor: Scalar) -> Scalar:
        return self.second_moment * (thickness_factor * thickness_factor * thickness_factor)


SHAPES: dict[str, type[Section]] = {
    kind.shape: kind for kind in (Rectangle, HollowRectangle, Circle, HollowCircle)
}
"""Section classes by the name of the shape."""
