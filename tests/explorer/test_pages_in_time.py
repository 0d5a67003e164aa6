"""Pages are small, open soon and move in a frame: of processor time, which other work on the machine hardly changes."""

import pytest

import jaxmodal as jm
from tests.explorer.measure_pages import ANGLES, MASSES, of_arm, of_sweep

JOINTS = ["link2.joint_angle", "link3.joint_angle"]


@pytest.mark.slow
def test_a_million_cells_open_and_move_in_time(tmp_path):
    """5 MB, 1.5 s; of a frame of 16 ms three are let pass, for what a machine is slower and what rounds to ticks."""
    found = of_sweep(tmp_path / "page.html", [ANGLES, MASSES])
    assert found["opening"]["MB"] < 5.0
    assert found["opening"]["processors"] < 1500.0
    assert found["level"]["thread"] < 48.0
    assert found["band"]["thread"] < 48.0


@pytest.mark.slow
def test_ten_modes_are_solved_in_time(tmp_path):
    """20 ms in the plane and 100 ms of six axes, with the shape of one mode."""
    page = tmp_path / "arm.html"
    planar = of_arm(page, jm.examples.three_link_industrial(), JOINTS, 50)
    spatial = of_arm(page, jm.examples.six_axis_industrial(), JOINTS, 50)
    assert planar["ten modes"]["processors"] < 20.0
    assert spatial["ten modes"]["processors"] < 100.0
