"""Margins at the arm's own posture, which an angle as a variable moves, of links in several pieces, and under loads."""

import numpy as np
import pytest

import jaxmodal as jm
from design_opt import BucklingLimit, FrequencyLimit, MinimiseMass, Problem, Variable
from design_opt.evaluation.evaluator import Evaluator

LEAST = 2.0
ACROSS = -20.0
"""A force at the tip that bends and presses, N."""


def angled_arm(pieces):
    link = jm.Link(
        1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.04, 0.85), poisson_ratio=0.3, joint_stiffness=2e4
    )
    arm = jm.Arm((link.replace(joint_angle=1.2), link.replace(joint_angle=0.3)), jm.Payload(2.0))
    return arm if pieces == 1 else jm.attach_body(arm, 1, 0.5, 1.0)


@pytest.mark.parametrize(
    ("pieces", "postures"), [(1, "own"), pytest.param(2, "few", marks=pytest.mark.slow)]
)
def test_buckling_is_that_of_the_posture(pieces, postures):
    """Against `jm.buckling` of the arm with the angle, and differences of it."""
    arm = angled_arm(pieces)
    address = f"link{arm.joints[1]}.joint_angle"
    variables = [Variable(address, -1.5, 1.5), Variable("link1.section.depth", 0.01, 0.04)]
    limit = BucklingLimit(LEAST, tip_force_x=ACROSS, postures=postures)
    few = {"few": [[0.6], [-0.4]]}
    problem = Problem(arm, variables, MinimiseMass(), [limit], postures=few)
    evaluator = Evaluator(problem)

    def truth(y):
        posed = [problem.space.arm_at(y)]
        if postures == "few":
            posed = [posed[0].with_posture(row) for row in few["few"]]
        load = {"gravity": (0.0, -9.80665), "tip_force": (ACROSS, 0.0)}
        return np.array([1.0 - LEAST / float(jm.buckling(x, 1, **load).factors[0]) for x in posed])

    at = np.array([0.35, 0.4])
    found = evaluator.linearise(at)
    assert found.inequalities == pytest.approx(truth(at), abs=1e-10)
    for k, step in enumerate(1e-4 * np.eye(2)):
        difference = (truth(at + step) - truth(at - step)) / 2e-4
        assert found.inequality_rates[:, k] == pytest.approx(difference, abs=1e-5)


@pytest.mark.parametrize("postures", [pytest.param("own", marks=pytest.mark.slow), "few"])
def test_loads_press_anew_in_each_posture(postures):
    """Frequencies against those of the arm in each posture, and differences of them."""
    arm = angled_arm(1).replace(loads=jm.Loads(gravity=9.81, tip_force_x=ACROSS, pieces=2))
    variables = [
        Variable("link2.joint_angle", -1.5, 1.5),
        Variable("link1.section.depth", 0.01, 0.04),
        Variable("payload.mass", 1.0, 5.0),
    ]
    limit = FrequencyLimit(1, at_least_hz=2.0, postures=postures)
    few = {"few": [[0.6], [-0.4]]}
    problem = Problem(arm, variables, MinimiseMass(), [limit], postures=few)

    def truth(y):
        posed = [problem.space.arm_at(y)]
        if postures == "few":
            posed = [posed[0].with_posture(row) for row in few["few"]]
        return np.array([float(jm.natural_frequencies(x, 1).frequencies_hz[0]) for x in posed])

    at, evaluator = np.array([0.35, 0.4, 0.5]), Evaluator(problem)
    found = evaluator.linearise(at)
    margins = found.inequalities.reshape(len(truth(at)), -1)
    assert margins[:, 0] == pytest.approx(truth(at) / 2.0 - 1.0, abs=1e-10)
    rates = found.inequality_rates.reshape(*margins.shape, 3)[:, 0]
    step = 1e-4 * np.array([0.5, 0.7, -0.6])  # all at once: an error of any shows
    difference = (truth(at + step) - truth(at - step)) / 4e-4
    assert rates @ (step / 1e-4) == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize("stands_on", ["base", pytest.param("support", marks=pytest.mark.slow)])
def test_springs_to_the_ground_stay_where_they_are_when_a_set_turns_the_arm(stands_on):
    """Frequencies in each posture and differences of them; the angle that varies is one that the set replaces."""
    arm = angled_arm(1)
    if stands_on == "support":
        arm = arm.replace(links=(arm.links[0], arm.links[1].replace(support_y_stiffness=3e4)))
    else:
        arm = arm.replace(base_stiffness=[[3e5, -8e4, 4e3], [-8e4, 2e5, 9e3], [4e3, 9e3, 5e3]])
    variables = [Variable("link1.joint_angle", -1.5, 1.5), Variable("payload.mass", 1.0, 5.0)]
    limit = FrequencyLimit(1, at_least_hz=20.0, postures="few")
    few = {"few": [[0.2, 0.6], [-0.5, -0.4]]}
    problem = Problem(arm, variables, MinimiseMass(), [limit], postures=few)

    def truth(y):
        posed = [problem.space.arm_at(y).with_posture(row) for row in few["few"]]
        return np.array([float(jm.natural_frequencies(x, 1).frequencies_hz[0]) for x in posed])

    at = np.array([0.35, 0.5])
    found = Evaluator(problem).linearise(at)
    margins, rates = found.inequalities.reshape(2, -1), found.inequality_rates.reshape(2, -1, 2)
    assert margins[:, 0] == pytest.approx(truth(at) / 20.0 - 1.0, abs=1e-10)
    step = 1e-4 * np.array([0.7, 0.6])  # both at once: of the angle there must be nothing
    difference = (truth(at + step) - truth(at - step)) / 4e-3
    assert rates[:, 0] @ (step / 1e-4) == pytest.approx(difference, abs=1e-7)
    assert np.all(rates[:, 0, 0] == 0.0)
    assert np.abs(difference).min() > 1e-3
