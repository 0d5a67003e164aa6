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
from jaxmodal.cli.arguments import EXIT_NOT_ALL, Number, WholeRange
from jaxmodal.cli.interrupts import EXIT_INTERRUPTED, keeping
from jaxmodal.cli.paths import folder_option
from sweeps.commands.base import LARGE, opened, read, refusing, store_of
from sweeps.commands.plot import draw as draw_pictures
from sweeps.commands.plot import plot as plot_command
from sweeps.commands.several import merge, script, share_of
from sweeps.store.shares import Part

SWEEP_HELP = (
    "SWEEP is a TOML file, or example:NAME for a built-in sweep (see `jaxmodal sweep examples`)."
)


@click.group()
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
def plan(
    source: str, points: int | None, chunk_cells: int | None, shard_cells: int | None, workers: int
) -> None:
    """Say what a SWEEP would compute and cost; some of its cells are solved to tell how long it takes."""
    from sweeps.commands.report import plan_lines

    definition = read(source, points)
    with refusing():
        lines = plan_lines(definition, chunk_cells, shard_cells, workers)
    for line in lines:
        click.echo(line)


@sweep.command(epilog=SWEEP_HELP)
@click.argument("source", metavar="SWEEP")
@click.option("--out", metavar="STORE", help="The store.  [default: NAME.zarr in this folder]")
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
    "--plot/--no-plot", default=True, show_default=True, help="Draw the pictures as well."
)
def run(
    source: str,
    out: str | None,
    points: int | None,
    chunk_cells: int | None,
    shard_cells: int | None,
    part: str | None,
    claim: bool,
    lease: float | None,
    executor: str,
    scheduler: str | None,
    plot: bool,
) -> None:
    """Compute a SWEEP into a store, or what is missing of it, and draw its pictures.

    A store that is there is completed; one of another definition is left alone. Ctrl-C keeps what is there, and the
    same command goes on. With --part and --claim nothing is drawn. Exit status: 0 when every mode (of a part, of its
    own) is certified, else 1; 2 for bad input, or when shards could not be computed; 130 after Ctrl-C.
    """
    from jaxmodal.cli.paths import require_folder
    from jaxmodal.frequencies.status import Status
    from sweeps import Dask
    from sweeps import run as run_sweep
    from sweeps.commands.report import Bar, size_text, stored_bytes, summary_head, summary_lines
    from sweeps.store.dataset import certificate_summary
    from sweeps.store.grid import dataset_bytes

    definition = read(source, points)
    share = share_of(part, claim, lease)
    place = store_of(source, out)
    if "://" not in place:
        require_folder("--out", Path(place))
    start = time.perf_counter()
    with refusing(), Bar() as bar:

        def kept() -> str:
            cells = f"{bar.done} of {bar.total or definition.num_cells} cells are kept in {place}"
            return f"stopped: {cells}; the same command goes on from there."

        try:
            with keeping(kept):
                dask = bool(scheduler) or executor == "dask"
                on = Dask(scheduler or None, late=bar.remark) if dask else executor
                cut = {"chunk_cells": chunk_cells, "shard_cells": shard_cells}
                ds = run_sweep(definition, place, **cut, share=share, executor=on, progress=bar)
        except KeyboardInterrupt:
            bar.bar.stop()
            click.echo(kept(), err=True)
            raise SystemExit(EXIT_INTERRUPTED) from None
    if isinstance(share, Part):
        _end_part(share, place, bar.computed)
    small = dataset_bytes(definition) <= LARGE and share is None
    seconds = time.perf_counter() - start
    for line in summary_lines(ds.load()) if small else summary_head(ds):
        click.echo(line)
    click.echo(f"{place}: computed {bar.computed} of {definition.num_cells} cells")
    if bar.visible:
        size = f", {size_text(stored_bytes(Path(place)))} on disk" if "://" not in place else ""
        click.echo(f"took {seconds:.1f} s{size}", err=True)
    if plot and small:
        draw_pictures(
            ds, Path(place).with_suffix("") if "://" not in place else Path("sweep"), "png"
        )
    modes = definition.num_cells * len(definition.theories) * definition.num_modes
    if ds.attrs["certificate_summary"] != certificate_summary({int(Status.certified): modes}):
        raise SystemExit(EXIT_NOT_ALL)


def _end_part(part: Part, place: str, computed: int) -> NoReturn:
    """Say what a part of a sweep has come to, and end with its exit status."""
    from jaxmodal.frequencies.status import Status
    from sweeps.store.dataset import certificate_summary
    from sweeps.store.zarr_store import stored

    with refusing():
        store = stored(place)
        own = part.shards(store.grid.num_shards)
        modes = store.modes(own)
    click.echo(f"part {part.number}/{part.of}: {certificate_summary(modes)}")
    click.echo(f"{place}: computed {computed} of {sum(map(store.grid.num_cells, own))} cells")
    raise SystemExit(EXIT_NOT_ALL if modes.keys() - {int(Status.certified)} else 0)


@sweep.command()
@click.argument("store", metavar="STORE")
@click.option(
    "--check",
    is_flag=True,
    help="Read every byte of it, and compare with the digests; else the sizes.",
)
def status(store: str, check: bool) -> None:
    """Say how far a STORE is, and what its frequencies may be trusted for.

    Pieces that are missing or cut are named; with --check those that were changed, too. Exit status: 0 when it is
    complete and all is certified, else 1.
    """
    from jaxmodal.frequencies.status import Status
    from sweeps.commands.report import status_lines
    from sweeps.store.run import open_result
    from sweeps.store.zarr_store import state_of

    with refusing():
        state = state_of(store, check)
        ds = open_result(store)
    for line in status_lines(ds, store, state):
        click.echo(line)
    if state.missing or state.torn or state.modes.keys() - {int(Status.certified)}:
        raise SystemExit(EXIT_NOT_ALL)


@sweep.command()
@click.argument("store", metavar="STORE")
@click.option("--cells", type=WholeRange(min=1), default=20, show_default=True)
@click.option("--seed", type=WholeRange(min=0), default=0, show_default=True)
def verify(store: str, cells: int, seed: int) -> None:
    """Count the modes of randomly chosen cells of a STORE again, one arm at a time.

    Exit status: 0 when the counts confirm every certified frequency looked at, else 1.
    """
    from sweeps.analysis.verify import verify as verify_cells

    ds = opened(store)
    with refusing():
        found = verify_cells(ds, cells, seed=seed)
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
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def export(store: str, file: Path) -> None:
    """Write the dataset in a STORE to a FILE: netCDF (.nc) or CSV (.csv), by its suffix.

    CSV has one row for each mode of each cell. Cells that are not computed, or of which no digest says that they are
    whole, have the status not_computed (127) and no values.
    """
    from jaxmodal.cli.paths import require_file
    from sweeps.store.dataset import UNFINISHED
    from sweeps.store.export import SUFFIXES
    from sweeps.store.export import export as write

    require_file("FILE", file, SUFFIXES)
    ds = opened(store)
    with refusing():
        write(ds, file)
    click.echo(f"{file}")
    if ds.attrs["certificate_summary"] == UNFINISHED:
        click.echo(f"{store}: {UNFINISHED}; jaxmodal sweep status {store}", err=True)


@sweep.command()
@click.argument("name", required=False)
def examples(name: str | None) -> None:
    """List the built-in sweeps, or print the TOML file of one."""
    from sweeps.definition.files import read_sweep, sweep_names, sweep_text

    with refusing():
        if name is not None:
            click.echo(sweep_text(name.removeprefix(EXAMPLE_PREFIX)), nl=False)
            return
    for known in sweep_names():
        found = read_sweep(EXAMPLE_PREFIX + known)
        shape = " x ".join(map(str, found.shape))
        click.echo(f"{known}: {found.name} ({shape} cells, {found.num_modes} modes)")
    click.echo("run one: jaxmodal sweep run example:NAME; print one: jaxmodal sweep examples NAME")


@sweep.command()
@folder_option(
    *("--out", "folder"), default="results/gallery", remark="Folder for all of it; made if missing."
)
def gallery(folder: Path) -> None:
    """Compute the gallery: datasets and pictures of the built-in sweeps."""
    from sweeps.studies.gallery import make_gallery

    with refusing():
        make_gallery(folder, click.echo)
