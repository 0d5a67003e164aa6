"""The benchmark of GPUs: right rival, right counts of operations, honest without a GPU."""

import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from benchmarks import chain_form_jax, gpu
from benchmarks.batch import workloads
from benchmarks.operations import operations
from benchmarks.rivals import cell_beams
from jaxmodal.beams import prepared
from jaxmodal.condensation import evaluate

ROOT = Path(__file__).parent.parent
#: two eigensolvers on the same matrices: eps (omega_10 / omega_1)^2 of the slenderest
SAME_MATRICES = 1e-10
#: the chain form at its finest (`test_benchmarks`)
FINE = 3e-10


@pytest.mark.parametrize("name", ["three_link", "two_link"])
def test_the_rival_on_the_device_is_the_chain_form(name):
    arm, parameters, fine, _ = workloads(20)[name]
    beams = cell_beams(arm, parameters)
    found = chain_form_jax.frequencies(fine, beams, 10, 8)
    assert found.shape == (20, 10)
    assert np.abs(found / fine.frequencies(beams) - 1.0).max() < SAME_MATRICES


def test_operations_are_counted():
    a, b, x = jnp.ones((3, 5)), jnp.ones((5, 7)), jnp.ones(11)
    assert operations(jnp.matmul, a, b) == 2 * 3 * 5 * 7
    assert operations(lambda x: x * x + 1.0, x) == 2 * 11
    assert operations(jnp.sum, x) == 11
    assert operations(lambda x: jax.lax.fori_loop(0, 4, lambda i, y: y * 2.0, x), x) == 4 * 11
    assert operations(jax.jit(lambda x: jnp.sqrt(x) / 3.0), x) == 2 * 11
    with pytest.raises(ValueError, match="rounds are not known"):
        operations(lambda x: jax.lax.while_loop(lambda y: y[0] < 9.0, lambda y: y + 1.0, x), x)


def test_a_link_takes_as_many_operations_as_any_other():
    counts = []
    for arm in (jm.examples.two_link_flexible(), jm.examples.three_link_industrial()):
        beams, flags = prepared(arm, "timoshenko")
        counts.append(
            operations(lambda b, f, w: evaluate(b, f, w, "registers"), beams, flags, jnp.ones(1))
        )
    assert counts[1] / counts[0] == pytest.approx(1.5)


def test_without_a_gpu_it_says_so_and_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gpu, "first_gpu", lambda: None)
    out = tmp_path / "gpu.json"
    with pytest.raises(SystemExit) as stopped:
        gpu.main(["--out", str(out)])
    assert stopped.value.code == 2
    assert "no GPU" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_a_small_run_on_the_cpu_writes_a_report(tmp_path):
    out = tmp_path / "gpu.json"
    command = [sys.executable, "-m", "benchmarks.gpu", "--quick", "--allow-cpu", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert found["measured_on_a_gpu"] is (found["device"]["platform"] != "cpu")
    assert "--quick --allow-cpu" in found["command"]
    for name in ("series", "general_fused", "general_portable"):
        assert found[name]["modes_not_certified"] == 0
        assert found[name]["modes_missed"] == 0
        assert found[name]["largest_error"] < 1e-12
        assert found[name]["cells_per_second"] > 0.0
    assert found["chain_form"]["largest_error"] < FINE
    assert found["programs"]["fused"]["teraflops"] > 0.0
    assert found["ratios"]["general_fused_over_chain_form"] > 0.0
    assert not list(tmp_path.glob("*.partial"))
