"""Results of sweeps as xarray users meet them: labels, units, selection, export; numbers checked."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import jaxmodal as jm
import sweeps
from jaxmodal.postures import places, series_search
from jaxmodal.runtime.statuses import Status
from sweeps.store.export import as_table

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def sweep():
    loads = sweeps.zipped(
        sweeps.axis("payload.mass", [0.0, 0.5]),
        sweeps.axis("payload.inertia", [0.0, 0.001]),
        name="load",
    )
    return sweeps.Sweep(
        "example:two_link_flexible",
        [
            sweeps.axis("theta_2", [0.0, 45.0, 90.0], unit="degree"),
            sweeps.axis("thickness_factor", [1.0, 50.0]),
            loads,
        ],
        theories=["timoshenko", "euler_bernoulli"],
        num_modes=3,
        outputs=[
            name
            for name, quantity in sweeps.QUANTITIES.items()
            if name not in ("certified", "status") and quantity.part in ("", "modal")
        ],
        sensitivity_to=["link1.length", "link*.density", "payload_mass"],
        name="a small sweep",
    )


@pytest.fixture(scope="module")
def ds(sweep):
    return sweeps.run(sweep)


@pytest.fixture(scope="module")
def stored(sweep, tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "a.zarr"
    sweeps.run(sweep, path, chunk_cells=4)
    return path


# ---- numbers ----


def test_every_cell_is_the_arm_that_its_labels_say(ds):
    arm = jm.examples.two_link_flexible(50.0).with_posture([math.pi / 4]).with_payload(0.5, 0.001)
    for theory in ("timoshenko", "euler_bernoulli"):
        alone = jm.natural_frequencies(arm, 3, theory=theory)
        cell = ds.sel(theory=theory, theta_2=45.0, thickness_factor=50.0).isel(load=1)
        assert float(cell.payload_mass) == 0.5
        # the batch and the single call may round the last digits differently
        np.testing.assert_allclose(cell.frequency, alone.frequencies_hz, rtol=1e-14)
        np.testing.assert_array_equal(cell.count_below, alone.count_below)
        np.testing.assert_array_equal(cell.multiplicity, alone.multiplicity)


def test_the_size_of_chunks_decides_no_bit_and_no_bracket():
    """600 cells have pilots, which the 150 cells of a chunk alone would not have."""
    axes = [sweeps.linspace("theta_2", 0.0, 3.0, 30), sweeps.linspace("payload.mass", 0.0, 2.0, 20)]
    outputs = ["bracket_lower", "bracket_upper"]
    sweep = sweeps.Sweep("example:two_link_flexible", axes, num_modes=2, outputs=outputs)
    whole, chunks = (sweeps.run(sweep, chunk_cells=cells) for cells in (600, 150))
    for name in ("frequency", *outputs):
        assert np.array_equal(whole[name], chunks[name]), name


def test_the_order_of_axes_decides_no_number():
    """One process, one fingerprint: the second sweep took the plan of the first, with values in another order."""
    axes = [sweeps.axis("link1.length", [0.4, 0.6]), sweeps.axis("payload.mass", [0.1, 5.0])]
    one, other = (
        sweeps.run(sweeps.Sweep("example:two_link_flexible", order, num_modes=2)).frequency
        for order in (axes, axes[::-1])
    )
    np.testing.assert_allclose(other.transpose(*one.dims), one, rtol=1e-14)


def test_a_chunk_of_a_posture_sweep_takes_the_series_of_all_cells(monkeypatch):
    """Its own cells would not pay for the series of an arm of four links."""

    class Reached(Exception):
        """The series is asked, with the number of cells that it was made for."""

    def search(cells, *_):
        raise Reached(cells)

    monkeypatch.setattr(series_search, "prepare", lambda *given: given[-1])
    monkeypatch.setattr(series_search, "solve_batch", search)
    arm = jm.Arm((jm.Link(0.5, 7e10, 2700.0, jm.raw_section(1e-3, 1e-7)),) * 4)
    axes = [sweeps.linspace(f"theta_{i}", -1.0, 1.0, 40) for i in (2, 3, 4)]
    sweep = sweeps.Sweep(arm, axes, num_modes=2, theories=["rayleigh"])
    assert not places.pays(arm, [f"link{i}.joint_angle" for i in (2, 3, 4)], 8192)
    with pytest.raises(Reached, match="64000"):
        sweeps.run(sweep, chunk_cells=8192)


def test_the_printed_table_2_is_in_the_sweep(ds):
    """The first Timoshenko frequency at 90 degrees, thickness factor 1, in Hz."""
    first = ds.frequency.sel(theory="timoshenko", theta_2=90.0, thickness_factor=1.0, mode=1)
    assert round(float(first.isel(load=0)), 4) == 0.2490


def test_the_difference_to_euler_bernoulli_is_a_percentage_of_the_own_theory(ds):
    f = ds.frequency
    expected = 100.0 * (f.sel(theory="euler_bernoulli") - f.sel(theory="timoshenko"))
    expected = expected / f.sel(theory="timoshenko")
    found = ds.difference_to_euler_bernoulli
    np.testing.assert_allclose(found.sel(theory="timoshenko"), expected, rtol=1e-9, atol=1e-12)
    assert np.all(found.sel(theory="euler_bernoulli") == 0.0)
    assert float(found.sel(theory="timoshenko", thickness_factor=50.0).max()) > 0.1


def test_brackets_enclose_frequencies(ds):
    assert np.all((ds.bracket_lower < ds.frequency) & (ds.frequency < ds.bracket_upper))
    assert np.all(ds.count_above - ds.count_below == ds.multiplicity)


def test_cells_whose_dimensions_do_not_fit_are_invalid_and_have_no_value():
    tube = sweeps.Sweep(
        "example:three_link_industrial",
        [
            sweeps.axis("link1.section.depth", [0.15, 0.03]),
            sweeps.axis("link1.section.wall_thickness", [0.01, 0.02]),
        ],
        num_modes=2,
    )
    found = sweeps.run(tube)
    invalid = found.status == int(Status.invalid_input)
    assert invalid.any("mode").values.tolist() == [[False, False], [False, True]]
    assert np.array_equal(np.isnan(found.frequency), invalid)
    assert "2 invalid_input" in found.attrs["certificate_summary"]


# ---- labels ----


def test_dimensions_are_the_axes_then_mode(ds):
    assert ds.frequency.dims == ("theory", "theta_2", "thickness_factor", "load", "mode")
    assert ds.mode.values.tolist() == [1, 2, 3]
    assert ds.theta_2.attrs["units"] == "degree"
    assert ds.theta_2.attrs["parameter"] == "link2.joint_angle"
    assert ds.payload_mass.dims == ("load",)
    assert ds.payload_mass.attrs["units"] == "kg"
    assert "link 2" in ds.theta_2.attrs["long_name"]


def test_every_variable_says_unit_and_meaning(ds):
    for name, variable in ds.data_vars.items():
        assert variable.attrs["units"] == sweeps.QUANTITIES[name].units
        assert variable.attrs["long_name"]
        assert variable.attrs["description"]
        assert variable.dtype == sweeps.QUANTITIES[name].dtype
    assert ds.frequency.attrs["units"] == "Hz"


def test_status_is_a_cf_flag(ds):
    attributes = ds.status.attrs
    meanings = attributes["flag_meanings"].split()
    assert ds.status.dtype == np.uint8
    assert attributes["flag_values"].dtype == np.uint8
    assert len(meanings) == len(attributes["flag_values"])
    for value, meaning in zip(attributes["flag_values"], meanings, strict=True):
        assert meaning == "not_computed" or Status[meaning] == value
    assert np.all(ds.certified == (ds.status == 0))


def test_provenance_says_what_computed_the_numbers(ds, sweep):
    attributes = ds.attrs
    assert attributes["Conventions"].startswith("CF-")
    assert attributes["title"] == "a small sweep"
    assert attributes["jaxmodal_version"] == jm.__version__
    assert attributes["fingerprint"] == sweep.fingerprint
    assert json.loads(attributes["definition"]) == sweep.description()
    assert attributes["certificate_tolerance"] == 4e-8
    assert attributes["certificate_summary"] == "72 of 72 modes certified"
    for key in ("source", "history", "references", "jax_version", "device", "dtype"):
        assert attributes[key]


def test_one_theory_is_a_label_and_no_dimension():
    one = sweeps.run(
        sweeps.Sweep("example:two_link_flexible", [sweeps.axis("theta_2", [0.0])], num_modes=1)
    )
    assert one.frequency.dims == ("theta_2", "mode")
    assert one.theory.item() == "timoshenko"


# ---- use and export ----


def test_an_opened_store_is_the_result_in_memory(ds, stored):
    opened = sweeps.open_result(stored)
    least = opened.frequency[opened.frequency.argmin(...)]  # before anything is read
    assert float(least) == float(ds.frequency.min())
    xr.testing.assert_equal(opened.load(), ds)
    assert opened.status.attrs["flag_values"].dtype == np.uint8
    assert list(opened.data_vars) == list(ds.data_vars)


def test_a_fresh_process_reads_selects_and_exports_with_xarray_alone(ds, stored, tmp_path):
    code = f"""
import warnings; warnings.simplefilter("error")
import xarray as xr
ds = xr.open_zarr({str(stored)!r}, chunks=None)
point = ds.sel(theory="timoshenko", theta_2=90, thickness_factor=50)
print(repr(float(point.frequency.sel(mode=2).isel(load=0))))
print(ds.frequency.attrs["units"], "payload_mass" in ds.coords, ds.theory.dims)
ds.load().to_netcdf({str(tmp_path / "a.nc")!r})
ds[[v for v in ds if ds[v].dims == ds.frequency.dims]].to_dataframe().to_csv({str(tmp_path / "a.csv")!r})
import sys; assert "jax" not in sys.modules
"""
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert answer.returncode == 0, answer.stderr
    number, labels = answer.stdout.splitlines()
    point = {"theory": "timoshenko", "theta_2": 90.0, "thickness_factor": 50.0, "mode": 2}
    assert float(number) == float(ds.frequency.sel(point).isel(load=0))
    assert labels == "Hz True ('theory',)"
    with xr.open_dataset(tmp_path / "a.nc") as again:
        np.testing.assert_array_equal(again.frequency, ds.frequency)
        np.testing.assert_array_equal(again.payload_mass, ds.payload_mass)
        assert again.theory.values.tolist() == ["timoshenko", "euler_bernoulli"]
        assert again.frequency.attrs["long_name"] == "natural frequency"
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert len(rows) == 1 + ds.frequency.size


def test_results_in_memory_export_too(ds, tmp_path):
    ds.to_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc") as again:
        np.testing.assert_array_equal(again.certified, ds.certified)
    table = as_table(ds)
    assert len(table) == ds.frequency.size
    shear = table["strain_energy_fraction[2,shear]"].to_numpy()
    expected = ds.strain_energy_fraction.sel(link=2, strain_part="shear")
    np.testing.assert_array_equal(shear, expected.values.ravel())


def test_registered_quantities_are_complete():
    for name, quantity in sweeps.QUANTITIES.items():
        assert quantity.name == name
        assert quantity.units
        assert quantity.description[0].isupper() or quantity.description[0].isdigit()
        assert np.array(quantity.fill).astype(quantity.dtype) == quantity.fill or math.isnan(
            quantity.fill
        )
        assert quantity.part in ("modal", "compliance") or not quantity.dims
