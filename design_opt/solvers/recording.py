"""Recording of an optimisation: every iterate, the best feasible design so far, progress, and checkpoint files."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from design_opt.evaluation.evaluator import Report
from design_opt.problem.errors import CheckpointError
from jaxmodal.runtime.whole_files import is_named_pipe, write_text

#: largest relative violation of a constraint in a feasible design
FEASIBLE = 1e-6


@dataclasses.dataclass(frozen=True)
class Step:
    """An iterate: its report without the frequencies at all postures, and the state of the solver."""

    start: int
    iteration: int
    seconds: float
    y: np.ndarray
    score: float
    violation: float
    kkt: float
    sharpness: float
    objectives: np.ndarray
    margins: np.ndarray
    lowest_hz: np.ndarray


class Worst(NamedTuple):
    """Posture set, index of the posture in it, frequency in Hz of the lowest vibrating mode, and the mode's number."""

    postures: str
    number: int
    hz: float
    mode: int


@dataclasses.dataclass(frozen=True)
class Progress:
    """Argument of progress functions, which are called after every iteration.

    ``objectives`` are those of the problem, with its signs. ``lowest_hz`` of shape (sets, modes) are the smallest
    frequencies over the postures of each set. ``worst`` is the smallest frequency of the lowest vibrating mode with its
    posture (None without frequencies). ``best`` is the best feasible design so far (None if there is none).
    """

    start: int
    iteration: int
    score: float
    violation: float
    kkt: float
    objectives: np.ndarray
    lowest_hz: np.ndarray
    worst: Worst | None = None
    best: Report | None = None


def worst_posture(report: Report) -> Worst | None:
    """Return the smallest frequency of a design that is not 0 by rule, with the set and the index of its posture."""
    mode = report.lowest_mode
    lowest = {name: hz[:, mode - 1] for name, hz in report.hz.items() if hz.shape[1] >= mode}
    least = ((name, int(np.argmin(hz)), float(hz.min()), mode) for name, hz in lowest.items())
    return min((Worst(*row) for row in least), key=lambda row: row.hz, default=None)


class Recorder:
    """Recorder of the iterates, the best design and the checkpoint of one optimisation.

    Parameters
    ----------
    fingerprint
        Fingerprint of the problem, stored in the checkpoint.
    progress
        Called after every iteration.
    checkpoint
        File to write after every iteration, and to resume from if it exists.

    Raises
    ------
    CheckpointError
        If the file exists but is not a checkpoint of this problem.
    """

    def __init__(
        self,
        fingerprint: str,
        progress: Callable[[Progress], None] | None = None,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.fingerprint, self.progress = fingerprint, progress
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.steps: list[Step] = []
        self.best: Report | None = None
        self.start = self.best_start = 0
        self.began = time.perf_counter()
        #: error of the progress function, which ends the search whatever its class
        self.foreign: Exception | None = None
        self.resumed: dict[str, Any] | None = None
        if self.checkpoint is not None and self.checkpoint.exists():
            self.resumed = self._read()
            self.steps = [_step(row) for row in self.resumed["steps"]]
            self.began -= self.steps[-1].seconds

    def latest(self, start: int) -> np.ndarray | None:
        """Return the positions of the last iterate of a start; None if there is none."""
        own = [step.y for step in self.steps if step.start == start]
        return own[-1] if own else None

    def add(self, report: Report, kkt: float, sharpness: float) -> None:
        """Record an iterate."""
        step = Step(
            start=self.start,
            iteration=sum(step.start == self.start for step in self.steps),
            seconds=time.perf_counter() - self.began,
            y=np.array(report.y),
            score=report.score,
            violation=report.violation,
            kkt=kkt,
            sharpness=sharpness,
            objectives=report.objectives,
            margins=np.array([float(np.min(margin)) for margin in report.margins]),
            lowest_hz=np.array([hz.min(axis=0) for hz in report.hz.values()]),
        )
        self.steps.append(step)
        self.consider(report)
        try:  # the progress function has saved its own files before the checkpoint exists
            if self.progress is not None:
                known = (step.score, step.violation, step.kkt, step.objectives, step.lowest_hz)
                worst = worst_posture(report)
                seen = Progress(step.start, step.iteration, *known, worst, self.best)
                try:
                    self.progress(seen)
                except Exception as error:
                    self.foreign = error
                    raise
        finally:
            if self.checkpoint is not None:
                self._write()

    def consider(self, report: Report) -> None:
        """Keep a design if it is feasible and better than the best so far."""
        if report.violation <= FEASIBLE and (self.best is None or report.score > self.best.score):
            self.best, self.best_start = report, self.start

    def _write(self) -> None:
        assert self.checkpoint is not None
        document = {
            "format": 2,
            "fingerprint": self.fingerprint,
            "start": self.start,
            "best": None if self.best is None else self.best.y.tolist(),
            "best_start": self.best_start,
            "steps": [_row(step) for step in self.steps],
        }
        try:
            write_text(self.checkpoint, json.dumps(document))
        except OSError as error:
            raise CheckpointError(
                f"{self.checkpoint}: cannot be written ({error.strerror or error})."
            ) from error

    def _read(self) -> dict[str, Any]:
        assert self.checkpoint is not None
        try:
            if is_named_pipe(self.checkpoint):
                raise ValueError("a FIFO")
            document = json.loads(self.checkpoint.read_text(encoding="utf-8"))
            fingerprint = document["fingerprint"]
            if document["format"] != 2 or not [_step(row) for row in document["steps"]]:
                raise ValueError("another format")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{self.checkpoint}: is not a checkpoint of an optimisation; delete it or name another file."
            ) from error
        if fingerprint != self.fingerprint:
            raise CheckpointError(
                f"{self.checkpoint}: belongs to another problem; delete it or name another file."
            )
        return dict(document)


def _row(step: Step) -> dict[str, Any]:
    """Return a step as JSON data."""
    return {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in vars(step).items()
    }


def _step(row: dict[str, Any]) -> Step:
    values: dict[str, Any] = {
        key: np.asarray(x, np.float64) if isinstance(x, list) else x for key, x in row.items()
    }
    return Step(**values)
