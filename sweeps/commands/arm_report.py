"""The command ``jaxmodal report``."""

from __future__ import annotations

from pathlib import Path

import click

from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    Posture,
    WholeRange,
    digits_option,
    end_unless,
    format_option,
    load_vibrating_arm,
    posed,
    posture_option,
    refusing,
    theory_option,
)
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.cli.paths import file_option, force_option
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime import limits


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.option(
    "--modes",
    type=WholeRange(1, limits.MODES),
    show_default="6, and those that an arm of rigid links has",
)
@theory_option
@posture_option()
@click.option(
    "--starts",
    type=WholeRange(1, 1_000_000),
    default=256,
    show_default=True,
    help="Postures from which the lowest frequency is sought, as of `jaxmodal worst`.",
)
@format_option(("table", "json"))
@digits_option
@file_option(
    "--out",
    remark="The page to write (.html).",
    suffixes=(".html", ".htm"),
    required=True,
    new=True,
)
@force_option
def report(
    argument: str,
    modes: int | None,
    theory: TheoryName,
    posture_deg: Posture | None,
    starts: int,
    output_format: str,
    digits: int,
    out: Path,
) -> None:
    """Report of an ARM as one page, to print and to send: still pictures and tables, no script.

    The arm with its masses, its frequencies with their certificates and shapes, what matters most, a map of postures,
    the lowest posture, what `jaxmodal check` remarks, and the versions. The page loads nothing.

    Exit status: 0 when every frequency is certified, 1 when some are not, 2 for bad input.
    """
    from importlib.util import find_spec

    from jaxmodal.cli.compiling import late_progress
    from jaxmodal.cli.paths import writing
    from jaxmodal.runtime.whole_files import write_text
    from sweeps.explorer.report.page import report_html
    from sweeps.explorer.report.parts import Asked, ok
    from sweeps.explorer.report.written import usual_modes

    if find_spec("matplotlib") is None:
        raise BadInput(f"--out {out}: its pictures need matplotlib; install jaxmodal[plots].")
    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    asked = Asked(arm, theory, modes or usual_modes(arm), starts, digits)
    with refusing(argument), late_progress("parts of the report") as advance:
        text = report_html(asked, advance)
        certified = ok(asked)
    with writing(f"--out {out}"):
        write_text(out, text)
    size = len(text.encode())
    click.echo(f"wrote {out} ({size / 1e6:.2f} MB)", err=True)
    if output_format == "json":
        said = {"theory": theory, "modes": asked.modes, "certified": certified}
        print_json({"arm": argument, **said, "bytes": size, "wrote": written_files(out)})
    end_unless(certified)
