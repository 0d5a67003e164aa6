"""Options of commands for dead loads."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import click
import numpy as np

from jaxmodal.arm.plausible_loads import gravity_findings
from jaxmodal.cli.arguments import several_numbers
from jaxmodal.runtime.errors import ImplausibleWarning
from jaxmodal.spatial.arms.arm import AnyArm

Vector = tuple[float, ...] | None
_REMARK = (
    " is not a pair of finite numbers, or three in space; give x and y of the base, or x, y and z of the ground, with "
    "commas between, such as 0,-9.81 or 0,0,-9.81."
)


def gravity_option(help_text: str, remark: str = _REMARK) -> Callable[..., Any]:
    """Return the option ``--gravity``, with a warning for values that are probably in another unit."""
    parsed = several_numbers(remark, lambda *values: len(values) in (2, 3))

    def checked(ctx: click.Context, param: click.Parameter, value: str | None) -> Vector:
        found = parsed(ctx, param, value)
        if found is not None:
            for finding in gravity_findings(math.hypot(*found)):
                warnings.warn(f"--gravity {value}: {finding}", ImplausibleWarning, stacklevel=1)
        return found

    return click.option("--gravity", metavar="X,Y[,Z]", callback=checked, help=help_text)


def load_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options ``--gravity``, ``--tip-force``, ``--tip-moment`` and ``--base-acceleration`` to a command."""
    options = {
        "--tip-force": "Force at the tip in the same axes in N.",
        "--tip-moment": "Moment at the tip of an arm in space in N m.",
        "--base-acceleration": "Steady acceleration of the base in m/s^2.",
    }
    parsed = several_numbers(_REMARK, lambda *values: len(values) in (2, 3))
    for name, remark in reversed(options.items()):
        metavar = "X,Y,Z" if name == "--tip-moment" else "X,Y[,Z]"
        command = click.option(name, metavar=metavar, callback=parsed, help=remark)(command)
    gravity = "Gravity along x and y of the base, in space x, y and z, in m/s^2, such as 0,-9.81."
    command = gravity_option(gravity)(command)
    return command


def borne(arm: AnyArm, loads: Mapping[str, tuple[float, ...]]) -> dict[str, list[float]]:
    """Return the sum of the loads of the arm and of the options, by name, in the axes of the base or the ground."""
    total = {name: list(value) for name, value in loads.items()}
    own = arm.loads
    if own is None:
        return total
    for name in own.vectors:
        parts = own.components(name)
        if any(value is not None for value in parts):
            added = total.get(name, [0.0] * len(parts))
            total[name] = [float(a or 0.0) + b for a, b in zip(parts, added, strict=True)]
    return total


def bears_loads(arm: AnyArm) -> bool:
    """Return True if an arm has nonzero loads."""
    return arm.loads is not None and bool(np.any(np.hstack(arm.loads.dead())))
