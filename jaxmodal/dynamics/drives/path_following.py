"""Motion of the joints along a path of the tip, and its errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxmodal.arm.arguments import finite, positive, reals, require_truth
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.drives.inverse_kinematics import (
    Found,
    axes_at,
    followed,
    length_of,
    missed_by,
)
from jaxmodal.dynamics.drives.motions import Motion, angles_at
from jaxmodal.dynamics.drives.piecewise import through
from jaxmodal.dynamics.drives.rules import ascending_times, check_values
from jaxmodal.dynamics.mechanics.free_bases import require_held_base
from jaxmodal.dynamics.model import FlexibleModel, require_model
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.precision import require_x64
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray

#: distance from a limit below which a joint is at the limit (rad, m)
_AT_LIMIT = 1e-6
#: path, or any function of time that returns a position, or a position and a rotation
Path = Callable[[float], Any]


@dataclasses.dataclass(frozen=True, repr=False)
class FollowedPath(Result):
    """Motion of the joints along a path of the tip.

    Attributes
    ----------
    motion : Motion
        Motion of the joints, for `simulate` and for laws: cubic splines through the positions. The joints are at rest
        before and after.
    times : array, shape (T,)
        Times, s.
    angles : array, shape (T, n)
        Positions of the joints, rad (m for sliding joints).
    miss, miss_between : array, shape (T,) and (T - 1,)
        Distance of the undeflected tip from the path at the times, and of the spline motion midway between them, m.
    turn_miss, turn_miss_between : array or None
        Errors of the orientation of the tip, rad; None if no orientation is prescribed.
    singular_value : array, shape (T,)
        Smallest singular value of the Jacobian, as a share of the length of the arm per rad: 0 in a singular posture.
    at_limit : array, shape (T, n)
        True for joints at a limit.
    beyond_limit : float
        Largest distance by which the motion exceeds a limit between the times, rad (m for sliding joints).
    turns : array of bool, shape (n,)
        True for joints that turn; the others slide.
    status : Status
        Resolved, or off_path if the path is missed at one of the times.
    message : str
        Status in words, with numbers.
    """

    motion: Motion
    times: np.ndarray
    angles: np.ndarray
    miss: np.ndarray
    miss_between: np.ndarray
    turn_miss: np.ndarray | None
    turn_miss_between: np.ndarray | None
    singular_value: np.ndarray
    at_limit: np.ndarray
    beyond_limit: float
    turns: np.ndarray
    status: Status
    message: str

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the joint positions: rad, or m for sliding joints."""
        return tuple("rad" if turns else "m" for turns in self.turns)

    def tables(self) -> list[Table]:
        """Return a table of the range and largest rate of each joint, with the errors of the path."""
        rates = np.diff(self.angles, axis=0) / np.diff(self.times)[:, None]
        each = zip(self.units, self.angles.T, rates.T, self.at_limit.T, strict=True)
        rows = [
            [
                str(i),
                f"{q.min():.4g} {unit}",
                f"{q.max():.4g} {unit}",
                f"{np.abs(v).max():.4g} {unit}/s",
                str(held.sum()),
            ]
            for i, (unit, q, v, held) in enumerate(each, start=1)
        ]
        notes = [
            f"status {self.status}: {self.message}",
            f"tip misses the path by up to {self.miss.max():.2g} m, between the times by "
            f"{self.miss_between.max():.2g} m",
        ]
        if self.turn_miss is not None and self.turn_miss_between is not None:
            notes.append(
                f"its orientation by up to {self.turn_miss.max():.2g} rad, between the times by "
                f"{self.turn_miss_between.max():.2g} rad"
            )
        notes.append(
            f"smallest singular value {self.singular_value.min():.3g} at t = "
            f"{self.times[np.argmin(self.singular_value)]:.4g} s; limits passed by {self.beyond_limit:.2g} rad"
        )
        title = (
            f"path of the tip followed by {self.angles.shape[1]} joints, {self.times.size} times"
        )
        headings = ("joint", "least", "most", "largest rate", "times at limit")
        return [Table(title, headings, rows, notes)]

    def to_xarray(self) -> xarray.Dataset:
        """Return angles, errors, limits and singular values as a dataset with the dimensions time and joint; rad, m."""
        import xarray

        unit = "rad" if self.turns.all() else ""
        made = {
            "angle": variable(("time", "joint"), self.angles, "position of the joint", unit),
            "at_limit": variable(("time", "joint"), self.at_limit, "whether it is at a limit"),
            "miss": variable("time", self.miss, "distance of the tip from the path", "m"),
            "singular_value": variable(
                "time",
                self.singular_value,
                "smallest of the Jacobian over the arm's length",
                "1/rad",
            ),
        }
        if self.turn_miss is not None:
            made["turn_miss"] = variable(
                "time", self.turn_miss, "the same of its orientation", "rad"
            )
        coordinates = {
            "time": variable("time", self.times, "time", "s"),
            "joint": 1 + np.arange(self.turns.size),
        }
        if not unit:
            coordinates["units"] = variable("joint", self.units, "unit of the position")
        attributes = {"status": self.status.name, "message": self.message}
        return xarray.Dataset(made, coordinates, attributes)


def follow_path(
    model: FlexibleModel,
    path: Path,
    times: Any,
    near: Any,
    *,
    orientation: Any = None,
    limits: Any = None,
    damping: float = 1e-3,
    tolerance: float = 1e-9,
    allow_misses: bool = False,
) -> FollowedPath:
    """Return the motion of the joints that moves the undeflected tip along a path.

    Parameters
    ----------
    model
        The arm, in space or in the plane, on a fixed base.
    path
        `LinePath`, `CirclePath`, or any function of time (s) that returns the position of the tip in the axes of the
        base, m, shape (3,), in the plane (2,); or a pair of the position and the axes of the tip as columns, shape (3,
        3).
    times
        Ascending times, s, shape (T,), at which the tip meets the path. Between them the joints move on cubic splines,
        whose error falls with the fourth power of the interval.
    near
        Joint positions at which the search starts, rad or m, shape (n,): from several postures that reach the start of
        the path, it finds one near these.
    orientation
        Axes of the tip as columns, shape (3, 3), to be kept; ``"start"`` keeps the axes at ``near``; None leaves them
        free.
    limits
        Pair of the lowest and highest joint positions, each one number or n, rad or m.
    damping
        Singular values, as shares of the length of the arm, below which steps of the joints are damped.
    tolerance
        Largest error at the times, as a share of the length of the arm and in rad.
    allow_misses
        If True and the path cannot be met, the nearest motion is returned, with the status off_path.

    Raises
    ------
    ArmError
        If an argument is not allowed, or the path is missed without ``allow_misses``.

    Notes
    -----
    Damped least squares after Levenberg and Marquardt; the damping is half the error plus ``damping`` squared.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import numpy as np, jaxmodal as jm
    >>> from jaxmodal import dynamics
    >>> boom = jm.SpatialLink(1.0, rigid=True, hub=jm.RigidBody(1.0, inertia=(0.1, 0.1, 0.1)))
    >>> up = jm.SpatialLink(1.0, rigid=True, joint_axis=(0, 1, 0), hub=boom.hub)
    >>> arm = dynamics.flexible_arm(jm.SpatialArm((up, up)), 1)
    >>> line = dynamics.LinePath((1.2, 0.0, 0.5), (0.8, 0.0, 0.9), duration=1.0)
    >>> found = dynamics.follow_path(arm, line, np.linspace(0, 1, 41), near=[-1.0, 1.0])
    >>> found.status.name, bool(found.miss_between.max() < 1e-5)
    ('resolved', True)
    """
    require_x64()
    require_model(model)
    require_held_base(model, "follow_path")
    require_truth("allow_misses", allow_misses)
    damping, tolerance = positive("damping", damping), positive("tolerance", tolerance)
    moments = ascending_times(times, 4, 81)
    n = model.num_links
    begin = finite("near", near, (n,), f"{n} finite numbers, an angle of each joint (rad)")
    lower, upper = _limits(limits, n)
    places, axes = _sampled(model, path, moments, orientation, begin)
    found = jax.device_get(followed(model, begin, places, axes, lower, upper, damping**2))
    motion = through(moments, found.angles, "not-a-knot")
    middles = 0.5 * (moments[1:] + moments[:-1])
    between = np.asarray(angles_at(motion, middles))
    missed = jax.device_get(
        missed_by(model, between, *_sampled(model, path, middles, orientation, begin))
    )
    outside = np.maximum(lower - between, between - upper).max(initial=0.0)
    status, message = _judged(model, moments, found, tolerance, (lower, upper))
    if not status.usable and not allow_misses:
        raise ArmError(f"path: {message}; allow_misses=True accepts the nearest motion.")
    posed = axes is not None
    return FollowedPath(
        motion=motion,
        times=moments,
        angles=found.angles,
        miss=found.miss,
        miss_between=missed[0],
        turn_miss=found.turn if posed else None,
        turn_miss_between=missed[1] if posed else None,
        singular_value=found.singular,
        at_limit=_at_limit(found.angles, lower, upper),
        beyond_limit=float(max(outside, 0.0)),
        turns=np.asarray(model.layout.turns),
        status=status,
        message=message,
    )


def _at_limit(angles: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return (angles <= lower + _AT_LIMIT) | (angles >= upper - _AT_LIMIT)


def _judged(
    model: FlexibleModel,
    moments: np.ndarray,
    found: Found,
    tolerance: float,
    limits: tuple[np.ndarray, np.ndarray],
) -> tuple[Status, str]:
    """Return the status, and its message."""
    length = float(length_of(model))
    off = (found.miss > tolerance * length) | (found.turn > tolerance)
    if not np.any(off):
        return Status.resolved, "met at all times"
    worst = int(np.argmax(np.maximum(found.miss / length, found.turn)))
    held = np.flatnonzero(np.any(_at_limit(found.angles, *limits)[off], axis=0)) + 1
    turned = f" and {found.turn[worst]:.3g} rad" if found.turn[worst] > tolerance else ""
    why = (
        f"joint {', '.join(map(str, held))} is at a limit there"
        if held.size
        else "no limit of a joint is in the way"
    )
    return Status.off_path, (
        f"missed at {off.sum()} of {off.size} times from t = {moments[np.argmax(off)]:.6g} s on, most at t = "
        f"{moments[worst]:.6g} s, by {found.miss[worst]:.3g} m{turned}; {why}; the smallest singular value is "
        f"{found.singular[worst]:.2g}. A path must lie within reach of the undeflected arm and its limits, and `near` "
        "near its start"
    )


def _limits(limits: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    if limits is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    expected = f"a pair (lowest, highest) of angles, each one number or {n} (rad), the lowest below the highest"
    pair = isinstance(limits, (list, tuple, np.ndarray)) and len(limits) == 2
    if not pair:
        raise ArmError(f"limits = {shown(limits)}: must be {expected}.")
    low, high = (reals("limits", each, expected) for each in limits)
    if low.shape not in ((), (n,)) or high.shape not in ((), (n,)) or not np.all(low < high):
        raise ArmError(f"limits = {shown(limits)}: must be {expected}.")
    return np.broadcast_to(low, n).copy(), np.broadcast_to(high, n).copy()


def _sampled(
    model: FlexibleModel, path: Path, moments: np.ndarray, orientation: Any, begin: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return positions (T, d) at some times, and the axes of the tip there (T, 3, 3), or None."""
    if not callable(path):
        raise ArmError(
            f"path = {shown(path)}: must be a LinePath, a CirclePath, or a function of time that gives a place."
        )
    check_values(path)
    size = len(model.axes)
    places, axes = [], []
    for moment in moments.tolist():
        given = path(moment)
        turned = isinstance(given, tuple) and len(given) == 2 and np.ndim(given[1]) == 2
        place = finite(
            "path",
            given[0] if turned else given,
            (size,),
            f"{size} finite numbers at t = {moment:g} s (m)",
        )
        places.append(place)
        if turned:
            axes.append(_rotation(f"path: its axes at t = {moment:g} s", given[1]))
    if axes and (orientation is not None or len(axes) < len(places)):
        raise ArmError(
            "path: returns axes of the tip; must return them at all times, and then orientation must be left out."
        )
    if size == 2 and (axes or orientation is not None):
        raise ArmError(
            "orientation: is given for a planar arm; must be left out: its tip follows only positions."
        )
    if axes:
        return np.array(places), np.array(axes)
    if orientation is None:
        return np.array(places), None
    if isinstance(orientation, str):
        if orientation != "start":
            raise ArmError(
                f"orientation = {orientation!r}: must be 'start', the axes of the tip as columns (3, 3), or None."
            )
        kept = np.asarray(axes_at(model, begin))
    else:
        kept = _rotation("orientation", orientation)
    return np.array(places), np.broadcast_to(kept, (len(places), 3, 3))


def _rotation(name: str, value: Any) -> np.ndarray:
    expected = (
        "a rotation, three orthogonal unit vectors as columns that make a right-handed system"
    )
    given = finite(name, value, (3, 3), expected)
    if np.abs(given.T @ given - np.eye(3)).max() > 1e-9 or np.linalg.det(given) < 0.0:
        raise ArmError(f"{name} = {shown(value)}: must be {expected}.")
    return given
