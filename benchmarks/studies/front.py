"""A row of problems that differ in one limit: the front between two objectives."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from design_opt.evaluation.evaluator import Evaluator
from design_opt.problem.constraints import MassLimit
from design_opt.problem.errors import ProblemError
from design_opt.problem.problem import Problem
from design_opt.solvers.optimise import optimise
from design_opt.solvers.results import OptimisationResult
from jaxmodal.runtime.statuses import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True)
class Front:
    """Results for a row of mass limits, and designs of one thickness to compare with.

    Attributes
    ----------
    limits : array, shape (F,)
        Limits of the total mass, kg.
    results : tuple of OptimisationResult
        The best design for each.
    uniform : array, shape (F,)
        Objective, Hz, of today's arm with one thickness factor on all links that has the same mass; NaN where the
        arm has no such factor.
    """

    limits: np.ndarray
    results: tuple[OptimisationResult, ...]
    uniform: np.ndarray

    def to_xarray(self) -> xr.Dataset:
        """Return the front as a dataset over ``mass_limit``."""
        problem = self.results[0].problem
        values = np.array([list(found.values.values()) for found in self.results])
        best = np.array([found.report.objectives[0] for found in self.results])
        return xr.Dataset(
            {
                "objective_value": ("mass_limit", best, {"units": "Hz"}),
                "uniform": ("mass_limit", self.uniform, {"units": "Hz"}),
                "value": (("mass_limit", "variable"), values),
                "kkt_residual": ("mass_limit", [found.kkt_residual for found in self.results]),
                "converged": (
                    "mass_limit",
                    [int(found.status == Status.converged) for found in self.results],
                ),
                "certified": ("mass_limit", [int(found.certified) for found in self.results]),
            },
            {
                "mass_limit": ("mass_limit", self.limits, {"units": "kg"}),
                "variable": list(problem.space.names),
            },
            {"title": problem.name, "objective": problem.objectives[0].label},
        )


def mass_front(problem: Problem, limits: Sequence[float]) -> Front:
    """Solve a problem once for every limit of the total mass.

    Parameters
    ----------
    problem
        Its `MassLimit` is replaced by one for each limit.
    limits
        Total mass at most, kg, ascending.

    Returns
    -------
    Front
        Every design starts from the one before.

    Raises
    ------
    ProblemError
        If the problem varies lengths of a fixed reach, of which no factor can be taken.
    """
    if problem.lengths:
        raise ProblemError(
            f"lengths = {problem.lengths}: a front scales all variables by one factor, which no reach takes; leave "
            "lengths out."
        )
    others = [rule for rule in problem.constraints if not isinstance(rule, MassLimit)]
    results: list[OptimisationResult] = []
    uniform = []
    variables = problem.variables
    for limit in limits:
        if results:
            values = list(results[-1].values.values())
            variables = [
                dataclasses.replace(v, start=float(np.clip(x, v.lower, v.upper)))
                for v, x in zip(variables, values, strict=True)
            ]
        kept = [*others, MassLimit(at_most=float(limit))]
        own = problem.changed(variables=variables, constraints=kept)
        evaluator = Evaluator(own)
        results.append(optimise(own, evaluator=evaluator))
        uniform.append(_uniform(own, evaluator, float(limit)))
    return Front(np.asarray(limits, np.float64), tuple(results), np.array(uniform))


def _uniform(problem: Problem, evaluator: Evaluator, limit: float) -> float:
    """Objective of today's arm with all its variables times one factor that brings it to the limit."""
    space = problem.space
    today = np.array(space.today)

    def positions(factor: float) -> np.ndarray:
        pairs = zip(space.variables, factor * today, strict=True)
        return np.array([v.position(min(max(x, v.lower), v.upper)) for v, x in pairs])

    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = float(np.sqrt(low * high))
        heavy = float(space.arm_at(positions(middle)).total_mass) > limit
        low, high = (low, middle) if heavy else (middle, high)
    return float(evaluator.report(positions(low)).objectives[0])


def draw_front(front: Front) -> Figure:
    """Draw the front, the designs of one thickness, and the depths along the front."""
    from sweeps.plots.style import COLOURS, new_figure, style

    ds = front.to_xarray()
    with style():
        figure = new_figure(8.6, 3.6)
        left, right = figure.subplots(1, 2)
        left.loglog(
            ds.mass_limit, ds.objective_value, color=COLOURS[0], marker="o", label="best designs"
        )
        left.loglog(
            ds.mass_limit,
            ds.uniform,
            color=COLOURS[6],
            linestyle="--",
            marker=".",
            label="today's depths times one factor",
        )
        left.set_xlabel("total mass [kg]")
        left.set_ylabel(str(ds.attrs["objective"]))
        left.legend()
        arm = front.results[0].problem.arm
        for i, name in enumerate(ds.variable.values):
            link = int(str(name).split(".")[0].removeprefix("link"))
            slenderness = float(arm.links[link - 1].length) / ds.value[:, i]
            right.loglog(
                ds.mass_limit, slenderness, color=COLOURS[i], marker="o", label=f"link {link}"
            )
        right.set_xlabel("total mass [kg]")
        right.set_ylabel("slenderness L/h of the best designs")
        right.legend()
        figure.suptitle(str(ds.attrs["title"]), fontsize=10)
    return figure
