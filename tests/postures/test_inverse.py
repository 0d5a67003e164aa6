"""Are the postures at which an arm has a frequency all found, and does it have it there?"""

import dataclasses

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.addresses import list_addresses
from jaxmodal.postures import trigonometric_zeros

#: distance of the frequency asked for from the nearest one of the posture found, relative
ROUND_TRIP = 1e-11
THREE = jm.examples.three_link_industrial()
#: angles are compared where the frequency depends on them: rounding of the frequency moves them by eps / slope
ANGLE = 1e-6


def random_arm(rng):
    """Two to four links of different dimensions, tip bodies, and springs in some joints."""
    links = []
    for _ in range(rng.integers(2, 5)):
        area = np.exp(rng.uniform(np.log(1e-4), np.log(3e-3)))
        depth = np.exp(rng.uniform(np.log(0.01), np.log(0.1)))
        links.append(
            jm.Link(
                rng.uniform(0.2, 1.5),
                7e10,
                2700.0,
                jm.raw_section(area, area * depth**2 / 12.0, 0.85),
                poisson_ratio=0.33,
                tip_mass=rng.uniform(0.0, 5.0),
                tip_inertia=rng.uniform(0.0, 0.05),
                joint_angle=rng.uniform(-np.pi, np.pi),
                joint_stiffness=10.0 ** rng.uniform(3, 6) if rng.random() < 0.4 else float("inf"),
            )
        )
    return jm.Arm(tuple(links), jm.Payload(rng.uniform(0.0, 5.0), rng.uniform(0.0, 0.05)))


def frequencies(arms, theory):
    """(cells, 12) of arms with the same number of links: one batch in which all that differs is a value."""
    values = {
        address: np.array([float(jm.get_parameter(arm, address)) for arm in arms])
        for address in list_addresses(arms[0])
        if not address.endswith("thickness_factor")
    }
    varied = {
        address: column
        for address, column in values.items()
        if address == "link1.length" or np.any(column != column[0])
    }
    return np.asarray(jm.natural_frequencies_batch(arms[0], varied, 12, theory=theory).omega)


def alike(trips):
    """Numbers of trips that one batch can solve."""
    kinds = {}
    for number, (arm, theory, *_) in enumerate(trips):
        kinds.setdefault((arm.num_links, theory), []).append(number)
    return kinds.items()


def round_trips(arms, trips_each, seed):
    """From each arm in so many postures to a frequency, and back; every other one beside a frequency."""
    rng = np.random.default_rng(seed)
    trips = []
    for i in range(arms):
        arm = random_arm(rng)
        joint, theory = int(rng.integers(2, arm.num_links + 1)), jm.THEORIES[i % 4]
        for number in range(i * trips_each, (i + 1) * trips_each):
            posture = rng.uniform(-np.pi, np.pi, arm.num_links - 1)
            beside = 1.0 + 1e-3 * rng.uniform(-1.0, 1.0) * (number % 2)
            trips.append((arm.with_posture(posture), theory, joint, rng.integers(0, 8), beside))
    asked = np.empty(len(trips))
    for (_, theory), numbers in alike(trips):
        spectra = frequencies([trips[k][0] for k in numbers], theory)
        for k, spectrum in zip(numbers, spectra, strict=True):
            asked[k] = spectrum[trips[k][3]] * trips[k][4]
    answers = []
    for first in range(0, len(trips), trips_each):
        arm, theory, joint, *_ = trips[first]
        some = np.arange(first, first + trips_each)
        own = np.array([[link.joint_angle for link in trips[k][0].links[1:]] for k in some], float)
        result = jm.postures_at(arm, asked[some], joint, own, theory=theory)
        assert np.array_equal(result.found, result.certified), "an angle without proof"
        for k, posture, angles, modes in zip(some, own, result.angle, result.mode, strict=True):
            angles = np.asarray(angles)
            for angle, mode in zip(angles, np.asarray(modes), strict=True):
                if np.isfinite(angle):
                    turned = posture.copy()
                    turned[joint - 2] = angle
                    answers.append((arm.with_posture(turned), theory, asked[k], mode))
            if k % 2 == 0:
                turns = np.abs((angles - posture[joint - 2] + np.pi) % (2 * np.pi) - np.pi)
                assert np.nanmin(turns) < ANGLE, "the posture that the frequency came from"
    for (_, theory), numbers in alike(answers):
        spectra = frequencies([answers[k][0] for k in numbers], theory)
        for k, spectrum in zip(numbers, spectra, strict=True):
            _, _, omega, mode = answers[k]
            distance = np.abs(spectrum / omega - 1.0)
            assert distance.min() < ROUND_TRIP
            assert distance.argmin() + 1 == mode
    return len(answers)


def test_the_frequency_is_one_of_those_in_the_postures_found():
    assert round_trips(12, 1, seed=1) > 18


@pytest.mark.slow
def test_hundreds_of_round_trips():
    """Of 60 random arms, each in five random postures."""
    assert round_trips(60, 5, seed=2) > 450


def test_all_angles_are_found():
    """As many as the count changes on a fine scan of the joint, for both joints."""
    omega = 2 * np.pi * 230.0
    scan = np.linspace(-np.pi, np.pi, 721)
    for joint in (2, 3):
        other = {"link2.joint_angle": 0.9, "link3.joint_angle": 0.9}
        del other[f"link{joint}.joint_angle"]
        arm = jm.set_parameters(THREE, other)
        spectra = jm.natural_frequencies_batch(arm, {f"link{joint}.joint_angle": scan[::8]}, 8)
        assert bool(spectra.certified.all())
        assert np.all(np.asarray(spectra.omega)[:, -1] > omega)
        counts = np.sum(np.asarray(spectra.omega) < omega, axis=1)
        result = jm.postures_at(arm, omega, joint)
        angles = np.asarray(result.angle)[np.asarray(result.found)]
        for low, high, one, two in zip(scan[:-8:8], scan[8::8], counts, counts[1:], strict=False):
            crossed = np.sum((angles > low) & (angles < high))
            assert (crossed - abs(one - two)) % 2 == 0
            assert crossed >= abs(one - two)


def test_at_a_double_root_the_posture_is_found():
    theta = np.radians([0.0, -64.1983428536445678])
    result = jm.postures_at(THREE, 2 * np.pi * 37.0643031192404803, 2, theta)
    first = int(np.nanargmin(np.asarray(result.angle)))
    assert abs(np.degrees(result.angle[first]) + 155.009952919027194) < 1e-7
    assert (int(result.count_below[first]), int(result.count_above[first])) == (1, 3)


def test_an_extreme_frequency_has_one_posture():
    """Stretched out, a two-link arm has an extreme frequency: the polynomial touches zero at 0."""
    arm = jm.examples.two_link_flexible()
    lowest = float(jm.natural_frequencies(arm, 1).omega[0])
    result = jm.postures_at(arm, lowest)
    assert int(result.found.sum()) == 1
    assert abs(float(result.angle[0])) < 1e-6
    assert bool(result.certified[0])
    assert int(jm.postures_at(arm, 0.9 * lowest).found.sum()) == 0
    assert int(jm.postures_at(arm, 1.1 * lowest).found.sum()) == 2


def test_places_without_an_angle_leave_nothing_open():
    arm = jm.examples.two_link_flexible()
    lowest = float(jm.natural_frequencies(arm.with_posture_deg((0.0,)), 1).omega[0])
    found = jm.postures_at(arm, [1.05 * lowest, 0.5 * lowest])
    assert found.found.sum(axis=1).tolist() == [2, 0]
    assert found.ok
    assert found.explain().startswith("2 of 2 certified")
    none = jm.postures_at(arm, 0.5 * lowest)
    assert (none.ok, none.explain()) == (True, "no angle was found.")
    doubtful = dataclasses.replace(found, status=np.full((2, 4), jm.Status.uncertified))
    assert not doubtful.ok
    assert "2 of 2 uncertified (at 0, 1)" in doubtful.explain()


def test_shapes():
    omega = 2 * np.pi * np.array([30.0, 60.0, 90.0])
    postures = np.random.default_rng(0).uniform(-3.0, 3.0, (3, 2))
    many = jm.postures_at(THREE, omega, 3, postures)
    assert many.angle.shape == many.mode.shape == many.status.shape == (3, 4)
    assert jm.postures_at(THREE, omega, 3).angle.shape == (3, 4)
    assert jm.postures_at(THREE, omega[0], 3, postures).angle.shape == (3, 4)
    one = jm.postures_at(THREE, float(omega[1]), 3, postures[1])
    assert one.angle.shape == (4,)
    assert one.angle is one.value
    assert np.allclose(one.angle, many.angle[1], rtol=0.0, atol=1e-9, equal_nan=True)
    finite = np.isfinite(np.asarray(many.angle))
    assert np.array_equal(np.sort(~finite, axis=1), ~finite), "NaN stands last"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"omega": -1.0}, "omega = -1.0"),
        ({"omega": float("nan")}, "omega = nan"),
        ({"joint": 1}, "from 2 to 3"),
        ({"joint": 4}, "from 2 to 3"),
        ({"postures": [0.1]}, r"\(2,\) or \(N, 2\)"),
        ({"postures": [0.1, float("nan")]}, "not finite"),
        ({"omega": np.ones(3), "postures": np.ones((4, 2))}, "3 values and postures 4 rows"),
        ({"theory": "beam"}, "theory = 'beam'"),
    ],
)
def test_bad_questions_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        jm.postures_at(THREE, **({"omega": 100.0} | changes))


def test_an_arm_of_one_link_has_no_joint_to_turn():
    with pytest.raises(ValueError, match="one link"):
        jm.postures_at(jm.Arm(THREE.links[:1]), 100.0)


SAMPLES = np.linspace(-np.pi, np.pi, 200_001)
ANGLES = np.stack(
    [np.cos(n * SAMPLES) if n >= 0 else np.sin(-n * SAMPLES) for n in (0, 1, -1, 2, -2)]
)


def zeros_by_sampling(polynomial):
    """Of a + b cos t + c sin t + d cos 2t + e sin 2t."""
    negative = polynomial @ ANGLES < 0.0
    return SAMPLES[:-1][negative[:-1] != negative[1:]]


def test_zeros_of_random_polynomials():
    rng = np.random.default_rng(5)
    polynomials = rng.normal(size=(300, 5)) * 10.0 ** rng.uniform(-3.0, 0.0, (300, 5))
    polynomials[:20, 3:] = 0.0
    polynomials[20:40, 1:3] = 0.0
    found, crossing = trigonometric_zeros.zeros(polynomials, even=False)
    for polynomial, angles, which in zip(polynomials, found, crossing, strict=True):
        expected = zeros_by_sampling(polynomial)
        angles = np.sort(trigonometric_zeros.wrapped(angles[which]))
        assert angles.size == expected.size
        assert np.all((angles >= expected - 1e-9) & (angles <= expected + 4e-5))
