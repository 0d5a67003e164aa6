"""One link of an arm: a uniform beam or rigid bar, the joint at its base, the bodies and offsets at its ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from jaxmodal.arm.link_rules import (
    DAMPING_FIELDS,
    FLAGS,
    JOINT_SPRINGS,
    check_combinations,
    link_constraints,
)
from jaxmodal.arm.quantities import (
    ANGLE,
    FINITE,
    NON_NEGATIVE,
    POISSON,
    POSITIVE,
    SPRING,
    STIFFNESS,
    SUPPORT,
    Constraint,
    Scalar,
    frozen_pytree,
    quantities,
    quantity,
    shown,
    static,
)
from jaxmodal.arm.shapes import Rectangle, Section
from jaxmodal.arm.straight_links import JointSpring, StraightLink
from jaxmodal.runtime.errors import ArmError
from jaxmodal.statics.beam_arrays import SUPPORTS
from jaxmodal.statics.link_parts import BODY, STATOR, Body, WithParts, part_of


@frozen_pytree
class Link(WithParts, StraightLink):
    """A uniform straight link, the joint at its base, and the rigid body at its tip.

    Parameters
    ----------
    length
        Length L, m.
    youngs_modulus
        Young's modulus E, Pa.
    density
        Density rho, kg/m^3. A massless link is not supported.
    section
        Cross-section, from `rectangle`, `hollow_rectangle`, `circle`, `hollow_circle` or
        `raw_section`.
    poisson_ratio, shear_modulus
        Poisson ratio nu in (-1, 0.5], from which G = E / (2 (1 + nu)), or the shear modulus G in
        Pa; at most one of them. Only a theory with shear needs either.
    tip_mass, tip_inertia
        Mass M, kg, of the rigid body at the tip, and its moment of inertia J about its centre of gravity, kg m^2.
    joint_angle
        Angle theta relative to the previous link, rad, counter-clockwise. The angle of link 1 turns
        the whole arm, which changes no frequency.
    joint_stiffness
        Stiffness of the torsional spring at the base of the link, N m/rad; inf or None is a
        rigid joint, 0 a free hinge.
    thickness_factor
        Factor s on the thickness: a rectangle's depth becomes h s; a raw section's A and I
        become A s and I s^3. Other shapes refuse s != 1.
    joint_axial_stiffness, joint_shear_stiffness
        Springs of the joint along and across the link, N/m; None or inf is rigid, 0 a free slide.
    hub_mass, hub_inertia
        Body on the joint's axis beyond its springs, kg and kg m^2: it moves with this link.
    stator_mass, stator_inertia
        Body on the joint's axis before its springs, kg and kg m^2: it moves with the previous link.
    rotor_inertia, gear_ratio
        Inertia of the rotor of the joint's motor about its axis, kg m^2, and its number of turns per turn of the joint;
        both or neither.
    motor
        State of the motor while the arm vibrates. ``"held"``: a brake or a stiff servo holds its shaft, and the rotor
        moves with the link that carries it. ``"beyond_spring"``: the rotor turns with the joint, beyond its spring. A
        rotor without this field is taken as held, with a `RotorWarning`. Leave it out for a joint without a rotor.
    base_offset_x, base_offset_y
        Position of the start of the link relative to the joint's axis, m, along the link and to its left.
    end_offset_x, end_offset_y
        Position of the tip (its body, the next joint) relative to the end of the link, m, along it and to its left.
    tip_centre_x, tip_centre_y
        Centre of gravity of the body at the tip relative to the tip, m; at the tip if left out.
    nonstructural_mass
        Mass per length without rotary inertia, kg/m: it moves with the sections but does not turn with them.
    support_x_stiffness, support_y_stiffness
        Springs from the tip to the ground along the ground's x and y axes, N/m; inf is a rigid support, None or 0 is
        none. Link 1 points along x at joint angle 0.
    support_torsional_stiffness
        Torsional spring from the tip to the ground, N m/rad; inf holds the tip from turning.
    axial_force
        Axial force in the link at rest, N, tension positive; it does not turn with the link. See docs/preload.md.
    base_turning_stiffness, end_turning_stiffness
        Geometric stiffness of the static forces against a rotation of the rigid parts at the two ends of the link,
        N m/rad, from weights beside the axis and from forces across it. The axial force along the offsets is
        accounted for separately. They need an axial_force, which may be 0.
    loss_factor, kelvin_voigt_time
        Damping of the link's material: Young's modulus becomes E (1 + i eta + i omega tau), and the shear modulus
        likewise; eta is a pure number, tau is in s. Damping does not change natural frequencies; it acts in
        `frequency_response` and `damped_modes`.
    joint_damping, joint_axial_damping, joint_shear_damping
        Viscous dampers parallel to the springs of the joint: torsional, N m s/rad; along and across the link, N s/m. A
        damper parallel to a rigid spring has no effect.
    segment
        True: the link continues the previous one, with no joint between.
    rigid
        True: the link does not deform.

    Raises
    ------
    ArmError
        If a concrete value is not allowed. Traced and batched values are not checked here; if invalid, their results
        have the status ``invalid_input``.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    The fields correspond to the symbols of section 2.1 of the source paper.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> link = Link(length=0.5, youngs_modulus=70e9, density=2700.0, section=circle(0.01))
    >>> round(float(link.mass), 6)
    0.106029
    """

    symbols: ClassVar[Mapping[str, str]] = {
        "E": "youngs_modulus",
        "G": "shear_modulus",
        "J": "tip_inertia",
        "L": "length",
        "M": "tip_mass",
        "angle": "joint_angle",
        "inertia": "tip_inertia",
        "k": "joint_stiffness",
        "mass": "tip_mass",
        "nu": "poisson_ratio",
        "rho": "density",
        "stiffness": "joint_stiffness",
        "theta": "joint_angle",
    }
    flags: ClassVar[tuple[str, ...]] = FLAGS
    nothing_at_tip: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("tip_mass", "tip_inertia"), 0.0),
        **dict.fromkeys(("end_offset_x", "end_offset_y", "tip_centre_x", "tip_centre_y")),
        **dict.fromkeys(("end_turning_stiffness", *SUPPORTS)),
    }
    length: Scalar = quantity("m", "length of the link", POSITIVE, "give it in metres")
    youngs_modulus: Scalar = quantity(
        "Pa", "Young's modulus", POSITIVE, "steel has about 2.1e11 Pa, aluminium 7e10 Pa"
    )
    density: Scalar = quantity(
        "kg/m^3",
        "density",
        POSITIVE,
        "a massless link is not supported: give the density of its material (steel has about "
        "7800 kg/m^3, aluminium 2700 kg/m^3), and put lumped bodies into tip_mass and tip_inertia",
    )
    section: Section
    poisson_ratio: Scalar | None = quantity(
        "1", "Poisson ratio", POISSON, "metals have about 0.3", default=None
    )
    shear_modulus: Scalar | None = quantity(
        "Pa", "shear modulus", POSITIVE, "steel has about 8.1e10 Pa", default=None
    )
    tip_mass: Scalar = quantity(
        "kg", "mass of the body at the tip", NON_NEGATIVE, "leave it out for no body", default=0.0
    )
    tip_inertia: Scalar = quantity(
        "kg m^2",
        "inertia of the body at the tip",
        NON_NEGATIVE,
        "leave it out for no body",
        default=0.0,
    )
    joint_angle: Scalar = quantity(
        "rad",
        "joint angle, relative to the previous link",
        ANGLE,
        "give it in radians, without whole turns: beyond, few digits are left behind them",
        default=0.0,
    )
    joint_stiffness: Scalar = quantity(
        "N m/rad",
        "stiffness of the torsional spring at the link's base",
        STIFFNESS,
        "leave it out for a rigid joint",
        default=math.inf,
    )
    thickness_factor: Scalar = quantity(
        "1",
        "factor on the thickness of the section",
        POSITIVE,
        "1 leaves the section as it is",
        default=1.0,
    )
    joint_axial_stiffness: Scalar | None = quantity(
        "N/m", "joint's spring along the link", SPRING, "leave it out if rigid", default=None
    )
    joint_shear_stiffness: Scalar | None = quantity(
        "N/m", "joint's spring across the link", SPRING, "leave it out if rigid", default=None
    )
    hub_mass: Scalar | None = quantity(
        "kg", "mass of the hub beyond the joint's spring", NON_NEGATIVE, default=None
    )
    hub_inertia: Scalar | None = quantity(
        "kg m^2", "inertia of the hub beyond the joint's spring", NON_NEGATIVE, default=None
    )
    stator_mass: Scalar | None = quantity(
        "kg", "mass of the hub before the joint's spring", NON_NEGATIVE, default=None
    )
    stator_inertia: Scalar | None = quantity(
        "kg m^2", "inertia of the hub before the joint's spring", NON_NEGATIVE, default=None
    )
    rotor_inertia: Scalar | None = quantity(
        "kg m^2", "inertia of the rotor about its axis", NON_NEGATIVE, default=None
    )
    gear_ratio: Scalar | None = quantity(
        "1", "turns of the rotor for one of the joint", FINITE, "1 is a direct drive", default=None
    )
    base_offset_x: Scalar | None = quantity(
        "m", "start of the link from the joint, along it", default=None
    )
    base_offset_y: Scalar | None = quantity(
        "m", "start of the link from the joint, to its left", default=None
    )
    end_offset_x: Scalar | None = quantity(
        "m", "tip from the end of the link, along it", default=None
    )
    end_offset_y: Scalar | None = quantity(
        "m", "tip from the end of the link, to its left", default=None
    )
    tip_centre_x: Scalar | None = quantity(
        "m", "centre of gravity of the body from the tip, along", default=None
    )
    tip_centre_y: Scalar | None = quantity(
        "m", "centre of gravity of the body from the tip, to the left", default=None
    )
    nonstructural_mass: Scalar | None = quantity(
        "kg/m", "mass per length that does not bend", NON_NEGATIVE, default=None
    )
    support_x_stiffness: Scalar | None = quantity(
        "N/m", "spring from the tip to the ground, along its x axis", SUPPORT, default=None
    )
    support_y_stiffness: Scalar | None = quantity(
        "N/m", "spring from the tip to the ground, along its y axis", SUPPORT, default=None
    )
    support_torsional_stiffness: Scalar | None = quantity(
        "N m/rad", "torsional spring from the tip to the ground", SUPPORT, default=None
    )
    axial_force: Scalar | None = quantity(
        "N", "axial force in the link at rest, tension positive", default=None
    )
    base_turning_stiffness: Scalar | None = quantity(
        "N m/rad", "geometric stiffness of static forces, base offset", default=None
    )
    end_turning_stiffness: Scalar | None = quantity(
        "N m/rad", "geometric stiffness of static forces, rigid tip", default=None
    )
    loss_factor: Scalar | None = quantity(
        "1", "loss factor of the material", NON_NEGATIVE, default=None
    )
    kelvin_voigt_time: Scalar | None = quantity(
        "s", "Kelvin-Voigt time of the material", NON_NEGATIVE, default=None
    )
    joint_damping: Scalar | None = quantity(
        "N m s/rad", "damper beside the joint's torsional spring", NON_NEGATIVE, default=None
    )
    joint_axial_damping: Scalar | None = quantity(
        "N s/m", "damper beside the joint's spring along", NON_NEGATIVE, default=None
    )
    joint_shear_damping: Scalar | None = quantity(
        "N s/m", "damper beside the joint's spring across", NON_NEGATIVE, default=None
    )
    segment: bool = static(default=False)
    rigid: bool = static(default=False)
    motor: str | None = static(default=None)

    def __post_init__(self) -> None:
        if not isinstance(self.section, Section):
            raise ArmError(
                f"section = {shown(self.section)}: must be a cross-section; make one with rectangle, "
                "hollow_rectangle, circle, hollow_circle or raw_section."
            )
        if self.poisson_ratio is not None and self.shear_modulus is not None:
            raise ArmError(
                f"poisson_ratio = {self.poisson_ratio!r} and shear_modulus = "
                f"{self.shear_modulus!r}: at most one of them is allowed, since either gives the "
                "shear stiffness; leave one out."
            )
        super().__post_init__()
        self.section.shear_coefficient_value(self.poisson_ratio)
        check_combinations(self)

    def constraints(self) -> tuple[Constraint, ...]:
        return link_constraints(self)

    @property
    def springs_of_joint(self) -> tuple[JointSpring, ...]:
        places = zip(JOINT_SPRINGS, DAMPING_FIELDS[2:], strict=True)
        return tuple(JointSpring(*at, *(getattr(self, name) for name in at)) for at in places)

    @property
    def springs_to_ground(self) -> dict[str, Any]:
        each = {name: getattr(self, name) for name in SUPPORTS}
        return {name: stiffness for name, stiffness in each.items() if stiffness is not None}

    def continued(self, **changes: Any) -> Link:
        """Return the segment that ends as this link does."""
        kept = {
            item.name: getattr(self, item.name)
            for item in quantities(Link)
            if not item.name.startswith(("joint_", "hub_", "stator_", "rotor_", "gear_", "base_"))
        }
        own = {"section": self.section, "rigid": self.rigid, "segment": True}
        return Link(**kept | own | changes)

    @property
    def scaled_section(self) -> Section:
        """The section with the thickness factor applied to its dimensions, if it has any."""
        if isinstance(self.section, Rectangle) and self.thickness_factor != 1.0:
            return self.section.replace(depth=self.section.depth * self.thickness_factor)
        return self.section

    @property
    def area(self) -> Scalar:
        """Area of the section with the thickness factor, m^2."""
        return self.section.area_at(self.thickness_factor)

    @property
    def second_moment(self) -> Scalar:
        """Second moment of area with the thickness factor, m^4."""
        return self.section.second_moment_at(self.thickness_factor)

    @property
    def body_mass(self) -> Scalar:
        """Mass of the body at the tip and of the joint's hubs, kg."""
        hubs = [body.mass for body in (self.hub, self.stator) if body is not None]
        return sum(hubs, start=self.body.mass)

    @property
    def body(self) -> Body:
        """Body at the tip: mass, and inertia about its centre of gravity."""
        return Body(*(getattr(self, name) for name in BODY))

    @property
    def stator(self) -> Body | None:
        """Body on the axis of the joint, before its springs; None if there is none."""
        values = part_of(self, STATOR)
        return None if values is None else Body(*values)

    @property
    def has_shear(self) -> bool:
        """True if both the shear coefficient and the shear modulus are known."""
        section = self.section
        coefficient = section.shear_coefficient is not None or section.shear_rule is not None
        # asked of what is given: to compute the modulus of values of JAX compiles a program
        return coefficient and (self.poisson_ratio is not None or self.shear_modulus is not None)

    @property
    def shear_modulus_effective(self) -> Scalar:
        """Shear coefficient times shear modulus, Pa; inf where either is not known."""
        kappa = self.section.shear_coefficient_value(self.poisson_ratio)
        shear_modulus = self.shear_modulus_value
        if kappa is None or shear_modulus is None:
            return math.inf
        return kappa * shear_modulus
