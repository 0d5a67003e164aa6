"""Text report of a result: values before and after, active constraints, certificates."""

from __future__ import annotations

import math

import numpy as np

from design_opt.problem.designs import OWN, degrees
from design_opt.problem.variables import Variable
from design_opt.solvers.found_designs import FoundDesign
from jaxmodal.arm.addresses import set_together
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.runtime.statuses import Status as Certainty
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm

#: most postures of an active constraint that are listed
_LISTED = 8


def compared(result: FoundDesign) -> list[tuple[str, float, float, str]]:
    """Return rows (what, before, after, remark) of variables, objectives, mass and least frequencies.

    "Before" is the arm as given. If the values that a variable ties differ in it, each has its own row.
    """
    problem = result.problem
    rows: list[tuple[str, float, float, str]] = []
    for variable, new in zip(problem.space.variables, result.values.values(), strict=True):
        scale, unit = (180.0 / math.pi, "°") if variable.unit == "rad" else (1.0, variable.unit)
        at = _bound(new, variable.lower, variable.upper)
        for what, old in _values_before(problem.arm, variable):
            rows.append((f"{what} [{unit}]", old * scale, new * scale, at))
    if problem.lengths:
        old, new = (float(arm.links[-1].length) for arm in (problem.arm, result.arm))
        rows.append((f"link{problem.arm.num_links}.length [m]", old, new, ""))
    rows += [(label, old, new, "") for label, (old, new) in result.objectives.items()]
    if "total mass [kg]" not in result.objectives:
        old, new = (float(arm.total_mass) for arm in (problem.arm, result.arm))
        rows.append(("total mass [kg]", old, new, ""))
    for name, hz in result.report.hz.items():
        where = "" if name == OWN else f", least over {name}"
        for mode in range(hz.shape[1]):
            old, new = result.evaluator.today_hz[name][:, mode].min(), hz[:, mode].min()
            rows.append((f"f{mode + 1} [Hz]{where}", float(old), float(new), ""))
    return rows


def _values_before(arm: AnyArm, variable: Variable) -> list[tuple[str, float]]:
    """Return the value of a variable in an arm by name; or, if they differ, the values of all its addresses."""
    singles = set_together(arm, variable.addresses)
    values = [float(get_parameter(arm, single)) for single in singles]
    if len(set(values)) == 1:
        return [(variable.name, values[0])]
    return [
        (f"{variable.name}: {single}", value) for single, value in zip(singles, values, strict=True)
    ]


def table_rows(result: FoundDesign) -> list[tuple[str, str, str]]:
    """Return `compared` as strings (what, before, after)."""
    rows = compared(result)
    return [(what, f"{old:.6g}", f"{new:.6g}{remark}") for what, old, new, remark in rows]


def result_table(result: FoundDesign) -> Table:
    """Return the design before and after, its status, active constraints and certificates."""
    notes = [*status_lines(result), *active_lines(result)]
    title = result.problem.name or "optimisation"
    return Table(title, ("", "before", "after"), table_rows(result), notes, ("",))


def _bound(value: float, lower: float, upper: float) -> str:
    width = upper - lower
    if value - lower < 1e-6 * width:
        return " (at its lower bound)"
    return " (at its upper bound)" if upper - value < 1e-6 * width else ""


def active_lines(result: FoundDesign) -> list[str]:
    """Return lines with the active constraints and postures of the design."""
    active, problem = result.active_set(), result.problem
    lines = []
    for label in dict.fromkeys(row[0] for row in active):
        own = [row for row in active if row[0] == label]
        postures = [
            degrees(problem.arm, row[2], problem.sets[row[1]])
            for row in own
            if row[1] not in ("", OWN)
        ]
        where = ""
        if postures:
            shown = ", ".join(postures[:_LISTED])
            more = len(postures) - _LISTED
            where = f" at {shown}" + (f" and {more} more postures" if more > 0 else "")
        lines.append(f"active: {label}{where}")
    return lines


def start_lines(result: FoundDesign) -> list[str]:
    """Return lines with the start of the search if that is not the given arm ("before" in tables)."""
    space = result.problem.space
    if space.starts_today:
        return []
    return [
        f"the search starts at {variable.name} = {float(value):.6g} {variable.unit}, not at the arm before"
        for variable, value in zip(space.variables, space.physical(space.start), strict=True)
        if any(
            abs(old - value) > 1e-9 * abs(value) for _, old in _values_before(space.arm, variable)
        )
    ]


def tied_lines(result: FoundDesign) -> list[str]:
    """Return lines with the variables that set several values."""
    arm = result.problem.arm
    tied = [(v, len(set_together(arm, v.addresses))) for v in result.problem.space.variables]
    return [
        f"tied: {variable.name} is one variable for {number} values; tied = false, or per_link, makes one of each"
        for variable, number in tied
        if number > 1
    ]


def status_lines(result: FoundDesign) -> list[str]:
    """Return lines with the status of the search and the certificates of its frequencies."""
    iterations, problem = len(result.steps), result.problem
    lines = [
        f"{result.status.name}: {result.message}",
        f"{iterations} iterations, largest violation {result.report.violation:.1e}",
        *start_lines(result),
        *tied_lines(result),
    ]
    if result.aggregate_gap:
        lines.append(
            f"aggregate {result.problem.aggregate}, sharpness {result.problem.sharpness:g}: at most"
            f" {result.aggregate_gap:.1e} (relative) below the least value"
        )
    for name, angles, found in result.certificates:
        where = (
            "in the arm's own posture"
            if name == OWN
            else f"at the worst posture of {name}, {degrees(problem.arm, angles, problem.sets[name])}"
        )
        count = int(np.sum(found.certified))
        modes = ", ".join(
            f"{hz:.6f}" if status == Certainty.certified else f"{hz:.6f} (NOT certified)"
            for hz, status in zip(
                np.asarray(found.frequencies_hz), np.asarray(found.status), strict=True
            )
        )
        lines.append(
            f"certificate {where}: {count} of {len(found.certified)} certified; {modes} Hz"
        )
    for name, (good, total) in result.certified_postures.items():
        if name != OWN:
            lines.append(
                f"certificate of all {total} postures of {name}: {good} of {total} certified"
            )
    return lines
