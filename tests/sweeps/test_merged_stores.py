"""Stores of parts of a sweep joined into one, and the commands of sweeps that several processes share."""

import os
import sys

import pytest
from numcodecs.zstd import Zstd

import sweeps
import sweeps.store.grid as grids
from sweeps.store import packing, zarr_store
from sweeps.store.merge import merge
from tests.support import synthetic_cells
from tests.support.commands import sweep_command
from tests.support.small_sweeps import CHUNK_CELLS, contents, small_sweep

pytestmark = pytest.mark.usefixtures("one_commit")


@pytest.fixture
def parts(synthetic, uninterrupted, tmp_path):
    paths = [tmp_path / f"part{number}.zarr" for number in (1, 2, 3)]
    for number, path in enumerate(paths, start=1):
        share = sweeps.Part(number, 3)
        sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS, share=share)
    synthetic.clear()
    return paths


def test_merged_parts_are_a_whole_run(parts, synthetic, uninterrupted, tmp_path):
    path = tmp_path / "merged.zarr"
    assert merge(path, parts[:2]) == (4, 1, 5)
    assert "not finished" in sweeps.open_result(path).attrs["certificate_summary"]
    assert merge(path, parts) == (1, 0, 5)
    assert contents(path) == uninterrupted
    assert merge(path, parts) == (0, 0, 5)
    assert merge(parts[0], parts[1:]) == (3, 0, 5)  # into one of them
    assert contents(parts[0]) == uninterrupted
    assert synthetic == []


def test_a_merge_that_was_interrupted_goes_on(parts, uninterrupted, tmp_path):
    path = tmp_path / "merged.zarr"
    merge(path, parts)
    for key in ("zarr.json", "progress/zarr.json", "theta_2/c/0", "status/c.0.1.0.0"):
        before = (path / key).read_bytes()
        (path / key).unlink()
        if key.startswith("status"):  # its mark is written after the data
            (path / "progress/shard_record/c.1.0").unlink()
        assert merge(path, parts)[1:] == (0, 5)
        assert (path / key).read_bytes() == before
    assert contents(path) == uninterrupted


def test_parts_that_do_not_belong_together_are_refused(parts, synthetic, tmp_path):
    path, other, cut = (tmp_path / f"{name}.zarr" for name in ("merged", "other", "cut"))
    share = sweeps.Part(2, 3)
    sweeps.run(small_sweep(num_modes=3), other, chunk_cells=CHUNK_CELLS, share=share)
    sweeps.run(small_sweep(), cut, chunk_cells=6, share=share)
    for wrong, words in (
        (other, r"other.zarr: .*\n.*num_modes: 3 in the store, 2 in store .*part1.zarr"),
        (cut, r"chunk_shape\[1\]: 2 in the store, 1 in store (.|\n)*give the same shard_cells"),
        (tmp_path / "none.zarr", "none.zarr: there is no store of a sweep"),
    ):
        with pytest.raises(sweeps.StoreError, match=words):
            merge(path, [parts[0], wrong])
    assert not path.exists()
    with pytest.raises(sweeps.StoreError, match="num_modes: 3 in the store, 2 in store"):
        merge(other, parts)


def test_a_shard_with_two_values_is_refused(parts, synthetic, tmp_path, monkeypatch):
    def solve_cells(sweep, theory, values):
        return synthetic_cells.solve_cells(sweep, theory, {k: v + 0.1 for k, v in values.items()})

    monkeypatch.setattr(grids, "solve_cells", solve_cells)
    path, other = tmp_path / "merged.zarr", tmp_path / "other.zarr"
    sweeps.run(small_sweep(), other, chunk_cells=CHUNK_CELLS, share=sweeps.Part(2, 3))
    with pytest.raises(sweeps.StoreError, match=r"shard 1 has other values than in store .*part2"):
        merge(path, [*parts, other])
    assert not path.exists()


def test_shards_that_another_version_of_zstd_has_packed_are_the_same(
    parts, uninterrupted, tmp_path, monkeypatch
):
    """Their bytes differ, and so their records; their values do not."""
    other = tmp_path / "other.zarr"
    monkeypatch.setattr(packing, "_ZSTD", Zstd(level=-100))
    sweeps.run(small_sweep(), other, chunk_cells=CHUNK_CELLS, share=sweeps.Part(2, 3))
    assert contents(other)["status/c.0.1.0.0"] != uninterrupted["status/c.0.1.0.0"]
    assert merge(tmp_path / "merged.zarr", [*parts, other]) == (5, 0, 5)
    assert contents(tmp_path / "merged.zarr") == uninterrupted


def test_damaged_data_are_not_merged(parts, tmp_path):
    torn = parts[1] / "frequency/c.0.1.0.0"
    torn.write_bytes(torn.read_bytes()[:-3])
    with pytest.raises(sweeps.StoreError, match=r"part2\.zarr/frequency/c.0.1.0.0 is missing, cut"):
        merge(tmp_path / "merged.zarr", parts)


# ---- commands ----

SWEEP = """\
name = "small sweep"
arm = "example:two_link_flexible"
num_modes = 2
axes = [{ parameter = "theta_2", linspace = { start = 0, stop = 1, num = 5 } }]
"""


@pytest.fixture
def sweep_file(synthetic, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "s.toml"
    path.write_text(SWEEP)
    return path


def test_commands_of_parts_claims_and_merging(sweep_file, tmp_path):
    cut = ("--shard-cells", 2)
    answer = sweep_command("run", sweep_file, "--out", "one.zarr", *cut, "--part", "1/2")
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.splitlines() == [
        "part 1/2: 6 of 6 modes certified",
        "one.zarr: computed 3 of 3 cells",
    ]
    answer = sweep_command("run", sweep_file, "--out", "two.zarr", *cut, "--part", "2/2")
    assert answer.exit_code == 0, answer.output
    answer = sweep_command("status", "two.zarr")
    assert answer.exit_code == 1
    assert "shards: 1 of 3 computed, 2 to compute" in answer.stdout
    assert "modes certified: 4\nmodes not computed: 6" in answer.stdout
    answer = sweep_command("merge", "both.zarr", "two.zarr")
    assert (answer.exit_code, answer.stdout) == (
        1,
        "both.zarr: 1 of 3 shards copied, 2 to compute\n",
    )
    answer = sweep_command("merge", "both.zarr", "one.zarr", "two.zarr")
    assert (answer.exit_code, answer.stdout) == (0, "both.zarr: 2 of 3 shards copied, complete\n")
    answer = sweep_command(
        "run", sweep_file, "--out", "claimed.zarr", *cut, "--claim", "--lease", 5
    )
    assert answer.exit_code == 0, answer.output
    assert "10 of 10 modes certified\nclaimed.zarr: computed 5 of 5 cells" in answer.stdout
    assert contents(tmp_path / "claimed.zarr") == contents(tmp_path / "both.zarr")


def test_options_of_shares_that_do_not_go_together_are_refused(sweep_file, tmp_path):
    for options, words in (
        (("--part", "3/2"), "part 3/2: must be a whole number K of N"),
        (("--part", "x"), "--part x: must be K/N, from 1/N to N/N"),
        (("--part", "\u0661/\u0662"), "must be K/N"),
        (("--part", "1/2", "--claim"), "two ways to share a sweep"),
        (("--lease", "3"), "--lease: goes with --claim"),
        (("--claim", "--lease", "0"), "--lease 0.0: must be a number of seconds above 0"),
        (("--claim", "--executor", "dask"), "--claim: the scheduler of dask gives out"),
        (("--workers", "3"), "--workers 3: goes with --executor dask; leave it out"),
        (("--workers", "3", "--scheduler", "tcp://a:1"), "a scheduler has workers of its own"),
    ):
        answer = sweep_command("run", sweep_file, *options)
        assert answer.exit_code == 2, (options, answer.output)
        assert words in answer.stderr
    assert list(tmp_path.iterdir()) == [sweep_file]


def test_the_script_of_an_array_job_is_one_that_runs(sweep_file, tmp_path):
    """Its commands run under bash, with the quoting of a name that has a space, and leave a complete store."""
    answer = sweep_command(
        "script", sweep_file, "--slurm", "--out", "my arm.zarr", "--gpu", "--cpus", 4
    )
    assert answer.exit_code == 0, answer.output
    for line in (
        "#!/bin/bash",
        "#SBATCH --job-name=my_arm",
        "#SBATCH --array=1-16",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --gpus-per-task=1",
        "#SBATCH --requeue",
        f"jaxmodal sweep run {sweep_file} --out 'my arm.zarr' --claim",
    ):
        assert line in answer.stdout.splitlines()
    import subprocess

    command = f"jaxmodal() {{ '{sys.executable}' -m jaxmodal \"$@\"; }}\n{answer.stdout}"
    root = os.path.dirname(os.path.dirname(sweeps.__file__))
    environment = os.environ | {"PYTHONPATH": root}
    ran = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert zarr_store.state_of(tmp_path / "my arm.zarr").missing == 0
    refused = sweep_command("script", "none.toml", "--slurm")
    assert refused.exit_code == 2
    assert "none.toml" in refused.stderr
