"""The options by which commands take dead loads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import click

from jaxmodal.arm.arm import Arm
from jaxmodal.cli.arguments import several_numbers
from jaxmodal.spatial.arms.arm import SpatialArm

Vector = tuple[float, ...] | None
_REMARK = (
    " is not a pair of finite numbers, or three in space; give x and y of the base, or x, y and z of the ground, with "
    "commas between, such as 0,-9.81 or 0,0,-9.81."
)


def load_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options ``--gravity``, ``--tip-force`` and ``--base-acceleration``."""
    options = {
        "--gravity": "Gravity along x and y of the base, in space x, y and z, in m/s^2, such as 0,-9.81.",
        "--tip-force": "Force at the tip in the same axes in N.",
        "--base-acceleration": "Steady acceleration of the base in m/s^2.",
    }
    for name, remark in reversed(options.items()):
        command = load_option(name, remark, (2, 3))(command)
    return command


def load_option(name: str, remark: str, counts: tuple[int, ...]) -> Callable[..., Any]:
    """An option that takes the components of a load, as many as one of ``counts``."""
    callback = several_numbers(_REMARK, lambda *values: len(values) in counts)
    metavar = "X,Y[,Z]" if 2 in counts else "X,Y,Z"
    return click.option(name, metavar=metavar, callback=callback, help=remark)


def borne(arm: Arm, loads: Mapping[str, tuple[float, ...]]) -> dict[str, list[float]]:
    """The loads of an arm and those given together, by name, along x and y of the base."""
    total = {name: list(value) for name, value in loads.items()}
    own = arm.loads
    if own is None:
        return total
    angle, size = float(own.gravity_direction), own.gravity
    vectors = {
        "gravity": (None, None)
        if size is None
        else (size * math.cos(angle), size * math.sin(angle)),
        "tip_force": (own.tip_force_x, own.tip_force_y),
        "base_acceleration": (own.base_acceleration_x, own.base_acceleration_y),
    }
    for name, vector in vectors.items():
        if vector != (None, None):
            given_too = total.get(name, (0.0, 0.0))
            total[name] = [float(a or 0.0) + b for a, b in zip(vector, given_too, strict=True)]
    return total


def bears_loads(arm: Arm | SpatialArm) -> bool:
    """Whether an arm bears loads that are not all zero."""
    return isinstance(arm, Arm) and arm.loads is not None and any(arm.loads.dead())
