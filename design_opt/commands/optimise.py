"""The command ``jaxmodal optimise``.

Results go to standard output, errors and progress to standard error. Exit status: 0 when the optimisation
converged and the frequencies are certified, 1 when not, 2 for bad input, 130 after Ctrl-C.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jaxmodal.arm.built_in import EXAMPLE_PREFIX
from jaxmodal.cli import arguments
from jaxmodal.cli.arguments import EXIT_NOT_ALL, BadInput, NumberRange, WholeRange
from jaxmodal.cli.interrupts import EXIT_INTERRUPTED, keeping
from jaxmodal.cli.paths import folder_option, require_folder

if TYPE_CHECKING:
    import numpy as np

    from design_opt.evaluation.evaluator import Report
    from design_opt.problem.problem import Problem
    from design_opt.solvers.recording import Progress, Worst

PROBLEM_HELP = "PROBLEM is a TOML file, or example:NAME for a built-in problem (see `jaxmodal optimise --list`)."


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Turn the library's errors into one message."""
    from design_opt.problem.errors import CheckpointError

    try:
        with arguments.refusing("", CheckpointError):
            yield
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be written ({error.strerror}).") from error


@click.command(epilog=PROBLEM_HELP)
@click.argument("source", metavar="PROBLEM", required=False)
@click.option("--out", metavar="STEM", help="Beginning of the files' names.  [default: NAME]")
@click.option("--method", type=click.Choice(["slsqp", "augmented_lagrangian"]))
@click.option("--starts", type=WholeRange(min=1), metavar="N", help="NumberRange of starts.")
@click.option("--seed", type=WholeRange(min=0), metavar="N", help="Of the random starts.")
@click.option("--tolerance", type=NumberRange(1e-12, 0.1), metavar="X", help="KKT residual.")
@click.option("--max-iterations", type=WholeRange(min=1), metavar="N", help="Of each start.")
@click.option("--plot/--no-plot", default=True, show_default=True, help="Draw pictures as well.")
@click.option("--list", "listing", is_flag=True, help="List the built-in problems.")
@click.option("--show", metavar="NAME", help="Print the TOML file of a built-in problem.")
@folder_option(
    "--gallery",
    metavar="FOLDER",
    remark="Solve all built-in problems and write results, pictures and index to a folder.",
)
def optimise(
    source: str | None,
    out: str | None,
    plot: bool,
    listing: bool,
    show: str | None,
    gallery: Path | None,
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
        _run(source, out, plot, arguments.given(options))
    elif gallery is not None:
        from design_opt.studies.gallery import make_gallery

        with refusing():
            make_gallery(gallery, click.echo)
    else:
        _show(show)


def _show(name: str | None) -> None:
    from design_opt.problem.files import problem_names, problem_text, read_problem

    with refusing():
        if name is not None:
            click.echo(problem_text(name.removeprefix(EXAMPLE_PREFIX)), nl=False)
            return
        for known in problem_names():
            problem, _ = read_problem(EXAMPLE_PREFIX + known)
            count = sum(len(problem.sets[key]) for key in problem.used_sets)
            click.echo(
                f"{known}: {problem.name} ({problem.space.size} variables, {count} postures)"
            )
    click.echo(
        "solve one: jaxmodal optimise example:NAME; print one: jaxmodal optimise --show NAME"
    )


def _run(source: str, out: str | None, plot: bool, options: dict[str, Any]) -> None:
    from design_opt.problem.files import read_problem
    from design_opt.solvers.optimise import optimise as search
    from design_opt.solvers.recording import worst_posture
    from jaxmodal.runtime.statuses import Status

    require_folder("--out", Path(out or ".").parent)  # which is made
    with refusing():
        problem, solver = read_problem(source)
    stem = Path(out or Path(source.removeprefix(EXAMPLE_PREFIX)).stem)
    checkpoint = stem.with_name(stem.name + ".checkpoint.json")
    if checkpoint.exists():
        click.echo(f"goes on from {checkpoint}", err=True)

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

    best = _Best(problem, stem.with_name(f"{stem.name}_arm.toml"))
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
    click.echo(str(result))
    from design_opt.output.artefacts import can_draw, write_result

    if plot and not can_draw():
        click.echo("no pictures: matplotlib is missing; install jaxmodal[plots].", err=True)
    with refusing():
        for path in write_result(result, stem, plot and can_draw()):
            click.echo(f"{path}")
    if result.status == Status.iteration_limit:
        click.echo(f"to go on: the same command again ({checkpoint} is kept)", err=True)
    else:
        checkpoint.unlink(missing_ok=True)
    if result.status != Status.converged or not result.certified:
        raise SystemExit(EXIT_NOT_ALL)


class _Best:
    """The best feasible design so far, and its file."""

    def __init__(self, problem: Problem, path: Path) -> None:
        self.problem, self.path = problem, path
        self.report: Report | None = None
        self.asked = False

    def keep(self, step: Progress) -> None:
        """Write the best design that a step knows of, if it is another one."""
        self.asked = True
        if step.best is not None and step.best is not self.report:
            from jaxmodal.runtime.whole_files import write_text

            write_text(self.path, self.problem.space.design_at(step.best.y).to_toml())
            self.report = step.best


def quantities(problem: Problem, objectives: np.ndarray, worst: Worst | None) -> list[str]:
    """Return the objectives of a design in their own units, its least frequency above 0 and the posture of it."""
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
    """Where a search stands, in the units of its own objectives."""
    from design_opt.solvers.recording import FEASIBLE

    parts = quantities(problem, step.objectives, step.worst)
    state = "all limits kept" if step.violation <= FEASIBLE else f"violation {step.violation:.1e}"
    head = f"start {step.start + 1}, iteration {step.iteration + 1}"
    return f"{head}: {', '.join(parts)}; {state}, residual {step.kkt:.1e}"


@contextlib.contextmanager
def _progress(problem: Problem) -> Iterator[Callable[[Progress], None]]:
    """A line on standard error that follows the search; one every ten seconds where that is no terminal."""
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
