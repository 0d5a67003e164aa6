"""The TOML text of an arm with places for what has a slider, so that the page writes the arm that it shows."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])")
#: share by which values are changed, so that each is found in the text
_ASIDE = 1e-6
#: a stiffness in place of one that is infinite, N m/rad
_FINITE = 1e6


def text_with_places(arm: Arm | SpatialArm, addresses: Sequence[str]) -> list[str] | None:
    """Texts and addresses by turns, a text first; None where a value has no place of its own in the text.

    Each value is set to a number that no other has, and looked for. So those have a place, too, which a file
    leaves out where they are as usual.
    """
    values = {
        address: _other(float(get_parameter(arm, address)), address, number)
        for number, address in enumerate(addresses, start=1)
    }
    try:
        text = set_parameters(arm, values).to_toml()
    except ArmError:  # a value at the end of what is allowed
        return None
    by_number = {value: address for address, value in values.items()}
    found: list[str] = []
    last = 0
    for match in _NUMBER.finditer(text):
        address = by_number.get(float(match[0]))
        if address is not None:
            found += [text[last : match.start()], address]
            last = match.end()
    expected = [address for address in addresses for _ in range(_times(address))]
    if sorted(found[1::2]) != sorted(expected):
        return None
    return [*found, text[last:]]


def _times(address: str) -> int:
    """How often a value stands in the text: twice, beside the diagonal of a symmetric matrix."""
    owner, _, entry = address.partition(".")
    return 2 if owner == "base_stiffness" and entry[1] != entry[2] else 1


def _other(value: float, address: str, number: int) -> float:
    """A value beside it that stands nowhere else; walls and torsion constants become smaller, so that they fit."""
    aside = _ASIDE * number
    if math.isinf(value):
        return _FINITE * (1.0 + aside)
    if value == 0.0:
        return aside
    smaller = address.endswith(("wall_thickness", "torsion_constant"))
    return value * (1.0 - aside if smaller else 1.0 + aside)
