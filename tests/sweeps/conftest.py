"""A solver that answers at once, for tests of what surrounds it, and a store to compare others with."""

import pytest
import synthetic_cells
from small_sweeps import CHUNK_CELLS, contents, pinned_commit, small_sweep

import sweeps
import sweeps.store.dataset
import sweeps.store.grid


@pytest.fixture
def synthetic(monkeypatch):
    """Replace the solver; the list holds the number of cells of each call."""
    calls = []

    def solve_cells(sweep, theory, values):
        calls.append(len(next(iter(values.values()))))
        return synthetic_cells.solve_cells(sweep, theory, values)

    monkeypatch.setattr(sweeps.store.grid, "solve_cells", solve_cells)
    return calls


@pytest.fixture
def one_commit(monkeypatch):
    """All processes of a test write the same commit."""
    monkeypatch.setattr(sweeps.store.dataset, "_commit", pinned_commit)


@pytest.fixture
def uninterrupted(synthetic, one_commit, tmp_path):
    """What a run without interruptions stores; the folder is left in ``tmp_path``."""
    path = tmp_path / "uninterrupted.zarr"
    sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS)
    synthetic.clear()
    return contents(path)
