"""How long `jaxmodal sweep plan` says a sweep takes: what is timed, and what follows from it."""

import pytest

import jaxmodal as jm
import sweeps
from jaxmodal.batches.plan import FEW
from sweeps.commands import estimate as estimates
from sweeps.commands.estimate import Estimate, estimate, path_text, time_text

ARM = jm.examples.two_link_flexible()


@pytest.fixture
def clock(monkeypatch):
    """A clock on which every solved cell takes a second, and all else nothing; it lists the cells of each call."""
    solved = []

    class Counting:
        def solve(self, values):
            solved.append(values.shape[-1])

    monkeypatch.setattr(estimates, "plan_of", lambda *_: Counting())
    monkeypatch.setattr(estimates, "_slowness", lambda: 1.0)

    def seconds(call):
        before = sum(solved)
        call()
        return float(sum(solved) - before)

    monkeypatch.setattr(estimates, "_time", seconds)
    return solved


def of_cells(cells, address="link1.length"):
    return sweeps.Sweep(ARM, [sweeps.linspace(address, 0.4, 1.0, cells)], num_modes=2)


@pytest.mark.parametrize("cells", [3, 700, FEW])
def test_what_numpy_solves_is_timed_as_it_is(clock, cells):
    found = estimate(of_cells(cells))
    assert found.computing == pytest.approx(estimates._START + cells)
    assert found.compiling == 0.0
    assert max(clock) <= 1024


def test_programs_are_faster_and_compiled_once(clock, tmp_path, monkeypatch):
    """Both theories share their programs; the cache is asked for files of their kind."""
    monkeypatch.setattr(estimates, "available_cores", lambda: 4)
    monkeypatch.setattr(estimates, "_cache_folder", lambda: str(tmp_path))
    cells = 4 * FEW
    axes = [sweeps.linspace("link1.length", 0.4, 1.0, cells)]
    two = sweeps.Sweep(ARM, axes, theories=["timoshenko", "rayleigh"], num_modes=2)
    one, both = estimate(of_cells(cells)), estimate(two)
    assert (
        one.compiling == both.compiling == estimates._SEARCH.compiling / estimates._MOST_COMPILERS
    )
    shared = cells / estimates._SEARCH.gain / 4
    assert one.computing == pytest.approx(estimates._START + estimates._SEARCH.tracing + shared)
    assert both.computing - one.computing == pytest.approx(shared)
    assert not one.compiled
    assert one.total == pytest.approx(one.computing + one.drawing + one.compiling)
    (tmp_path / "jit_searched-0123-cache").touch()
    kept = estimate(of_cells(cells))
    assert kept.compiled
    assert kept.total == pytest.approx(kept.computing + kept.drawing)


def test_what_it_says():
    slow = Estimate(computing=5.0, compiling=16.0, drawing=2.0, cores=2, compiled=False)
    assert time_text(slow) == (
        "time: about 23 s on 2 cores, 2 s of them for pictures and 16 s to compile programs, which are kept"
    )
    warm = Estimate(computing=5.0, compiling=16.0, drawing=2.0, cores=1, compiled=True)
    assert time_text(warm) == (
        "time: about 7 s on 1 core, 2 s of them for pictures; 16 s more if its programs are not in the cache"
    )
    assert "1 h 1 min on" in time_text(Estimate(3660.0, 0.0, 0.0, 2, True))


def test_an_arm_in_space_is_timed_by_its_own_cells(monkeypatch):
    """Its cells are solved for it in NumPy: some, spread over the sweep."""
    seen = []
    solve = estimates.PlanInSpace.solve

    def watched(plan, values):
        seen.append(values.shape[1])
        return solve(plan, values)

    monkeypatch.setattr(estimates.PlanInSpace, "solve", watched)
    arm = jm.to_spatial(ARM)
    sweep = sweeps.Sweep(arm, [sweeps.linspace("theta_2", 0, 90, 50, unit="degree")], num_modes=2)
    found = estimate(sweep)
    assert seen == [17, 17, 49]
    assert found.computing > estimates._START * 0.01
    assert found.compiling == 0.0


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
