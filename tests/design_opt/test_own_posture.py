"""Margins of statics at the arm's own posture, which an angle as a variable moves, and of links in several pieces."""

import numpy as np
import pytest

import jaxmodal as jm
from design_opt import BucklingLimit, MinimiseMass, Problem, Variable
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


@pytest.mark.parametrize(("pieces", "postures"), [(1, "own"), (2, "few")])
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
