"""Laws that hold for every arm, tried on arms drawn at random.

The values are drawn, the shapes are few (a shape is a compilation): three links, split into four
where a link is cut. Truth on counts comes from the finite-element model.
"""

import dataclasses
from functools import partial

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxmodal as jm
from tests import finite_elements
from tests.problems import COUNT_DISTANCE, SAME, problems

NUM_MODES = 10
THEORIES = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")
RESOLVING = 44
"""Degree of the p-elements: 18 modes may all sit in one soft link, as 18 half-waves."""
FEW = settings(max_examples=12, deadline=None)
MANY = settings(max_examples=40, deadline=None)


@dataclasses.dataclass(frozen=True)
class Sample:
    """A list of links in the letters of the oracle's file, and what to do with it."""

    links: tuple[dict, ...]

    def arm(self):
        return jm.Arm(tuple(_link(values) for values in self.links))

    def case(self, theory):
        links = [{**v, "kT": None if np.isinf(v["kT"]) else v["kT"]} for v in self.links]
        return finite_elements.case_from_dict({"links": links, "model": theory})

    def changed(self, **functions):
        """Each named value of each link replaced by function(value)."""
        return Sample(
            tuple({k: functions.get(k, float)(v) for k, v in link.items()} for link in self.links)
        )

    def omega(self, theory, num_modes=NUM_MODES):
        result = jm.natural_frequencies(self.arm(), num_modes=num_modes, theory=theory)
        assert np.all(np.asarray(result.certified))
        return np.asarray(result.omega)


def _link(v):
    section = jm.raw_section(v["A"], v["I"], shear_coefficient=1.0)
    return jm.Link(
        v["L"],
        v["E"],
        v["rho"],
        section,
        shear_modulus=v["kG"],
        tip_mass=v["M"],
        tip_inertia=v["J"],
        joint_angle=v["theta"],
        joint_stiffness=v["kT"],
    )


@st.composite
def samples(draw, links=3):
    """Solid rectangular links, L/h from 5 to 300, tip bodies and springs now and then."""

    def log_uniform(low, high):
        return 10 ** draw(st.floats(np.log10(low), np.log10(high)))

    def one(first):
        length, slenderness = log_uniform(0.2, 3.0), log_uniform(5, 300)
        depth, width = length / slenderness, log_uniform(0.005, 0.1)
        mass = 2700.0 * depth * width * length
        youngs_modulus = log_uniform(2e9, 2e11)
        sprung, loaded = draw(st.booleans()), draw(st.booleans())
        stiffness = youngs_modulus * width * depth**3 / 12 / length
        return {
            "L": length,
            "E": youngs_modulus,
            "I": width * depth**3 / 12,
            "A": width * depth,
            "rho": 2700.0,
            "kG": youngs_modulus * draw(st.floats(0.2, 0.4)),
            "M": mass * log_uniform(0.01, 10) if loaded else 0.0,
            "J": mass * length**2 * log_uniform(1e-4, 0.1) if loaded else 0.0,
            "theta": 0.0 if first else draw(st.floats(-3.1, 3.1)),
            "kT": stiffness * log_uniform(0.01, 1e4) if sprung else np.inf,
        }

    return Sample(tuple(one(k == 0) for k in range(links)))


def apart(omega, reference):
    return np.max(np.abs(omega / reference - 1))


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
@FEW
@given(sample=samples(), fraction=st.floats(0.05, 0.95), which=st.integers(0, 2))
def test_splitting_a_link_changes_nothing(theory, sample, fraction, which):
    link = sample.links[which]
    inner = {**link, "L": link["L"] * fraction, "M": 0.0, "J": 0.0}
    outer = {**link, "L": link["L"] - inner["L"], "theta": 0.0, "kT": np.inf}
    split = Sample((*sample.links[:which], inner, outer, *sample.links[which + 1 :]))
    assert apart(split.omega(theory), sample.omega(theory)) <= SAME


@pytest.mark.parametrize("theory", THEORIES)
@FEW
@given(sample=samples(), turn=st.floats(-3.1, 3.1))
def test_mirroring_or_turning_the_arm_changes_nothing(theory, sample, turn):
    mirrored = sample.changed(theta=lambda angle: -angle)
    turned = Sample(({**sample.links[0], "theta": turn}, *sample.links[1:]))
    reference = sample.omega(theory)
    assert apart(mirrored.omega(theory), reference) <= SAME
    assert apart(turned.omega(theory), reference) <= SAME


@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli"])
@FEW
@given(sample=samples(), length=st.floats(1e-3, 1e3), force=st.floats(1e-3, 1e3))
def test_scaling_laws(theory, sample, length, force):
    """Another unit of length, of force, of mass: every frequency scales as dimensions say."""
    reference = sample.omega(theory)
    larger = sample.changed(
        L=lambda v: v * length,
        A=lambda v: v * length**2,
        I=lambda v: v * length**4,
        M=lambda v: v * length**3,
        J=lambda v: v * length**5,
        kT=lambda v: v * length**3,
    )
    assert apart(larger.omega(theory) * length, reference) <= SAME
    stiffer = sample.changed(**dict.fromkeys(("E", "kG", "kT"), lambda v: v * force))
    assert apart(stiffer.omega(theory) / np.sqrt(force), reference) <= SAME
    heavier = sample.changed(**dict.fromkeys(("rho", "M", "J"), lambda v: v * force))
    assert apart(heavier.omega(theory) * np.sqrt(force), reference) <= SAME


@pytest.mark.parametrize("theory", THEORIES)
@FEW
@given(sample=samples(), mass=st.floats(0.001, 100), inertia=st.floats(0, 1))
def test_a_heavier_payload_raises_no_frequency(theory, sample, mass, inertia):
    arm = sample.arm()
    loaded = dataclasses.replace(arm, payload=jm.Payload(mass, inertia))
    result = jm.natural_frequencies(loaded, num_modes=NUM_MODES, theory=theory)
    assert np.all(np.asarray(result.omega) <= sample.omega(theory) * (1 + SAME))


@partial(jax.jit, static_argnames="theory")
def log_determinants(arm, omega, theory):
    return jax.vmap(lambda x: jm.log_determinant(arm, x, theory))(omega)


def random_frequencies(case, seed):
    """64 frequencies below the 16th, none nearer than COUNT_DISTANCE to a natural one; J there."""
    truth = finite_elements.frequencies(case, 18, RESOLVING)
    draws = np.random.default_rng(seed).uniform(np.log(truth[0] / 3), np.log(truth[15]), 64)
    omega = np.sort(np.exp(draws))
    distance = np.min(np.abs(omega[:, None] / truth - 1), axis=1)
    omega = np.where(distance > COUNT_DISTANCE, omega, omega * (1 + 3 * COUNT_DISTANCE))
    return omega, np.searchsorted(truth, omega)


@pytest.mark.parametrize("theory", THEORIES)
@MANY
@given(sample=samples(), seed=st.integers(0, 2**32 - 1))
def test_count_agrees_with_finite_elements(theory, sample, seed):
    case = sample.case(theory)
    omega, expected = random_frequencies(case, seed)
    for k in (10, 50):
        assert finite_elements.count_below(case, omega[k], RESOLVING) == expected[k]
    counts = np.asarray(jm.count_below(sample.arm(), omega, theory=theory))
    assert np.array_equal(counts, expected)


@pytest.mark.parametrize("theory", THEORIES)
@MANY
@given(sample=samples(), seed=st.integers(0, 2**32 - 1))
def test_sign_of_the_determinant_is_the_parity_of_the_count(theory, sample, seed):
    """(-1)^J = sign D, J by finite elements."""
    omega, expected = random_frequencies(sample.case(theory), seed)
    signs, logs = log_determinants(sample.arm(), omega, theory)
    assert np.all(np.isfinite(np.asarray(logs)))
    assert np.array_equal(np.asarray(signs), (-1.0) ** expected)


@pytest.mark.parametrize("name", ["P08", "P19", "P20", "P22", "P32", "P34", "P40"])
def test_count_never_falls(name):
    """J over a dense grid that runs through cut-offs, clusters and poles."""
    problem = problems()[name]
    omega = np.geomspace(problem.omega[0] / 10, problem.omega[-1] * 0.9999, 4096)
    counts = np.asarray(jm.count_below(problem.arm, omega, theory=problem.model))
    assert np.all(np.diff(counts) >= 0)
    far = np.min(np.abs(omega[:, None] / problem.omega - 1), axis=1) > COUNT_DISTANCE
    assert np.array_equal(counts[far], np.searchsorted(problem.omega, omega)[far])


@pytest.mark.parametrize("angle", [0.0, 0.9])
@pytest.mark.parametrize("mode", [1, 2, 3])
def test_timoshenko_meets_euler_bernoulli_as_the_square_of_the_depth(angle, mode):
    """The relative difference falls as (h/L)^2: slope 2 +- 0.05 on logarithmic axes."""
    thickness = np.geomspace(1 / 400, 1 / 100, 5)

    def difference(depth):
        values = {
            "L": 1.0,
            "E": 7e10,
            "A": 0.05 * depth,
            "I": 0.05 * depth**3 / 12,
            "rho": 2700.0,
            "kG": 2.2e10,
            "M": 100 * depth,
            "J": 0.0,
            "theta": 0.0,
            "kT": np.inf,
        }
        sample = Sample((values, {**values, "theta": angle}))
        slender, deep = (sample.omega(theory) for theory in ("euler_bernoulli", "timoshenko"))
        return 1 - deep[mode - 1] / slender[mode - 1]

    differences = [difference(depth) for depth in thickness]
    slopes = np.diff(np.log(differences)) / np.diff(np.log(thickness))
    assert np.all(np.abs(slopes - 2) <= 0.05), slopes
