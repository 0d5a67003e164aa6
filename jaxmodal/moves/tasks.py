"""Common preparation of shaped moves: vibration of all arms after the unshaped move, and selection of modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.arguments import is_whole, listed, reals
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.moves.evaluation import Question, vibration_of, warn_of_the_way
from jaxmodal.moves.paths import knots_of, moved
from jaxmodal.moves.results import MoveVibration
from jaxmodal.moves.tolerances import Variant
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm

#: fraction of the allowed vibration that all modes without a shaper may leave together
_ASIDE = 0.25
#: largest deviation from a straight line, relative to the length of the path
_STRAIGHT = 1e-9


class Task(NamedTuple):
    """Input of the shaping of a move: checked arguments, arms, their unshaped vibration, and the modes to shape."""

    move: Motion
    question: Question
    duration: float | None
    left: float
    variants: list[Variant]
    unshaped: tuple[MoveVibration, ...]
    modes: list[int]
    may_grow: bool


def task_of(
    arm: AnyArm,
    move: Motion,
    question: Question,
    duration: float | None,
    left: Any,
    variants: list[Variant],
    modes: Sequence[int] | None,
    progress: Callable[[int, int], None] | None,
) -> Task:
    """Check the arguments of `shape_move` and evaluate the unshaped move for all arms."""
    share = reals("left", left, "a share above 0 and below 1")
    if share.shape != () or not 0.0 < float(share) < 1.0:
        raise ArmError(f"left = {shown(left)}: must be a share above 0 and below 1, such as 0.03.")
    if modes is not None:
        own = listed("modes", modes, "numbers of modes from 1")
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
            evaluated(variant, move, question, duration, _counted(progress, before, variants))
        )
    warn_of_the_way(arm, unshaped[0])
    amplitudes = np.array([found.amplitudes_mm for found in unshaped])
    chosen = (
        _that_count(amplitudes, _ASIDE * float(share))
        if modes is None
        else sorted({int(mode) - 1 for mode in modes})
    )
    return Task(
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
    """Return a progress callback over the postures of all arms whose modes are solved."""
    if progress is None:
        return None
    arms = len({id(variant.known) for variant in variants})

    def advance(done: int, total: int) -> None:
        progress(before * total + done, arms * total)

    return advance


def evaluated(
    variant: Variant,
    move: Motion,
    question: Question,
    duration: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MoveVibration:
    """Return the vibration that a motion leaves in one of the arms."""
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
    """Return the indices of the significant modes, at least one.

    The other modes together leave at most the fraction ``aside`` in each arm.
    """
    shares = np.max(amplitudes / np.maximum(amplitudes.sum(axis=1, keepdims=True), 1e-300), axis=0)
    order = np.argsort(shares)
    left_out = int(np.searchsorted(np.cumsum(shares[order]), aside, side="right"))
    return sorted(order[min(left_out, shares.size - 1) :].tolist())


def bands_of(task: Task, modes: Sequence[int]) -> Floats:
    """Return the lowest and highest frequency of modes over all postures of all arms, rad/s, (k, 2)."""
    omega = np.concatenate([found.omega for found in task.unshaped])[:, list(modes)]
    return np.stack([omega.min(axis=0), omega.max(axis=0)], axis=1)


def samples_of(task: Task) -> tuple[Floats, Floats, Floats]:
    """Return angles, rates and accelerations of the move, at its knots and at evenly spaced times."""
    knots = knots_of(task.move, task.duration)
    return moved(task.move, np.union1d(knots, np.linspace(knots[0], knots[-1], 2001)))


def is_straight(task: Task) -> bool:
    """Return whether the move is a straight line of joint angles."""
    angles = samples_of(task)[0]
    way = angles[-1] - angles[0]
    if not np.any(way):
        return False
    along = (angles - angles[0]) @ way / (way @ way)
    aside = angles - angles[0] - along[:, None] * way
    return bool(np.abs(aside).max() <= _STRAIGHT * np.abs(way).max())
