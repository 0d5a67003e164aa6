"""The gallery: the built-in problems solved, checked and drawn, by one command."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.front import Front, draw_front, mass_front
from design_opt.checks.finer_postures import on_finer_postures
from design_opt.checks.perturbations import perturb
from design_opt.output.artefacts import write_result
from design_opt.problem.files import read_problem
from design_opt.solvers.optimise import optimise
from design_opt.solvers.report import active_lines, status_lines, table_rows
from design_opt.solvers.results import OptimisationResult
from jaxmodal.runtime.whole_files import write_text, write_whole
from sweeps.plots.style import save

#: single problems of the gallery, in its order
PROBLEMS = ("three_link_lightest", "three_link_stiffest", "three_link_gap")
FRONT = "two_link_front"
#: mean thickness factors of the front, of which the masses of the links follow
_FACTORS = np.geomspace(0.7, 60.0, 12)
_BODIES, _LINKS = 0.834, 0.25  # kg, of today's two-link arm

_HEAD = """\
# Optimisation

Regenerate everything with one command (some minutes on two cores):

    jaxmodal optimise --gallery results/optimisation

One problem by itself: `jaxmodal optimise example:three_link_stiffest`. Histories are netCDF, arms are TOML files that
`jaxmodal frequencies` reads; `checks.json` has the numbers of the checks. Every optimum is checked twice: by the
residual of its optimality conditions (KKT), and by 1,000 random designs about it that keep the constraints.
"""


def make_gallery(
    folder: str | Path, tell: Callable[[str], None] = print, *, perturbations: int = 1000
) -> None:
    """Solve the built-in problems and write results, pictures, checks and an index.

    Parameters
    ----------
    folder
        Where to write; made if missing.
    tell
        Called with each line of progress.
    perturbations
        Random feasible designs about each optimum.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sections = [_HEAD]
    checks: dict[str, Any] = {}
    for name in PROBLEMS:
        problem, options = read_problem(f"example:{name}")
        result = optimise(problem, **options.keywords)
        tell(f"{name}: {result.status.name}, {result.message} ({len(result.steps)} iterations)")
        checks[name] = _checked(result, perturbations)
        tell(f"{name}: {checks[name]}")
        paths = write_result(_without_times(result), folder / name, plot=True)
        sections.append(_section(name, result, checks[name], paths))
    problem, _ = read_problem(f"example:{FRONT}")
    front = mass_front(problem, list(_BODIES + _LINKS * _FACTORS))
    checks[FRONT] = [_checked(found, perturbations) for found in front.results]
    tell(f"{FRONT}: {[str(found.status) for found in front.results]}")
    write_whole(folder / f"{FRONT}.nc", front.to_xarray().to_netcdf)
    figure = draw_front(front)
    write_whole(folder / f"{FRONT}.png", lambda path: save(figure, path))
    sections.append(_front_section(front, checks[FRONT]))
    text = json.dumps(checks, indent=1) + "\n"
    write_text(folder / "checks.json", text)
    write_text(folder / "README.md", "\n".join(sections))
    tell(f"{folder}")


def _without_times(result: OptimisationResult) -> OptimisationResult:
    """The result with a history that does not depend on the machine's speed."""
    steps = tuple(dataclasses.replace(step, seconds=0.0) for step in result.steps)
    return dataclasses.replace(result, steps=steps)


def _checked(result: OptimisationResult, count: int) -> dict[str, Any]:
    found = perturb(result, count)
    return {
        "status": result.status.name,
        "kkt_residual": float(f"{result.kkt_residual:.1e}"),
        "largest_violation": float(f"{result.report.violation:.1e}"),
        "certified": result.certified,
        "random_feasible_designs": found.feasible,
        "better": found.better,
    }


def _finer(result: OptimisationResult) -> list[str]:
    """Lines on what the design does between the postures of its grids."""
    found = on_finer_postures(result)
    if found is None:
        return []
    count, report = found
    changes = [
        f"{part.label} {part.sign * float(new):.6g} ({100.0 * (new / old - 1.0):+.2g} %)"
        for part, old, new in zip(
            result.problem.objectives, result.report.objectives, report.objectives, strict=True
        )
        if part.postures
    ]
    violation = f"largest violation {report.violation:.1e}"
    return [f"on a grid twice as fine, {count} postures: {', '.join([*changes, violation])}"]


def _section(
    name: str, result: OptimisationResult, check: dict[str, Any], paths: list[Path]
) -> str:
    rows = [f"| {what} | {old} | {new} |" for what, old, new in table_rows(result)]
    lines = status_lines(result) + active_lines(result) + _finer(result)
    pictures = [f"![{path.stem}]({path.name})" for path in paths if path.suffix == ".png"]
    return "\n".join(
        [
            f"\n## {result.problem.name}\n",
            f"    jaxmodal optimise example:{name}\n",
            "| | before | after |",
            "|---|---|---|",
            *rows,
            "",
            *(f"- {line}" for line in lines),
            f"- {check['random_feasible_designs']} random feasible designs about it: {check['better']} better",
            "",
            *pictures,
            "",
        ]
    )


def _front_section(front: Front, checks: list[dict[str, Any]]) -> str:
    ds = front.to_xarray()
    depths = ", ".join(f"depth {i + 1} [mm]" for i in range(ds.sizes["variable"]))
    head = depths.replace(", ", " | ")
    rows = [
        f"| {limit:.4g} | {best:.5g} | {plain:.5g} | "
        + " | ".join(f"{1e3 * depth:.4g}" for depth in values)
        + f" | {kkt:.0e} |"
        for limit, best, plain, values, kkt in zip(
            front.limits,
            ds.objective_value.values,
            front.uniform,
            ds.value.values,
            ds.kkt_residual.values,
            strict=True,
        )
    ]
    title = ds.attrs["title"]
    columns = "|---" * (4 + ds.sizes["variable"]) + "|"
    return "\n".join(
        [
            f"\n## {title}\n",
            "Slenderness against mass: the best depths of both links for a row of mass limits, beside today's depths",
            "times one factor.\n",
            f"| mass <= [kg] | best f1 [Hz] | one factor [Hz] | {head} | KKT |",
            columns,
            *rows,
            "",
            f"{sum(check['random_feasible_designs'] for check in checks)} random feasible designs about these optima:"
            f" {sum(check['better'] for check in checks)} better.",
            "",
            f"![front]({FRONT}.png)",
            "",
        ]
    )
