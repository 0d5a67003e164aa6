"""The history of an optimisation as a labelled dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import jaxmodal
from design_opt.solvers.found_designs import FoundDesign
from jaxmodal.runtime.datasets import variable

if TYPE_CHECKING:
    import xarray


def history_dataset(result: FoundDesign) -> xarray.Dataset:
    """Return all iterates of an optimisation as a dataset.

    Returns
    -------
    xarray.Dataset
        Dimensions ``step`` (with coordinates ``start``, ``iteration``, ``seconds``), ``variable``, ``objective``,
        ``constraint``, ``postures``, ``mode``. Variables ``value`` (SI units), ``objective_value``, ``margin``
        (smallest relative margin of each constraint), ``violation``, ``kkt_residual``, ``score``, ``sharpness``, and
        ``lowest_frequency`` (Hz), the smallest of every mode over the postures of each set.
    """
    import xarray

    problem, steps = result.problem, result.steps
    space = problem.space
    physical = np.array([np.asarray(space.physical(step.y)) for step in steps])
    signs = np.array([part.sign for part in problem.objectives])
    sets = list(problem.used_sets)

    def column(name: str) -> np.ndarray:
        return np.array([getattr(step, name) for step in steps])

    def table(rows: list[Any], *shape: int) -> np.ndarray:
        return np.array(rows, dtype=np.float64).reshape(len(steps), *shape)

    data: dict[str, Any] = {
        "value": variable(
            ("step", "variable"),
            table(list(physical), space.size),
            "value of the design variable, SI units",
        ),
        "objective_value": variable(
            ("step", "objective"),
            table([step.objectives * signs for step in steps], signs.size),
            "objective, worst over its postures",
        ),
        "margin": variable(
            ("step", "constraint"),
            table([step.margins for step in steps], len(problem.rules)),
            "least margin of the constraint, relative to its limit",
            "1",
        ),
        "score": variable("step", column("score"), "weighted objective, relative to the start"),
        "violation": ("step", column("violation"), {"units": "1"}),
        "kkt_residual": variable(
            "step", column("kkt"), "residual of the optimality conditions", "1"
        ),
        "sharpness": ("step", column("sharpness"), {"units": "1"}),
    }
    if problem.num_modes:
        data["lowest_frequency"] = variable(
            ("step", "postures", "mode"),
            table([step.lowest_hz for step in steps], len(sets), problem.num_modes),
            "least frequency over the postures",
            "Hz",
        )
    coordinates = {
        "start": ("step", column("start")),
        "iteration": ("step", column("iteration")),
        "seconds": ("step", column("seconds"), {"units": "s"}),
        "variable": ("variable", list(space.names)),
        "unit": ("variable", [variable.unit for variable in space.variables]),
        "objective": ("objective", [part.label for part in problem.objectives]),
        "constraint": ("constraint", [rule.label for rule in problem.rules]),
        "postures": ("postures", sets),
        "mode": ("mode", np.arange(1, problem.num_modes + 1)),
    }
    attributes = {
        "title": problem.name or f"Optimisation of {problem.arm.name or 'an arm'}",
        "status": result.status.name,
        "message": result.message,
        "method": result.method,
        "theory": problem.theory,
        "aggregate": problem.aggregate,
        "tolerance": result.tolerance,
        "final_kkt_residual": result.kkt_residual,
        "jaxmodal_version": jaxmodal.__version__,
    }
    return xarray.Dataset(data, coordinates, attributes)
