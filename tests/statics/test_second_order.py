"""Do arms under axial forces bend as beam columns do: closed forms, series and transfer matrices of 40 digits?"""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.at_rest.traced import second_order_deflection
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import equilibrium
from tests.response.arms import bent, target
from tests.response.exact_chain import Chain

EB, LENGTH, LINE, RIGIDITY = "euler_bernoulli", 1.3, 2700.0 * 4e-4, 7e10 * 0.04 * 0.01**3 / 12
CRITICAL = RIGIDITY * (np.pi / 2.0 / LENGTH) ** 2


def column(force=None, **changes):
    link = jm.Link(LENGTH, 7e10, 2700.0, jm.rectangle(0.01, 0.04), axial_force=force)
    return jm.Arm((link.replace(**changes),))


@pytest.mark.parametrize("share", [-0.999, -0.9, -1e-3, 1e-3, 2.0, 3e3])
def test_a_cantilever_under_its_weight_and_a_force(share):
    """E I w'''' - N w'' = q, clamped and free."""
    force, load = mpmath.mpf(share * CRITICAL), mpmath.mpf(LINE * 9.81)
    z = mpmath.sqrt(-force / mpmath.mpf(RIGIDITY)) * LENGTH
    exact = ((1 - 1 / mpmath.cos(z)) / z**2 + mpmath.tan(z) / z - mpmath.mpf(1) / 2).real
    exact *= load * mpmath.mpf(LENGTH) ** 2 / -force
    x, y = second_order_deflection(column(float(force)), EB, gravity=(0.0, -9.81))
    assert abs(x) == 0.0
    np.testing.assert_allclose(y, -float(exact), rtol=1e-14 / min(1.0, 1.0 + share))


def test_a_mast_under_its_own_weight():
    """E I t'' = -q s t - F over the distance s from the top: the axial force is linear, t a power series."""
    mast = column(joint_angle=np.pi / 2)
    arm = mast.replace(loads=jm.Loads(gravity=120.0, tip_force_x=3.0))
    weight, push, top = LINE * 120.0 / RIGIDITY, 3.0 / RIGIDITY, mpmath.mpf(LENGTH)

    def series(first, load):
        terms = [mpmath.mpf(first), mpmath.mpf(0)]
        for k in range(80):
            before = terms[k - 1] if k else 0
            terms.append(-(weight * before + (load if k == 0 else 0)) / ((k + 2) * (k + 1)))
        return terms

    free, forced = series(1, 0), series(0, push)
    at = [sum(c * top**k for k, c in enumerate(terms)) for terms in (free, forced)]
    over = [sum(c * top ** (k + 1) / (k + 1) for k, c in enumerate(t)) for t in (free, forced)]
    exact = over[1] - at[1] / at[0] * over[0]
    x, _ = second_order_deflection(arm, EB)
    np.testing.assert_allclose(x, float(exact), rtol=1e-13)
    straight = 3.0 * LENGTH**3 / (3.0 * RIGIDITY)
    assert x > 1.15 * straight


FEATURES = {
    "hub_mass": 0.4,
    "tip_mass": 0.5,
    "tip_centre_x": 0.1,
    "tip_centre_y": -0.03,
    "end_offset_x": 0.1,
    "base_offset_x": 0.03,
}


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
@pytest.mark.parametrize("rigid", [False, True])
def test_arms_with_every_feature_against_40_digits(theory, rigid):
    """Gravity is an acceleration of the base: the motion relative to a base that moves ever more slowly."""
    arm = bent(joint_stiffness=2e4, rigid=rigid, axial_force=-3e3, **FEATURES)
    first = arm.links[0].replace(axial_force=9e4, joint_stiffness=8e4, joint_angle=0.4, **FEATURES)
    arm = arm.replace(links=(first, arm.links[1]), payload=jm.Payload(mass=2.0, centre_x=0.1))
    chain = Chain(arm, mpmath.mpf(10) ** -8, theory)
    elbow, gravity = mpmath.mpf(float(arm.links[1].joint_angle)), np.array([3.0, -9.81])
    turned = np.array([[np.cos(0.4), np.sin(0.4)], [-np.sin(0.4), np.cos(0.4)]]) @ gravity
    tips, exact = [target(arm, name) for name in ("tip.along", "tip.across")], np.zeros(2)
    carried = {
        "along": (mpmath.cos(elbow), -mpmath.sin(elbow)),
        "across": (mpmath.sin(elbow), mpmath.cos(elbow)),
    }
    for direction, share in zip(carried, turned, strict=True):
        moved = chain.response(target(arm, f"base.{direction}"), tips)
        own = [x - y for x, y in zip(moved, carried[direction], strict=True)]
        exact += [float((x / chain.omega**2).real) * share for x in own]
    c, s = np.cos(0.4 + float(elbow)), np.sin(0.4 + float(elbow))
    exact = np.array([c * exact[0] - s * exact[1], s * exact[0] + c * exact[1]])
    found = second_order_deflection(arm, theory, gravity=tuple(gravity))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-11 * np.abs(exact).max())
    flags, loads = theory_flags(theory), DeadLoads(*gravity, 0.0, 0.0)
    bare = arm.replace(links=tuple(x.replace(axial_force=None) for x in arm.links))
    tip = equilibrium(beam_values(bare), flags.shear, flags.axial, loads).displacements.tip
    assert np.abs(found / np.array([tip[0][-1], tip[1][-1]]) - 1.0).max() > 0.01


@pytest.mark.parametrize("support", [None, 1e4, np.inf])
def test_without_forces_it_is_the_linear_theory(support):
    """On springs and rigid supports, too."""
    arm = bent(joint_stiffness=2e4, axial_force=0.0, support_y_stiffness=support, **FEATURES)
    loads = DeadLoads(3.0, -9.81, 0.0, 0.0)
    tip = equilibrium(beam_values(arm), 1.0, 1.0, loads).displacements.tip
    found = second_order_deflection(arm, gravity=(3.0, -9.81))
    exact = np.array([tip[0][-1], tip[1][-1]])
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-13 * np.abs(exact).max())


def test_what_is_buckled_or_not_held_has_no_deflection():
    for arm in (
        column(-1.0001 * CRITICAL),
        column(-30.0 * CRITICAL),
        column(0.0, joint_stiffness=0.0),
    ):
        assert np.isnan(second_order_deflection(arm, EB, gravity=(0.0, -9.81))).all()


def test_derivatives_of_an_arm_under_loads_against_differences():
    """By an angle that moves the forces at rest, a modulus, a load, a support, a body."""
    arm = bent(joint_stiffness=2e4, support_y_stiffness=2e5, joint_angle=-0.7, **FEATURES)
    arm = arm.replace(loads=jm.Loads(gravity=9.81, tip_force_x=-4e3))
    names = ("link2.joint_angle", "link1.youngs_modulus", "loads.tip_force_x")
    names += ("link2.support_y_stiffness", "link2.tip_mass")
    start = np.array([float(jm.get_parameter(arm, name)) for name in names])

    def moved(values):
        return second_order_deflection(
            jm.set_parameters(arm, dict(zip(names, values, strict=True)))
        )

    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        rates = np.asarray(jax.jit(jax.jacfwd(moved))(jnp.asarray(start)))
    for k, value in enumerate(start):
        step = np.zeros(start.size)
        step[k] = 1e-5 * abs(value)
        found = np.asarray(moved(start + step)) - np.asarray(moved(start - step))
        size = np.abs(moved(start)).max() / abs(value)
        np.testing.assert_allclose(rates[:, k], found / (2 * step[k]), rtol=1e-6, atol=1e-8 * size)
