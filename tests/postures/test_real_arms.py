"""Arms with hubs, rotors, offsets, springs and bodies off the axis in the posture series, and those that have none."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.postures import places

#: the series and the general search, each good to about 1e-13
ALIKE = 1e-12


def featured_arm():
    arm = jm.examples.three_link_industrial()
    base, middle, tip = arm.links
    middle = dataclasses.replace(
        middle,
        joint_stiffness=2e6,
        joint_shear_stiffness=5e8,
        hub_mass=3.0,
        hub_inertia=0.05,
        stator_mass=2.0,
        base_offset_x=0.05,
        end_offset_x=-0.02,
    )
    tip = dataclasses.replace(
        tip,
        rotor_inertia=1e-4,
        gear_ratio=60.0,
        motor="beyond_spring",
        joint_stiffness=1e6,
        nonstructural_mass=1.5,
        tip_mass=4.0,
        tip_centre_x=0.06,
    )
    return dataclasses.replace(arm, links=(base, middle, tip))


def test_the_series_of_an_arm_with_features_agrees_with_the_general_search():
    arm = featured_arm()
    angles = np.random.default_rng(3).uniform(-np.pi, np.pi, (2, 9000))
    cells = {"link2.joint_angle": angles[0], "link3.joint_angle": angles[1]}
    series = jm.natural_frequencies_batch(arm, cells, 6)
    assert bool(series.certified.all())
    assert float(np.mean(np.asarray(series.by_sign_changes))) > 0.5, "the series was not used"
    few = {name: values[:300] for name, values in cells.items()}
    general = jm.natural_frequencies_batch(arm, few, 6)
    assert np.abs(np.asarray(series.omega)[:300] / np.asarray(general.omega) - 1.0).max() < ALIKE


@pytest.mark.parametrize("change", [{}, {"tip_centre_y": 0.1}, {"base_offset_y": -0.05}])
def test_postures_at_of_an_arm_with_features(change):
    arm = featured_arm()
    arm = dataclasses.replace(
        arm, links=(*arm.links[:2], dataclasses.replace(arm.links[2], **change))
    )
    omega = float(jm.natural_frequencies(arm.with_posture([0.7, -0.4]), 2).omega[1])
    found = jm.postures_at(arm, omega, joint=2, postures=[0.0, -0.4])
    assert np.nanmin(np.abs(np.asarray(found.angle) - 0.7)) < 1e-9


@pytest.mark.parametrize(
    "change",
    [
        {"joint_stiffness": 0.0},
        {"tip_mass": 2.0, "tip_centre_y": 0.1},
        {"end_offset_y": 0.05},
    ],
)
def test_free_joints_go_the_general_way_and_parts_beside_an_axis_do_not(change):
    arm = jm.examples.three_link_industrial()
    links = (*arm.links[:2], dataclasses.replace(arm.links[2], **change))
    other = dataclasses.replace(arm, links=links)
    free = "joint_stiffness" in change
    if free:
        with pytest.raises(jm.ArmError, match="natural_frequencies_batch"):
            jm.posture_series(other, omega_max=500.0, joints=[3])
    else:
        assert jm.posture_series(other, omega_max=500.0, joints=[3]).taylor.shape[2] == 5
    angles = np.linspace(-3.0, 3.0, 6500)
    assert places.pays(other, ["link3.joint_angle"], angles.size) is not free
    result = jm.natural_frequencies_batch(other, {"link3.joint_angle": angles}, 3)
    assert bool(result.certified.all())
    one = jm.natural_frequencies(set_parameters(other, {"link3.joint_angle": angles[123]}), 3)
    expected = np.asarray(one.omega)
    assert np.allclose(np.asarray(result.omega)[123], expected, rtol=ALIKE, atol=0.0)
    assert float(jnp.sum(one.omega == 0.0)) == free


def test_rigid_links_have_a_series():
    arm = featured_arm()
    links = (arm.links[0], dataclasses.replace(arm.links[1], rigid=True), arm.links[2])
    series = jm.posture_series(dataclasses.replace(arm, links=links), omega_max=500.0)
    angles, omega = [0.4, -1.2], 180.0
    one = dataclasses.replace(arm, links=links).with_posture(angles)
    below = int(np.sum(np.asarray(jm.natural_frequencies(one, 4).omega) < omega))
    value = series.evaluate([omega], [angles]).value[0, 0]
    assert abs(value) > 1e-6
    assert (float(value) > 0.0) == (below % 2 == 0)


def test_postures_of_arms_with_parts_beside_an_axis_and_of_some_joints_take_the_series():
    """Five terms for each angle, and those that do not vary cost nothing."""
    arm = featured_arm()
    beside = dataclasses.replace(arm.links[1], end_offset_y=0.08, rigid=True)
    arm = dataclasses.replace(arm, links=(arm.links[0], beside, arm.links[2]))
    angles = np.random.default_rng(5).uniform(-np.pi, np.pi, 3000)
    found = jm.natural_frequencies_batch(arm, {"link3.joint_angle": angles}, 6)
    assert bool(found.certified.all())
    assert float(np.mean(np.asarray(found.by_sign_changes))) > 0.9
    for i in (0, 1500):
        one = jm.natural_frequencies(
            set_parameters(arm, {"link3.joint_angle": float(angles[i])}), 6
        )
        np.testing.assert_allclose(found.omega[i], one.omega, rtol=ALIKE, atol=0.0)
