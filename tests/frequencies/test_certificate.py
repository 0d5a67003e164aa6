"""Does the certificate say no when it must, and yes when it may?"""

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.frequencies import host_solver
from tests.support import finite_elements
from tests.support.compiled_programs import names_of_programs
from tests.support.many_arms import solved_together
from tests.support.problems import GROUPED, ORACLE, arm_from_entry, named, problems

MUTATED = named("P01", "P08", "P18", "P20", "P25", "P28", "P34", "P36", "P40", "P42")
SHIFT = 1e-6

DOUBLE_POSTURES = [
    ((-155.009952919027194, -64.1983428536445678), 37.0643031192404803),
    ((75.4445861562247047, -65.9908017300219814), 36.4921356522557731),
]
"""Angles (deg) of the three-link arm at which its modes 2 and 3 coincide, and their frequency."""


def certify(problem, omega):
    return jm.certify(problem.arm, np.asarray(omega), theory=problem.model)


def mutated_modes(problem):
    """Three modes to spoil; a deleted one must not be the last (what remains would be complete)."""
    last = problem.num_modes - 2
    return sorted({0, last // 2, last})


@pytest.mark.parametrize("problem", list(problems().values()), ids=lambda problem: problem.name)
def test_the_proven_frequencies_pass(problem):
    certificate = certify(problem, problem.omega)
    assert bool(certificate.ok), np.asarray(certificate.status)


@pytest.mark.parametrize("problem", MUTATED, ids=lambda problem: problem.name)
def test_a_deleted_root_fails(problem):
    for mode in mutated_modes(problem):
        certificate = certify(problem, np.delete(problem.omega, mode))
        assert not bool(certificate.ok), mode + 1


@pytest.mark.parametrize("problem", MUTATED, ids=lambda problem: problem.name)
def test_a_duplicated_root_fails(problem):
    for mode in mutated_modes(problem):
        certificate = certify(problem, np.insert(problem.omega, mode, problem.omega[mode]))
        assert not bool(certificate.ok), mode + 1


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("problem", MUTATED, ids=lambda problem: problem.name)
def test_a_shifted_root_fails(problem, sign):
    for mode in mutated_modes(problem):
        omega = problem.omega
        omega[mode] *= 1 + sign * SHIFT
        certificate = certify(problem, np.sort(omega))
        assert not bool(certificate.ok), mode + 1


@pytest.fixture
def evaluated_once(monkeypatch):
    """Evaluations of the arm in turn by their frequencies, which spoilt lists of its frequencies share; to be cleared.

    Those of the same arm with its links cut in two, which a refused list is tried with, stand beside them.
    """
    known, evaluated = {}, host_solver._evaluated

    def looked_up(model, omega, arithmetic):
        kept = known.setdefault(model.beams.length.size, {})
        new = [x for x in dict.fromkeys(omega.ravel().tolist()) if x not in kept]
        if new:
            values, form = jax.tree_util.tree_flatten(evaluated(model, np.array(new), arithmetic))
            kept.update(zip(new, zip(*values, strict=True), strict=True))
            kept["form"] = form
        columns = zip(*(kept[x] for x in omega.ravel().tolist()), strict=True)
        return kept["form"].unflatten(np.array(x).reshape(omega.shape) for x in columns)

    monkeypatch.setattr(host_solver, "_evaluated", looked_up)
    return known


@pytest.mark.slow
def test_every_mutation_of_every_root_fails(evaluated_once):
    """The same, for each of the 812 frequencies; shifted ones by every third at once, of which none may pass."""
    missed = []
    for problem in problems().values():
        evaluated_once.clear()
        omega = problem.omega
        for first in range(3):
            shifted, moved = omega.copy(), np.arange(first, problem.num_modes, 3)
            shifted[moved] *= 1 + SHIFT
            order = np.argsort(shifted, kind="stable")
            passed = np.asarray(certify(problem, shifted[order]).certified)
            missed += [(problem.name, k + 1, "shifted") for k in moved if passed[order == k]]
        for mode in range(problem.num_modes):
            spoilt = [np.insert(omega, mode, omega[mode])]
            if mode < problem.num_modes - 1:
                spoilt.append(np.delete(omega, mode))
            missed += [
                (problem.name, mode + 1, len(values))
                for values in spoilt
                if bool(certify(problem, values).ok)
            ]
        assert bool(certify(problem, omega).ok), "by the same evaluations the list itself passes"
    assert not missed


def posture_case(degrees):
    arm = jm.examples.three_link_industrial().with_posture(np.deg2rad(degrees))
    return arm, finite_elements.case_from_arm(arm, "timoshenko")


@pytest.mark.parametrize(("degrees", "hertz"), DOUBLE_POSTURES)
def test_double_root_is_found_twice(degrees, hertz):
    arm, case = posture_case(degrees)
    result = jm.natural_frequencies(arm, num_modes=10, theory="timoshenko")
    omega = np.asarray(result.omega)
    assert np.all(np.asarray(result.certified))
    assert np.max(np.abs(omega / finite_elements.frequencies(case, 10, 30) - 1)) <= ORACLE
    assert np.max(np.abs(np.asarray(result.frequencies_hz)[1:3] / hertz - 1)) <= ORACLE
    assert np.asarray(result.count_below)[1] == 1
    assert np.asarray(result.count_above)[2] == 3
    assert np.array_equal(np.asarray(result.multiplicity)[1:3], [2, 2])
    assert np.array_equal(np.asarray(result.group)[1:3], [1, 1])
    certificate = jm.certify(arm, omega, theory="timoshenko")
    assert bool(certificate.ok)
    once = jm.certify(arm, np.delete(omega, 1), theory="timoshenko")
    assert not bool(once.ok)


@pytest.mark.parametrize(("degrees", "hertz"), DOUBLE_POSTURES)
@pytest.mark.parametrize("points", [2000, pytest.param(16000, marks=pytest.mark.slow)])
def test_a_determinant_scan_loses_the_double_root(degrees, hertz, points):
    """The scan finds the simple roots below 300 Hz and neither of the two coincident ones."""
    arm, case = posture_case(degrees)
    omega = finite_elements.frequencies(case, 20, 30)
    grid = np.linspace(2 * np.pi * 0.5, 2 * np.pi * 300, points)
    truth = omega[omega < grid[-1]]
    brackets = np.asarray(jm.determinant_scan(arm, grid, theory="timoshenko"))
    assert len(brackets) == len(truth) - 2
    holding = (brackets[:, :1] <= truth) & (truth <= brackets[:, 1:])
    assert np.array_equal(np.flatnonzero(~holding.any(axis=0)), [1, 2])
    assert int(jm.count_below(arm, grid[-1], theory="timoshenko")) == len(truth)


@pytest.mark.parametrize(
    "name",  # P40 has twelve links and a program of its own
    ["P07", "P20", "P22", "P24", pytest.param("P40", marks=pytest.mark.slow), "P42", "P43"],
)
def test_a_fine_determinant_scan_finds_simple_roots(name):
    """Where all gaps are wider than the grid, the scan brackets each root once and nothing else.

    Exponential solutions reach exp(60) across a link here: columns that grow parallel show up.
    """
    problem = problems()[name]
    omega = problem.omega
    middles = np.sqrt(omega[1:] * omega[:-1])
    grid = np.concatenate([[omega[0] / 2], np.ravel([middles, middles * 1.0001], order="F")])
    brackets = np.asarray(jm.determinant_scan(problem.arm, grid, theory=problem.model))
    found = [np.flatnonzero((low < omega) & (omega < high)) for low, high in brackets]
    assert [list(modes) for modes in found] == [[k] for k in range(problem.num_modes - 1)]


@pytest.mark.parametrize(("degrees", "hertz"), DOUBLE_POSTURES)
def test_two_simple_roots_close_by_are_told_apart(degrees, hertz):
    """At angles rounded to 1e-5 degrees the double root opens to two, some 1e-7 apart."""
    arm, case = posture_case(np.round(degrees, 5))
    truth = finite_elements.frequencies(case, 5, 30)
    assert 1e-9 < truth[2] / truth[1] - 1 < 1e-6
    result = jm.natural_frequencies(arm, num_modes=5, theory="timoshenko")
    assert np.all(np.asarray(result.certified))
    assert np.all(np.asarray(result.multiplicity) == 1)
    assert np.max(np.abs(np.asarray(result.omega) / truth - 1)) <= ORACLE


def test_springs_from_soft_to_rigid():
    """Base and joint springs from 1e-3 to 1e12 N m/rad: one continuum that ends in rigid."""
    base, stiffnesses = problems()["P31"].entry, [*(10.0 ** np.arange(-3, 13)), None]
    entries = [
        {**base, "links": [{**link, "kT": stiffness} for link in base["links"]]}
        for stiffness in stiffnesses
    ]
    arms = [arm_from_entry(entry) for entry in entries]
    previous = np.zeros(10)
    for number, result in enumerate(solved_together(arms, 10)):
        assert np.all(result.certified), stiffnesses[number]
        case = finite_elements.case_from_dict(entries[number])
        error = np.abs(result.omega / finite_elements.frequencies(case, 10, 30) - 1)
        assert np.max(error) <= ORACLE, stiffnesses[number]
        assert np.all(result.omega > previous * (1 - GROUPED)), "a stiffer spring lowers none"
        if number % 8 == 0:
            alone = jm.natural_frequencies(arms[number], 10)
            assert np.max(np.abs(alone.omega / result.omega - 1)) <= ORACLE, stiffnesses[number]
        if stiffnesses[number] is None:  # EI / (k L) is 6e-9 before, times the mode
            assert np.max(result.omega / previous - 1) < 1e-4
        previous = result.omega


def test_another_determinant_scan_compiles_nothing():
    """Of another arm with as many links, in another theory, over as many blocks of the grid (its program is shared)."""
    arm, _ = posture_case((10.0, 20.0))
    jm.determinant_scan(arm, np.linspace(3.0, 1800.0, 2000))
    with names_of_programs() as programs:
        other = jm.set_parameters(arm, {"link*.length": 0.7})
        jm.determinant_scan(other, np.linspace(5.0, 900.0, 1900), theory="euler_bernoulli")
    assert programs == []
