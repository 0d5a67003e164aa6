"""The command ``jaxmodal equations``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    WholeRange,
    format_option,
    given,
    refusing,
)
from jaxmodal.cli.loads import gravity_option
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.cli.paths import file_option, force_option, require_file, require_new, writing
from jaxmodal.runtime.whole_files import write_text

#: names and suffixes of `jaxmodal.symbolic.FORMS`, without importing it
_FORMATS = {"c": ".c", "numpy": ".py", "jax": ".py", "matlab": ".m", "latex": ".tex"}


def whole_numbers(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> int | list[int] | None:
    """Return one whole number in the digits 0 to 9, or several separated by commas."""
    if value is None:
        return None
    try:
        numbers = [int(part.encode("ascii")) for part in value.split(",")]
    except ValueError as error:
        raise click.BadParameter(
            f"{value!r}: give a whole number, or one for each link such as 2,1.", ctx, param
        ) from error
    return numbers if len(numbers) > 1 else numbers[0]


@click.command(epilog=ARM_HELP)
@click.argument("arm", metavar="ARM")
@click.option(
    "--links",
    type=WholeRange(1),
    help="Take the first so many links; the payload stands at their end.",
)
@click.option(
    "--link-modes",
    "modes",
    metavar="M[,M,...]",
    callback=whole_numbers,
    help="Assumed modes of every link, or of each.  [default: 2]",
)
@click.option(
    "--shapes",
    help="Family of shapes, such as clamped_mass or polynomial.  [default: clamped_mass, in space polynomial]",
)
@click.option(
    "--inertia-order",
    type=click.Choice(["full", "first"]),
    help="Powers of the deflections in B, of planar arms.  [default: full]",
)
@click.option(
    "--frames",
    type=click.Choice(["rotation", "linear"]),
    help="How a bent link turns the next.  [default: rotation]",
)
@click.option(
    "--foreshortening/--no-foreshortening",
    default=None,
    help="Whether a bent link gets shorter.  [default: yes]",
)
@gravity_option(
    "Acceleration of gravity in m/s^2, such as 0,-9.81 or 0,0,-9.81.  [default: 0]",
    ": give two numbers in m/s^2, such as 0,-9.81, in space three.",
)
@click.option(
    "--quantities",
    metavar="B,h,...",
    default="B,h,K,D,g,Q",
    show_default=True,
    help="Any of B, h, C, K, D, g, c, Q, tau.",
)
@click.option(
    "--integrals",
    type=click.Choice(["symbolic", "numeric"]),
    default="symbolic",
    show_default=True,
    help="Whether constants have names or are numbers.",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(list(_FORMATS)),
    help="The language.  [default: that of the suffix of --out, of .py and without --out numpy]",
)
@format_option(("table", "json"), "table: the text alone; json: with its size.")
@file_option(
    "--out",
    remark="Write into this file, named as the function; C also gets a .h and a _test.c beside it.",
)
@force_option
def equations(
    arm: str,
    links: int | None,
    quantities: str,
    integrals: str,
    form: str | None,
    output_format: str,
    out: Path | None,
    **options: Any,
) -> None:
    """Write out the equations of motion of ARM, as code or as a document.

    A table [dynamics] of the file gives modes, gravity, damping and so on; options stand above it. Without --out the
    text goes to standard output. Exit status: 0, or 2 for bad input.
    """
    from jaxmodal.symbolic import operation_counts, write, written_equations

    meant = [
        name
        for name, suffix in _FORMATS.items()
        if out is not None and out.suffix.lower() == suffix
    ]
    if form is None:
        require_file("--out", out, tuple(dict.fromkeys(_FORMATS.values())))
        form = meant[0] if meant else "numpy"
    if meant and form not in meant:
        raise BadInput(
            f"--out {out}: with --to {form} give a file that ends in {_FORMATS[form]}; "
            f"for this one give --to {' or '.join(meant)}."
        )
    require_file("--out", out, (_FORMATS[form],))
    if out is None and form == "c":
        raise BadInput("--to c: makes several files; give --out model.c.")
    with refusing(arm):
        model = model_of(arm, links, given(options))
        made = written_equations(model, quantities.split(","), integrals=integrals)
    with refusing(f"--out {out}: the function has the name of the file"):
        texts = write(made, form, "model" if out is None else out.stem)
    counts = operation_counts(made)
    said = {
        "arm": arm,
        "to": form,
        "quantities": list(made.quantities),
        "coordinates": list(map(str, made.coordinates)),
        "operations": dataclasses.asdict(counts),
    }
    if out is None:
        text = next(iter(texts.values()))
        if output_format == "json":
            print_json({**said, "text": text})
        else:
            click.echo(text, nl=False)
        return
    paths = {out.with_name(name): text for name, text in texts.items()}
    for path in paths:
        require_new("--out", path)
    with writing(f"--out {out}"):
        for path, text in paths.items():
            write_text(path, text)
    if output_format == "json":
        print_json({**said, "wrote": written_files(*paths)})
        return
    click.echo(
        f"wrote {', '.join(path.name for path in paths)}: {len(made.coordinates)} coordinates, {counts.additions} "
        f"additions, {counts.multiplications} multiplications, {counts.functions} functions"
    )


def settings_of(argument: str) -> dict[str, Any]:
    """Return what the table [dynamics] of an arm's file says of its model; nothing for robots and built-in arms."""
    from jaxmodal.arm.built_in import EXAMPLE_PREFIX
    from jaxmodal.arm.files import read_document
    from jaxmodal.dynamics.files import model_arguments
    from jaxmodal.spatial.files.robot_files import is_robot

    bare = argument.startswith(EXAMPLE_PREFIX) or is_robot(argument)
    return {} if bare else model_arguments(read_document(argument))


def model_of(argument: str, links: int | None, options: dict[str, Any]) -> Any:
    """Return the model of an arm by its argument; options override the settings of its file."""
    from jaxmodal.cli.arguments import load_any_arm
    from jaxmodal.dynamics import flexible_arm

    arm, said = load_any_arm(argument), settings_of(argument)
    if links is not None:
        starts = [i for i, link in enumerate(arm.links) if not getattr(link, "segment", False)]
        if links > len(starts):
            raise BadInput(
                f"--links {links}: {argument} has {len(starts)} link(s); give at most as many, or another arm."
            )
        arm = arm.replace(links=arm.links[: [*starts, len(arm.links)][links]])
    return flexible_arm(arm, **{**said, **options})
