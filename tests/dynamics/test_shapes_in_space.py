"""Families of shapes of arms in space beside the exact frequencies, own shapes, and inertia matrices of first order.

What compiles: inertia matrices of three arms, and the terms of a planar arm in both kinds of models.
"""

import functools

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import (
    energies,
    flexible_arm,
    forward_dynamics,
    inertia_matrix,
)
from jaxmodal.dynamics.rod_shapes import end_mass_rods, polynomial_rods, sampled_rods
from jaxmodal.dynamics.shapes import polynomial_shapes, sampled_shapes
from jaxmodal.runtime.errors import ArmError
from tests.dynamics.test_in_space import flat_arm
from tests.support.spatial_dynamics_cases import locked_frequencies

SECTION = jm.rectangle(0.012, 0.03, "cowper")
BODY = jm.RigidBody(0.7, (0.01, -0.02, 0.03), [[4e-3, 5e-4, 0], [5e-4, 6e-3, 0], [0, 0, 5e-3]])


@functools.cache
def elbow(angle=0.9):
    """A bent arm with rolled sections, a segment, offsets and a joint that gives way."""
    first = jm.SpatialLink(
        0.6, 7e10, 2700.0, SECTION, poisson_ratio=0.33, section_roll=0.4, body=BODY
    )
    second = first.replace(
        joint_angle=angle,
        joint_axis=(0.2, 1.0, -0.4),
        joint_stiffness=4e3,
        end_offset=(0.03, 0.0, -0.06),
        body=None,
    )
    return jm.SpatialArm((first, second), BODY).with_body(2, 0.25, jm.RigidBody(0.4))


def locked(arm, model):
    """Locked frequencies in the posture of the arm, rad/s."""
    return locked_frequencies(model, [float(x.joint_angle) for x in arm.links if not x.segment])


def test_shapes_of_the_locked_arm_are_exact_in_its_posture():
    """Three modes in three coordinates of each deformation, or fewer where a link has not so many ways."""
    arm = elbow()
    model = flexible_arm(arm, 3, shapes="locked_arm")
    assert model.counts[0][0] == 0
    assert max(map(max, model.counts)) <= 3
    exact = np.asarray(jm.natural_frequencies(arm, 3, theory="bending_only").omega)
    assert np.all(np.abs(locked(arm, model)[:3] / exact - 1.0) < 1e-9)


@pytest.mark.slow
def test_shapes_of_the_locked_arm_with_stretch_and_half_a_radian_away():
    arm, away = elbow(), elbow(1.4)
    every = dict.fromkeys(("stretch", "torsion", "bending_xy", "bending_xz"), 4)
    model = flexible_arm(arm, every, shapes="locked_arm")
    exact = np.asarray(jm.natural_frequencies(arm, 4, theory="euler_bernoulli").omega)
    frequencies = locked(arm, model)
    rounding = 4.0 * np.finfo(float).eps * (frequencies[-1] / exact) ** 2
    assert np.all(np.abs(frequencies[:4] / exact - 1.0) < 1e-9 + rounding)
    elsewhere = np.asarray(jm.natural_frequencies(away, 3, theory="euler_bernoulli").omega)
    excess = locked(away, model)[:3] / elsewhere - 1.0
    assert np.all(excess > -1e-9)
    assert np.all(excess < 1e-4)


def test_clamped_mass_shapes_of_one_link_are_its_modes():
    """A body that is centred on the end: bending in both planes, twist and stretch, each with its own share of it."""
    tip = jm.RigidBody(1.3, inertia=(2e-3, 3e-3, 5e-3))
    bar = jm.SpatialLink(0.6, 7e10, 2700.0, SECTION, poisson_ratio=0.33)
    arm = jm.SpatialArm((bar,), tip)
    counts = {"stretch": 1, "torsion": 1, "bending_xy": 2, "bending_xz": 2}
    model = flexible_arm(arm, counts, shapes="clamped_mass")
    found = locked(arm, model)
    exact = np.asarray(jm.natural_frequencies(arm, 12, theory="euler_bernoulli").omega)
    nearest = np.abs(found[:, None] / exact[None, :] - 1.0).min(axis=1)
    assert np.all(nearest < 1e-11)


def test_what_lies_beyond_a_link_is_its_end_body():
    """Two upright bars: the first carries the second, its tip body and payload; one shape beats four that know none."""
    bar = jm.SpatialLink(0.6, 7e10, 2700.0, SECTION, poisson_ratio=0.33)
    arm = jm.SpatialArm((bar, bar.replace(joint_axis=(0, 1, 0), joint_angle=-1.2)), BODY)
    exact = np.asarray(jm.natural_frequencies(arm, 1, theory="bending_only").omega)[0]
    counts = {"bending_xy": 1, "bending_xz": 1, "torsion": 1}
    carrying = locked(arm, flexible_arm(arm, counts, shapes="clamped_mass"))[0]
    free = locked(arm, flexible_arm(arm, counts, shapes="clamped_free"))[0]
    assert 0.0 < carrying / exact - 1.0 < 0.1 * (free / exact - 1.0)


def test_a_rod_with_a_mass_at_its_end():
    """z tan z = 1/ratio, none missing; without a mass odd quarter waves."""
    _, slope = end_mass_rods(5, 0.7).evaluate(np.array([0.0, 1.0]))
    waves = slope[0]
    assert np.allclose(waves * np.tan(waves), 1.0 / 0.7, rtol=1e-12, atol=0)
    assert np.all(np.floor(waves / np.pi) == np.arange(5))
    _, slope = end_mass_rods(3, 0.0).evaluate(np.zeros(1))
    assert np.allclose(slope[0], (np.arange(3) + 0.5) * np.pi, rtol=1e-15, atol=0)


def test_own_shapes_that_are_polynomials_are_the_polynomials():
    arm = elbow()
    xi = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 30))
    beams = sampled_shapes(xi, polynomial_shapes(2).evaluate(xi)[0])
    rods = sampled_rods(xi, polynomial_rods(1).evaluate(xi)[0])
    own = {"bending_xy": beams, "bending_xz": beams, "torsion": rods}
    made = flexible_arm(arm, shapes=own)
    expected = flexible_arm(arm, {"bending_xy": 2, "bending_xz": 2, "torsion": 1})
    assert made.counts == expected.counts
    assert np.allclose(made.gram, expected.gram, rtol=1e-9, atol=1e-12)
    size = np.abs(expected.stiffness).max()
    assert np.allclose(made.stiffness, expected.stiffness, rtol=1e-9, atol=1e-9 * size)


@pytest.mark.slow
def test_an_inertia_matrix_of_first_order_is_that_of_the_planar_model():
    """Bending, a rotor with its gear, hubs and gravity, at random states: codes that differ."""
    arm = flat_arm()
    first = {"shapes": "polynomial", "inertia_order": "first"}
    planar = flexible_arm(arm, 2, gravity=(1.0, -9.0), **first)
    spatial = jm.to_spatial(arm)
    in_space = flexible_arm(spatial, {"bending_xy": 2}, gravity=(1.0, -9.0, 0.0), **first)
    rng = np.random.default_rng(4)
    q, rate = 0.1 * rng.standard_normal((2, 3, 6))
    torques = rng.standard_normal((3, 2))
    for term, *state in (
        (inertia_matrix, q),
        (forward_dynamics, q, rate, torques),
        (energies, q, rate),
    ):
        found, expected = (np.asarray(term(model, *state)) for model in (in_space, planar))
        assert np.allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    full = inertia_matrix(in_space.posed(inertia_order="full"), q)
    assert not np.allclose(full, inertia_matrix(in_space, q), rtol=1e-6, atol=0)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"torsion": polynomial_shapes(1)}, r"torsion = .*: must be RodShapes or the name of a"),
        ({"bending_xy": polynomial_rods(1)}, r"bending_xy = .*: must be LinkShapes or the name"),
        (polynomial_shapes(2), r"shapes = .*: must be one of 'polynomial'"),
    ],
)
def test_shapes_that_are_not_for_a_deformation(shapes, message):
    with pytest.raises(ArmError, match=message):
        flexible_arm(elbow(), shapes=shapes)


def test_locked_shapes_of_an_arm_that_moves_freely_are_refused():
    free = jm.Spring("rotation", (1.0, 0.0, 0.0), 0.0)
    bar = jm.SpatialLink(0.6, 7e10, 2700.0, SECTION, poisson_ratio=0.33, joint_springs=(free,))
    with pytest.raises(ArmError, match="shapes = 'locked_arm': the arm moves freely in one"):
        flexible_arm(jm.SpatialArm((bar,)), 2, shapes="locked_arm")
    with pytest.raises(ArmError, match="values: polynomials held at the base miss them by"):
        sampled_rods(np.linspace(0.0, 1.0, 9), np.ones((9, 1)))
