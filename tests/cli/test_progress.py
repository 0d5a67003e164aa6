"""Do long commands say where they stand, and what is kept when they are stopped?"""

import importlib
import io
import re
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import jaxmodal as jm
import sweeps
from design_opt.commands.optimise import progress_text
from design_opt.evaluation.evaluator import Report
from design_opt.problem.designs import OWN
from design_opt.problem.files import read_problem
from design_opt.solvers.recording import Progress, worst_posture
from jaxmodal.cli import compiling
from jaxmodal.cli.compiling import late_progress
from jaxmodal.runtime.statuses import Status
from tests.support.commands import run_command

SWEEP = """
arm = "example:two_link_flexible"
num_modes = 1
[[axes]]
parameter = "theta_2"
unit = "degree"
linspace = { start = 0, stop = 90, num = 6 }
"""


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_pipe_gets_a_line_every_ten_seconds(capsys):
    clock = Clock()
    lines = compiling.Lines("steps", clock)
    for second in range(36):
        clock.now = float(second)
        lines(f"steps: {second} of 36")
    said = capsys.readouterr().err.splitlines()
    assert said == [f"steps: {k} of 36, {k} s" for k in (10, 20, 30)]


def test_it_is_said_while_no_step_ends_and_what_is_compiled(capsys, monkeypatch):
    clock = Clock()
    watch = compiling.Watch(Console(file=io.StringIO()), clock)
    monkeypatch.setattr(compiling, "_current", watch)
    with compiling.Lines("setting up", clock) as lines:
        clock.now = 10.0
        lines.tick()
        lines("step 1")
        watch.began(compiling.EVENTS + "backend_compile_duration", 0.0, fun_name="jit_searched")
        clock.now = 20.0
        lines.tick()
        watch.tick()
    said = capsys.readouterr().err.splitlines()
    assert said == ["setting up, 10 s", "step 1, 20 s; compiling searched ..., 10 s"]
    assert watch.console.file.getvalue() == ""  # not twice
    watch.tick()
    assert watch.console.file.getvalue() == "compiling searched ..., 10 s\n"


def test_a_step_that_takes_long_is_waited_for_with_a_line(capfd, monkeypatch):
    monkeypatch.setattr(compiling, "EVERY", 0.0)
    said = threading.Event()
    monkeypatch.setattr(
        compiling,
        "print",
        lambda *text, **options: said.set() if text[0].startswith("cells") else None,
        raising=False,
    )
    with compiling.Lines("cells"):
        assert said.wait(60.0)


def test_commands_that_take_long_use_it(capsys, monkeypatch):
    monkeypatch.setattr(compiling, "EVERY", 0.0)
    with late_progress("arms solved") as advance:
        advance(3, 7)
    assert re.search(r"arms solved: 3 of 7, about \d+ s left", capsys.readouterr().err)


def test_a_stopped_sweep_says_what_is_kept_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    real = sweeps.run

    def stopped(definition, place, *, progress, **options):
        def then_stop(done, total):
            progress(done, total)
            if done >= 4:
                raise KeyboardInterrupt

        return real(definition, place, progress=then_stop, **options)

    arguments = ["sweep", "run", "sweep.toml", "--no-plot", "--chunk-cells", "2"]
    monkeypatch.setattr(sweeps, "run", stopped)
    result = run_command(*arguments)
    assert result.exit_code == 130
    assert "4 of 6 cells are kept in sweep.zarr; the same command goes on" in result.stderr
    assert result.stdout == ""
    monkeypatch.setattr(sweeps, "run", real)
    result = run_command(*arguments)
    assert result.exit_code == 0
    assert "computed 2 of 6 cells" in result.stdout


@pytest.mark.parametrize(
    ("violation", "words"), [(0.0, "all limits kept"), (0.02, "violation 2.0e-02")]
)
def test_an_optimisation_speaks_of_its_own_quantities(violation, words):
    problem, _ = read_problem("example:three_link_lightest")
    (part,) = problem.objectives
    (name,) = problem.used_sets
    worst = worst_posture(
        SimpleNamespace(
            hz={OWN: np.array([[5.0]]), name: np.array([[6.0], [4.8651], [7.0]])}, lowest_mode=1
        )
    )
    of_steps = (np.array([part.sign * 98.7654]), np.array([[4.8651, 30.0]]))
    text = progress_text(problem, Progress(0, 4, 1.0, violation, 1e-3, *of_steps, worst))
    second = "(-150°, -145.2°)"
    assert text.startswith(
        f"start 1, iteration 5: total mass [kg] 98.765, least f1 4.8651 Hz at {second}; "
    )
    assert words in text


@pytest.mark.parametrize("feasible", [False, True])
def test_a_stopped_optimisation_says_what_is_kept(tmp_path, monkeypatch, feasible):
    problem, _ = read_problem("example:three_link_lightest")
    (name,) = problem.used_sets
    y = np.full(problem.space.size, 0.5)
    (part,) = problem.objectives
    hz = {name: np.array([[6.0], [4.8651]])}
    report = Report(y, hz, [np.array([[part.sign * 98.7654]])], [], 1.0, 0.0)

    def stopped(problem, *, progress, checkpoint, **options):
        best = report if feasible else None
        checkpoint.write_text("{}")
        progress(Progress(0, 4, 1.0, 0.0, 1e-3, report.objectives, hz[name], None, best))
        return SimpleNamespace(status=Status.interrupted)

    monkeypatch.setattr(importlib.import_module("design_opt.solvers.optimise"), "optimise", stopped)
    stem = tmp_path / "light"
    result = run_command("optimise", "example:three_link_lightest", "--out", stem)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert f"kept in {stem}.checkpoint.json, the same command goes on" in result.stderr
    saved = tmp_path / "light_arm.toml"
    assert saved.exists() == feasible
    if feasible:
        assert (
            f"is in {saved}: total mass [kg] 98.765, least f1 4.8651 Hz at (-150" in result.stderr
        )
        depth = float(jm.read_arm(saved).links[0].section.depth)
        assert depth == pytest.approx(0.5 * (0.08 + 0.25), rel=1e-12)
    else:
        assert "No design that keeps all limits is known yet" in result.stderr
