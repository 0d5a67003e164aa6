"""Are angles of all kinds taken in degrees, and nothing else?"""

import numpy as np

import jaxmodal as jm
from jaxmodal.cli.addressed import in_si
from tests.support.commands import run_command


def test_angles_are_degrees_and_all_else_is_si():
    arm = jm.examples.six_axis_industrial()
    arm = arm.replace(links=(arm.links[0].replace(section_roll=0.0), *arm.links[1:]))
    given = {"theta_2": (-90.0, 90.0), "link1.section_roll": 90.0, "payload.mass": 90.0}
    found = in_si("--range", arm, given)
    np.testing.assert_allclose(found["theta_2"], [-np.pi / 2, np.pi / 2], rtol=1e-15, atol=0)
    np.testing.assert_allclose(found["link1.section_roll"], np.pi / 2, rtol=1e-15, atol=0)
    assert found["payload.mass"] == 90.0


def test_the_rows_of_a_map_are_in_degrees_by_the_name_of_a_joint_too(tmp_path):
    tube = jm.hollow_circle(0.06, 0.002, shear_coefficient="cowper")
    link = jm.SpatialLink(0.6, 7e10, 2700.0, tube, poisson_ratio=0.33, joint_axis=(0, 1, 0))
    joints = [link, link.replace(joint_stiffness=5e3), link.replace(name="wrist")]
    jm.write_arm(jm.SpatialArm(tuple(joints), jm.RigidBody(2.0)), tmp_path / "arm.toml")
    usual = ["resonance-map", str(tmp_path / "arm.toml"), "--band-hz", "5,6", "--points", "2"]
    named, numbered = (
        run_command(*usual, "--across", joint, f"--range={address}=-60,60").output
        for joint, address in (("wrist", "wrist"), ("3", "theta_3"))
    )
    assert named == numbered
    assert "│         -60 │" in named
