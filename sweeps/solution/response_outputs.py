"""Outputs of a sweep that need more than its frequencies: damped modes, highest peaks, buckling factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.response.damped.damped_batch import DampedModesBatch
from jaxmodal.response.driven.status import DampedStatus
from sweeps.solution.cells import SolvedCells
from sweeps.solution.quantity import Formula, Quantity, flags
from sweeps.solution.responses import (
    BucklingCells,
    BucklingStatus,
    PeakCells,
    PeakStatus,
)


def _of_damped(formula: Callable[[DampedModesBatch], Any]) -> Formula:
    def apply(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
        assert own.damped is not None  # solved with damping, as the output asks for it
        return np.asarray(formula(own.damped))

    return apply


def _of_peak(formula: Callable[[PeakCells], Any]) -> Formula:
    def apply(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
        assert own.peak is not None  # solved with the response, as the output asks for it
        return np.asarray(formula(own.peak))

    return apply


def _of_buckling(formula: Callable[[BucklingCells], Any]) -> Formula:
    def apply(own: SolvedCells, solved: Mapping[str, SolvedCells]) -> NDArray[Any]:
        assert own.buckling is not None  # solved with loads, as the output asks for it
        return np.asarray(formula(own.buckling))

    return apply


OF_RESPONSES = (
    Quantity(
        "damped_status",
        "1",
        "status of the damped modes",
        "Counted: the argument principle confirms that no root is lost. Not_counted: it does not. Shared: strong"
        " damping led this mode to a root of a lower one. No_value: the arm has no such modes, or a damped free joint,"
        " or its forces at rest buckle it",
        _of_damped(lambda damped: damped.status),
        arm_by_arm="damped",
        **flags({entry.name: int(entry) for entry in DampedStatus}),
    ),
    Quantity(
        "damping_ratio",
        "1",
        "damping ratio",
        "Decay rate over the size of the complex root that continues the undamped mode; 1 where overdamped",
        _of_damped(lambda damped: damped.damping_ratio),
        arm_by_arm="damped",
    ),
    Quantity(
        "damped_frequency",
        "Hz",
        "damped frequency",
        "Frequency of the free damped motion that continues the undamped mode; 0 where overdamped",
        _of_damped(lambda damped: damped.frequencies_hz),
        arm_by_arm="damped",
    ),
    Quantity(
        "decay_rate",
        "1/s",
        "decay rate",
        "The amplitude falls by a factor of e in 1/decay_rate; of an overdamped mode the slower one",
        _of_damped(lambda damped: damped.decay_rate),
        arm_by_arm="damped",
    ),
    Quantity(
        "peak_status",
        "1",
        "status of the peak",
        "Peak: found exactly. Infinite: no damping acts on a mode of the band. No_peak: the response has none inside"
        " the band. No_value: the values of the arm do not fit together, its frequencies are not certified, or its"
        " forces at rest buckle it",
        _of_peak(lambda peak: peak.status),
        arm_by_arm="peak",
        per_mode=False,
        **flags({entry.name: int(entry) for entry in PeakStatus}),
    ),
    Quantity(
        "peak_response",
        "output per input",
        "highest peak of the response",
        "Largest stationary value of the size of the response in the band; inf where no damping acts",
        _of_peak(lambda peak: peak.size),
        arm_by_arm="peak",
        per_mode=False,
    ),
    Quantity(
        "peak_frequency",
        "Hz",
        "frequency of the highest peak",
        "Where the response has its highest peak",
        _of_peak(lambda peak: peak.frequency),
        arm_by_arm="peak",
        per_mode=False,
    ),
    Quantity(
        "buckling_status",
        "1",
        "status of the buckling factor",
        "Certified: counts on both sides confirm it. Not_certified: they do not. Nothing_pressed: no factor exists."
        " No_value: the arm is not held, or no factor was found as far as the search went",
        _of_buckling(lambda buckling: buckling.status),
        arm_by_arm="buckling",
        per_mode=False,
        **flags({entry.name: int(entry) for entry in BucklingStatus}),
    ),
    Quantity(
        "buckling_factor",
        "1",
        "lowest buckling factor",
        "The loads that the arm bears times this make it buckle; inf where nothing is pressed",
        _of_buckling(lambda buckling: buckling.factor),
        arm_by_arm="buckling",
        per_mode=False,
    ),
)
"""They need ``SolvedCells.damped``, ``peak`` or ``buckling``; the unit of a peak follows from its ports."""
