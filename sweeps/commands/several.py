"""The commands ``jaxmodal sweep merge`` and ``script``, for sweeps on several processes or machines."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from jaxmodal.cli.arguments import EXIT_NOT_ALL, BadInput, WholeRange, format_option
from jaxmodal.cli.output import print_json
from sweeps.commands.base import read, refusing, store_of
from sweeps.store.shares import Claims, Part


def share_of(part: str | None, claim: bool, lease: float | None) -> Part | Claims | None:
    """Return the share of the work from ``--part``, ``--claim`` and ``--lease``; None without any."""
    if part is not None and claim:
        raise BadInput("--part, --claim: are two ways to share a sweep; leave one out.")
    if lease is not None and not claim:
        raise BadInput("--lease: goes with --claim.")
    with refusing():
        if claim:
            return Claims() if lease is None else Claims(lease)
        if part is None:
            return None
        written = re.fullmatch(r"(\d{1,9})/(\d{1,9})", part, re.ASCII)
        if written is None:
            raise BadInput(f"--part {part}: must be K/N, from 1/N to N/N.")
        return Part(int(written[1]), int(written[2]))


@click.command()
@click.argument("target", metavar="STORE")
@click.argument("parts", metavar="PART...", nargs=-1, required=True)
@format_option(("table", "json"))
def merge(target: str, parts: tuple[str, ...], output_format: str) -> None:
    """Copy the shards of the stores PART... of one sweep into STORE, a new one or one of them.

    Exit status: 0 when STORE is complete, else 1; 2 when the parts do not belong together, and nothing is written.
    """
    from sweeps.store.merge import merge as merge_stores

    with refusing():
        found = merge_stores(target, parts)
    if output_format == "json":
        print_json({"store": target, **found._asdict()})
    else:
        left = "complete" if found.missing == 0 else f"{found.missing} to compute"
        click.echo(f"{target}: {found.copied} of {found.shards} shards copied, {left}")
    if found.missing:
        raise SystemExit(EXIT_NOT_ALL)


@click.command()
@click.argument("source", metavar="SWEEP")
@click.option("--slurm", is_flag=True, required=True, help="For SLURM, the one there is.")
@click.option(
    "--workers", type=WholeRange(min=1), default=16, show_default=True, help="Tasks of the array."
)
@click.option("--cpus", type=WholeRange(min=1), metavar="N", help="Cores for each task.")
@click.option("--gpu", is_flag=True, help="One GPU for each task.")
@format_option(("table", "json"))
@click.option("--out", metavar="STORE", help="The store.  [default: NAME.zarr in this folder]")
def script(
    source: str,
    slurm: bool,
    workers: int,
    cpus: int | None,
    gpu: bool,
    output_format: str,
    out: str | None,
) -> None:
    """Print a batch script with which the tasks of an array job compute a SWEEP: ``sbatch`` takes it.

    Every task takes free shards of one store until none is left. One that is stopped, or queued again, costs the shard
    in work; more tasks may join at any time.
    """
    read(source, None)
    place = store_of(source, out)
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name={re.sub(r'[^A-Za-z0-9_.-]', '_', Path(place).stem)}",
        f"#SBATCH --array=1-{workers}",
        "#SBATCH --ntasks=1",
        *([f"#SBATCH --cpus-per-task={cpus}"] if cpus else []),
        *(["#SBATCH --gpus-per-task=1"] if gpu else []),
        "#SBATCH --requeue",
        "#SBATCH --open-mode=append",
        "# SLURM starts it in the folder in which sbatch is called; activate there what jaxmodal is installed in.",
        f"jaxmodal sweep run {shlex.quote(source)} --out {shlex.quote(place)} --claim",
        "[ $? -le 1 ]  # 1: all is computed, and not every mode is certified",
    ]
    if output_format == "json":
        print_json({"store": place, "workers": workers, "script": "\n".join(lines) + "\n"})
        return
    for line in lines:
        click.echo(line)
