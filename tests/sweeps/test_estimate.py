"""How long `jaxmodal sweep plan` says a sweep takes: what is timed, and what follows from it."""

import json
import math
import subprocess
import sys
import types

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from sweeps.commands.estimate import Estimate, estimate, path_text, time_text, workers_lines
from sweeps.store import first_chunk, kept_times
from sweeps.store.grid import make_grid
from tests.support.commands import run_command

ARM = jm.examples.two_link_flexible()
FOLDER = kept_times._folder  # before a fixture replaces it


class Machine:
    """A clock on which a call takes so long besides its cells, each cell so long; what all share comes first.

    Programs are made with the first call of each size in ``makes``. Other work holds every call up by ``others``.
    """

    def __init__(self, monkeypatch, each, besides=0.0, begin=0.0, makes=(), others=1.0, cores=1):
        self.clock = self.used = 0.0
        self.programs, self.calls = 0, []
        makes = set(makes)

        def solve(sweep, part):
            cells = math.prod(s.stop - s.start for s in part)
            seconds = besides + each * cells + (0.0 if self.calls else begin)
            if cells in makes:
                makes.remove(cells)
                self.programs, seconds = self.programs + 1, seconds + 20.0
            self.calls.append(cells)
            self.clock += others * seconds
            self.used += cores * seconds

        clock = {"perf_counter": lambda: self.clock, "process_time": lambda: self.used}
        monkeypatch.setattr(first_chunk, "time", types.SimpleNamespace(**clock))
        monkeypatch.setattr(first_chunk, "compute_block", solve)
        monkeypatch.setattr(first_chunk, "programs_begun", lambda: self.programs)


def of_cells(cells):
    return sweeps.Sweep(ARM, [sweeps.linspace("link1.length", 0.4, 1.0, cells)], num_modes=2)


def measured(cells, chunk=None):
    sweep = of_cells(cells)
    return first_chunk.measured(sweep, make_grid(sweep, chunk))


def test_a_small_sweep_is_solved_whole(monkeypatch):
    machine = Machine(monkeypatch, each=0.01, begin=3.0)
    found = measured(50)
    assert machine.calls == [1, 1, 50]
    assert (found.cells, found.seconds) == (50, pytest.approx(0.5))
    assert found.chunk_seconds == pytest.approx(0.5)
    assert found.begin == pytest.approx(3.01)


@pytest.mark.parametrize("besides", [0.0, 0.4])
def test_of_slow_cells_a_second_is_enough(monkeypatch, besides):
    """What a call takes besides its cells counts once in a chunk, not for every cell."""
    machine = Machine(monkeypatch, each=0.25, besides=besides)
    found = measured(10_000, 64)
    assert machine.calls == [1, 1, 4]
    assert found.chunk_seconds == pytest.approx(besides + 64 * 0.25)
    assert machine.used < 3.0 + 3 * besides


def test_a_first_cell_that_takes_long_is_enough(monkeypatch):
    machine = Machine(monkeypatch, each=7.0)
    assert measured(10_000, 64).chunk_seconds == pytest.approx(64 * 7.0)
    assert machine.calls == [1, 1]


def test_calls_that_make_programs_belong_to_the_beginning(monkeypatch):
    machine = Machine(monkeypatch, each=1e-5, besides=0.02, makes=[1, 24, 65_536])
    found = measured(1_000_000)
    assert machine.calls.count(24) == machine.calls.count(65_536) == 2
    assert found.cells == 65_536
    assert found.seconds == found.chunk_seconds == pytest.approx(0.02 + 0.65536)
    assert found.begin == pytest.approx(60.0, abs=2.0)


@pytest.mark.parametrize(("others", "cores", "seconds"), [(6.0, 1, 0.5), (0.5, 1, 0.25)])
def test_other_work_on_the_machine_is_not_counted(monkeypatch, others, cores, seconds):
    """By the clock where several cores share the work, else what the processors took."""
    Machine(monkeypatch, each=0.01, others=others, cores=cores)
    assert measured(50).seconds == pytest.approx(seconds)


def test_a_gpu_works_while_the_processors_wait(monkeypatch):
    monkeypatch.setattr(first_chunk, "is_gpu", lambda _: True)
    Machine(monkeypatch, each=0.01, others=6.0)
    assert measured(40).seconds == pytest.approx(
        6.0 * 0.32
    )  # by the clock, half a second is enough


def test_all_cells_take_as_long_as_those_that_were_timed(monkeypatch):
    Machine(monkeypatch, each=0.5, begin=2.0)
    sweep = of_cells(1000)
    found = estimate(sweep, make_grid(sweep, 100), started=1.5)
    assert found.computing == pytest.approx(500.0)
    assert found.begin == pytest.approx(1.5 + 2.0 + 0.5)
    assert found.total == found.begin + found.computing
    assert (found.measured_cells, found.measured_seconds) == (4, pytest.approx(2.0))
    assert found.drawn
    large = sweeps.Sweep(
        ARM, [sweeps.linspace(name, 0.1, 1, 10_000) for name in ("theta_2", "payload.mass")]
    )
    assert not estimate(large, make_grid(large)).drawn


def test_what_it_says():
    found = Estimate(
        begin=5.0, computing=16.0, measured_cells=4, measured_seconds=1.26, cores=2, drawn=True
    )
    assert time_text(found) == (
        "time: about 21 s on 2 cores, and pictures: 5 s to begin, and all cells as the first 4, which took 1.3 s here"
    )
    alone = Estimate(0.0, 3660.0, 1, 2.0, 1, False)
    assert time_text(alone) == (
        "time: about 1 h 1 min on 1 core: 0 s to begin, and all cells as the first, which took 2 s here"
    )
    assert workers_lines(found, 1, 10) == []
    (line,) = workers_lines(found, 4, 10)  # three of ten shards at most
    assert line == (
        f"workers: 4 of 2 cores each take about 10 s, {(5.0 + 4.8) * 8 / 3600:.3g} core-hours in all"
    )


@pytest.fixture
def kept_in(monkeypatch, tmp_path):
    """Times are kept in a folder of the test."""
    monkeypatch.setattr(kept_times, "_folder", lambda: tmp_path / "kept")
    (tmp_path / "kept").mkdir()
    return tmp_path / "kept"


def test_times_are_kept_for_the_same_definition(monkeypatch, kept_in):
    machine = Machine(monkeypatch, each=0.25)
    first = measured(10_000, 64)
    asked = len(machine.calls)
    assert measured(10_000, 64) == first._replace(earlier=True)
    assert len(machine.calls) == asked
    for other in ((9_000, 64), (10_000, 32)):  # another sweep, other chunks
        assert not measured(*other).earlier
    assert not measured(50).earlier  # of one chunk
    assert measured(50).earlier
    assert len(list(kept_in.iterdir())) == 4


def test_times_of_other_versions_or_cores_are_not_taken(monkeypatch, kept_in):
    Machine(monkeypatch, each=0.25)
    measured(10_000, 64)
    now = kept_times.provenance()
    for name in ("jaxmodal_version", "jax_version", "device"):
        with monkeypatch.context() as other:
            other.setattr(kept_times, "provenance", lambda name=name: now | {name: "another"})
            assert not measured(10_000, 64).earlier
    with monkeypatch.context() as other:
        other.setattr(kept_times, "available_cores", lambda: 1000)
        assert not measured(10_000, 64).earlier
    assert measured(10_000, 64).earlier


def test_times_that_cannot_be_read_or_kept_are_measured_anew(monkeypatch, kept_in):
    Machine(monkeypatch, each=0.25)
    found = measured(10_000, 64)
    (file,) = kept_in.iterdir()
    numbers = ("[NaN, 1, 2, 3]", "[1, Infinity, 2, 3]", f"[1, 2, 3, {10**400}]")
    for text in ("", "[1, 2", "[1, 2]", '["a", 1, 2, 3]', "7", '{"a": 1}', *numbers):
        file.write_text(text)
        assert measured(10_000, 64) == found, text
    assert measured(10_000, 64).earlier
    monkeypatch.setattr(kept_times, "_folder", lambda: kept_in / "none")
    assert measured(10_000, 64) == measured(10_000, 64) == found


def test_times_with_compilation_are_not_kept(monkeypatch, kept_in):
    """Later processes find the programs in the cache and begin sooner."""
    Machine(monkeypatch, each=0.25)
    written = iter([0, 3, 3, 3])
    monkeypatch.setattr(first_chunk, "programs_written", lambda: next(written))
    assert not measured(10_000, 64).earlier
    assert not measured(10_000, 64).earlier
    assert measured(10_000, 64).earlier


@pytest.mark.parametrize(
    ("folder", "allowed", "kept"),
    [("a", True, True), ("a", False, False), ("gs://a", True, False), (None, True, False)],
)
def test_times_are_kept_where_programs_are_on_disk(monkeypatch, folder, allowed, kept):
    monkeypatch.setattr(
        kept_times, "_settings", types.SimpleNamespace(jax_compilation_cache_dir=folder)
    )
    monkeypatch.setattr(kept_times, "allowed", lambda: allowed)
    assert (FOLDER() is not None) == kept


def thousand_million(folder):
    """The file of a sweep of so many cells."""
    angles = "linspace = { start = 0.1, stop = 1, num = 1000 }"
    parameters = ("theta_2", "payload.mass", "link1.length")
    axes = (f'[[axes]]\nparameter = "{name}"\n{angles}\n' for name in parameters)
    file = folder / "s.toml"
    file.write_text('arm = "example:two_link_flexible"\nnum_modes = 2\n' + "".join(axes))
    return file


def plan(*arguments):
    answer = run_command("sweep", "plan", *arguments)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_a_plan_without_timing_solves_nothing_and_says_what_it_does_not_know(
    monkeypatch, tmp_path, kept_in
):
    machine, file = Machine(monkeypatch, each=1e-6), thousand_million(tmp_path)
    text = plan(file, "--no-timing", "--workers", 16)
    assert "shards: about 30 s each, at most 10000 files\n" in text
    assert "in memory with a store: one shard, at most 500 MB\n" in text
    assert text.endswith("time: not known, no cells of it were timed here; leave --no-timing out\n")
    values = json.loads(plan(file, "--no-timing", "--format", "json"))
    missing = ("shards", "files", "bytes_in_memory", "seconds")
    assert [values[name] for name in missing] == [None] * 4
    assert values["chunks"]["number"] == 16_000
    assert "shards: 1000000 of 1 x 1 x 1000 cells" in plan(
        file, "--no-timing", "--shard-cells", 1000
    )
    assert machine.calls == []
    plan(file)
    machine.calls.clear()
    assert plan(file, "--no-timing").endswith("s here earlier\n")
    assert json.loads(plan(file, "--no-timing", "--format", "json"))["seconds"]["earlier"]
    assert machine.calls == []


def test_what_follows_from_the_definition_is_told_before_cells_are_timed(monkeypatch, tmp_path):
    told = []

    def solve(sweep, part):
        raise sweeps.SweepError(f"told before: {told}")

    monkeypatch.setattr(first_chunk, "compute_block", solve)
    monkeypatch.setattr("click.echo", lambda line, **_: told.append(line.partition(":")[0]))
    answer = run_command("sweep", "plan", thousand_million(tmp_path))
    assert answer.exit_code == 2
    assert told[-4:] == ["theories", "outputs", "cells", "path"]


def test_the_plan_of_a_thousand_million_cells_makes_no_array_of_them(
    monkeypatch, tmp_path, kept_in
):
    machine = Machine(monkeypatch, each=1e-6)
    file = thousand_million(tmp_path)
    answer = run_command("sweep", "plan", file, "--format", "json")
    assert answer.exit_code == 0, answer.output
    said = json.loads(answer.stdout)
    assert said["cells"] == 10**9
    assert said["seconds"]["computing"] == pytest.approx(1000.0, rel=1e-6)
    assert said["seconds"]["measured_cells"] == math.prod(said["chunks"]["shape"])
    assert said["files"] <= 10_000
    machine.calls.clear()
    again = run_command("sweep", "plan", file)
    assert again.stdout.rstrip().endswith("s here earlier")
    shards = f"shards: {said['shards']['number']} of {' x '.join(map(str, said['shards']['shape']))} cells"
    assert shards in again.stdout
    assert machine.calls == []


def test_cells_are_solved_and_timed_as_they_will_be():
    """An arm in space, for which nothing is compiled: the whole of its one chunk."""
    arm = jm.to_spatial(ARM)
    sweep = sweeps.Sweep(arm, [sweeps.linspace("theta_2", 0, 90, 5, unit="degree")], num_modes=2)
    found = estimate(sweep, make_grid(sweep))
    assert (found.measured_cells, found.drawn) == (5, True)
    assert found.computing == found.measured_seconds > 0.0


def leaning():
    six = jm.examples.six_axis_industrial()
    tool = six.links[-1].replace(supports=(jm.Support("translation", (0, 0, 1), 1e6),))
    return six.replace(links=(*six.links[:-1], tool))


LEANING = leaning()


@pytest.mark.parametrize(
    ("arm", "axes", "words"),
    [
        (
            ARM,
            {"theta_2": 500, "payload_mass": 500},
            "posture series, a table of 9 terms (angles of joint 2; payload.mass, 3 each)",
        ),
        (ARM, {"link1.length": 500, "theta_2": 9}, "no polynomial of few terms in link1.length"),
        (ARM, {"payload_mass": 9}, "9 cells do not pay for a table of 3 terms, 1500 do"),
        (
            jm.examples.six_axis_industrial(),
            {"link2.joint_angle": 90, "link3.joint_stiffness": 90},
            "posture series, a table of 18 terms",
        ),
        (
            LEANING,
            {"link2.joint_angle": 30, "link6.support1.stiffness": 30},
            "a table of 26 terms (angles of joint 2; link6.support1.stiffness, 2 each)",
        ),
        (
            jm.examples.six_axis_industrial(),
            {f"link{k}.joint_angle": 9 for k in (2, 3, 4, 5)},
            "4 angles have 6561 terms, more than a table has in space",
        ),
        (
            jm.examples.six_axis_industrial(),
            {"link1.joint_angle": 9},
            "no frequency depends on what varies",
        ),
        (
            jm.set_parameters(jm.examples.three_link_industrial(), {"link2.joint_stiffness": 0.0}),
            {"theta_3": 3000},
            "arms with a free joint",
        ),
    ],
)
def test_it_says_which_path_the_cells_take_and_why(arm, axes, words):
    spans = [sweeps.linspace(name, 0.1, 0.3, size) for name, size in axes.items()]
    assert words in path_text(sweeps.Sweep(arm, spans, num_modes=2))


IN_A_NEW_PROCESS = """
import json, sys
from benchmarks.memory import peak_resident_bytes
from jaxmodal.cli.commands import main
main(["sweep", "plan", sys.argv[1], "--no-timing"], standalone_mode=False)
heavy = ("xarray", "pandas", "zarr", "dask", "distributed", "matplotlib")
print(json.dumps([peak_resident_bytes(), [name for name in heavy if name in sys.modules]]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/status is of Linux")
def test_a_plan_of_which_no_cell_is_timed_is_light(tmp_path):
    """300 MB are asked for; JAX alone takes 150."""
    command = [sys.executable, "-c", IN_A_NEW_PROCESS, str(thousand_million(tmp_path))]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, heavy = json.loads(answer.stdout.splitlines()[-1])
    assert heavy == []
    assert peak < 300e6


def test_it_names_what_varies_together():
    """A tensor that grows fivefold, of which no component alone could."""
    six, size = jm.examples.six_axis_industrial(), np.linspace(1.0, 5.0, 50)
    lowest = {"mass": 10.0, "inertia.xx": 0.12, "inertia.yy": 0.16, "inertia.zz": 0.16}
    columns = [sweeps.axis(f"payload.{name}", low * size) for name, low in lowest.items()]
    load = sweeps.zipped(*columns, name="load")
    sweep = sweeps.Sweep(six, [load, sweeps.linspace("theta_3", 0.1, 0.3, 100)], num_modes=2)
    others = ", ".join(f"payload.inertia.{moment}" for moment in ("xx", "yy", "zz"))
    words = f"a table of 63 terms (angles of joint 3; payload.mass with {others}, 7 each)"
    assert words in path_text(sweep)
    with pytest.raises(sweeps.SweepError, match=r"payload.inertia.xx = -0.12: must be 0 or more"):
        sweeps.Sweep(six, [sweeps.axis("payload.inertia.xx", [-0.12, 0.1]), columns[2]])
