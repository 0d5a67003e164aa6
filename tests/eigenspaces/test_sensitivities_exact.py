"""Is every derivative that of the beam equations in 40 digits? Beyond the cut-off and with soft joints, too."""

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.support import exact_derivatives
from tests.support.problems import ORACLE, problems

EXACT = 1e-10
"""Of the largest logarithmic derivative of the mode: rounding of the shapes, mixed by near neighbours."""

PROVEN = 1e-20
"""The reference frequencies have 22 digits."""


def industrial():
    return jm.examples.three_link_industrial().with_posture([0.8, -0.5]).with_payload(3.0, 0.1)


def flexible():
    """A soft base and a soft elbow, thickness factors, another theory's parameters."""
    arm = jm.examples.two_link_flexible(25.0).with_posture([1.1])
    return jm.set_parameters(arm, {"link1.joint_stiffness": 1e5, "link2.joint_stiffness": 2e3})


def cases():
    """Name, arm, shapes of its sections, theory, and the modes that are checked."""
    hollow, raw = ["hollow_rectangle"] * 3, lambda name: ["raw"] * len(problems()[name].arm.links)
    yield "industrial", industrial(), hollow, "timoshenko", (0, 1, 4, 7)
    yield "industrial", industrial(), hollow, "rayleigh", (0, 3)
    yield "flexible", flexible(), ["rectangle"] * 2, "timoshenko", (0, 2, 4)
    for name, modes in {
        "P12": (0, 5, 11),  # bending only
        "P19": (0, 12, 29),  # far beyond the cut-off
        "P28": (0, 1, 11),  # Euler-Bernoulli, joints of 1e-3 N m/rad
        "P31": (0, 1, 9),  # soft base and elbow
    }.items():
        problem = problems()[name]
        yield name, problem.arm, raw(name), problem.model, modes


CASES = [pytest.param(*case[1:], id=f"{case[0]}-{case[3]}") for case in cases()]


@pytest.mark.parametrize(("arm", "shapes", "theory", "modes"), CASES)
def test_every_derivative_against_forty_digits(arm, shapes, theory, modes):
    exact_derivatives.assert_sensitivities(arm, shapes, theory, modes, ORACLE, EXACT)


def test_the_cut_off_is_passed():
    """The last mode of P19 lies above the cut-off of both links."""
    problem = problems()["P19"]
    for link in problem.entry["links"]:
        cut_off = np.sqrt(link["kG"] * link["A"] / (link["rho"] * link["I"]))
        assert problem.omega[-1] > 1.8 * cut_off


@pytest.mark.parametrize("name", ["P08", "P12", "P19", "P28", "P31"])
def test_the_reference_model_has_the_reference_frequencies(name):
    """Its determinant vanishes at the proven frequencies to their last digit, and knows no others nearby."""
    problem = problems()[name]
    shapes = ["raw"] * len(problem.arm.links)
    for mode in (0, problem.num_modes - 1):
        exact, _ = exact_derivatives.frequency_and_derivatives(
            problem.arm, shapes, problem.model, problem.omega[mode]
        )
        with mpmath.workdps(40):
            proven = 2 * mpmath.pi * mpmath.mpf(problem.digits[mode])
            assert abs(exact / proven - 1) <= PROVEN
