"""The benchmark of the first minute: what it counts is what a process does, and its page is that of its report."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import start

ROOT = Path(__file__).parent.parent.parent
#: multiplies two columns by a compiled program, by nothing else of JAX
SMALL = """
import jax.numpy as jnp
compiled = jax.jit(lambda x: x * x)
compiled(jax.device_put(0.5))
compiled(jax.device_put(1.5))
"""


def test_programs_and_parts_of_a_process_are_counted():
    found = start.once(SMALL, "off")
    assert found["programs"] == 1, "one program, compiled once"
    assert 0.0 < found["compile"] < found["wall"]
    assert 0.0 < found["import"] < found["wall"]


@pytest.mark.slow
def test_a_process_that_fails_is_no_figure():
    with pytest.raises(RuntimeError, match="ended with 3"):
        start.once("sys.exit(3)", "off")


def test_every_command_that_is_timed_is_one(tmp_path):
    from click.testing import CliRunner

    from jaxmodal.cli.commands import main

    scripts = start.processes("example:three_link_industrial")
    timed = [name for name, script in scripts.items() if "main(" in script]
    assert {"frequencies", "modes"} <= set(timed)
    for name in timed:
        arguments = eval(scripts[name].split("*")[1].split("]")[0] + "]")
        command = [word for word in arguments[:2] if not word.startswith("example")]
        result = CliRunner().invoke(main, [*command, "--help"])
        assert result.exit_code == 0, name


def test_the_page_has_a_row_for_every_process_and_map():
    parts = {"import": 1.0, "cpu": 2.0, "programs": 4, "trace": 0.1, "lower": 0.1, "compile": 3.0}
    row = {"cold": {"wall": 5.0} | parts, "warm": {"wall": 2.0} | parts}
    times = {"jaxmodal_cold": 9.0, "jaxmodal_warm": 4.0, "chain_form": 12.0}
    some_map = {"cells": 65536, **times, "ratio_cold": 12 / 9, "ratio_warm": 3.0}
    page = start.page({"processes": {"frequencies": row, "modes": row}, "maps": [some_map]})
    assert "| frequencies, cold | 5.0 |" in page
    assert "| modes, warm | 2.0 |" in page
    assert "| 65,536 | 9.0 s | 4.0 s | 12.0 s | 1.33 | 3.00 |" in page


@pytest.mark.slow
def test_a_small_run_writes_a_report_and_a_page(tmp_path):
    """Compiles what a map of 600 postures needs: that the scripts of both solvers draw it is the question."""
    page, out = tmp_path / "page.md", tmp_path / "start.json"
    page.write_text(f"before\n{start.BEGIN}\n{start.END}\nafter\n")
    options = ["--only", "frequencies", "--repeats", "1", "--sides", "25"]
    command = [sys.executable, "-m", "benchmarks.start", *options, "--out", out, "--docs", page]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads(out.read_text())
    assert report["processes"]["frequencies"]["cold"]["programs"] == 0
    assert [m["cells"] for m in report["maps"]] == [625]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| 625 |" in text
