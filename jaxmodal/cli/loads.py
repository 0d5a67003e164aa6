"""The options by which commands take dead loads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import click

from jaxmodal.arm.arm import Arm
from jaxmodal.cli.arguments import two_numbers
from jaxmodal.spatial.arms.arm import SpatialArm

Vector = tuple[float, float] | None
_REMARK = " is not a pair of finite numbers; give x and y of the base with a comma between, such as 0,-9.81."


def load_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options ``--gravity``, ``--tip-force`` and ``--base-acceleration``."""
    options = {
        "--gravity": "Gravity along x and y of the base in m/s^2, such as 0,-9.81.",
        "--tip-force": "Force at the tip along x and y of the base in N.",
        "--base-acceleration": "Steady acceleration of the base in m/s^2.",
    }
    for name, remark in reversed(options.items()):
        command = click.option(name, metavar="X,Y", callback=two_numbers(_REMARK), help=remark)(
            command
        )
    return command


def borne(arm: Arm, loads: Mapping[str, tuple[float, float]]) -> dict[str, list[float]]:
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
