"""Time-optimal timing of a joint path within limits on speeds, accelerations and torques."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from jaxmodal.arm.arguments import positive_integer
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.drives.motions import Motion, checked_angles
from jaxmodal.dynamics.drives.piecewise import PiecewisePolynomial
from jaxmodal.moves.joint_limits import (
    Loads,
    each_joint,
    joints_of,
    limits_of,
    loads_of,
    require_strong,
)
from jaxmodal.moves.paths import knots_of, moved
from jaxmodal.moves.refusals import require_moving_arm
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import ListedResult, ResolvedResult
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

#: number of times at which the length of the path is measured, and number of times at which the result is checked
_MEASURED, _SAMPLES = 20_001, 4001
#: largest change of direction of the path, rad, over two intervals; more is a corner, where joints would have to stop
_CORNER = 0.3
#: share of a limit from which it counts as reached
_BINDING = 0.99


@dataclasses.dataclass(frozen=True, repr=False)
class TimedMove(ResolvedResult, ListedResult):
    """A joint path traversed in the shortest time; see `time_optimal`. A timing that breaks a limit is refused.

    Attributes
    ----------
    motion : PiecewisePolynomial
        The move.
    duration : float
        Time from rest to rest, s.
    before : float
        Duration of the original move, s.
    holds_back : dict of str to float
        Fraction of the duration during which each limit is reached.
    slowed : float
        Factor by which the move was finally stretched, so that limits hold between points as well.
    """

    motion: PiecewisePolynomial
    duration: float
    before: float
    holds_back: dict[str, float]
    slowed: float

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return a row for each limit: the fraction of the duration during which it is reached."""
        return ("limit", "reached"), list(self.holds_back.items())

    def tables(self) -> list[Table]:
        """Return a table with one row for each limit."""
        rows = [[name, f"{100.0 * share:.1f}"] for name, share in self.holds_back.items()]
        title = f"the same path in {self.duration:.6g} s, as given {self.before:.6g} s"
        notes = [
            f"stretched by {self.slowed - 1.0:.1e}, so that limits hold between the points of the path, too",
            "no vibration is looked at: see move_vibration, quickest_stretch with left_mm, and shape_move",
        ]
        return [Table(title, ("limit", "reached [% of the time]"), rows, notes, ("limit",))]


class _Way(NamedTuple):
    """Path sampled at P evenly spaced points: its length, and joint angles with derivatives by length, each (P, n)."""

    length: Floats
    angles: Floats
    slopes: Floats
    bends: Floats


class _Rows(NamedTuple):
    """Constraints ``|across u + along x + weight| <= most``, (P, rows).

    x is the squared speed along the path, u the acceleration.
    """

    across: Floats
    along: Floats
    weight: Floats
    most: Floats


def time_optimal(
    arm: AnyArm,
    move: Motion,
    *,
    speed: Any = None,
    acceleration: Any = None,
    torque: Any = None,
    gravity: Any = None,
    points: int = 401,
) -> TimedMove:
    """Find the time-optimal timing of the joint path of a move, from rest to rest, within limits.

    Parameters
    ----------
    arm, gravity
        As for `quickest_stretch`.
    move
        A motion with an end time. Only its path is used, not its timing. A path with a corner, where the joints would
        have to stop, is refused.
    speed, acceleration, torque
        Limits of the joints, rad/s, rad/s^2 and N m after the gear, one for all or (n,). Torques are those of the rigid
        arm, rotors and gravity included. Acceleration or torque must be given.
    points
        Number of points along the path at which the limits are imposed, on both sides of each point.

    Returns
    -------
    TimedMove
        The motion, its duration, and the fraction of time at each limit.

    Raises
    ------
    ArmError
        If a limit is missing, invalid or infinite for all joints that move, gravity alone exceeds a torque limit, the
        path has a corner, or no joint moves along it.

    Notes
    -----
    With x the square of the speed along the path and u the acceleration, all limits are linear in x and u. A backward
    pass from rest computes, by elimination between the limits at every point, the largest x from which the end can be
    reached. A forward pass then takes x as large as possible. u is constant between points, and limits hold at both
    ends of each interval. The duration is that for this piecewise constant u; it converges to the minimum with the
    square of the distance between points. Where limits are exceeded between points, the whole move is stretched.
    Accelerations are discontinuous.

    H. Pham and Q.-C. Pham, IEEE Transactions on Robotics 34 (2018) 645-659.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics
    >>> from jaxmodal.moves import time_optimal
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),))
    >>> slow = dynamics.RestToRest([0.0], [1.0], 5.0)
    >>> found = time_optimal(arm, slow, speed=1.0, acceleration=4.0)
    >>> f"{found.duration:.3f} s"   # 1/v + v/a
    '1.250 s'
    """
    require_moving_arm(arm, vibrating=False)
    checked_angles(move, len(arm.joints), 0.0)
    if acceleration is None and torque is None:
        raise ArmError(
            "acceleration, torque: neither is given, and without one a path takes no time; give one or both."
        )
    number = positive_integer(points, "points", limits.SAMPLES)
    if number < 8:
        raise ArmError(f"points = {shown(points)}: must be 8 or more.")
    knots = knots_of(move)
    way = _way_of(move, knots, number)
    joints = joints_of(arm)
    count = way.angles.shape[1]
    fastest = np.full(number, np.inf)
    if speed is not None:
        with np.errstate(divide="ignore"):
            each = each_joint("speed", speed, count, "rad/s") / np.abs(way.slopes)
        fastest = np.min(each, axis=1) ** 2
    rows = _rows_of(arm, way, acceleration, torque, gravity)
    squares = _squares(way, rows, fastest)
    motion = _motion_of(way, squares)
    asked = {"speed": speed, "acceleration": acceleration, "torque": torque}
    times = _looked_at(motion)
    loads = loads_of(arm, moved(motion, times), gravity, torque is not None)
    slowed = max(1.0, *(limit.stretch for limit in limits_of(loads, joints, **asked)))
    motion = _stretched(motion, slowed)
    loads = Loads(
        loads.rates / slowed,
        loads.changes / slowed**2,
        None if loads.inertia is None else loads.inertia / slowed**2,
        loads.weight,
    )
    return TimedMove(
        motion=motion,
        duration=float(np.asarray(motion.breaks)[-1]),
        before=float(knots[-1] - knots[0]),
        holds_back=_shares(loads, count, asked, np.diff(np.asarray(motion.breaks))),
        slowed=slowed,
    )


def _way_of(move: Motion, knots: Floats, number: int) -> _Way:
    """Sample the path of a move at a number of points."""
    times = np.linspace(knots[0], knots[-1], _MEASURED)
    angles, _, _ = moved(move, times)
    steps = np.linalg.norm(np.diff(angles, axis=0), axis=1)
    passed = np.concatenate([[0.0], np.cumsum(steps)])
    if not passed[-1] > 0.0:
        raise ArmError("move: no joint moves; give one that does.")
    length = np.linspace(0.0, passed[-1], number)
    going = np.concatenate([[True], steps > 0.0])
    there = np.interp(length, passed[going], times[going])
    points, _, _ = moved(move, there)
    chords = np.diff(points, axis=0)
    sizes = np.linalg.norm(chords, axis=1)
    cosines = np.sum(chords[1:] * chords[:-1], axis=1) / (sizes[1:] * sizes[:-1])
    corner = int(np.argmin(cosines))
    if not cosines[corner] > np.cos(_CORNER):
        raise ArmError(
            f"move: its path has a corner at t = {there[corner + 1]:.4g} s, where the joints would have to stop; give "
            "its parts one by one, or a rounded path (`cubic_spline`), or more points."
        )
    spline = CubicSpline(length, points)
    return _Way(length, points, spline(length, 1), spline(length, 2))


def _rows_of(arm: AnyArm, way: _Way, acceleration: Any, torque: Any, gravity: Any) -> _Rows:
    count, parts = way.angles.shape[1], []
    if acceleration is not None:
        most = each_joint("acceleration", acceleration, count, "rad/s^2")
        parts.append(
            (way.slopes, way.bends, 0.0 * way.slopes, np.broadcast_to(most, way.slopes.shape))
        )
    if torque is not None:
        most = each_joint("torque", torque, count, "N m")
        along = loads_of(arm, (way.angles, way.slopes, way.bends), gravity, True)
        across = loads_of(arm, (way.angles, 0.0 * way.slopes, way.slopes), gravity, True)
        assert along.inertia is not None
        assert along.weight is not None
        assert across.inertia is not None
        require_strong(along.weight, most, joints_of(arm))
        parts.append(
            (across.inertia, along.inertia, along.weight, np.broadcast_to(most, way.slopes.shape))
        )
    return _Rows(*(np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True)))


def _squares(way: _Way, rows: _Rows, fastest: Floats) -> Floats:
    """Return the largest squared speed along the path, (P,); zero at both ends."""
    step = way.length[1]
    slope = rows.across / (2.0 * step)
    low, high = -rows.most - rows.weight, rows.most - rows.weight
    number = way.length.size
    reach = np.zeros(number)  # from which the end can be reached

    def both(i: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return constraints on x at a point and y at the next: ``low <= a x + b y <= high``, at both points."""
        a = np.concatenate([rows.along[i] - slope[i], -slope[i + 1]])
        b = np.concatenate([slope[i], slope[i + 1] + rows.along[i + 1]])
        return a, b, np.concatenate([low[i], low[i + 1]]), np.concatenate([high[i], high[i + 1]])

    for i in reversed(range(1, number - 1)):
        a, b, least, most = both(i)
        x = _largest(
            np.concatenate([a, -a]),
            np.concatenate([b, -b]),
            np.concatenate([most, -least]),
            reach[i + 1],
        )
        if not x > 0.0:
            raise _stuck(i, number)
        if not x < np.inf:
            raise ArmError(
                "acceleration, torque: no joint that moves has a finite limit at "
                f"{100.0 * i / (number - 1):.0f} % of the path, and without one it takes no time; give one."
            )
        reach[i] = min(x, fastest[i])
    squares = np.zeros(number)
    for i in range(number - 2):
        a, b, least, most = both(i)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(b > 0.0, most - a * squares[i], least - a * squares[i]) / b
        up = np.where(b != 0.0, ends, np.inf)
        squares[i + 1] = min(reach[i + 1], float(up.min()))
    if not np.all(squares[1:-1] > 0.0):
        raise _stuck(int(np.argmin(squares[1:-1])) + 1, number)
    return squares


def _largest(a: Floats, b: Floats, most: Floats, far: float) -> float:
    """Return the largest x for which a y in ``0 <= y <= far`` has all ``a x + b y <= most``; NaN if no x >= 0 has one.

    y is eliminated (Fourier and Motzkin): each row that bounds it from above leaves with each that bounds it from below
    a row of x alone. So nothing depends on units, and no tolerance is needed.
    """
    a, b, most = np.append(a, [0.0, 0.0]), np.append(b, [1.0, -1.0]), np.append(most, [far, 0.0])
    up, down, level = b > 0.0, b < 0.0, b == 0.0
    weight_up, weight_down = -b[None, down], b[up, None]
    rates = np.append(weight_up * a[up, None] + weight_down * a[None, down], a[level])
    rest = np.append(weight_up * most[up, None] + weight_down * most[None, down], most[level])
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = rest / rates
    x = float(np.min(bounds, where=rates > 0.0, initial=np.inf))
    least = float(np.max(bounds, where=rates < 0.0, initial=0.0))
    return x if x >= least and np.all(rest[rates == 0.0] >= 0.0) else np.nan


def _stuck(at: int, number: int) -> ArmError:
    return ArmError(
        f"move: no timing was found at {100.0 * at / (number - 1):.0f} % of its path: the limits allow no way on; "
        "increase them, or give more points."
    )


def _motion_of(way: _Way, squares: Floats) -> PiecewisePolynomial:
    """Return quintic polynomials with the given angles, rates and accelerations at both ends of each piece."""
    speeds = np.sqrt(squares)
    step = way.length[1]
    durations = 2.0 * step / (speeds[:-1] + speeds[1:])
    pushes = (squares[1:] - squares[:-1]) / (2.0 * step)
    ends = []
    for part in (slice(0, -1), slice(1, None)):
        rate = way.slopes[part] * speeds[part, None]
        change = way.slopes[part] * pushes[:, None] + way.bends[part] * squares[part, None]
        ends.append((way.angles[part], rate, change))
    (q0, v0, a0), (q1, v1, a1) = ends
    t = durations[:, None]
    far = q1 - q0 - v0 * t - 0.5 * a0 * t**2
    fast = (v1 - v0 - a0 * t) * t
    late = (a1 - a0) * t**2
    coefficients = np.stack(
        [
            *(q0, v0, 0.5 * a0),
            (10.0 * far - 4.0 * fast + 0.5 * late) / t**3,
            (-15.0 * far + 7.0 * fast - late) / t**4,
            (6.0 * far - 3.0 * fast + 0.5 * late) / t**5,
        ],
        axis=1,
    )
    return PiecewisePolynomial(np.concatenate([[0.0], np.cumsum(durations)]), coefficients)


def _stretched(motion: PiecewisePolynomial, by: float) -> PiecewisePolynomial:
    breaks, table = np.asarray(motion.breaks), np.asarray(motion.coefficients)
    powers = by ** np.arange(table.shape[1])
    return PiecewisePolynomial(by * breaks, table / powers[None, :, None])


def _looked_at(motion: PiecewisePolynomial) -> Floats:
    """Check times: inside each piece, and next to both of its ends."""
    breaks = np.asarray(motion.breaks)
    lengths = np.diff(breaks)
    inside = breaks[:-1, None] + lengths[:, None] * np.array([1e-6, 0.25, 0.5, 0.75, 1.0 - 1e-6])
    return np.asarray(inside.ravel())


def _shares(loads: Loads, count: int, asked: dict[str, Any], durations: Floats) -> dict[str, float]:
    """Return the fraction of time during which a joint reaches each limit, from five times in every piece."""
    forces = None if loads.inertia is None else loads.inertia + np.asarray(loads.weight)
    given = {"speed": loads.rates, "acceleration": loads.changes, "torque": forces}
    units = {"speed": "rad/s", "acceleration": "rad/s^2", "torque": "N m"}
    found = {}
    for name, limit in asked.items():
        values = given[name]
        if limit is not None and values is not None:
            most = each_joint(name, limit, count, units[name])
            reached = np.any(np.abs(values) >= _BINDING * most, axis=1).reshape(durations.size, -1)
            found[name] = float(np.average(reached.mean(axis=1), weights=durations))
    return found
