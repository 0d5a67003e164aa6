"""The command ``jaxmodal optimise``.

Results go to standard output, errors and progress to standard error. Exit status: 0 when the optimisation
converged and the frequencies are certified, 1 when not, 2 for bad input, 130 after Ctrl-C.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.arm.built_in import EXAMPLE_PREFIX
from jaxmodal.cli import arguments
from jaxmodal.cli.arguments import (
    BadInput,
    NumberRange,
    WholeRange,
    end_unless,
    format_option,
    no_plot_option,
)
from jaxmodal.cli.interrupts import EXIT_INTERRUPTED, keeping
from jaxmodal.cli.output import print_document, print_json, written_files
from jaxmodal.cli.paths import folder_option, force_option, require_folder, require_new
from jaxmodal.cli.project_folder import project_module

if TYPE_CHECKING:
    from design_opt.evaluation.evaluator import Report
    from design_opt.problem.problem import Problem
    from design_opt.solvers.recording import Progress, Worst
    from design_opt.solvers.results import OptimisationResult

PROBLEM_HELP = "PROBLEM is a TOML file, or example:NAME for a built-in problem (see `jaxmodal optimise --list`)."


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Convert errors of the library to messages of the command."""
    from design_opt.problem.errors import CheckpointError

    try:
        with arguments.refusing("", CheckpointError):
            yield
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be written ({error.strerror}).") from error


def _built_in(ctx: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the names of built-in problems that begin with ``start``, for completion."""
    from design_opt.problem.files import problem_names

    return [name for name in problem_names() if name.startswith(start)]


@click.command(epilog=PROBLEM_HELP)
@click.argument("source", metavar="PROBLEM", required=False)
@click.option("--method", type=click.Choice(["slsqp", "augmented_lagrangian"]))
@click.option("--starts", type=WholeRange(min=1), metavar="N", help="Number of starts.")
@click.option("--seed", type=WholeRange(min=0), metavar="N", help="Of the random starts.")
@click.option("--tolerance", type=NumberRange(1e-12, 0.1), metavar="X", help="KKT residual.")
@click.option("--max-iterations", type=WholeRange(min=1), metavar="N", help="Of each start.")
@click.option("--list", "listing", is_flag=True, help="List the built-in problems.")
@click.option(
    "--show",
    metavar="NAME",
    shell_complete=_built_in,
    help="Print the TOML file of a built-in problem.",
)
@folder_option(
    "--gallery",
    metavar="FOLDER",
    remark="Solve all built-in problems and write results, pictures and index to a folder; in the project's folder.",
)
@format_option(("table", "json"))
@no_plot_option
@click.option("--out", metavar="STEM", help="Beginning of the files' names.  [default: NAME]")
@force_option
def optimise(
    source: str | None,
    listing: bool,
    show: str | None,
    gallery: Path | None,
    output_format: str,
    no_plot: bool,
    out: str | None,
    **options: Any,
) -> None:
    """Optimise a PROBLEM: the best design, before and after, its optimality conditions and certificate.

    Writes STEM_arm.toml (the arm found), STEM.nc (the history) and pictures. STEM_arm.toml always holds the best
    feasible design so far. Ctrl-C ends the search, and the same command goes on from there. Exit status: 0 when it
    converged and all is certified, else 1; 2 for bad input; 130 after Ctrl-C.
    """
    given = [source is not None, listing, show is not None, gallery is not None]
    if sum(given) != 1:
        raise click.UsageError("give a PROBLEM, or one of --list, --show NAME, --gallery FOLDER.")
    if source is not None:
        _run(source, out, not no_plot, arguments.given(options), output_format)
    elif gallery is not None:
        study = project_module("studies.optimisation_gallery")
        as_json = output_format == "json"
        with refusing():
            study.make_gallery(gallery, functools.partial(click.echo, err=as_json))
        if as_json:
            print_json({"wrote": written_files(*sorted(gallery.iterdir()))})
    else:
        _show(show, output_format)


def _show(name: str | None, output_format: str) -> None:
    from design_opt.problem.files import problem_names, problem_text, read_problem

    with refusing():
        if name is not None:
            print_document(problem_text(name.removeprefix(EXAMPLE_PREFIX)), output_format)
            return
        built_in = {known: read_problem(EXAMPLE_PREFIX + known)[0] for known in problem_names()}
        if output_format == "json":
            print_json(
                [
                    {"name": key, "problem": it.name, "variables": it.space.size}
                    for key, it in built_in.items()
                ]
            )
            return
        for known, problem in built_in.items():
            count = sum(len(problem.sets[key]) for key in problem.used_sets)
            click.echo(
                f"{known}: {problem.name} ({problem.space.size} variables, {count} postures)"
            )
    click.echo(
        "solve one: jaxmodal optimise example:NAME; print one: jaxmodal optimise --show NAME"
    )


def _run(
    source: str, out: str | None, plot: bool, options: dict[str, Any], output_format: str
) -> None:
    from design_opt.problem.files import read_problem
    from design_opt.solvers.optimise import optimise as search
    from design_opt.solvers.recording import worst_posture
    from jaxmodal.runtime.statuses import Status

    require_folder("--out", Path(out or ".").parent)  # which is made
    with refusing():
        problem, solver = read_problem(source)
    stem = Path(out or Path(source.removeprefix(EXAMPLE_PREFIX)).stem)
    checkpoint = stem.with_name(stem.name + ".checkpoint.json")
    arm_file = stem.with_name(f"{stem.name}_arm.toml")
    if checkpoint.exists():
        click.echo(f"goes on from {checkpoint}", err=True)
    else:
        require_new("--out" if out else "without --out", arm_file)

    def kept() -> str:
        if not checkpoint.exists():
            return "stopped before the first iteration has ended; nothing is kept."
        parts = [
            f"stopped; the search is kept in {checkpoint}, the same command goes on from there."
        ]
        if best.asked and best.report is None:
            parts.append("No design that keeps all limits is known yet.")
        elif best.report is not None:
            has = ", ".join(quantities(problem, best.report.objectives, worst_posture(best.report)))
            parts.append(f"The best design so far that keeps all limits is in {best.path}: {has}.")
        return " ".join(parts)

    best = _Best(problem, arm_file)
    with refusing(), _progress(problem) as advance, keeping(kept):

        def follow(step: Progress) -> None:
            best.keep(step)
            advance(step)

        result = search(
            problem, **(solver.keywords | options), progress=follow, checkpoint=checkpoint
        )
    if result.status == Status.interrupted:
        click.echo(kept(), err=True)
        raise SystemExit(EXIT_INTERRUPTED)
    if output_format == "table":
        click.echo(str(result))
    from design_opt.output.artefacts import can_draw, write_result

    if plot and not can_draw():
        click.echo("no pictures: matplotlib is missing; install jaxmodal[plots].", err=True)
    with refusing():
        paths = write_result(result, stem, plot and can_draw())
    if output_format == "json":
        print_json(_plain(source, result) | {"wrote": written_files(*paths)})
    else:
        for path in paths:
            click.echo(f"{path}")
    if result.status == Status.iteration_limit:
        click.echo(f"to go on: the same command again ({checkpoint} is kept)", err=True)
    else:
        checkpoint.unlink(missing_ok=True)
    end_unless(result.status == Status.converged and result.certified)


def _plain(source: str, result: OptimisationResult) -> dict[str, Any]:
    """Return the status of a search, the design, objectives and frequencies, as plain values."""
    return {
        "problem": source,
        "name": result.problem.name,
        "status": str(result.status),
        "message": result.message,
        "method": result.method,
        "failed_starts": {str(start + 1): why for start, why in result.failed_starts.items()},
        "iterations": len(result.steps),
        "kkt_residual": result.kkt_residual,
        "certified": result.certified,
        "variables": result.values,
        "objectives": {
            label: {"before": before, "after": after}
            for label, (before, after) in result.objectives.items()
        },
        "lowest_frequencies_hz": {
            name: np.asarray(found.frequencies_hz).tolist()
            for name, _, found in result.certificates
        },
    }


class _Best:
    """The best feasible design so far, written to a file."""

    def __init__(self, problem: Problem, path: Path) -> None:
        self.problem, self.path = problem, path
        self.report: Report | None = None
        self.asked = False

    def keep(self, step: Progress) -> None:
        """Write the best design of a step to the file if it has changed."""
        self.asked = True
        if step.best is not None and step.best is not self.report:
            from jaxmodal.runtime.whole_files import write_text

            write_text(self.path, self.problem.space.design_at(step.best.y).to_toml())
            self.report = step.best


def quantities(problem: Problem, objectives: np.ndarray, worst: Worst | None) -> list[str]:
    """Return texts of the objectives of a design in their units, and of its lowest vibrating mode and its posture."""
    from design_opt.problem.designs import OWN, degrees

    parts = [
        f"{part.label} {part.sign * float(value):.5g}"
        for part, value in zip(problem.objectives, objectives, strict=True)
    ]
    if worst is not None:
        name, posture, hz, mode = worst
        angles = problem.sets[name]
        where = "" if name == OWN else f" at {degrees(problem.arm, angles[posture], angles)}"
        parts.append(f"least f{mode} {hz:.5g} Hz{where}")
    return parts


def progress_text(problem: Problem, step: Progress) -> str:
    """Return the state of a search as text: objectives in their units, violation, residual."""
    from design_opt.solvers.recording import FEASIBLE

    parts = quantities(problem, step.objectives, step.worst)
    state = "all limits kept" if step.violation <= FEASIBLE else f"violation {step.violation:.1e}"
    head = f"start {step.start + 1}, iteration {step.iteration + 1}"
    return f"{head}: {', '.join(parts)}; {state}, residual {step.kkt:.1e}"


@contextlib.contextmanager
def _progress(problem: Problem) -> Iterator[Callable[[Progress], None]]:
    """Show the progress of a search on standard error: one changing line, or without a terminal a line every 10 s."""
    from rich.console import Console
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    from jaxmodal.cli.compiling import Bar, Lines

    bar = Bar(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    if not sys.stderr.isatty():
        with Lines("setting up") as lines:
            yield lambda step: lines(progress_text(problem, step))
        return
    task = bar.add_task("setting up", total=None)

    def advance(step: Progress) -> None:
        bar.update(task, description=progress_text(problem, step))

    with bar:
        yield advance
