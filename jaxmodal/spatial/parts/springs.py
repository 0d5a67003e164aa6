"""Springs of a joint in space other than the one about its axis, and supports between a tip and the ground."""

from jaxmodal.arm.quantities import (
    NON_NEGATIVE,
    STIFFNESS,
    SUPPORT,
    Record,
    Scalar,
    frozen_pytree,
    quantity,
    shown,
    static,
)
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.parts.geometry import Direction, as_vector

#: the two kinds of springs, and their units
SPRINGS = {"translation": "N/m", "rotation": "N m/rad"}
#: units of the dampers in parallel with them
DAMPERS = {"translation": "N s/m", "rotation": "N m s/rad"}


@frozen_pytree
class Spring(Record):
    """A spring of a joint other than the one about its axis, along or about one direction.

    Parameters
    ----------
    kind
        ``"translation"`` (N/m) or ``"rotation"`` (N m/rad).
    direction
        Direction in the axes of the link that begins at the joint.
    stiffness
        Stiffness; inf is rigid, 0 is free.
    damping
        Damper in parallel with the spring, N s/m or N m s/rad.
    """

    kind: str = static()
    direction: Direction
    stiffness: Scalar = quantity(
        "N/m or N m/rad", "stiffness of a spring of the joint", STIFFNESS, "leave it out if rigid"
    )
    damping: Scalar | None = quantity(
        "N s/m or N m s/rad", "damper beside a spring of the joint", NON_NEGATIVE, default=None
    )

    def __post_init__(self) -> None:
        _convert(self)
        super().__post_init__()


@frozen_pytree
class Support(Record):
    """A spring between the tip of a link and the ground, along or about a direction fixed to the ground.

    Parameters
    ----------
    kind
        ``"translation"`` (N/m) or ``"rotation"`` (N m/rad).
    direction
        Direction in the axes of the ground.
    stiffness
        Stiffness; inf is a rigid support, 0 is no support.
    """

    kind: str = static()
    direction: Direction
    stiffness: Scalar = quantity(
        "N/m or N m/rad", "stiffness of a support", SUPPORT, "leave it out if there is none"
    )

    def __post_init__(self) -> None:
        _convert(self)
        super().__post_init__()


def _convert(spring: Spring | Support) -> None:
    """Check the kind, and convert three numbers to a direction."""
    if not isinstance(spring.kind, str) or spring.kind not in SPRINGS:
        raise ArmError(f"kind = {shown(spring.kind)}: must be {' or '.join(map(repr, SPRINGS))}.")
    object.__setattr__(spring, "direction", as_vector(Direction, "direction", spring.direction))
