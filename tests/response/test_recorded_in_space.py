"""Planar arms as arms in space, beside numbers that the planar rooms of an earlier commit (289678a) gave.

They were recorded by the planar code of that commit before arms in space had responses, statics or loads: responses
between ports, damped roots, compliances, equilibria and critical factors of three damped arms in two theories.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm

RECORDED = json.loads((Path(__file__).parent.parent / "data/planar_responses.json").read_text())
CASES = [(name, theory) for name in RECORDED for theory in ("timoshenko", "euler_bernoulli")]


def numbers(entry):
    if isinstance(entry, dict):
        return np.array(entry["re"]) + 1j * np.array(entry["im"])
    return np.array(entry)


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request):
    name, theory = request.param
    entry = RECORDED[name]
    arm = jm.to_spatial(jm.arm_from_dict(entry["arm"]))
    return arm, theory, {key: numbers(x) for key, x in entry[theory].items()}, entry["load_factor"]


def loads(factor):
    return {
        "gravity": (0.0, -9.81 * factor, 0.0),
        "tip_force": (20.0 * factor, 30.0 * factor, 0.0),
    }


def near(found, truth, tolerance=1e-12):
    """To a share of the largest of what belongs together."""
    np.testing.assert_allclose(found, truth, rtol=0, atol=tolerance * np.max(np.abs(truth)))


def test_responses(case):
    """To 1e-12 of each pair's largest: the frequencies lie between modes, where nothing is ill-conditioned."""
    arm, theory, truth, _ = case
    outputs = ["tip.x", "tip.y", "tip.rz", "joint_2.y"]
    found = jm.frequency_response(arm, truth["omega"], ["tip.x", "tip.y"], outputs, theory=theory)
    for own, expected in zip(
        np.asarray(found.values).reshape(8, -1), truth["response"].reshape(8, -1), strict=True
    ):
        near(own, expected)


def test_damped_roots(case):
    """Those of motions in the plane are among those of the arm in space, which has others out of it."""
    arm, theory, truth, _ = case
    found = np.asarray(jm.damped_modes(arm, 12, theory=theory).roots)
    for root in truth["damped"]:
        assert np.min(np.abs(found / root - 1.0)) < 1e-12


def test_statics(case):
    arm, theory, truth, factor = case
    three = ["tip.x", "tip.y", "tip.rz"]
    compliance = np.asarray(jm.static_compliance(arm, three, three, theory=theory).values)
    near(compliance, truth["compliance"])
    rest = jm.static_equilibrium(arm, theory=theory, **loads(factor), stations=[0.0, 1.0])
    near(rest.tip_displacement[[0, 1, 5]], truth["tip"])
    near(rest.joint_torque, truth["torque"])
    near(rest.bending_moment[..., 1], truth["moment"])


@pytest.mark.parametrize(
    "case",
    [
        # the fast ones are of three links and of springs
        pytest.param(x, marks=() if x[1] == "timoshenko" and x[0] != "two" else pytest.mark.slow)
        for x in CASES
    ],
    indirect=True,
    ids="-".join,
)
def test_buckling(case):
    """Of five factors the last is the first in the plane, where one is."""
    arm, theory, truth, factor = case
    found = jm.buckling(arm, 5, theory=theory, **loads(factor))
    flat = np.abs(found.displacement[..., 2]).max(axis=(1, 2)) < 1e-6
    pressed = truth["buckling"][np.isfinite(truth["buckling"])][
        :1
    ]  # inf: nothing buckles in the plane
    np.testing.assert_allclose(found.factors[flat][: pressed.size], pressed, rtol=1e-12, atol=0)
    assert pressed.size or not flat.any()
