"""A shard that ends the processes that compute it is given up after some, with claims and dask; the rest goes on."""

import json
import os
import signal
import time

import jax
import pytest

import sweeps
import sweeps.store.dataset
import sweeps.store.grid as grids
from sweeps.store import zarr_store
from sweeps.store.attempts import MOST, GivenUpError
from sweeps.store.claim_files import CLAIMS, given_up, last_number
from sweeps.store.executors import Failed, InProcess
from tests.support import synthetic_cells
from tests.support.commands import sweep_command
from tests.support.small_sweeps import CHUNK_CELLS, FORKED, contents, pinned_commit, small_sweep

pytestmark = pytest.mark.usefixtures("one_commit")

#: the shard that ends processes, of five
ENDS = 3
SHORT = sweeps.Claims(0.1)


def claims_of_the_dead(path, number):
    """A store as so many processes leave it that have ended at one shard, nothing else computed."""
    zarr_store.open_store(path, small_sweep(), CHUNK_CELLS)
    (path / CLAIMS).mkdir()
    for claim in range(number):
        (path / CLAIMS / f"{ENDS}.{claim}").write_text("a process that has ended")


def test_claims_on_a_shard_count_the_processes_that_ended():
    names = ["3.0", "3.1", "13.4", "33.2", "probe-3.4", "3.1.partial"]
    assert [last_number(names, shard) for shard in (3, 13, 33, 1)] == [1, 4, 2, -1]
    assert given_up(names) == {13}


def test_as_long_as_few_processes_have_ended_the_next_one_tries(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "a.zarr"
    claims_of_the_dead(path, MOST - 1)
    sweeps.run(small_sweep(), path, share=SHORT)
    assert contents(path) == uninterrupted


def test_a_shard_that_ended_too_many_is_given_up_and_the_rest_goes_on(
    synthetic, uninterrupted, tmp_path
):
    path = tmp_path / "a.zarr"
    claims_of_the_dead(path, MOST)
    with pytest.raises(sweeps.StoreError) as error:
        sweeps.run(small_sweep(), path, share=SHORT)
    text = str(error.value)
    assert "1 of 5 shards could not be computed" in text
    assert f"shard {ENDS}, cells {ENDS} x 0 to 2: GivenUpError: {MOST} processes ended" in text
    assert "with claims only those that ended no processes; a run without claims tries all" in text
    assert zarr_store.stored(path).missing() == [ENDS]
    assert synthetic == [3, 3] * 4

    # it is recorded: the next process does not wait for a lease to pass
    start = time.monotonic()
    with pytest.raises(sweeps.StoreError, match="1 of 5 shards could not be computed"):
        sweeps.run(small_sweep(), path, share=sweeps.Claims(600.0))
    assert time.monotonic() - start < 60.0
    assert synthetic == [3, 3] * 4

    line = f"given up: shard {ENDS}, with each of which {MOST} processes ended"
    status = sweep_command("status", path)
    assert line in status.output
    assert status.exit_code == 1
    assert json.loads(sweep_command("status", path, "--format", "json").output)["given_up"] == [
        ENDS
    ]

    sweeps.run(small_sweep(), path)  # without claims it is tried
    assert contents(path) == uninterrupted
    assert "given up" not in sweep_command("status", path).output


class Ending(InProcess):
    """As dask ends where a shard has ended the workers that had it."""

    def run(self, task, shards):
        yield from super().run(task, (k for k in shards if k != ENDS))
        yield ENDS, Failed(GivenUpError())


def test_what_dask_gives_up_is_recorded_as_well(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "a.zarr"
    with pytest.raises(sweeps.StoreError, match=f"{MOST} processes ended one after the other"):
        sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS, executor=Ending())
    assert f"given up: shard {ENDS}, " in sweep_command("status", path).output
    with pytest.raises(sweeps.StoreError, match="1 of 5 shards could not be computed"):
        sweeps.run(small_sweep(), path, share=sweeps.Claims(600.0))
    sweeps.run(small_sweep(), path)
    assert contents(path) == uninterrupted


def test_a_store_without_claims_gives_nothing_up(synthetic):
    with pytest.raises(sweeps.StoreError, match=f"{MOST} processes ended one after the other"):
        sweeps.run(
            small_sweep(), "memory://ending.zarr", chunk_cells=CHUNK_CELLS, executor=Ending()
        )
    assert zarr_store.state_of("memory://ending.zarr").given_up == ()


def ends_at_one_shard(path):
    """A process that the system kills at one of the shards."""
    jax.config.update("jax_enable_x64", True)
    sweeps.store.dataset._commit = pinned_commit

    def solve_cells(sweep, theory, values):
        if values["link2.joint_angle"][0] > 3.0:  # the last of five
            os.kill(os.getpid(), signal.SIGKILL)
        return synthetic_cells.solve_cells(sweep, theory, values)

    grids.solve_cells = solve_cells
    try:
        sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS, share=sweeps.Claims(0.3))
    except sweeps.StoreError:
        raise SystemExit(2) from None


@pytest.mark.slow
def test_a_shard_that_kills_its_processes_ends_so_many_and_no_more(synthetic, tmp_path):
    path, codes = tmp_path / "a.zarr", []
    while 2 not in codes:
        assert len(codes) < 2 * MOST
        process = FORKED.Process(target=ends_at_one_shard, args=(path,))
        process.start()
        process.join(timeout=120)
        codes.append(process.exitcode)
    assert codes == [-signal.SIGKILL] * MOST + [2]
    state = zarr_store.state_of(path)
    assert (state.missing, state.given_up) == (1, (4,))
