"""What sweeps say when an optional package is missing."""

import sys

import pytest

import sweeps
from sweeps.plots import pictures as plots


def a_sweep():
    axes = [sweeps.axis("theta_2", [0.0, 90.0], unit="degree")]
    return sweeps.Sweep("example:two_link_flexible", axes, num_modes=1)


def hide(monkeypatch, *names):
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_stores_need_zarr(monkeypatch, tmp_path):
    hide(monkeypatch, "sweeps.store.zarr_store")
    monkeypatch.delattr(sweeps.store, "zarr_store", raising=False)
    for use in (
        lambda: sweeps.run(a_sweep(), tmp_path / "a.zarr"),
        lambda: sweeps.open_result("a"),
    ):
        with pytest.raises(sweeps.StoreError, match=r"need zarr; install jaxmodal\[sweeps\]"):
            use()
    assert not list(tmp_path.iterdir())


def test_buckets_need_obstore(monkeypatch):
    hide(monkeypatch, "sweeps.store.object_store")
    for use in (
        lambda: sweeps.run(a_sweep(), "s3://bucket/a.zarr"),
        lambda: sweeps.run(a_sweep(), "s3://bucket/a.zarr", share=sweeps.Claims()),
        lambda: sweeps.open_result("s3://bucket/a.zarr"),
    ):
        with pytest.raises(sweeps.StoreError, match=r"need obstore; install jaxmodal\[s3\]"):
            use()


def test_random_designs_need_scipy(monkeypatch):
    hide(monkeypatch, "scipy.stats")
    ranges = [sweeps.Range("theta_2", 0, 1)]
    with pytest.raises(sweeps.SweepError, match=r"need SciPy; install jaxmodal\[sweeps\]"):
        sweeps.random_design(ranges, 4, seed=1)


def test_clusters_need_dask(monkeypatch):
    hide(monkeypatch, "distributed")
    with pytest.raises(sweeps.SweepError, match=r"needs dask; install jaxmodal\[dask\]"):
        sweeps.run(a_sweep(), executor="dask")


def test_pictures_need_matplotlib(monkeypatch):
    ds = sweeps.run(a_sweep())
    hide(monkeypatch, "matplotlib")
    with pytest.raises(sweeps.SweepError, match=r"need matplotlib; install jaxmodal\[plots\]"):
        plots.certificate_map(ds, "theta_2")
