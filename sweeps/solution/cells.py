"""Solved cells of a sweep, from which its outputs are computed."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.array_types import Floats


@dataclasses.dataclass(frozen=True)
class SolvedCells:
    """Solutions for N arms and one theory, from which the outputs of a sweep are computed.

    The parts after ``found`` are needed only by some outputs (`sweeps.solution.quantity.Quantity.part`); each is None
    unless one of these outputs is requested. The properties are in Hz.

    Attributes
    ----------
    found : NaturalFrequencies
        Result of `jaxmodal.natural_frequencies_batch` as NumPy arrays.
    modal : ModalQuantities
        Sensitivities, effective masses and energies, from the mode shapes.
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
    def frequency(self) -> Floats:
        """Frequencies in Hz, shape (N, K)."""
        return np.asarray(self.found.omega) / (2.0 * math.pi)

    @property
    def bracket(self) -> Floats:
        """Brackets in Hz, shape (N, K, 2)."""
        return np.asarray(self.found.bracket) / (2.0 * math.pi)
