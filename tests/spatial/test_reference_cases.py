"""19 arms in space and their 246 frequencies, known to 22 digits, through the public calls."""

from functools import cache

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.eigenspaces.null_spaces import equilibration
from jaxmodal.runtime.namespace import to_host
from jaxmodal.spatial.modes.conditions import conditions
from jaxmodal.spatial.modes.fields import arm_fields
from jaxmodal.spatial.modes.modal_model import modal_model
from tests.spatial.cases import references

NAMES = list(references())
EXACT = 1e-15
"""Relative: the digits of double precision; what is asked for is 1e-12."""
GROUPED = 1e-12


@cache
def solved(name):
    case = references()[name]
    return to_host(
        jm.natural_frequencies(case.arm, len(case.omega), theory=case.theory, throw=False)
    )


@pytest.mark.parametrize("name", NAMES)
def test_frequencies_multiplicities_certificates(name):
    case, result = references()[name], solved(name)
    omega = np.asarray(result.omega)
    np.testing.assert_allclose(omega, case.omega, rtol=EXACT, atol=0.0)
    assert np.all(np.asarray(result.certified)), np.asarray(result.status)
    np.testing.assert_array_equal(np.asarray(result.multiplicity), case.multiplicities)
    hertz = [float(text) for text in case.entry["f_hz"]]
    np.testing.assert_allclose(np.asarray(result.frequencies_hz), hertz, rtol=2 * EXACT, atol=0.0)


@pytest.mark.parametrize("name", NAMES)
def test_determinant_changes_sign_with_that_of_all_conditions_on_the_fields(name):
    """The same arm put down another way: 12 constants for each link, and what joints and tips ask of them."""
    case = references()[name]
    positive = case.omega[case.omega > 0.0][:8]
    apart = np.diff(positive) > 1e-6 * positive[1:]
    between = np.sqrt(positive[:-1] * positive[1:])[apart]
    omega = np.concatenate([[0.7 * positive[0]], between])
    model = case.arm.model(case.theory)
    modal, signs = modal_model(model), []
    fields = arm_fields(modal, omega, np.array([0.0, 1.0]))
    given = fields[:, :, 0], fields[:, :, 1]
    sizes = conditions(modal, omega, *(np.abs(x) for x in given), sizes=True)
    for size, matrix in zip(sizes, conditions(modal, omega, *given), strict=True):
        rows, columns = equilibration(size)
        signs.append(np.linalg.slogdet(rows[:, None] * matrix * columns)[0])
    for arithmetic in (Arithmetic.float64, Arithmetic.double_double):
        found = model.evaluate(omega, arithmetic)
        assert np.ptp(found.sign * signs) == 0.0
        np.testing.assert_array_equal(found.sign, (-1.0) ** found.count)
    assert np.ptp(signs) == 2.0 or np.all(np.diff(found.count) % 2 == 0)


@pytest.mark.parametrize("name", NAMES)
def test_counts_between_and_beside_the_frequencies(name):
    case = references()[name]
    positive = case.omega[case.omega > 0.0]
    zeros = case.omega.size - positive.size
    starts = np.concatenate([[True], np.diff(positive) > 1e-8 * positive[1:]])
    beside = np.concatenate([positive[starts] * (1.0 - 1e-11), [positive[0] * 1e-3]])
    expected = np.searchsorted(positive, beside) + zeros
    np.testing.assert_array_equal(jm.count_below(case.arm, beside, theory=case.theory), expected)
    certificate = jm.certify(case.arm, positive, theory=case.theory)
    assert certificate.ok


@pytest.mark.parametrize("name", ["S06", "S13"])
def test_band_and_lists_with_errors(name):
    case = references()[name]
    low, high = case.omega[3] * 0.9999, case.omega[8] * 1.0001
    inside = jm.frequencies_in_band(case.arm, low, high, theory=case.theory)
    assert inside.first_mode == 4
    np.testing.assert_allclose(inside.omega, case.omega[3:9], rtol=EXACT)
    missing = np.delete(case.omega, 4)
    found = np.asarray(jm.certify(case.arm, missing, theory=case.theory).certified)
    np.testing.assert_array_equal(found, np.arange(missing.size) < 4)


def test_repeated_frequencies_without_symmetry_are_one_group():
    """S19 is a posture at which two modes coincide, isolated in two angles."""
    result = solved("S19")
    np.testing.assert_array_equal(np.asarray(result.group)[:4], [0, 1, 2, 2])
    bracket = np.asarray(result.bracket)[2]
    assert bracket[1] - bracket[0] <= 2.001 * GROUPED * bracket[1]
