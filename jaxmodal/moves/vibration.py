"""What a move of its joints excites of an arm: the exact modes along the way, each an oscillator, and what is left."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from jaxmodal.arm.arguments import finite, positive_integer, reals
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.dynamics.drives.motions import Motion, checked_angles
from jaxmodal.moves.modes_along import ModesAlong, modes_along
from jaxmodal.moves.oscillators import (
    inner_times,
    number_of_steps,
    oscillation,
    steps_between,
)
from jaxmodal.moves.paths import knots_of, moved
from jaxmodal.moves.refusals import require_moving_arm
from jaxmodal.moves.results import GRAVITY, TURNING, MoveVibration
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, ImplausibleWarning
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.arms.plausibility import most_modes

Floats = NDArray[np.float64]

#: times at which the way is measured
_SAMPLES = 4001
#: modes beyond those asked for that are followed, so that one may leave the lowest on the way
_FURTHER = 2
#: rates below this share of the largest are rest
_REST = 1e-6
#: times of a result
_SHOWN = 2001
#: steps that are solved together, and how many there may be
_BLOCK, _MOST_STEPS = 2048, 500_000


class _Way(NamedTuple):
    """Times, angles there (T, n), and how far the joints that change frequencies have turned, rad, (T,)."""

    times: Floats
    angles: Floats
    turned: Floats


def move_vibration(
    arm: Arm | SpatialArm,
    move: Motion,
    num_modes: int = 6,
    theory: TheoryName = "timoshenko",
    *,
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    duration: float | None = None,
    postures: int = 33,
    progress: Callable[[int, int], None] | None = None,
) -> MoveVibration:
    """What a move excites: certified frequencies along it, and the vibration of the tip that it leaves.

    Parameters
    ----------
    arm : Arm or SpatialArm
        A clamped arm without loads, concrete. Its motors follow the move exactly; springs of joints lie beyond them.
    move : Motion
        Angles of all joints by time, from rest to rest: `RestToRest`, `trapezoid`, `s_curve`, `cubic_spline`, `Shaped`
        or another of `jaxmodal.dynamics`.
    num_modes, theory
        As for `natural_frequencies`. Of an arm of rigid links no more than it has springs.
    damping_ratio
        Of the modes, one number for all or ``(num_modes,)``, from 0 to below 1.
    gravity
        In m/s^2 along the axes of the ground, two numbers in the plane and three in space. It moves the arm from its
        rest there, and changes no frequency. Left out for none.
    duration
        Time of the stop, s, from the move's beginning at 0; only for a motion that does not know it.
    postures
        In how many postures, evenly spread over the way, modes are computed.
    progress
        Called with (postures done, all of them).

    Returns
    -------
    MoveVibration
        Modes are numbered as at the stop.

    Raises
    ------
    ArmError
        The arm floats, stands on springs or supports, bears loads, has free joints or joints that slide, is traced, or
        nothing of it gives way; the move does not begin and end at rest, or is not one of this arm.
    UncertifiedError
        A frequency could not be certified.

    Warns
    -----
    ImplausibleWarning
        The tip is bent by more than a tenth of the arm's length, where small vibrations say little; an angle is beyond
        two turns, or beyond the limits of its joint.

    Notes
    -----
    Each mode, of unit mass, is an oscillator with the force of inertia of the rigid arm on its way, accelerations
    towards the centre and gyroscopic moments included. That modes change with the posture enters by their frequencies
    and forces, which are interpolated between postures. What their change of shape adds, and what the vibration does to
    the motion, is left out: both are small where the joints turn little in a period, and deflections are small.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics
    >>> from jaxmodal.moves import move_vibration
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),))
    >>> found = move_vibration(arm, dynamics.RestToRest([0.0], [0.1], 0.3), 2, "euler_bernoulli")
    >>> f"{found.frequencies_hz[0]:.3f} Hz leaves {found.amplitudes_mm[0]:.2f} mm"
    '8.225 Hz leaves 3.61 mm'
    """
    require_x64()
    theory_flags(theory)
    require_moving_arm(arm)
    num_modes = positive_integer(num_modes, "num_modes", limits.MODES)
    postures = positive_integer(postures, "postures")
    most = most_modes(arm) if isinstance(arm, SpatialArm) else np.inf
    if num_modes > most:
        raise ArmError(
            f"num_modes = {num_modes}: must be at most {most:g}, for rigid links have one mode for each spring."
        )
    ratios = _ratios(damping_ratio, num_modes)
    pull = None if gravity is None else _pull(arm, gravity)
    checked_angles(move, len(arm.joints), 0.0)
    knots = knots_of(move, duration)
    way = _way(move, knots, 0 if pull is not None else 1)
    _require_rest(move, knots)
    at = _spread(way, postures)
    followed = int(min(num_modes + _FURTHER, most, limits.MODES))
    angles = _at(way.times, way.angles, at)
    for farthest in (way.angles.min(axis=0), way.angles.max(axis=0)):
        arm.with_posture(
            farthest.tolist()
        )  # warns once of angles in degrees, or beyond the limits of joints
    along = modes_along(arm, angles, num_modes, followed, theory, progress)
    steps = number_of_steps(knots, float(along.omega.max()))
    if steps > _MOST_STEPS:
        raise ArmError(
            f"move: takes {steps:.3g} steps of its highest mode, {along.omega.max() / (2 * np.pi):.6g} Hz; must be at "
            f"most {_MOST_STEPS:,}; ask for fewer modes, or part the move."
        )
    times = steps_between(knots, float(along.omega.max()))
    coordinates, place, rate = _solved(move, times, way, at, along, ratios, pull)
    shown_rows = np.unique(np.linspace(0, times.size - 1, min(times.size, _SHOWN)).astype(int))
    end = along.omega[-1][:, None] ** 2
    static = np.zeros_like(place)
    if pull is not None:
        static[:, -1] = (along.base[-1] @ pull) / end[:, 0]
    names = arm.joint_names
    joints = {number: name for name, numbers in names.items() for number in numbers}
    found = MoveVibration(
        arm=arm.name,
        theory=theory,
        joints=tuple(joints.get(number, f"joint {number}") for number in arm.joints),
        forces=(TURNING,) if pull is None else (TURNING, GRAVITY),
        damping_ratio=ratios,
        posture_times=at,
        angles=angles,
        omega=along.omega,
        certified=along.certified,
        number=along.number,
        assurance=along.assurance,
        participation=along.joints,
        tips=along.tips,
        times=times[shown_rows],
        coordinates=coordinates[shown_rows],
        left=place - static,
        rate=rate,
        reach=float(sum(float(link.length) for link in arm.links)),
    )
    if found.is_large:
        warnings.warn(
            f"{arm.name + ': ' if arm.name else ''}{found.how_large}; look for degrees given as radians, times in ms, "
            "or ask simulate",
            ImplausibleWarning,
            stacklevel=2,
        )
    return found


def _ratios(given: Any, num_modes: int) -> Floats:
    ratios = reals("damping_ratio", given, "numbers from 0 to below 1")
    if ratios.shape not in ((), (num_modes,)) or not np.all((ratios >= 0.0) & (ratios < 1.0)):
        raise ArmError(
            f"damping_ratio = {shown(given)}: must be from 0 to below 1, one number or "
            f"{num_modes}, one for each mode."
        )
    return np.broadcast_to(ratios, (num_modes,)).copy()


def _pull(arm: Arm | SpatialArm, gravity: Any) -> Floats:
    size = 2 if isinstance(arm, Arm) else 3
    example = "(0, -9.81)" if size == 2 else "(0, 0, -9.81)"
    return finite("gravity", gravity, (size,), f"{size} finite numbers, m/s^2, such as {example}")


def _way(move: Motion, knots: Floats, first: int) -> _Way:
    times = np.union1d(np.linspace(knots[0], knots[-1], _SAMPLES), knots)
    angles = moved(move, times)[0]
    if not np.all(np.isfinite(angles)):
        raise ArmError(
            "move: its angles are not finite on the way; check that its path is in reach."
        )
    turned = np.linalg.norm(np.diff(angles[:, first:], axis=0), axis=1)
    return _Way(times, angles, np.concatenate([[0.0], np.cumsum(turned)]))


def _require_rest(move: Motion, knots: Floats) -> None:
    """Refuse a move that does not begin and end at rest."""
    inside = np.linspace(knots[0], knots[-1], 201)
    # just inside: a rate that jumps to 0 at the end itself is no rest
    close = 1e-9 * (knots[-1] - knots[0])
    inside[0], inside[-1] = knots[0] + close, knots[-1] - close
    rates = np.abs(moved(move, inside)[1]).max(axis=1)
    for name, rate in (("begin", rates[0]), ("end", rates[-1])):
        if rate > _REST * rates.max():
            raise ArmError(
                f"move: turns at {rate:.6g} rad/s at its {name}, t = {knots[0 if name == 'begin' else -1]:g} s; must "
                "begin and end at rest."
            )


def _spread(way: _Way, postures: int) -> Floats:
    """Times of postures evenly spread over the way; the last alone where nothing turns that changes the modes."""
    whole = way.turned[-1]
    if whole == 0.0 or postures == 1:
        return way.times[-1:]
    moving = np.concatenate([[True], np.diff(way.turned) > 0.0])
    return np.interp(np.linspace(0.0, whole, postures), way.turned[moving], way.times[moving])


def _at(times: Floats, angles: Floats, at: Floats) -> Floats:
    return np.stack([np.interp(at, times, column) for column in angles.T], axis=1)


def _solved(
    move: Motion,
    times: Floats,
    way: _Way,
    at: Floats,
    along: ModesAlong,
    ratios: Floats,
    pull: Floats | None,
) -> tuple[Floats, Floats, Floats]:
    """The oscillators driven by each joint, by rates, and by gravity, block by block of the steps."""
    where = np.interp(at, way.times, way.turned)

    def between(values: Floats, when: Floats) -> Floats:
        if len(values) == 1:
            return np.broadcast_to(values[0], (when.size, *values.shape[1:]))
        spline = CubicSpline(where, values, bc_type="not-a-knot" if len(values) > 3 else "natural")
        return np.asarray(spline(np.interp(when, way.times, way.turned)))

    place = np.zeros((along.omega.shape[1], along.joints.shape[2] + 1))
    if pull is not None:
        place = np.column_stack([place, (along.base[0] @ pull) / along.omega[0] ** 2])
    rate = np.zeros_like(place)
    sums = [place.sum(axis=1)[None]]
    for first in range(0, times.size - 1, _BLOCK):
        some = times[first : first + _BLOCK + 1]
        inside = inner_times(some)
        when = inside.ravel()
        _, rates, changes = moved(move, when)
        turning = np.einsum("tkij,ti,tj->tk", between(along.turning, when), rates, rates)
        parts = [-between(along.joints, when) * changes[:, None, :], -turning[..., None]]
        if pull is not None:
            parts.append((between(along.base, when) @ pull)[..., None])
        forces = np.concatenate(parts, axis=-1).reshape(*inside.shape, *place.shape)
        omega = between(along.omega, inside[:, 1])
        solved = oscillation(some, omega, ratios, forces, place, rate)
        place, rate = solved.place[-1], solved.rate[-1]
        sums.append(solved.place[1:].sum(axis=-1))
    return np.concatenate(sums), place, rate
