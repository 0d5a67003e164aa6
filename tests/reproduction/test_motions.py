"""Do the simulated figures show what the papers' texts state, with the numbers of an independent implementation?

What compiles: one integration with fixed steps for each model, and the derivatives of the equations.
"""

from pathlib import Path

import jax
import numpy as np
import pytest
from click.testing import CliRunner

from jaxmodal.cli.commands import main
from jaxmodal.dynamics import Hold, JointPD
from jaxmodal.reproduction import motions_report, n_dof_experiment
from jaxmodal.reproduction.n_dof_experiment import RATED, Tracking, TrackingLaw, table_2_arm
from jaxmodal.reproduction.two_link_motions import FEATURES, FIGURES, Measures, run


@pytest.mark.slow
def test_figures_5_to_10_show_what_the_text_states():
    """By the paper's model; the numbers are those of an independent implementation of it."""
    runs = {figure.number: run(figure) for figure in FIGURES}
    assert all(motion.attrs["status"] == "finished" for motion in runs.values())
    measures = Measures(runs)
    for feature in FEATURES:
        assert feature.holds(feature.value(measures)), feature
    np.testing.assert_allclose(runs[5]["modal_coordinate"][-1, 0], 0.0456, rtol=0.0, atol=5e-5)
    np.testing.assert_allclose(measures.largest(5, 1), 0.103, rtol=0.0, atol=5e-4)
    np.testing.assert_allclose(measures.largest(6, 2), 0.0017, rtol=0.0, atol=5e-5)
    np.testing.assert_allclose(measures.turned(5), [0.016, 0.038], rtol=0.0, atol=5e-4)
    for number, expected in ((7, [0.0112, 0.0291]), (8, [0.0288, 1.6064])):
        np.testing.assert_allclose(runs[number]["joint_angle"][-1], expected, rtol=0.0, atol=5e-5)
    bang_bang = [measures.largest(number, 1) for number in (9, 10)]
    np.testing.assert_allclose(bang_bang, [0.48, 0.21], rtol=0.0, atol=5e-3)


@pytest.mark.slow
def test_frequencies_of_the_experiment_and_its_report(tmp_path, monkeypatch):
    """Of the sagging arm, rad/s, as an independent implementation has them; peaks of the spectrum are near."""
    # one model of the four, and the report with canned figures: the rest of the command is long
    monkeypatch.setattr(n_dof_experiment, "WAYS", n_dof_experiment.WAYS[2:3])
    found, motion = n_dof_experiment.free_vibration()
    exact, many, clamped_free = found
    np.testing.assert_allclose(exact.small, [12.550, 39.039], rtol=0.0, atol=6e-4)
    np.testing.assert_allclose(many.small, [12.181, 38.479], rtol=0.0, atol=6e-4)
    np.testing.assert_allclose(clamped_free.small, [12.785, 41.163], rtol=0.0, atol=6e-4)
    np.testing.assert_allclose(clamped_free.peaks, clamped_free.small, rtol=5e-3)
    pair = np.array([1.0, 2.0])
    tracked = Tracking("X: canned", pair, pair, pair, pair, 0.0123, 3e-4)
    text = motions_report._experiment(found, [tracked])
    assert "| X: canned | 1.00, 2.00 | 1.00, 2.00 | 1.0, 2.0 | 1.0, 2.0 | 12 | 3e-04 |" in text
    assert "| 12.785, 41.163 | +4.4 %, +0.8 % |" in text
    motions_report._draw_free_vibration(motion, tmp_path / "free.png")
    assert (tmp_path / "free.png").stat().st_size > 20_000


def test_the_tracking_law_adds_gravity_and_stops_at_its_limit():
    """What holds the rigid arm, link 2 level: masses times their distances from the joints."""
    from jaxmodal.dynamics import flexible_arm

    model = flexible_arm(table_2_arm(geared=True), 0, gravity=(0.0, -9.81))
    where = n_dof_experiment.START
    pd = JointPD(Hold(where), np.full(2, 125.0), np.full(2, 25.0))
    still = np.zeros(2)

    @jax.jit
    def torques(gain, angles):
        return TrackingLaw(pd, gain, RATED)(0.0, angles, still, model)

    held = torques(1.0, where)
    outer = 9.81 * (0.29 * 0.2175 + 0.343 * 0.435)
    inner = 9.81 * (0.374 * 0.2375 + (2.94 + 0.29 + 0.343) * 0.475) * np.cos(np.pi / 4) + outer
    np.testing.assert_allclose(held, [inner, outer], rtol=1e-12)
    off = torques(0.0, where - [0.1, 0.4])
    np.testing.assert_allclose(off, [12.5, RATED[1]], rtol=1e-12)


@pytest.mark.slow
def test_the_command_writes_the_published_report_again(tmp_path):
    """With every picture that stands beside it."""
    result = CliRunner().invoke(main, ["reproduce-motions", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    published = Path(__file__).parent.parent.parent / "results" / "dynamics"
    assert (tmp_path / "report.md").read_text() == (published / "report.md").read_text()
    assert {x.name for x in tmp_path.iterdir()} == {x.name for x in published.iterdir()}
