"""Evaluation of one move of one arm: checked arguments, and modes reused for many moves along the same path."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.arguments import finite, positive_integer, reals
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.dynamics.drives.motions import Motion, checked_angles
from jaxmodal.moves.driven import angles_at, solved_along, spread_over, way_of
from jaxmodal.moves.joint_limits import joints_of
from jaxmodal.moves.modes_along import ModesAlong, modes_along
from jaxmodal.moves.oscillators import number_of_steps, steps_between
from jaxmodal.moves.paths import knots_of, moved
from jaxmodal.moves.pushing_supports import is_supported, refuse_half_turns
from jaxmodal.moves.refusals import require_moving_arm
from jaxmodal.moves.results import GRAVITY, SUPPORTS, TURNING, MoveVibration
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError, ImplausibleWarning
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.arms.plausibility import most_modes

#: number of modes that are tracked in addition to those asked for, since a tracked mode may leave the lowest ones
_FURTHER = 2
#: rates below this share of the largest count as zero
_REST = 1e-6
#: number of times in a result
_SHOWN = 2001
#: largest number of steps
_MOST_STEPS = 500_000
#: largest difference of angles, rad, in one posture: moves along the same path meet the same postures to rounding
_SAME = 1e-6


class Question(NamedTuple):
    """Checked arguments of `move_vibration`."""

    num_modes: int
    theory: TheoryName
    ratios: Floats
    pull: Floats | None
    postures: int


class KnownModes:
    """Cache of the modes of one arm along paths, reused by other moves along the same paths."""

    def __init__(self) -> None:
        self._ways: list[tuple[Floats, ModesAlong]] = []

    def along(self, angles: Floats) -> ModesAlong | None:
        """Return the cached modes in these postures (P, n), or None."""
        for known, along in self._ways:
            if known.shape == angles.shape and np.abs(known - angles).max() <= _SAME:
                return along
        return None

    def keep(self, angles: Floats, along: ModesAlong) -> None:
        """Store the modes in these postures."""
        self._ways.append((angles, along))


def question_of(
    arm: AnyArm,
    num_modes: int,
    theory: TheoryName,
    damping_ratio: Any,
    gravity: Any,
    postures: int,
) -> Question:
    """Check the arguments of `move_vibration`; raise an error if a value is invalid."""
    require_x64()
    theory_flags(theory)
    require_moving_arm(arm)
    wanted = number_of_modes(arm, num_modes)
    return Question(
        wanted,
        theory,
        _ratios(damping_ratio, wanted),
        None if gravity is None else _pull(arm, gravity),
        positive_integer(postures, "num_postures", limits.SAMPLES),
    )


def number_of_modes(arm: AnyArm, num_modes: int) -> int:
    """Check a number of modes; raise an error if the arm has fewer."""
    wanted = positive_integer(num_modes, "num_modes", limits.MODES)
    most = most_modes_of(arm)
    if wanted > most:
        raise ArmError(
            f"num_modes = {wanted}: must be at most {most:g}, for rigid links have one mode for each spring."
        )
    return wanted


def most_modes_of(arm: AnyArm) -> float:
    """Return the largest number of modes that can be computed for an arm."""
    return min(most_modes(arm), limits.MODES)


def vibration_of(
    arm: AnyArm,
    move: Motion,
    question: Question,
    duration: float | None = None,
    *,
    stiffness: float = 1.0,
    known: KnownModes | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MoveVibration:
    """Return the vibration that a move excites in an arm with all stiffnesses scaled by one factor.

    The factor multiplies the frequencies by its square root and leaves the mode shapes unchanged.
    """
    num_modes, theory, ratios, pull, postures = question
    checked_angles(move, len(arm.joints), 0.0)
    knots = knots_of(move, duration)
    supported = is_supported(arm)
    way = way_of(move, knots, 0 if pull is not None or supported else 1)
    _require_rest(move, knots)
    at = spread_over(way, postures)
    angles = angles_at(way.times, way.angles, at)
    refuse_half_turns(arm, angles)
    along = None if known is None else known.along(angles)
    if along is None:
        followed = int(min(num_modes + _FURTHER, most_modes_of(arm)))
        along = modes_along(arm, angles, num_modes, followed, theory, progress)
        if known is not None:
            known.keep(angles, along)
    along = along._replace(
        omega=along.omega * np.sqrt(stiffness), supports=along.supports * stiffness
    )
    steps = number_of_steps(knots, float(along.omega.max()))
    if steps > _MOST_STEPS:
        raise ArmError(
            f"move: takes {steps:.3g} steps of its highest mode, {along.omega.max() / (2 * np.pi):.6g} Hz; must be at "
            f"most {_MOST_STEPS:,}; ask for fewer modes, or divide the move."
        )
    times = steps_between(knots, float(along.omega.max()))
    at_rest = {GRAVITY: None if pull is None else along.base @ pull}
    at_rest[SUPPORTS] = along.supports if supported else None
    acting = {name: forces for name, forces in at_rest.items() if forces is not None}
    still = np.stack([*acting.values()], axis=-1) if acting else np.zeros((*along.omega.shape, 0))
    coordinates, place, rate = solved_along(move, times, way, at, along, ratios, still)
    shown_rows = np.unique(np.linspace(0, times.size - 1, min(times.size, _SHOWN)).astype(int))
    static = np.zeros_like(place)
    static[:, place.shape[1] - still.shape[2] :] = still[-1] / along.omega[-1][:, None] ** 2
    return MoveVibration(
        arm=arm.name,
        theory=theory,
        joints=joints_of(arm),
        forces=(TURNING, *acting),
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


def warn_of_the_way(arm: AnyArm, found: MoveVibration) -> None:
    """Warn about angles that look like degrees or exceed joint limits, and about deflections that are not small."""
    for farthest in (found.angles.min(axis=0), found.angles.max(axis=0)):
        arm.with_posture(farthest.tolist())
    if found.is_large:
        warnings.warn(
            f"{arm.name + ': ' if arm.name else ''}{found.how_large}; look for degrees given as radians, times in ms, "
            "or use simulate",
            ImplausibleWarning,
            stacklevel=3,
        )


def _ratios(given: Any, num_modes: int) -> Floats:
    ratios = reals("damping_ratio", given, "numbers from 0 to below 1")
    if ratios.shape not in ((), (num_modes,)) or not np.all((ratios >= 0.0) & (ratios < 1.0)):
        raise ArmError(
            f"damping_ratio = {shown(given)}: must be from 0 to below 1, one number or "
            f"{num_modes}, one for each mode."
        )
    return np.broadcast_to(ratios, (num_modes,)).copy()


def _pull(arm: AnyArm, gravity: Any) -> Floats:
    size = 3 if "z" in arm.directions else 2
    example = "(0, -9.81)" if size == 2 else "(0, 0, -9.81)"
    return finite("gravity", gravity, (size,), f"{size} finite numbers, m/s^2, such as {example}")


def _require_rest(move: Motion, knots: Floats) -> None:
    """Raise an error if a move does not begin and end at rest."""
    inside = np.linspace(knots[0], knots[-1], 201)
    # just inside, since a rate that jumps to 0 at the end is not at rest
    close = 1e-9 * (knots[-1] - knots[0])
    inside[0], inside[-1] = knots[0] + close, knots[-1] - close
    rates = np.abs(moved(move, inside)[1]).max(axis=1)
    for name, rate in (("begin", rates[0]), ("end", rates[-1])):
        if rate > _REST * rates.max():
            raise ArmError(
                f"move: turns at {rate:.6g} rad/s at its {name}, t = {knots[0 if name == 'begin' else -1]:g} s; must "
                "begin and end at rest."
            )
