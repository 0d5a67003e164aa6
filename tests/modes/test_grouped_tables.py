"""What tables of sensitivities show of an arm in space: groups, no frames; and what a mass does where there is none."""

import itertools

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.modes.sensitivity_results import by_size, group_of, sensitivities_table

ROBOT = jm.examples.six_axis_industrial()


@pytest.fixture(scope="module")
def table():
    return jm.sensitivities(ROBOT, 2)


def test_every_address_belongs_to_a_group():
    arms = ROBOT, jm.examples.three_link_industrial()
    groups = {name: group_of(name) for arm in arms for name in jm.list_addresses(arm)}
    assert set(groups.values()) == {"frames", "masses", "joints", "geometry", "sections"}
    for name, group in {
        "link4.joint_spring1.stiffness": "joints",
        "link4.joint_spring1.direction.x": "frames",
        "link2.joint_axis.z": "frames",
        "link1.joint_frame1.angle": "frames",
        "link3.joint_angle": "geometry",
        "link3.base_offset.z": "geometry",
        "link2.tip_mass": "masses",
        "link5.body.inertia.xx": "masses",
        "link2.section.depth": "sections",
        "link2.youngs_modulus": "sections",
        "link2.rotor_inertia": "joints",
        "link2.axial_force": "loads",
        "loads.gravity": "loads",
    }.items():
        assert group_of(name) == group


def test_a_table_of_all_is_grouped_and_leaves_out_frames(table):
    shown = sensitivities_table(table)
    names, groups = ([row[k] for row in shown.rows] for k in (1, 0))
    # axes and frames have no row, nor what changes nothing: the first angle turns the whole arm
    frames = [name for name in table.addresses if group_of(name) == "frames"]
    idle = [name for name in table.addresses if name not in names and name not in frames]
    assert "link1.joint_angle" in idle
    places = [table.addresses.index(name) for name in idle]
    np.testing.assert_allclose(np.asarray(table.derivative)[:, places], 0.0, rtol=0, atol=1e-9)
    assert f"{len(idle)} values that change none of these frequencies" in shown.notes[-1]
    assert not any("joint_axis" in name for name in names)
    assert "28 values of axes, frames and directions" in shown.notes[-1]
    headed = [group for group in groups if group]
    assert len(headed) == len(set(headed)) == 4
    # the largest of all stands first, each group by size
    assert names[0] == table.addresses[by_size(table)[0]] == "link4.length"
    groups_of_rows = [group_of(name) for name in names]
    assert [group for group, _ in itertools.groupby(groups_of_rows)] == headed
    assert "frames" in table.to_xarray().group.values


def test_what_is_asked_for_is_shown_whatever_it_is():
    asked = jm.sensitivities(ROBOT, 1, addresses=["link2.joint_axis.x", "payload.mass"])
    shown = sensitivities_table(asked)
    assert {row[1] for row in shown.rows} == {"link2.joint_axis.x", "payload.mass"}
    assert not shown.notes


@pytest.mark.parametrize("arm", [ROBOT, jm.examples.three_link_industrial()])
def test_a_mass_added_where_there_is_none(arm):
    """Beside the frequencies of arms with a little mass there, by a central difference of second order."""
    shapes = jm.mode_shapes(arm, 2, stations=[0.0, 0.5, 1.0])
    assert shapes.hz_per_kg.shape == (2, arm.num_links, 3)
    assert np.all(np.asarray(shapes.hz_per_kg) <= 0.0)
    if isinstance(arm, jm.SpatialArm):
        half = 0.5 * float(arm.links[3].length)
        heavier = [arm.with_body(4, half, jm.RigidBody(m)) for m in (1e-3, 2e-3)]
        own = shapes.hz_per_kg[:, 3, 1]
    else:
        heavier = [
            jm.attach_body(arm, 2, 0.5 * float(arm.links[1].length), mass=m) for m in (1e-3, 2e-3)
        ]
        own = shapes.hz_per_kg[:, 1, 1]
    base = np.asarray(shapes.frequencies_hz)
    one, two = (np.asarray(jm.natural_frequencies(x, 2).frequencies_hz) - base for x in heavier)
    np.testing.assert_allclose((4.0 * one - two) / 2e-3, own, rtol=1e-6, atol=0)
    assert "Hz per kg of a mass added at" in str(shapes)
    assert shapes.to_xarray().hz_per_kg.attrs["units"] == "Hz/kg"


def test_springs_of_joints_have_the_unit_of_what_they_do():
    slide = jm.Spring("translation", (1, 0, 0), 1e6, damping=3.0)
    base = ROBOT.links[0].replace(joint_springs=(slide,))
    arm = ROBOT.replace(links=(base, *ROBOT.links[1:]))
    name = "link1.joint_spring1."
    assert jm.unit_of_address(f"{name}stiffness") == "N/m or N m/rad"
    assert jm.unit_of_address(f"{name}stiffness", arm) == "N/m"
    assert jm.unit_of_address(f"{name}damping", arm) == "N s/m"
    assert jm.unit_of_address("link4.joint_spring1.stiffness", arm) == "N m/rad"
    assert jm.unit_of_address("link4.joint_spring9.stiffness", arm) == "N/m or N m/rad"
    assert jm.unit_of_address("theta_2", arm) == "rad"
    found = jm.sensitivities(arm, 1, addresses=[f"{name}stiffness"])
    assert found.units == ("N/m",)
    assert "N/m or" not in str(jm.sensitivities(arm, 1)) + str(jm.check_arm(arm))
