"""The shortest uniform time stretch of a move within limits on joints and residual vibration."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import positive
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamics.drives.motions import Motion, Shaped, Stretched
from jaxmodal.moves.evaluation import question_of, vibration_of, warn_of_the_way
from jaxmodal.moves.joint_limits import Limit, limits_of, loads_of
from jaxmodal.moves.paths import knots_of, moved
from jaxmodal.moves.results import MoveVibration, OfArms
from jaxmodal.moves.tolerances import Variant, variants_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

#: number of times at which speeds, accelerations and torques are evaluated, in addition to the ends of all pieces
_SAMPLES = 2001
#: durations tried per period of the slowest mode, number of periods, and bisections of the last interval
_TRIED, _PERIODS, _HALVINGS = 16, 25, 20
#: largest difference between the sum of the weights of impulses and 1
_WHOLE = 1e-9


@dataclasses.dataclass(frozen=True, repr=False)
class StretchedMove(OfArms):
    """The fastest time-stretched copy of a move; see `quickest_stretch`.

    Attributes
    ----------
    motion
        The stretched move.
    stretch
        Factor of all times of the move.
    whole
        Stop of the original move, s.
    limits : tuple of Limit
        The stretch that each joint limit alone requires: ``name``, ``stretch``, ``joint``.
    left_mm
        Limit of the residual vibration, mm, or None.
    variants : tuple of str
        Names of the arms for which the limit holds.
    vibrations : tuple of MoveVibration
        Vibration of each arm after the stretched move.
    tried
        Number of durations evaluated.
    """

    motion: Motion
    stretch: float
    whole: float
    limits: tuple[Limit, ...]
    left_mm: float | None
    variants: tuple[str, ...]
    vibrations: tuple[MoveVibration, ...]
    tried: int

    @property
    def worst_mm(self) -> float:
        """Largest residual vibration of an arm, sum of the amplitudes of all modes, mm."""
        return max(float(found.amplitudes_mm.sum()) for found in self.vibrations)

    @property
    def binding(self) -> str:
        """Name of the limit that determines the duration."""
        reached = [
            limit.name for limit in self.limits if limit.stretch >= self.stretch * (1.0 - 1e-9)
        ]
        return reached[0] if reached else "vibration"

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return a row for each limit: the joint that requires it, and the stop time for this limit alone."""
        delay = self.duration - self.stretch * self.whole
        rows: list[tuple[Any, ...]] = [
            (limit.name, limit.joint, limit.stretch * self.whole + delay) for limit in self.limits
        ]
        if self.left_mm is not None:
            rows.append((f"{self.left_mm:g} mm left", "tip", self.duration))
        return ("limit", "asked_for_by", "stop_s"), rows

    def tables(self) -> list[Table]:
        """Return a table with one row for each limit."""
        rows = [[name, by, f"{stop:.6g}"] for name, by, stop in self.rows()[1]]
        title = f"stops at {self.duration:.6g} s, kept from being quicker by {self.binding}"
        notes = [
            f"left at the tip: at most {self.worst_mm:.4g} mm, all modes added",
            "the quickest of the copies of this move stretched in time that were tried; another timing of its path may "
            "be quicker",
        ]
        headings = ("limit", "asked for by", "stops at [s]")
        return [Table(title, headings, rows, notes, ("limit", "asked for by"))]


def quickest_stretch(
    arm: AnyArm,
    move: Motion,
    num_modes: int = 3,
    *,
    theory: TheoryName = "timoshenko",
    speed: Any = None,
    acceleration: Any = None,
    torque: Any = None,
    left_mm: float | None = None,
    impulses: tuple[Any, Any] | None = None,
    payload_error: float = 0.0,
    stiffness_error: float = 0.0,
    others: Sequence[AnyArm] = (),
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    num_postures: int = 17,
    progress: Callable[[int, int], None] | None = None,
) -> StretchedMove:
    """Find the shortest uniform time stretch of a move within limits on joints and residual vibration.

    Parameters
    ----------
    arm, move, num_modes, theory, damping_ratio, gravity, num_postures, progress
        As for `move_vibration`; the move must have an end time.
    speed, acceleration, torque
        Limits of the joints, rad/s, rad/s^2 and N m after the gear, one for all or (n,). Torques are those of the rigid
        arm, rotors and gravity included.
    left_mm
        Limit of the residual vibration at the tip, sum of the amplitudes of all modes, mm.
    impulses
        Delays and weights of a shaper that is applied to the stretched move, such as those of a `ShapedMove`; not
        together with ``torque``. With negative weights limits of the joints hold for copies that all push at once.
    payload_error, stiffness_error, others
        As for `shape_move`: ``left_mm`` holds for all these arms, limits of the joints only for the given arm.

    Returns
    -------
    StretchedMove
        The motion, its duration, and the limit that determines it.

    Raises
    ------
    ArmError
        As for `move_vibration`; or if no limit is given or one is invalid, gravity alone exceeds a torque limit, or no
        duration within 25 periods of the slowest mode holds ``left_mm``.

    Notes
    -----
    The whole move is slowed down or sped up by one factor; in contrast, `time_optimal` finds the fastest timing of a
    path. Speeds are inversely proportional to the factor, accelerations and inertia torques to its square. These limits
    are therefore solved in closed form, at 2,001 times and the ends of all pieces. The residual vibration does not
    decrease monotonically with the duration: starting from the shortest duration that the joints allow, durations a
    sixteenth of the slowest period apart are evaluated until one holds, and the boundary of the interval in which it
    lies is found by bisection. A shorter duration that also holds may be missed between two that were tried. If a
    shaper is applied to a move that is not a straight line, the path changes with the duration, and the modes are
    solved on each.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics
    >>> from jaxmodal.moves import quickest_stretch
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),))
    >>> move = dynamics.RestToRest([0.0], [0.1], 1.0)
    >>> found = quickest_stretch(arm, move, 2, theory="euler_bernoulli", speed=2.0, left_mm=0.5)
    >>> f"{found.duration:.3f} s, {found.binding}"
    '0.221 s, vibration'
    """
    question = question_of(arm, num_modes, theory, damping_ratio, gravity, num_postures)
    variants = variants_of(arm, payload_error, stiffness_error, others)
    if speed is None and acceleration is None and torque is None and left_mm is None:
        raise ArmError(
            "speed, acceleration, torque, left_mm: none is given; give one limit or more."
        )
    if torque is not None and impulses is not None:
        raise ArmError(
            "torque, impulses: torques of a shaped move do not scale with its time stretch; leave one of them out."
        )
    allowed = None if left_mm is None else positive("left_mm", left_mm, "mm")
    delays, weights = _impulses(impulses)
    knots = knots_of(move)
    close = 1e-9 * (knots[-1] - knots[0])
    inside = np.concatenate([knots[:-1] + close, knots[1:] - close])
    times = np.union1d(inside, np.linspace(knots[0] + close, knots[-1] - close, _SAMPLES))

    def at(stretch: float) -> Motion:
        copy = Stretched(move, stretch)
        return copy if delays.size == 1 else Shaped(copy, delays, weights)

    first = vibration_of(arm, at(1.0), question, known=variants[0].known, progress=progress)
    loads = loads_of(arm, moved(move, times), gravity, torque is not None)
    # copies that count negatively may add up to more than the move itself
    most = float(np.abs(weights).sum() / weights.sum())
    loads = loads._replace(rates=most * loads.rates, changes=most * loads.changes)
    limits = limits_of(loads, first.joints, speed, acceleration, torque)
    least = max((limit.stretch for limit in limits), default=0.0)
    whole = float(knots[-1])
    step = 2.0 * np.pi / float(first.omega.min()) / (_TRIED * whole)
    if limits and least == 0.0:
        raise ArmError(
            "speed, acceleration, torque: hold for any duration; give finite limits, and a move that turns a joint."
        )
    least = least if limits else step
    tried = 0

    def holds(stretch: float) -> bool:
        nonlocal tried
        tried += 1
        most = np.inf if allowed is None else allowed
        return all(_left(variant, at(stretch), question) <= most for variant in variants)

    stretch = least
    if allowed is not None and not holds(least):
        low = least
        for k in range(1, _TRIED * _PERIODS + 1):
            stretch = least + k * step
            if holds(stretch):
                break
            low = stretch
        else:
            raise ArmError(
                f"left_mm = {allowed:g}: no duration tried up to {stretch * whole:.4g} s holds it; allow more, "
                "or give impulses of a shaper."
            )
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + stretch)
            low, stretch = (low, middle) if holds(middle) else (middle, stretch)
    vibrations = tuple(
        vibration_of(each.arm, at(stretch), question, stiffness=each.stiffness, known=each.known)
        for each in variants
    )
    warn_of_the_way(arm, vibrations[0])
    return StretchedMove(
        motion=at(stretch),
        stretch=stretch,
        whole=whole,
        limits=tuple(limits),
        left_mm=allowed,
        variants=tuple(variant.name for variant in variants),
        vibrations=vibrations,
        tried=tried,
    )


def _left(variant: Variant, motion: Motion, question: Any) -> float:
    found = vibration_of(
        variant.arm, motion, question, stiffness=variant.stiffness, known=variant.known
    )
    return float(found.amplitudes_mm.sum())


def _impulses(given: Any) -> tuple[np.ndarray, np.ndarray]:
    if given is None:
        return np.zeros(1), np.ones(1)
    try:
        delays, weights = (np.asarray(each, np.float64) for each in given)
    except (TypeError, ValueError) as error:
        raise ArmError(
            f"impulses = {shown(given)}: must be delays and weights, as `dynamics.shaper` returns them."
        ) from error
    if delays.ndim != 1 or delays.shape != weights.shape or not delays.size:
        raise ArmError(
            f"impulses: delays of shape {delays.shape} and weights of shape {weights.shape}; must be two rows of the "
            "same length."
        )
    if not np.all(delays >= 0.0) or not abs(weights.sum() - 1.0) <= _WHOLE:
        raise ArmError(
            f"impulses: delays from {delays.min():g} s on, weights that add up to {weights.sum():g}; must begin at 0 "
            "s or later, and add up to 1, so that the move ends where it did."
        )
    return delays, weights
