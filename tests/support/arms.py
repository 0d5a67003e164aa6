"""Arms for tests of the model itself: every shape, every field, nothing physical in mind."""

import jaxmodal as jm


def link(section=None, **changes):
    section = jm.rectangle(0.02, 0.05, 0.85) if section is None else section
    values = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3}
    return jm.Link(**values | {"section": section} | changes)


def mixed_arm():
    """Five links: every shape, in an order in which links of equal structure are apart."""
    by_shear_modulus = {"poisson_ratio": None, "shear_modulus": 3e10}
    return jm.Arm(
        (
            link(length=1.0, thickness_factor=2.0, tip_mass=0.1),
            link(jm.circle(0.03, "cowper"), length=2.0, joint_angle=-0.4),
            link(length=3.0, tip_inertia=0.2, joint_stiffness=1e4),
            link(jm.raw_section(1e-3, 1e-7, 0.5), length=4.0, **by_shear_modulus),
            link(jm.hollow_rectangle(0.1, 0.05, 0.01, "5/6"), length=5.0, tip_mass=0.3),
            link(jm.hollow_circle(0.1, 0.01, 0.6), length=6.0, joint_angle=0.7, tip_inertia=0.4),
        ),
        jm.Payload(2.0, 0.5),
        name="every shape",
    )  # fmt: skip
