"""Moves with little residual vibration: shapers and S-curves for the frequencies along the path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import listed
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamics.drives.motions import Motion, Shaped
from jaxmodal.dynamics.drives.piecewise import modal_s_curve
from jaxmodal.dynamics.drives.shapers import band_shaper, shaper, share_left
from jaxmodal.moves.evaluation import question_of
from jaxmodal.moves.shaped_moves import ShapedMove, ShaperComparison
from jaxmodal.moves.tasks import Task, bands_of, evaluated, is_straight, samples_of, task_of
from jaxmodal.moves.tolerances import variants_of
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm

#: kinds of shaping, and the name of the unshaped move in comparisons
KINDS = ("zv", "zvd", "ei", "wide", "s_curve")
UNSHAPED = "none"
#: largest number of shapers tried for one move, each with one more impulse for the mode with the largest vibration
_TRIALS = 12
#: number of frequencies of a band at which its bound is evaluated
_LOOKED_AT = 257


def shape_move(
    arm: AnyArm,
    move: Motion,
    kind: str = "wide",
    num_modes: int = 3,
    *,
    theory: TheoryName = "timoshenko",
    left: float = 0.03,
    payload_error: float = 0.0,
    stiffness_error: float = 0.0,
    others: Sequence[AnyArm] = (),
    modes: Sequence[int] | None = None,
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    duration: float | None = None,
    num_postures: int = 17,
    progress: Callable[[int, int], None] | None = None,
) -> ShapedMove:
    """Shape a move for the certified frequencies along its path, so that little vibration remains.

    Parameters
    ----------
    arm, move, num_modes, theory, damping_ratio, gravity, duration, num_postures, progress
        As for `move_vibration`; ``num_postures`` holds for each arm that differs in more than stiffness.
    kind
        ``"zv"``, ``"zvd"``: `dynamics.shaper` at the middle of each mode's band. ``"ei"``: three impulses for each
        mode, with the least remaining vibration in its band. ``"wide"``: as many impulses as the bands require
        (`dynamics.band_shaper`); impulses are added one at a time, for the mode with the largest remaining vibration,
        until the evaluated move leaves no more than ``left``. ``"s_curve"``: `dynamics.modal_s_curve` within the speeds
        and accelerations of the move, which must be a straight line of joint angles.
    left
        Allowed fraction of the unshaped vibration (sum of the amplitudes of all modes), for ``"wide"``.
    payload_error, stiffness_error
        Relative tolerances of the payload (its mass and moments of inertia) and of all stiffnesses together. The bands
        include them, and the move is evaluated at their limits.
    others
        Further arms in which little vibration must remain, such as one with a softer joint.
    modes
        Numbers of the modes to shape, from 1. By default the modes with more than negligible vibration; with
        ``"wide"``, further modes are added as they become significant.

    Returns
    -------
    ShapedMove
        The motion, its delay, bands and bounds, and the vibration of all arms with and without shaping.

    Raises
    ------
    ArmError
        As for `move_vibration`; or if the kind is unknown, a tolerance or mode is invalid, the bands are too wide, or
        the move is not a straight line although ``"s_curve"`` needs one.

    Notes
    -----
    A band extends from the lowest to the highest frequency of a mode, over all postures of all arms. `bounds` are
    strict for a mode with a constant frequency in its band and forces that do not change with the posture. The
    evaluated vibrations include the change of both along the path; ``holds`` is based on these.

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
    if not isinstance(kind, str) or kind not in KINDS:
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
    arm: AnyArm,
    move: Motion,
    kinds: Sequence[str] | None = None,
    num_modes: int = 3,
    *,
    theory: TheoryName = "timoshenko",
    left: float = 0.03,
    payload_error: float = 0.0,
    stiffness_error: float = 0.0,
    others: Sequence[AnyArm] = (),
    modes: Sequence[int] | None = None,
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    duration: float | None = None,
    num_postures: int = 17,
    progress: Callable[[int, int], None] | None = None,
) -> ShaperComparison:
    """Compare the kinds of `shape_move` for one move: remaining vibration and delay.

    Parameters
    ----------
    kinds
        Kinds of `shape_move`, and ``"none"``. By default all; the S-curve only if the move is a straight line of joint
        angles.
    arm, move, num_modes, theory, left, payload_error, stiffness_error, others, modes
        As for `shape_move`.
    damping_ratio, gravity, duration, num_postures, progress
        As for `move_vibration`.

    Returns
    -------
    ShaperComparison
        Prints as a table with one row for each kind.

    Raises
    ------
    ArmError
        As for `shape_move`.
    """
    allowed = (UNSHAPED, *KINDS)
    wanted = allowed if kinds is None else listed("kinds", kinds, "kinds such as ['zv', 'wide']")
    for kind in wanted:
        if not isinstance(kind, str) or kind not in allowed:
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
        # evaluate all arms only if the arm with the largest vibration holds
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
    """Return the smallest number of impulses that keeps a mode within its allowed fraction over its whole band."""
    ratio = float(task.question.ratios[mode])
    return int(band_shaper(bands_of(task, [mode]), ratio, task.left)[1].size)


def _motion(task: Task, kind: str) -> tuple[Motion, Floats, Floats]:
    """Apply a shaper to a motion; return the motion with its delays and weights."""
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
    """Return the stop time, s, of a shaped move whose motion has no end time, else None."""
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
    """Return an S-curve for the two modes with the largest vibration, within speeds and accelerations of the move."""
    if not is_straight(task):
        raise ArmError(
            "kind = 's_curve': the move is no straight line of joint angles; give kind 'zv', 'zvd', 'ei' or 'wide', "
            "which accept any move."
        )
    angles, rates, changes = samples_of(task)
    loudest = task.unshaped[0].amplitudes_mm[task.modes]
    chosen = np.argsort(-loudest)[:2]
    speed, push = (np.maximum(np.abs(x).max(axis=0), 1e-300) for x in (rates, changes))
    return modal_s_curve(angles[0], angles[-1], omega[chosen], speed, push)
