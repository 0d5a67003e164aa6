"""Dead loads on an arm in space: gravity, a force and a moment at the tip, a steady acceleration of the base."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from jaxmodal.arm.loads import none_given
from jaxmodal.arm.quantities import FINITE, Record, Scalar, frozen_pytree, quantities, quantity
from jaxmodal.runtime.array_types import Floats

_AXES = ("x", "y", "z")


class LoadsInSpace(NamedTuple):
    """Loads of fixed direction in ground axes, (3,) each.

    Gravity in m/s^2 (minus a steady acceleration of the base) on all masses, a force in N and a moment in N m at the
    tip of the last link.
    """

    gravity: Floats
    tip_force: Floats
    tip_moment: Floats

    def plus(self, other: LoadsInSpace) -> LoadsInSpace:
        """Return the sum of two sets of loads."""
        return LoadsInSpace(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def any(self) -> bool:
        """True if a component is not zero."""
        return bool(np.any(np.concatenate(self)))


NO_LOADS = LoadsInSpace(np.zeros(3), np.zeros(3), np.zeros(3))


def _component(unit: str, meaning: str) -> Any:
    return quantity(unit, meaning, FINITE, "leave it out for none", default=None)


@frozen_pytree
class SpatialLoads(Record):
    """Dead loads on an arm in space at rest, in the axes of the ground; their directions are the same in every posture.

    Parameters
    ----------
    gravity_x, gravity_y, gravity_z
        Acceleration of gravity, m/s^2, such as ``gravity_z=-9.81``; it acts on links, bodies, hubs, stators and
        payload. Leave a component out for none.
    tip_force_x, tip_force_y, tip_force_z
        Force at the tip of the last link, N.
    tip_moment_x, tip_moment_y, tip_moment_z
        Moment there, N m; it is semi-tangential, as in `buckling`.
    base_acceleration_x, base_acceleration_y, base_acceleration_z
        Steady acceleration of the base, m/s^2; it acts like gravity in the opposite direction.

    Raises
    ------
    ArmError
        If a concrete value is not allowed, or no load is given.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> strip = jm.rectangle(0.03, 0.01, 0.85)
    >>> link = jm.SpatialLink(1.0, 7e10, 2700.0, strip, poisson_ratio=0.33, joint_axis=(0, 1, 0), joint_angle=-1.5708)
    >>> mast = jm.SpatialArm((link,), payload=jm.RigidBody(3.0), loads=jm.SpatialLoads(gravity_z=-9.81))
    >>> arms = [jm.set_parameters(mast, {"loads.gravity_z": g}) for g in (0.0, -9.81)]
    >>> [f"{jm.natural_frequencies(x, 1).frequencies_hz[0]:.4f}" for x in arms]
    ['2.0413', '1.9655']
    """

    place: ClassVar[str] = "loads."
    vectors: ClassVar[tuple[str, ...]] = (
        *("gravity", "tip_force"),
        *("tip_moment", "base_acceleration"),
    )
    gravity_x: Scalar | None = _component("m/s^2", "gravity along x")
    gravity_y: Scalar | None = _component("m/s^2", "gravity along y")
    gravity_z: Scalar | None = _component("m/s^2", "gravity along z")
    tip_force_x: Scalar | None = _component("N", "force at the tip along x")
    tip_force_y: Scalar | None = _component("N", "force at the tip along y")
    tip_force_z: Scalar | None = _component("N", "force at the tip along z")
    tip_moment_x: Scalar | None = _component("N m", "moment at the tip about x")
    tip_moment_y: Scalar | None = _component("N m", "moment at the tip about y")
    tip_moment_z: Scalar | None = _component("N m", "moment at the tip about z")
    base_acceleration_x: Scalar | None = _component(
        "m/s^2", "steady acceleration of the base along x"
    )
    base_acceleration_y: Scalar | None = _component(
        "m/s^2", "steady acceleration of the base along y"
    )
    base_acceleration_z: Scalar | None = _component(
        "m/s^2", "steady acceleration of the base along z"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [item.name for item in quantities(self)]
        if all(getattr(self, name) is None for name in names):
            raise none_given(names, "gravity_z = -9.81")

    def components(self, name: str) -> list[Scalar | None]:
        """Return one of the `vectors` along x, y and z; None where left out."""
        return [getattr(self, f"{name}_{axis}") for axis in _AXES]

    def dead(self) -> LoadsInSpace:
        """Return the loads as numbers; imaginary parts are kept."""

        def along(name: str) -> list[Any]:
            given = self.components(name)
            return [0.0 if x is None else np.squeeze(np.asarray(x)) for x in given]

        moved = zip(along("gravity"), along("base_acceleration"), strict=True)
        return LoadsInSpace(
            np.array([a - b for a, b in moved]),
            np.array(along("tip_force")),
            np.array(along("tip_moment")),
        )
