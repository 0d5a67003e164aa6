"""Is the finite-element truth itself true? Held against the oracle and against its own limits."""

import itertools

import numpy as np
import pytest

from tests.support import finite_elements
from tests.support.problems import COUNT_DISTANCE, FINITE_ELEMENTS, TAGS, problems

ALL = list(problems().values())
IDS = [problem.name for problem in ALL]


def test_registry_is_complete():
    assert len(ALL) == 44
    assert sum(problem.num_modes for problem in ALL) == 812
    assert set(TAGS) == set(IDS)
    for problem in ALL:
        assert len(problem.multiplicities) == problem.num_modes
        assert np.all(np.diff(problem.omega) >= 0)
        repeated = max(problem.multiplicities) > 1
        assert repeated == (problem.tag == "repeated")


@pytest.mark.parametrize("problem", ALL, ids=IDS)
def test_frequencies_against_oracle(problem):
    omega = finite_elements.frequencies(problem.case, problem.num_modes, problem.degree)
    assert np.max(np.abs(problem.relative_error(omega))) <= FINITE_ELEMENTS


@pytest.mark.parametrize("problem", ALL, ids=IDS)
def test_sturm_count_between_the_oracle_frequencies(problem):
    omega = problem.omega
    gaps = np.flatnonzero(np.diff(omega) > 4 * COUNT_DISTANCE * omega[1:])
    chosen = gaps[np.linspace(0, len(gaps) - 1, min(6, len(gaps)), dtype=int)]
    middle = np.sqrt(omega[chosen] * omega[chosen + 1])
    counts = finite_elements.counts_below(problem.case, middle, problem.degree)
    assert counts == (chosen + 1).tolist()


@pytest.mark.parametrize("name", ["P08", "P21", "P32", "P44"])
def test_frequencies_fall_to_the_oracle_as_the_degree_grows(name):
    """A Ritz model bounds every frequency from above, and more polynomials never raise one."""
    problem = problems()[name]
    bounds = [
        finite_elements.frequencies(problem.case, problem.num_modes, degree)
        for degree in (5, 8, 12, 18)
    ]
    assert np.max(problem.relative_error(bounds[0])) > 1e-4, "degree 5 is coarse: seen at the top"
    for coarse, fine in itertools.pairwise(bounds):
        assert np.all(fine <= coarse * (1 + FINITE_ELEMENTS))
    assert np.min([problem.relative_error(bound) for bound in bounds]) >= -FINITE_ELEMENTS


@pytest.mark.parametrize("name", ["P08", "P28", "P44"])
def test_elements_and_degree_are_two_roads_to_one_answer(name):
    problem = problems()[name]
    by_degree = finite_elements.frequencies(problem.case, problem.num_modes, 40)
    by_elements = finite_elements.frequencies(problem.case, problem.num_modes, 14, elements=5)
    assert np.max(np.abs(by_elements / by_degree - 1)) <= 2 * FINITE_ELEMENTS


def test_rayleigh_lies_between_its_neighbours_and_meets_them():
    """Rotary inertia lowers Euler-Bernoulli, shear lowers Rayleigh; the oracle has no Rayleigh."""
    links = problems()["P08"].case.links

    def solve(model, **changes):
        changed = tuple(finite_elements.FELink(**{**vars(link), **changes}) for link in links)
        return finite_elements.frequencies(finite_elements.Case(changed, model), 12, 30)

    rayleigh = solve("rayleigh")
    assert np.all(solve("timoshenko") < rayleigh)
    assert np.all(rayleigh < solve("euler_bernoulli"))
    unshearable = solve("timoshenko", kG=links[0].kG * 1e13)
    assert np.max(np.abs(unshearable / rayleigh - 1)) <= 1e-12  # the shear left over: 1e-13 of 1
