"""What the command prints of a result: before and after, what it hangs on, its certificate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from design_opt.problem.designs import OWN, degrees
from jaxmodal.frequencies.status import Status as Certainty
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    from design_opt.solvers.results import Result

#: postures of the active set that are listed one by one
_LISTED = 8


def compared(result: Result) -> list[tuple[str, float, float, str]]:
    """Return rows (what, before, after, remark) of variables, objectives, mass and least frequencies."""
    problem, start = result.problem, result.evaluator.start
    before = np.asarray(problem.space.physical(start.y)).tolist()
    rows: list[tuple[str, float, float, str]] = []
    for variable, old, new in zip(
        problem.space.variables, before, result.values.values(), strict=True
    ):
        scale, unit = (180.0 / math.pi, "°") if variable.unit == "rad" else (1.0, variable.unit)
        at = _bound(new, variable.lower, variable.upper)
        rows.append((f"{variable.name} [{unit}]", old * scale, new * scale, at))
    old_arm = problem.space.arm_at(start.y)
    if problem.lengths:
        old, new = (float(arm.links[-1].length) for arm in (old_arm, result.arm))
        rows.append((f"link{problem.arm.num_links}.length [m]", old, new, ""))
    rows += [(label, old, new, "") for label, (old, new) in result.objectives.items()]
    if "total mass [kg]" not in result.objectives:
        old, new = (float(arm.total_mass) for arm in (old_arm, result.arm))
        rows.append(("total mass [kg]", old, new, ""))
    for name, hz in result.report.hz.items():
        where = "" if name == OWN else f", least over {name}"
        for mode in range(hz.shape[1]):
            old, new = start.hz[name][:, mode].min(), hz[:, mode].min()
            rows.append((f"f{mode + 1} [Hz]{where}", float(old), float(new), ""))
    return rows


def table_rows(result: Result) -> list[tuple[str, str, str]]:
    """Return `compared` as texts (what, before, after)."""
    rows = compared(result)
    return [(what, f"{old:.6g}", f"{new:.6g}{remark}") for what, old, new, remark in rows]


def result_table(result: Result) -> Table:
    """Return the design before and after, its status, what it hangs on and its certificates."""
    notes = [*status_lines(result), *active_lines(result)]
    title = result.problem.name or "optimisation"
    return Table(title, ("", "before", "after"), table_rows(result), notes, ("",))


def _bound(value: float, lower: float, upper: float) -> str:
    width = upper - lower
    if value - lower < 1e-6 * width:
        return " (at its lower bound)"
    return " (at its upper bound)" if upper - value < 1e-6 * width else ""


def active_lines(result: Result) -> list[str]:
    """Say which constraints and postures the design hangs on."""
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


def moved_lines(result: Result) -> list[str]:
    """Say where the start, which the tables call before, is not today's arm."""
    space = result.problem.space
    start = np.asarray(space.physical(space.start))
    far = np.abs(start - np.array(space.today)) > 1e-9 * np.abs(start)
    return [
        f"before is the start, not today's arm: {variable.name} = {now:.6g} {variable.unit} today"
        for variable, now, moved in zip(space.variables, space.today, far, strict=True)
        if moved
    ]


def status_lines(result: Result) -> list[str]:
    """Say how the optimisation ended, and what its frequencies may be trusted for."""
    iterations, problem = len(result.steps), result.problem
    lines = [
        f"{result.status}: {result.message}",
        f"{iterations} iterations, largest violation {result.report.violation:.1e}",
        *moved_lines(result),
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
