"""Modes of an arm as a response needs them."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxmodal.frequencies.results import NaturalFrequencies

Floats = NDArray[np.float64]


class ModalDamping(NamedTuple):
    """``-i omega`` times viscous plus ``-i`` times structural damping, between K modes of unit modal mass.

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
    """Modes of an arm as a response needs them; K modes of unit modal mass, P ports.

    Attributes
    ----------
    frequencies : NaturalFrequencies
        With their certificates.
    at : array, shape (K, P)
        Displacement (m) or rotation (rad) of each mode at each port, over sqrt(kg m^2); at the base the force of
        inertia on the mode for an acceleration of 1.
    damping : ModalDamping
        The arm's own, between the modes.
    """

    frequencies: NaturalFrequencies
    at: Floats
    damping: ModalDamping
