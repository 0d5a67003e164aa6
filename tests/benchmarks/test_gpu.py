"""The benchmark of GPUs: right rival, right counts of operations, honest without a GPU."""

import json

import numpy as np
import pytest

from benchmarks import batch, chain_form_jax, gpu
from benchmarks.batch import workloads
from benchmarks.rivals import cell_beams

MODES = 6
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


def test_without_a_gpu_it_says_so_and_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gpu, "first_gpu", lambda: None)
    out = tmp_path / "gpu.json"
    with pytest.raises(SystemExit) as stopped:
        gpu.main(["--out", str(out)])
    assert stopped.value.code == 2
    assert "no GPU" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_a_small_run_on_the_cpu_writes_a_report(tmp_path, monkeypatch):
    """With as many modes as the tests of batches, whose programs serve, and a few cells beside the truth."""
    for module in (gpu, batch):
        monkeypatch.setattr(module, "MODES", MODES)
    monkeypatch.setattr(gpu, "SAMPLE", 12)
    out = tmp_path / "gpu.json"
    gpu.main(["--quick", "--allow-cpu", "--out", str(out)])
    found = json.loads(out.read_text())
    assert found["modes"] == MODES
    assert found["measured_on_a_gpu"] is (found["device"]["platform"] != "cpu")
    assert "--quick --allow-cpu" in found["command"]
    for name in ("series", "general_fused", "general_portable"):
        assert found[name]["modes_not_certified"] == 0
        assert found[name]["modes_missed"] == 0
        assert found[name]["largest_error"] < 1e-12
        assert found[name]["cells_per_second"] > 0.0
    assert found["chain_form"]["largest_error"] < FINE
    alone = found["programs"]
    # six evaluations of each mode, 600 to 800 operations a link, and the interpolation
    assert 6 * MODES * 3 * 600 < alone["operations_per_cell"] < 6 * MODES * 3 * 900
    assert alone["fused"]["teraflops"] > 0.0
    assert found["ratios"]["general_fused_over_chain_form"] > 0.0
    assert not list(tmp_path.glob("*.partial"))
