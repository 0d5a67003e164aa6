"""Frequencies of arms in space under loads: beside planar arms, the engine without loads, closed forms."""

import numpy as np
import pytest

import jaxmodal as jm
from tests.at_rest.bars import DOWN, EB, straight
from tests.spatial.cases import bar, tube
from tests.spatial.random_arms import random_arm


@pytest.mark.parametrize(
    "theory",
    [
        *("timoshenko", "bending_only"),
        *(pytest.param(theory, marks=pytest.mark.slow) for theory in ("rayleigh", EB)),
    ],
)
def test_axial_forces_in_both_planes_and_in_torsion(theory):
    """Beside planar links with an axial force, which are exact; torsion has G J + N (I_y + I_z)/A for G J."""
    force = 3e4
    section = jm.rectangle(0.03, 0.012, "cowper")
    link = bar(length=0.8, section=section)
    arm = jm.SpatialArm((link,))
    found = jm.preloaded_frequencies(arm, 8, theory=theory, tip_force=(force, 0, 0)).omega
    values = link.section_values
    polar = values.second_moment_y + values.second_moment_z
    twisted = 7e10 / 2.66 * values.torsion_constant + force * polar / values.area
    expected = [float(0.5 * np.pi / 0.8 * np.sqrt(twisted / (2700.0 * polar)))]
    for own in (section, jm.rectangle(0.012, 0.03, "cowper")):
        flat = jm.Link(0.8, 7e10, 2700.0, own, poisson_ratio=0.33, axial_force=force)
        omega = jm.natural_frequencies(jm.Arm((flat,)), 8, theory=theory).omega
        expected += [float(x) for x in omega]
    expected = np.array(expected)
    for omega in found:
        assert np.abs(expected / omega - 1.0).min() < 1e-12
    assert np.abs(found / expected[0] - 1.0).min() < 1e-12


@pytest.mark.parametrize("loads", [{"tip_force": (-1.0, 0.0, 0.0)}, {"tip_force": (0.0, 1.0, 0.0)}])
def test_frequencies_fall_to_zero_at_the_critical_load(loads):
    """The square of the lowest one goes linearly to zero; beyond, the arm has none."""
    arm = jm.SpatialArm((straight(density=2700.0, strong=2e-9),))
    critical = jm.buckling(arm, 1, theory=EB, **loads).factors[0]

    def lowest(share):
        force = np.array(loads["tip_force"]) * critical * share
        return float(jm.preloaded_frequencies(arm, 1, theory=EB, tip_force=force).omega[0])

    near, nearer = lowest(1.0 - 1e-4), lowest(1.0 - 1e-6)
    assert abs((near / nearer) ** 2 / 100.0 - 1.0) < 1e-3
    with pytest.raises(jm.UncertifiedError, match="the loads buckle the arm"):
        lowest(1.0 + 1e-6)


@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 24), marks=pytest.mark.slow, id="more")]
)
def test_hardly_loaded_arms_have_the_frequencies_of_the_engine(seeds):
    """Rotors, springs, bodies, hinges: random arms without loads, by another dynamic stiffness, to 1e-12."""
    for seed in seeds:
        document, theory = random_arm(seed)
        arm = jm.arm_from_dict(document)
        expected = np.asarray(jm.natural_frequencies(arm, 4, theory=theory).omega)
        found = jm.preloaded_frequencies(arm, 4, theory=theory, gravity=(0.0, 0.0, -1e-13))
        held = expected > 0.0
        np.testing.assert_allclose(found.omega[held], expected[held], rtol=1e-12, atol=0)


def test_modes_that_are_not_there_and_loads_beyond_all_bounds():
    link = jm.SpatialLink(1.0, rigid=True, joint_stiffness=1e3, joint_axis=(0, 1, 0))
    arm = jm.SpatialArm((link,), payload=jm.RigidBody(2.0))
    found = jm.preloaded_frequencies(arm, 1, theory=EB, gravity=DOWN)
    assert abs(found.omega[0] / np.sqrt(1e3 / 2.0) - 1.0) < 1e-12
    with pytest.raises(
        jm.UncertifiedError, match="mode 2 under loads was not found: an arm of rigid links"
    ):
        jm.preloaded_frequencies(arm, 2, theory=EB, gravity=DOWN)
    for force, message in (
        (1e290, r"its critical load is 1\.7271807\d*e-288 times them"),
        (1e305, "so far beyond what the arm can bear that no critical load was found"),
    ):
        with pytest.raises(jm.ArmError, match=message):
            jm.static_equilibrium(jm.SpatialArm((straight(),)), theory=EB, tip_force=(-force, 0, 0))


def test_a_free_hinge_swings():
    """A rigid pendulum about a horizontal axis has sqrt(g/l); upside down it is unstable, upright it has a zero."""
    body = jm.RigidBody(2.0)
    values = {"rigid": True, "joint_stiffness": 0.0, "body": body, "length": 0.7}
    hanging = jm.SpatialLink(**values, joint_axis=(0, 1, 0), joint_angle=np.pi / 2)
    found = jm.preloaded_frequencies(jm.SpatialArm((hanging,)), 1, theory=EB, gravity=DOWN)
    assert abs(found.omega[0] / np.sqrt(9.81 / 0.7) - 1.0) < 1e-12
    with pytest.raises(jm.UncertifiedError, match="push it out of this posture"):
        jm.preloaded_frequencies(
            jm.SpatialArm((hanging.replace(joint_angle=-np.pi / 2),)), 1, theory=EB, gravity=DOWN
        )
    with pytest.raises(jm.ArmError, match="push the arm out of this posture"):
        jm.static_equilibrium(
            jm.SpatialArm((hanging.replace(joint_angle=-np.pi / 2),)), theory=EB, gravity=DOWN
        )
    post = jm.SpatialArm((tube(joint_stiffness=0.0), bar(joint_axis=(0, 0, 1), joint_angle=0.4)))
    turning = jm.preloaded_frequencies(post, 3, theory=EB, gravity=DOWN).omega
    assert turning[0] == 0.0
    assert turning[1] > 0.0
