"""Does the dense solve beside which frequency responses are timed give the same response?"""

import json

from benchmarks import response


def test_the_stacked_solve_gives_the_same_response(tmp_path):
    """To 1e-9, relative: antiresonances, where both lose digits, included."""
    out = tmp_path / "response.json"
    response.main(["--frequencies", "60", "--postures", "3", "--repeats", "1", "--out", str(out)])
    found = json.loads(out.read_text())
    assert found["largest_difference_to_stacked"] < 1e-9
    assert set(found["seconds"]) == {"exact", "one_arm", "modal", "stacked"}
