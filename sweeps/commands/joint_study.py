"""The command ``jaxmodal joint-study``."""

from __future__ import annotations

from pathlib import Path

import click

from jaxmodal.cli.arguments import end_unless, format_option
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.cli.paths import folder_option
from jaxmodal.cli.project_folder import project_module
from sweeps.commands.base import refusing


@click.command()
@format_option(("table", "json"))
@folder_option(
    *("--out", "folder"),
    default="results/paper",
    remark="Folder for joint_stiffness.nc, .png and .md; made if missing.",
)
def joint_study(output_format: str, folder: Path) -> None:
    """Flexible joints on the paper's two-link arm, its Table 7, exactly: dataset, figure, claims checked.

    In the project's folder. Exit status: 0 when every frequency is certified, else 1; 2 in another folder, or when the
    output cannot be written.
    """
    from jaxmodal.cli.compiling import late_progress

    study = project_module("reproduction.joint_study")
    names: list[str] = []
    tell = names.append if output_format == "json" else click.echo
    with refusing(), late_progress("cells solved") as advance:
        ds = study.write_joint_study(folder, tell, advance)
    if output_format == "json":
        files = written_files(*(folder / name for name in names))
        print_json({"certificates": str(ds.attrs["certificate_summary"]), "wrote": files})
    end_unless(ds.certified)
