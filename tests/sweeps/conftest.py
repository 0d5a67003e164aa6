"""A solver that answers at once, for tests of what surrounds it, and a store to compare others with."""

import pytest

import sweeps
import sweeps.store.dataset
import sweeps.store.grid
from sweeps.store import kept_times
from tests.support import synthetic_cells
from tests.support.small_sweeps import CHUNK_CELLS, contents, pinned_commit, small_sweep


@pytest.fixture(autouse=True)
def no_kept_times(monkeypatch):
    """Times of stand-ins for the solver, or of a busy moment, are kept for no other test."""
    monkeypatch.setattr(kept_times, "_folder", lambda: None)


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


@pytest.fixture(scope="session")
def map_of_postures():
    """A small map about a double root; not to be changed."""
    axes = [
        sweeps.linspace("theta_2", 65, 85, 5, unit="degree"),
        sweeps.linspace("theta_3", -76, -56, 5, unit="degree"),
    ]
    return sweeps.run(sweeps.Sweep("example:three_link_industrial", axes, num_modes=3, name="map"))


@pytest.fixture(scope="session")
def thickness():
    """Two theories along one axis; not to be changed."""
    axes = [sweeps.geomspace("thickness_factor", 1, 100, 5)]
    options = {
        "theories": ["timoshenko", "euler_bernoulli"],
        "num_modes": 3,
        "outputs": ["difference_to_euler_bernoulli"],
    }
    return sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, **options))
