"""Dead loads on an arm: gravity, a force at the tip, a steady acceleration of the base."""

import math
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from jaxmodal.arm.arguments import whole
from jaxmodal.arm.quantities import (
    ANGLE,
    FINITE,
    NON_NEGATIVE,
    Record,
    Scalar,
    frozen_pytree,
    quantities,
    quantity,
    shown,
    static,
)
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import xp
from jaxmodal.statics.chain import DeadLoads

#: segments of each link along which the axial force varies, unless an arm says how many
PIECES = 4
#: which of the forces along a segment stands for all
BOUNDS = ("middle", "lower", "upper")


def require_bound(name: str, value: object) -> None:
    """Refuse anything but one of `BOUNDS`."""
    if value not in BOUNDS:
        raise ArmError(f"{name} = {shown(value)}: must be one of {', '.join(map(repr, BOUNDS))}.")


def none_given(names: Iterable[str], example: str) -> ArmError:
    """Return the error for loads without any value."""
    return ArmError(f"loads: there is none; give one of {', '.join(names)}, such as {example}.")


@frozen_pytree
class Loads(Record):
    """Dead loads on an arm at rest, in base axes; their directions are the same in every posture.

    Parameters
    ----------
    gravity
        Acceleration of gravity, m/s^2; it acts on links, bodies, hubs and payload. Leave it out for none.
    gravity_direction
        Direction of gravity: angle from the x axis of the base, rad, counter-clockwise. The default, -pi/2, is down.
    tip_force_x, tip_force_y
        Force at the tip of the last link, N. Leave it out for none.
    base_acceleration_x, base_acceleration_y
        Steady acceleration of the base, m/s^2; it acts like gravity in the opposite direction. Leave it out for none.
    pieces
        Number of equal segments per elastic link, 1 or more, where gravity or an acceleration makes its axial force
        vary. The error falls with the square of this number.
    bound
        Axial force used for each segment. ``"middle"``: the force at its middle. ``"lower"`` and ``"upper"``: the least
        and the greatest force along it; every frequency is then a lower or an upper bound, by Rayleigh's principle.

    Raises
    ------
    ArmError
        If a concrete value is not allowed, or no load is given.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> mast = jm.Link(2.0, 7e10, 2700.0, jm.rectangle(0.01, 0.05), joint_angle=1.5707963267948966, tip_mass=0.5)
    >>> arm = jm.Arm((mast,), loads=jm.Loads(gravity=9.81))
    >>> arms = [jm.set_parameters(arm, {"loads.gravity": g}) for g in (0.0, 9.81)]
    >>> [f"{jm.natural_frequencies(x, 1, theory='rayleigh').frequencies_hz[0]:.4f}" for x in arms]
    ['1.5542', '1.4959']
    """

    place: ClassVar[str] = "loads."
    vectors: ClassVar[tuple[str, ...]] = ("gravity", "tip_force", "base_acceleration")
    gravity: Scalar | None = quantity(
        "m/s^2", "size of gravity", NON_NEGATIVE, "turn gravity_direction instead", default=None
    )
    gravity_direction: Scalar = quantity(
        "rad",
        "direction of gravity, from the x axis of the base",
        ANGLE,
        "give radians, or gravity_direction_deg in a file",
        default=-0.5 * math.pi,
    )
    tip_force_x: Scalar | None = quantity(
        "N", "force at the tip along x", FINITE, "leave it out for none", default=None
    )
    tip_force_y: Scalar | None = quantity(
        "N", "force at the tip along y", FINITE, "leave it out for none", default=None
    )
    base_acceleration_x: Scalar | None = quantity(
        "m/s^2",
        "steady acceleration of the base along x",
        FINITE,
        "leave it out for none",
        default=None,
    )
    base_acceleration_y: Scalar | None = quantity(
        "m/s^2",
        "steady acceleration of the base along y",
        FINITE,
        "leave it out for none",
        default=None,
    )
    pieces: int = static(default=PIECES)
    bound: str = static(default="middle")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "pieces", whole("loads.pieces", self.pieces, 1, limits.LINKS))
        require_bound("loads.bound", self.bound)
        if not self.varies and self.tip_force_x is None and self.tip_force_y is None:
            names = (x.name for x in quantities(self) if x.default is None)
            raise none_given(names, "gravity = 9.81")

    @property
    def varies(self) -> bool:
        """True if axial forces vary along links: gravity or an acceleration acts on distributed mass."""
        along = (self.gravity, self.base_acceleration_x, self.base_acceleration_y)
        return any(value is not None for value in along)

    def components(self, name: str) -> list[Scalar | None]:
        """Return one of the `vectors` along x and y of the base; None where left out."""
        if name != "gravity":
            return [getattr(self, f"{name}_{axis}") for axis in "xy"]
        if self.gravity is None:
            return [None, None]
        return [self.gravity * part(self.gravity_direction) for part in (xp.cos, xp.sin)]

    def dead(self) -> DeadLoads:
        """Return the loads along x and y of the base, as numbers or, for batched values, columns."""
        size = _given(self.gravity)
        return DeadLoads(
            size * xp.cos(self.gravity_direction) - _given(self.base_acceleration_x),
            size * xp.sin(self.gravity_direction) - _given(self.base_acceleration_y),
            _given(self.tip_force_x),
            _given(self.tip_force_y),
        )


def _given(value: Scalar | None) -> Scalar:
    return np.float64(0.0) if value is None else value
