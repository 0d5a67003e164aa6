"""Does a benchmark write its report where it is told, and nowhere else?"""

import ast
import json
import types
from pathlib import Path

import pytest

from benchmarks import cross_check, reports

FOLDER = Path(cross_check.__file__).parent
SOURCES = sorted(path for path in FOLDER.rglob("*.py") if path.name != "reports.py")


@pytest.fixture
def small_cross_check(monkeypatch, tmp_path):
    """A cross check without its work, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    done = types.SimpleNamespace(stdout=json.dumps({"result_gb": 0.0}))
    monkeypatch.setattr(cross_check.subprocess, "run", lambda *_args, **_rest: done)
    for part in ("against_chain_form", "near_double_roots"):
        monkeypatch.setattr(cross_check, part, lambda cells: {"cells": cells})
    monkeypatch.setattr(cross_check, "_prepare", lambda: None)
    return tmp_path


def test_a_small_run_leaves_the_committed_report_alone(small_cross_check, capsys):
    cross_check.main(["--cells", "5"])
    assert not list(small_cross_check.rglob("*"))
    assert json.loads(capsys.readouterr().out)["cells"] == 5


def test_a_report_is_written_where_it_is_told(small_cross_check):
    out = small_cross_check / "new" / "report.json"
    cross_check.main(["--cells", "5", "--out", str(out)])
    assert json.loads(out.read_text())["cells"] == 5
    assert [path for path in small_cross_check.rglob("*") if path.is_file()] == [out]


def test_a_report_made_in_parts_goes_on_from_its_file(tmp_path):
    out = tmp_path / "report.json"
    assert reports.written_before(None) == reports.written_before(out) == {}
    reports.write_report({"first": 1}, out)
    assert reports.written_before(out) == {"first": 1}
    reports.write_report({"second": 2}, None)
    assert reports.written_before(out) == {"first": 1}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_no_benchmark_has_a_file_of_its_own_to_write(source):
    """An option --out is that of `reports.add_out`, or has to be given."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(ast.Attribute(attr="add_argument"), [ast.Constant("--out")], keywords):
                assert "required" in {keyword.arg for keyword in keywords}
