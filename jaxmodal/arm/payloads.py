"""The payload: a rigid body carried at the tip of the last link."""

from typing import ClassVar

from jaxmodal.arm.quantities import FINITE, NON_NEGATIVE, Record, Scalar, frozen_pytree, quantity


@frozen_pytree
class Payload(Record):
    """A rigid body carried by the arm; it adds to the body at the tip of the last link.

    Parameters
    ----------
    mass
        Mass, kg.
    inertia
        Moment of inertia about its centre of gravity, kg m^2.
    centre_x, centre_y
        Centre of gravity relative to the tip, m, along the last link and to its left; at the tip if left
        out.

    Raises
    ------
    ArmError
        If a concrete value is negative or not finite.
    """

    place: ClassVar[str] = "payload."
    mass: Scalar = quantity(
        "kg", "mass of the payload", NON_NEGATIVE, "0 is no payload", default=0.0
    )
    inertia: Scalar = quantity(
        "kg m^2", "moment of inertia of the payload", NON_NEGATIVE, "0 is no payload", default=0.0
    )
    centre_x: Scalar | None = quantity(
        "m", "centre of gravity of the payload, along", FINITE, "0 is the tip", default=None
    )
    centre_y: Scalar | None = quantity(
        "m", "centre of gravity of the payload, to the left", FINITE, "0 is the tip", default=None
    )
