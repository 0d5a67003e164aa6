"""The command ``jaxmodal export``: write an arm for simulators and in robot formats."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    Number,
    Posture,
    WholeRange,
    end_unless,
    format_option,
    given,
    load_any_arm,
    load_vibrating_arm,
    posed,
    posture_option,
    refusing,
)
from jaxmodal.cli.equations import model_of, whole_numbers
from jaxmodal.cli.loads import gravity_option
from jaxmodal.cli.output import lists, print_json, written_files
from jaxmodal.cli.paths import file_option, force_option, require_file, require_new
from jaxmodal.dynamic_stiffness.beams import THEORIES
from jaxmodal.runtime import limits

#: suffixes of formats, and the options that only some formats have
_FORMATS = {"mjcf": ".xml", "urdf": ".urdf", "fmu": ".fmu"}
_LUMPED = ("pieces", "postures", "theory", "slides")
_OPTIONS = {
    "mjcf": (*_LUMPED, "modes", "gravity", "motors"),
    "urdf": (*_LUMPED, "modes"),
    "fmu": ("link_modes", "gravity", "step", "integrator", "tolerance", "build", "compiler"),
}


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.option(
    "--to",
    "form",
    type=click.Choice(list(_FORMATS)),
    help="The format; left out, that of the suffix of --out.",
)
@click.option(
    "--pieces",
    metavar="N[,N,...]",
    callback=whole_numbers,
    help="Points at which every flexible link gives way, or each.  [default: 4]",
)
@click.option(
    "--modes",
    type=WholeRange(1, limits.MODES),
    help="How many frequencies are fitted.  [default: 5]",
)
@click.option(
    "--link-modes",
    type=WholeRange(0, limits.LINK_MODES),
    help="Assumed modes of every link of an fmu.  [default: 2]",
)
@click.option(
    "--postures",
    type=WholeRange(0),
    help="In how many postures errors are stated.  [default: 20]",
)
@click.option(
    "--theory", type=click.Choice(THEORIES), help="Of the frequencies.  [default: timoshenko]"
)
@click.option(
    "--slides/--no-slides",
    default=None,
    help="Whether pieces slide along and across their link.  [default: where shear matters]",
)
@gravity_option(
    "Gravity in the axes of the ground, three numbers, of an fmu two.  [default: none]",
    ": give m/s^2 along the axes of the ground, such as 0,0,-9.81.",
)
@click.option(
    "--motors",
    type=click.Choice(["free", "locked"]),
    help="Whether the joints of an MJCF turn, or stand in the posture.  [default: free]",
)
@click.option("--step", type=Number(), help="Longest step of the integrator of an fmu, s.")
@click.option(
    "--integrator",
    type=click.Choice(["rk4", "dopri5"]),
    help="Of co-simulation of an fmu: steps all alike, or steps that follow their error.  [default: rk4]",
)
@click.option(
    "--tolerance", type=Number(), help="By how much a step of dopri5 may err.  [default: 1e-8]"
)
@click.option(
    "--build/--no-build",
    default=None,
    help="Whether an fmu has a binary for this machine.  [default: where there is a compiler]",
)
@click.option("--compiler", help="The C compiler.  [default: cc]")
@posture_option(": the first whose errors are stated, the start of an fmu.")
@format_option(("table", "json"))
@file_option(
    "--out",
    remark="The file to write: .xml (MJCF), .urdf (with a .toml of springs beside it) or .fmu (FMI 3.0).",
    suffixes=tuple(_FORMATS.values()),
    required=True,
)
@force_option
def export(
    argument: str,
    form: str | None,
    posture_deg: Posture | None,
    output_format: str,
    out: Path,
    **options: Any,
) -> None:
    """Write an ARM for other programs: MuJoCo (MJCF), readers of URDF, importers of FMI 3.0 units.

    MJCF and URDF hold rigid pieces on springs, fitted to the certified frequencies, with their errors in many postures.
    An fmu holds the equations of motion of an ARM as C code; a table [dynamics] of the file says what they are.

    Exit status: 0; 1 when a frequency is not certified; 2 for bad input.
    """
    by_suffix = {suffix: name for name, suffix in _FORMATS.items()}[out.suffix.lower()]
    if form is not None and form != by_suffix:
        require_file("--out", out, (_FORMATS[form],))
    chosen = given(options)
    for name in chosen:
        if name not in _OPTIONS[by_suffix]:
            takers = [each for each, names in _OPTIONS.items() if name in names]
            raise BadInput(
                f"--{name.replace('_', '-')}: belongs to {' and '.join(takers)}, not to {by_suffix}; leave it out."
            )
    files = [out, out.with_suffix(".toml")] if by_suffix == "urdf" else [out]
    for path in files[1:]:
        if path.exists() and Path(argument).exists() and path.samefile(argument):
            raise BadInput(
                f"--out {out}: springs go into {path}, which is the ARM itself; give another name, such as "
                f"{out.with_stem(out.stem + '_pieces')}."
            )
    for path in files:
        require_new("--out", path)
    if by_suffix == "fmu":
        made, certified = _unit(argument, out, posture_deg, chosen), True
    else:
        made = _pieces(argument, out, by_suffix, posture_deg, chosen)
        certified = bool(made.certified.all())
    if output_format == "json":
        said = {"arm": argument, "to": by_suffix, **_plain(made), "wrote": written_files(*files)}
        print_json(said)
    else:
        click.echo(str(made))
    click.echo(f"wrote {', '.join(map(str, files))}", err=True)
    end_unless(certified)


def _plain(made: Any) -> dict[str, Any]:
    """Return the output for JSON: frequencies and errors of the pieces in each posture, or the parts of a unit."""
    if not hasattr(made, "exact"):
        return {name: value for name, value in vars(made).items() if name != "path"}
    return {
        "theory": made.theory,
        "joints": list(made.joints),
        "postures": made.postures.tolist(),
        "exact_hz": (made.exact / (2.0 * math.pi)).tolist(),
        **lists(made, "certified", "frequencies_hz", "errors"),
        "factors": made.factors,
        "lost": list(made.lost),
        "total_mass": made.total_mass,
    }


def _pieces(
    argument: str, out: Path, form: str, posture_deg: Posture | None, options: dict[str, Any]
) -> Any:
    from jaxmodal.exchange import write_mjcf, write_urdf

    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    write: Any = write_mjcf if form == "mjcf" else write_urdf
    if "modes" in options:
        options["num_modes"] = options.pop("modes")
    with refusing(argument):
        return write(arm, out, **options)


def _unit(argument: str, out: Path, posture_deg: Posture | None, options: dict[str, Any]) -> Any:
    import numpy as np

    from jaxmodal.dynamics.files import joint_positions
    from jaxmodal.dynamics.mechanics.free_bases import at_zero
    from jaxmodal.exchange import write_fmu

    arm = posed(load_any_arm(argument), argument, posture_deg)

    said: dict[str, Any] = {}
    for name, key in (("link_modes", "modes"), ("gravity", "gravity")):
        if name in options:
            said[key] = options.pop(name)
    with refusing(argument):
        model = model_of(argument, None, said)
    start = np.concatenate([at_zero(model), np.zeros(model.num_rates)])
    for place in (np.arange(model.num_links), model.layout.driven):
        start[place] = joint_positions(arm)
    with refusing(argument):
        return write_fmu(model, out, start=start, **options)
