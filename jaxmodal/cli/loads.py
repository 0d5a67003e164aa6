"""The options by which commands take dead loads."""

from __future__ import annotations

import math
from collections.abc import Callable

import click

from jaxmodal.cli.arguments import numbers

Vector = tuple[float, float] | None


def _vector(ctx: click.Context, param: click.Parameter, value: str | None) -> Vector:
    """Two numbers with a comma between."""
    if value is None:
        return None
    vector = numbers(value)
    if len(vector) != 2 or not all(map(math.isfinite, vector)):
        raise click.BadParameter(
            f"{value!r} is not a pair of finite numbers; give x and y of the base with a comma between, such as "
            "0,-9.81.",
            ctx,
            param,
        )
    return vector[0], vector[1]


def load_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options ``--gravity``, ``--tip-force`` and ``--base-acceleration``."""
    options = {
        "--gravity": "Gravity along x and y of the base in m/s^2, such as 0,-9.81.",
        "--tip-force": "Force at the tip along x and y of the base in N.",
        "--base-acceleration": "Steady acceleration of the base in m/s^2.",
    }
    for name, remark in reversed(options.items()):
        command = click.option(name, metavar="X,Y", callback=_vector, help=remark)(command)
    return command


def given(**loads: Vector) -> dict[str, tuple[float, float]]:
    """The loads that are given, by name."""
    return {name: value for name, value in loads.items() if value is not None}
