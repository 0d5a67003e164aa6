"""Joints that slide, segments and elastic bases in motion, beside closed forms and the exact frequencies.

What compiles: all terms of a cart with a rod and of one arm that has everything, one simulation, and linearisations.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import (
    Hold,
    Motion,
    flexible_arm,
    forward_dynamics,
    linearise,
    link_positions,
    simulate,
    static_state,
    tip_position,
    turning_frequencies,
)
from jaxmodal.dynamics.files import simulation_from_dict
from jaxmodal.dynamics.linearisation import Linearisation
from jaxmodal.dynamics.mechanics.massless import frequencies_with_massless, massless
from jaxmodal.runtime.errors import ArmError
from tests.support.spatial_dynamics_cases import ROUNDING, all_terms, locked_frequencies, relative

SECTION = jm.rectangle(0.012, 0.03, "cowper")
BODY = jm.RigidBody(0.7, (0.01, -0.02, 0.03), [[4e-3, 5e-4, 0], [5e-4, 6e-3, 0], [0, 0, 5e-3]])
BEAM = jm.SpatialLink(
    0.6, 7e10, 2700.0, SECTION, poisson_ratio=0.33, section_roll=0.4, body=BODY, name=""
)
SPRUNG = jm.SpatialLink(
    0.5,
    7e10,
    2700.0,
    SECTION,
    poisson_ratio=0.33,
    prismatic=True,
    base_offset=(0.2, 0.03, -0.02),
    section_roll=0.3,
    joint_frame=(jm.Rotation((0.0, 1.0, 0.2), 0.7),),
    joint_springs=(
        jm.Spring("translation", (1.0, 0.0, 0.0), 2e5, damping=3.0),
        jm.Spring("rotation", (0.0, 1.0, 0.5), 900.0),
    ),
    stator=jm.RigidBody(0.3, (0.0, 0.01, 0.0), (1e-3, 1e-3, 1e-3)),
)
#: rows of six; forces and moments are mixed
BASE = np.diag([1e6, 2e6, 3e6, 2e3, 3e3, 4e3])
BASE[0, 4] = BASE[4, 0] = 1e4
BASE[1, 2] = BASE[2, 1] = 3e5
COUNTS = dict.fromkeys(("stretch", "torsion", "bending_xy", "bending_xz"), 8)


def arm_of(*links, **changes):
    return jm.SpatialArm(links, jm.RigidBody(0.5, (0.02, 0.0, 0.0), (1e-3, 2e-3, 2e-3)), **changes)


ARMS = {
    "held slide": arm_of(BEAM, SPRUNG.replace(joint_springs=())),
    "sprung slide on an elastic base": arm_of(BEAM, SPRUNG, base_stiffness=BASE.tolist()),
    "body along a link": arm_of(
        BEAM, BEAM.replace(joint_axis=(0.2, 1.0, -0.4), joint_angle=0.9)
    ).with_body(2, 0.4, BODY),
}


def posture(model, arm):
    """The coordinates of a straight arm in its posture."""
    joints = [link for link in arm.links if not link.segment]
    places = [float(x.base_offset.x if x.prismatic else x.joint_angle) for x in joints]
    q = np.zeros(model.num_coordinates)
    q[: model.num_links], q[model.layout.driven] = places, places
    return q


def cart():
    """A cart of 3 kg along x, a rod that turns on it, and a bead of 0.5 kg along the rod; none of them bends."""
    first = jm.SpatialLink(0.0, rigid=True, prismatic=True, body=jm.RigidBody(3.0))
    rod = jm.SpatialLink(0.0, rigid=True, hub=jm.RigidBody(0.4, inertia=(0.0, 0.02, 0.02)))
    bead = jm.SpatialLink(0.0, rigid=True, prismatic=True, body=jm.RigidBody(0.5))
    return flexible_arm(jm.SpatialArm((first, rod, bead)), gravity=(0.0, -9.81, 0.0))


def test_a_bead_on_a_rod_on_a_cart():
    """Every term in closed form: Coriolis and centrifugal forces of the bead, and accelerations by both ways."""
    model = cart()
    assert model.layout.names == ("slide1", "theta2", "slide3")
    q, rate = np.array([0.3, 0.8, 0.6]), np.array([1.1, -2.0, 0.7])
    torques = np.array([5.0, 2.0, -3.0])
    (_, angle, r), (_, turning, sliding), m = q, rate, 0.5
    c, s = np.cos(angle), np.sin(angle)
    mass = np.array(
        [[3.9, -m * r * s, m * c], [-m * r * s, 0.02 + m * r * r, 0.0], [m * c, 0.0, m]]
    )
    bias = m * np.array(
        [
            -r * c * turning**2 - 2.0 * s * sliding * turning,
            2.0 * r * sliding * turning,
            -r * turning**2,
        ]
    )
    weight = 9.81 * m * np.array([0.0, r * c, s])
    found = jax.device_get(all_terms(model, q, rate, torques))
    assert relative(found["mass_matrix"], mass) < ROUNDING
    assert relative(found["bias"], bias) < ROUNDING
    assert relative(found["gravity_vector"], weight) < ROUNDING
    accelerated = np.linalg.solve(mass, torques - bias - weight)
    for way in ("acceleration", "recursion"):
        assert relative(found[way], accelerated) < 1e-13
    assert relative(found["tip_position"], [0.3 + r * c, r * s, 0.0]) < ROUNDING


@functools.cache
def everything():
    """An elastic base with a body, a joint on a spring, a slide on springs, and a link with a body along it."""
    geared = {"rotor_inertia": 1e-4, "gear_ratio": 30.0, "motor": "held"}
    station = jm.RigidBody(4.0, (0.0, 0.1, 0.0), (0.2, 0.3, 0.4))
    first = BEAM.replace(**geared, joint_stiffness=900.0, stator=station)
    last = BEAM.replace(joint_axis=(0.2, 1.0, -0.4), **geared)
    arm = arm_of(first, SPRUNG, last, base_stiffness=BASE.tolist()).with_body(3, 0.25, BODY)
    one = {"bending_xy": 1, "bending_xz": 1, "torsion": 1}
    return arm, flexible_arm(arm, one, gravity=(0.3, 1.0, -9.0), damping_ratio=0.02)


@pytest.mark.slow
def test_names_and_both_ways_to_solve_of_an_arm_that_has_everything():
    arm, model = everything()
    bent = ("torsion1", "bending_xy1", "bending_xz1")
    assert model.layout.names == (
        *("theta1", "slide2", "theta3"),
        *(f"base.{name}{k}" for name in ("displacement", "rotation") for k in (1, 2, 3)),
        *(f"link1.{name}" for name in bent),
        *("link2.spring1", "link2.spring2"),
        *(f"link{k}.{name}" for k in (2, 3, 4) for name in bent),
        "motor1",
    )
    assert "on an elastic base" in str(model)
    rng = np.random.default_rng(1)
    q = 0.03 * rng.standard_normal(model.num_coordinates) + posture(model, arm)
    rate = 0.3 * rng.standard_normal(model.num_coordinates)
    found = jax.device_get(all_terms(model, q, rate, np.ones(3)))
    solved = np.finfo(float).eps * np.linalg.cond(found["mass_matrix"])
    assert relative(found["recursion"], found["acceleration"]) < solved
    scale = (np.abs(found["mass_matrix"]) @ np.abs(found["acceleration"])).max()
    assert np.abs(found["forces"] - found["applied"]).max() < 1e-10 * scale
    assert relative(model.stiffness[3:9, 3:9], BASE) < ROUNDING
    assert link_positions(model, q).shape == (4, 21, 3)
    straight = posture(model, arm)
    assert np.allclose(
        link_positions(model, straight)[2, -1],
        link_positions(model, straight)[3, 0],
        rtol=0,
        atol=1e-14,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_frequencies_with_eight_shapes_are_the_exact_ones(name):
    arm = ARMS[name]
    model = flexible_arm(arm, COUNTS)
    every = linearise(model, posture(model, arm), joints="locked").natural_frequencies()
    exact = np.asarray(jm.natural_frequencies(arm, 6, theory="euler_bernoulli").omega)
    # what eigenvalues in float64 lose: squared frequencies are known to rounding of the largest
    rounding = 4.0 * np.finfo(float).eps * (every[-1] / exact) ** 2
    assert np.all(np.abs(every[:6] / exact - 1.0) < 1e-9 + rounding)


def test_frequencies_of_a_taper_as_its_pieces():
    """Two pieces of a taper with four shapes each are the same two pieces of the engine, to what four leave."""
    arm = jm.SpatialArm((BEAM.replace(section_roll=None),)).with_taper(
        1, jm.rectangle(0.008, 0.02, "cowper"), 2
    )
    model = flexible_arm(arm, {"bending_xy": 4, "bending_xz": 4, "torsion": 3, "stretch": 2})
    assert model.kinds == ("turns", "fixed")
    exact = np.asarray(jm.natural_frequencies(arm, 4, theory="euler_bernoulli").omega)
    assert np.all(np.abs(locked_frequencies(model, 0.0)[:4] / exact - 1.0) < 1e-6)


FILE = {
    "dimensions": 3,
    "links": [
        {"length": 0.0, "rigid": True, "prismatic": True, "body": {"mass": 3.0}},
        {
            "length": 0.0,
            "rigid": True,
            "hub": {"mass": 0.4, "inertia": [[0.0, 0, 0], [0, 0.02, 0], [0, 0, 0.02]]},
        },
        {
            "length": 0.0,
            "rigid": True,
            "prismatic": True,
            "base_offset": [0.6, 0.0, 0.0],
            "body": {"mass": 0.5},
        },
    ],
    "dynamics": {
        "gravity": [0.0, -9.81, 0.0],
        "start_rates_deg": [0.5, 90.0, 0.1],
        "until": 0.4,
        "every": 0.1,
        "method": "rk4",
        "step": 1e-3,
        "joint_limits_deg": [[-1.0, 1.0], [-180.0, 180.0], [0.1, 2.0]],
    },
}


@pytest.mark.slow
def test_a_file_has_metres_for_joints_that_slide_and_energy_is_kept():
    wanted = simulation_from_dict(FILE)  # rigid links and joints are no slip where they move
    assert np.allclose(wanted.q, [0.0, 0.0, 0.6], rtol=1e-15, atol=0)
    assert np.allclose(wanted.rate, [0.5, np.pi / 2, 0.1], rtol=1e-15, atol=0)
    motion = wanted.run()
    assert motion.attrs["status"] == "finished"
    assert motion.attrs["energy_balance_error"] < 1e-10
    assert motion["joint_kind"].values.tolist() == ["slides", "turns", "slides"]
    assert motion["joint_angle"].attrs["units"] == "rad or m"
    # nothing pushes along x
    moved, q = motion["joint_rate"].values, motion["joint_angle"].values
    c, s = np.cos(q[:, 1]), np.sin(q[:, 1])
    pushed = 3.9 * moved[:, 0] + 0.5 * (c * moved[:, 2] - s * q[:, 2] * moved[:, 1])
    assert np.allclose(pushed, pushed[0], rtol=1e-9, atol=0)


def test_rest_under_gravity_on_a_slide_with_a_spring_and_on_an_elastic_base():
    """Springs in a row: an upright slide sinks by its weight over its stiffness, and the base by all weight."""
    rail = jm.SpatialLink(
        0.3,
        rigid=True,
        prismatic=True,
        joint_frame=(jm.Rotation((0.0, 1.0, 0.0), -np.pi / 2),),
        joint_springs=(jm.Spring("translation", (1.0, 0.0, 0.0), 500.0),),
        body=jm.RigidBody(2.0, inertia=(0.1, 0.1, 0.1)),
        stator=jm.RigidBody(3.0, inertia=(0.1, 0.1, 0.1)),
    )
    arm = jm.SpatialArm((rail,), base_stiffness=(1e3,) * 6)
    model = flexible_arm(arm, gravity=(0.0, 0.0, -9.81))
    resting = np.asarray(static_state(model, [0.4]))
    sunk = dict(zip(model.layout.names, resting, strict=True))
    assert abs(sunk["link1.spring1"] + 2.0 * 9.81 / 500.0) < 1e-14
    assert abs(sunk["base.displacement3"] + 5.0 * 9.81 / 1e3) < 1e-14
    assert np.allclose(
        tip_position(model, resting),
        [0.0, 0.0, 0.7 - 2.0 * 9.81 / 500.0 - 5.0 * 9.81 / 1e3],
        rtol=0,
        atol=1e-14,
    )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Accelerated(Motion):
    """A base that is accelerated from rest as it is told."""

    by: Any

    def angles(self, time):
        return 0.5 * jnp.asarray(self.by) * time**2


@pytest.mark.slow
def test_a_base_that_is_driven_pushes_a_pendulum():
    """By its acceleration along x and about z, and by gravity as well, in closed form."""
    pendulum = jm.SpatialLink(0.4, rigid=True, hub=jm.RigidBody(0.1, inertia=(0.0, 0.03, 0.03)))
    arm = jm.SpatialArm((pendulum,), jm.RigidBody(0.5))
    model = flexible_arm(arm, gravity=(0.0, -9.81, 0.0), base="driven")
    assert "on a driven base" in str(model)
    assert linearise(model, np.zeros(7)).names == ("theta1",)
    q, rate = np.zeros((2, 7))
    q[0], rate[0] = 0.7, 3.0
    base = [2.0, 0.0, 0.0, 0.0, 0.0, 1.5]
    found = forward_dynamics(model, q, rate, [0.2], base)
    about = 0.03 + 0.5 * 0.4**2
    push = 0.5 * 0.4 * (2.0 * np.sin(0.7) - 9.81 * np.cos(0.7))
    assert np.allclose(found, [(0.2 + push) / about - 1.5, *base], rtol=1e-13, atol=1e-13)
    with pytest.raises(ArmError, match=r"base_acceleration: of shape \(3,\); the last axis must"):
        forward_dynamics(model, q, rate, [0.2], base[:3])


@pytest.mark.slow
def test_a_base_that_is_accelerated_is_gravity_and_its_work_is_counted():
    """A flexible arm that falls on a base which falls with it; and one that a base shakes and turns."""
    arm = jm.SpatialArm((BEAM, BEAM.replace(joint_axis=(0.0, 1.0, 0.0))))
    one = {"bending_xy": 1, "bending_xz": 1}
    still = flexible_arm(arm, one, gravity=(-1.0, -2.0, -9.0))
    driven = flexible_arm(arm, one, base="driven")
    times, fixed = np.linspace(0.0, 0.1, 3), {"method": "rk4", "step": 1e-4}
    expected = simulate(still, times, **fixed)
    pushed = Accelerated(np.array([1.0, 2.0, 9.0, 0.0, 0.0, 0.0]))
    found = simulate(driven, times, base_motion=pushed, **fixed)
    assert np.allclose(found["joint_angle"], expected["joint_angle"], rtol=1e-11, atol=1e-13)
    assert found["link_of_coordinate"].values.tolist() == [0] * 6 + [1, 1, 2, 2]
    own = found["modal_coordinate"][:, 6:]
    assert np.allclose(own, expected["modal_coordinate"], rtol=1e-9, atol=1e-13)
    turned = Accelerated(np.array([1.0, 2.0, 9.0, 20.0, -30.0, 25.0]))
    shaken = simulate(driven, times, base_motion=turned, **fixed)
    assert shaken.attrs["status"] == "finished"
    assert shaken.attrs["energy_balance_error"] < 1e-9
    assert float(shaken["work"][-1]) > 1.0


def test_bases_that_are_driven_are_told_how():
    arm = jm.SpatialArm((BEAM,))
    driven, clamped = flexible_arm(arm, 1, base="driven"), flexible_arm(arm, 1)
    with pytest.raises(ArmError, match=r"base_motion: gives angles of shape \(3,\); must be"):
        simulate(driven, [0.0, 0.1], base_motion=Accelerated(np.ones(3)))
    with pytest.raises(ArmError, match="does not move as it is told; must be left out"):
        simulate(clamped, [0.0, 0.1], base_motion=Accelerated(np.ones(6)))
    with pytest.raises(ArmError, match="base_acceleration: the base of this model does not"):
        forward_dynamics(clamped, np.zeros(4), np.zeros(4), [0.0], np.zeros(6))
    with pytest.raises(ArmError, match="base = 'driven': moves as it is told, and base_stiffness"):
        flexible_arm(everything()[0], 1, base="driven")
    document = {**FILE, "dynamics": {**FILE["dynamics"], "base": "driven"}}
    with pytest.raises(ArmError, match="files do not say how a base moves"):
        simulation_from_dict(document)


def test_springs_in_a_row_without_a_mass_between_have_one_frequency():
    """That of both springs one after the other, and an infinite one; along a motion as well."""
    mass, stiffness = np.full((2, 2), 3.0), np.diag([200.0, 300.0])
    found = frequencies_with_massless(mass, stiffness)
    assert massless(mass).sum() == 1
    assert not massless(np.diag([3.0, 1e-9])).any()
    assert abs(found[0] - np.sqrt(120.0 / 3.0)) < 1e-13
    assert np.isinf(found[1])
    along = frequencies_with_massless(np.stack([mass, 2.0 * mass]), np.stack([stiffness] * 2))
    assert np.allclose(along[:, 0], np.sqrt([40.0, 20.0]), rtol=1e-14, atol=0)
    system = Linearisation(mass, 0.0 * mass, stiffness, np.zeros((2, 1)), ("a", "b"))
    assert abs(system.natural_frequencies()[0] - found[0]) < 1e-13
    assert "inf" in str(system)
    with pytest.raises(ArmError, match="mass: something that gives way has none, as what stands"):
        system.eigenvalues()
    with pytest.raises(ArmError, match="something that gives way has no mass: its stiffness must"):
        frequencies_with_massless(mass, np.diag([200.0, 0.0]))


def test_what_needs_inertia_or_an_axis_that_stays_says_so():
    bare = flexible_arm(arm_of(BEAM, base_stiffness=BASE.tolist()), 1)
    q = np.zeros(bare.num_coordinates)
    with pytest.raises(ArmError, match="base stands on springs and has no inertia along what"):
        forward_dynamics(bare, q, q, [0.0])
    on_springs = arm_of(SPRUNG.replace(stator=None), base_stiffness=BASE.tolist())
    assert flexible_arm(on_springs, 1).idle_base == "as given"
    elastic = arm_of(BEAM.replace(joint_stiffness=900.0), base_stiffness=BASE.tolist())
    with pytest.raises(ArmError, match="no inertia along what gives way or moves freely"):
        simulate(flexible_arm(elastic, 1), [0.0, 0.1], motion=Hold([0.0]))
    with pytest.raises(ArmError, match="model: the arm stands on springs, whose directions"):
        turning_frequencies(bare, [1.0])
    with pytest.raises(ArmError, match="has a first joint that slides, which turns nothing; must"):
        turning_frequencies(cart(), [1.0])
    with pytest.raises(ArmError, match="base = 'free': floats, and base_stiffness of the arm"):
        flexible_arm(everything()[0], 1, base="free")
