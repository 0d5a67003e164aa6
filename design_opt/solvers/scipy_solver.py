"""Sequential quadratic programming, D. Kraft's SLSQP in SciPy, over working sets of postures.

For a large set of postures the solver uses only the critical ones. After every run all postures are evaluated, and
those that became critical are added, until there are none. The optimality conditions then hold over the whole set.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import minimize

from design_opt.evaluation.evaluator import Evaluator, Linearised, Report
from design_opt.solvers.kkt import Optimality, optimality
from design_opt.solvers.recording import FEASIBLE, Recorder

#: most postures of one set in a working set; smaller sets are used whole
WORKING_SET = 64
#: most exchanges of the working set, and most restarts without an exchange
_EXCHANGES, _RESTARTS = 20, 4
#: largest relative difference of score and violation between the whole set and the working set
_EXCHANGE_TOLERANCE = 1e-8
_FTOL = 1e-14
#: steps below this share of the tolerance are not evaluated, because line searches continue in rounding noise
_SHORT = 1e-3
#: a run has stalled if this many iterations changed score and violation by less than this share and did not reduce the
#: residual below this factor: with constraints that cannot be satisfied, line searches continue in rounding noise
_PATIENCE, _UNMOVED, _LOWER = 3, 1e-9, 0.9
#: a stalled run is restarted if its residual is below this multiple of the tolerance
_NEAR = 10.0


#: values and derivatives of constraints, by SciPy's names of their kinds
_ROWS: dict[str, Callable[[Linearised], tuple[np.ndarray, np.ndarray]]] = {
    "ineq": lambda at: (at.inequalities, at.inequality_rates),
    "eq": lambda at: (at.equalities, at.equality_rates),
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Final state of a solver: positions, conditions, working set, and whether its iterations are used up.

    The conditions are those of the program of ``evaluator``, after a number of ``iterations``.
    """

    y: np.ndarray
    optimality: Optimality
    report: Report
    converged: bool
    chosen: dict[str, np.ndarray]
    evaluator: Evaluator
    iterations: int = 0
    used_up: bool = False


class _Stop(Exception):  # the conditions hold, all iterations are used, or the run has stalled
    pass


def solve_slsqp(
    evaluator: Evaluator,
    start: np.ndarray,
    recorder: Recorder,
    tolerance: float,
    max_iterations: int,
) -> Outcome:
    """Search from one start, and return its outcome."""
    y = np.array(start)
    outcome: Outcome | None = None
    budget, size = max_iterations, evaluator.program.size_of_score
    for sharpness in sharpnesses(evaluator):
        last = sharpness == evaluator.problem.sharpness
        report = evaluator.report(y)
        chosen = working_set(evaluator, report, None)
        exchanges = restarts = 0
        while True:
            goal = tolerance if last else max(tolerance, 1e-4)
            run = _Run(evaluator, chosen, sharpness, goal, budget, recorder)
            before = report
            y, used = run.from_positions(y)
            budget -= used
            report = evaluator.report(y)
            outcome = run.outcome(report)
            differs = _whole_set_differs(evaluator, outcome)
            # conditions with a lower sharpness, or at some postures only, are not those of the problem
            proven = outcome.converged and last and not differs
            outcome = dataclasses.replace(outcome, converged=proven)
            if budget <= 0:
                break
            if differs and exchanges < _EXCHANGES:
                exchanges += 1
                chosen = working_set(evaluator, report, outcome)
                continue
            good_enough = outcome.optimality.residual <= goal
            # close to the goal a restart, with the solver's Hessian reset, may still converge
            near = outcome.optimality.residual <= _NEAR * goal
            idle = used == 0 or (run.stood_still and _unmoved(before, report, size) and not near)
            if good_enough or restarts >= (_RESTARTS if last else 1) or idle:
                break
            restarts += 1
        if budget <= 0:
            break
    assert outcome is not None
    used = max_iterations - budget
    return dataclasses.replace(outcome, iterations=used, used_up=budget <= 0)


def conditions_at(
    evaluator: Evaluator, report: Report, recorder: Recorder, tolerance: float
) -> Outcome:
    """Return the outcome, with optimality conditions, at a design where no solver ended."""
    evaluator = evaluator.at_size_of(report)
    chosen = working_set(evaluator, report, None)
    run = _Run(evaluator, chosen, evaluator.problem.sharpness, tolerance, 0, recorder)
    run.w = np.concatenate([report.y, evaluator.program.best_bounds(report.terms)])
    found = run.outcome(report)
    proven = found.converged and not _whole_set_differs(evaluator, found)
    return dataclasses.replace(found, converged=proven)


def sharpnesses(evaluator: Evaluator) -> Iterator[float]:
    """Yield increasing sharpnesses up to that of the problem; only the last one without smoothing."""
    final = evaluator.problem.sharpness
    if evaluator.problem.aggregate != "bound":
        blunt = 20.0
        while blunt < 0.5 * final:
            yield blunt
            blunt *= 5.0
    yield final


def working_set(
    evaluator: Evaluator, report: Report, previous: Outcome | None
) -> dict[str, np.ndarray]:
    """Return the postures for the solver: small sets whole, of large sets critical postures and an even sample."""
    whole = evaluator.everything()
    if evaluator.problem.aggregate != "bound":
        return whole
    chosen = {}
    for name, everyone in whole.items():
        if len(everyone) <= WORKING_SET:
            chosen[name] = everyone
            continue
        slack = _slack(evaluator, report, name)
        critical = np.argsort(slack, kind="stable")[: WORKING_SET // 2]
        kept = np.zeros(0, int)
        if previous is not None:
            old = previous.chosen[name]
            kept = old[np.argsort(slack[old], kind="stable")][: WORKING_SET // 4]
        even = everyone[:: max(1, len(everyone) // (WORKING_SET // 2))]
        ordered = list(dict.fromkeys(np.concatenate([critical, kept, even, everyone]).tolist()))
        chosen[name] = np.sort(np.array(ordered[:WORKING_SET]))
    return chosen


def _slack(evaluator: Evaluator, report: Report, name: str) -> np.ndarray:
    """Return the distance of every posture of a set from the worst value of an objective, or from a limit."""
    problem = evaluator.problem
    slack = np.full(len(evaluator.angles[name]), np.inf)
    scales = evaluator.program.measure.scales
    for part, values, scale in zip(problem.objectives, report.terms, scales, strict=True):
        if part.postures == name and len(values) == len(slack):
            slack = np.minimum(slack, (values.min(axis=1) - values.min()) / scale)
    for rule, margin in zip(problem.rules, report.margins, strict=True):
        if rule.postures == name and len(margin) == len(slack):
            slack = np.minimum(slack, margin.min(axis=1))
    return slack


def _unmoved(one: Report, other: Report, size: float) -> bool:
    """Return True if two designs have the same score, relative to ``size``, and violation up to rounding."""
    pairs = (one.score / size, other.score / size), (one.violation, other.violation)
    return all(abs(a - b) <= _UNMOVED * max(1.0, abs(a)) for a, b in pairs)


def _whole_set_differs(evaluator: Evaluator, outcome: Outcome) -> bool:
    """Return True if a posture outside the working set is worse than all postures in it."""
    chosen = outcome.chosen
    if all(len(chosen[name]) == len(angles) for name, angles in evaluator.angles.items()):
        return False
    part = evaluator.report(outcome.y, chosen)
    size = evaluator.program.size_of_score
    worse = part.score - outcome.report.score > _EXCHANGE_TOLERANCE * size
    return worse or outcome.report.violation > max(part.violation, 0.0) + _EXCHANGE_TOLERANCE


class _Run:
    """One call of SLSQP with a working set and a sharpness."""

    def __init__(
        self,
        evaluator: Evaluator,
        chosen: dict[str, np.ndarray],
        sharpness: float,
        tolerance: float,
        budget: int,
        recorder: Recorder,
    ) -> None:
        self.evaluator, self.chosen, self.sharpness = evaluator, chosen, sharpness
        self.tolerance, self.budget, self.recorder = tolerance, budget, recorder
        self.lower, self.upper = evaluator.program.box
        self.size, self.used = evaluator.problem.space.size, 0
        self.w = np.zeros(evaluator.program.size)
        self.stood_still = False
        self._passed: list[tuple[Report, float]] = []

    def at(self, w: np.ndarray) -> Linearised:
        return self.evaluator.linearise(self.inside(w), self.chosen, self.sharpness)

    def inside(self, w: np.ndarray) -> np.ndarray:
        """Return the unknowns clipped to their bounds; the latest iterate if the difference is insignificant."""
        inside = np.clip(w, self.lower, self.upper)
        least = _SHORT * min(self.tolerance, FEASIBLE)  # limits are kept so far in any case
        short = np.abs(inside - self.w).max() <= least
        return self.w if short else inside

    def conditions(self, w: np.ndarray) -> Optimality:
        return optimality(self.at(w), w, self.lower, self.upper)

    def iteration(self, w: np.ndarray) -> None:
        self.w = self.inside(w)
        found = self.conditions(self.w)
        report = self.evaluator.report(self.w[: self.size])
        self.recorder.add(report, found.residual, self.sharpness)
        self.used += 1
        self._passed.append((report, found.residual))
        self.stood_still = self._stands_still()
        met = found.residual <= 0.1 * self.tolerance and found.violation <= FEASIBLE
        if met or self.used >= self.budget or self.stood_still:
            raise _Stop

    def _stands_still(self) -> bool:
        latest, kept = self._passed[-_PATIENCE:], self._passed[:-_PATIENCE]
        if not kept:
            return False
        lowest = [min(residual for _, residual in part) for part in (latest, kept)]
        at = kept[-1][0]
        return lowest[0] >= _LOWER * lowest[1] and all(
            _unmoved(at, report, self.evaluator.program.size_of_score) for report, _ in latest
        )

    def from_positions(self, y: np.ndarray) -> tuple[np.ndarray, int]:
        terms = self.evaluator.report(y, self.chosen).terms
        w = np.concatenate([y, self.evaluator.program.best_bounds(terms)])
        self.w = w
        start = self.at(w)
        constraints = [
            {
                "type": kind,
                "fun": lambda w, of=of: of(self.at(w))[0],
                "jac": lambda w, of=of: of(self.at(w))[1],
            }
            for kind, of in _ROWS.items()
            if of(start)[0].size
        ]
        try:
            found = minimize(
                lambda w: self.at(w).objective,
                w,
                jac=lambda w: self.at(w).objective_rate,
                method="SLSQP",
                bounds=list(zip(self.lower, self.upper, strict=True)),
                constraints=constraints,
                callback=self.iteration,
                options={"maxiter": max(self.budget, 1), "ftol": _FTOL},
            )
            if found.success:
                self.w = self.inside(found.x)
        except _Stop:
            pass
        return self.w[: self.size].copy(), self.used

    def outcome(self, report: Report) -> Outcome:
        found = self.conditions(self.w)
        return Outcome(
            self.w[: self.size].copy(),
            found,
            report,
            found.residual <= self.tolerance,
            self.chosen,
            self.evaluator,
        )
