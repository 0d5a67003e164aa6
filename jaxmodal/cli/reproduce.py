"""The commands ``jaxmodal reproduce`` and ``jaxmodal reproduce-motions``; they run code in the project's folder."""

from __future__ import annotations

from pathlib import Path

import click

from jaxmodal.cli.arguments import format_option
from jaxmodal.cli.paths import folder_option
from jaxmodal.cli.project_folder import project_module


@click.command()
@format_option(("table", "json"))
@folder_option(
    *("--out", "out_dir"),
    default="results/paper",
    remark="Folder for cells.csv and report.md; made if missing.",
)
def reproduce(output_format: str, out_dir: Path) -> None:
    """Recompute the source paper's tables and compare them with the printed values, digit by digit.

    Tables 2-6, 9-11 and Figure 5; in the project's folder. Exit status: 0 if every printed number agrees or is a known
    misprint and every frequency is certified, otherwise 1; 2 in another folder, or if the output cannot be written.
    """
    project_module("reproduction.commands").reproduce(output_format, out_dir)


@click.command("reproduce-motions")
@format_option(("table", "json"))
@folder_option(
    *("--out", "out_dir"),
    default="results/dynamics",
    remark="Folder for the pictures and report.md; made if missing.",
)
def reproduce_motions(output_format: str, out_dir: Path) -> None:
    """Simulate the motions of three papers: Figures 5-10 of De Luca and Siciliano (1991), the N-DOF paper's
    experiment, and the spinning beam and station arm of the paper on arms in space.

    In the project's folder. Writes a plot of each, and report.md: the features stated in the texts, and whether the
    simulations show them. Exit status: 0 if the paper's model shows every feature stated in its text, otherwise 1; 2 in
    another folder, or if the output cannot be written.
    """
    project_module("reproduction.commands").reproduce_motions(output_format, out_dir)
