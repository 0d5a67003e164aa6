"""Do the simulated figures show what the papers' texts state, with the numbers of an independent implementation?

What compiles: one integration with fixed steps for each model, and the derivatives of the equations.
"""

from pathlib import Path

import jax
import numpy as np
import pytest

from benchmarks.reproduction import n_dof_experiment, two_link_motions
from benchmarks.reproduction.n_dof_experiment import (
    RATED,
    TrackingLaw,
    free_vibration,
    table_2_arm,
)
from benchmarks.reproduction.two_link_motions import FEATURES, Measures, run
from jaxmodal.dynamics import Hold, JointPD
from tests.support.commands import run_command


@pytest.mark.slow
def test_the_command_writes_the_published_report_again_and_shows_what_the_texts_state(
    tmp_path, monkeypatch
):
    """Every picture is beside the report; the numbers are those of independent implementations of the papers' models.

    They are asked of what the command computes, since the simulations take long.
    """
    runs, vibrations = {}, []

    def kept_run(figure, of_paper=True, **how):
        motion = run(figure, of_paper, **how)
        if of_paper:
            runs.setdefault(figure.number, motion)
        return motion

    def kept_vibration():
        vibrations.append(free_vibration())
        return vibrations[0]

    monkeypatch.setattr(two_link_motions, "run", kept_run)
    monkeypatch.setattr(n_dof_experiment, "free_vibration", kept_vibration)
    result = run_command("reproduce-motions", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    published = Path(__file__).parents[3] / "results" / "dynamics"
    assert (tmp_path / "report.md").read_text() == (published / "report.md").read_text()
    assert {x.name for x in tmp_path.iterdir()} == {x.name for x in published.iterdir()}
    assert (tmp_path / "free_vibration.png").stat().st_size > 20_000

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

    exact, many, _, _, clamped_free, _ = vibrations[0][0]
    np.testing.assert_allclose(exact.small, [12.550, 39.039], rtol=0.0, atol=6e-4)
    np.testing.assert_allclose(many.small, [12.181, 38.479], rtol=0.0, atol=6e-4)
    np.testing.assert_allclose(clamped_free.small, [12.785, 41.163], rtol=0.0, atol=6e-4)
    np.testing.assert_allclose(clamped_free.peaks, clamped_free.small, rtol=5e-3, atol=0.0)


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
