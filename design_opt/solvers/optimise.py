"""Optimisation of a problem in one call, with a status and the best feasible design in any case."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from design_opt.evaluation.evaluator import Evaluator, Report
from design_opt.problem.designs import OWN, degrees
from design_opt.problem.errors import ProblemError
from design_opt.problem.objectives import MaximiseFrequency
from design_opt.problem.options import SolverOptions
from design_opt.problem.problem import Problem
from design_opt.problem.user_functions import functions, idle_variables
from design_opt.solvers.augmented_lagrangian import check_postures, solve_augmented_lagrangian
from design_opt.solvers.cluster_conditions import cluster_optimality
from design_opt.solvers.feasibility import least_violation
from design_opt.solvers.kkt import Optimality
from design_opt.solvers.recording import FEASIBLE, Progress, Recorder
from design_opt.solvers.results import OptimisationResult
from design_opt.solvers.scipy_solver import Outcome, conditions_at, solve_slsqp
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.statuses import Status

#: scores that differ by less, relative, belong to the same optimum
_SAME = 1e-9


def optimise(
    problem: Problem,
    method: str = "slsqp",
    *,
    starts: int = 1,
    seed: int = 0,
    tolerance: float = 1e-6,
    max_iterations: int = 300,
    optimizer: Any = None,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: str | Path | None = None,
    evaluator: Evaluator | None = None,
) -> OptimisationResult:
    """Find the best design of a problem.

    Parameters
    ----------
    problem
        The problem.
    method
        ``"slsqp"``, sequential quadratic programming, for any number of postures; or ``"augmented_lagrangian"``, which
        takes any optax optimiser and up to 256 postures.
    starts
        Number of starts. The first uses the initial values of the variables, the others are random within the bounds.
    seed
        Seed of the random starts.
    tolerance
        Residual of the optimality conditions (KKT) below which a design is converged.
    max_iterations
        Largest number of iterations of each start; for the augmented Lagrangian, of steps of the inner optimiser.
    optimizer
        Any optax optimiser for the augmented Lagrangian; L-BFGS by default.
    progress
        Called after every iteration.
    checkpoint
        File for the state after every iteration. If it exists, the optimisation continues from it.
    evaluator
        An `Evaluator` of the same problem, to avoid setting it up again.

    Returns
    -------
    OptimisationResult
        The best feasible design found, its status, optimality conditions, history and certificates.

    Raises
    ------
    ProblemError
        If the method is unknown or not applicable to the problem, or an option is invalid.
    CheckpointError
        If the checkpoint belongs to another problem or is damaged.

    Notes
    -----
    Ctrl-C ends the search; the best feasible design so far is returned, with the status ``interrupted``.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> from design_opt import FrequencyLimit, MinimiseMass, Problem, Variable, optimise
    >>> tube = jm.hollow_circle(0.08, 0.004, "cowper")
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, tube, poisson_ratio=0.33),), jm.Payload(3.0))
    >>> wall = Variable("link1.section.wall_thickness", 0.001, 0.02)
    >>> problem = Problem(arm, [wall], MinimiseMass(), [FrequencyLimit(1, at_least_hz=20.0)])
    >>> found = optimise(problem)
    >>> print(found.status, round(found.values["link1.section.wall_thickness"] * 1e3, 4))
    converged 1.2707
    """
    if not isinstance(problem, Problem):
        raise ProblemError(f"problem = {shown(problem)}: must be a Problem.")
    options = SolverOptions(method, starts, seed, tolerance, max_iterations)
    for name in idle_variables(problem):
        raise ProblemError(
            f"variable {name!r}: nothing depends on it: every set of postures in use has joint "
            "positions of its own. Leave it out, or give objectives or constraints postures = 'own'."
        )
    _check_optimizer(method, optimizer)
    if progress is not None and not callable(progress):
        raise ProblemError(
            f"progress = {shown(progress)}: must be a function of a Progress, or None."
        )
    evaluator = Evaluator(problem) if evaluator is None else evaluator
    if not (
        isinstance(evaluator, Evaluator)
        and problem.fingerprint == evaluator.problem.fingerprint
        and functions(problem) == functions(evaluator.problem)
    ):
        raise ProblemError(
            "evaluator: is that of another problem; give Evaluator(problem), or leave it out."
        )
    if method == "augmented_lagrangian":
        check_postures(evaluator)
    recorder = Recorder(problem.fingerprint, progress, checkpoint)
    search = _Search(evaluator, recorder, options)
    recorder.consider(evaluator.start)
    points = _starts(problem, starts, seed)
    plan = list(enumerate(points))
    if recorder.resumed is not None:
        plan = _remaining(evaluator, recorder, points)
    outcomes: list[Outcome] = []
    interrupted = False
    try:
        for number, point in plan:
            recorder.start = number
            outcomes.append(search.from_start(point, optimizer))
        if not any(_feasible(found.report) for found in outcomes) and recorder.best is None:
            return search.infeasible(outcomes)
    except KeyboardInterrupt:
        interrupted = True
    return search.result(outcomes, interrupted)


def _check_optimizer(method: str, optimizer: Any) -> None:
    if optimizer is None:
        return
    if method != "augmented_lagrangian":
        raise ProblemError(
            f"optimizer: is for the method 'augmented_lagrangian', not {method!r}; name that one, or leave it out."
        )
    if not (callable(getattr(optimizer, "init", None)) and hasattr(optimizer, "update")):
        raise ProblemError(
            f"optimizer = {shown(optimizer)}: must be one of optax, such as optax.adam(0.02)."
        )


def _starts(problem: Problem, starts: int, seed: int) -> np.ndarray:
    space = problem.space
    others = np.random.default_rng(seed).uniform(0.0, 1.0, (starts - 1, space.size))
    return np.concatenate([space.start[None, :], others])


def _remaining(
    evaluator: Evaluator, recorder: Recorder, points: np.ndarray
) -> list[tuple[int, np.ndarray]]:
    """Return the remaining starts of a resumed search; the best design of finished starts is evaluated again."""
    assert recorder.resumed is not None
    at = min(int(recorder.resumed["start"]), len(points) - 1)
    plan = [(number, points[number]) for number in range(at, len(points))]
    latest = recorder.latest(at)
    if latest is not None:
        plan[0] = (at, latest)
    if recorder.resumed["best"] is not None:
        best = np.asarray(recorder.resumed["best"], np.float64)
        recorder.start = int(recorder.resumed["best_start"])
        recorder.consider(evaluator.report(best))
        if recorder.start < at:
            plan.insert(0, (recorder.start, best))
    return plan


def _feasible(report: Report) -> bool:
    return report.violation <= FEASIBLE


def _repeats(evaluator: Evaluator) -> bool:
    objectives = evaluator.problem.objectives
    return len(objectives) == 1 and isinstance(objectives[0], MaximiseFrequency)


@dataclasses.dataclass(frozen=True)
class _Search:
    """Outcomes of all starts of one search."""

    evaluator: Evaluator
    recorder: Recorder
    options: SolverOptions

    def from_start(self, start: np.ndarray, optimizer: Any = None) -> Outcome:
        """Search from one start; go on from a design with far other objectives, which then count relative to it."""
        evaluator, left = self.evaluator, self.options.max_iterations
        while True:
            given = evaluator, start, self.recorder, self.options.tolerance, left
            if self.options.method == "slsqp":
                found = solve_slsqp(*given)
            else:
                found = solve_augmented_lagrangian(*given, optimizer)
            evaluator = found.evaluator.at_size_of(found.report)
            start, left = found.y, left - found.iterations
            if evaluator is found.evaluator:
                return found
            if left <= 0:
                return dataclasses.replace(found, converged=False, used_up=True)

    def result(self, outcomes: list[Outcome], interrupted: bool = False) -> OptimisationResult:
        """Return the best outcome, or the best iterate if it is better, with its status."""
        evaluator, recorder = self.evaluator, self.recorder
        good = [found for found in outcomes if _feasible(found.report)]
        chosen = max(good, key=lambda found: (found.report.score, found.converged), default=None)
        best = recorder.best
        if chosen is not None:
            least = chosen.report.score - _SAME * abs(chosen.report.score)
            near = [found for found in good if found.report.score >= least]
            chosen = min(near, key=lambda found: found.optimality.residual)
        done = chosen is not None and chosen.converged and not interrupted
        if chosen is None or (not done and best is not None and best.score > chosen.report.score):
            report = evaluator.start if best is None else best
            chosen = conditions_at(evaluator, report, recorder, self.options.tolerance)
        used_up = any(found.used_up for found in outcomes)
        status, note = self._status(chosen, interrupted, used_up)
        optimality = chosen.optimality
        open_end = status in (Status.stalled, Status.iteration_limit)
        if open_end and _repeats(evaluator):
            found, clusters = cluster_optimality(chosen.evaluator, chosen.report.y, tolerance=1e-5)
            if clusters and found.residual <= self.options.tolerance:
                optimality, status = found, Status.converged
                names = "; ".join(f"modes {c.modes} at {c.hz[0]:.6g} Hz" for c in clusters)
                note = f"optimality conditions of a repeated frequency hold: {names}"
        return self._ended(chosen.report, status, note, chosen, optimality)

    def infeasible(self, outcomes: list[Outcome]) -> OptimisationResult:
        """Return the design with the smallest violation; if it is feasible, the search continues from it."""
        start = min(outcomes, key=lambda found: found.report.violation)
        y = least_violation(self.evaluator, start.y, start.chosen)
        report = self.evaluator.report(y)
        self.recorder.consider(report)
        if _feasible(report):
            slsqp = dataclasses.replace(self.options, method="slsqp")
            again = dataclasses.replace(self, options=slsqp)
            return self.result([again.from_start(y)])
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
        return OptimisationResult(
            *(evaluator, report, status, note, how.method, how.tolerance),
            *(chosen, optimality, steps),
        )

    def _status(self, chosen: Outcome, interrupted: bool, used_up: bool) -> tuple[Status, str]:
        residual = chosen.optimality.residual
        if interrupted:
            some = self.recorder.best
            kept = "the best feasible design so far is kept" if some else "none was feasible"
            return Status.interrupted, f"stopped by the user; {kept}, residual {residual:.1e}"
        if chosen.converged:
            return Status.converged, f"optimality conditions hold: residual {residual:.1e}"
        if used_up:
            return Status.iteration_limit, (
                f"{self.options.max_iterations} iterations used up, residual {residual:.1e}; "
                "raise max_iterations or resume"
            )
        hint = ""
        values = chosen.report.terms[0]
        if values.size > 1 and self.evaluator.problem.aggregate == "bound":
            ordered = np.sort(values, axis=None)
            if ordered[1] - ordered[0] < 1e-3 * abs(ordered[0]):
                hint = "; frequencies coincide there: use a smooth aggregate, 'ks'"
        return Status.stalled, f"no more progress at a residual of {residual:.1e}{hint}"


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
