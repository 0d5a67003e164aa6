"""Solved cells of a sweep, of which its quantities are made."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.modes.batches import ModalQuantities
from jaxmodal.response.damped.damped_batch import DampedModesBatch
from sweeps.solution.responses import BucklingCells, PeakCells


@dataclasses.dataclass(frozen=True)
class SolvedCells:
    """What the outputs of a sweep are made of, for N arms of one theory.

    It is more than the result of the solver: it joins that with the modal quantities, the damped modes and the peaks,
    each computed only where an output asks for it. Here, too, frequencies become Hz.

    Attributes
    ----------
    found : NaturalFrequencies
        As of `jaxmodal.natural_frequencies_batch`, arrays of NumPy.
    modal : ModalQuantities, optional
        What the mode shapes say, where an output asks for it (`sweeps.store.solve.with_modes`).
    damped, peak, buckling : DampedModesBatch, PeakCells, BucklingCells, optional
        Damped modes, peaks of a response and buckling factors, where an output asks for them
        (`sweeps.store.solve.with_responses`).
    """

    found: NaturalFrequencies
    modal: ModalQuantities | None = None
    damped: DampedModesBatch | None = None
    peak: PeakCells | None = None
    buckling: BucklingCells | None = None

    @property
    def frequency(self) -> NDArray[np.float64]:
        """Frequencies in Hz, shape (N, K)."""
        return np.asarray(self.found.omega) / (2.0 * math.pi)

    @property
    def bracket(self) -> NDArray[np.float64]:
        """Brackets in Hz, shape (N, K, 2)."""
        return np.asarray(self.found.bracket) / (2.0 * math.pi)
