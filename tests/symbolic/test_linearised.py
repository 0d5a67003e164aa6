"""Are the written matrices of small motions those that `jaxmodal.dynamics.linearise` computes?"""

import numpy as np
import pytest

from jaxmodal.dynamics import linearise
from jaxmodal.symbolic import function, linearised_equations, operation_counts
from tests.support.symbolic_arms import PAPER, USUAL, arm_with_everything, states


@pytest.mark.parametrize(
    "posed",
    [
        pytest.param(posed, marks=() if posed == USUAL else pytest.mark.slow, id=str(posed))
        for posed in (USUAL, PAPER, ("full", "linear", True))
    ],
)
@pytest.mark.parametrize(("deflections", "rates"), [(False, False), (True, False), (True, True)])
def test_matrices(posed, deflections, rates):
    model = arm_with_everything().posed(*posed)
    written = linearised_equations(model, deflections=deflections, rates=rates)
    q, rate, _ = (vector[0] for vector in states(model, 1))
    q[model.layout.modal] *= deflections
    rate = rate * rates
    found, expected = function(written)(q, rate), linearise(model, q, rate)
    for name, value in zip("MDKG", expected[:4], strict=True):
        value = np.asarray(value)
        # entries differ by their units: each is compared with what its row and column have
        rows, columns = np.abs(value).max(axis=1), np.abs(value).max(axis=0)
        scale = np.sqrt(np.outer(rows, columns)) if name != "G" else np.ones(value.shape)
        assert np.all(np.abs(found[name] - value) <= 1e-12 * scale + 1e-300), name


def test_a_posture_depends_on_the_joint_angles_alone():
    written = linearised_equations(arm_with_everything().posed(*PAPER))
    kinds = {name: written.symbols[name].kind for name in written.used}
    state = {name for name, kind in kinds.items() if kind != "constant"}
    assert state == {"theta_1", "theta_2"}
    moving = linearised_equations(arm_with_everything().posed(*PAPER), deflections=True, rates=True)
    assert operation_counts(written).total < 0.3 * operation_counts(moving).total
