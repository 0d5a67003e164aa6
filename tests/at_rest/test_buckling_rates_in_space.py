"""Derivatives of buckling factors of arms in space: closed forms, planar arms, and differences for all features."""

import numpy as np
import pytest

import jaxmodal as jm

E = 7e10
ROD = jm.SpatialLink(0.7, E, 2700.0, jm.circle(0.02, shear_coefficient=0.9), poisson_ratio=0.3)
TUBE = jm.SpatialLink(
    0.5, E, 2700.0, jm.rectangle(0.03, 0.02, shear_coefficient=0.85), poisson_ratio=0.3
)


def test_columns_of_euler():
    """P = pi^2 E I/(4 L^2) of a clamped rod with a free end, of two moments of inertia the lower one."""
    addresses = ["link1.length", "link1.youngs_modulus", "link1.section.width", "link1.density"]
    arm = jm.SpatialArm((TUBE,))
    given = {"theory": "euler_bernoulli", "tip_force": (-1.0, 0.0, 0.0)}
    found = jm.buckling(arm, 1, addresses=addresses, **given)
    factor = found.factors[0]
    np.testing.assert_allclose(
        factor, np.pi**2 * E * 0.03 * 0.02**3 / 12.0 / (4.0 * 0.5**2), rtol=1e-11
    )
    truth = [-2.0 * factor / 0.5, factor / E, 3.0 * factor / 0.02, 0.0]
    np.testing.assert_allclose(found.derivatives[0], truth, rtol=1e-10, atol=1e-12 * factor / 1e4)
    assert found.addresses == tuple(addresses)


def test_prandtls_strip_and_reversed_loads():
    """4.0126 sqrt(E I G J)/L^2, whichever way the force acts, of a strip whose strong plane does not matter."""
    strip = jm.SpatialLink(0.5, E, 2700.0, jm.rectangle(0.04, 0.001), poisson_ratio=0.3)
    found = jm.buckling(
        jm.SpatialArm((strip,)),
        2,
        theory="euler_bernoulli",
        tip_force=(0.0, -1.0, 0.0),
        both_signs=True,
        addresses=["link1.length", "link1.youngs_modulus", "link1.poisson_ratio"],
    )
    sizes = np.abs(found.factors)
    np.testing.assert_allclose(sizes, sizes[0], rtol=1e-10)
    truth = np.array([-2.0 / 0.5, 1.0 / E, -0.5 / 1.3])
    # the strong plane is 1600 times as stiff, and not rigid: its share of the factor is not counted in these
    np.testing.assert_allclose(
        found.derivatives / found.factors[:, None], [truth] * 2, rtol=1e-9, atol=0.0
    )


def test_a_repeated_factor_has_none_and_nothing_pressed_neither():
    round_rod = jm.buckling(
        jm.SpatialArm((ROD,)),
        1,
        tip_force=(-1.0, 0.0, 0.0),
        theory="rayleigh",
        addresses=["link1.length"],
    )
    assert round_rod.multiplicity[0] == 2
    assert np.isnan(round_rod.derivatives).all()
    pulled = jm.buckling(
        jm.SpatialArm((TUBE,)),
        1,
        tip_force=(1.0, 0.0, 0.0),
        theory="rayleigh",
        addresses=["link1.length"],
    )
    assert np.isinf(pulled.factors[0])
    assert np.isnan(pulled.derivatives).all()


def test_planar_arms():
    """As the planar arm's own derivatives, with a payload, springs, a support and an offset."""
    link = jm.Link(
        0.6, E, 2700.0, jm.rectangle(0.02, 0.2, shear_coefficient=0.85), poisson_ratio=0.3
    )
    planar = jm.Arm(
        (link, link.replace(joint_angle=0.5, joint_stiffness=4e3, support_y_stiffness=2e4)),
        jm.Payload(2.0),
    )
    given = {"theory": "timoshenko", "addresses": ["link1.length", "payload.mass"]}
    flat = jm.buckling(planar, 1, gravity=(-9.0, -4.0), **given)
    full = jm.buckling(jm.to_spatial(planar), 1, gravity=(-9.0, -4.0, 0.0), **given)
    np.testing.assert_allclose(full.factors, flat.factors, rtol=1e-10)
    np.testing.assert_allclose(full.derivatives, flat.derivatives, rtol=1e-8)


def everything():
    """Two flexible links and a rigid one about skew axes, springs, bodies, offsets, an elastic base, supports."""
    body = jm.RigidBody(2.0, centre=(0.01, 0.02, -0.01))
    props = (
        jm.Support("translation", (0.2, 1.0, 0.3), float("inf")),
        jm.Support("rotation", (0.0, 1.0, 0.0), 50.0),
        jm.Support("translation", (0.0, 0.0, 1.0), 3e4),
    )
    links = (
        TUBE.replace(
            joint_axis=(0.3, 1.0, 0.1),
            joint_angle=0.4,
            joint_stiffness=2e4,
            axial_force=-300.0,
            hub=body,
            stator=body,
            end_offset=(0.0, 0.01, 0.02),
            section_roll=0.3,
        ),
        TUBE.replace(length=0.1, rigid=True, joint_angle=0.9, stator=body),
        ROD.replace(
            joint_axis=(1.0, 1.0, 0.0),
            joint_angle=-0.8,
            joint_springs=(jm.Spring("rotation", (0.0, 1.0, 0.2), 9e3),),
            base_offset=(0.0, 0.03, 0.0),
            body=body,
            supports=props,
        ),
    )
    base = [2e6, 3e6, 2e6, 3e4, 2e4, 4e4]
    return jm.SpatialArm(links, payload=jm.RigidBody(1.0), base_stiffness=base)


NAMES = [
    *("link1.length", "link1.joint_angle", "link1.axial_force", "link1.hub.centre.y"),
    *("link1.end_offset.z", "link1.section_roll", "link2.length", "link2.stator.mass"),
    *("link3.joint_axis.x", "link3.joint_spring1.stiffness", "link3.base_offset.y"),
    *(
        "link1.stator.centre.x",
        "link3.support1.direction.x",
        "link3.support2.stiffness",
        "link3.support3.stiffness",
    ),
    *("payload.mass", "base_stiffness.k44", "link1.section.width", "link3.poisson_ratio"),
]


def test_every_feature_at_once_beside_differences():
    """All values move together, each by a share of its own."""
    arm, loads = everything(), {"gravity": (0.5, 1.0, -9.0), "tip_moment": (3.0, 5.0, -4.0)}
    found = jm.buckling(arm, 2, addresses=NAMES, **loads)
    values = np.array([float(jm.get_parameter(arm, name)) for name in NAMES])
    shares = np.random.default_rng(3).uniform(0.3, 1.0, len(NAMES))
    steps = 2e-4 * shares * np.maximum(np.abs(values), 0.1)
    at = [
        jm.buckling(
            jm.set_parameters(arm, dict(zip(NAMES, values + j * steps, strict=True))), 2, **loads
        ).factors
        for j in (-2, -1, 1, 2)
    ]
    differences = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / 12.0
    parts = np.abs(found.derivatives) @ steps
    # rounding of the factors, 1e-12 of 1e3 parts; the least of the values has 2e-5 of them
    np.testing.assert_allclose(
        found.derivatives @ steps / parts, differences / parts, rtol=0.0, atol=2e-9
    )


@pytest.mark.slow
def test_every_feature_beside_differences():
    arm, loads = everything(), {"gravity": (0.5, 1.0, -9.0), "tip_moment": (3.0, 5.0, -4.0)}
    found = jm.buckling(arm, 2, addresses=NAMES, **loads)
    assert found.certified.all()
    for k, name in enumerate(NAMES):
        value = float(jm.get_parameter(arm, name))
        step = 2e-4 * max(abs(value), 0.1)
        at = [
            jm.buckling(jm.set_parameters(arm, {name: value + j * step}), 2, **loads).factors
            for j in (-2, -1, 1, 2)
        ]
        differences = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * step)
        # rounding of the factors, 1e-12, over the step
        noise = 1e-11 * np.abs(found.factors) / step
        np.testing.assert_allclose(
            found.derivatives[:, k], differences, rtol=1e-7, atol=noise.max(), err_msg=name
        )


@pytest.mark.slow
def test_a_free_joint_that_supports_hold():
    """Its stiffness of 0 has a derivative, to the side where there is one; a rigid value has none, which is 0."""
    prop = (jm.Support("translation", (0.0, 1.0, 0.0), 1e4),)
    links = (TUBE, TUBE.replace(joint_angle=0.3, joint_stiffness=0.0, supports=prop))
    arm, names = jm.SpatialArm(links), ["link2.joint_stiffness", "link1.joint_stiffness"]
    given = {"theory": "rayleigh", "tip_force": (-30.0, 4.0, 2.0)}
    found = jm.buckling(arm, 1, addresses=names, **given)
    one, two = (
        jm.buckling(jm.set_parameters(arm, {names[0]: h}), 1, **given).factors[0]
        for h in (1.0, 2.0)
    )
    slope = (4.0 * one - 3.0 * found.factors[0] - two) / 2.0
    np.testing.assert_allclose(found.derivatives[0], [slope, 0.0], rtol=1e-4, atol=0.0)
