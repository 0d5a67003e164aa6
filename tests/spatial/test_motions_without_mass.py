"""Do springs that move no mass have no frequency, whatever rounding leaves of one?

A point mass at a distance from all springs moves by their flexibility there: omega^2 is 1 over the eigenvalues of m F,
and there are as many as the mass has directions to move in.
"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, linearise
from jaxmodal.runtime.statuses import Status

#: draws, of which rounding made a frequency, often a certified one, in half
DRAWS = 4


def drawn(seed, turned=False):
    """A rigid link on three springs and a motor, that carries a point mass; place, directions and stiffnesses."""
    rng = np.random.default_rng(seed)
    place = np.array([rng.uniform(0.2, 1.0), 0.0, 0.0])
    mass = rng.uniform(0.2, 6.0)
    directions = rng.normal(size=(3, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    if turned:  # the mass on no axis of the link
        place = place[0] * directions[0]
        axis = tuple(directions[1])
    else:
        axis = (0.0, 0.0, 1.0)
    k = rng.uniform(10.0, 1e4, 4)
    springs = tuple(
        jm.Spring("rotation", tuple(d), each) for d, each in zip(directions, k[1:], strict=True)
    )
    link = jm.SpatialLink(
        0.0, rigid=True, joint_axis=axis, joint_stiffness=k[0], joint_springs=springs
    )
    arm = jm.SpatialArm((link,), payload=jm.RigidBody(mass, centre=tuple(place)))
    gives = np.concatenate([[axis], directions])
    return arm, mass, place, gives, k


def expected(mass, place, gives, stiffnesses):
    """Frequencies in Hz of the two directions across the line to the mass, to rounding of the lowest."""
    moved = np.cross(gives, place)
    flexibility = mass * (moved.T / stiffnesses) @ moved
    return np.sort(1.0 / (2.0 * np.pi * np.sqrt(np.linalg.eigvalsh(flexibility)[1:])))


@pytest.mark.parametrize("turned", [False, True])
def test_a_mass_does_not_turn_about_its_own_place(turned):
    for seed in range(DRAWS):
        arm, *numbers = drawn(seed, turned)
        found = jm.natural_frequencies(arm, 4, throw=False)
        np.testing.assert_allclose(
            found.frequencies_hz[:2], expected(*numbers), rtol=1e-9, atol=0.0
        )
        assert found.status[:2].tolist() == [Status.certified] * 2
        assert np.isnan(found.frequencies_hz[2:]).all()
        assert found.status[2:].tolist() == [Status.not_converged] * 2
        assert jm.count_below(arm, 1e90) == 2


def test_shapes_and_derivatives_of_what_moves_no_mass_are_not_told():
    arm, *_ = drawn(3)
    table = jm.sensitivities(arm, 3, addresses=["payload.mass"], throw=False)
    mass = arm.payload.mass
    omega = 2.0 * np.pi * np.asarray(jm.natural_frequencies(arm, 2).frequencies_hz)
    np.testing.assert_allclose(table.derivative[:2, 0], -0.5 * omega / mass, rtol=1e-12, atol=0.0)
    assert np.isnan(table.derivative[2]).all()
    shapes = jm.mode_shapes(arm, 3, throw=False)
    assert shapes.frequencies.status.tolist()[2] == Status.not_converged


def test_small_motions_in_time_know_it():
    """Linearisations, whose matrices hold what rounding left."""
    for seed in range(DRAWS):
        arm, *numbers = drawn(seed, True)
        model = flexible_arm(arm)
        small = linearise(model, np.zeros(model.num_coordinates), joints="locked")
        found = small.natural_frequencies() / (2.0 * np.pi)
        np.testing.assert_allclose(found[:2], expected(*numbers), rtol=1e-9, atol=0.0)
        assert np.isinf(found[2:]).all()
        with pytest.raises(jm.ArmError, match="mass: something that gives way has none"):
            small.eigenvalues()


def test_cells_of_a_batch_know_it_each():
    """The same arms side by side, more than are searched in double-double at once."""
    arm, _, place, gives, k = drawn(5)
    masses = np.linspace(0.5, 4.0, 20)
    found = jm.natural_frequencies_batch(arm, {"payload.mass": masses}, 3)
    for own, row in zip(masses, np.asarray(found.frequencies_hz), strict=True):
        np.testing.assert_allclose(row[:2], expected(own, place, gives, k), rtol=1e-9, atol=0.0)
        assert np.isnan(row[2])
    assert np.all(np.asarray(found.status)[:, 2] != Status.certified)


def test_a_point_mass_on_an_elastic_base_has_three_modes():
    """Six springs and one place to move: F = 1/k + [r]^T 1/k [r]."""
    along, about = np.array([1e5, 2e5, 3e5]), np.array([1e3, 2e3, 5e3])
    place, mass = np.array([0.7, 0.2, -0.4]), 3.0
    link = jm.SpatialLink(0.0, rigid=True)
    body = jm.RigidBody(mass, centre=tuple(place))
    arm = jm.SpatialArm((link,), body, base_stiffness=(*along, *about))
    moved = np.cross(np.eye(3), place)
    flexibility = mass * (np.diag(1.0 / along) + (moved.T / about) @ moved)
    omega = np.sort(1.0 / np.sqrt(np.linalg.eigvalsh(flexibility)))
    found = jm.natural_frequencies(arm, 5, throw=False)
    np.testing.assert_allclose(2.0 * np.pi * found.frequencies_hz[:3], omega, rtol=1e-12, atol=0.0)
    assert np.isnan(found.frequencies_hz[3:]).all()


@pytest.mark.parametrize("light", [2e-12, 2e-22])
def test_little_mass_is_no_rounding(light):
    """A mass of 1e-12 or 1e-22 of its neighbour's between two springs in a row has its frequency."""
    springs = (jm.Spring("translation", (1.0, 0.0, 0.0), 100.0),)
    heavy = 2.0
    links = tuple(
        jm.SpatialLink(0.0, rigid=True, joint_springs=springs, body=jm.RigidBody(mass))
        for mass in (light, heavy)
    )
    found = jm.natural_frequencies(jm.SpatialArm(links), 3, throw=False)
    # m1 m2 x^2 - (100 m1 + 200 m2) x + 100^2 = 0
    product, total = 1e4 / (light * heavy), 200.0 / light + 100.0 / heavy
    larger = 0.5 * (total + np.sqrt(total**2 - 4.0 * product))
    np.testing.assert_allclose(
        2.0 * np.pi * found.frequencies_hz[:2],
        np.sqrt([product / larger, larger]),
        rtol=1e-9,
        atol=0.0,
    )
    assert np.isnan(found.frequencies_hz[2])


@pytest.mark.parametrize("ratio", [1.0, 20.0])
def test_a_rotor_on_a_sprung_axis_is_a_mass_of_its_own_beside_gears_alone(ratio):
    """T = (J (a' + N b')^2 + I (a' + b')^2)/2 of two springs about one axis: with N = 1 a single motion has mass."""
    rotor, inertia, k = 0.01, 3.0, (400.0, 700.0)
    turned = jm.RigidBody(1.0, inertia=(inertia, inertia, inertia))
    first = jm.SpatialLink(0.0, rigid=True, joint_stiffness=k[0])
    second = first.replace(
        joint_stiffness=k[1], rotor_inertia=rotor, gear_ratio=ratio, motor="beyond_spring"
    )
    found = jm.natural_frequencies(jm.SpatialArm((first, second), turned), 2, throw=False)
    ways = np.array([[1.0, ratio], [1.0, 1.0]])
    flexible = (ways.T * (rotor, inertia)) @ ways / np.sqrt(np.outer(k, k))
    omega = 1.0 / np.sqrt(np.linalg.eigvalsh(flexible)[::-1])
    number = 1 if ratio == 1.0 else 2
    np.testing.assert_allclose(
        2.0 * np.pi * found.frequencies_hz[:number], omega[:number], rtol=1e-11, atol=0.0
    )
    assert np.isnan(found.frequencies_hz[number:]).all()
