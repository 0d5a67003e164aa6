"""Is the motion that of an independent, geometrically exact code, to the square of the deflections or better?

What compiles: one integration with fixed steps. Exudyn is optional.
"""

import importlib.util

import numpy as np
import pytest
import scipy.linalg

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, inertia_matrix, link_positions, simulate
from tests.support import exudyn_arm
from tests.support.dynamics_cases import uniform_link

TIMES = np.linspace(0.0, 1.0, 101)
LENGTH, BENDING, LINE_MASS = 0.5, 0.2, 0.2


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("exudyn") is None,
    reason="Exudyn is not installed: pip install exudyn",
)
def test_a_released_arm_moves_as_in_exudyn():
    """Two links on free hinges in a horizontal plane, released in the shape of their lowest elastic mode, 1 s.

    At end deflections of 4 and 2 % of the link the tip paths differ by less than 0.1 % of the arm's length, and the
    difference shrinks at least with the square of the amplitude.
    """
    arm = jm.Arm((uniform_link(LENGTH, BENDING, LINE_MASS),) * 2)
    model = flexible_arm(arm, 4, shapes="polynomial")
    posture = np.zeros(model.num_coordinates)
    posture[:2] = 0.2, 0.7
    mass = np.asarray(inertia_matrix(model, posture))
    mode = scipy.linalg.eigh(np.asarray(model.stiffness), mass)[1][:, 2]  # two turn rigidly
    ends = np.sum(np.asarray(model.tip) * mode[2:].reshape(2, 4), axis=1)
    mode *= LENGTH / np.abs(ends).max()
    gaps = []
    for amplitude in (0.04, 0.02):
        q = posture + amplitude * mode
        found = simulate(model, TIMES, q, method="rk4", step=2e-4)
        assert found.attrs["energy_balance_error"] < 1e-5
        link = (LENGTH, BENDING, LINE_MASS, 1e5)
        path = exudyn_arm.tip_path([link] * 2, _starts(model, q), TIMES)
        gap = np.hypot(*(found["tip_position"].values - path).T)
        gaps.append(gap.max() / (2.0 * LENGTH))
    print(f"tip paths differ by {gaps[0]:.1e} and {gaps[1]:.1e} of the arm's length")
    assert max(gaps) < 1e-3
    assert 3.5 < gaps[0] / gaps[1] < 9.0  # 4 and 8: the square and the cube


def _starts(model, q):
    """Each link's bent line as functions of its station: positions, and directions of unit length."""
    positions = np.asarray(link_positions(model, q))
    xi = np.linspace(0.0, 1.0, positions.shape[1])

    def line(points):
        fits = [np.polynomial.Polynomial.fit(xi, points[:, axis], 12) for axis in (0, 1)]

        def start(stations):
            places = np.stack([fit(stations) for fit in fits], axis=-1)
            along = np.stack([fit.deriv()(stations) for fit in fits], axis=-1)
            return places, along / np.hypot(*along.T)[:, None]

        return start

    return [line(points) for points in positions]
