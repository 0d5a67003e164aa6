"""The commands ``jaxmodal modes`` and ``jaxmodal sensitivities``."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.cli.addressed import require_addresses
from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    Posture,
    WholeRange,
    digits_option,
    end_unless,
    format_option,
    load_vibrating_arm,
    modes_of,
    modes_option,
    posed,
    posture_option,
    refusing,
    theory_option,
)
from jaxmodal.cli.output import lists, print_json, title_of
from jaxmodal.cli.paths import picture_option, save_picture
from jaxmodal.dynamic_stiffness.beams import THEORIES, TheoryName
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.tables import csv_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxmodal.modes.sensitivity_results import Sensitivities
    from jaxmodal.plots.bent_arms import AnyShapes


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@modes_option
@click.option(
    "--theory",
    "theories",
    type=click.Choice(THEORIES),
    multiple=True,
    default=["timoshenko"],
    show_default=True,
    help="Give it more than once to compare theories.",
)
@posture_option()
@click.option("--stations", type=WholeRange(2, 10_000), default=41, show_default=True)
@click.option("--mode", type=WholeRange(min=1), default=1, show_default=True)
@format_option()
@digits_option
@picture_option(
    "--plot", remark="Draw all modes into this file (.png, .pdf, .svg), theories side by side."
)
@picture_option(
    "--animate",
    remark="Write the --mode of the first theory as an animated GIF.",
    suffixes=(".gif",),
)
def modes(
    argument: str,
    modes: int | None,
    theories: tuple[TheoryName, ...],
    posture_deg: Posture | None,
    stations: int,
    plot: Path | None,
    animate: Path | None,
    mode: int,
    output_format: str,
    digits: int,
) -> None:
    """Mode shapes of an ARM: energies, effective masses, residuals; fields as csv or json; plots.

    Exit status: 0 if every frequency is certified, 1 if some are not, 2 for bad input.
    """
    from jaxmodal.arm.descriptions import posture_text
    from jaxmodal.modes.exact_shapes import shapes_table
    from jaxmodal.modes.mode_shapes import mode_shapes

    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    sought = modes_of(arm, modes)
    if mode > sought:
        raise BadInput(f"--mode {mode}: only modes 1 to {sought} are computed; raise --modes.")
    with refusing(argument):
        solved = [
            to_host(mode_shapes(arm, sought, theory=theory, stations=stations, throw=False))
            for theory in theories
        ]
    name = arm.name or argument
    if output_format == "json":
        print_json([_plain(argument, shapes) for shapes in solved])
    elif output_format == "csv":
        click.echo(_stations_csv(solved), nl=False)
    else:
        for shapes in solved:
            title = title_of(name, arm, shapes.frequencies.theory)
            click.echo(shapes_table(shapes, title, digits).text())
    _draw(solved, f"{name}, {posture_text(arm)}".rstrip(", "), plot, animate, mode)
    end_unless([shapes.frequencies.certified for shapes in solved])


def _draw(
    solved: Sequence[AnyShapes], name: str, plot: Path | None, animate: Path | None, mode: int
) -> None:
    from jaxmodal.plots.modes import animate_mode, plot_mode_shapes

    if not all(np.isfinite(np.asarray(shapes.displacement)).all() for shapes in solved):
        if plot is not None or animate is not None:
            click.echo("no picture: some modes have no shape, see their certificates", err=True)
        return
    if plot is not None:
        save_picture("--plot", plot, functools.partial(plot_mode_shapes, solved, title=name))
    if animate is not None:
        save_picture("--animate", animate, functools.partial(animate_mode, solved[0], mode))


def _plain(argument: str, shapes: AnyShapes) -> dict[str, Any]:
    turned = ("rotation",) if hasattr(shapes, "rotation") else ()
    return {
        "arm": argument,
        "theory": shapes.frequencies.theory,
        **lists(shapes.frequencies, "frequencies_hz", "certified"),
        **lists(shapes, "stations", "position", "displacement", *turned),
        **lists(shapes, "participation", "effective_mass", "total_mass"),
        "residual": np.max(shapes.residuals, axis=(1, 2)).tolist(),
    } | {name: np.asarray(values).tolist() for name, values in shapes.fields.items()}


def _stations_csv(solved: Sequence[AnyShapes]) -> str:
    axes = "xyz"[: solved[0].position.shape[-1]]
    place = ("theory", "mode", "frequency_hz", "link", "station", *axes, *(f"d{x}" for x in axes))
    rows: list[tuple[Any, ...]] = []
    for shapes in solved:
        hertz, xi = np.asarray(shapes.frequencies_hz), np.asarray(shapes.stations)
        position, moved = np.asarray(shapes.position), np.asarray(shapes.displacement)
        fields = np.stack([np.asarray(values) for values in shapes.fields.values()], axis=-1)
        for k, i, s in np.ndindex(*fields.shape[:3]):
            values = (*position[i, s], *moved[k, i, s], *fields[k, i, s])
            where = (shapes.frequencies.theory, k + 1, hertz[k], i + 1, xi[s])
            rows.append((*where, *values))
    return csv_text((*place, *solved[0].fields), rows)


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@modes_option
@theory_option
@posture_option()
@click.option(
    "--address",
    "addresses",
    metavar="ADDRESS",
    multiple=True,
    help="A parameter such as link2.length or link*.tip_mass; more than once for several. All if "
    "left out.",
)
@click.option(
    "--as",
    "kind",
    type=click.Choice(["logarithmic", "derivative"]),
    default="logarithmic",
    show_default=True,
    help="Per cent of frequency for one per cent of the parameter (one degree of an angle), or Hz per SI unit.",
)
@click.option(
    "--repeated",
    type=click.Choice(["refuse", "mean"]),
    default="refuse",
    show_default=True,
    help="For frequencies that coincide: refuse, or the derivative of their mean.",
)
@click.option(
    "--top",
    type=WholeRange(min=1),
    metavar="N",
    help="Show the N most important parameters; json and csv have all.",
)
@format_option()
@picture_option(
    "--plot",
    remark="Draw the most important parameters as bars into this file (.png, .pdf, .svg).",
)
def sensitivities(
    argument: str,
    modes: int | None,
    theory: TheoryName,
    posture_deg: Posture | None,
    addresses: tuple[str, ...],
    kind: str,
    repeated: str,
    top: int | None,
    plot: Path | None,
    output_format: str,
) -> None:
    """Exact sensitivities of the natural frequencies of an ARM to its parameters.

    Exit status: 0 if every frequency is certified, 1 if some are not, 2 for bad input.
    """
    from jaxmodal.modes.sensitivities import sensitivities as all_sensitivities
    from jaxmodal.modes.sensitivity_results import sensitivities_table

    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    with refusing(argument):  # RepeatedFrequencyError is a ValueError, too
        sought = modes_of(arm, modes)
        require_addresses("--address", arm, addresses)
        table = all_sensitivities(
            arm, sought, theory=theory, addresses=addresses or None, repeated=repeated, throw=False
        )
    table = to_host(table)
    if output_format == "json":
        print_json(_plain_table(argument, table))
    elif output_format == "csv":
        click.echo(_table_csv(table), nl=False)
    else:
        title = f"{title_of(arm.name or argument, arm, theory)}: sensitivities, the largest first"
        click.echo(sensitivities_table(table, kind, title, top).text())
    if plot is not None:
        _draw_bars(table, title_of(arm.name or argument, arm, theory), plot, top)
    end_unless(table.frequencies.certified)


def _draw_bars(table: Sensitivities, title: str, path: Path, top: int | None) -> None:
    from jaxmodal.plots.figures import new_figure
    from jaxmodal.plots.sensitivities import draw_sensitivities

    shown = min(top or 12, len(table.addresses))
    figure = new_figure(7.0, 1.8 + 0.32 * shown)
    axes = draw_sensitivities(table, figure.add_subplot(), shown)
    axes.set_title(title, fontsize=10, parse_math=False)
    save_picture("--plot", path, functools.partial(figure.savefig, dpi=130))


def _plain_table(argument: str, table: Sensitivities) -> dict[str, Any]:
    return {
        "arm": argument,
        "theory": table.frequencies.theory,
        **lists(table.frequencies, "frequencies_hz", "certified"),
        **lists(table, "individual", "addresses", "values", "derivative_hz", "logarithmic"),
    }


def _table_csv(table: Sensitivities) -> str:
    columns = ("mode", "frequency_hz", "parameter", "value", "derivative_hz", "logarithmic")
    hertz = np.asarray(table.frequencies.frequencies_hz)
    derivative = np.asarray(table.derivative_hz)
    rows: list[tuple[Any, ...]] = []
    for k, p in np.ndindex(*derivative.shape):
        where = (k + 1, hertz[k], table.addresses[p], table.values[p])
        rows.append((*where, derivative[k, p], table.logarithmic[k, p], table.individual[k]))
    return csv_text((*columns, "individual"), rows)
