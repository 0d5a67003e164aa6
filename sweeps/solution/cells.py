"""The one place where a sweep calls the solver: a flat batch of arms, one theory."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.batches.many_arms import natural_frequencies_batch
from jaxmodal.frequencies.certificate import TOLERANCE
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.status import Status
from jaxmodal.modes.batches import ModalQuantities, modal_quantities_batch
from jaxmodal.runtime.errors import ArmError

#: batches up to this size are solved one arm after another, 0.05 s each, for the narrow brackets of single arms
SINGLY = 32
_BATCH_WIDTH = 4e-8


@dataclasses.dataclass(frozen=True)
class SolvedCells:
    """Modes of N arms as NumPy arrays.

    Attributes
    ----------
    omega : array of shape (N, K)
        rad/s, ascending; NaN where the input is invalid.
    status, count_below, count_above, group : arrays of shape (N, K)
        As in `jaxmodal.NaturalFrequencies`.
    bracket : array of shape (N, K, 2)
        Hz.
    modal : ModalQuantities, optional
        What the mode shapes say, where an output asks for it (`with_modes`).
    """

    omega: NDArray[np.float64]
    status: NDArray[np.integer]
    count_below: NDArray[np.integer]
    count_above: NDArray[np.integer]
    group: NDArray[np.integer]
    bracket: NDArray[np.float64]
    modal: ModalQuantities | None = None

    @property
    def frequency(self) -> NDArray[np.float64]:
        """Frequencies in Hz."""
        return self.omega / (2.0 * math.pi)


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
        omega=np.asarray(result.omega)[:number],
        status=np.asarray(result.status)[:number],
        count_below=np.asarray(result.count_below)[:number],
        count_above=np.asarray(result.count_above)[:number],
        group=np.asarray(result.group)[:number],
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
    return _stacked(cells)


def _stacked(cells: Sequence[SolvedCells]) -> SolvedCells:
    return SolvedCells(
        omega=np.stack([cell.omega for cell in cells]),
        status=np.stack([cell.status for cell in cells]),
        count_below=np.stack([cell.count_below for cell in cells]),
        count_above=np.stack([cell.count_above for cell in cells]),
        group=np.stack([cell.group for cell in cells]),
        bracket=np.stack([cell.bracket for cell in cells]),
    )


def _invalid(num_modes: int) -> SolvedCells:
    nan, zero = np.full(num_modes, np.nan), np.zeros(num_modes, np.int64)
    status = np.full(num_modes, int(Status.invalid_input))
    alone = np.arange(num_modes)
    return SolvedCells(nan, status, zero, zero, alone, np.full((num_modes, 2), np.nan))


def with_modes(
    solved: SolvedCells,
    arm: Arm,
    values: Mapping[str, NDArray[np.float64]],
    theory: str,
    addresses: tuple[str, ...],
) -> SolvedCells:
    """Return the cells with their modal quantities, computed at the frequencies that they have.

    Parameters
    ----------
    solved
        N cells.
    arm, values, theory
        As for `solve_cells`; what stands behind the first N values is padding.
    addresses
        Parameters of the sensitivities.
    """
    found = NaturalFrequencies(
        omega=jnp.asarray(solved.omega),
        status=jnp.asarray(solved.status),
        count_below=jnp.asarray(solved.count_below),
        count_above=jnp.asarray(solved.count_above),
        bracket=jnp.asarray(2.0 * math.pi * solved.bracket),
        group=jnp.asarray(solved.group),
        residual_ratio=jnp.ones_like(solved.omega),
        evaluations=jnp.zeros(len(solved.omega), jnp.int64),
        theory=theory,
    )
    cells = {address: column[: len(solved.omega)] for address, column in values.items()}
    modal = modal_quantities_batch(arm, cells, found, addresses=addresses)
    return dataclasses.replace(solved, modal=modal)
