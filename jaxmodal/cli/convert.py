"""The command ``jaxmodal convert``: write a robot's URDF, or any arm, as an arm file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    format_option,
    given,
    load_any_arm,
    refusing,
)
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.cli.paths import file_option, force_option, writing


def _by_name(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in values:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            name = ""
        if not name:
            raise click.BadParameter(
                f"{text!r} is not the name of a joint and a number, such as elbow=2e4", ctx, param
            )
        if name in found:
            raise click.BadParameter(f"{text!r}: {name} is given twice; give it once.", ctx, param)
        found[name] = value
    return found


@click.command(epilog=ARM_HELP)
@click.argument("arm", metavar="ARM")
@click.option("--base", help="Link of the URDF at which the arm begins; left out, its root.")
@click.option("--tip", help="Link of the URDF at which it ends; left out, the farthest.")
@click.option(
    "--joint-stiffness",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_by_name,
    help="Stiffness of a joint, N m/rad; NAME may be a pattern such as 'wrist_*'. May be given several times.",
)
@click.option(
    "--properties",
    type=click.Path(dir_okay=False, path_type=Path),
    help="TOML file of what the URDF lacks: positions, joint_stiffness, slide_stiffness, sections, materials, "
    "section_roll, along, joint_damping, slide_damping, rotors.",
)
@format_option(("table", "json"))
@file_option(
    *("--out", "out_file"),
    remark="The TOML file to write.",
    suffixes=(".toml",),
    required=True,
    new=True,
)
@force_option
def convert(
    arm: str,
    out_file: Path,
    base: str | None,
    tip: str | None,
    joint_stiffness: dict[str, float],
    properties: Path | None,
    output_format: str,
) -> None:
    """Write the arm of a robot's URDF, or any other ARM, as the plain file of an arm in SI units.

    What of the URDF is held, lumped, passed over or missing is told.

    Exit status: 0; 2 when the ARM cannot be read, or the file not be written.
    """
    from jaxmodal.arm.file_kinds import KINDS
    from jaxmodal.arm.files import read_document, write_arm
    from jaxmodal.spatial.files.robot_files import URDF, is_robot, robot_values
    from jaxmodal.spatial.robots.reading import urdf_report

    options: dict[str, Any] = given(
        {"base": base, "tip": tip, "joint_stiffness": joint_stiffness or None}
    )
    read: dict[str, Any] = {}
    if is_robot(arm):
        with refusing():
            values: dict[str, Any] = {}
            if properties is not None:
                document = read_document(properties)
                others = [kind for key, kind in KINDS.items() if key in document and key != URDF]
                if others:
                    raise BadInput(
                        f"--properties {properties}: {others[0].instead_of('what a URDF lacks')}"
                    )
                values = robot_values(document)
            for key, value in values.pop("joint_stiffness", {}).items():
                joint_stiffness.setdefault(key, value)  # options of the command override the file
            options["joint_stiffness"] = joint_stiffness
            report = urdf_report(arm, **values | options)
        found: Any = report.arm
        read = vars(report) | {"joints": [vars(joint) for joint in report.joints]}
        if output_format == "table":
            click.echo(str(report))
    else:
        if options or properties is not None:
            raise BadInput(
                f"{arm}: is no URDF; --base, --tip, --joint-stiffness and --properties belong to one."
            )
        found = load_any_arm(arm)
    with writing(f"--out {out_file}"):
        write_arm(found, out_file)
    click.echo(f"wrote {out_file}", err=True)
    if output_format == "json":
        wrote = {"name": found.name, "num_links": found.num_links, "wrote": written_files(out_file)}
        print_json({**read, "arm": arm, **wrote})
