"""Springs of a joint in space beside that about its axis."""

from jaxmodal.arm.quantities import (
    NON_NEGATIVE,
    STIFFNESS,
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
#: those of dampers beside them
DAMPERS = {"translation": "N s/m", "rotation": "N m s/rad"}


@frozen_pytree
class Spring(Record):
    """A spring of a joint beside that about its axis: it gives way along or about one direction.

    Parameters
    ----------
    kind
        ``"translation"`` (N/m) or ``"rotation"`` (N m/rad).
    direction
        In the axes of the link that begins at the joint.
    stiffness
        Stiffness; inf is rigid, 0 gives way freely.
    damping
        Damper beside the spring, N s/m or N m s/rad.
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
        if not isinstance(self.kind, str) or self.kind not in SPRINGS:
            raise ArmError(f"kind = {shown(self.kind)}: must be {' or '.join(map(repr, SPRINGS))}.")
        object.__setattr__(self, "direction", as_vector(Direction, "direction", self.direction))
        super().__post_init__()
