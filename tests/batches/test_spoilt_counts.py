"""A float64 count that rounding may have spoilt is no proof, at whichever end of a bracket it was taken."""

import dataclasses

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.batches import kernels

CELLS, MODES, MODE = 24, 4, 1
#: the root that the spoilt evaluations of one cell show beside the true one, relative: within the width of brackets
DISPLACED = 1.5e-8
#: what such an evaluation says of its rounding: far more than the distance to the mode
DOUBT = 1e12


@pytest.fixture
def cells():
    arm = jm.examples.three_link_industrial()
    rng = np.random.default_rng(7)
    angles = {f"link{k}.joint_angle": rng.uniform(0.4, 1.2, CELLS) for k in (2, 3)}
    parameters = angles | {"payload.mass": np.zeros(CELLS)}  # keeps the posture series out
    return arm, parameters, jm.natural_frequencies_batch(arm, parameters, MODES)


def spoil(monkeypatch, spoilt):
    """Let ``spoilt(value, omega, chosen)`` change float64 evaluations of the batch, of shape (modes or 1, cells)."""
    genuine, called = kernels.evaluate, []

    def evaluate(beams, theory, omega, arithmetic, *more):
        value = genuine(beams, theory, omega, arithmetic, *more)
        if arithmetic is not Arithmetic.float64:
            return value
        changed, where = spoilt(value, omega)
        called.append(bool(np.any(where)))
        return changed

    monkeypatch.setattr(kernels, "evaluate", evaluate)
    return called


def assert_right(result, arm, parameters, truth):
    """What is certified encloses its mode by the counts that it states, those in double-double, and is as it was."""
    certified = np.asarray(result.certified)
    for cell in range(CELLS):
        one = jm.set_parameters(arm, {name: float(x[cell]) for name, x in parameters.items()})
        ends = np.asarray(result.bracket)[cell, MODE]
        if certified[cell, MODE]:
            assert np.asarray(jm.count_below(one, ends)).tolist() == [MODE, MODE + 1], cell
            stated = result.count_below[cell, MODE], result.count_above[cell, MODE]
            assert stated == (MODE, MODE + 1), cell
    apart = np.abs(np.asarray(result.omega) / np.asarray(truth.omega) - 1.0)
    assert (apart[certified] < 1e-12).all()


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_root_that_rounding_displaces_is_not_certified_where_one_end_is_in_doubt(
    cells, monkeypatch, end
):
    """Sign, count and modulus of D agree with each other on a wrong root: only their own doubts tell, at one end."""
    arm, parameters, truth = cells
    cell = 5
    own = float(truth.omega[cell, MODE])
    false = own * (1.0 + DISPLACED)

    def displaced(value, omega):
        near = np.abs(omega / own - 1.0) < 1e-4
        # of the chosen cell alone: no other has this mode there, see below
        with np.errstate(divide="ignore"):
            shift = np.log(np.abs(omega - false)) - np.log(np.abs(omega - own))
        between = near & (omega > own) & (omega < false)
        doubtful = near & ((omega < false) if end == "lower" else (omega > false))
        return (
            dataclasses.replace(
                value,
                count=np.where(between, MODE, value.count),
                sign=np.where(between, (-1.0) ** MODE, value.sign),
                log_abs=np.where(near, value.log_abs + shift, value.log_abs),
                noise=np.where(doubtful, DOUBT, value.noise),
            ),
            near,
        )

    others = np.delete(np.asarray(truth.omega), cell, axis=0)
    assert (np.abs(others / own - 1.0) > 2e-4).all()
    called = spoil(monkeypatch, displaced)
    result = jm.natural_frequencies_batch(arm, parameters, MODES)
    assert any(called)
    assert_right(result, arm, parameters, truth)


@pytest.mark.parametrize(
    ("end", "by"),
    [
        *(("lower", -2), ("upper", 2)),  # no sign tells these two from right ones
        *(
            pytest.param(end, by, marks=pytest.mark.slow)
            for end, by in (("lower", -1), ("upper", 1), ("lower", 1), ("upper", -1))
        ),
        *(
            pytest.param(end, by, marks=pytest.mark.slow)
            for end, by in (("lower", 2), ("upper", -2))
        ),
    ],
)
def test_a_count_that_its_sign_or_the_other_end_contradicts_certifies_nothing(
    cells, monkeypatch, end, by
):
    arm, parameters, truth = cells
    cell = 5
    own = float(truth.omega[cell, MODE])

    def miscounted(value, omega):
        near = np.abs(omega / own - 1.0) < 1e-4
        near = near & ((omega < own) if end == "lower" else (omega > own))
        return dataclasses.replace(value, count=value.count + np.where(near, by, 0)), near

    called = spoil(monkeypatch, miscounted)
    result = jm.natural_frequencies_batch(arm, parameters, MODES)
    assert any(called)
    assert_right(result, arm, parameters, truth)
