"""Is the paper's model, first order with linear frames, its explicit two-link model once that is mended?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import bias, flexible_arm, inertia_matrix, stiffness
from tests.support.dynamics_cases import uniform_link
from tests.support.explicit_two_links import inertia, mended, printed_coefficients, velocity_forces

RNG = np.random.default_rng(11)


def random_arm():
    """Section VII with every parameter drawn anew, the links of different lengths."""
    l1, l2, rho1, rho2, hub, payload = RNG.uniform(0.3, 0.9, 6)
    links = (
        uniform_link(l1, 1.3, rho1, hub_inertia=0.11),
        uniform_link(l2, 0.7, rho2, hub_mass=hub, hub_inertia=0.13, joint_angle=1.0),
    )
    return jm.Arm(links, jm.Payload(payload, 0.02))


def parameters_of(arm, model):
    first, second = (float(link.mass) for link in arm.links)
    l1, l2 = (float(link.length) for link in arm.links)
    payload = float(arm.payload.mass)
    gram = np.asarray(model.gram)
    ends = payload * model.tip[1]
    return {
        "l1": l1, "l2": l2, "d2": 0.5 * l2, "m1": first, "m2": second, "mp": payload,
        "mh2": float(arm.links[1].hub_mass), "Jh1": 0.11, "Jh2": 0.13, "Jp": 0.02,
        "Jo1": first * l1**2 / 3.0, "Jo2": second * l2**2 / 3.0,
        "phi1e": model.tip[0], "dphi1e": model.tip_slope[0],
        "phi2e": model.tip[1], "dphi2e": model.tip_slope[1],
        "w1": gram[0, 1, 2:4], "v2": gram[1, 0, 2:4] - ends, "w2": gram[1, 1, 2:4] - l2 * ends,
    }  # fmt: skip


@pytest.mark.parametrize("draw", range(3))
def test_inertia_velocity_forces_and_stiffness(draw):
    arm = random_arm()
    model = flexible_arm(arm, 2, inertia_order="first", frames="linear", foreshortening=False)
    printed = printed_coefficients(parameters_of(arm, model))
    right = mended(printed)
    q = np.concatenate([RNG.uniform(-3, 3, 2), RNG.uniform(-0.2, 0.2, 4)])
    rate = RNG.uniform(-1, 1, 6)
    matrix, forces = np.asarray(inertia_matrix(model, q)), np.asarray(bias(model, q, rate))
    size = np.abs(matrix).max()
    np.testing.assert_allclose(matrix, inertia(right, q), rtol=0, atol=1e-12 * size)
    scale = size * np.sum(rate**2)
    np.testing.assert_allclose(forces, velocity_forces(right, q, rate), rtol=0, atol=1e-12 * scale)
    assert np.abs(forces - velocity_forces(printed, q, rate)).max() > 1e-4 * scale
    table = np.asarray(stiffness(model))
    np.testing.assert_allclose(
        table, np.diag(np.diag(table)), rtol=0.0, atol=1e-10 * np.abs(table).max()
    )


def test_each_misprint_counts():
    """Mending all but one of the coefficients leaves a difference."""
    arm = random_arm()
    model = flexible_arm(arm, 2, inertia_order="first", frames="linear", foreshortening=False)
    printed = printed_coefficients(parameters_of(arm, model))
    q = np.concatenate([RNG.uniform(0.5, 1, 2), RNG.uniform(0.05, 0.2, 4)])
    rate = RNG.uniform(0.5, 1, 6)
    exact = np.asarray(bias(model, q, rate))
    for name in ("h107", "h117", "h118", "h412", "h413"):
        almost = mended(printed) | {name: printed[name]}
        assert np.abs(velocity_forces(almost, q, rate) - exact).max() > 1e-6 * np.abs(exact).max()
