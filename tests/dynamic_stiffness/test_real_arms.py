"""Joints, hubs, rotors, bodies, offsets, rigid links: exact frequencies and counts? Against finite elements,
closed forms, and the same arm described in another way."""

import jax
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import jaxmodal as jm
from tests.support import finite_elements
from tests.support.many_arms import solved_together
from tests.support.problems import COUNT_DISTANCE, ORACLE
from tests.support.real_arms import STRUCTURES, VALUES, random_arm, relative, steel

FEW = settings(max_examples=4, deadline=None)
SEEDS = st.integers(0, 2**32 - 1)

FAST = ("offsets", "everything")
BY_STRUCTURE = [s if s in FAST else pytest.param(s, marks=pytest.mark.slow) for s in STRUCTURES]
ALL_AT_ONCE = [
    s if s == "everything" else pytest.param(s, marks=pytest.mark.slow) for s in STRUCTURES
]
"""Each structure is compiled anew; two of them show all features."""

AD_VS_FD = 1e-6
"""Differences of fourth order, relative to the largest in a row."""

TABLE = 1e-11
"""The table of sensitivities beside forward differentiation: the same energies, summed in another order."""

SHAPES = 1e-10
"""Residuals of the conditions, relative to their scales."""

ORTHOGONAL = 1e-12
RAYLEIGH = 1e-12


@pytest.mark.parametrize("theory", jm.THEORIES)
@pytest.mark.parametrize("structure", BY_STRUCTURE)
def test_frequencies_against_finite_elements(structure, theory):
    """Four arms side by side, others in each theory, the first by itself as well; every theory takes every feature."""
    first = 4 * jm.THEORIES.index(theory)
    arms = [random_arm(seed, structure) for seed in range(first, first + 4)]
    hinges = [link.joint_stiffness == 0.0 for arm in arms for link in arm.links]
    assert any(hinges) == (structure == "everything")
    found = solved_together(arms, 8, theory)
    found.append(jm.natural_frequencies(arms[0], 8, theory=theory, throw=False))
    for arm, result in zip([*arms, arms[0]], found, strict=True):
        case = finite_elements.case_from_arm(arm, theory)
        truth = finite_elements.frequencies(case, 8, 30)
        assert np.all(np.asarray(result.certified)), np.asarray(result.status)
        assert np.max(relative(result.omega, truth)) <= ORACLE, relative(result.omega, truth)


@pytest.mark.parametrize(
    "structure", ["everything", pytest.param("rotors", marks=pytest.mark.slow)]
)
def test_held_rotors_against_finite_elements(structure):
    """All of them, and every other one: counts, frequencies, shapes."""
    for seed, step in ((8, 1), (9, 2)):
        arm = random_arm(seed, structure)
        links = [
            link.replace(motor="held") if k % step == 0 else link
            for k, link in enumerate(arm.links)
        ]
        held = arm.replace(links=tuple(links))
        case = finite_elements.case_from_arm(held, "timoshenko")
        truth = finite_elements.frequencies(case, 8, 30)
        found = jm.natural_frequencies(held, 8)
        assert np.all(np.asarray(found.certified)), np.asarray(found.status)
        assert np.max(relative(found.omega, truth)) <= ORACLE
        turning = jm.natural_frequencies(arm, 8).omega
        assert np.max(relative(turning, truth)) > 1e-6  # the choice matters to these arms
        omega, expected = random_frequencies(case, seed)
        np.testing.assert_array_equal(jm.count_below(held, omega), expected)
        shapes = jm.mode_shapes(held, 6, stations=2)
        free = int(np.sum(np.asarray(shapes.omega) == 0.0))
        assert np.max(np.asarray(shapes.residuals)[free:]) <= SHAPES


def random_frequencies(case, seed):
    """64 frequencies below the 14th, none nearer than COUNT_DISTANCE to a natural one; J there."""
    truth = finite_elements.frequencies(case, 16, 24)
    lowest = truth[truth > 0.0][0]
    draws = np.random.default_rng(seed).uniform(np.log(lowest / 3), np.log(truth[13]), 64)
    omega = np.exp(draws)
    distance = np.min(np.abs(omega[:, None] / np.where(truth > 0, truth, 1e-300) - 1), axis=1)
    omega = np.where(distance > COUNT_DISTANCE, omega, omega * (1 + 3 * COUNT_DISTANCE))
    return omega, np.searchsorted(truth, omega)


def check_counts(structure, seed, theory):
    arm = random_arm(seed, structure)
    case = finite_elements.case_from_arm(arm, theory)
    omega, expected = random_frequencies(case, seed)
    assert finite_elements.count_below(case, omega[0], 24) == expected[0]
    counts = np.asarray(jm.count_below(arm, omega, theory=theory))
    assert np.array_equal(counts, expected)


@pytest.mark.parametrize("structure", FAST)
@FEW
@given(seed=SEEDS, theory=st.sampled_from(jm.THEORIES))
def test_counts_against_finite_elements(structure, seed, theory):
    check_counts(structure, seed, theory)


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, theory=st.sampled_from(jm.THEORIES))
def test_thousands_of_counts(structure, seed, theory):
    """7 structures x 15 arms x 64 frequencies."""
    check_counts(structure, seed, theory)


@pytest.mark.parametrize("structure", ALL_AT_ONCE)
@FEW
@given(seed=SEEDS, theory=st.sampled_from(jm.THEORIES))
@example(seed=205, theory="timoshenko")  # a geared rotor against a soft spring
def test_mode_shapes(structure, seed, theory):
    arm = random_arm(seed, structure)
    shapes = jm.mode_shapes(arm, 6, theory=theory, stations=2)
    free = int(np.sum(np.asarray(shapes.omega) == 0.0))
    assert np.all(np.isnan(np.asarray(shapes.v)[:free]))
    assert np.max(np.asarray(shapes.residuals)[free:]) <= SHAPES
    gram = np.asarray(shapes.orthogonality)[free:, free:]
    assert np.max(np.abs(gram - np.eye(6 - free))) <= ORTHOGONAL
    quotient = np.asarray(shapes.rayleigh_quotient)[free:]
    assert np.max(np.abs(quotient / np.asarray(shapes.omega)[free:] ** 2 - 1)) <= RAYLEIGH


def with_everything():
    """Two links, the first rigid, with a value of everything; and the addresses to vary."""
    payload = jm.Payload(1.0, 0.01, 0.1, -0.05)
    arm = jm.Arm((steel(**VALUES, rigid=True), steel(**VALUES, joint_angle=0.8)), payload)
    more = ["joint_angle", "length", "density", "youngs_modulus", "section.depth"]
    numbers = [name for name in VALUES if name != "motor"]
    names = [f"link2.{name}" for name in (*numbers, *more)]
    names += ["link1.length", "link1.density", "link1.end_offset_y", "link1.gear_ratio"]
    names += [f"payload.{name}" for name in ("mass", "inertia", "centre_x", "centre_y")]
    return arm, names


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
def test_derivatives_against_differences(theory):
    arm, names = with_everything()
    x = np.array([float(jm.get_parameter(arm, name)) for name in names])

    @jax.jit
    def changed(values):
        """In one program: outside of one every operation on a value is a small program of its own."""
        return jm.set_parameters(arm, dict(zip(names, values, strict=True)))

    def omega(values):
        return jm.natural_frequencies(changed(values), 5, theory=theory).omega

    found = np.asarray(jax.jacfwd(omega)(x))
    steps = 1e-3 * x
    offsets = np.array([-2, -1, 1, 2])[:, None, None] * np.diag(steps)
    cells = dict(zip(names, (x + offsets).reshape(-1, len(x)).T, strict=True))
    batch = jm.natural_frequencies_batch(arm, cells, 5, theory=theory)
    assert bool(batch.certified.all())
    at = np.asarray(batch.omega).reshape(4, len(x), 5)
    expected = ((at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * steps[:, None])).T
    error = np.max(np.abs(found - expected), axis=0) / np.max(np.abs(expected), axis=0)
    assert np.all(error <= AD_VS_FD), dict(zip(names, error, strict=True))
    table = jm.sensitivities(arm, 5, theory=theory, addresses=names)
    assert bool(table.individual.all())
    largest = np.max(np.abs(found), axis=0)
    assert np.max(np.abs(np.asarray(table.derivative) - found) / largest) <= TABLE
