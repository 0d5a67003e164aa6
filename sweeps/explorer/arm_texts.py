"""The TOML text of an arm with a place for every slider's value, so that the page can write the arm it shows."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])")
#: relative change of values that makes each one unique, so that it is found in the text; too small to break a rule
_ASIDE = 1e-6
#: finite number in place of an infinite stiffness, N m/rad; any number that is not in the text will do
_FINITE = 1e6


def text_with_places(arm: AnyArm, addresses: Sequence[str]) -> list[str] | None:
    """Return texts and addresses in alternation, a text first; None where a value is not found in the text.

    Each value is set to a unique number, which is then searched in the text. So values have a place, too, that a
    file leaves out when they are the default.
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
    """Return how often the text holds a value: an off-diagonal entry of the base stiffness stands there twice."""
    owner, _, entry = address.partition(".")
    return 2 if owner == "base_stiffness" and entry[1] != entry[2] else 1


def _other(value: float, address: str, number: int) -> float:
    """Return a unique value close to the given one; walls and torsion constants become smaller, so that they fit."""
    aside = _ASIDE * number
    if math.isinf(value):
        return _FINITE * (1.0 + aside)
    if value == 0.0:
        return aside
    smaller = address.endswith(("wall_thickness", "torsion_constant"))
    return value * (1.0 - aside if smaller else 1.0 + aside)
