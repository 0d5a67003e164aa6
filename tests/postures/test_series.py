"""Is the determinant the trigonometric polynomial that the series says, to the error that it states?"""

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamic_stiffness.beams import prepared_values
from jaxmodal.postures import harmonics as posture_harmonics
from jaxmodal.postures.expansions import PlanarExpansion
from jaxmodal.postures.polynomial_values import VaryingBeams
from jaxmodal.postures.terms import IN_THE_PLANE

#: the characteristic determinant is evaluated in float64, and its entries of very different size cancel
CHARACTERISTIC = 1e-8
#: between values of the series and its own coefficients in double-double, in units of the stated error: rounding
#: sqrt(omega) alone moves a value by a few of them
STATED = 3.0


def elastic_arm(links, springs=True):
    """Links of different lengths, with tip bodies, and springs in every second joint."""
    tube = jm.hollow_circle(0.08, 0.004, "cowper")
    return jm.Arm(
        tuple(
            jm.Link(
                0.5 + 0.2 * i,
                7e10,
                2700.0,
                tube,
                poisson_ratio=0.33,
                tip_mass=1.0 + i,
                tip_inertia=0.01,
                joint_stiffness=3e4 if springs and i % 2 else float("inf"),
            )
            for i in range(links)
        ),
        jm.Payload(2.0, 0.02),
    )


def terms(postures):
    """The harmonics of postures (N, n - 1), shape (H, N)."""
    return np.asarray(jax.jit(IN_THE_PLANE.of)(postures.T))


@pytest.mark.parametrize(
    ("links", "theory"),
    [
        pytest.param(n, x, marks=() if n == 2 or x == "timoshenko" else pytest.mark.slow)
        for n in (2, 3, 4)
        for x in jm.THEORIES
    ],
)
def test_few_postures_give_the_characteristic_determinant_of_all(links, theory):
    """Against the determinant of the paper's matrix, which shares nothing with the condensation."""
    arm = elastic_arm(links)
    omega = 700.0
    beams, flags = prepared_values(arm, theory)
    whole = VaryingBeams(beams, tuple(range(1, links)), IN_THE_PLANE)
    coefficients, _, _ = PlanarExpansion(whole, flags).coefficients(np.array([omega]))
    rng = np.random.default_rng(links)
    postures = rng.uniform(-np.pi, np.pi, (12, links - 1))
    series = coefficients[0] @ terms(postures)
    signs, logs = [], []
    for posture in postures:
        sign, log = jm.log_determinant(arm.with_posture(list(posture)), omega, theory=theory)
        signs.append(float(sign))
        logs.append(float(log))
    direct = np.array(signs) * np.exp(np.array(logs) - max(logs))
    scale = (direct @ series) / (series @ series)
    assert np.abs(scale * series - direct).max() < CHARACTERISTIC
    assert np.abs(direct).min() < 0.9, "the postures are meant to differ"


def test_the_series_of_one_link_changes_its_sign_at_the_frequencies():
    arm = jm.examples.three_link_industrial()
    arm = arm.replace(links=arm.links[:1])
    omega = np.asarray(jm.natural_frequencies(arm, 3).omega)
    series = jm.posture_series(arm, 1.5 * omega[-1])
    below, above = (
        np.asarray(series.evaluate(x * omega, [[]]).value) for x in (1 - 1e-9, 1 + 1e-9)
    )
    np.testing.assert_array_equal(np.sign(below[:, 0]), [1.0, -1.0, 1.0])
    np.testing.assert_array_equal(np.sign(above[:, 0]), [-1.0, 1.0, -1.0])


def test_terms_and_their_names():
    for links in range(2, 6):
        names = posture_harmonics.harmonic_names(links)
        assert len(names) == len(set(names)) == posture_harmonics.num_harmonics(links)
    angles = np.array([[0.3], [-1.1]])
    names = posture_harmonics.harmonic_names(3)
    values = terms(angles.T)[:, 0]
    functions = {"cos": np.cos, "sin": np.sin, "theta2": 0.3, "theta3": -1.1}
    for name, value in zip(names, values, strict=True):
        expression = name.replace("2 theta", "2*theta").replace(") ", ")*")
        assert abs(eval(expression, functions) - value) < 1e-15


@pytest.mark.parametrize("links", [2, 3])
def test_values_are_right_to_the_stated_error(links):
    arm = elastic_arm(links)
    series = jm.posture_series(arm, 4000.0)
    rng = np.random.default_rng(1)
    omega = np.exp(rng.uniform(np.log(1.0), np.log(4000.0), 60))
    postures = rng.uniform(-7.0, 7.0, (60, links - 1))
    found = series.evaluate(omega, postures)
    assert found.value.shape == (60, 60)
    beams, flags = prepared_values(arm, "timoshenko")
    d = posture_harmonics.determinant(beams, flags, omega, postures.T)
    exact = d.factor * np.exp(d.growth - np.asarray(found.log_scale) + d.rest)
    errors = np.abs(np.diag(np.asarray(found.value)) - exact)
    assert np.all(errors < STATED * np.asarray(found.error))
    assert float(np.max(found.error)) < 1e-13
    assert np.median(np.abs(exact)) > 1e-3, "scaled to order 1"


@pytest.mark.slow
def test_many_determinants_on_a_gpu_are_those_of_numpy(monkeypatch):
    """By a program of more lanes, which is compiled here for a CPU; the last call of it is filled up."""
    arm = elastic_arm(3)
    beams, flags = prepared_values(arm, "timoshenko")
    rng = np.random.default_rng(2)
    omega, postures = rng.uniform(1.0, 4000.0, 9000), rng.uniform(-np.pi, np.pi, (2, 9000))
    monkeypatch.setattr(posture_harmonics, "is_gpu", lambda _device: True)
    many = posture_harmonics.determinant(beams, flags, omega, postures)
    at = np.append(np.arange(0, 9000, 450), 8999)
    few = posture_harmonics.determinant(beams, flags, omega[at], postures[:, at])
    assert many.factor.shape == (9000,)
    assert np.array_equal(many.passed[at], few.passed)
    assert np.abs(many.factor[at] / few.factor - 1.0).max() < 1e-13
    growth = (many.growth[at] - few.growth) + (many.rest[at] - few.rest)
    assert np.abs(growth).max() < 1e-13


def test_the_nodes_are_exact():
    series = jm.posture_series(elastic_arm(2), 2000.0)
    x = np.asarray(series.nodes)
    assert np.all(np.diff(x) > 0.0)
    assert series.at_nodes.shape == (x.size, 3)
    posture = np.array([[0.7]])
    direct = series.at_nodes @ terms(posture)
    smooth = np.asarray(series.evaluate(x**2, posture).value)
    assert np.abs(np.asarray(direct) - smooth).max() < 1e-13


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"omega_max": -1.0}, "omega_max = -1.0"),
        ({"omega_max": float("nan")}, "omega_max = nan"),
        ({"omega_max": 1.0, "omega_min": 2.0}, "omega_min = 2.0"),
        ({"omega_max": 10.0, "theory": "timo"}, "theory = 'timo'"),
    ],
)
def test_bad_ranges_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        jm.posture_series(elastic_arm(2), **arguments)


def test_bad_evaluations_are_refused():
    series = jm.posture_series(elastic_arm(2), 100.0)
    with pytest.raises(ValueError, match="range"):
        series.evaluate([200.0], [[0.1]])
    with pytest.raises(ValueError, match="range"):
        series.evaluate([float("nan")], [[0.1]])
    with pytest.raises(ValueError, match=r"\(N, 1\): theta_2"):
        series.evaluate([50.0], [[0.1, 0.2]])
    with pytest.raises(
        ValueError, match="6 joints that vary has 7813 terms; expected at most 5000"
    ):
        jm.posture_series(elastic_arm(7), 100.0)


def test_a_value_has_the_same_bits_alone_and_beside_others():
    arm = jm.examples.three_link_industrial()
    series = jm.posture_series(arm, 60.0)
    rng = np.random.default_rng(3)
    omega, angles = rng.uniform(1.0, 60.0, 7), rng.uniform(-3.0, 3.0, (19, 2))
    together = series.evaluate(omega, angles).value
    for i in range(omega.size):
        np.testing.assert_array_equal(series.evaluate(omega[[i]], angles).value[0], together[i])
    for i in range(len(angles)):
        np.testing.assert_array_equal(
            series.evaluate(omega, angles[[i]]).value[:, 0], together[:, i]
        )


def test_segments_do_not_turn():
    """A body along link 1 makes a segment of what is beyond it: the series is still that of joint 3 alone."""
    two = jm.examples.two_link_flexible()
    arm = jm.attach_body(two, 1, position=0.5 * float(two.links[0].length), mass=0.0)
    cut, whole = (jm.posture_series(each, 5.0, omega_min=2.0) for each in (arm, two))
    assert (cut.joints, whole.joints) == ((3,), (2,))
    given = [2.5, 4.0], [[0.3], [-1.2]]
    signs = [np.sign(np.asarray(each.evaluate(*given).value)) for each in (cut, whole)]
    np.testing.assert_array_equal(*signs)
    with pytest.raises(ValueError, match="2 is none that turns"):
        jm.posture_series(arm, 5.0, joints=[2])
