"""The command ``jaxmodal verify``."""

from __future__ import annotations

import click

from jaxmodal.cli.arguments import end_unless, format_option, refusing
from jaxmodal.cli.output import print_json


@click.command()
@format_option(("table", "json"))
def verify(output_format: str) -> None:
    """Recompute a table of reference values on this machine: closed forms, printed values, proven frequencies.

    Prints one row per claim: the published value, the value on this machine, and whether they agree; then the machine
    and the versions. Exit status: 0 if every claim holds, otherwise 1.
    """
    from jaxmodal.cli.compiling import late_progress
    from jaxmodal.references import verification

    with refusing(), late_progress("claims recomputed") as advance:
        found = verification.verify(advance)
    if output_format == "json":
        print_json(found.document(), indent=2, ensure_ascii=False)
    else:
        click.echo("\n\n".join(table.text() for table in found.tables()))
    end_unless(found.ok)
