"""Are the forces of inertia of a rigid arm on its way those of masses in turning frames, in the plane and in space?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.moves import modes_along
from jaxmodal.moves.modes_along import modes_in

TUBE = jm.hollow_circle(outer_diameter=0.06, wall_thickness=0.003, shear_coefficient="cowper")
BEAM = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33, "section": TUBE}
MOTOR = {"rotor_inertia": 3e-4, "gear_ratio": 80.0, "motor": "beyond_spring"}


def planar():
    upper = jm.Link(
        0.9,
        **BEAM,
        tip_mass=1.0,
        tip_inertia=0.02,
        hub_mass=0.5,
        hub_inertia=0.03,
        joint_stiffness=3e4,
    )
    middle = jm.Link(0.4, **BEAM, segment=True, tip_mass=0.2, end_offset_x=0.1, end_offset_y=0.05)
    fore = jm.Link(
        0.7, **BEAM, joint_angle=0.8, joint_stiffness=2e4, hub_mass=0.4, hub_inertia=0.01, **MOTOR
    )
    return jm.Arm((upper, middle, fore), jm.Payload(2.0, 0.03))


def spatial():
    body = jm.RigidBody(1.2, centre=(0.02, -0.03, 0.05), inertia=(0.02, 0.03, 0.04))
    up = (jm.Rotation((0, 1, 0), -np.pi / 2),)
    first = jm.SpatialLink(0.5, rigid=True, joint_frame=up, joint_stiffness=5e4, hub=body, **MOTOR)
    second = jm.SpatialLink(
        0.8, **BEAM, joint_axis=(0, 1, 0), joint_angle=0.7, joint_stiffness=3e4, body=body, **MOTOR
    )
    third = jm.SpatialLink(
        0.6,
        **BEAM,
        joint_axis=(0, 0, 1),
        joint_angle=-0.4,
        joint_stiffness=3e4,
        stator=body,
        **MOTOR,
    )
    return jm.SpatialArm((first, second, third), payload=body)


@pytest.mark.parametrize("arm", [planar(), spatial()], ids=["in the plane", "in space"])
def test_the_first_joint_turns_all_as_a_base_would(arm):
    """Participation by the turn of a base is computed elsewhere; rotors that turn with their motors come on top."""
    number = {2: 2, 3: 5}[modes_in(arm, 4, "timoshenko", arm).tips.shape[1]]
    bare = arm.replace(
        links=tuple(
            link.replace(rotor_inertia=None, gear_ratio=None, motor=None) for link in arm.links
        )
    )
    found = modes_in(bare, 4, "timoshenko", bare)
    expected = np.asarray(jm.mode_shapes(bare, 4).participation)[:, number]
    np.testing.assert_allclose(found.joints[:, 0], expected, rtol=1e-9, atol=1e-11)


def test_a_point_mass_on_a_light_beam_is_thrown_outwards():
    """m w^2 r along the link bends nothing; with the mass aside it pulls with m w^2 times the distance."""
    light = {"youngs_modulus": 7e10, "density": 1e-3, "section": jm.raw_section(1e-4, 1e-8)}
    arm = jm.Arm(
        (jm.Link(1.0, **light), jm.Link(0.6, **light, joint_angle=np.pi / 2)), jm.Payload(3.0)
    )
    found = modes_in(arm, 1, "euler_bernoulli", arm)
    place, mode = np.array([1.0, 0.6]), found.tips[0]
    np.testing.assert_allclose(found.turning[0, 0, 0], -3.0 * mode @ place, rtol=1e-6, atol=0)
    np.testing.assert_allclose(
        found.turning[0, 1, 1], -3.0 * mode @ [0.0, 0.6], rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(
        found.turning[0, 0, 1], -3.0 * mode @ [0.0, 0.6], rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(found.joints[0, 0], 3.0 * mode @ [-0.6, 1.0], rtol=1e-6, atol=0)
    np.testing.assert_allclose(found.joints[0, 1], 3.0 * mode @ [-0.6, 0.0], rtol=1e-6, atol=0)


def test_in_space_a_point_mass_and_a_spinning_tensor():
    """Two joints at right angles: the point has a = dot w x r + w x (w x r), the tensor I dot w + w x I w."""
    light = {"youngs_modulus": 7e10, "density": 1e-3, "poisson_ratio": 0.3}
    section = jm.spatial_section(1e-4, 1e-8, 2e-8, 3e-8)
    axes = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    payload = jm.RigidBody(3.0, inertia=(0.1, 0.15, 0.2))
    joint = jm.SpatialLink(0.0, rigid=True, joint_axis=axes[0], joint_stiffness=1e3)
    boom = jm.SpatialLink(0.8, **light, section=section, joint_axis=axes[1])
    arm = jm.SpatialArm((joint, boom), payload=payload)
    count = 4
    found = modes_in(arm, count, "euler_bernoulli", arm)
    shapes = jm.mode_shapes(arm, count, theory="euler_bernoulli", stations=2)
    moved, turned = (np.asarray(x)[:, -1, -1] for x in (shapes.displacement, shapes.rotation))
    place, tensor = np.array([0.8, 0.0, 0.0]), np.diag([0.1, 0.15, 0.2])
    rates = np.array([1.3, -0.7])
    spin = rates @ axes
    change = np.cross(rates[0] * axes[0], rates[1] * axes[1])
    pull = np.cross(change, place) + np.cross(spin, np.cross(spin, place))
    moment = tensor @ change + np.cross(spin, tensor @ spin)
    expected = 3.0 * moved @ pull + turned @ moment
    by_rates = np.einsum("kij,i,j->k", found.turning, rates, rates)
    np.testing.assert_allclose(by_rates, expected, rtol=1e-4, atol=1e-6)
    alone = 3.0 * moved @ np.cross(axes[1], place) + turned @ tensor @ axes[1]
    np.testing.assert_allclose(found.joints[:, 1], alone, rtol=1e-4, atol=1e-6)


def test_a_rotor_that_spins_resists_the_turn_of_what_carries_it():
    """J N q2' about x, carried about z at q1': J N q1' q2' about y. A tensor I turns itself: I q1' q2'."""
    light = {"youngs_modulus": 7e10, "density": 1e-3, "poisson_ratio": 0.3}
    section = jm.spatial_section(1e-4, 1e-8, 2e-8, 3e-8)
    rotor = {"rotor_inertia": 2e-3, "gear_ratio": 100.0, "motor": "held"}
    boom = jm.SpatialLink(0.8, **light, section=section, joint_axis=(0, 0, 1))
    wrist = jm.SpatialLink(0.0, rigid=True, joint_axis=(1, 0, 0), **rotor)
    arm = jm.SpatialArm((boom, wrist), payload=jm.RigidBody(3.0, inertia=(0.1, 0.1, 0.1)))
    found = modes_in(arm, 4, "euler_bernoulli", arm)
    shapes = jm.mode_shapes(arm, 4, theory="euler_bernoulli", stations=2)
    turned = np.asarray(shapes.rotation)[:, 0, -1]
    expected = (2e-3 * 100.0 + 0.1) * turned @ np.cross([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    assert np.abs(expected).max() > 0.1
    both = found.turning[:, 0, 1] + found.turning[:, 1, 0]
    np.testing.assert_allclose(both, expected, rtol=1e-4, atol=1e-6)


def test_a_mode_keeps_its_sign_along_the_way(monkeypatch):
    """Signs of shapes are free: a mode that comes back the other way round is turned."""
    whole, flips = modes_along.modes_in, iter([1.0, -1.0, -1.0, 1.0, -1.0])

    def flipped(*asked):
        sign, found = next(flips), whole(*asked)
        signed = ("motions", "tips", "joints", "turning", "base")
        return found._replace(**{name: sign * getattr(found, name) for name in signed})

    arm, way = planar(), np.linspace([0.0, 0.8], [0.3, 0.2], 5)
    expected = modes_along.modes_along(arm, way, 3, 4, "timoshenko")
    monkeypatch.setattr(modes_along, "modes_in", flipped)
    found = modes_along.modes_along(arm, way, 3, 4, "timoshenko")
    for name in ("tips", "joints", "turning"):
        given, wanted = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(given, wanted, rtol=1e-12, atol=1e-14)
    assert found.assurance.min() > 0.9
