"""Joint speeds at which an order of gears or motors meets a mode: in postures, over ranges, along a move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from jaxmodal.arm.arguments import reals
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.moves.evaluation import (
    most_modes_of,
    number_of_modes,
    question_of,
    vibration_of,
)
from jaxmodal.moves.modes_along import modes_in
from jaxmodal.moves.orders import Order, columns_of, joint_labels, orders_of
from jaxmodal.moves.paths import knots_of, moved
from jaxmodal.moves.refusals import require_moving_arm
from jaxmodal.moves.results import MoveVibration
from jaxmodal.moves.speed_results import Crossing, MoveCrossings, SpeedsToAvoid
from jaxmodal.runtime.array_types import Bools, Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.workspace.extremes import extremes

#: number of times of a move at which orders and modes are compared
_SAMPLES = 4001
#: relative difference of speed and mode at which a crossing is solved, and largest number of steps
_MET, _STEPS = 1e-10, 12
#: number of modes of the posture, beyond the mode's own number from 0, among which the mode is searched
_NEXT = 3


def speeds_to_avoid(
    arm: AnyArm,
    orders: Sequence[Order],
    num_modes: int = 4,
    *,
    theory: TheoryName = "timoshenko",
    postures: Any = None,
    ranges: Mapping[str, Any] | None = None,
    margin: float = 0.05,
    starts: int = 256,
    progress: Callable[[int, int], None] | None = None,
) -> SpeedsToAvoid:
    """Find joint speeds at which an order meets a mode: in the present posture, in given postures, or over ranges.

    Parameters
    ----------
    arm : Arm or SpatialArm
        A clamped arm without loads, concrete, as for `move_vibration`.
    orders
        The orders (`Order`), each with its joint.
    num_modes, theory
        As for `natural_frequencies`.
    postures
        Angles of all joints, rad, (P, n); by default the present posture.
    ranges
        Ranges of joint angles or other values in place of ``postures``, as for `jaxmodal.extremes`; ``{}`` for all
        angles within the joint limits. The bands then extend between the extremes found.
    margin
        Relative margin of the frequency within which an order is taken to meet a mode; it widens the bands.
    starts
        Number of starting postures of each search for extremes; only for ranges.
    progress
        Called with (modes or postures done, total number).

    Returns
    -------
    SpeedsToAvoid
        A band of speeds for each order and mode; the exact speed for one posture and zero margin.

    Raises
    ------
    ArmError
        If the arm is not supported (see `move_vibration`), an order, a posture or the margin is invalid, or both
        postures and ranges are given.

    Notes
    -----
    An order of m pulses per turn meets a mode of frequency omega at the joint speed omega/m. The frequencies are those
    of the arm at rest in a posture. The effect of rotation on the frequencies is neglected;
    `jaxmodal.dynamics.turning_frequencies` computes it.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal.moves import Order, speeds_to_avoid
    >>> arm = jm.examples.two_link_flexible()
    >>> found = speeds_to_avoid(arm, [Order(2, 2 * 100, "wave generator")], 1, margin=0.0)
    >>> bool(abs(found.speeds[0, 0, 0] * 200 / found.omega[0, 0] - 1.0) < 1e-12)
    True
    """
    require_x64()
    theory_flags(theory)
    require_moving_arm(arm)
    num_modes = number_of_modes(arm, num_modes)
    own = orders_of(arm, orders)
    near = _margin(margin)
    if ranges is not None and postures is not None:
        raise ArmError("postures, ranges: must not both be given; leave one out.")
    driven = None
    if ranges is not None:
        sides = []
        for mode in range(1, num_modes + 1):
            sides.append(extremes(arm, ranges or None, mode, theory=theory, starts=starts))
            if progress is not None:
                progress(mode, num_modes)
        omega = np.array(
            [[float(side.frequency_hz) for side in (x.lowest, x.highest)] for x in sides]
        ).T * (2.0 * np.pi)
        certified = np.array([[x.certified for x in sides]])
        what = f"over ranges of {', '.join(sides[0].addresses)}"
    else:
        rows = [None] if postures is None else list(_postures(arm, postures))
        found = []
        for row in rows:
            found.append(
                modes_in(
                    arm if row is None else arm.with_posture(row.tolist()), num_modes, theory, arm
                )
            )
            if progress is not None:
                progress(len(found), len(rows))
        omega = np.array([each.omega for each in found])
        certified = np.array([each.certified for each in found])
        columns = columns_of(arm, own)
        driven = 1e3 * np.max(
            [
                np.abs(each.joints[:, columns].T)
                * np.linalg.norm(each.tips, axis=1)
                / each.omega**2
                for each in found
            ],
            axis=0,
        )
        what = "as it stands" if postures is None else f"in {len(rows)} postures"
    ends = np.stack([omega.min(axis=0), omega.max(axis=0)], axis=1)
    per_turn = np.array([order.per_turn for order in own])[:, None, None]
    return SpeedsToAvoid(
        arm=arm.name,
        theory=theory,
        where=what,
        orders=own,
        joints=joint_labels(arm),
        omega=ends,
        certified=np.asarray(certified.all(axis=0)),
        margin=near,
        speeds=ends * np.array([1.0 - near, 1.0 + near]) / per_turn,
        driven_mm=driven,
    )


def crossings_along(
    arm: AnyArm,
    move: Motion,
    orders: Sequence[Order],
    num_modes: int = 4,
    *,
    theory: TheoryName = "timoshenko",
    margin: float = 0.05,
    duration: float | None = None,
    num_postures: int = 33,
    progress: Callable[[int, int], None] | None = None,
) -> MoveCrossings:
    """Find the times of a move at which an order meets a mode.

    Each is solved with the certified frequency of its posture.

    Parameters
    ----------
    arm, move, num_modes, theory, duration, num_postures, progress
        As for `move_vibration`.
    orders, margin
        As for `speeds_to_avoid`.

    Returns
    -------
    MoveCrossings
        The crossings in order of time.

    Raises
    ------
    ArmError
        As for `move_vibration` and `speeds_to_avoid`.

    Notes
    -----
    Crossings are located between 4,001 times, with frequencies interpolated between postures; two crossings between
    neighbouring times are missed. Each crossing found is then solved again with the frequencies of its own posture.
    """
    require_moving_arm(arm)
    own, near = orders_of(arm, orders), _margin(margin)
    question = question_of(arm, num_modes, theory, 0.0, None, num_postures)
    found = vibration_of(arm, move, question, duration, progress=progress)
    knots = knots_of(move, duration)
    times = np.union1d(np.linspace(knots[0], knots[-1], _SAMPLES), knots)
    rates = np.abs(moved(move, times)[1])
    columns = columns_of(arm, own)
    curves = _frequencies(found)
    omega = curves(times)
    crossings = []
    for order, column in zip(own, columns.tolist(), strict=True):
        pushes = order.per_turn * rates[:, column]
        for mode in range(omega.shape[1]):
            apart = pushes - omega[:, mode]
            close = np.abs(apart) <= near * omega[:, mode]
            for k in np.flatnonzero(np.signbit(apart[:-1]) != np.signbit(apart[1:])).tolist():
                met = _met(
                    arm, move, order, column, mode, curves, times[k], times[k + 1], knots, theory
                )
                if met is not None:
                    crossings.append(met._replace(within=_time_near(times, close, k)))
    return MoveCrossings(
        arm=arm.name,
        theory=theory,
        joints=joint_labels(arm),
        margin=near,
        times=times,
        rates=rates,
        omega=omega,
        columns=tuple(columns.tolist()),
        orders=own,
        crossings=tuple(sorted(crossings, key=lambda each: each.time)),
    )


def _margin(given: Any) -> float:
    value = reals("margin", given, "a share from 0 to below 1")
    if value.shape != () or not 0.0 <= float(value) < 1.0:
        raise ArmError(
            f"margin = {shown(given)}: must be a share from 0 to below 1, such as 0.05 for 5 %."
        )
    return float(value)


def _postures(arm: AnyArm, given: Any) -> Floats:
    angles = reals("postures", given, "angles of all joints, rad, a row for each posture")
    if angles.ndim != 2 or angles.shape[1] != len(arm.joints) or not angles.shape[0]:
        raise ArmError(
            f"postures: of shape {angles.shape}; must be (P, {len(arm.joints)}), the angles of all joints, rad, a row "
            "for each posture."
        )
    return angles


def _frequencies(found: MoveVibration) -> Callable[[Any], Floats]:
    """Return the frequencies of all modes over time, interpolated between the postures."""
    if len(found.posture_times) < 2:
        return lambda times: np.broadcast_to(
            found.omega[0], (*np.shape(times), found.omega.shape[1])
        )
    spline = CubicSpline(found.posture_times, found.omega)
    return lambda times: np.asarray(
        spline(np.clip(times, found.posture_times[0], found.posture_times[-1]))
    )


def _met(
    arm: AnyArm,
    move: Motion,
    order: Order,
    column: int,
    mode: int,
    curves: Callable[[Any], Floats],
    low: float,
    high: float,
    knots: Floats,
    theory: TheoryName,
) -> Crossing | None:
    """Solve the crossing between two times, correcting interpolated frequencies by that of the posture found last.

    Return None if the crossing was an effect of the interpolation alone.
    """
    shift, most = 0.0, most_modes_of(arm)

    def apart(at: float) -> float:
        rate = abs(float(moved(move, np.array([at]))[1][0, column]))
        return order.per_turn * rate - float(curves(at)[mode]) - shift

    for _ in range(_STEPS):
        ends = _around(apart, low, high, knots)
        if ends is None:
            return None
        time = float(brentq(apart, *ends, xtol=1e-15, rtol=1e-15))
        angles, rates, _ = (each[0] for each in moved(move, np.array([time])))
        guess = float(curves(time)[mode])
        stood = arm.with_posture(angles.tolist())
        exact = natural_frequencies(stood, int(min(mode + _NEXT, most)), theory=theory)
        omega = np.asarray(exact.omega)
        number = int(np.argmin(np.abs(omega - guess)))
        before, shift = shift, float(omega[number]) - guess
        if abs(shift - before) <= _MET * omega[number]:
            break
    return Crossing(
        time=time,
        order=order,
        mode=mode + 1,
        number=number + 1,
        omega=float(omega[number]),
        certified=bool(np.asarray(exact.certified)[number]),
        speed=float(rates[column]),
        angles=angles,
        within=0.0,
    )


def _around(
    apart: Callable[[float], float], low: float, high: float, knots: Floats
) -> tuple[float, float] | None:
    """Return an interval around two times at whose ends a function has different signs; None if there is none.

    The interval is widened from the given times, ``low`` and ``high``.
    """
    while np.signbit(apart(low)) == np.signbit(apart(high)):
        if low <= knots[0] and high >= knots[-1]:
            return None
        width = high - low
        low, high = max(low - 0.5 * width, knots[0]), min(high + 0.5 * width, knots[-1])
    return low, high


def _time_near(times: Floats, close: Bools, k: int) -> float:
    """Return the time during which an order stays near a mode around the crossing after time k, s."""
    before, after = k, k + 1
    while before > 0 and close[before]:
        before -= 1
    while after < times.size - 1 and close[after]:
        after += 1
    return float(times[after] - times[before]) if close[k] or close[k + 1] else 0.0
