"""Options with values and ranges by address; angles are in degrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jaxmodal.cli.arguments import ascii_number

if TYPE_CHECKING:
    from jaxmodal.spatial.arms.arm import AnyArm

Given = TypeVar("Given", float, tuple[float, float])


def ranges_by_address(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, tuple[float, float]] | None:
    """Return ranges by address from options ``ADDRESS=FROM,TO``, in the units of the command line."""
    found: dict[str, tuple[float, float]] = {}
    for text in given:
        name, _, ends = text.partition("=")
        try:
            low, high = (ascii_number(part) for part in ends.split(","))
        except ValueError:
            low = high = math.nan
        if not (name and math.isfinite(low) and math.isfinite(high) and low < high):
            raise click.BadParameter(
                f"{text!r}: give ADDRESS=FROM,TO, the lower first, such as theta_2=-90,90 (degrees) or "
                "payload.mass=0,5 (SI units).",
                ctx,
                param,
            )
        if name in found:
            raise click.BadParameter(f"{text!r}: {name} is given twice; give it once.", ctx, param)
        found[name] = low, high
    return found or None


def range_option(remark: str) -> Callable[..., Any]:
    """Return the option ``--range``, which may be repeated."""
    return click.option(
        "--range",
        "ranges",
        metavar="ADDRESS=FROM,TO",
        multiple=True,
        callback=ranges_by_address,
        help=remark,
    )


def values_by_address(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, float]:
    """Return values by address from options ``ADDRESS=VALUE``, in units of the command line; NaN without a value."""
    found: dict[str, float] = {}
    for text in given:
        name, equals, number = text.partition("=")
        try:
            value = ascii_number(number) if equals else math.nan
        except ValueError:
            value = math.inf
        if not name or (equals and not math.isfinite(value)):
            raise click.BadParameter(
                f"{text!r}: give an address and a number, such as payload.mass=2 (SI units) or theta_2=30 (degrees).",
                ctx,
                param,
            )
        if name in found:
            raise click.BadParameter(f"{text!r}: {name} is given twice; give it once.", ctx, param)
        found[name] = value
    return found


def require_addresses(option: str, arm: AnyArm, given: Iterable[str]) -> None:
    """Raise an `ArmError` with the option for an address that the arm does not have."""
    from jaxmodal.arm.addresses import resolve_address
    from jaxmodal.runtime.errors import within

    for address in given:
        with within(f"{option} {address}: "):
            resolve_address(arm, address)


def in_si(option: str, arm: AnyArm, given: Mapping[str, Given] | None) -> dict[str, Given] | None:
    """Convert values or ranges of an option to SI units; angles, which may be named by joints, are in degrees."""
    from jaxmodal.arm.addresses import resolve_address
    from jaxmodal.spatial.parts.parameters import unit_of_address

    if given is None:
        return None
    require_addresses(option, arm, given)
    found: dict[str, Given] = {}
    for address, value in given.items():
        if any(unit_of_address(single, arm) != "rad" for single in resolve_address(arm, address)):
            found[address] = value
        elif isinstance(value, tuple):
            found[address] = math.radians(value[0]), math.radians(value[1])
        else:
            found[address] = math.radians(value)
    return found
