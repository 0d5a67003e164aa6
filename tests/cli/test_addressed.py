"""Are angles of all kinds taken in degrees, and nothing else?"""

import numpy as np

import jaxmodal as jm
from jaxmodal.cli.addressed import in_si


def test_angles_are_degrees_and_all_else_is_si():
    arm = jm.examples.six_axis_industrial()
    arm = arm.replace(links=(arm.links[0].replace(section_roll=0.0), *arm.links[1:]))
    given = {"theta_2": (-90.0, 90.0), "link1.section_roll": 90.0, "payload.mass": 90.0}
    found = in_si(arm, given)
    np.testing.assert_allclose(found["theta_2"], [-np.pi / 2, np.pi / 2], rtol=1e-15, atol=0)
    np.testing.assert_allclose(found["link1.section_roll"], np.pi / 2, rtol=1e-15, atol=0)
    assert found["payload.mass"] == 90.0
