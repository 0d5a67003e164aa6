"""Moves that do not shake: shapers and S-curves made for the frequencies that an arm has on its way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import is_whole, reals
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamics.drives.motions import Motion, Shaped
from jaxmodal.dynamics.drives.piecewise import modal_s_curve
from jaxmodal.dynamics.drives.shapers import band_shaper, shaper, share_left
from jaxmodal.moves.evaluation import Question, question_of, vibration_of, warn_of_the_way
from jaxmodal.moves.paths import knots_of, moved
from jaxmodal.moves.results import MoveVibration
from jaxmodal.moves.shaped_moves import ShapedMove, ShaperComparison
from jaxmodal.moves.tolerances import Variant, variants_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm

Floats = NDArray[np.float64]

#: kinds of shaping, and what is compared with them
KINDS = ("zv", "zvd", "ei", "wide", "s_curve")
UNSHAPED = "none"
#: share of what may be left that modes without a shaper of their own may leave together
_ASIDE = 0.25
#: shapers that are tried for one move until it is quiet, each with one impulse more for the mode that leaves most
_TRIALS = 12
#: share of the way that a straight line may be left by
_STRAIGHT = 1e-9
#: frequencies of a band at which its bound is looked at
_LOOKED_AT = 257


class _Task(NamedTuple):
    """A move that is to be quiet: what is asked, the arms, what they are left with, which modes are to be shaped."""

    arm: Arm | SpatialArm
    move: Motion
    question: Question
    duration: float | None
    left: float
    variants: list[Variant]
    unshaped: tuple[MoveVibration, ...]
    modes: list[int]
    may_grow: bool


def shape_move(
    arm: Arm | SpatialArm,
    move: Motion,
    kind: str = "wide",
    num_modes: int = 3,
    theory: TheoryName = "timoshenko",
    *,
    left: float = 0.03,
    payload_error: float = 0.0,
    stiffness_error: float = 0.0,
    others: Sequence[Arm | SpatialArm] = (),
    modes: Sequence[int] | None = None,
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    duration: float | None = None,
    postures: int = 17,
    progress: Callable[[int, int], None] | None = None,
) -> ShapedMove:
    """A move that leaves little vibration: shaped for the certified frequencies that the arm has on its way.

    Parameters
    ----------
    arm, move, num_modes, theory, damping_ratio, gravity, duration, postures, progress
        As for `move_vibration`; ``postures`` of each arm that differs by more than its stiffness.
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
    >>> quiet = shape_move(arm, move, "wide", 2, "euler_bernoulli", payload_error=0.1)
    >>> quiet.holds, f"{quiet.delay:.3f} s"
    (True, '0.210 s')
    """
    if kind not in KINDS:
        raise ArmError(f"kind = {shown(kind)}: must be one of {', '.join(map(repr, KINDS))}.")
    task = _task(
        arm,
        move,
        question_of(arm, num_modes, theory, damping_ratio, gravity, postures),
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
    theory: TheoryName = "timoshenko",
    *,
    left: float = 0.03,
    payload_error: float = 0.0,
    stiffness_error: float = 0.0,
    others: Sequence[Arm | SpatialArm] = (),
    modes: Sequence[int] | None = None,
    damping_ratio: Any = 0.0,
    gravity: Any = None,
    duration: float | None = None,
    postures: int = 17,
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
    damping_ratio, gravity, duration, postures, progress
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
    task = _task(
        arm,
        move,
        question_of(arm, num_modes, theory, damping_ratio, gravity, postures),
        duration,
        left,
        variants_of(arm, payload_error, stiffness_error, others),
        modes,
        progress,
    )
    if kinds is None and not _is_straight(task):
        wanted = tuple(kind for kind in wanted if kind != "s_curve")
    return ShaperComparison(tuple(_shaped(task, kind) for kind in wanted))


def _task(
    arm: Arm | SpatialArm,
    move: Motion,
    question: Question,
    duration: float | None,
    left: Any,
    variants: list[Variant],
    modes: Sequence[int] | None,
    progress: Callable[[int, int], None] | None,
) -> _Task:
    share = reals("left", left, "a share above 0 and below 1")
    if share.shape != () or not 0.0 < float(share) < 1.0:
        raise ArmError(f"left = {shown(left)}: must be a share above 0 and below 1, such as 0.03.")
    if modes is not None:
        own = list(modes)
        if not own or not all(is_whole(mode, 1, question.num_modes) for mode in own):
            raise ArmError(
                f"modes = {shown(modes)}: must be numbers of modes from 1 to num_modes = {question.num_modes}."
            )
    solved: dict[int, None] = {}
    unshaped = []
    for variant in variants:
        before = len(solved)
        solved[id(variant.known)] = None
        unshaped.append(
            _evaluated(variant, move, question, duration, _counted(progress, before, variants))
        )
    warn_of_the_way(arm, unshaped[0])
    amplitudes = np.array([found.amplitudes_mm for found in unshaped])
    chosen = (
        _that_count(amplitudes, _ASIDE * float(share))
        if modes is None
        else sorted({int(mode) - 1 for mode in modes})
    )
    return _Task(
        arm,
        move,
        question,
        duration,
        float(share),
        variants,
        tuple(unshaped),
        chosen,
        modes is None,
    )


def _counted(
    progress: Callable[[int, int], None] | None, before: int, variants: list[Variant]
) -> Callable[[int, int], None] | None:
    """Progress over the postures of all arms that have modes of their own."""
    if progress is None:
        return None
    arms = len({id(variant.known) for variant in variants})

    def advance(done: int, total: int) -> None:
        progress(before * total + done, arms * total)

    return advance


def _evaluated(
    variant: Variant,
    move: Motion,
    question: Question,
    duration: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MoveVibration:
    return vibration_of(
        variant.arm,
        move,
        question,
        duration,
        stiffness=variant.stiffness,
        known=variant.known,
        progress=progress,
    )


def _that_count(amplitudes: Floats, aside: float) -> list[int]:
    """The modes, from 0, without those that together leave no more than a share in each arm; at least one."""
    shares = np.max(amplitudes / np.maximum(amplitudes.sum(axis=1, keepdims=True), 1e-300), axis=0)
    order = np.argsort(shares)
    left_out = int(np.searchsorted(np.cumsum(shares[order]), aside, side="right"))
    return sorted(order[min(left_out, shares.size - 1) :].tolist())


def _bands(task: _Task, modes: Sequence[int]) -> Floats:
    """Lowest and highest frequency of modes in all postures of all arms, rad/s, (k, 2)."""
    omega = np.concatenate([found.omega for found in task.unshaped])[:, list(modes)]
    return np.stack([omega.min(axis=0), omega.max(axis=0)], axis=1)


def _shaped(task: _Task, kind: str) -> ShapedMove:
    if kind != "wide":
        return _with_motion(task, kind, task.modes, *_motion(task, kind))
    counts = {mode: _fewest(task, mode) for mode in task.modes}
    worst, best = 0, None
    for trial in range(_TRIALS):
        modes = sorted(counts)
        try:
            impulses = band_shaper(
                _bands(task, modes),
                task.question.ratios[modes].tolist(),
                impulses=[counts[mode] for mode in modes],
            )
        except ArmError:
            if best is None:
                raise
            break
        motion = _sent(task, *impulses)
        # the arm that was left with most, alone, says whether a look at all is worth while
        alone = _evaluated(task.variants[worst], motion, task.question, _stop(task, impulses[0]))
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


def _fewest(task: _Task, mode: int) -> int:
    """How many impulses a mode needs to be left with its share anywhere in its band."""
    ratio = float(task.question.ratios[mode])
    return int(band_shaper(_bands(task, [mode]), ratio, task.left)[1].size)


def _motion(task: _Task, kind: str) -> tuple[Motion, Floats, Floats]:
    """A motion with delays and weights, which are those of one impulse where nothing is sent twice."""
    bands, ratios = _bands(task, task.modes), task.question.ratios[task.modes]
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


def _sent(task: _Task, delays: Floats, weights: Floats) -> Shaped:
    return Shaped(task.move, delays, weights)


def _stop(task: _Task, delays: Floats) -> float | None:
    """When a shaped move stops, if the move does not know it by itself, s."""
    return None if task.duration is None else task.duration + float(delays.max())


def _with_motion(
    task: _Task, kind: str, modes: list[int], motion: Motion, delays: Floats, weights: Floats
) -> ShapedMove:
    stop = _stop(task, delays)
    bands, ratios = _bands(task, modes), task.question.ratios[modes]
    vibrations = (
        task.unshaped
        if kind == UNSHAPED
        else tuple(_evaluated(variant, motion, task.question, stop) for variant in task.variants)
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


def _samples(task: _Task) -> tuple[Floats, Floats, Floats]:
    knots = knots_of(task.move, task.duration)
    return moved(task.move, np.union1d(knots, np.linspace(knots[0], knots[-1], 2001)))


def _is_straight(task: _Task) -> bool:
    angles = _samples(task)[0]
    way = angles[-1] - angles[0]
    if not np.any(way):
        return False
    along = (angles - angles[0]) @ way / (way @ way)
    aside = angles - angles[0] - along[:, None] * way
    return bool(np.abs(aside).max() <= _STRAIGHT * np.abs(way).max())


def _on_modes(task: _Task, omega: Floats) -> Motion:
    """The S-curve on the two modes that leave most, within the greatest speeds and accelerations of the move."""
    if not _is_straight(task):
        raise ArmError(
            "kind = 's_curve': the move is no straight line of joint angles; give kind 'zv', 'zvd', 'ei' or 'wide', "
            "which take any."
        )
    angles, rates, changes = _samples(task)
    loudest = task.unshaped[0].amplitudes_mm[task.modes]
    chosen = np.argsort(-loudest)[:2]
    speed, push = (np.maximum(np.abs(x).max(axis=0), 1e-300) for x in (rates, changes))
    return modal_s_curve(angles[0], angles[-1], omega[chosen], speed, push)
