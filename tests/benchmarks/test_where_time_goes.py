"""Are the operations of a program counted rightly, and is the page about performance that of its report?"""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxmodal as jm
from benchmarks.operations import KINDS, Operations, executed, written
from benchmarks.performance_page import BEGIN, CHANGES, END, STAGES, tables, with_tables
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.dynamic_stiffness.condensation import evaluate

ROOT = Path(__file__).parent.parent.parent
LANES = 64
#: processor time of all stages over that of a call; the host is the difference, and may come out a little negative
SHARES = (0.999, 1.001)


def formula(x, trips=3):
    """Each trip: two products and a sum, a quotient, a root, an exponential, a comparison and a selection."""

    def body(_, y):
        y = y * x + y * y
        y = x / y
        y = jnp.sqrt(y)
        return jnp.exp(jnp.where(y > 1.0, y, x))

    return lax.fori_loop(0, trips, body, x)


EACH_TRIP = Operations(add_multiply=3, divide=1, square_root=1, exponential=1, select=2)


def compiled(function, *arguments):
    return executed(jax.jit(function).lower(*arguments).compile().as_text())


def without_bytes(operations):
    return dataclasses.replace(operations, bytes=0.0)


@pytest.mark.parametrize("trips", [3, 50])
def test_operations_of_a_loop_are_counted(trips):
    x = jnp.linspace(1.0, 2.0, LANES)
    expected = EACH_TRIP.times(trips * LANES)
    assert written(jax.make_jaxpr(lambda x: formula(x, trips))(x)) == expected
    found = compiled(lambda x: formula(x, trips), x)
    assert without_bytes(found) == expected
    # every trip reads x and y at least, and writes y
    assert found.bytes >= trips * LANES * 24


def test_a_division_by_a_constant_is_a_multiplication():
    x = jnp.linspace(1.0, 2.0, LANES)
    expected = Operations(add_multiply=2 * LANES, divide=LANES)

    def quotients(x):
        return 1.0 / (x / 3.0 + x)

    assert written(jax.make_jaxpr(quotients)(x)) == expected
    assert without_bytes(compiled(quotients, x)) == expected


def test_a_fusion_computes_what_it_broadcasts_for_every_element():
    row, columns = jnp.linspace(1.0, 2.0, LANES), jnp.ones((10, LANES))

    def outer(row, columns):
        return jnp.sqrt(row)[None] * columns

    assert written(jax.make_jaxpr(outer)(row, columns)).square_root == LANES
    assert compiled(outer, row, columns).square_root in (LANES, 10 * LANES)
    assert compiled(outer, row, columns).add_multiply == 10 * LANES


def test_what_cannot_be_counted_is_refused():
    x = jnp.linspace(1.0, 2.0, LANES)

    def until(x):
        return lax.while_loop(lambda y: jnp.sum(y) < 1e3, lambda y: y + x, x)

    with pytest.raises(ValueError, match="while"):
        written(jax.make_jaxpr(until)(x))
    with pytest.raises(ValueError, match="trip count"):
        compiled(until, x)
    with pytest.raises(ValueError, match="sin"):
        written(jax.make_jaxpr(jnp.sin)(x))
    with pytest.raises(ValueError, match="sine"):
        compiled(jnp.sin, x)


def test_every_link_takes_the_same_operations():
    def of(arm):
        beams = jax.tree_util.tree_map(lambda x: x[:, None], beam_arrays(arm))
        flags = theory_flags("timoshenko")
        traced = jax.make_jaxpr(lambda w: evaluate(beams, flags, w, Arithmetic.float64))(
            jnp.ones(LANES)
        )
        # the count becomes an integer at the end, and what the link at the base rounds is weighed
        once = Operations(add_multiply=4 * LANES, select=3 * LANES)
        return written(traced) + once.times(-1.0)

    three, two = of(jm.examples.three_link_industrial()), of(jm.examples.two_link_flexible())
    per_link = dataclasses.astuple(three.times(1 / 3 / LANES))
    assert np.allclose(per_link, dataclasses.astuple(two.times(1 / 2 / LANES)), rtol=1e-12)
    assert (three.exponential, three.logarithm) == (3 * LANES, 0)


def test_page_has_the_figures_of_its_report():
    report = json.loads((ROOT / "results/benchmarks/where_time_goes.json").read_text())
    page = (ROOT / "docs/developers/performance.md").read_text()
    assert with_tables(page, report) == page
    with pytest.raises(ValueError, match="lacks"):
        with_tables(page.replace(END, ""), report)


@pytest.mark.slow
def test_quick_mode_writes_report_and_page(tmp_path):
    out, page = tmp_path / "report.json", tmp_path / "page.md"
    page.write_text(f"# Before\n{BEGIN}\n{END}\nafter\n")
    command = [sys.executable, "-m", "benchmarks.where_time_goes", "--quick", "--out", str(out)]
    subprocess.run([*command, "--docs", str(page)], check=True, capture_output=True, cwd=ROOT)
    report = json.loads(out.read_text())
    assert tables(report) in page.read_text()
    assert page.read_text().endswith("\nafter\n")
    assert set(report["machine"]["per_second"]) == {*KINDS, "bytes"}
    assert [run["workload"] for run in report["runs"]] == ["three_link", "two_link"]
    for run in report["runs"]:
        assert set(run["stages"]) == set(STAGES)
        assert set(run["next_factors"]) == set(CHANGES)
        assert run["certified"]
        shares = [row["share"] for row in run["stages"].values()]
        assert SHARES[0] < sum(shares) < SHARES[1]
        evaluations = [row.get("evaluations_per_cell", 0.0) for row in run["stages"].values()]
        # whole blocks are computed, so no fewer than the result counts
        assert sum(evaluations) >= run["evaluations_per_cell"]
        determinant, enclosed = run["kernels"]["determinant"], run["kernels"]["enclosed"]
        assert determinant["written"]["divide"] <= enclosed["written"]["divide"]
        assert 0.0 < enclosed["fraction_of_peak"] < 1.0
