"""Bodies and rotors of planar links: mass forms, their derivatives and their parts beside each other."""

import dataclasses

import numpy as np

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.eigenspaces.modal_mass import link_starts
from jaxmodal.statics.link_parts import Body, Motions


def _arm_and_motions():
    link = jm.Link(
        0.5,
        7e10,
        2700.0,
        jm.circle(0.02),
        tip_mass=2.0,
        tip_inertia=0.03,
        tip_centre_x=0.1,
        tip_centre_y=-0.2,
        hub_mass=1.5,
        hub_inertia=0.02,
        rotor_inertia=1e-3,
        gear_ratio=7.0,
        motor="beyond_spring",
    )
    beams = beam_values(jm.Arm((link, link.replace(tip_mass=1.0, gear_ratio=-4.0))))
    random = np.random.default_rng(0)
    first, second = (Motions(*(random.normal(size=(2, 6)) for _ in range(3))) for _ in range(2))
    return beams, first, second


def _form(beams, a, b):
    return beams.tip.form(a.tip, b.tip) + beams.form_at_joints(a, b)


def test_rates_are_derivatives_of_the_form_in_two_motions():
    """The form is quadratic at most in each value, so central differences are exact."""
    beams, first, second = _arm_and_motions()
    rates = beams.mass_rates(first, second)
    assert set(rates) == {
        *("tip_mass", "tip_inertia", "tip_moment_x", "tip_moment_y"),
        *("hub_mass", "hub_inertia", "rotor_inertia", "gear_ratio"),
    }
    for name, rate in rates.items():
        value, step = getattr(beams, name), 0.5
        up, down = (
            _form(dataclasses.replace(beams, **{name: value + x}), first, second)
            for x in (step, -step)
        )
        np.testing.assert_allclose(-rate, up - down, rtol=1e-11, atol=1e-12, err_msg=name)


def test_lumped_masses_have_the_same_form():
    beams, first, second = _arm_and_motions()
    total = 0.0
    for (a, masses), (b, _) in zip(beams.lumped(first), beams.lumped(second), strict=True):
        total = total + np.sum((a * masses * b).reshape(2, -1), axis=1)
    np.testing.assert_allclose(total, _form(beams, first, second), rtol=1e-12, atol=0)


def test_momentum_is_that_of_the_form():
    beams, first, second = _arm_and_motions()
    momentum = beams.tip.momentum(first.tip)
    found = np.sum(second.tip[:, :3] * momentum, axis=1)
    np.testing.assert_allclose(found, beams.tip.form(first.tip, second.tip), rtol=1e-12, atol=0)


def test_links_start_where_frames_in_space_have_them():
    offsets = {"base_offset_x": 0.1, "base_offset_y": -0.05}
    offsets |= {"end_offset_x": 0.07, "end_offset_y": 0.2}
    link = jm.Link(0.5, 7e10, 2700.0, jm.circle(0.02), poisson_ratio=0.3, **offsets)
    arm = jm.Arm((link.replace(joint_angle=0.3), link.replace(joint_angle=-1.1), link))
    expected = [frame.start[:2] for frame in jm.to_spatial(arm).frames()]
    np.testing.assert_allclose(link_starts(beam_values(arm)), expected, rtol=1e-13, atol=1e-15)


def test_opposed_bodies_have_no_term_that_cancels():
    """Sizes of rounding errors rest on it."""
    ones = np.ones((1, 3))
    for x, y in ((0.2, 0.3), (-0.2, 0.3), (0.2, -0.3), (-0.2, -0.3)):
        body = Body(*(np.array([value]) for value in (2.0, 0.5, x, y)))
        found = body.opposed().momentum(ones)
        np.testing.assert_allclose(found, [[-2.3, -2.2, -1.0]], rtol=1e-15, atol=0)
