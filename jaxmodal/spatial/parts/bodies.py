"""Rigid bodies with a full inertia tensor."""

from jaxmodal.arm.quantities import (
    NON_NEGATIVE,
    Record,
    Scalar,
    frozen_pytree,
    quantity,
    shown,
    static,
)
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.parts.geometry import InertiaTensor, Position, as_inertia, as_vector


@frozen_pytree
class RigidBody(Record):
    """A rigid body fixed to a point of an arm.

    Parameters
    ----------
    mass
        Mass, kg.
    centre
        Centre of gravity seen from the point, (x, y, z) in m, in the axes of the link; left out, it is the point.
    inertia
        Inertia tensor about the centre of gravity, kg m^2, in the axes of the link: three rows of three, or the three
        moments about the axes. Off-diagonal entries are components of the tensor, minus the products of inertia.
    inertia_check
        Whether a principal moment greater than the sum of the other two is refused, which no body has and some
        published robots do; `check` tells of those that are taken.

    Raises
    ------
    ArmError
        A value is not allowed, or no body has such a tensor: a principal moment is negative, or greater than the sum
        of the other two.

    Examples
    --------
    >>> body = RigidBody(2.0, centre=(0.1, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
    >>> float(body.inertia.yy)
    0.02
    """

    mass: Scalar = quantity("kg", "mass of the body", NON_NEGATIVE, "0 is no body", default=0.0)
    centre: Position | None = None
    inertia: InertiaTensor | None = None
    inertia_check: bool = static(default=True)

    def __post_init__(self) -> None:
        if not isinstance(self.inertia_check, bool):
            raise ArmError(f"inertia_check = {shown(self.inertia_check)}: must be true or false.")
        if self.centre is not None:
            object.__setattr__(self, "centre", as_vector(Position, "centre", self.centre))
        if self.inertia is not None:
            tensor = as_inertia("inertia", self.inertia, self.inertia_check)
            object.__setattr__(self, "inertia", tensor)
        super().__post_init__()
