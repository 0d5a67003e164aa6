"""The command ``jaxmodal campbell``."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.cli.arguments import (
    EXIT_NOT_ALL,
    BadInput,
    NumberRange,
    Posture,
    WholeRange,
    digits_option,
    format_option,
    posed,
    posture_option,
    refusing,
    two_numbers,
)
from jaxmodal.cli.equations import settings_of
from jaxmodal.cli.output import print_json
from jaxmodal.cli.paths import picture_option, save_picture
from jaxmodal.runtime import limits
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray

#: default number of frequencies
_USUAL_MODES = 4


@click.command()
@click.argument("file", metavar="ARM")
@click.option(
    "--rates",
    metavar="FROM,TO",
    required=True,
    callback=two_numbers(
        " is no range of rates; give two finite numbers, rad/s, the lower one first, such as 0,30.",
        lambda low, high: low < high,
    ),
    help="Lowest and highest rate of the first motor, rad/s.",
)
@click.option(
    "--points",
    type=WholeRange(2, 10_000),
    default=41,
    show_default=True,
    help="Number of equally spaced rates.",
)
@click.option(
    "--modes",
    type=WholeRange(1, limits.MODES),
    show_default=f"{_USUAL_MODES}, and no more than there are",
    help="Number of lowest frequencies.",
)
@click.option(
    "--link-modes",
    type=WholeRange(0, limits.LINK_MODES),
    help="Assumed modes of each link, in the place of `modes` of its table [dynamics].  [default: 4]",
)
@posture_option(", of the motors; those of the arm if left out.")
@click.option(
    "--order",
    "orders",
    metavar="PUSHES",
    type=NumberRange(min=0.0, min_open=True),
    multiple=True,
    help="Pulses per turn of the first motor, drawn as a line; more than once for several.  [default: 1, 2, 3, 4]",
)
@format_option(
    remark="csv and json have rates, frequencies and real parts of all points with all digits."
)
@digits_option
@picture_option(
    "--plot", remark="Draw the frequencies over the rate into this file: .png, .pdf or .svg."
)
def campbell(
    file: str,
    rates: tuple[float, float],
    points: int,
    modes: int | None,
    link_modes: int | None,
    posture_deg: Posture | None,
    orders: tuple[float, ...],
    output_format: str,
    digits: int,
    plot: Path | None,
) -> None:
    """Campbell diagram: frequencies of an arm whose first motor rotates steadily, over its rate.

    ARM is a TOML or JSON file, planar or in space, or example:NAME. Its table [dynamics] sets the model: shapes,
    gravity, damping, form of the equations. The other motors are locked. Exit status: 0 if the steady state was found
    at all rates, 1 if not, 2 for bad input.
    """
    from jaxmodal.dynamics import turning_frequencies

    model, angles = _model(file, link_modes, posture_deg)
    moving = model.num_coordinates - model.num_links
    with refusing():
        found = turning_frequencies(
            model, np.linspace(*rates, points), angles, modes or max(1, min(_USUAL_MODES, moving))
        )
    _show(found, output_format, digits)
    if plot is not None:
        from jaxmodal.plots.turning import plot_campbell

        chosen: dict[str, Any] = {"orders": orders} if orders else {}
        save_picture("--plot", plot, lambda path: plot_campbell(found, path, **chosen))
    lost = found["rate"].values[~found["settled"].values]
    if lost.size:
        click.echo(
            f"no relative rest found at {lost.size} of {points} rates, from {lost.min():g} rad/s: the arm buckles or "
            "bends too far for small deflections there.",
            err=True,
        )
        raise SystemExit(EXIT_NOT_ALL)


def _model(
    file: str, link_modes: int | None, posture_deg: Posture | None
) -> tuple[Any, list[float]]:
    """Return the model of an arm with the settings of its file, and the angles of its motors."""
    from jaxmodal.cli.arguments import load_vibrating_arm
    from jaxmodal.dynamics import flexible_arm
    from jaxmodal.dynamics.files import joint_positions

    arm = posed(load_vibrating_arm(file), file, posture_deg)
    with refusing(file):
        said = settings_of(file)
        if link_modes is not None:
            said["modes"] = link_modes
        model = flexible_arm(arm, **{"modes": 4, **said})
        if model.floats:
            raise BadInput(
                f"{file}: dynamics.base = 'free': an arm turns steadily on a base that does not move; leave it out."
            )
    return model, joint_positions(arm).tolist()


def _show(found: xarray.Dataset, output_format: str, digits: int) -> None:
    rates = found["rate"].values
    hertz, real = found["frequency"].values, found["real_part"].values
    numbers = found["mode"].values
    if output_format == "json":
        rows = {"rate_rad_per_s": rates, "frequency_hz": hertz, "real_part_per_s": real}
        print_json(
            {name: values.tolist() for name, values in rows.items()}
            | {"settled": found["settled"].values.tolist()},
            indent=2,
        )
        return
    if output_format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        names = [f"{name}_{k}" for name in ("frequency_hz", "real_part_per_s") for k in numbers]
        writer.writerow(["rate_rad_per_s", *names])
        writer.writerows(np.column_stack([rates, hertz, real]).tolist())
        return
    headings = ("rate [rad/s]", *(f"mode {k} [Hz]" for k in numbers))
    lines = [
        [f"{rate:.{digits}g}", *(f"{value:#.{digits}g}" for value in row)]
        for rate, row in zip(rates, hertz, strict=True)
    ]
    title = "frequencies in the axes that turn with the first motor"
    click.echo(Table(title, headings, lines).text())
