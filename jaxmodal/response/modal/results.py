"""Modes of an arm at ports, as responses use them."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.array_types import Floats


class ModalDamping(NamedTuple):
    """Damping between K modes of unit modal mass: viscous, with force ``-i omega c``, and structural, ``-i h``.

    Attributes
    ----------
    viscous : array, shape (K, K)
        In 1/s; ``2 zeta omega`` on the diagonal.
    structural : array, shape (K, K)
        In rad^2/s^2; loss factor times omega^2 on the diagonal.
    """

    viscous: Floats
    structural: Floats


@dataclasses.dataclass(frozen=True)
class ModesAtPorts:
    """K modes of unit modal mass at P ports.

    Attributes
    ----------
    frequencies : NaturalFrequencies
        With their certificates.
    at : array, shape (K, P)
        Displacement (m) or rotation (rad) of each mode at each port, over sqrt(kg m^2). At the base: inertia force on
        the mode for a unit acceleration.
    damping : ModalDamping
        The arm's own damping between the modes.
    still : list of bool
        True for ports that stay at rest under any force.
    """

    frequencies: NaturalFrequencies
    at: Floats
    damping: ModalDamping
    still: list[bool]
