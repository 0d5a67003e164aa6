"""Do long commands say where they stand, and what is kept when they are stopped?"""

from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import sweeps
from design_opt.commands.optimise import progress_text
from design_opt.problem.files import read_problem
from design_opt.solvers.recording import Progress
from jaxmodal.cli import compiling
from jaxmodal.cli.commands import main
from jaxmodal.cli.output import progress_after

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
    lines = compiling.Lines(clock)
    for second in range(36):
        clock.now = float(second)
        lines(f"steps: {second} of 36")
    said = capsys.readouterr().err.splitlines()
    assert said == [f"steps: {k} of 36, {k} s" for k in (10, 20, 30)]


def test_commands_that_take_long_use_it(capsys, monkeypatch):
    monkeypatch.setattr(compiling, "EVERY", 0.0)
    with progress_after(1.0, "arms solved") as advance:
        advance(3, 7)
    assert "arms solved: 3 of 7" in capsys.readouterr().err


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
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 130
    assert "4 of 6 cells are kept in sweep.zarr; the same command goes on" in result.stderr
    assert result.stdout == ""
    monkeypatch.setattr(sweeps, "run", real)
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert "computed 2 of 6 cells" in result.stdout


@pytest.mark.parametrize(
    ("violation", "words"), [(0.0, "all limits kept"), (0.02, "violation 2.0e-02")]
)
def test_an_optimisation_speaks_of_its_own_quantities(violation, words):
    problem, _ = read_problem("example:three_link_lightest")
    (part,) = problem.objectives
    step = Progress(
        0, 4, 1.0, violation, 1e-3, np.array([part.sign * 98.7654]), np.array([[4.8651, 30.0]])
    )
    text = progress_text(SimpleNamespace(objectives=problem.objectives), step)
    assert text.startswith("start 1, iteration 5: total mass [kg] 98.765, least f1 4.8651 Hz; ")
    assert words in text
