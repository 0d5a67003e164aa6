"""The command ``jaxmodal verify``."""

from __future__ import annotations

import click

from jaxmodal.cli.arguments import EXIT_NOT_ALL, format_option, refusing
from jaxmodal.cli.output import print_json


@click.command()
@format_option(("table", "json"))
def verify(output_format: str) -> None:
    """Recompute a table of references on this machine: closed forms, printed tables, proven frequencies.

    One row a claim: what its source prints, what this machine finds, and whether that holds. Then the machine and the
    versions. Exit status: 0 when every claim holds, else 1.
    """
    from jaxmodal.cli.compiling import late_progress
    from jaxmodal.reproduction import verification

    with refusing(), late_progress("claims recomputed") as advance:
        found = verification.verify(advance)
    if output_format == "json":
        print_json(found.document(), indent=2, ensure_ascii=False)
    else:
        click.echo("\n\n".join(table.text() for table in found.tables()))
    if not found.ok:
        raise SystemExit(EXIT_NOT_ALL)
