"""Is the page about speed that of the published reports?"""

from pathlib import Path

import pytest

from benchmarks.marks import between
from benchmarks.speeds import BEGIN, END, RESULTS, main, rows, table

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"


def test_the_page_has_the_figures_of_the_reports():
    page = PAGE.read_text(encoding="utf-8")
    assert between(page, BEGIN, END, table()) == page


def test_a_row_has_the_figures_of_its_report():
    found = {row.question: row for row in rows(RESULTS)}
    row = found["three link arm, angles and wall thickness"]
    assert row.microseconds == pytest.approx(20.93666596992989)  # of batch.json
    assert row.times == pytest.approx(0.24598256333003518 / 0.02093666596992989)
    space = found["six axes in space, all angles"]
    assert space.times == pytest.approx(3.031399402343746 / 0.3061438944999999)  # of spatial.json
    assert all(row.times > 1.0 for row in found.values())


def test_the_command_writes_the_table_into_a_page(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    main(["--docs", str(page)])
    assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\n{table()}\n{END}\nafter\n"
    assert table() in capsys.readouterr().out
