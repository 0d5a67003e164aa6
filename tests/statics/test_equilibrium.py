"""Section forces, reactions and deflections of arms at rest: closed forms, hand statics, and unit loads one by one."""

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import equilibrium
from tests.support.real_arms import NUM_LINKS, STRUCTURES, random_arm

INF = np.inf
UNIT = jm.raw_section(1.0, 1.0)
BEAM = jm.Link(1.0, 1.0, 1.0, UNIT)


def at_rest(arm, gravity=(0.0, 0.0), tip=(0.0, 0.0), shear=0.0, axial=1.0):
    loads = DeadLoads(*np.array([*gravity, *tip], float))
    return equilibrium(beam_values(arm), shear, axial, loads)


def close(found, truth, tolerance=1e-14):
    scale = np.max(np.abs(truth)) or 1.0
    assert np.max(np.abs(np.asarray(found) - truth)) <= tolerance * scale


def test_cantilever():
    """Weight w and a force F across: w L^4/8 + F L^3/3, w L^3/6 + F L^2/2."""
    found = at_rest(jm.Arm((BEAM,)), gravity=(0.0, -2.0), tip=(3.0, 5.0))
    close(found.displacements.tip[1], [-2 / 8 + 5 / 3])
    close(found.displacements.tip[2], [-2 / 6 + 5 / 2])
    close(found.displacements.tip[0], [3.0])
    close(np.ravel(found.forces.joint), [3.0, 3.0, 4.0])


def test_propped_beams():
    """Reactions 3/8 of a propped cantilever; 3/8, 5/4, 3/8 of a beam of two spans."""
    propped = BEAM.replace(support_y_stiffness=INF)
    found = at_rest(jm.Arm((propped,)), gravity=(0.0, -1.0))
    close(found.reactions[0], [0.0, 3 / 8, 0.0])
    spans = (propped.replace(joint_stiffness=0.0), propped.replace(segment=True))
    found = at_rest(jm.Arm(spans), gravity=(0.0, -1.0))
    close(found.reactions[:, 1], [5 / 4, 3 / 8])
    close(-found.forces.joint[1][0], 3 / 8)
    close(found.forces.joint[2], [0.0, -1 / 8])
    # the same turned by 1 rad: the supports, which stay along the ground's axes, are made both
    both = propped.replace(support_x_stiffness=INF)
    turned = jm.Arm(
        (both.replace(joint_angle=1.0, joint_stiffness=0.0), both.replace(segment=True))
    )
    found = at_rest(turned, gravity=(np.sin(1.0), -np.cos(1.0)), axial=1.0)
    close(np.hypot(*found.reactions[:, :2].T), [5 / 4, 3 / 8], 1e-13)


def test_a_shaft_between_springs():
    """Springs of 3 and 1 at the ends of a stiff beam share its weight, and it tilts."""
    beam = BEAM.replace(
        youngs_modulus=1e12, joint_stiffness=0.0, joint_shear_stiffness=3.0, support_y_stiffness=1.0
    )
    found = at_rest(jm.Arm((beam,)), gravity=(0.0, -1.0))
    close(found.reactions[0], [0.0, 0.5, 0.0], 1e-11)
    close(found.displacements.tip[1], [-0.5], 1e-11)
    close(found.gives[0], [0.0, -0.5 / 3, -1 / 3], 1e-11)


def test_a_bent_arm_by_hand():
    """Two links at a right angle, masses 2 and 3 at their tips: forces and moments by statics on paper."""
    first, second = BEAM.replace(tip_mass=2.0), BEAM.replace(tip_mass=3.0, joint_angle=np.pi / 2)
    found = at_rest(jm.Arm((first, second)), gravity=(0.0, -10.0))
    n, v, m = found.forces.start
    close(n, [0.0, -40.0])  # the second stands upright: its own 10 and the body's 30
    close(v, [-70.0, 0.0])
    close(m, [-65.0, 0.0])  # 60 at 1 m, and its own 10 at 0.5 m
    close(found.forces.outer[0], [0.0, -30.0])
    # link 1 as a cantilever under 60 and its own 10; link 2 turns with its tip
    close(found.displacements.outer[1][0], -60 / 3 - 10 / 8)
    turn = -60 / 2 - 10 / 6
    close(found.displacements.tip[0][1], -turn)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("supported", [False, True])
def test_every_load_by_unit_loads(structure, supported):
    """The tip moves as the static compliances of all weights add up, by Gauss's rule along the links."""
    for seed in range(4):
        arm = random_arm(seed, structure)
        links = [
            x.replace(joint_stiffness=7e3) if float(x.joint_stiffness) == 0.0 else x
            for x in arm.links
        ]
        if supported:
            links[0] = links[0].replace(support_x_stiffness=4e3)
            links[2] = links[2].replace(support_y_stiffness=INF, support_torsional_stiffness=30.0)
        arm = arm.replace(links=tuple(links))
        gravity = np.array([3.0, -9.81])
        found = at_rest(arm, gravity, (20.0, -30.0), shear=1.0)
        loads = _all_weights(arm, gravity)
        loads["tip.x"] += 20.0
        loads["tip.y"] -= 30.0
        outputs = ["tip.x", "tip.y", "tip.rotation"]
        truth = jm.static_compliance(arm, list(loads), outputs).values @ np.array([*loads.values()])
        tip = np.array([x[-1] for x in found.displacements.tip])
        assert np.max(np.abs(tip - truth)) <= 1e-11 * np.max(np.abs(truth)), (seed, tip, truth)
        assert found.unheld == 0.0


def _all_weights(arm, gravity):
    """Forces by port: weights of links at Gauss's points, of hubs, and of bodies with their moments about the tip."""
    points, shares = np.polynomial.legendre.leggauss(4)
    loads = {}

    def add(port, value):
        loads[port] = loads.get(port, 0.0) + value

    angle = 0.0
    for number, link in enumerate(arm.links, start=1):
        angle += float(link.joint_angle)
        c, s = np.cos(angle), np.sin(angle)
        for point, share in zip(points, shares, strict=True):
            for name, g in zip("xy", gravity, strict=True):
                add(
                    f"link_{number}@{float((1 + point) / 2)!r}.{name}",
                    share / 2 * float(link.mass) * g,
                )
        bodies = [(link.tip_mass, link.tip_centre_x, link.tip_centre_y)]
        if number == NUM_LINKS:
            bodies.append((arm.payload.mass, arm.payload.centre_x, arm.payload.centre_y))
        elif arm.links[number].stator_mass is not None:
            bodies.append((arm.links[number].stator_mass, 0.0, 0.0))
        for mass, x, y in bodies:
            x, y = (0.0 if value is None else float(value) for value in (x, y))
            at = (c * x - s * y, s * x + c * y)
            place = f"tip_{number}" if number < NUM_LINKS else "tip"
            for name, g in zip("xy", gravity, strict=True):
                add(f"{place}.{name}", float(mass) * g)
            add(f"{place}.rotation", float(mass) * (at[0] * gravity[1] - at[1] * gravity[0]))
        if link.hub_mass is not None:
            for name, g in zip("xy", gravity, strict=True):
                add(f"joint_{number}.{name}", float(link.hub_mass) * g)
    return loads


def test_free_joints():
    """A hinge is held by supports beyond it, by nothing under a moment; a pendulum that hangs still needs none."""
    door = BEAM.replace(joint_stiffness=0.0)
    assert at_rest(jm.Arm((door,)), gravity=(0.0, -1.0)).unheld > 0.1
    hanging = at_rest(jm.Arm((door,)), gravity=(1.0, 0.0))
    assert hanging.unheld == 0.0
    close(hanging.forces.start[0], [1.0])
    # a three-hinged arch: two bars under a force at the crown, each 1/(2 sin 45) in compression
    bar = BEAM.replace(joint_stiffness=0.0, density=1e-30)
    pin = {"support_x_stiffness": INF, "support_y_stiffness": INF}
    arch = (
        bar.replace(joint_angle=np.pi / 4, tip_mass=1.0),
        bar.replace(joint_angle=-np.pi / 2, **pin),
    )
    found = at_rest(jm.Arm(arch), gravity=(0.0, -1.0))
    close(found.forces.start[0], [-np.sqrt(0.5)] * 2, 1e-13)
    close(found.reactions[1], [-0.5, 0.5, 0.0], 1e-13)


def axial_forces(beams, loads):
    """Of each link, at its start and at its end."""
    forces = equilibrium(beams, 1.0, 1.0, loads).forces
    return forces.start[0], forces.outer[0]


def test_cells_are_as_alone():
    arm = random_arm(3, "everything").with_posture([0.3, -1.1])
    arm = arm.replace(
        links=(arm.links[0], arm.links[1], arm.links[2].replace(support_y_stiffness=2e4))
    )
    masses, angles = np.array([0.5, 2.0]), np.array([0.1, -0.9])
    names = ["payload.mass", "link2.joint_angle"]
    cells = unpacked(columns_of(arm, names, np.stack([masses, angles])).packed)
    gravity = DeadLoads(*(np.full(2, x) for x in (0.0, -9.81, 1.0, 2.0)))
    many = axial_forces(cells, gravity)
    loads = DeadLoads(*np.array([0.0, -9.81, 1.0, 2.0]))
    for k in range(2):
        one = jm.set_parameters(arm, {names[0]: masses[k], names[1]: angles[k]})
        for found, alone in zip(many, axial_forces(beam_values(one), loads), strict=True):
            close(found[:, k], alone, 1e-12)


def test_traced_values():
    """One program for the forces and their rate by gravity: linear in the load, and those of NumPy."""
    held = BEAM.replace(joint_angle=-0.7, support_y_stiffness=2.0)
    arm = jm.Arm((BEAM.replace(joint_angle=1.0, joint_stiffness=3.0), held))

    def by_gravity(y):
        zero = 0.0 * y
        return axial_forces(beam_values(arm), DeadLoads(zero, y, zero, zero))[0]

    value, rate = jax.jit(lambda y: jax.jvp(by_gravity, (y,), (1.0,)))(-9.81)
    close(value, by_gravity(np.float64(-9.81)), 1e-13)
    close(rate, by_gravity(np.float64(1.0)), 1e-13)
    assert np.min(np.abs(rate)) > 0.01
