"""Random arms in space against an independent finite-element model: frequencies and counts."""

import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial import finite_elements
from tests.spatial.cases import references
from tests.spatial.random_arms import random_arm

CLOSE = 1e-11


@pytest.mark.parametrize("name", ["S08", "S12", "S13", "S17"])
def test_the_finite_elements_are_a_witness(name):
    """They give the reference frequencies of springs, hinges, a rotor and axially rigid links by themselves."""
    case = references()[name]
    found = finite_elements.frequencies(case.document, case.theory)[: len(case.omega)]
    np.testing.assert_allclose(found, case.omega, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize(
    "seeds", [range(10), pytest.param(range(10, 25), marks=pytest.mark.slow, id="more")]
)
def test_frequencies_of_random_arms(seeds):
    for seed in seeds:
        document, theory = random_arm(seed, 3)
        expected = finite_elements.frequencies(document, theory, 14)[:8]
        result = jm.natural_frequencies(jm.arm_from_dict(document), 8, theory=theory)
        np.testing.assert_allclose(
            np.asarray(result.omega), expected, rtol=CLOSE, err_msg=str(seed)
        )


def compare_counts(seeds, arms_links):
    """Counts at random frequencies below the 13th mode beside those of the finite elements: how many there were."""
    counted = 0
    for seed in seeds:
        document, theory = random_arm(seed, arms_links)
        modes = finite_elements.frequencies(document, theory, 12)[:13]
        trials = np.random.default_rng(seed).uniform(0.3 * modes[0], modes[-1], 6)
        clear = np.min(np.abs(trials[:, None] / modes - 1.0), axis=1) > 1e-6
        found = jm.count_below(jm.arm_from_dict(document), trials[clear], theory=theory)
        expected = np.searchsorted(np.sort(modes), trials[clear])
        np.testing.assert_array_equal(np.asarray(found), expected, err_msg=str(seed))
        counted += int(np.sum(clear))
    return counted


def test_counts_of_random_arms():
    assert compare_counts(range(100, 110), 3) > 53


def test_elastic_bases():
    """With stiffnesses that couple all six directions, below arms of every theory."""
    for seed in range(50, 54):
        document, theory = random_arm(seed, 3)
        rng = np.random.default_rng(seed)
        scales = 10.0 ** np.array([*rng.uniform(5, 7, 3), *rng.uniform(3, 5, 3)])
        matrix = np.eye(6) + 0.15 * rng.normal(size=(6, 6))
        stiffness = np.sqrt(scales)[:, None] * (matrix @ matrix.T) * np.sqrt(scales)
        document["base_stiffness"] = (0.5 * (stiffness + stiffness.T)).tolist()
        expected = finite_elements.frequencies(document, theory, 14)[:8]
        result = jm.natural_frequencies(jm.arm_from_dict(document), 8, theory=theory)
        np.testing.assert_allclose(
            np.asarray(result.omega), expected, rtol=CLOSE, err_msg=str(seed)
        )


@pytest.mark.slow
def test_counts_of_many_random_arms():
    """Three hundred arms, each at six frequencies."""
    assert compare_counts(range(1000, 1300), 4) > 1770
