"""Does the optimiser find an optimum at which two frequencies coincide, and does a plain gradient method fail there?

Modes 2 and 3 of the industrial arm coincide at (75.444..., -65.990...) degrees, at a frequency known to 18 digits from
an independent search; along every direction of the two joint angles one of them falls. So this posture has the highest
second frequency of its neighbourhood.
"""

import numpy as np
import pytest

import jaxmodal as jm
from design_opt import Evaluator, MaximiseFrequency, Problem, Variable, optimise
from design_opt.solvers.cluster_conditions import cluster_optimality

ANGLES_DEG = (75.4445861562247047, -65.9908017300219814)
COINCIDENT_HZ = 36.4921356522557731
SHARPNESS = 2e4
NEAR_DEG = (75.0, -66.5)


def problem(aggregate, *, cluster, start=(70.0, -72.0)):
    (a, b) = np.deg2rad(start)
    variables = [
        Variable("link2.joint_angle", np.deg2rad(60.0), np.deg2rad(90.0), start=float(a)),
        Variable("link3.joint_angle", np.deg2rad(-80.0), np.deg2rad(-50.0), start=float(b)),
    ]
    objective = MaximiseFrequency(2, cluster=cluster)
    arm = jm.examples.three_link_industrial()
    return Problem(arm, variables, objective, aggregate=aggregate, sharpness=SHARPNESS)


@pytest.fixture(scope="module")
def smooth():
    return optimise(problem("ks", cluster=1, start=NEAR_DEG))


def test_a_smooth_aggregate_of_the_cluster_converges(smooth):
    assert smooth.status == jm.Status.converged
    assert smooth.kkt_residual < 1e-6
    # ln 2/sharpness is the most that smoothing costs; the aggregate never exceeds the least frequency
    assert smooth.aggregate_gap == pytest.approx(np.log(2.0) / SHARPNESS)
    relative = smooth.report.objectives[0] / COINCIDENT_HZ - 1.0
    assert -2.0 * smooth.aggregate_gap < relative <= 1e-13
    angles = np.rad2deg(list(smooth.values.values()))
    assert angles == pytest.approx(ANGLES_DEG, abs=0.01)
    assert smooth.certified


@pytest.mark.slow
def test_powers_aggregate_as_well(smooth):
    other = optimise(problem("pnorm", cluster=1, start=NEAR_DEG))
    assert other.status == jm.Status.converged
    assert other.report.score == pytest.approx(smooth.report.score, abs=2.0 * smooth.aggregate_gap)


def test_the_conditions_of_a_repeated_frequency_hold_there_and_not_beside(smooth):
    evaluator = smooth.evaluator
    found, clusters = cluster_optimality(evaluator, smooth.report.y, tolerance=1e-4)
    assert [cluster.modes for cluster in clusters] == [(2, 3)]
    assert found.residual < 1e-6
    beside = smooth.report.y + np.array([0.02, 0.0])
    worse, none = cluster_optimality(evaluator, beside, tolerance=1e-4)
    assert none == []
    assert worse.residual > 0.1


def test_a_single_mode_method_stalls():
    """The same solver, seeing mode 2 alone: the conditions hold nowhere on its way."""
    single = optimise(problem("bound", cluster=0), max_iterations=6)
    assert single.status in (jm.Status.stalled, jm.Status.iteration_limit)
    assert single.kkt_residual > 1e-2
    assert min(step.kkt for step in single.steps) > 1e-2


@pytest.mark.slow
def test_a_single_mode_method_needs_more_iterations_and_ends_nowhere():
    """From the same start."""
    smooth = optimise(problem("ks", cluster=1))
    single = optimise(problem("bound", cluster=0), max_iterations=50)
    assert single.status in (jm.Status.stalled, jm.Status.iteration_limit)
    assert single.kkt_residual > 1e-2
    assert len(single.steps) > len(smooth.steps)


@pytest.mark.slow
def test_plain_gradient_ascent_cycles():
    """Steps of fixed length along the gradient of mode 2 end in a zigzag about the crossing."""
    evaluator = Evaluator(problem("bound", cluster=0, start=NEAR_DEG))
    y = np.array(evaluator.problem.space.start)
    values = []
    for _ in range(17):
        slope = -evaluator.linearise(y).objective_rate
        y = np.clip(y + 0.01 * slope / np.linalg.norm(slope), 0.0, 1.0)
        values.append(evaluator.report(y).objectives[0])
    last = np.array(values[-12:])
    turns = np.sign(np.diff(last))
    assert np.sum(turns[1:] != turns[:-1]) > 6  # up and down, again and again
    assert np.ptp(last) > 1e-4 * COINCIDENT_HZ
    assert last.max() < COINCIDENT_HZ * (1.0 - 1e-6)


def test_exactly_repeated_frequencies_are_recognised_at_the_end():
    """Started at the crossing itself, the exact least frequency finds nothing better, and the conditions say why."""
    found = optimise(problem("bound", cluster=1, start=ANGLES_DEG), max_iterations=1)
    assert found.status == jm.Status.converged
    assert "repeated" in found.message
    assert found.report.objectives[0] == pytest.approx(COINCIDENT_HZ, rel=1e-9)
