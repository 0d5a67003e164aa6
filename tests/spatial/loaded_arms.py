"""Arms with loads: planar booms, an arm in space that has everything, and a column."""

import math

import jaxmodal as jm

MATERIAL = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
DOWN = jm.SpatialLoads(gravity_z=-9.81)


def planar_booms():
    """Two booms with a body off their line, in the plane, without loads."""
    boom = jm.Link(1.5, section=jm.rectangle(0.05, 0.02, "cowper"), end_offset_x=0.05, **MATERIAL)
    payload = jm.Payload(mass=8.0, inertia=0.1, centre_x=0.2)
    return jm.Arm((boom.replace(joint_angle=1.4), boom.replace(joint_angle=-2.2)), payload)


def arm_with_everything():
    """Two boxes on elastic joints and an elastic base, with all loads."""
    box = jm.hollow_rectangle(0.05, 0.03, 0.003, "cowper")
    link = jm.SpatialLink(
        0.6,
        section=box,
        joint_axis=(0, 1, 0),
        joint_stiffness=2e4,
        base_offset=(0.0, 0.02, 0.01),
        body=jm.RigidBody(1.0, (0.01, 0.02, 0.0), (0.01, 0.02, 0.015)),
        hub=jm.RigidBody(0.5),
        stator=jm.RigidBody(0.3, (0.0, 0.0, 0.02)),
        **MATERIAL,
    )
    bar = jm.SpatialLink(
        0.2, rigid=True, section=box, joint_axis=(1, 0, 0), joint_angle=0.3, **MATERIAL
    )
    held = (jm.Support("translation", (0, 1, 0), 3e4),)
    loads = jm.SpatialLoads(
        gravity_z=-9.81,
        tip_force_x=-100.0,
        tip_force_y=300.0,
        tip_moment_x=40.0,
        base_acceleration_x=2.0,
    )
    links = (
        link.replace(
            joint_angle=-1.0,
            rotor_inertia=2e-4,
            gear_ratio=50.0,
            motor="beyond_spring",
        ),
        bar,
        link.replace(joint_angle=0.7, supports=held),
    )
    payload = jm.RigidBody(8.0, (0.1, 0.0, 0.02), (0.1, 0.1, 0.1))
    base = [1e7, 1e7, 1e7, 1e5, 1e5, 1e5]
    return jm.SpatialArm(links, payload, base_stiffness=base, loads=loads)


def damped(arm, time=None):
    """The same arm with dampers, and a Kelvin-Voigt time of its first link."""
    links = [x if x.rigid else x.replace(loss_factor=0.03) for x in arm.links]
    links[0] = links[0].replace(joint_damping=3.0, kelvin_voigt_time=time)
    return arm.replace(links=tuple(links))


def of_zero(arm):
    """The same arm with loads of zero, and without loads, which other code takes."""
    return arm.replace(loads=jm.SpatialLoads(gravity_z=0.0)), arm.replace(loads=None)


def column(loads=None, **changes):
    """A strip that stands on the ground along z, weak about its y."""
    strip = jm.rectangle(depth=0.025, width=0.01)
    link = jm.SpatialLink(
        1.0, section=strip, joint_axis=(0, 1, 0), joint_angle=-math.pi / 2, **MATERIAL | changes
    )
    return jm.SpatialArm((link,), loads=loads)


def rigidities():
    """Bending stiffnesses E I of the column about its y and z."""
    return 7e10 * 0.025 * 0.01**3 / 12, 7e10 * 0.01 * 0.025**3 / 12
