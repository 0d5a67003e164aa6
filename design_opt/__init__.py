"""Structural optimisation of arms: exact gradients, certified results.

A `Problem` is an arm with design variables, objectives and constraints over sets of postures. `optimise` finds the
best design and checks its optimality conditions.
"""

from design_opt.evaluation.evaluator import Evaluator
from design_opt.problem.buckling import BucklingLimit, MaximiseBuckling
from design_opt.problem.constraints import ForbiddenBand, FrequencyLimit, MassLimit, Require
from design_opt.problem.designs import Design, workspace
from design_opt.problem.driven import MinimiseResponse, ResponseLimit
from design_opt.problem.errors import CheckpointError, ProblemError
from design_opt.problem.files import problem_from_dict, problem_names, read_problem
from design_opt.problem.objectives import (
    Maximise,
    MaximiseFrequency,
    MaximiseGap,
    Minimise,
    MinimiseMass,
)
from design_opt.problem.options import METHODS
from design_opt.problem.problem import AGGREGATES, Problem
from design_opt.problem.structural_constraints import DeflectionLimit, WallLimit
from design_opt.problem.variables import FixedReach, Variable, per_link
from design_opt.solvers.optimise import optimise
from design_opt.solvers.results import OptimisationResult
from jaxmodal.runtime.public_names import report_package

__all__ = [
    "AGGREGATES",
    "METHODS",
    "BucklingLimit",
    "CheckpointError",
    "DeflectionLimit",
    "Design",
    "Evaluator",
    "FixedReach",
    "ForbiddenBand",
    "FrequencyLimit",
    "MassLimit",
    "Maximise",
    "MaximiseBuckling",
    "MaximiseFrequency",
    "MaximiseGap",
    "Minimise",
    "MinimiseMass",
    "MinimiseResponse",
    "OptimisationResult",
    "Problem",
    "ProblemError",
    "Require",
    "ResponseLimit",
    "Variable",
    "WallLimit",
    "optimise",
    "per_link",
    "problem_from_dict",
    "problem_names",
    "read_problem",
    "workspace",
]

report_package(globals())
