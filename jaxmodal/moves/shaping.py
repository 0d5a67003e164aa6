"""Moves that do not shake: shapers and S-curves made for the frequencies that an arm has on its way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamics.drives.motions import Motion, Shaped
from jaxmodal.dynamics.drives.piecewise import modal_s_curve
from jaxmodal.dynamics.drives.shapers import band_shaper, shaper, share_left
from jaxmodal.moves.evaluation import question_of
from jaxmodal.moves.shaped_moves import ShapedMove, ShaperComparison
from jaxmodal.moves.tasks import Task, bands_of, evaluated, is_straight, samples_of, task_of
from jaxmodal.moves.tolerances import variants_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm

Floats = NDArray[np.float64]

#: kinds of shaping, and what is compared with them
KINDS = ("zv", "zvd", "ei", "wide", "s_curve")
UNSHAPED = "none"
#: shapers that are tried for one move until it is quiet, each with one impulse more for the mode that leaves most
_TRIALS = 12
#: frequencies of a band at which its bound is looked at
_LOOKED_AT = 257


def shape_move(
    arm: Arm | SpatialArm,
    move: Motion,
    kind: str = "wide",
    num_modes: int = 3,
    *,
    theory: TheoryName = "timoshenko",
    left: float = 0.03,
    payload_error: float = 0.0,
    stiffness_error: float = 0.0,
    others: Sequence[Arm | SpatialArm] = (),
    modes: Sequence[int] | None = None,
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    duration: float | None = None,
    num_postures: int = 17,
    progress: Callable[[int, int], None] | None = None,
) -> ShapedMove:
    """A move that leaves little vibration: shaped for the certified frequencies that the arm has on its way.

    Parameters
    ----------
    arm, move, num_modes, theory, damping_ratio, gravity, duration, num_postures, progress
        As for `move_vibration`; ``num_postures`` of each arm that differs by more than its stiffness.
    kind
        ``"zv"``, ``"zvd"``: `dynamics.shaper` at the middle of each mode's band. ``"ei"``: three impulses for each mode
        that leave least in its band. ``"wide"``: as many as the bands ask for (`dynamics.band_shaper`), and one more
        for the mode that leaves most, again and again, until the evaluated move leaves no more than ``left``.
        ``"s_curve"``: `dynamics.modal_s_curve` within the speeds and
        accelerations of the move, which must be a straight line of joint angles.
    left
        Share of the unshaped vibration that may be left, amplitudes of all modes added, for ``"wide"``.
    payload_error, stiffness_error
        Shares by which the payload (its mass and moments of inertia) and all stiffnesses together may be greater or
        less; bands hold them, and the move is evaluated at their ends.
    others
        Further arms for which the move must be quiet, such as one with a softer joint.
    modes
        Numbers, from 1, of the modes that are shaped; left out, those that leave more than a little, and with
        ``"wide"`` others as they turn out to count.

    Returns
    -------
    ShapedMove
        The motion, its delay, bands and bounds, and what all arms are left with, before and after.

    Raises
    ------
    ArmError
        As for `move_vibration`; or the kind is not known, a share or mode not allowed, bands too wide, or the move no
        line.

    Notes
    -----
    A band reaches from the lowest to the highest frequency of a mode, in all postures of all arms. For a mode whose
    frequency stays anywhere in its band, and forces that do not change with the posture, `bounds` cannot be exceeded;
    that both change on the way is in the evaluated vibrations, by which ``holds`` judges.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import jaxmodal as jm
    >>> from jaxmodal import dynamics
    >>> from jaxmodal.moves import shape_move
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),), jm.Payload(0.5))
    >>> move = dynamics.RestToRest([0.0], [0.1], 0.3)
    >>> quiet = shape_move(arm, move, "wide", 2, theory="euler_bernoulli", payload_error=0.1)
    >>> quiet.holds, f"{quiet.delay:.3f} s"
    (True, '0.192 s')
    """
    if kind not in KINDS:
        raise ArmError(f"kind = {shown(kind)}: must be one of {', '.join(map(repr, KINDS))}.")
    task = task_of(
        arm,
        move,
        question_of(arm, num_modes, theory, damping_ratio, gravity, num_postures),
        duration,
        left,
        variants_of(arm, payload_error, stiffness_error, others),
        modes,
        progress,
    )
    return _shaped(task, kind)


def compare_shapers(
    arm: Arm | SpatialArm,
    move: Motion,
    kinds: Sequence[str] | None = None,
    num_modes: int = 3,
    *,
    theory: TheoryName = "timoshenko",
    left: float = 0.03,
    payload_error: float = 0.0,
    stiffness_error: float = 0.0,
    others: Sequence[Arm | SpatialArm] = (),
    modes: Sequence[int] | None = None,
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    duration: float | None = None,
    num_postures: int = 17,
    progress: Callable[[int, int], None] | None = None,
) -> ShaperComparison:
    """What each kind of `shape_move` leaves of a move, and the delay that it costs, side by side.

    Parameters
    ----------
    kinds
        Of `shape_move`, and ``"none"``; left out, all, an S-curve only where the move is a straight line of joint
        angles.
    arm, move, num_modes, theory, left, payload_error, stiffness_error, others, modes
        As for `shape_move`.
    damping_ratio, gravity, duration, num_postures, progress
        As for `move_vibration`.

    Returns
    -------
    ShaperComparison
        Prints itself as a table, a row for each kind.

    Raises
    ------
    ArmError
        As for `shape_move`.
    """
    allowed = (UNSHAPED, *KINDS)
    wanted = allowed if kinds is None else tuple(kinds)
    for kind in wanted:
        if kind not in allowed:
            raise ArmError(f"kinds: {shown(kind)}: must be of {', '.join(map(repr, allowed))}.")
    if not wanted:
        raise ArmError("kinds: is empty; give some, or leave it out for all.")
    task = task_of(
        arm,
        move,
        question_of(arm, num_modes, theory, damping_ratio, gravity, num_postures),
        duration,
        left,
        variants_of(arm, payload_error, stiffness_error, others),
        modes,
        progress,
    )
    if kinds is None and not is_straight(task):
        wanted = tuple(kind for kind in wanted if kind != "s_curve")
    return ShaperComparison(tuple(_shaped(task, kind) for kind in wanted))


def _shaped(task: Task, kind: str) -> ShapedMove:
    if kind != "wide":
        return _with_motion(task, kind, task.modes, *_motion(task, kind))
    counts = {mode: _fewest(task, mode) for mode in task.modes}
    worst, best = 0, None
    for trial in range(_TRIALS):
        modes = sorted(counts)
        try:
            impulses = band_shaper(
                bands_of(task, modes),
                task.question.ratios[modes].tolist(),
                impulses=[counts[mode] for mode in modes],
            )
        except ArmError:
            if best is None:
                raise
            break
        motion = _sent(task, *impulses)
        # the arm that was left with most, alone, says whether a look at all is worth while
        alone = evaluated(task.variants[worst], motion, task.question, _stop(task, impulses[0]))
        left = alone.amplitudes_mm
        before = task.unshaped[worst].amplitudes_mm.sum()
        if left.sum() <= task.left * before or trial in (0, _TRIALS - 1):
            found = _with_motion(task, kind, modes, motion, *impulses)
            if best is None or found.worst_share < best.worst_share:
                best = found
            if found.holds:
                break
            worst = int(np.argmax(found.shares))
            left = found.amplitudes_mm[worst]
        loudest = int(np.argmax(left))
        if loudest in counts:
            counts[loudest] += 1
        elif task.may_grow:
            counts[loudest] = _fewest(task, loudest)
        else:
            break
    assert best is not None
    return best


def _fewest(task: Task, mode: int) -> int:
    """How many impulses a mode needs to be left with its share anywhere in its band."""
    ratio = float(task.question.ratios[mode])
    return int(band_shaper(bands_of(task, [mode]), ratio, task.left)[1].size)


def _motion(task: Task, kind: str) -> tuple[Motion, Floats, Floats]:
    """A motion with delays and weights, which are those of one impulse where nothing is sent twice."""
    bands, ratios = bands_of(task, task.modes), task.question.ratios[task.modes]
    once = np.zeros(1), np.ones(1)
    if kind == UNSHAPED:
        return task.move, *once
    if kind == "s_curve":
        return _on_modes(task, bands.mean(axis=1)), *once
    if kind == "ei":
        impulses = band_shaper(bands, ratios.tolist(), impulses=3)
    else:
        impulses = shaper(bands.mean(axis=1).tolist(), ratios.tolist(), kind)
    return _sent(task, *impulses), *impulses


def _sent(task: Task, delays: Floats, weights: Floats) -> Shaped:
    return Shaped(task.move, delays, weights)


def _stop(task: Task, delays: Floats) -> float | None:
    """When a shaped move stops, if the move does not know it by itself, s."""
    return None if task.duration is None else task.duration + float(delays.max())


def _with_motion(
    task: Task, kind: str, modes: list[int], motion: Motion, delays: Floats, weights: Floats
) -> ShapedMove:
    stop = _stop(task, delays)
    bands, ratios = bands_of(task, modes), task.question.ratios[modes]
    vibrations = (
        task.unshaped
        if kind == UNSHAPED
        else tuple(evaluated(variant, motion, task.question, stop) for variant in task.variants)
    )
    bounds = [
        share_left(delays, weights, np.linspace(low, high, _LOOKED_AT), ratio).max()
        for (low, high), ratio in zip(bands, ratios, strict=True)
    ]
    return ShapedMove(
        kind=kind,
        motion=motion,
        delays=delays,
        weights=weights,
        modes=tuple(mode + 1 for mode in modes),
        bands=bands,
        bounds=np.full(len(modes), np.nan) if kind == "s_curve" else np.array(bounds),
        left=task.left,
        variants=tuple(variant.name for variant in task.variants),
        unshaped=task.unshaped,
        vibrations=vibrations,
    )


def _on_modes(task: Task, omega: Floats) -> Motion:
    """The S-curve on the two modes that leave most, within the greatest speeds and accelerations of the move."""
    if not is_straight(task):
        raise ArmError(
            "kind = 's_curve': the move is no straight line of joint angles; give kind 'zv', 'zvd', 'ei' or 'wide', "
            "which take any."
        )
    angles, rates, changes = samples_of(task)
    loudest = task.unshaped[0].amplitudes_mm[task.modes]
    chosen = np.argsort(-loudest)[:2]
    speed, push = (np.maximum(np.abs(x).max(axis=0), 1e-300) for x in (rates, changes))
    return modal_s_curve(angles[0], angles[-1], omega[chosen], speed, push)
