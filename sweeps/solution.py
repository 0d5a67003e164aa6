"""The one place where a sweep calls the solver: a flat batch of arms, one theory."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm import Arm
from jaxmodal.batches import natural_frequencies_batch
from jaxmodal.certificate import TOLERANCE
from jaxmodal.errors import ArmError
from jaxmodal.frequencies import NaturalFrequencies, natural_frequencies
from jaxmodal.parameters import set_parameters
from jaxmodal.status import Status

#: batches up to this size are solved one arm after another, which spares compiling for the batch
SINGLY = 256
_BATCH_WIDTH = 4e-8


@dataclasses.dataclass(frozen=True)
class SolvedCells:
    """Modes of N arms as NumPy arrays.

    Attributes
    ----------
    frequency : array of shape (N, K)
        Hz, ascending; NaN where the input is invalid.
    status, count_below, count_above : arrays of shape (N, K)
        As in `jaxmodal.NaturalFrequencies`.
    bracket : array of shape (N, K, 2)
        Hz.
    """

    frequency: NDArray[np.float64]
    status: NDArray[np.integer]
    count_below: NDArray[np.integer]
    count_above: NDArray[np.integer]
    bracket: NDArray[np.float64]


def bracket_width(batch: int) -> float:
    """Return how wide (relative) a bracket of the certificate may be, for a size of batch."""
    return TOLERANCE if batch <= SINGLY else _BATCH_WIDTH


def solve_cells(
    arm: Arm,
    values: Mapping[str, NDArray[np.float64]],
    number: int,
    num_modes: int,
    theory: str,
) -> SolvedCells:
    """Solve the arm at N parameter points.

    Parameters
    ----------
    arm
        The arm that the points change.
    values
        For each address its values, in SI units. They may be padded behind the first N, so that every
        call has the same shape: it is compiled once, and a cell's bits do not depend on the run.
    number
        N, how many of the points are wanted.
    num_modes, theory
        As for `jaxmodal.natural_frequencies`.
    """
    if len(next(iter(values.values()))) <= SINGLY:
        return _one_by_one(arm, values, number, num_modes, theory)
    result = natural_frequencies_batch(arm, values, num_modes, theory)
    return _plain(result, number)


def _plain(result: NaturalFrequencies, number: int) -> SolvedCells:
    return SolvedCells(
        frequency=np.asarray(result.frequencies_hz)[:number],
        status=np.asarray(result.status)[:number],
        count_below=np.asarray(result.count_below)[:number],
        count_above=np.asarray(result.count_above)[:number],
        bracket=np.asarray(result.bracket)[:number] / (2.0 * math.pi),
    )


def _one_by_one(
    arm: Arm,
    values: Mapping[str, NDArray[np.float64]],
    number: int,
    num_modes: int,
    theory: str,
) -> SolvedCells:
    cells = []
    for index in range(number):
        point = {address: float(column[index]) for address, column in values.items()}
        try:
            changed = set_parameters(arm, point)
        except ArmError:
            cells.append(_invalid(num_modes))
            continue
        cells.append(
            _plain(natural_frequencies(changed, num_modes, theory, throw=False), num_modes)
        )
    fields = [field.name for field in dataclasses.fields(SolvedCells)]
    return SolvedCells(**{name: np.stack([getattr(c, name) for c in cells]) for name in fields})


def _invalid(num_modes: int) -> SolvedCells:
    nan, zero = np.full(num_modes, np.nan), np.zeros(num_modes, np.int64)
    status = np.full(num_modes, int(Status.invalid_input))
    return SolvedCells(nan, status, zero, zero, np.full((num_modes, 2), np.nan))
