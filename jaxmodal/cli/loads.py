"""The options by which commands take dead loads."""

from __future__ import annotations

import math
from collections.abc import Callable

import click

Vector = tuple[float, float] | None


def _vector(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    """Two numbers with a comma between."""
    if value is None:
        return None
    try:
        x, y = (float(part) for part in value.split(","))
    except ValueError:
        x = y = math.nan
    if not (math.isfinite(x) and math.isfinite(y)):
        raise click.BadParameter(
            f"{value!r} is not a pair of finite numbers; give x and y of the base with a comma between, such as "
            "0,-9.81.",
            ctx,
            param,
        )
    return x, y


def load_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options ``--gravity``, ``--tip-force`` and ``--base-acceleration``."""
    options = (
        click.option(
            "--gravity",
            metavar="X,Y",
            callback=_vector,
            help="Gravity along x and y of the base in m/s^2, such as 0,-9.81.",
        ),
        click.option(
            "--tip-force",
            metavar="X,Y",
            callback=_vector,
            help="Force at the tip along x and y of the base in N.",
        ),
        click.option(
            "--base-acceleration",
            metavar="X,Y",
            callback=_vector,
            help="Steady acceleration of the base in m/s^2.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def given(**loads: Vector) -> dict[str, tuple[float, float]]:
    """The loads that are given, by name."""
    return {name: value for name, value in loads.items() if value is not None}
