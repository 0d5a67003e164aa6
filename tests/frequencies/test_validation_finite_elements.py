"""Arms that no oracle lists, held against the finite-element truth to the engine's own promise.

More links, softer joints, closer clusters, heavier tips than the public cases. Engine and elements share nothing:
where they agree both have converged; where they do not a second degree of polynomials says whether the elements had.
Arms of one structure are solved side by side, some of them by themselves as well.
"""

import numpy as np
import pytest

import jaxmodal as jm
from tests.support import finite_elements
from tests.support.many_arms import solved_together
from tests.support.problems import GROUPED, ORACLE, arm_from_entry, problems

THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")


def random_entry(seed, num_links, theory, soft=0.3, heavy=0.5):
    """Heterogeneous links, L/h from 4 to 500; springs over 12 and tip bodies over 8 decades."""
    rng = np.random.default_rng(seed)

    def log_uniform(low, high):
        return float(10 ** rng.uniform(np.log10(low), np.log10(high)))

    links = []
    for k in range(num_links):
        length, width = log_uniform(0.1, 2.0), log_uniform(0.01, 0.1)
        depth = length / log_uniform(4, 500)
        mass = 2700 * width * depth * length
        youngs_modulus = log_uniform(1e9, 2e11)
        link = {
            "L": length,
            "E": youngs_modulus,
            "I": width * depth**3 / 12,
            "A": width * depth,
            "rho": 2700.0,
            "kG": youngs_modulus * rng.uniform(0.15, 0.4),
            "M": mass * log_uniform(1e-4, 1e4) if rng.random() < heavy else 0.0,
            "J": mass * length**2 * log_uniform(1e-6, 1e2) if rng.random() < heavy else 0.0,
            "theta": float(rng.uniform(-np.pi, np.pi)) if k else 0.0,
            "kT": log_uniform(1e-3, 1e9) if rng.random() < soft else None,
        }
        links.append(link)
    return {"id": f"random {seed}", "model": theory, "links": links}


def compare(entry, num_modes, degree, result=None):
    """The result, by default of the call for a single arm, against elements."""
    case = finite_elements.case_from_dict(entry)
    omega = finite_elements.frequencies(case, num_modes, degree)
    if result is None:
        arm = arm_from_entry(entry)
        result = jm.natural_frequencies(arm, num_modes, theory=entry["model"], throw=False)
    errors = np.abs(np.asarray(result.omega) / omega - 1)
    wrong = np.flatnonzero(~(errors <= ORACLE))
    if len(wrong):
        finer = finite_elements.frequencies(case, num_modes, degree + 5)
        of_elements = float(np.max(np.abs(omega / finer - 1)))
        pytest.fail(f"{ ({int(k) + 1: float(errors[k]) for k in wrong}) }, elements {of_elements}")
    assert np.all(np.asarray(result.certified)), np.asarray(result.status)
    return omega, result


def compare_together(entries, num_modes, degree, alone):
    """Arms of as many links in one call; those numbered ``alone`` by themselves as well."""
    arms = [arm_from_entry(entry) for entry in entries]
    found = solved_together(arms, num_modes, entries[0]["model"])
    for number, (entry, result) in enumerate(zip(entries, found, strict=True)):
        omega, _ = compare(entry, num_modes, degree, result)
        if number in alone:
            by_itself = jm.natural_frequencies(arms[number], num_modes, theory=entry["model"])
            assert np.max(np.abs(np.asarray(by_itself.omega) / omega - 1)) <= ORACLE


@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize("num_links", [1, 2, 3, 4])
def test_random_arms(num_links, theory):
    entries = [random_entry(seed, num_links, theory) for seed in range(4)]
    compare_together(entries, 10, 36, alone=[num_links - 1])


@pytest.mark.slow
@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize("num_links", [1, 2, 3, 4])
def test_many_random_arms(num_links, theory):
    entries = [random_entry(seed, num_links, theory) for seed in range(100, 120)]
    compare_together(entries, 16, 44, alone=range(0, 20, 5))


@pytest.mark.slow
@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize(("num_links", "degree"), [(7, 26), (12, 20), (24, 15)])
def test_longer_random_arms(num_links, degree, theory):
    entries = [random_entry(seed, num_links, theory) for seed in range(3)]
    compare_together(entries, 20, degree, alone=[THEORIES.index(theory) % 3])


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
def test_every_joint_soft(theory):
    """Rigid-body motions on weak springs far below, elastic modes far above."""
    entry = random_entry(11, 4, theory, heavy=1.0)
    softer = [
        {**entry, "links": [{**link, "kT": stiffness} for link in entry["links"]]}
        for stiffness in (1e-3, 1e-1, 1e1)
    ]
    compare_together(softer, 12, 36, alone=[0])


@pytest.mark.parametrize("exponent", range(-4, -13, -1))
def test_a_cluster_closes(exponent):
    """The straight arm of P34 opened by a joint angle: two modes from 1e-5 to 1e-13 apart."""
    base = problems()["P34"].entry
    inner, outer = base["links"]
    entry = {**base, "links": [inner, {**outer, "theta": 10.0**exponent}]}
    omega, result = compare(entry, 14, 42)
    gaps = np.diff(omega) / omega[1:]
    clear = (gaps > 3 * GROUPED) | (gaps < GROUPED / 3)  # on the edge either answer is right
    same_group = np.diff(np.asarray(result.group)) == 0
    assert np.array_equal(same_group[clear], (gaps < GROUPED)[clear])


@pytest.mark.parametrize("angle", [0.0, 1e-7, 0.4])
def test_twins(angle):
    """Both sides alike: identical links in a zig-zag, their modes in close pairs and groups."""
    link = problems()["P25"].entry["links"][0]
    angles = [0.0, angle, -angle, angle]
    entry = {
        "id": "twins",
        "model": "timoshenko",
        "links": [{**link, "theta": theta, "M": 1e3, "J": 1e3} for theta in angles],
    }
    compare(entry, 16, 36)


@pytest.mark.slow
@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli"])
def test_sixty_four_links(theory):
    """The first 20 modes of 64 links, one call."""
    rng = np.random.default_rng(64)
    link = problems()["P08"].entry["links"][0]
    links = [
        {**link, "L": 0.1 * rng.uniform(0.5, 1.5), "M": 0.1, "J": 1e-4, "theta": angle}
        for angle in np.append(0.0, rng.uniform(-1, 1, 63))
    ]
    compare({"id": "64 links", "model": theory, "links": links}, 20, 6)


@pytest.mark.slow
def test_sixty_four_pieces_of_one_link():
    """A cantilever cut into 64 pieces has the frequencies of the whole."""
    whole = problems()["P03"]
    link = whole.entry["links"][0]
    pieces = [{**link, "L": link["L"] / 64} for _ in range(64)]
    entry = {**whole.entry, "links": pieces}
    result = jm.natural_frequencies(
        arm_from_entry(entry), num_modes=whole.num_modes, theory=whole.model
    )
    assert np.all(np.asarray(result.certified))
    assert np.max(np.abs(whole.relative_error(np.asarray(result.omega)))) <= ORACLE
