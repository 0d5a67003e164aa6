"""Do both ways of forward dynamics that are timed agree, and does the table of precision have a row for each run?"""

import json
from pathlib import Path

import pytest

from benchmarks import dynamics, forward_dynamics, motion_precision
from jaxmodal.dynamics.mechanics import recursion

KEPT = Path(__file__).parents[2] / "results" / "benchmarks" / "dynamics.json"


def test_the_ways_that_are_timed_give_the_same_accelerations():
    row = forward_dynamics.both_ways(forward_dynamics.chain(2, 1), recursion.solved, 1, 4)
    assert (row["links"], row["coordinates"]) == (2, 4)
    assert row["largest_difference"] < 1e-11
    assert row["dense_us"] > 0.0
    assert row["recursive_us"] > 0.0


def test_the_table_has_a_row_for_each_run():
    rows = json.loads(KEPT.read_text())["precision"]
    text = motion_precision.table(rows)
    assert sum(line.startswith("| `") for line in text.splitlines()) == len(rows)
    assert text == KEPT.with_name("dynamics_precision.md").read_text()


def test_unknown_parts_are_refused_before_anything_is_written(tmp_path, capsys):
    with pytest.raises(SystemExit):
        dynamics.main(["--parts", "speed,none", "--out", str(tmp_path / "new.json")])
    assert "--parts none: give some of" in capsys.readouterr().err
    assert not (tmp_path / "new.json").exists()
