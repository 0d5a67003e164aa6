"""Modal oscillators driven by the motion of the joints: sampling of the path, and the modal forces along it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.moves.modes_along import ModesAlong
from jaxmodal.moves.oscillators import inner_times, oscillation
from jaxmodal.moves.paths import moved
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError

#: number of times at which the path is sampled
_SAMPLES = 4001
#: number of steps that are solved together
_BLOCK = 2048


class Way(NamedTuple):
    """Sampled path of a move.

    Times (T,) in s, joint angles (T, n) in rad, and the accumulated rotation (T,) in rad of the joints that change the
    frequencies.
    """

    times: Floats
    angles: Floats
    turned: Floats


def way_of(move: Motion, knots: Floats, first: int) -> Way:
    """Sample the path of a move; joints before ``first`` change no frequencies."""
    times = np.union1d(np.linspace(knots[0], knots[-1], _SAMPLES), knots)
    angles = moved(move, times)[0]
    if not np.all(np.isfinite(angles)):
        raise ArmError(
            "move: its angles are not finite along the path; check that the path is in reach."
        )
    turned = np.linalg.norm(np.diff(angles[:, first:], axis=0), axis=1)
    return Way(times, angles, np.concatenate([[0.0], np.cumsum(turned)]))


def spread_over(way: Way, postures: int) -> Floats:
    """Return times of postures evenly spaced along the path; only the last if no joint turns that changes the modes."""
    whole = way.turned[-1]
    if whole == 0.0 or postures == 1:
        return way.times[-1:]
    moving = np.concatenate([[True], np.diff(way.turned) > 0.0])
    return np.interp(np.linspace(0.0, whole, postures), way.turned[moving], way.times[moving])


def angles_at(times: Floats, angles: Floats, at: Floats) -> Floats:
    """Return joint angles (P, n) interpolated at the times ``at``."""
    return np.stack([np.interp(at, times, column) for column in angles.T], axis=1)


def solved_along(
    move: Motion,
    times: Floats,
    way: Way,
    at: Floats,
    along: ModesAlong,
    ratios: Floats,
    still: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Integrate the modal oscillators in blocks of steps, separately for each joint, the rates, and static forces.

    ``still`` (P, K, S) are the static forces: modal forces that act in a posture whether or not the joints move.
    """
    where = np.interp(at, way.times, way.turned)

    def between(values: Floats, when: Floats) -> Floats:
        if len(values) == 1:
            return np.broadcast_to(values[0], (when.size, *values.shape[1:]))
        spline = CubicSpline(where, values, bc_type="not-a-knot" if len(values) > 3 else "natural")
        return np.asarray(spline(np.interp(when, way.times, way.turned)))

    place = np.zeros((along.omega.shape[1], along.joints.shape[2] + 1))
    place = np.column_stack([place, still[0] / along.omega[0][:, None] ** 2])
    rate = np.zeros_like(place)
    sums = [place.sum(axis=1)[None]]
    for first in range(0, times.size - 1, _BLOCK):
        some = times[first : first + _BLOCK + 1]
        inside = inner_times(some)
        when = inside.ravel()
        _, rates, changes = moved(move, when)
        turning = np.einsum("tkij,ti,tj->tk", between(along.turning, when), rates, rates)
        inertia = [-between(along.joints, when) * changes[:, None, :], -turning[..., None]]
        forces = np.concatenate([*inertia, between(still, when)], axis=-1).reshape(
            *inside.shape, *place.shape
        )
        omega = between(along.omega, inside[:, 1])
        solved = oscillation(some, omega, ratios, forces, place, rate)
        place, rate = solved.place[-1], solved.rate[-1]
        sums.append(solved.place[1:].sum(axis=-1))
    return np.concatenate(sums), place, rate
