"""The rivals of the benchmarks are right: a wrong rival would be no measure of anything."""

import json
import os
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
from benchmarks import classical_optima, opensees, optimisation, series_values
from benchmarks.batch import workloads
from benchmarks.chain_form import ChainForm
from benchmarks.modes import in_turn
from benchmarks.rivals import DeterminantScan, PElement, cell_beams
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.postures import kinds

ROOT = Path(__file__).parent.parent.parent
CELLS = 3
#: the chain form on the hardest cells: slender arms, where eigvalsh loses eps (omega_10 / omega_1)^2
FINE = 3e-10
#: the same with fewer polynomials
COARSE = 5e-6
#: p = 11 in every field, on the three-link arm
ELEVEN = 5e-10
#: 75 quadratic elements per link
MESH = 1e-6
#: OpenSees with 75 elements per link, whose stretching is linear, and with two meshes extrapolated: an arm as slender
#: as the second's cells here hardly stretches, and an error of fourth order remains, larger in the coarser meshes
OPENSEES = {"three_link": (1e-4, 2e-6), "two_link": (2e-6, 3e-5)}
#: what halving the elements gains: 4, the error being that of stretching, of second order
SECOND_ORDER = (3.8, 4.2)
#: roots of the scan after regula falsi
SCAN = 1e-9


@pytest.fixture(scope="module", params=["three_link", "two_link"])
def cells(request):
    arm, parameters, fine, coarse = workloads(CELLS)[request.param]
    exact = []
    for values in zip(*parameters.values(), strict=True):
        varied = set_parameters(arm, dict(zip(parameters, map(float, values), strict=True)))
        exact.append(np.asarray(jm.natural_frequencies(varied).omega))
    return request.param, arm, parameters, fine, coarse, np.stack(exact)


def test_chain_form_has_its_stated_accuracy(cells):
    _, arm, parameters, fine, coarse, exact = cells
    beams = cell_beams(arm, parameters)
    assert np.abs(fine.frequencies(beams) / exact - 1).max() < FINE
    error = np.abs(coarse.frequencies(beams) / exact - 1).max()
    assert FINE < error < COARSE, "the coarse one is meant to be cheaper, not better"
    assert np.array_equal(fine.frequencies(beams, threads=2), fine.frequencies(beams))


def test_other_rivals_are_right(cells):
    name, arm, parameters, _, _, exact = cells
    beams = cell_beams(arm, parameters)
    mesh = PElement(2, elements=75, sparse=True).frequencies(beams)
    assert np.abs(mesh / exact - 1).max() < MESH * (10 if name == "two_link" else 1)
    if name == "three_link":
        assert np.abs(PElement(11).frequencies(beams) / exact - 1).max() < ELEVEN
        assert np.abs(ChainForm().frequencies(beams) / exact - 1).max() < ELEVEN
        scan = DeterminantScan(arm, 1.2 * exact.max()).frequencies(parameters)
        assert np.abs(scan / exact - 1).max() < SCAN


@pytest.fixture
def opensees_here():
    if opensees.missing() is not None:
        pytest.skip(opensees.missing())


def test_opensees_has_its_stated_accuracy(cells, opensees_here):
    name, arm, parameters, _, _, exact = cells
    beams = cell_beams(arm, parameters)

    def error(elements):
        return np.abs(opensees.OpenSees(elements).frequencies(beams) / exact - 1).max()

    plain, extrapolated = OPENSEES[name]
    assert error(opensees.PLAIN) < plain
    assert error(opensees.EXTRAPOLATED) < extrapolated
    if name == "three_link":
        coarse, fine = (error((n,)) for n in opensees.EXTRAPOLATED)
        assert SECOND_ORDER[0] < coarse / fine < SECOND_ORDER[1]
        assert error(opensees.EXTRAPOLATED) < error(opensees.PLAIN)


def test_opensees_refuses_what_it_does_not_model(opensees_here):
    arm = jm.examples.two_link_flexible()
    beams = cell_beams(arm, {"link2.joint_stiffness": np.array([1e3])})
    with pytest.raises(ValueError, match="joint_stiffness"):
        opensees.OpenSees().frequencies(beams)
    with pytest.raises(ValueError, match="two that differ"):
        opensees.OpenSees((20, 20))


def test_opensees_is_skipped_with_its_reason(monkeypatch):
    opensees.module.cache_clear()
    try:
        monkeypatch.setattr(opensees.importlib.util, "find_spec", lambda name: None)
        assert opensees.missing() == "OpenSeesPy: skipped, openseespy is not installed"
        monkeypatch.setitem(sys.modules, "openseespy.opensees", None)
        monkeypatch.setattr(
            opensees.importlib.util, "find_spec", lambda name: types.SimpleNamespace(origin=None)
        )
        assert opensees.missing().startswith("OpenSeesPy: skipped, openseespy does not load (")
    finally:
        opensees.module.cache_clear()


def test_chain_form_refuses_what_it_does_not_model():
    arm = jm.examples.two_link_flexible()
    beams = cell_beams(arm, {"link2.joint_stiffness": np.array([1e3])})
    with pytest.raises(ValueError, match="joint_stiffness"):
        ChainForm().frequencies(beams)
    with pytest.raises(ValueError, match="expected at least"):
        ChainForm(curvature=3)


@pytest.mark.slow
def test_quick_mode_writes_a_report(tmp_path):
    out = tmp_path / "batch.json"
    command = [sys.executable, "-m", "benchmarks.batch", "--quick", "--out", str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    assert "chain_form" in done.stdout
    runs = json.loads(out.read_text())["runs"]
    compared = [run for run in runs if run["cores"] == 1]
    assert [run["workload"] for run in compared] == ["three_link", "two_link"]
    for run in compared:
        assert run["solvers"]["jaxmodal"]["modes_missed"] == 0
        assert run["solvers"]["chain_form"]["largest_error"] < FINE
        if opensees.missing() is None:
            assert run["solvers"]["opensees"]["modes_missed"] == 0
        else:
            assert run["skipped"] == [opensees.missing()]
            assert opensees.missing() in done.stdout
    assert out.with_suffix(".png").exists()


def test_costs_are_medians_in_turn_over_the_first_call():
    order = []

    def call(name, seconds):
        def work(k):
            order.append((name, k))
            time.sleep(seconds)
            return k

        return work

    found = in_turn({"solve": call("solve", 0.002), "twice": call("twice", 0.02)}, int, 3)
    assert order == [(name, k) for k in range(4) for name in ("solve", "twice")]
    assert found["ratio"]["twice"] == found["seconds"]["twice"] / found["solve"]
    assert found["ratio"]["twice"] > 1.5


@pytest.mark.slow
def test_memory_of_a_small_sweep(tmp_path):
    out = tmp_path / "memory.json"
    command = [sys.executable, "-m", "benchmarks.sweep_memory", "--points", "3", "--modes", "2"]
    subprocess.run([*command, "--out", str(out)], check=True, capture_output=True, cwd=ROOT)
    found = json.loads(out.read_text())
    assert found["certificates"] == "18 of 18 modes certified"
    assert 5e7 < found["peak_rss_bytes"] < 2e9


@pytest.mark.slow
def test_optimisation_writes_a_report(tmp_path, monkeypatch):
    """One of the six beams: all of them, with more segments, are among the tests of optimisation."""
    one = {(0.1, 2): classical_optima.CANTILEVER[0.1, 2]}
    monkeypatch.setattr(classical_optima, "CANTILEVER", one)
    monkeypatch.setenv("XLA_FLAGS", os.environ["XLA_FLAGS"])  # which it completes
    out = tmp_path / "optimisation.json"
    optimisation.main(["--grid", "3", "--out", str(out), "--segments", "2", "3", "4"])
    found = json.loads(out.read_text())
    assert found["workspace"]["postures"] == 9
    assert found["workspace"]["status"] == "converged"
    assert len(found["classical"]) == 1
    for row in found["classical"]:
        assert 1.0 < row["ratios"][0] < row["ratios"][-1] < row["reference"]
        assert max(row["kkt_residuals"]) < 1e-6


@pytest.mark.parametrize("name", series_values.RANGES)
def test_values_of_all_sizes_are_solved_as_single_arms_are(name, monkeypatch):
    """The cells of the benchmark of payloads and springs, by the series, and what it says of their errors."""
    monkeypatch.setattr(kinds, "_CELLS_PER_TERM", 1)
    monkeypatch.setattr(series_values, "REFERENCE", 6)
    arm, columns = series_values.drawn(2, series_values.RANGES[name], 400)
    found = jm.natural_frequencies_batch(arm, columns, 6)
    assert bool(found.certified.all())
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.95
    told = series_values.errors(arm, columns, np.asarray(found.omega))
    assert told["reference_cells"] == 6
    assert told["largest_error"] < 1e-12
