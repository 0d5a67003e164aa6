"""Is the motion that of an independent, geometrically exact code, to the order of the square of the deflections?

What compiles: one integration with fixed steps. Exudyn is optional.
"""

import importlib.util

import exudyn_arm
import numpy as np
import pytest
from dynamics_cases import uniform_link

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, link_positions, simulate

TIMES = np.linspace(0.0, 1.0, 101)
LENGTH, BENDING, LINE_MASS = 0.5, 1.0, 0.2


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("exudyn") is None,
    reason="Exudyn is not installed: pip install exudyn",
)
def test_a_released_arm_moves_as_in_exudyn():
    """Two links on free hinges in a horizontal plane, link 2 released deflected, 1 s.

    At tip deflections of 4 and 2 % of the link the tip paths differ by less than 0.1 % of the arm's length, and the
    difference goes with the square of the amplitude.
    """
    arm = jm.Arm((uniform_link(LENGTH, BENDING, LINE_MASS),) * 2)
    model = flexible_arm(arm, 3, shapes="polynomial", coordinates="tip_deflection")
    gaps = []
    for amplitude in (0.04, 0.02):
        # a deflection of link 2 by its own weight's shape: 6 xi^2 - 4 xi^3 + xi^4 over 3
        q = np.array([0.2, 0.7, 0.0, 0.0, 0.0, *_coordinates(model, amplitude * LENGTH)])
        found = simulate(model, TIMES, q, method="rk4", step=2.5e-4)
        assert found.attrs["status"] == "ok"
        bending = (LENGTH, BENDING, LINE_MASS, 1e6)
        path = exudyn_arm.tip_path([bending] * 2, _starts(model, q), TIMES)
        gap = np.hypot(*(found["tip_position"].values - path).T)
        gaps.append(gap.max() / (2.0 * LENGTH))
    print(f"tip paths differ by {gaps[0]:.1e} and {gaps[1]:.1e} of the arm's length")
    assert max(gaps) < 1e-3
    assert 3.0 < gaps[0] / gaps[1] < 5.5


def _coordinates(model, deflection):
    """Tip deflections per shape that give the uniformly loaded cantilever's shape, which the polynomials hold."""
    stations = np.asarray(model.stations)[1]
    xi = np.linspace(0.0, 1.0, len(stations))
    wanted = deflection * (6.0 * xi**2 - 4.0 * xi**3 + xi**4) / 3.0
    found, *_ = np.linalg.lstsq(stations[:, 2:5], wanted, rcond=None)
    np.testing.assert_allclose(stations[:, 2:5] @ found, wanted, atol=1e-14)
    return found


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
