"""The search from all starts: their outcomes, the best of them, and its status."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from design_opt.evaluation.evaluator import Evaluator, Report
from design_opt.problem.designs import OWN, degrees
from design_opt.problem.errors import ProblemError
from design_opt.problem.objectives import MaximiseFrequency
from design_opt.problem.options import SolverOptions
from design_opt.solvers.augmented_lagrangian import solve_augmented_lagrangian
from design_opt.solvers.cluster_conditions import cluster_optimality
from design_opt.solvers.feasibility import least_violation
from design_opt.solvers.kkt import Optimality
from design_opt.solvers.recording import FEASIBLE, Recorder, Step
from design_opt.solvers.results import OptimisationResult
from design_opt.solvers.scipy_solver import Outcome, conditions_at, solve_slsqp
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.statuses import Status

#: scores that differ by less, relative, belong to the same optimum
_SAME = 1e-9
#: what ends a start: a design that is no possible arm, or lacks a value or a derivative
_NOT_EVALUATED = (ArmError, ProblemError)


def _feasible(report: Report | Step) -> bool:
    return report.violation <= FEASIBLE


def _repeats(evaluator: Evaluator) -> bool:
    objectives = evaluator.problem.objectives
    return len(objectives) == 1 and isinstance(objectives[0], MaximiseFrequency)


@dataclasses.dataclass(frozen=True)
class Search:
    """A search from several starts; ``failed`` has the errors that ended starts, by their numbers from 0."""

    evaluator: Evaluator
    recorder: Recorder
    options: SolverOptions
    optimizer: Any = None
    failed: dict[int, ValueError] = dataclasses.field(default_factory=dict)

    def of_starts(self, plan: list[tuple[int, np.ndarray]]) -> OptimisationResult:
        """Return the best design found from starts, each a number and positions; or what Ctrl-C left of it."""
        outcomes: list[Outcome] = []
        interrupted = False
        try:
            for number, point in plan:
                self.recorder.start = number
                outcomes += self._attempted(number, point)
            if self.failed and not outcomes and not self.recorder.steps:
                raise next(iter(self.failed.values()))
            if not any(_feasible(found.report) for found in outcomes) and not self.recorder.best:
                return self._infeasible(outcomes)
        except KeyboardInterrupt:
            interrupted = True
        return self._result(outcomes, interrupted)

    def _attempted(self, number: int, point: np.ndarray) -> list[Outcome]:
        """Return the outcome of a start; of one that failed that of its best iterate, if it has one."""
        try:
            return [self._from_start(point)]
        except _NOT_EVALUATED as error:
            self._require_own(error)
            self.failed[number] = error
        own = [step for step in self.recorder.steps if step.start == number]
        if not own:
            return []
        kept = [step for step in own if _feasible(step)]
        best = (
            max(kept, key=lambda step: step.score)
            if kept
            else min(own, key=lambda step: step.violation)
        )
        return self._conditions(self.evaluator.report(best.y))

    def _require_own(self, error: ValueError) -> None:
        """Raise an error that is none of the designs, but of the progress function."""
        if error is self.recorder.foreign:
            raise error

    def _from_start(self, start: np.ndarray, method: str | None = None) -> Outcome:
        """Search from one start; go on from a design with far other objectives, which then count relative to it."""
        evaluator, left = self.evaluator, self.options.max_iterations
        while True:
            given = evaluator, start, self.recorder, self.options.tolerance, left
            if (method or self.options.method) == "slsqp":
                found = solve_slsqp(*given)
            else:
                found = solve_augmented_lagrangian(*given, self.optimizer)
            evaluator = found.evaluator.at_size_of(found.report)
            start, left = found.y, left - found.iterations
            if evaluator is found.evaluator:
                return found
            if left <= 0:
                return dataclasses.replace(found, converged=False, used_up=True)

    def _conditions(self, report: Report) -> list[Outcome]:
        """Return the outcome at a design where no solver ended; none if derivatives are not known there."""
        try:
            return [conditions_at(self.evaluator, report, self.recorder, self.options.tolerance)]
        except _NOT_EVALUATED:
            return []

    def _result(self, outcomes: list[Outcome], interrupted: bool = False) -> OptimisationResult:
        """Return the best outcome, or the best iterate if it is better, with its status."""
        evaluator, best = self.evaluator, self.recorder.best
        good = [found for found in outcomes if _feasible(found.report)]
        chosen = max(good, key=lambda found: (found.report.score, found.converged), default=None)
        if chosen is not None:
            least = chosen.report.score - _SAME * abs(chosen.report.score)
            near = [found for found in good if found.report.score >= least]
            chosen = min(near, key=lambda found: found.optimality.residual)
        done = chosen is not None and chosen.converged and not interrupted
        report = evaluator.start if chosen is None else chosen.report
        if chosen is None or (not done and best is not None and best.score > report.score):
            report = evaluator.start if best is None else best
            chosen = next(iter(self._conditions(report)), None)
        used_up = any(found.used_up for found in outcomes)
        status, note = self._status(chosen, interrupted, used_up)
        optimality = None if chosen is None else chosen.optimality
        open_end = status in (Status.stalled, Status.iteration_limit)
        if chosen is not None and open_end and _repeats(evaluator):
            found, clusters = cluster_optimality(chosen.evaluator, chosen.report.y, tolerance=1e-5)
            if clusters and found.residual <= self.options.tolerance:
                optimality, status = found, Status.converged
                names = "; ".join(f"modes {c.modes} at {c.hz[0]:.6g} Hz" for c in clusters)
                note = f"optimality conditions of a repeated frequency hold: {names}"
        return self._ended(report, status, note, chosen, optimality)

    def _infeasible(self, outcomes: list[Outcome]) -> OptimisationResult:
        """Return the design with the smallest violation; if it is feasible, the search continues from it."""
        start = min(outcomes, key=lambda found: found.report.violation, default=None)
        nearest = start or min(self.recorder.steps, key=lambda step: step.violation)
        report = self.evaluator.report(nearest.y)
        try:
            y = least_violation(self.evaluator, report.y, None if start is None else start.chosen)
            report = self.evaluator.report(y)
            self.recorder.consider(report)
            if _feasible(report):
                return self._result([self._from_start(y, "slsqp")])
        except _NOT_EVALUATED as error:
            self._require_own(error)
            self.failed.setdefault(self.recorder.start, error)
            if self.recorder.best is not None:
                return self._result([])
        lacking = violations(self.evaluator, report)
        note = f"no design was found that keeps all constraints; the least violation is {lacking}"
        return self._ended(report, Status.infeasible, note, None, None)

    def _ended(
        self,
        report: Report,
        status: Status,
        note: str,
        chosen: Outcome | None,
        optimality: Optimality | None,
    ) -> OptimisationResult:
        how, steps = self.options, tuple(self.recorder.steps)
        evaluator = self.evaluator if chosen is None else chosen.evaluator
        reasons = {number: str(error) for number, error in self.failed.items()}
        return OptimisationResult(
            *(evaluator, report, status, note + self._failures(), how.method, how.tolerance),
            *(chosen, optimality, steps, reasons),
        )

    def _failures(self) -> str:
        """Return which starts an error ended, and the first reason, as the end of a message."""
        if not self.failed:
            return ""
        first, *others = self.failed.items()
        more = f" (and {len(others)} more)" if others else ""
        return (
            f"; start {first[0] + 1} of {self.options.starts}{more} ended at a design that could not be evaluated: "
            f"{first[1]}"
        )

    def _status(
        self, chosen: Outcome | None, interrupted: bool, used_up: bool
    ) -> tuple[Status, str]:
        left = (
            "derivatives unknown at it"
            if chosen is None
            else f"residual {chosen.optimality.residual:.1e}"
        )
        if interrupted:
            some = self.recorder.best
            kept = "the best feasible design so far is kept" if some else "none was feasible"
            return Status.interrupted, f"stopped by the user; {kept}, {left}"
        if chosen is not None and chosen.converged:
            return Status.converged, f"optimality conditions hold: {left}"
        if used_up:
            return Status.iteration_limit, (
                f"{self.options.max_iterations} iterations used up, {left}; raise max_iterations or resume"
            )
        hint = ""
        values = () if chosen is None else chosen.report.terms[0]
        if np.size(values) > 1 and self.evaluator.problem.aggregate == "bound":
            ordered = np.sort(values, axis=None)
            if ordered[1] - ordered[0] < 1e-3 * abs(ordered[0]):
                hint = "; frequencies coincide there: use a smooth aggregate, 'ks'"
        return Status.stalled, f"no more progress: {left}{hint}"


def violations(evaluator: Evaluator, report: Report) -> str:
    """Return the violated constraints of a design as text, with amount and posture."""
    problem = evaluator.problem
    parts = []
    for rule, margin in zip(problem.rules, report.margins, strict=True):
        lacking = np.abs(margin) if rule.equality else -margin
        worst = float(lacking.max())
        if worst <= FEASIBLE:
            continue
        where = ""
        if rule.postures not in ("", OWN):
            posture = int(np.unravel_index(int(lacking.argmax()), lacking.shape)[0])
            angles = evaluator.angles[rule.postures]
            where = f" at {degrees(problem.arm, angles[posture], angles)}"
        parts.append(f"{100.0 * worst:.3g} % of '{rule.label}'{where}")
    return ", ".join(parts) or "none"
