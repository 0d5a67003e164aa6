"""Problems from TOML files, with every key checked; the built-in problems."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from design_opt.problem.buckling import BucklingLimit, MaximiseBuckling
from design_opt.problem.constraints import Constraint, ForbiddenBand, FrequencyLimit, MassLimit
from design_opt.problem.designs import as_degrees, own_angles, workspace
from design_opt.problem.driven import MinimiseResponse, ResponseLimit
from design_opt.problem.errors import ProblemError, about
from design_opt.problem.objectives import MaximiseFrequency, MaximiseGap, MinimiseMass, Objective
from design_opt.problem.options import SolverOptions
from design_opt.problem.problem import Problem
from design_opt.problem.structural_constraints import DeflectionLimit, WallLimit
from design_opt.problem.variables import FixedReach, Variable, per_link
from jaxmodal.arm.built_in import BuiltIn
from jaxmodal.arm.documents import check_document, check_keys, check_kind, parse_toml
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.files.named_arms import arm_of_entry

_TOP = (
    *("name", "arm", "theory", "aggregate", "sharpness"),
    *("variables", "lengths", "postures", "objective", "constraints", "solver"),
)
_VARIABLE = ("parameter", "tied", "lower", "upper", "follow", "scale", "start", "name")
_OBJECTIVES: dict[str, type] = {
    "minimise mass": MinimiseMass,
    "minimise response": MinimiseResponse,
    "maximise frequency": MaximiseFrequency,
    "maximise buckling": MaximiseBuckling,
    "maximise gap": MaximiseGap,
}
_CONSTRAINTS: dict[str, type] = {
    "frequency": FrequencyLimit,
    "band": ForbiddenBand,
    "mass": MassLimit,
    "deflection": DeflectionLimit,
    "buckling": BucklingLimit,
    "wall": WallLimit,
    "response": ResponseLimit,
}


_FILES = BuiltIn(("design_opt", "data"), "built-in problem", ProblemError)


def problem_names() -> list[str]:
    """Return the names of the built-in problems, sorted."""
    return _FILES.names()


def problem_text(name: str) -> str:
    """Return the TOML file of a built-in problem, with its comments.

    Raises
    ------
    ProblemError
        If there is no such problem.
    """
    return _FILES.text(name)


def read_problem(source: str | Path) -> tuple[Problem, SolverOptions]:
    """Read a problem and its solver options.

    Parameters
    ----------
    source
        Path of a TOML file, or ``"example:NAME"`` for a built-in problem.

    Raises
    ------
    ProblemError
        If the file cannot be read or is not TOML, a key is missing or unknown, or a value is not allowed. The
        message starts with the file.

    Examples
    --------
    >>> problem, options = read_problem("example:three_link_stiffest")
    >>> problem.space.size, len(problem.sets["workspace"]), options.method
    (9, 4096, 'slsqp')
    """
    text, place, folder = _FILES.source(source)
    with about(place):
        document = parse_toml(text, ProblemError, "see `jaxmodal optimise --list` for valid files.")
        return problem_from_dict(document, folder=folder)


def problem_from_dict(
    document: Mapping[str, Any], *, folder: str | Path = "."
) -> tuple[Problem, SolverOptions]:
    """Return problem and solver options from the tables of a problem file, see `read_problem`.

    Paths in the ``document`` are relative to the ``folder``.
    """
    check_document(document, ProblemError)
    check_kind(document, "objective", ProblemError)
    if not isinstance(document, Mapping):
        raise ProblemError(f"a problem = {shown(document)}: must be a table of keys and values.")
    _check_keys("the file", document, _TOP, ("arm", "objective"))
    with about("arm", ArmError):
        arm = arm_of_entry(document["arm"], folder, ProblemError)
    variables: list[Variable] = []
    for number, entry in enumerate(_tables("variables", document), start=1):
        variables += _variables(f"variables[{number}]", entry, arm)
    objectives = [
        _objective(f"objective[{number}]", entry)
        for number, entry in enumerate(_tables("objective", document), start=1)
    ]
    constraints = [
        _constraint(f"constraints[{number}]", entry)
        for number, entry in enumerate(_tables("constraints", document), start=1)
    ]
    lengths = None
    if "lengths" in document:
        lengths = _made("lengths", FixedReach, document["lengths"])
    sets = document.get("postures", {})
    if not isinstance(sets, Mapping):
        raise ProblemError("postures: must be tables such as [postures.workspace].")
    options = {
        key: document[key]
        for key in ("theory", "aggregate", "sharpness", "name")
        if key in document
    }
    problem = Problem(
        arm,
        variables,
        objectives,
        constraints,
        postures={name: _postures(name, entry, arm) for name, entry in sets.items()},
        lengths=lengths,
        **options,
    )
    solver: SolverOptions = _made("solver", SolverOptions, document.get("solver", {}))
    return problem, solver


def _variables(where: str, entry: Mapping[str, Any], arm: AnyArm) -> list[Variable]:
    _check_keys(where, entry, _VARIABLE, ("parameter", "lower", "upper"))
    values = dict(entry)
    parameter, tied = values.pop("parameter"), values.pop("tied", True)
    if not isinstance(tied, bool):
        raise ProblemError(f"{where}: tied = {shown(tied)}: must be true or false.")
    with about(where, ProblemError):
        return [Variable(parameter, **values)] if tied else per_link(arm, parameter, **values)


def _objective(where: str, entry: Mapping[str, Any]) -> Objective:
    given = [key for key in ("minimise", "maximise") if key in entry]
    if len(given) != 1:
        raise ProblemError(
            f"{where}: give one of minimise and maximise, such as minimise = 'mass'."
        )
    kind = f"{given[0]} {entry[given[0]]}"[:100]
    if kind not in _OBJECTIVES:
        known = ", ".join(_OBJECTIVES)
        raise ProblemError(
            f"{where}: {kind!r} is unknown; known are {known}.{suggestion(kind, _OBJECTIVES)}"
        )
    rest = {key: value for key, value in entry.items() if key != given[0]}
    objective: Objective = _made(where, _OBJECTIVES[kind], rest)
    return objective


def _constraint(where: str, entry: Mapping[str, Any]) -> Constraint:
    kind = entry.get("kind")
    if not isinstance(kind, str) or kind not in _CONSTRAINTS:
        raise ProblemError(
            f"{where}: kind = {shown(kind)}; choose one of {', '.join(_CONSTRAINTS)}."
            f"{suggestion(str(kind)[:100], _CONSTRAINTS)}"
        )
    rest = {key: value for key, value in entry.items() if key != "kind"}
    constraint: Constraint = _made(where, _CONSTRAINTS[kind], rest)
    return constraint


def _postures(name: str, entry: Any, arm: AnyArm) -> np.ndarray:
    where = f"postures.{name}"
    if not isinstance(entry, Mapping):
        raise ProblemError(f"{where}: must be a table with list_deg or grid_deg.")
    _check_keys(where, entry, ("list_deg", "grid_deg"))
    if len(entry) != 1:
        raise ProblemError(f"{where}: give one of list_deg and grid_deg.")
    try:
        if "list_deg" in entry:
            listed = np.asarray(entry["list_deg"], dtype=np.float64)
            if listed.ndim and (count := listed.shape[-1]) in (
                len(arm.joints) - 1,
                len(arm.joints),
            ):
                turning = [not arm.slides(i) for i in arm.joints[len(arm.joints) - count :]]
                return np.where(turning, np.radians(listed), listed)
            return np.radians(listed)  # a wrong shape, which Problem refuses
        joints, grid = arm.joints, entry["grid_deg"]
        names = {f"theta_{i}": i for i in joints if not arm.slides(i)}
        names |= {
            name: numbers[0]
            for name, numbers in arm.joint_names.items()
            if len(numbers) == 1 and name not in names
        }
        _check_keys(f"{where}.grid_deg", grid, names)
        ranges = {names[name]: values for name, values in grid.items()}
        if len(ranges) < len(grid):
            raise ProblemError(
                f"{where}.grid_deg: one joint is given twice, by its name and by number; give it once."
            )
        held = {i: as_degrees(arm, i, own_angles(arm)[0, i - 1]) for i in joints}
        sliding = [k for k, i in enumerate(joints) if arm.slides(i)]
        return workspace(
            *(tuple(ranges.get(i, (held[i], held[i], 1))) for i in joints), sliding=sliding
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, ProblemError):
            raise
        raise ProblemError(
            f"{where}: list_deg takes a list of postures [[0, 45], ...] in degrees, grid_deg a table such as"
            " { theta_2 = [-90, 90, 64] } with first, last and number; positions of joints that slide are in m."
        ) from error


def _made(where: str, kind: type, entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        raise ProblemError(f"{where} = {shown(entry)}: must be a table.")
    fields = [item for item in dataclasses.fields(kind) if item.init]
    absent = dataclasses.MISSING
    needed = [x.name for x in fields if x.default is absent and x.default_factory is absent]
    _check_keys(where, entry, [item.name for item in fields], needed)
    with about(where, ProblemError):
        return kind(**entry)


def _tables(key: str, document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the tables under a key; a single table counts as a list of one."""
    entry = document.get(key, [])
    entries = [entry] if isinstance(entry, Mapping) else entry
    if not isinstance(entries, list) or not all(isinstance(item, Mapping) for item in entries):
        raise ProblemError(f"{key}: must be tables; start each with a line [[{key}]].")
    return entries


def _check_keys(
    where: str, table: Mapping[str, Any], known: Iterable[str], required: Iterable[str] = ()
) -> None:
    with about(where, ProblemError):
        check_keys(table, known, required, ProblemError)
