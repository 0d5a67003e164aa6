"""The commands ``jaxmodal sweep ...``.

Results go to standard output, errors and progress to standard error. Exit status: 0 when all is certified
or confirmed, 1 when something is not, 2 for bad input.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NoReturn

import click

from jaxmodal.arm.built_in import EXAMPLE_PREFIX
from jaxmodal.cli.arguments import (
    EXIT_NOT_ALL,
    BadInput,
    Number,
    WholeRange,
    format_option,
    no_plot_option,
)
from jaxmodal.cli.interrupts import EXIT_INTERRUPTED, keeping
from jaxmodal.cli.output import print_document, print_json, written_files
from jaxmodal.cli.paths import file_option, folder_option, force_option
from jaxmodal.cli.project_folder import project_module
from jaxmodal.cli.summaries import SummarisedGroup
from sweeps.commands.base import LARGE, opened, read, refusing, store_of
from sweeps.commands.plot import draw as draw_pictures
from sweeps.commands.plot import plot as plot_command
from sweeps.commands.several import merge, script, share_of
from sweeps.store.shares import Part

SWEEP_HELP = (
    "SWEEP is a TOML file, or example:NAME for a built-in sweep (see `jaxmodal sweep examples`)."
)


@click.group(cls=SummarisedGroup)
def sweep() -> None:
    """Sweeps over any parameters of an arm: labelled, certified, resumable."""


for command in (plot_command, merge, script):
    sweep.add_command(command)

points_option = click.option(
    "--points",
    type=WholeRange(min=1),
    metavar="N",
    help="N points on every linspace and geomspace axis in place of the file's own numbers.",
)
chunk_option = click.option(
    "--chunk-cells",
    type=WholeRange(min=1),
    metavar="N",
    help="Cells of one chunk, which the solver takes at once.  [default: 65536, with mode shapes 8192, with responses "
    "or buckling 64, in space 16384 of large sweeps of frequencies alone, else 256]",
)
shard_option = click.option(
    "--shard-cells",
    type=WholeRange(min=1),
    metavar="N",
    help="Cells of one shard, the unit of computing, writing and resuming.  [default: those of a chunk; of more than "
    "64 chunks, unless --chunk-cells is given, what takes about 30 s here and makes at most 10,000 files]",
)


@sweep.command(epilog=SWEEP_HELP)
@click.argument("source", metavar="SWEEP")
@points_option
@chunk_option
@shard_option
@click.option(
    "--workers",
    type=WholeRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many machines like this one share it.",
)
@click.option(
    "--no-timing",
    is_flag=True,
    help="Solve no cells: say how long it takes only if that was measured here before.",
)
@format_option(("table", "json"))
def plan(
    source: str,
    points: int | None,
    chunk_cells: int | None,
    shard_cells: int | None,
    workers: int,
    no_timing: bool,
    output_format: str,
) -> None:
    """Say what a SWEEP would compute and cost; a part of its first chunk is solved to tell how long it takes.

    What follows from the definition is printed at once. Solving cells takes about a second, some seconds where programs
    are loaded, and up to a minute where they are compiled. The times are kept for the next plan of the definition.
    """
    started = time.process_time()
    from sweeps.commands.plain import plan_values
    from sweeps.commands.report import cost_lines, planned, work_lines

    definition = read(source, points)
    if output_format == "table":
        for line in work_lines(definition):
            click.echo(line)
    with refusing():
        found = planned(definition, chunk_cells, shard_cells, started, timing=not no_timing)
    if output_format == "json":
        print_json(plan_values(definition, found, workers))
        return
    for line in cost_lines(definition, found, workers):
        click.echo(line)


@sweep.command(epilog=SWEEP_HELP)
@click.argument("source", metavar="SWEEP")
@points_option
@chunk_option
@shard_option
@click.option(
    "--part", metavar="K/N", help="Compute only part K of N, each for a process of its own."
)
@click.option(
    "--claim",
    is_flag=True,
    help="Take one free shard after the other; any number of processes may do so in one store.",
)
@click.option(
    "--lease",
    type=Number(),
    metavar="SECONDS",
    help="With --claim, how long a process gives no sign of life before another takes over its shard.  [default: 120]",
)
@click.option(
    "--executor",
    type=click.Choice(["in-process", "dask"]),
    default="in-process",
    show_default=True,
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Scheduler of a dask cluster that runs already."
)
@click.option(
    "--workers",
    type=WholeRange(min=1),
    metavar="N",
    help="With --executor dask, how many workers to start on this machine.  [default: 2]",
)
@format_option(("table", "json"))
@no_plot_option
@click.option("--out", metavar="STORE", help="The store.  [default: NAME.zarr in this folder]")
def run(
    source: str,
    points: int | None,
    chunk_cells: int | None,
    shard_cells: int | None,
    part: str | None,
    claim: bool,
    lease: float | None,
    executor: str,
    scheduler: str | None,
    workers: int | None,
    output_format: str,
    no_plot: bool,
    out: str | None,
) -> None:
    """Compute a SWEEP into a store, or what is missing of it, and draw its pictures.

    A store that is there is completed; one of another definition is left alone. Ctrl-C keeps what is there, and the
    same command goes on. With --part and --claim nothing is drawn. Exit status: 0 when every mode (of a part, of its
    own) is certified, else 1; 2 for bad input, or when shards could not be computed; 130 after Ctrl-C.
    """
    from jaxmodal.cli.paths import require_folder
    from jaxmodal.runtime.statuses import Status
    from sweeps import Dask
    from sweeps import run as run_sweep
    from sweeps.commands.plain import summary_values
    from sweeps.commands.report import Bar, size_text, stored_bytes, summary_head, summary_lines
    from sweeps.store.dataset import certificate_summary
    from sweeps.store.grid import dataset_bytes

    definition = read(source, points)
    share = share_of(part, claim, lease)
    place = store_of(source, out)
    dask = bool(scheduler) or executor == "dask"
    if workers is not None and (scheduler or not dask):
        reason = "a scheduler has workers of its own" if scheduler else "goes with --executor dask"
        raise BadInput(f"--workers {workers}: {reason}; leave it out.")
    if dask and claim:
        raise BadInput("--claim: the scheduler of dask gives out the shards; leave it out.")
    if "://" not in place:
        require_folder("--out", Path(place))
    start = time.perf_counter()
    with refusing(), Bar() as bar:

        def kept() -> str:
            cells = f"{bar.done} of {bar.total or definition.num_cells} cells are kept in {place}"
            return f"stopped: {cells}; the same command goes on from there."

        try:
            with keeping(kept):
                local = {} if workers is None else {"workers": workers}
                on = Dask(scheduler or None, late=bar.remark, **local) if dask else executor
                cut = {"chunk_cells": chunk_cells, "shard_cells": shard_cells}
                ds = run_sweep(definition, place, **cut, share=share, executor=on, progress=bar)
        except KeyboardInterrupt:
            bar.bar.stop()
            click.echo(kept(), err=True)
            raise SystemExit(EXIT_INTERRUPTED) from None
    if isinstance(share, Part):
        _end_part(share, place, bar.computed, output_format)
    small = dataset_bytes(definition) <= LARGE and share is None
    seconds = time.perf_counter() - start
    if output_format == "table":
        for line in summary_lines(ds.load()) if small else summary_head(ds):
            click.echo(line)
        click.echo(f"{place}: computed {bar.computed} of {definition.num_cells} cells")
    if bar.visible:
        size = f", {size_text(stored_bytes(Path(place)))} on disk" if "://" not in place else ""
        click.echo(f"took {seconds:.1f} s{size}", err=True)
    pictures = []
    if not no_plot and small:
        stem = Path(place).with_suffix("") if "://" not in place else Path("sweep")
        pictures = draw_pictures(ds, stem, "png", say=output_format == "table")
    if output_format == "json":
        counts = {"computed": bar.computed, "cells": definition.num_cells}
        files = [place, *written_files(*pictures)]
        print_json({**summary_values(ds.load() if small else ds, small), **counts, "wrote": files})
    modes = definition.num_cells * len(definition.theories) * definition.num_modes
    if ds.attrs["certificate_summary"] != certificate_summary({int(Status.certified): modes}):
        raise SystemExit(EXIT_NOT_ALL)


def _end_part(part: Part, place: str, computed: int, output_format: str) -> NoReturn:
    """Print the result of a part of a sweep, and end with its exit status."""
    from jaxmodal.runtime.statuses import Status
    from sweeps.commands.plain import modes_by_status
    from sweeps.store.dataset import certificate_summary
    from sweeps.store.zarr_store import stored

    with refusing():
        store = stored(place)
        own = part.shards(store.grid.num_shards)
        modes = store.modes(own)
    cells = sum(map(store.grid.num_cells, own))
    if output_format == "json":
        said = {"part": [part.number, part.of], "modes": modes_by_status(modes)}
        print_json({**said, "computed": computed, "cells": cells, "wrote": [place]})
    else:
        click.echo(f"part {part.number}/{part.of}: {certificate_summary(modes)}")
        click.echo(f"{place}: computed {computed} of {cells} cells")
    raise SystemExit(EXIT_NOT_ALL if modes.keys() - {int(Status.certified)} else 0)


@sweep.command()
@click.argument("store", metavar="STORE")
@click.option(
    "--check",
    is_flag=True,
    help="Read every byte of it, and compare with the digests; else the sizes.",
)
@format_option(("table", "json"))
def status(store: str, check: bool, output_format: str) -> None:
    """Say how far a STORE is, and what its frequencies may be trusted for.

    Pieces that are missing or cut are named; with --check those that were changed, too. Exit status: 0 when it is
    complete and all is certified, else 1.
    """
    from jaxmodal.runtime.statuses import Status
    from sweeps.commands.plain import status_values
    from sweeps.commands.report import status_lines
    from sweeps.store.run import open_result
    from sweeps.store.zarr_store import state_of

    with refusing():
        state = state_of(store, check)
        ds = open_result(store)
    if output_format == "json":
        print_json(status_values(ds, store, state))
    else:
        for line in status_lines(ds, store, state):
            click.echo(line)
    if state.missing or state.torn or state.modes.keys() - {int(Status.certified)}:
        raise SystemExit(EXIT_NOT_ALL)


@sweep.command()
@click.argument("store", metavar="STORE")
@click.option("--cells", type=WholeRange(min=1), default=20, show_default=True)
@click.option("--seed", type=WholeRange(min=0), default=0, show_default=True)
@format_option(("table", "json"))
def verify(store: str, cells: int, seed: int, output_format: str) -> None:
    """Count the modes of randomly chosen cells of a STORE again, one arm at a time.

    Exit status: 0 when the counts confirm every certified frequency looked at, else 1.
    """
    from sweeps.analysis.verify import verify as verify_cells

    ds = opened(store)
    with refusing(store):
        found = verify_cells(ds, cells, seed=seed)
    if output_format == "json":
        print_json({"store": store, **vars(found), "failures": list(found.failures)})
    else:
        for line in found.failures:
            click.echo(line)
        refused = f", {found.invalid} with invalid input" if found.invalid else ""
        click.echo(
            f"{found.cells} cells{refused}, {found.modes} frequencies counted again: "
            f"{'all confirmed' if not found.failures else f'{len(found.failures)} cells are wrong'}"
        )
    if found.failures:
        raise SystemExit(EXIT_NOT_ALL)


@sweep.command()
@click.argument("store", metavar="STORE")
@format_option(("table", "json"))
@file_option(
    "--out",
    remark="The file to write: netCDF (.nc) or CSV (.csv).",
    suffixes=(".nc", ".csv"),
    required=True,
    new=True,
)
@force_option
def export(store: str, output_format: str, out: Path) -> None:
    """Write the dataset in a STORE as one file: netCDF or CSV, by its suffix.

    CSV has one row for each mode of each cell. Cells that are not computed, or of which no digest says that they are
    whole, have the status not_computed (127 in netCDF) and no values.
    """
    from sweeps.store.dataset import UNFINISHED
    from sweeps.store.export import export as write

    ds = opened(store)
    with refusing():
        write(ds, out)
    if output_format == "json":
        said = {"title": str(ds.attrs["title"]), "sizes": dict(ds.sizes)}
        print_json({"store": store, **said, "wrote": written_files(out)})
    else:
        click.echo(f"{out}")
    if ds.attrs["certificate_summary"] == UNFINISHED:
        click.echo(f"{store}: {UNFINISHED}; jaxmodal sweep status {store}", err=True)


def _built_in(ctx: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """Return the names of built-in sweeps that begin with ``start``, for completion."""
    from sweeps.definition.files import sweep_names

    return [name for name in sweep_names() if name.startswith(start)]


@sweep.command()
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_built_in)
@format_option(("table", "json"))
def examples(name: str | None, output_format: str) -> None:
    """List the built-in sweeps, or print the TOML file of one."""
    from sweeps.definition.files import read_sweep, sweep_names, sweep_text

    with refusing():
        if name is not None:
            print_document(sweep_text(name.removeprefix(EXAMPLE_PREFIX)), output_format)
            return
    built_in = {known: read_sweep(EXAMPLE_PREFIX + known) for known in sweep_names()}
    if output_format == "json":
        print_json(
            [
                {"name": key, "sweep": it.name, "shape": list(it.shape), "modes": it.num_modes}
                for key, it in built_in.items()
            ]
        )
        return
    for known, found in built_in.items():
        shape = " x ".join(map(str, found.shape))
        click.echo(f"{known}: {found.name} ({shape} cells, {found.num_modes} modes)")
    click.echo("run one: jaxmodal sweep run example:NAME; print one: jaxmodal sweep examples NAME")


@sweep.command()
@format_option(("table", "json"))
@folder_option(
    *("--out", "folder"), default="results/gallery", remark="Folder for all of it; made if missing."
)
def gallery(output_format: str, folder: Path) -> None:
    """Compute the gallery: datasets and pictures of the built-in sweeps; in the project's folder."""
    study = project_module("studies.sweep_gallery")
    names: list[str] = []
    with refusing():
        study.make_gallery(folder, names.append if output_format == "json" else click.echo)
    if output_format == "json":
        print_json({"wrote": written_files(*(folder / name for name in names))})
