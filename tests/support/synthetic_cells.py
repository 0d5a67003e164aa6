"""A stand-in for the solver of a sweep: cheap, deterministic, a different number in every cell.

For tests of what surrounds the solver: chunks, stores, kills.
"""

import math

import numpy as np

from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.statuses import Status
from sweeps.solution.cells import SolvedCells


def solve_cells(sweep, theory, values):
    """Numbers that depend on every parameter, the mode and the theory; a few cells are invalid."""
    columns = np.stack([np.asarray(column) for column in values.values()], axis=1)
    weights = np.sqrt(np.arange(2.0, 2.0 + columns.shape[1]))
    base = 2.0 + np.sin(columns @ weights) + math.sin(len(theory))
    modes = np.arange(1.0, sweep.num_modes + 1.0)
    frequency = base[:, None] * modes
    invalid = np.broadcast_to(columns[:, :1] > 0.97 * np.pi, frequency.shape)
    order = np.broadcast_to(modes.astype(np.int64), frequency.shape)
    frequency = np.where(invalid, np.nan, frequency)
    found = NaturalFrequencies(
        omega=2.0 * math.pi * frequency,
        status=np.where(invalid, int(Status.invalid_input), int(Status.certified)),
        count_below=order - 1,
        count_above=order,
        group=order - 1,
        bracket=2.0 * math.pi * np.stack([0.999 * frequency, 1.001 * frequency], axis=-1),
        residual_ratio=np.ones_like(frequency),
        evaluations=np.ones(len(frequency), np.int32),
        theory=theory,
    )
    return SolvedCells(found)


def solve_finite_cells(sweep, theory, values):
    """`solve_cells` with 3 in place of infinite values."""
    finite = {name: np.where(np.isinf(column), 3.0, column) for name, column in values.items()}
    return solve_cells(sweep, theory, finite)
