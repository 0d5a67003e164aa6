"""Laws that hold for every arm, tried on arms drawn at random.

The values are drawn, the shapes are few (a shape is a compilation): three links, split into four
where a link is cut. Truth on counts comes from the finite-element model.
"""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxmodal as jm
from tests.support import finite_elements
from tests.support.problems import COUNT_DISTANCE, SAME, problems

NUM_MODES = 10
THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")
RESOLVING = 44
"""Degree of the p-elements: 18 modes may all sit in one soft link, as 18 half-waves."""
ARMS = 32
"""Arms of one example, solved side by side in NumPy."""
SEEDS = st.integers(0, 2**32 - 1)
ONE = settings(max_examples=1, deadline=None)
"""The first seed, whatever the profile; `test_laws_for_many_more_arms` draws others."""
COUNTED = settings(max_examples=3, deadline=None)
"""`test_thousands_of_counts_and_signs` draws more."""

ADDRESSES = {
    "L": "length",
    "E": "youngs_modulus",
    "I": "section.second_moment",
    "A": "section.area",
    "rho": "density",
    "kG": "shear_modulus",
    "M": "tip_mass",
    "J": "tip_inertia",
    "theta": "joint_angle",
    "kT": "joint_stiffness",
}
"""Of a link, by the letters of the oracle's file."""


class Samples:
    """Arms of as many links, and what to do with them; values of shape (links, arms) by the letters of ADDRESSES."""

    def __init__(self, values):
        self.values = values
        self.links, self.arms = values["L"].shape

    def changed(self, **functions):
        """Each named value of each link replaced by function(value)."""
        return Samples({k: functions.get(k, np.copy)(v) for k, v in self.values.items()})

    def arm(self, number):
        """One of them as an Arm."""
        links = []
        for k in range(self.links):
            v = {name: float(x[k, number]) for name, x in self.values.items()}
            links.append(
                jm.Link(
                    v["L"],
                    v["E"],
                    v["rho"],
                    jm.raw_section(v["A"], v["I"], shear_coefficient=1.0),
                    shear_modulus=v["kG"],
                    tip_mass=v["M"],
                    tip_inertia=v["J"],
                    joint_angle=v["theta"],
                    joint_stiffness=v["kT"],
                )
            )
        return jm.Arm(tuple(links))

    def case(self, number, theory):
        """The same for the finite elements."""
        links = [
            {name: float(x[k, number]) for name, x in self.values.items()}
            for k in range(self.links)
        ]
        links = [{**v, "kT": None if np.isinf(v["kT"]) else v["kT"]} for v in links]
        return finite_elements.case_from_dict({"links": links, "model": theory})

    def omega(self, theory, **more):
        """All of them by one call."""
        cells = {
            f"link{k + 1}.{address}": self.values[name][k]
            for name, address in ADDRESSES.items()
            for k in range(self.links)
        }
        arm = jm.Arm(self.arm(0).links, jm.Payload())
        result = jm.natural_frequencies_batch(arm, cells | more, NUM_MODES, theory=theory)
        assert np.all(np.asarray(result.certified))
        return np.asarray(result.omega)

    def reference(self, theory, *others, **more):
        """The same with those of other samples, by one call; the first by the call for a single arm as well.

        ``more`` are values of the others alone; of this one they are 0.
        """
        together = (self, *others)
        values = {k: np.concatenate([x.values[k] for x in together], axis=1) for k in self.values}
        more = {name: np.append(np.zeros(self.arms), value) for name, value in more.items()}
        omega = Samples(values).omega(theory, **more)
        alone = jm.natural_frequencies(self.arm(0), NUM_MODES, theory=theory)
        assert apart(np.asarray(alone.omega), omega[0]) <= SAME
        return np.split(omega, len(together))


def samples(seed, arms=ARMS, links=3):
    """Solid rectangular links, L/h from 5 to 300, tip bodies and springs now and then."""
    rng = np.random.default_rng(seed)
    shape = links, arms

    def log_uniform(low, high):
        return 10 ** rng.uniform(np.log10(low), np.log10(high), shape)

    length, slenderness = log_uniform(0.2, 3.0), log_uniform(5, 300)
    depth, width = length / slenderness, log_uniform(0.005, 0.1)
    mass = 2700.0 * depth * width * length
    youngs_modulus = log_uniform(2e9, 2e11)
    sprung, loaded = rng.random(shape) < 0.5, rng.random(shape) < 0.5
    moment = width * depth**3 / 12
    angles = rng.uniform(-3.1, 3.1, shape)
    angles[0] = 0.0
    return Samples(
        {
            "L": length,
            "E": youngs_modulus,
            "I": moment,
            "A": width * depth,
            "rho": np.full(shape, 2700.0),
            "kG": youngs_modulus * rng.uniform(0.2, 0.4, shape),
            "M": np.where(loaded, mass * log_uniform(0.01, 10), 0.0),
            "J": np.where(loaded, mass * length**2 * log_uniform(1e-4, 0.1), 0.0),
            "theta": angles,
            "kT": np.where(
                sprung, youngs_modulus * moment / length * log_uniform(0.01, 1e4), np.inf
            ),
        }
    )


def apart(omega, reference):
    return np.max(np.abs(omega / reference - 1))


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
@ONE
@given(seed=SEEDS)
def test_splitting_a_link_changes_nothing(theory, seed):
    given_arms, rng = samples(seed), np.random.default_rng(seed)
    which, fraction = rng.integers(3), rng.uniform(0.05, 0.95, ARMS)
    values = {k: np.insert(v, which, v[which], axis=0) for k, v in given_arms.values.items()}
    values["L"][which] *= fraction
    values["L"][which + 1] -= values["L"][which]
    values["M"][which] = values["J"][which] = values["theta"][which + 1] = 0.0
    values["kT"][which + 1] = np.inf
    (reference,) = given_arms.reference(theory)
    assert apart(Samples(values).omega(theory), reference) <= SAME


@pytest.mark.parametrize("theory", THEORIES)
@ONE
@given(seed=SEEDS)
def test_mirroring_or_turning_the_arm_changes_nothing(theory, seed):
    given_arms, turn = samples(seed), np.random.default_rng(seed).uniform(-3.1, 3.1)
    mirrored = given_arms.changed(theta=np.negative)
    turned = given_arms.changed(theta=lambda angle: np.concatenate([angle[:1] + turn, angle[1:]]))
    reference, *others = given_arms.reference(theory, mirrored, turned)
    for omega in others:
        assert apart(omega, reference) <= SAME


@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli"])
@ONE
@given(seed=SEEDS)
def test_scaling_laws(theory, seed):
    """Another unit of length, of force, of mass: every frequency scales as dimensions say."""
    given_arms = samples(seed)
    length, force = 10 ** np.random.default_rng(seed).uniform(-3, 3, (2, ARMS))
    larger = given_arms.changed(
        L=lambda v: v * length,
        A=lambda v: v * length**2,
        I=lambda v: v * length**4,
        M=lambda v: v * length**3,
        J=lambda v: v * length**5,
        kT=lambda v: v * length**3,
    )
    stiffer = given_arms.changed(**dict.fromkeys(("E", "kG", "kT"), lambda v: v * force))
    heavier = given_arms.changed(**dict.fromkeys(("rho", "M", "J"), lambda v: v * force))
    reference, *others = given_arms.reference(theory, larger, stiffer, heavier)
    factors = (length, 1 / np.sqrt(force), np.sqrt(force))
    for omega, factor in zip(others, factors, strict=True):
        assert apart(omega * factor[:, None], reference) <= SAME


@pytest.mark.parametrize("theory", THEORIES)
@ONE
@given(seed=SEEDS)
def test_a_heavier_payload_raises_no_frequency(theory, seed):
    given_arms, rng = samples(seed), np.random.default_rng(seed)
    body = {
        "payload.mass": 10 ** rng.uniform(-3, 2, ARMS),
        "payload.inertia": rng.uniform(0, 1, ARMS),
    }
    reference, loaded = given_arms.reference(theory, given_arms, **body)
    assert np.all(loaded <= reference * (1 + SAME))


@pytest.mark.slow
@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli"])
@settings(max_examples=4, deadline=None)
@given(seed=SEEDS)
def test_laws_for_many_more_arms(theory, seed):
    for law in (
        test_splitting_a_link_changes_nothing,
        test_mirroring_or_turning_the_arm_changes_nothing,
        test_scaling_laws,
        test_a_heavier_payload_raises_no_frequency,
    ):
        law.hypothesis.inner_test(theory, seed)


def random_frequencies(case, seed):
    """128 frequencies below the 16th, none nearer than COUNT_DISTANCE to a natural one; J there."""
    truth = finite_elements.frequencies(case, 18, RESOLVING)
    draws = np.random.default_rng(seed).uniform(np.log(truth[0] / 3), np.log(truth[15]), 128)
    omega = np.sort(np.exp(draws))
    distance = np.min(np.abs(omega[:, None] / truth - 1), axis=1)
    omega = np.where(distance > COUNT_DISTANCE, omega, omega * (1 + 3 * COUNT_DISTANCE))
    return omega, np.searchsorted(truth, omega)


def check_counts(theory, seed):
    """Counts and signs of the determinant, J by finite elements: (-1)^J = sign D."""
    sample = samples(seed, arms=1)
    case, arm = sample.case(0, theory), sample.arm(0)
    omega, expected = random_frequencies(case, seed)
    for k in (10, 50):
        assert finite_elements.count_below(case, omega[k], RESOLVING) == expected[k]
    assert np.array_equal(np.asarray(jm.count_below(arm, omega, theory=theory)), expected)
    none = [0.0, -omega[0], np.inf]  # traced ones cannot be refused
    found = jax.vmap(lambda x: jm.log_determinant(arm, x, theory=theory))(np.append(omega, none))
    signs, logs = np.split(np.asarray(found), [len(omega)], axis=1)[0]
    assert np.all(np.isnan(np.asarray(found)[:, len(omega) :]))
    assert np.all(np.isfinite(logs))
    assert np.array_equal(signs, (-1.0) ** expected)


@pytest.mark.parametrize("theory", THEORIES)
@COUNTED
@given(seed=SEEDS)
def test_count_and_sign_of_the_determinant_agree_with_finite_elements(theory, seed):
    check_counts(theory, seed)


@pytest.mark.slow
@pytest.mark.parametrize("theory", THEORIES)
@settings(max_examples=16, deadline=None)
@given(seed=SEEDS)
def test_thousands_of_counts_and_signs(theory, seed):
    """16 arms x 128 frequencies."""
    check_counts(theory, seed)


@pytest.mark.parametrize("name", ["P08", "P19", "P20", "P22", "P32", "P34", "P40"])
def test_count_never_falls(name):
    """J over a dense grid that runs through cut-offs, clusters and poles."""
    problem = problems()[name]
    omega = np.geomspace(problem.omega[0] / 10, problem.omega[-1] * 0.9999, 2048)
    counts = np.asarray(jm.count_below(problem.arm, omega, theory=problem.model))
    assert np.all(np.diff(counts) >= 0)
    far = np.min(np.abs(omega[:, None] / problem.omega - 1), axis=1) > COUNT_DISTANCE
    assert np.array_equal(counts[far], np.searchsorted(problem.omega, omega)[far])


@pytest.mark.parametrize("angle", [0.0, 0.9])
def test_timoshenko_meets_euler_bernoulli_as_the_square_of_the_depth(angle):
    """The relative difference of each of three modes falls as (h/L)^2: slope 2 +- 0.05 on logarithmic axes."""
    depth = np.geomspace(1 / 400, 1 / 100, 5)
    link = {
        "L": np.ones(5),
        "E": np.full(5, 7e10),
        "A": 0.05 * depth,
        "I": 0.05 * depth**3 / 12,
        "rho": np.full(5, 2700.0),
        "kG": np.full(5, 2.2e10),
        "M": 100 * depth,
        "J": np.zeros(5),
        "theta": np.zeros(5),
        "kT": np.full(5, np.inf),
    }
    arms = Samples({name: np.stack([x, x]) for name, x in link.items()})
    arms.values["theta"][1] = angle
    slender, deep = (arms.omega(theory) for theory in ("euler_bernoulli", "timoshenko"))
    differences = (1 - deep / slender)[:, :3]
    slopes = np.diff(np.log(differences), axis=0) / np.diff(np.log(depth))[:, None]
    assert np.all(np.abs(slopes - 2) <= 0.05), slopes
