"""The commands ``jaxmodal sweep ...``, end to end."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sweeps
import sweeps.store.grid
from jaxmodal.cli.arguments import BadInput
from sweeps.commands.plot import selected
from sweeps.store.zarr_store import open_store
from tests.support import synthetic_cells
from tests.support.commands import assert_refused, run_command, sweep_command

ROOT = Path(__file__).parent.parent.parent

SWEEP = """\
name = "small sweep"
arm = "example:two_link_flexible"
num_modes = 2

[[axes]]
parameter = "theta_2"
unit = "degree"
linspace = { start = 0, stop = 180, num = 3 }

[[axes]]
parameter = "payload.mass"
values = [0.0, 0.5]
"""


@pytest.fixture
def sweep_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def store(sweep_file):
    assert sweep_command("run", sweep_file, "--no-plot").exit_code == 0
    return Path("small.zarr")


def test_plan_tells_sizes_and_computes_nothing(sweep_file):
    result = sweep_command("plan", sweep_file, "--chunk-cells", 2)
    assert result.exit_code == 0, result.output
    for words in (
        "cells: 6 (3 x 2)",
        "chunks: 3 of 1 x 2",
        "12 frequencies",
        "0 to 180 degree",
        "path: every cell by itself",
        "time:",
    ):
        assert words in result.stdout
    assert list(Path().iterdir()) == [Path("small.toml")]


def test_run_writes_dataset_pictures_and_summary(sweep_file):
    pytest.importorskip("matplotlib")
    result = sweep_command("run", sweep_file)
    assert result.exit_code == 0, result.output
    for words in ("small sweep", "12 of 12 modes certified", "mode 1: ", "computed 6 of 6 cells"):
        assert words in result.stdout
    names = sorted(path.name for path in Path().iterdir())
    assert names == ["small.toml", "small.zarr", "small_maps.png"]
    again = sweep_command("run", sweep_file, "--no-plot")
    assert "computed 0 of 6 cells" in again.stdout


def test_run_takes_points_places_and_built_in_sweeps(sweep_file, synthetic):
    result = sweep_command("run", sweep_file, "--points", 5, "--out", "five.zarr", "--no-plot")
    assert result.exit_code == 1  # the synthetic solver calls 180 degrees invalid
    assert xr.open_zarr("five.zarr", chunks=None).sizes["theta_2"] == 5
    result = sweep_command("run", "example:three_link_posture_map", "--points", 4, "--no-plot")
    assert "computed 16 of 16 cells" in result.stdout
    assert xr.open_zarr("three_link_posture_map.zarr", chunks=None).frequency.shape == (4, 4, 10)


def test_a_large_result_is_not_read_for_pictures(sweep_file, synthetic, monkeypatch):
    monkeypatch.setattr("sweeps.commands.sweep.LARGE", 10)
    sweep_file.write_text(SWEEP.replace("stop = 180", "stop = 90"))
    result = sweep_command("run", sweep_file)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:2] == ["small sweep", "12 of 12 modes certified"]
    assert "mode 1" not in result.stdout
    assert sorted(path.name for path in Path().iterdir()) == ["small.toml", "small.zarr"]


def test_status_tells_how_far_a_store_is(sweep_file, store):
    result = sweep_command("status", store)
    assert result.exit_code == 0, result.output
    assert "shards: 1 of 1 computed, complete" in result.stdout
    assert "modes certified: 12" in result.stdout
    (store / "frequency/c.0.0.0").unlink()
    result = sweep_command("status", store)
    assert result.exit_code == 1
    assert "0 of 1 computed, 1 to compute" in result.stdout


def test_status_explains_what_is_not_certified(sweep_file, synthetic):
    sweep_command("run", sweep_file, "--no-plot")
    result = sweep_command("status", "small.zarr")
    assert result.exit_code == 1
    assert "modes invalid_input: 4" in result.stdout
    assert "make the arm of these values alone" in result.stdout


def test_verify_confirms_and_finds_wrong_numbers(sweep_file, store, monkeypatch):
    result = sweep_command("verify", store, "--cells", 3)
    assert result.exit_code == 0, result.output
    assert "3 cells, 6 frequencies counted again: all confirmed" in result.stdout
    monkeypatch.setattr(sweeps.store.grid, "solve_cells", synthetic_cells.solve_cells)
    sweep_command("run", sweep_file, "--out", "wrong.zarr", "--no-plot")
    result = sweep_command("verify", "wrong.zarr", "--cells", 6)
    assert result.exit_code == 1
    assert "6 cells are wrong" in result.stdout


def test_plot_draws_what_is_asked(sweep_file, store):
    pytest.importorskip("matplotlib")
    for arguments, name in [
        (("--kind", "branches", "--axis", "theta_2"), "small_branches.png"),
        (("--kind", "maps", "--to", "svg"), "small_maps.svg"),
        (("--kind", "certificates", "--out", "mine"), "mine_certificates.png"),
        (("--kind", "branches", "--at", "payload_mass=0.4"), "small_branches.png"),
    ]:
        result = sweep_command("plot", store, *arguments)
        assert result.exit_code == 0, result.output
        assert result.stdout.strip() == name
        assert Path(name).stat().st_size > 1000
    everything = sweep_command("plot", store)
    assert everything.stdout.split() == ["small_maps.png"]  # all is certified


def test_a_picture_is_written_into_the_file_that_is_named(sweep_file, store):
    """--out x.png wrote x.png_maps.png."""
    pytest.importorskip("matplotlib")
    for arguments, name in [
        (("--kind", "maps", "--shared-scale", "--out", "x.png"), "x.png"),
        (("--out", "y.svg"), "y.svg"),  # the only one that suits
        (("--kind", "maps", "--out", "run.v2"), "run.v2_maps.png"),
    ]:
        result = sweep_command("plot", store, *arguments)
        assert result.exit_code == 0, result.output
        assert result.stdout.split() == [name]
        assert Path(name).stat().st_size > 1000
    before = sorted(Path().iterdir())
    for arguments, words in [
        (("--out", "x.pdf"), "--out x.pdf: pictures of sweeps are .png or .svg"),
        (("--out", "x.png", "--to", "svg"), "are two formats; leave one out"),
        (("--out", "none/x.png"), "--out none/x.png: cannot be written"),
        (("--shared-scale",), "--shared-scale: goes with --kind maps"),
    ]:
        assert_refused(sweep_command("plot", store, *arguments), words)
    assert sorted(Path().iterdir()) == before


def test_one_file_takes_one_picture(sweep_file, synthetic):
    pytest.importorskip("matplotlib")
    sweep_command("run", sweep_file, "--no-plot")
    refused = sweep_command("plot", "small.zarr", "--out", "x.png")
    assert_refused(refused, "--out x.png: is one file, but 2 pictures suit", "maps or certificates")
    assert not Path("x.png").exists()


def test_a_level_is_drawn_or_said_to_be_none(sweep_file, store):
    pytest.importorskip("matplotlib")
    ds = sweeps.open_result(store)
    level = float(ds.frequency.sel(mode=1).mean())
    options = ("--kind", "maps", "--level", level, "--level", 1e5, "--out", "x.png")
    result = sweep_command("plot", store, *options)
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines() == [
        "no contour at 100000 Hz: no mode drawn has this frequency."
    ]


def test_export_writes_netcdf_and_csv(sweep_file, store):
    ds = sweeps.open_result(store)
    assert sweep_command("export", store, "--out", "a.nc").exit_code == 0
    with xr.open_dataset("a.nc") as again:
        np.testing.assert_array_equal(again.frequency, ds.frequency)
    assert sweep_command("export", store, "--out", "a.csv").stdout.strip() == "a.csv"
    lines = Path("a.csv").read_text().splitlines()
    assert lines[0].startswith("theta_2,payload_mass,mode,frequency,status")
    assert len(lines) == 13
    assert [line.split(",")[4] for line in lines[1:]] == ["certified"] * 12


def test_examples_are_listed_and_printed():
    listed = sweep_command("examples")
    assert listed.exit_code == 0
    for name in sweeps.sweep_names():
        assert name in listed.stdout
    assert "[[axes]]" in sweep_command("examples", "three_link_payload").stdout
    assert_refused(sweep_command("examples", "none"), "'none' is unknown")


def test_bad_input_is_refused(sweep_file, store):
    for command in ("plan", "run"):
        assert_refused(sweep_command(command, "none.toml"), "none.toml", "cannot be read")
        assert_refused(sweep_command(command, "three_link_payload"), "example:three_link_payload")
    assert_refused(
        sweep_command("run", sweep_file, "--points", 4, "--no-plot"), "3 in the store, 4 now"
    )
    for command in (("status",), ("verify",), ("plot",)):
        assert_refused(sweep_command(*command, "none.zarr"), "none.zarr", "run the sweep first")
    assert_refused(sweep_command("export", "none.zarr", "--out", "a.nc"), "run the sweep first")
    assert_refused(sweep_command("export", store, "--out", "a.xls"), ".nc or .csv")
    assert_refused(sweep_command("export", store, "--out", "none/a.csv"), "cannot be written")
    assert_refused(sweep_command("plot", store, "--at", "theta2=3"), "Did you mean 'theta_2'")
    assert_refused(sweep_command("plot", store, "--at", "theta_2=x"), "not a number")
    assert_refused(
        sweep_command("plot", store, "--at", "theta_2=nan"), "'nan' is no value of an axis"
    )
    assert_refused(sweep_command("plot", store, "--at", "theta_2"), "give theta_2=VALUE")
    twice = ("--at", "theta_2=0", "--at", "theta_2=1")
    for command in (("plot", store), ("explore", store, "--out", "page.html")):
        run = sweep_command if command[0] == "plot" else run_command
        assert_refused(run(*command, *twice), "--at theta_2=1: theta_2 is given twice")
    assert_refused(
        sweep_command("plot", store, "--axis", "theta_2", "--axis", "theta_2"),
        "--axis theta_2: is given twice",
    )
    assert_refused(
        sweep_command("plot", store, "--axis", "theta_2", "--at", "theta_2=0"),
        "--axis theta_2: the axes that are left are payload_mass.",
    )
    assert_refused(sweep_command("plot", store, "--kind", "slenderness"), "thickness_factor")
    assert_refused(
        sweep_command("plot", store, "--kind", "maps", "--at", "theta_2=0"), "needs more axes"
    )
    sweep_file.write_text(SWEEP.replace("num_modes = 2", "num_modes = 0"))
    assert_refused(sweep_command("run", sweep_file), "num_modes = 0")


def test_an_unwritable_place_is_refused(sweep_file):
    Path("file").write_text("mine")
    assert_refused(
        sweep_command("run", sweep_file, "--out", "file/a.zarr", "--no-plot"), "cannot be written"
    )


def test_help_needs_no_sweep_package_until_it_is_asked_for_and_that_no_extra():
    """In one process: a command of its own, an array without labels, the package; SciPy loads as long as all else."""
    code = (
        "import sys; sys.argv = ['jaxmodal', 'examples']\n"
        "from jaxmodal.cli.commands import main\n"
        "main(standalone_mode=False)\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'sweeps']\n"
        "import sweeps, numpy\n"
        "from jaxmodal.arm.plain_arrays import plain\n"
        "plain('x', [numpy.zeros(2)])\n"
        "heavy = ('zarr', 'matplotlib', 'distributed', 'scipy', 'pandas', 'xarray')\n"
        "found = [name for name in heavy if name in sys.modules]\n"
        "assert not found, found"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    for command in ("plan", "run", "status", "verify", "plot", "export", "examples"):
        assert sweep_command(command, "--help").exit_code == 0


@pytest.mark.parametrize(
    ("asked", "found", "told"),
    [
        ("5", 5.0, ""),
        ("5e-7", 0.0, ""),
        ("0.3", 0.0, "--at k=0.3: the nearest value there is 0."),
        ("-4", 0.0, "the nearest value there is 0."),
        ("1e9", 8.0, "the nearest value there is 8."),
        ("inf", np.inf, ""),
        ("4.9999999", 5.0, ""),
        ("4.9999", 5.0, "--at k=4.9999: the nearest value there is 5."),
    ],
)
def test_the_nearest_point_of_an_axis_in_any_order_is_taken_and_told(asked, found, told, capsys):
    ds = xr.Dataset({"frequency": ("k", np.arange(4.0))}, {"k": [5.0, 0.0, np.inf, 8.0]})
    assert selected(ds, (f"k={asked}",)).k.item() == found
    said = capsys.readouterr().err
    assert told in said
    assert bool(told) == bool(said)


@pytest.mark.parametrize("values", [[1e-9, 2e-9, 9e-9], [3e-9]])
def test_of_small_values_too_the_nearest_is_told(values, capsys):
    """Second moments in m^4 are smaller than any rounding of lengths."""
    ds = xr.Dataset({"frequency": ("I", np.array(values))}, {"I": values})
    assert selected(ds, ("I=3.4e-9",)).I.item() in (2e-9, 3e-9)
    assert "the nearest value there is" in capsys.readouterr().err
    assert selected(ds, (f"I={values[-1]!r}",)).I.item() == values[-1]
    assert not capsys.readouterr().err


def test_an_unknown_theory_at_which_to_draw_is_refused(sweep_file):
    ds = xr.Dataset({"frequency": ("theory", [1.0, 2.0])}, {"theory": ["timoshenko", "rayleigh"]})
    with pytest.raises(BadInput, match=r"theory=raylegh: the theories are .* mean 'rayleigh'"):
        selected(ds, ("theory=raylegh",))
    assert selected(ds, ("theory=rayleigh",)).frequency.item() == 2.0


def test_of_a_store_without_a_computed_cell_nothing_is_drawn_or_counted(sweep_file):
    open_store("empty.zarr", sweeps.read_sweep(sweep_file))
    for command in ("plot", "verify"):
        assert_refused(
            sweep_command(command, "empty.zarr"),
            "Error: empty.zarr: no cell has been computed; run the sweep first",
        )
