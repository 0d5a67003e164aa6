"""The buckling factor of traced arms: value and derivatives of `buckling`, and what has no factor."""

import jax
import numpy as np

import jaxmodal as jm
from jaxmodal.at_rest.traced import inverse_buckling_factor

BEAM = jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0), tip_mass=0.5)
ARM = jm.Arm((BEAM, BEAM.replace(joint_angle=0.7, joint_stiffness=4.0, support_x_stiffness=1.0)))
NAMES = ("link1.length", "link2.joint_angle", "link2.support_x_stiffness")
LOADS = {"gravity": (-1.0, -0.5), "tip_force": (-0.3, 0.0)}


def inverse(values):
    arm = jm.set_parameters(ARM, dict(zip(NAMES, values, strict=True)))
    return inverse_buckling_factor(arm, "euler_bernoulli", **LOADS)


def test_value_and_gradient():
    values = np.array([1.0, 0.7, 1.0])
    value, slope = jax.jit(jax.value_and_grad(inverse))(values)
    found = jm.buckling(ARM, 1, theory="euler_bernoulli", addresses=NAMES, **LOADS)
    np.testing.assert_allclose(value, 1.0 / found.factors[0], rtol=1e-13)
    truth = -found.derivatives[0] / found.factors[0] ** 2
    np.testing.assert_allclose(slope, truth, rtol=1e-10, atol=1e-12 * np.max(np.abs(truth)))
    assert np.isnan(jax.jit(inverse)(np.array([np.nan, 0.7, 1.0])))


def test_the_stiffness_of_a_free_joint_has_a_derivative():
    """Supports hold the joint; beside differences to one side, for there is no other."""
    held = {"joint_stiffness": 0.0, "support_y_stiffness": 30.0}
    hinged = ARM.replace(links=(ARM.links[0], ARM.links[1].replace(**held)))

    def of_spring(stiffness):
        arm = jm.set_parameters(hinged, {"link2.joint_stiffness": stiffness})
        return inverse_buckling_factor(arm, "euler_bernoulli", **LOADS)

    value, slope = jax.jit(jax.value_and_grad(of_spring))(0.0)
    one, two = (float(of_spring(step)) for step in (1e-4, 2e-4))
    assert abs(slope) > 1e-3
    np.testing.assert_allclose(slope, (4.0 * one - 3.0 * value - two) / 2e-4, rtol=1e-6)


def test_loads_of_the_arm():
    """They and those of arguments are one, and have derivatives."""
    names = ("loads.gravity", "loads.gravity_direction", "loads.tip_force_x", "link1.length")
    bearing = ARM.replace(loads=jm.Loads(gravity=1.1, gravity_direction=3.6, tip_force_x=-0.1))

    def of_values(values):
        arm = jm.set_parameters(bearing, dict(zip(names, values, strict=True)))
        return inverse_buckling_factor(arm, "euler_bernoulli", tip_force=(-0.2, 0.1))

    value, slope = jax.jit(jax.value_and_grad(of_values))(np.array([1.1, 3.6, -0.1, 1.0]))
    given = {"tip_force": (-0.2, 0.1), "addresses": names}
    found = jm.buckling(bearing, 1, theory="euler_bernoulli", **given)
    np.testing.assert_allclose(value, 1.0 / found.factors[0], rtol=1e-13)
    np.testing.assert_allclose(slope, -found.derivatives[0] / found.factors[0] ** 2, rtol=1e-9)
    gravity = (1.1 * np.cos(3.6), 1.1 * np.sin(3.6))
    alike = jm.buckling(ARM, 1, theory="euler_bernoulli", gravity=gravity, tip_force=(-0.3, 0.1))
    np.testing.assert_allclose(found.factors, alike.factors, rtol=1e-13)


def test_nothing_pressed():
    hanging = jm.Arm((BEAM,))
    assert float(inverse_buckling_factor(hanging, "euler_bernoulli", gravity=(9.81, 0.0))) == 0.0
