"""The commands ``jaxmodal statics`` and ``jaxmodal buckling``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from jaxmodal.cli.addressed import require_addresses
from jaxmodal.cli.arguments import (
    ARM_HELP,
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
    theory_option,
)
from jaxmodal.cli.loads import Vector, borne, load_options
from jaxmodal.cli.output import lists, print_json
from jaxmodal.cli.paths import picture_option, save_picture
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.errors import ArmError

#: fields of results for JSON; some exist only for planar arms or only for arms in space
_FIELDS = (
    *("stations", "axial_force", "shear_force", "torque", "bending_moment"),
    *("displacement", "rotation", "joint_torque", "joint_force", "joint_moment"),
    *("base_reaction", "reactions", "tip_displacement"),
)


def _loads(command: Callable[..., None]) -> Callable[..., None]:
    """Add the arguments and options of both commands."""
    options = (
        click.argument("argument", metavar="ARM"),
        load_options,
        theory_option,
        posture_option("; that of link 1 turns the arm against its loads."),
        format_option(("table", "json")),
        picture_option("--plot", remark="Draw it into this file (.png, .pdf, .svg)."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(epilog=ARM_HELP)
@click.option("--stresses", is_flag=True, help="Also the largest stresses of each link.")
@_loads
def statics(
    argument: str,
    theory: TheoryName,
    posture_deg: Posture | None,
    output_format: str,
    plot: Path | None,
    stresses: bool,
    **vectors: Vector,
) -> None:
    """Forces, moments and deflections of an ARM, planar or in space, at rest under gravity and other dead loads."""
    from jaxmodal.at_rest.static_equilibrium import static_equilibrium
    from jaxmodal.spatial.arms.plausibility import warn_of_implausible_values

    read = load_any_arm(argument, check=False)
    warn_of_implausible_values(read, argument)
    arm = posed(read, argument, posture_deg, loaded=True)
    with refusing(argument):
        found = static_equilibrium(arm, theory=theory, **given(vectors))
        stressed = found.stresses() if stresses else None
    if output_format == "json":
        names = [x for x in _FIELDS if hasattr(found, x)]
        said = {"arm": argument, "theory": theory, "status": found.status.name} | lists(
            found, *names
        )
        if stressed is not None:
            said["stresses"] = lists(stressed, "points", "normal", "shear", "von_mises")
        print_json(said)
    else:
        click.echo(str(found) if stressed is None else f"{found}\n{stressed}")
    _draw(found, plot)


@click.command(epilog=ARM_HELP)
@click.option(
    "--factors",
    type=WholeRange(1, 100),
    default=1,
    show_default=True,
    help="How many load factors.",
)
@click.option("--both-signs", is_flag=True, help="Also loads that act the other way.")
@click.option(
    "--address",
    "addresses",
    multiple=True,
    metavar="ADDRESS",
    help="Derivatives by this value, such as link1.length; more than once for several.",
)
@_loads
def buckling(
    argument: str,
    theory: TheoryName,
    posture_deg: Posture | None,
    output_format: str,
    plot: Path | None,
    factors: int,
    both_signs: bool,
    addresses: tuple[str, ...],
    **vectors: Vector,
) -> None:
    """Load factors at which dead loads make an ARM buckle, each with its certificate.

    Exit status: 0 if every factor is certified, 1 if some are not, 2 for bad input.
    """
    from jaxmodal.at_rest.buckling import buckling as solve

    arm = posed(load_vibrating_arm(argument), argument, posture_deg, loaded=True)
    loads = given(vectors)
    with refusing(argument):
        require_addresses("--address", arm, addresses)
        found = solve(
            arm, factors, theory=theory, both_signs=both_signs, addresses=addresses, **loads
        )
    if output_format == "json":
        print_json(_plain(argument, found, loads))
    else:
        click.echo(str(found))
    _draw(found, plot)
    end_unless(found.certified)


def _plain(argument: str, found: Any, loads: Mapping[str, Any]) -> dict[str, Any]:
    derivatives = [] if found.derivatives is None else found.derivatives.tolist()
    return {
        "arm": argument,
        "theory": found.theory,
        "loads": borne(found.arm, loads),
        "factors": [
            {
                "load_factor": float(factor),
                "certified": bool(found.certified[k]),
                "multiplicity": int(found.multiplicity[k]),
                "count_below": int(found.count_below[k]),
                "count_above": int(found.count_above[k]),
                "bracket": found.bracket[k].tolist(),
                "derivatives": dict(
                    zip(found.addresses, derivatives[k] if derivatives else (), strict=True)
                ),
            }
            for k, factor in enumerate(found.factors)
        ],
    }


def _draw(found: Any, path: Path | None) -> None:
    if path is None:
        return
    from jaxmodal.plots.figures import new_figure, style

    with style():
        figure = new_figure(6.0, 5.0)
        try:
            found.plot(figure.add_subplot())
        except ArmError as error:  # nothing buckles the arm
            click.echo(f"no picture: {error}", err=True)
            return
        save_picture("--plot", path, figure.savefig)
