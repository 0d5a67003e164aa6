"""The benchmark that puts an older tree beside this one: both are asked the same, and other answers are no figure."""

import shutil
from pathlib import Path

import pytest

from benchmarks import older

ROOT = Path(__file__).parent.parent.parent


def run(tree, tmp_path, *options):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{older.BEGIN}\n{older.END}\nafter\n")
    few = ("--cells", "20", "--postures", "30", "--repeats", "1")
    older.main([str(tree), *few, "--out", str(tmp_path / "older.json"), "--docs", str(page)])
    return page.read_text()


@pytest.fixture
def one_core(monkeypatch):
    """The process of the tests keeps its cores."""
    monkeypatch.setattr(older.os, "sched_setaffinity", lambda *_: None)


def test_a_folder_without_the_library_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        older.main([str(tmp_path)])
    assert "no checkout of jaxmodal" in capsys.readouterr().err


@pytest.mark.slow
def test_this_tree_beside_itself(tmp_path, one_core):
    text = run(ROOT, tmp_path)
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    for name in older.workloads(20, 30):
        assert f"| {name} | " in text


def test_small_batches_and_two_lengths_of_the_series_have_rows_of_their_own():
    rows = older.workloads(60_000, 700_000)
    assert rows["two links"] == ("two", 60_000, None)
    assert rows["three links, 1,000 cells"][:2] == ("three", 1000)
    assert rows["posture series, 100,000"] == ("postures", 100_000, None)
    assert len(rows) == 8


@pytest.mark.slow
def test_a_tree_with_other_answers_is_no_rival(tmp_path, one_core):
    """Links of the example one part in a million longer."""
    other = tmp_path / "other"
    shutil.copytree(ROOT / "jaxmodal", other / "jaxmodal")
    file = other / "jaxmodal" / "__init__.py"
    file.write_text(
        file.read_text()
        + "\n_made = examples.three_link_industrial\n"
        + "examples.three_link_industrial = lambda: set_parameters(_made(), {'link1.length': 1.000001})\n"
    )
    with pytest.raises(RuntimeError, match="other frequencies"):
        run(other, tmp_path)
