"""All 44 arms and 812 proven frequencies through the public call."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamic_stiffness.beams import prepared_values
from jaxmodal.frequencies.programs import padded_problem, padded_size, solve_padded
from tests.support import finite_elements
from tests.support.problems import GROUPED, KNOWN_EXCEPTIONS, ORACLE, problems

ALL = list(problems().values())
IDS = [f"{problem.name}-{problem.tag}" for problem in ALL]


def padded(problem):
    """Numbers of links and modes that the compiled search of the arm makes room for."""
    return padded_size(len(problem.entry["links"]), 4, 4), padded_size(problem.num_modes, 16, 2)


@cache
def solved(name):
    """Once for all tests of a worker."""
    problem = problems()[name]
    return jm.natural_frequencies(
        problem.arm, num_modes=problem.num_modes, theory=problem.model, throw=False
    )


@pytest.mark.parametrize("problem", ALL, ids=IDS)
def test_frequencies(problem):
    result = solved(problem.name)
    omega = np.asarray(result.omega)
    assert omega.shape == (problem.num_modes,)
    assert np.all(np.diff(omega) >= 0)
    errors = np.abs(problem.relative_error(omega))
    excused = [(problem.name, k + 1) in KNOWN_EXCEPTIONS for k in range(problem.num_modes)]
    wrong = np.flatnonzero((errors > ORACLE) & ~np.array(excused))
    assert not len(wrong), {int(k) + 1: float(errors[k]) for k in wrong}
    assert np.all(np.asarray(result.certified)), np.asarray(result.status)
    assert np.array_equal(np.asarray(result.multiplicity), problem.multiplicities)
    starts = np.asarray(result.group)
    assert np.array_equal(starts, np.searchsorted(starts, starts))
    hertz = [float(text) for text in problem.digits]
    assert np.allclose(np.asarray(result.frequencies_hz), hertz, rtol=2 * ORACLE, atol=0)


@pytest.mark.parametrize("problem", ALL, ids=IDS)
def test_certificates_say_what_is_true(problem):
    """The brackets and counts of every certified mode, held against the proven frequencies."""
    result = solved(problem.name)
    omega = problem.omega
    modes = np.arange(problem.num_modes)
    bracket = np.asarray(result.bracket)
    below, above = np.asarray(result.count_below), np.asarray(result.count_above)
    assert np.all(below <= modes)
    assert np.all(above >= modes + 1)
    assert np.all(bracket[:, 0] < omega * (1 - GROUPED / 2))
    assert np.all(bracket[:, 1] > omega * (1 + GROUPED / 2))
    assert np.array_equal(below, np.searchsorted(omega, bracket[:, 0]))
    inside = bracket[:, 1] < omega[-1]  # above the last listed one the list cannot count
    assert np.array_equal(above[inside], np.searchsorted(omega, bracket[inside, 1]))


@pytest.mark.parametrize("problem", ALL, ids=IDS)
def test_arm_reaches_the_engine_bit_for_bit(problem):
    """The engine's arm and the file describe the same doubles (the truth's converter as well)."""
    assert finite_elements.case_from_arm(problem.arm, problem.model) == problem.case


@pytest.mark.parametrize("name", ["P08", "P21", "P36", "P40"])
def test_band(name):
    """A band gives the frequencies inside it, with their mode numbers."""
    problem = problems()[name]
    omega = problem.omega
    low, high = omega[5] * 0.9999, omega[12] * 1.0001
    inside = np.flatnonzero((omega > low) & (omega < high))
    result = jm.frequencies_in_band(problem.arm, low, high, theory=problem.model)
    found = np.asarray(result.omega)
    assert result.first_mode == inside[0] + 1
    assert found.shape == inside.shape
    assert np.all(np.asarray(result.certified))
    assert np.max(np.abs(found / omega[inside] - 1)) <= ORACLE


@pytest.mark.slow
@pytest.mark.parametrize(("links", "modes"), sorted({padded(problem) for problem in ALL}))
def test_the_compiled_search_gives_the_same(links, modes):
    """The program that jit and vmap run, of arms of up to so many links and modes: one for all of them."""
    for problem in ALL:
        if padded(problem) != (links, modes):
            continue
        beams, flags = prepared_values(problem.arm, problem.model)
        given = jax.device_put(beams), jnp.asarray(False), 0, problem.num_modes
        found = solve_padded(padded_problem(*given, lanes=modes), flags)
        omega = np.asarray(found.omega)[: problem.num_modes]
        excused = [(problem.name, k + 1) in KNOWN_EXCEPTIONS for k in range(problem.num_modes)]
        errors = np.abs(problem.relative_error(omega))
        assert np.all((errors <= ORACLE) | excused), problem.name
        proven = np.asarray(found.converged & found.certificate.certified)
        assert np.all(proven[: problem.num_modes]), problem.name
        group = np.asarray(found.certificate.group)[: problem.num_modes]
        members = np.bincount(group, minlength=group.size)[group]
        assert np.array_equal(members, problem.multiplicities), problem.name
