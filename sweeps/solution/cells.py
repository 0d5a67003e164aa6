"""Solved cells of a sweep, of which its quantities are made."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.frequencies.results import NaturalFrequencies


@dataclasses.dataclass(frozen=True)
class SolvedCells:
    """Solutions for N arms of one theory, from which the outputs of a sweep are made.

    It is more than the result of the solver: it joins that with the parts that only some outputs need
    (`sweeps.solution.quantity.Quantity.part`), each None unless one of these is asked for. Here, too, frequencies
    become Hz.

    Attributes
    ----------
    found : NaturalFrequencies
        As of `jaxmodal.natural_frequencies_batch`, arrays of NumPy.
    modal : ModalQuantities
        What the mode shapes say.
    damped : DampedModesBatch
        Damped modes.
    peak, compliance, buckling : PeakCells, ComplianceCells, BucklingCells
        Peaks of a response, static compliances of the tip, and buckling factors.
    """

    found: NaturalFrequencies
    modal: Any = None
    damped: Any = None
    peak: Any = None
    compliance: Any = None
    buckling: Any = None

    @property
    def frequency(self) -> NDArray[np.float64]:
        """Frequencies in Hz, shape (N, K)."""
        return np.asarray(self.found.omega) / (2.0 * math.pi)

    @property
    def bracket(self) -> NDArray[np.float64]:
        """Brackets in Hz, shape (N, K, 2)."""
        return np.asarray(self.found.bracket) / (2.0 * math.pi)
