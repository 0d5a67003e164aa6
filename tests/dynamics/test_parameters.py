"""Are forces a matrix times parameters, of the rank known, and do noisy forces give the parameters back?"""

import dataclasses

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import inverse_dynamics
from jaxmodal.dynamics.parameters import identify, parameter_names, parameters, regressor
from tests.support.dynamics_cases import VARIANTS, model_of

RNG = np.random.default_rng(4)
MOTION = RNG.uniform(-1, 1, (3, 40, 6)) * np.array([1, 1, 0.02, 0.02, 0.02, 0.02])
#: ranks without and with gravity of an independent implementation: two links, two modes each
RANKS = {"full_rotation": (22, 25), "full_linear": (23, 26), "first_linear": (21, 24)}
#: in those there is no friction; two columns each of viscous and dry friction are ours
FRICTION = 4


def model_for(variant, weight=0.0):
    model = model_of("P1").posed(*VARIANTS[variant])
    return dataclasses.replace(model, gravity=np.array([0.0, -weight]))


@pytest.mark.parametrize(
    "variant",
    [
        "full_rotation",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("full_linear", "first_linear")),
    ],
)
def test_forces_are_linear_and_the_ranks_are_known(variant):
    for weight, rank in zip((0.0, 9.81), RANKS[variant], strict=True):
        model = model_for(variant, weight)
        table = np.asarray(regressor(model, *MOTION))
        forces = np.asarray(inverse_dynamics(model, *MOTION))
        assert table.shape == (40, 6, len(parameter_names(model)))
        gap = np.abs(table @ parameters(model) - forces).max()
        assert gap < 1e-13 * np.abs(forces).max()
        assert identify(table, forces).rank == rank + FRICTION


def test_friction_of_joints_is_a_parameter():
    """What is refused is damping that is none: with friction of joints alone the forces are met, to rounding."""
    model = model_for("full_rotation", 9.81)
    damping = np.zeros((6, 6))
    driven = model.layout.driven
    damping[driven, driven] = [0.3, 0.7]
    model = dataclasses.replace(model, damping=damping, coulomb=np.array([0.2, 0.1]))
    table = np.asarray(regressor(model, *MOTION))
    forces = np.asarray(inverse_dynamics(model, *MOTION))
    assert np.abs(table @ parameters(model) - forces).max() < 1e-13 * np.abs(forces).max()


def test_noisy_forces_give_the_base_parameters_within_their_intervals():
    """95 % of the true combinations lie within; of 26 at least 21 do with a chance beyond 0.999."""
    model = model_for("full_rotation", 9.81)
    table = np.asarray(regressor(model, *MOTION))
    exact = table @ parameters(model)
    noise = 1e-3 * RNG.standard_normal(exact.shape)
    found = identify(table, exact + noise)
    inside = np.abs(found.base @ parameters(model) - found.estimates) < found.half_widths
    assert inside.sum() >= found.rank - 6
    fitted = table @ found.values - exact
    assert np.sqrt(np.mean(fitted**2)) < 1e-3


def test_intervals_of_few_forces_hold_as_often_as_they_say():
    """95 % of the intervals, from one force more than parameters as from many."""
    rng = np.random.default_rng(5)
    for rows in (3, 5, 40):
        table = rng.standard_normal((rows, 2))
        inside = []
        for noise in rng.standard_normal((2000, rows)):
            found = identify(table, table @ [1.0, -2.0] + noise)
            inside.append(abs(found.base @ [1.0, -2.0] - found.estimates) < found.half_widths)
        assert abs(np.mean(inside) - 0.95) < 0.015


def test_arguments_that_are_none():
    model = model_for("full_rotation")
    with pytest.raises(jm.ArmError, match="the last axis must have 6 entries"):
        regressor(model, np.zeros(6), np.zeros(6), np.zeros(5))
    with pytest.raises(jm.ArmError, match="one for each row"):
        identify(np.zeros((3, 2)), np.zeros(4))
    with pytest.raises(jm.ArmError, match="must be more"):
        identify(np.eye(2), np.zeros(2))
