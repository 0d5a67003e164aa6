"""Arms that have everything that rigid pieces can have."""

import jaxmodal as jm

ALUMINIUM = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}


def planar_arm():
    """Two slender links in the plane, on springs, with bodies, offsets and a payload."""
    beam = {**ALUMINIUM, "section": jm.rectangle(0.01, 0.03, shear_coefficient="cowper")}
    upper = jm.Link(0.6, **beam, joint_stiffness=4e3, hub_inertia=0.01, joint_damping=2.0)
    fore = jm.Link(
        0.5,
        **beam,
        joint_stiffness=3e3,
        joint_axial_stiffness=2e5,
        hub_mass=0.4,
        stator_mass=0.6,
        tip_mass=0.2,
        tip_centre_x=0.02,
        base_offset_y=0.03,
    )
    return jm.Arm((upper, fore), jm.Payload(0.8, inertia=0.01), name="planar").with_posture(
        [0.2, 0.7]
    )


def full_arm():
    """An arm in space on an elastic base: a slide, rotors of both kinds, a segment, a rigid link, springs, offsets."""
    tube = jm.hollow_circle(0.06, 0.003, shear_coefficient="cowper")
    box = jm.hollow_rectangle(0.05, 0.03, 0.002, shear_coefficient="cowper")
    body = jm.RigidBody(0.9, centre=(0.01, 0.02, -0.01), inertia=(2e-3, 3e-3, 2.5e-3))
    lift = jm.SpatialLink(
        0.0,
        rigid=True,
        prismatic=True,
        base_offset=(0.2, 0.05, 0.0),
        joint_frame=[jm.Rotation(axis=(0, 1, 0), angle=-1.2)],
        joint_springs=[jm.Spring("translation", (1, 0, 0), 4e6, 30.0)],
        stator=jm.RigidBody(30.0, inertia=(1.0, 1.2, 1.4)),
        body=jm.RigidBody(6.0, centre=(0.0, 0.0, 0.05), inertia=(0.05, 0.05, 0.06)),
        name="lift",
        joint_limits=(0.0, 0.6),
    )
    upper = jm.SpatialLink(
        0.5,
        section=box,
        **ALUMINIUM,
        joint_axis=(0, 1, 0.2),
        joint_angle=0.4,
        joint_stiffness=3e4,
        joint_damping=5.0,
        rotor_inertia=3e-4,
        gear_ratio=60.0,
        motor="held",
        section_roll=0.3,
        body=body,
        end_offset=(0.02, 0.0, 0.01),
        name="shoulder",
        joint_limits=(-1.5, 1.5),
        joint_velocity_limit=2.0,
        kelvin_voigt_time=1e-4,
    )
    more = jm.SpatialLink(
        0.2,
        section=tube,
        **ALUMINIUM,
        segment=True,
        joint_frame=[jm.Rotation(axis=(0, 0, 1), angle=0.3)],
    )
    fore = jm.SpatialLink(
        0.45,
        section=tube,
        **ALUMINIUM,
        joint_axis=(0, 0, 1),
        joint_angle=-0.9,
        joint_stiffness=2e4,
        joint_springs=[jm.Spring("rotation", (0, 1, 0), 6e4)],
        rotor_inertia=2e-4,
        gear_ratio=100.0,
        motor="beyond_spring",
        stator=body,
        hub=jm.RigidBody(0.3, inertia=(1e-3, 1e-3, 1e-3)),
        base_offset=(0.0, 0.04, 0.0),
        name="elbow",
    )
    wrist = jm.SpatialLink(
        0.1,
        rigid=True,
        hub=jm.RigidBody(0.8, centre=(0.05, 0.0, 0.0), inertia=(1e-3, 2e-3, 2e-3)),
        joint_axis=(1, 0, 0),
        joint_angle=0.5,
        rotor_inertia=1e-4,
        gear_ratio=50.0,
        motor="held",
        name="wrist",
    )
    payload = jm.RigidBody(2.0, centre=(0.03, 0.01, 0.0), inertia=(4e-3, 6e-3, 7e-3))
    return jm.SpatialArm(
        (lift, upper, more, fore, wrist),
        payload,
        "full",
        base_stiffness=[4e6, 5e6, 6e6, 8e5, 9e5, 7e5],
    )
