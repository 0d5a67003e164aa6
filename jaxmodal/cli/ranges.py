"""Ranges of joint angles and other parameters on the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from jaxmodal.cli.arguments import ascii_number

if TYPE_CHECKING:
    from jaxmodal.arm.arm import Arm
    from jaxmodal.spatial.arms.arm import SpatialArm


def parsed_ranges(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, tuple[float, float]] | None:
    """The options --range by address, as they are given."""
    found: dict[str, tuple[float, float]] = {}
    for text in given:
        name, _, ends = text.partition("=")
        try:
            low, high = (ascii_number(part) for part in ends.split(","))
        except ValueError:
            low = high = math.nan
        if not (name and math.isfinite(low) and math.isfinite(high) and low < high):
            raise click.BadParameter(
                f"{text!r}: give ADDRESS=LOW,HIGH, the lower first, such as theta_2=-90,90 (degrees) or "
                "payload.mass=0,5 (SI units).",
                ctx,
                param,
            )
        if name in found:
            raise click.BadParameter(f"{text!r}: {name} is given twice; give it once.", ctx, param)
        found[name] = low, high
    return found or None


def ranges_in_si(
    arm: Arm | SpatialArm, ranges: dict[str, tuple[float, float]] | None
) -> dict[str, tuple[float, float]] | None:
    """The ranges as `extremes` takes them: those of angles, which may be named by a joint, are given in degrees."""
    from jaxmodal.workspace.ranges import is_angle

    if ranges is None:
        return None
    found = {}
    for address, (low, high) in ranges.items():
        angle = is_angle(arm, address)
        found[address] = (math.radians(low), math.radians(high)) if angle else (low, high)
    return found
