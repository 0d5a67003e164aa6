"""What links in the plane and in space have alike: the stiffness of a joint left out, flags, mass, what pieces have."""

import math
from typing import Any, ClassVar, TypeVar

from jaxmodal.arm.quantities import Record, Scalar, shown
from jaxmodal.runtime.errors import ArmError

L = TypeVar("L", bound="StraightLink")


class StraightLink(Record):
    """A straight link, the joint at its base, bodies and offsets at its ends."""

    flags: ClassVar[tuple[str, ...]]
    """Fields that are true or false."""
    nothing_at_tip: ClassVar[dict[str, Any]]
    """What a piece of the link has at its tip that is not the last one."""
    length: Any
    youngs_modulus: Any
    density: Any
    section: Any
    poisson_ratio: Any
    shear_modulus: Any
    joint_stiffness: Any
    nonstructural_mass: Any
    rigid: bool

    def __post_init__(self) -> None:
        if self.joint_stiffness is None:
            object.__setattr__(self, "joint_stiffness", math.inf)
        for name in self.flags:
            if not isinstance(getattr(self, name), bool):
                raise ArmError(f"{name} = {shown(getattr(self, name))}: must be true or false.")
        super().__post_init__()

    def continued(self: L, **changes: Any) -> L:
        """A link joined rigidly to the end of this one, with nothing between, that ends as this one does."""
        raise NotImplementedError

    @property
    def area(self) -> Scalar:
        """Area of the section, m^2."""
        raise NotImplementedError

    @property
    def shear_modulus_value(self) -> Scalar | None:
        """G, Pa, given or from E and the Poisson ratio; None where neither is known."""
        if self.poisson_ratio is None or self.youngs_modulus is None:
            return self.shear_modulus
        return self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))

    @property
    def mass(self) -> Scalar:
        """Mass of the link itself, without the bodies at its ends, kg."""
        own = 0.0 if self.density is None else self.density * self.area
        if self.nonstructural_mass is not None:
            own = own + self.nonstructural_mass
        return own * self.length
