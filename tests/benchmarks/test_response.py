"""Does the dense solve beside which frequency responses are timed give the same response?"""

import json

from benchmarks import response, response_in_space


def test_the_stacked_solve_gives_the_same_response(tmp_path):
    """To 1e-9, relative: antiresonances, where both lose digits, included."""
    out = tmp_path / "response.json"
    response.main(["--frequencies", "60", "--postures", "3", "--repeats", "1", "--out", str(out)])
    found = json.loads(out.read_text())
    assert found["largest_difference_to_stacked"] < 1e-9
    assert set(found["seconds"]) == {"exact", "recursion", "mixed", "one_arm", "modal", "stacked"}
    assert found["ways"] == {"exact": "recursion", "mixed": "recursion"}  # too few postures


def test_responses_summed_over_joint_angles_are_those_that_are_timed():
    found = response.measure(300, 40, 1)
    assert found["ways"] == {"exact": "sums over joint angles", "mixed": "recursion"}
    assert found["largest_difference_to_recursion"] < 1e-10
    assert found["largest_difference_to_stacked"] < 1e-9


def test_the_stacked_solve_in_space_gives_the_same_response(tmp_path):
    """To 1e-9, but for frequencies next to undamped resonances."""
    out = tmp_path / "response.json"
    asked = ["--frequencies", "60", "--postures", "2", "--repeats", "1", "--out", str(out)]
    response_in_space.main(asked)
    found = json.loads(out.read_text())
    assert found["median_difference"] < 1e-9
    assert set(found["seconds_per_system"]) == {"one_posture", "postures", "stacked"}
