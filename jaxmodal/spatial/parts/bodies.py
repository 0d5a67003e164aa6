"""Rigid bodies with a full inertia tensor."""

import warnings

import numpy as np

from jaxmodal.arm.arguments import require_truth
from jaxmodal.arm.quantities import (
    NON_NEGATIVE,
    Record,
    Scalar,
    frozen_pytree,
    quantity,
    static,
)
from jaxmodal.runtime.errors import ArmError, ImplausibleWarning
from jaxmodal.runtime.namespace import tree_on_host
from jaxmodal.spatial.parts.geometry import InertiaTensor, Position, as_inertia, as_vector


@frozen_pytree
class RigidBody(Record):
    """A rigid body fixed to a point of an arm.

    Parameters
    ----------
    mass
        Mass, kg.
    centre
        Centre of gravity relative to the point, (x, y, z) in m, in the axes of the link; by default the point itself.
    inertia
        Inertia tensor about the centre of gravity, kg m^2, in the axes of the link: three rows of three, or the three
        moments of inertia about the axes. Off-diagonal entries are components of the tensor, minus the products of
        inertia.

    inertia_check
        If False, a tensor with a principal moment greater than the sum of the other two is accepted with a warning. No
        body has such a tensor, but some published data do.

    Raises
    ------
    ArmError
        If a value is invalid, or the inertia tensor is physically impossible: a principal moment is negative, or
        greater than the sum of the other two.

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
        require_truth("inertia_check", self.inertia_check)
        if self.centre is not None:
            object.__setattr__(self, "centre", as_vector(Position, "centre", self.centre))
        if self.inertia is not None:
            given = self.inertia
            tensor = as_inertia("inertia", given, self.inertia_check)
            object.__setattr__(self, "inertia", tensor)
            if tensor is not given and (fault := fault_of(tensor)):
                warnings.warn(f"inertia: {fault}", ImplausibleWarning, stacklevel=4)
        super().__post_init__()


def fault_of(tensor: InertiaTensor) -> str:
    """Return why an unchecked tensor is impossible.

    The text is empty if it is possible, or if its values are traced or batched.
    """
    if tensor.check or not tree_on_host(tensor) or any(np.ndim(x) for x in tensor.rows()[0]):
        return ""
    try:
        tensor.replace(check=True)
    except ArmError:
        _, fault = tensor.moment_at_fault()
        return f"no body has such a tensor: {fault}"
    return ""
