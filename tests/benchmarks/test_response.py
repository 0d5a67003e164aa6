"""Does the dense solve beside which frequency responses are timed give the same response?"""

import json

from benchmarks import response, response_in_space


def test_the_stacked_solve_gives_the_same_response(tmp_path):
    """To 1e-9, relative: antiresonances, where both lose digits, included."""
    out = tmp_path / "response.json"
    response.main(["--frequencies", "60", "--postures", "3", "--repeats", "1", "--out", str(out)])
    found = json.loads(out.read_text())
    assert found["largest_difference_to_stacked"] < 1e-9
    answers = {"exact", "recursion", "payloads", "joints", "both", "mixed", "lengths"}
    assert set(found["seconds"]) == answers | {"one_arm", "modal", "stacked"}
    assert set(found["ways"].values()) == {"recursion"}  # too few postures


def test_responses_by_sums_are_those_that_are_timed():
    found = response.measure(300, 40, 1)
    taken = {name for name, way in found["ways"].items() if way == "sums"}
    assert taken == {"exact", "payloads"}
    assert found["largest_difference_to_recursion"] < 1e-10
    assert found["largest_difference_to_stacked"] < 1e-9


def test_the_stacked_solve_in_space_gives_the_same_response(tmp_path):
    """To 1e-9, but for frequencies next to undamped resonances."""
    out = tmp_path / "response.json"
    asked = ["--frequencies", "60", "--postures", "2", "--repeats", "1", "--out", str(out)]
    response_in_space.main(asked)
    found = json.loads(out.read_text())
    assert found["median_difference"] < 1e-9
    assert set(found["seconds_per_system"]) == {
        "one_posture",
        "one_undamped",
        "postures",
        "stacked",
    }
