"""Optimisation of a problem in one call, with a status and the best feasible design in any case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from design_opt.evaluation.evaluator import Evaluator
from design_opt.problem.errors import ProblemError
from design_opt.problem.options import SolverOptions
from design_opt.problem.problem import Problem
from design_opt.problem.user_functions import functions, idle_variables
from design_opt.solvers.augmented_lagrangian import check_postures
from design_opt.solvers.recording import Progress, Recorder
from design_opt.solvers.results import OptimisationResult
from design_opt.solvers.search import Search
from jaxmodal.arm.quantities import shown


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
        If the method is unknown or not applicable to the problem, or an option is invalid; or if every start ends
        before its first iteration, at a design that cannot be evaluated.
    CheckpointError
        If the checkpoint belongs to another problem or is damaged.

    Notes
    -----
    Ctrl-C ends the search; the best feasible design so far is returned, with the status ``interrupted``.

    A start that comes to a design that cannot be evaluated, as one with missing frequencies or a peak too sharp for a
    derivative, ends there. It counts with the best of its iterates, the other starts go on, and the message and
    ``failed_starts`` say so.

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
    search = Search(evaluator, recorder, options, optimizer)
    recorder.consider(evaluator.start)
    points = _starts(problem, starts, seed)
    plan = list(enumerate(points))
    if recorder.resumed is not None:
        plan = _remaining(evaluator, recorder, points)
    return search.of_starts(plan)


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
