"""Base class of planar and spatial links: joint and ground springs, flags, mass, cutting into pieces."""

import math
import warnings
from typing import Any, ClassVar, NamedTuple, TypeVar

from jaxmodal.arm.quantities import Record, Scalar, shown
from jaxmodal.runtime.errors import ArmError, RotorWarning, place_here, suggestion
from jaxmodal.statics.link_parts import ROTOR, Rotor

#: what the shaft of a motor does while the arm vibrates: it is held, or turns with the joint; the first by default
MOTORS = ("held", "beyond_spring")

L = TypeVar("L", bound="StraightLink")


class JointSpring(NamedTuple):
    """A spring of a joint and the damper beside it: addresses within the link, and values, None if left out."""

    stiffness_at: str
    damping_at: str
    stiffness: Any
    damping: Any


class StraightLink(Record):
    """A straight link, the joint at its base, bodies and offsets at its ends."""

    flags: ClassVar[tuple[str, ...]]
    """Names of the boolean fields."""
    nothing_at_tip: ClassVar[dict[str, Any]]
    """Values of the tip fields for every piece of a cut link except the last."""
    length: Any
    youngs_modulus: Any
    density: Any
    section: Any
    poisson_ratio: Any
    shear_modulus: Any
    joint_stiffness: Any
    motor: str | None
    nonstructural_mass: Any
    rigid: bool
    #: links in space have no force at rest
    axial_force: Any = None

    def __post_init__(self) -> None:
        if self.joint_stiffness is None:
            object.__setattr__(self, "joint_stiffness", math.inf)
        for name in self.flags:
            if not isinstance(getattr(self, name), bool):
                raise ArmError(f"{name} = {shown(getattr(self, name))}: must be true or false.")
        super().__post_init__()
        self._name_motor()

    def _name_motor(self) -> None:
        """Set the motor of a rotor without one to the first of `MOTORS`, with a warning; without a rotor, to None."""
        motor: Any = self.motor
        if motor is not None and not (isinstance(motor, str) and motor in MOTORS):
            hint = suggestion(motor, MOTORS) if isinstance(motor, str) else ""
            raise ArmError(
                f"motor = {shown(motor)}: must be {' or '.join(map(repr, MOTORS))}; 'held' keeps the rotor still "
                f"against the link that carries it, 'beyond_spring' turns it with the joint.{hint}"
            )
        rotor = self.moving_rotor
        if rotor is None:
            object.__setattr__(self, "motor", None)
        elif motor is None:
            object.__setattr__(self, "motor", MOTORS[0])
            warnings.warn(
                f"{place_here()}motor is missing: {ROTOR[0]} = {shown(rotor.inertia)} needs to know whether "
                "its shaft is held. It is taken as held; natural_frequencies used to turn it with the joint, beyond "
                "the spring, and on an elastic joint has other frequencies now. Write motor = 'held' for a brake or a "
                "stiff servo, or motor = 'beyond_spring' for the numbers of before.",
                RotorWarning,
                stacklevel=6,  # the call that makes the link
            )

    @property
    def rotor(self) -> Rotor | None:
        """The rotor while the arm vibrates: with a held motor it turns by 0 per turn of the joint."""
        moving = self.moving_rotor
        if moving is None or self.motor != "held":
            return moving
        return Rotor(moving.inertia, moving.ratio * 0.0)

    @property
    def moving_rotor(self) -> Rotor | None:
        """The rotor while the motor moves the joint."""
        inertia, ratio = (getattr(self, name) for name in ROTOR)
        return None if inertia is None or ratio is None else Rotor(inertia, ratio)

    @property
    def acting_gear_ratio(self) -> Scalar | None:
        """Turns of the rotor per turn of the joint during vibration, 0 with a held motor."""
        return None if self.rotor is None else self.rotor.ratio

    @property
    def springs_of_joint(self) -> tuple[JointSpring, ...]:
        """The springs that the joint may have, that about its axis first."""
        raise NotImplementedError

    @property
    def springs_to_ground(self) -> dict[str, Any]:
        """Stiffnesses of the springs between the tip and the ground, by their addresses within the link."""
        raise NotImplementedError

    def continued(self: L, **changes: Any) -> L:
        """Return a link that is rigidly joined to the end of this one and ends as this one does."""
        raise NotImplementedError

    @property
    def scaled_section(self) -> Any:
        """The section with its dimensions in this link."""
        return self.section

    @property
    def area(self) -> Scalar:
        """Area of the section, m^2."""
        raise NotImplementedError

    @property
    def shear_modulus_value(self) -> Scalar | None:
        """Shear modulus G, Pa, given or computed from E and the Poisson ratio; None if unknown."""
        if self.poisson_ratio is None or self.youngs_modulus is None:
            return self.shear_modulus
        return self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))

    @property
    def mass(self) -> Scalar:
        """Mass of the link without the bodies at its ends, kg."""
        own = 0.0 if self.density is None else self.density * self.area
        if self.nonstructural_mass is not None:
            own = own + self.nonstructural_mass
        return own * self.length
