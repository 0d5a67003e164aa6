"""One link of an arm in space: a uniform beam or rigid bar, the joint at its base, bodies and offsets."""

import math
from typing import Any, ClassVar

from jaxmodal.arm.joint_limits import LIMITS, as_limits, as_velocity_limit
from jaxmodal.arm.link_rules import require_together
from jaxmodal.arm.quantities import (
    ANGLE,
    FINITE,
    NON_NEGATIVE,
    POISSON,
    POSITIVE,
    STIFFNESS,
    Constraint,
    Scalar,
    frozen_pytree,
    quantity,
    shown,
    static,
)
from jaxmodal.arm.segments import check_taper, with_middle_sections
from jaxmodal.arm.shapes import RawSection, Section
from jaxmodal.arm.straight_links import JointSpring, StraightLink
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import (
    Direction,
    Position,
    Rotation,
    as_frame,
    as_vector,
)
from jaxmodal.spatial.parts.link_rules import (
    check_material,
    check_segment,
    check_slide,
    pressed,
)
from jaxmodal.spatial.parts.sections import (
    NO_SECTION,
    SectionValues,
    SpatialSection,
    possible_torsion,
    section_values,
)
from jaxmodal.spatial.parts.springs import Spring, Support
from jaxmodal.statics.link_parts import ROTOR

_Z = (0.0, 0.0, 1.0)
_METRES = "give it in metres"


@frozen_pytree
class SpatialLink(StraightLink):
    """A uniform straight link in space, the joint at its base, and the rigid bodies at its ends.

    Parameters
    ----------
    length, youngs_modulus, density
        Length L, m; Young's modulus E, Pa; density rho, kg/m^3. A rigid link needs no modulus, and may have length 0.
    section
        Cross-section, from `rectangle`, `hollow_rectangle`, `circle` or `hollow_circle`, whose depth lies along y, or
        from `spatial_section`. A rigid link may have neither section nor density; its mass is then that of its bodies
        and its ``nonstructural_mass``.
    poisson_ratio, shear_modulus
        One of the two is required, because torsion needs the shear modulus in every theory. A rigid link needs neither.
    joint_angle
        Angle about the joint's axis, rad.
    joint_stiffness
        Stiffness about the joint's axis, N m/rad; inf or None is rigid, 0 a free hinge.
    joint_axis
        Axis of the joint in the axes of the previous link (of the ground, for link 1), by the right-hand rule.
    joint_frame
        Successive rotations (`Rotation`) that follow the one about the joint's axis; or the orthogonal matrix whose
        columns are the link's axes at joint angle 0 in those of the previous link.
    joint_springs
        Further elastic directions of the joint (`Spring`), located after the rotation about its axis.
    rotor_inertia, gear_ratio
        Inertia about the joint's axis, kg m^2, of a rotor carried by the previous link, and its turns per turn of the
        joint.
    motor
        State of the motor during vibration. ``"held"``: a brake or a stiff servo holds its shaft, so that the rotor
        moves with the link that carries it. ``"beyond_spring"``: the rotor turns with the joint, on the link side of
        its spring. Required with a rotor; if missing, ``"held"`` is assumed with a `RotorWarning`. Not allowed without
        a rotor.
    hub, stator
        Bodies (`RigidBody`) at the joint: ``hub`` after its springs, in this link's axes; ``stator`` before them, in
        the axes of the previous link.
    base_offset, end_offset
        Rigid, massless offsets, (x, y, z) in m in the link's axes: from the joint to the start of the elastic part, and
        from its end to the tip.
    body
        Body at the tip, in the link's axes.
    supports
        Springs (`Support`) between the tip and the ground.
    section_roll
        Rotation of the section's axes about the link's x axis, rad.
    torsion_constant
        Torsion constant, m^4, that replaces the one computed from the section.
    nonstructural_mass
        Additional mass per length without stiffness, kg/m.
    axial_force
        Static axial force in the link, N, tension positive; constant during vibration.
    loss_factor, kelvin_voigt_time, joint_damping
        Damping of the material, dimensionless and in s, and of the spring about the joint's axis, N m s/rad. It affects
        responses; natural frequencies are undamped.
    rigid
        Whether the link is rigid; it keeps its mass.
    prismatic
        Whether the joint slides instead of turning. Its position is ``base_offset.x``, m, along x of the link. It has
        no joint angle, no stiffness or damper about an axis, no rotor and no hub. Its elasticity is a spring of
        ``joint_springs`` along (1, 0, 0).
    segment
        Whether the link continues the previous one without a joint: a piece of a taper, the part beyond a body, or the
        beam after a slide. Its ``joint_frame`` may rotate it; it has no angle in a posture.
    name
        Name of its joint, such as ``elbow``, for use in addresses.
    joint_limits, joint_velocity_limit
        Lower and upper limit of the joint angle, rad, and largest speed of the joint, rad/s, if known; in m and m/s for
        a prismatic joint. They do not affect frequencies: sweeps take their ranges from them, and values beyond cause a
        warning.

    Raises
    ------
    ArmError
        If a concrete value is invalid.

    Notes
    -----
    Axes of a link: x from its base to its end, y and z along the principal axes of its section for ``section_roll`` 0.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> link = SpatialLink(0.5, 70e9, 2700.0, circle(0.01), poisson_ratio=0.3, joint_axis=(0, 1, 0))
    >>> float(link.joint_axis.y)
    1.0
    """

    length: Scalar = quantity("m", "length of the link", FINITE, _METRES)
    youngs_modulus: Scalar | None = quantity(
        "Pa", "Young's modulus", POSITIVE, "steel has about 2.1e11", default=None
    )
    density: Scalar | None = quantity(
        "kg/m^3",
        "density",
        POSITIVE,
        "give that of its material; a rigid link may go without density and section",
        default=None,
    )
    section: Section | SpatialSection | None = None
    poisson_ratio: Scalar | None = quantity(
        "1", "Poisson ratio", POISSON, "metals have about 0.3", default=None
    )
    shear_modulus: Scalar | None = quantity(
        "Pa", "shear modulus", POSITIVE, "steel has about 8.1e10 Pa", default=None
    )
    joint_angle: Scalar = quantity(
        "rad", "joint angle", ANGLE, "give it in radians, without whole turns", default=0.0
    )
    joint_stiffness: Scalar = quantity(
        "N m/rad",
        "stiffness about the axis of the joint",
        STIFFNESS,
        "leave it out for a rigid joint",
        default=math.inf,
    )
    joint_axis: Direction = _Z  # type: ignore[assignment]
    joint_frame: tuple[Rotation, ...] = ()
    joint_springs: tuple[Spring, ...] = ()
    supports: tuple[Support, ...] = ()
    rotor_inertia: Scalar | None = quantity(
        "kg m^2", "inertia of the rotor about the joint's axis", NON_NEGATIVE, default=None
    )
    gear_ratio: Scalar | None = quantity(
        "1", "turns of the rotor for one of the joint", FINITE, "1 is a direct drive", default=None
    )
    hub: RigidBody | None = None
    stator: RigidBody | None = None
    base_offset: Position | None = None
    end_offset: Position | None = None
    body: RigidBody | None = None
    section_roll: Scalar | None = quantity(
        "rad", "turn of the section about the link's axis", ANGLE, "give radians", default=None
    )
    torsion_constant: Scalar | None = quantity(
        "m^4", "torsion constant in place of the section's", POSITIVE, default=None
    )
    nonstructural_mass: Scalar | None = quantity(
        "kg/m", "mass per length that does not bend", NON_NEGATIVE, default=None
    )
    axial_force: Scalar | None = quantity(
        "N", "axial force in the link at rest, tension positive", default=None
    )
    loss_factor: Scalar | None = quantity(
        "1", "loss factor of the material", NON_NEGATIVE, default=None
    )
    kelvin_voigt_time: Scalar | None = quantity(
        "s", "Kelvin-Voigt time of the material", NON_NEGATIVE, default=None
    )
    joint_damping: Scalar | None = quantity(
        "N m s/rad", "damper beside the spring about the joint's axis", NON_NEGATIVE, default=None
    )
    rigid: bool = static(default=False)
    prismatic: bool = static(default=False)
    segment: bool = static(default=False)
    motor: str | None = static(default=None)
    name: str = static(default="")
    joint_limits: tuple[float, float] | None = static(default=None)
    joint_velocity_limit: float | None = static(default=None)

    #: fields that hold a `RigidBody` or None
    bodies: ClassVar[tuple[str, ...]] = ("hub", "stator", "body")
    flags: ClassVar[tuple[str, ...]] = ("segment", "rigid", "prismatic")
    nothing_at_tip: ClassVar[dict[str, Any]] = {
        "end_offset": None,
        "body": None,
        "supports": (),
    }

    def __post_init__(self) -> None:
        self._convert()
        check_material(self)
        if not isinstance(self.name, str):
            raise ArmError(f"name = {shown(self.name)}: must be text.")
        neither = self.poisson_ratio is None and self.shear_modulus is None
        if (neither and self.rigid is not True) or (
            self.poisson_ratio is not None and self.shear_modulus is not None
        ):
            given = "neither" if neither else "both"
            raise ArmError(
                f"poisson_ratio and shear_modulus: {given} given; torsion needs the shear modulus in every theory, "
                "give one of the two."
            )
        super().__post_init__()
        if self.rigid is True and self.axial_force is not None:
            raise ArmError(
                f"axial_force = {shown(self.axial_force)}: a rigid link in space bears forces without bending; leave "
                "it out, or give the link a material."
            )
        if self.section is not None:
            section_values(self.section, self.poisson_ratio)  # checks the rule of the coefficient
        require_together(self, *ROTOR)
        if self.prismatic:
            check_slide(self)
        if self.segment:
            check_segment(self)

    @staticmethod
    def without_joint() -> dict[str, Any]:
        """Return the names of all joint values, with their values without a joint. A joint frame is still allowed."""
        nothing: dict[str, Any] = dict.fromkeys(
            (*ROTOR, "motor", "hub", "stator", "joint_damping", *LIMITS)
        )
        turning = {"joint_angle": 0.0, "joint_stiffness": math.inf, "joint_axis": (0.0, 0.0, 1.0)}
        return nothing | turning | {"joint_springs": (), "name": ""}

    @property
    def springs_of_joint(self) -> tuple[JointSpring, ...]:
        found = [
            JointSpring(
                "joint_stiffness", "joint_damping", self.joint_stiffness, self.joint_damping
            )
        ]
        for k, spring in enumerate(self.joint_springs, start=1):
            places = f"joint_spring{k}.stiffness", f"joint_spring{k}.damping"
            found.append(JointSpring(*places, spring.stiffness, spring.damping))
        return tuple(found)

    @property
    def springs_to_ground(self) -> dict[str, Any]:
        each = enumerate(self.supports, start=1)
        return {f"support{k}.stiffness": support.stiffness for k, support in each}

    def _convert(self) -> None:
        """Convert plain numbers to records."""
        if self.section is not None and (
            isinstance(self.section, RawSection)
            or not isinstance(self.section, Section | SpatialSection)
        ):
            raise ArmError(
                f"section = {self.section!r}: must be a cross-section with two second moments and a torsion constant; "
                "make one with rectangle, hollow_rectangle, circle, hollow_circle or spatial_section."
            )
        changes: dict[str, Any] = {
            "joint_limits": as_limits(self.joint_limits, self.prismatic),
            "joint_velocity_limit": as_velocity_limit(self.joint_velocity_limit, self.prismatic),
            "joint_axis": as_vector(Direction, "joint_axis", self.joint_axis),
            "joint_frame": as_frame("joint_frame", self.joint_frame),
        }
        for name in ("base_offset", "end_offset"):
            given = getattr(self, name)
            if given is None and name == "base_offset" and self.prismatic:
                given = (0.0, 0.0, 0.0)
            if given is not None:
                changes[name] = as_vector(Position, name, given)
        for name in self.bodies:
            value = getattr(self, name)
            if value is not None and not isinstance(value, RigidBody):
                raise ArmError(
                    f"{name} = {shown(value)}: must be a RigidBody(mass, centre, inertia)."
                )
        for name, kind in (("joint_springs", Spring), ("supports", Support)):
            springs = getattr(self, name)
            if not isinstance(springs, tuple | list):
                raise ArmError(f"{name} = {shown(springs)}: must be a list of {kind.__name__}.")
            for number, spring in enumerate(springs, start=1):
                if not isinstance(spring, kind):
                    raise ArmError(
                        f"{name}{number} = {shown(spring)}: must be a {kind.__name__}(kind, direction, stiffness)."
                    )
            changes[name] = tuple(springs)
        for name, value in changes.items():
            object.__setattr__(self, name, value)

    def constraints(self) -> tuple[Constraint, ...]:
        rule = NON_NEGATIVE if self.rigid else POSITIVE
        way = Constraint(
            "length", self.length, rule.holds(self.length), f"{rule.allowed} (m)", _METRES
        )
        found = (way, *pressed(self))
        if self.torsion_constant is None:
            return found
        values = self.section_values
        polar = values.second_moment_y + values.second_moment_z
        return *found, possible_torsion(self.torsion_constant, polar)

    def tapered(self, tip_section: Section, pieces: int) -> "tuple[SpatialLink, ...]":
        """Return the link with a linearly varying section as uniform pieces; see `SpatialArm.with_taper`."""
        if not isinstance(self.section, Section):
            raise ArmError(
                f"section = {shown(self.section)}: has no dimensions that could change along a taper; give a shape "
                "such as rectangle or hollow_circle."
            )
        check_taper(self, tip_section, pieces, "middle")
        if self.torsion_constant is not None:
            raise ArmError(
                f"torsion_constant = {shown(self.torsion_constant)}: is not that of every section of a taper; leave it "
                "out, so that each has its own."
            )
        return with_middle_sections(self, tip_section, pieces)

    def refuse_pressed(self, number: int, what: str) -> None:
        """Raise an error for an axial force; ``what`` (subject of the sentence) does not support it."""
        if self.axial_force is not None:
            raise ArmError(
                f"link{number}.axial_force = {shown(self.axial_force)}: {what} takes no axial forces of an arm in "
                "space; leave it out. Frequencies, mode shapes, sensitivities, responses and buckling take them."
            )

    def refuse_supports(self, number: int, what: str) -> None:
        """Raise an error for a support; ``what`` (subject of the sentence) does not support it."""
        if self.supports:
            raise ArmError(
                f"link{number}.supports: {what} takes no supports at the tips of an arm in space; leave them out. "
                "Frequencies, batches, mode shapes, sensitivities, responses, equilibria and buckling take them."
            )

    def continued(self, **changes: Any) -> "SpatialLink":
        """Return the segment that takes over the tip of the link."""
        straight = {"joint_frame": (), "base_offset": None, "prismatic": False, "segment": True}
        return self.replace(**self.without_joint() | straight | changes)

    @property
    def position(self) -> str:
        """Name of the value that is the position of the joint: the angle, or the displacement of a prismatic joint."""
        return "base_offset.x" if self.prismatic else "joint_angle"

    @property
    def section_values(self) -> SectionValues:
        """Section properties that the link needs, with its own torsion constant if given."""
        if self.section is None:
            return NO_SECTION
        values = section_values(self.section, self.poisson_ratio)
        if self.torsion_constant is not None:
            values = values._replace(torsion_constant=self.torsion_constant)
        return values

    @property
    def area(self) -> Scalar:
        return self.section_values.area

    @property
    def has_shear(self) -> bool:
        """Whether the shear coefficients of both directions are known."""
        values = self.section_values
        return values.shear_coefficient_y is not None and values.shear_coefficient_z is not None
