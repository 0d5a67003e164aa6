"""Sweeps over arms in space: the same door, certificates, resumption and checks as those over planar arms."""

import shutil

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import jaxmodal as jm
import sweeps
from jaxmodal.cli.commands import main
from sweeps import SweepError, linspace
from sweeps.analysis.cells import arm_of_cell


def small(**options):
    values = {"num_modes": 3, "outputs": ["multiplicity", "bracket_lower", "count_below"]}
    axes = [
        linspace("theta_2", -60, 60, 3, unit="degree"),
        linspace("link3.joint_axis.x", 0.0, 0.5, 2),
    ]
    return sweeps.Sweep(jm.examples.canadarm2_like(), axes, **values | options)


def test_cells_are_single_calls_and_certified():
    ds = sweeps.run(small())
    assert ds.frequency.dims == ("theta_2", "link3_joint_axis_x", "mode")
    assert bool(ds.certified.all())
    assert ds["link3_joint_axis_x"].attrs["long_name"].startswith("component along x")
    for place in ({"theta_2": 0, "link3_joint_axis_x": 1}, {"theta_2": 2, "link3_joint_axis_x": 0}):
        cell = ds.isel(place)
        arm, theory = arm_of_cell(cell)
        assert isinstance(arm, jm.SpatialArm)
        single = jm.natural_frequencies(arm, 3, theory=theory)
        np.testing.assert_allclose(cell.frequency, single.frequencies_hz, rtol=1e-13)
        np.testing.assert_array_equal(cell.count_below, single.count_below)


@pytest.mark.parametrize("motor", ["held", "beyond_spring"])
@pytest.mark.parametrize("in_space", [False, True])
def test_a_store_of_rotors_without_motors_is_read_and_not_continued(
    tmp_path, monkeypatch, in_space, motor
):
    """As they were written before there was a choice; their rotors turned with the joints."""
    geared = {"joint_stiffness": 2e4, "rotor_inertia": 1e-3, "gear_ratio": 60.0, "motor": motor}
    arm = jm.examples.two_link_flexible()
    arm = arm.replace(links=(arm.links[0], arm.links[1].replace(**geared)))
    sweep = sweeps.Sweep(
        jm.to_spatial(arm) if in_space else arm, [linspace("theta_2", 0.0, 1.0, 2)]
    )
    path = tmp_path / "before.zarr"
    described = sweeps.Sweep.description

    def without_motors(self):
        found = described(self)
        for link in found["arm"]["links"]:
            link.pop("motor", None)
        return found

    with monkeypatch.context() as before:
        before.setattr(sweeps.Sweep, "description", without_motors)
        sweeps.run(sweep, path)
    arm, _ = arm_of_cell(xr.open_zarr(path, chunks=None).isel(theta_2=0))
    assert arm.links[1].motor == "beyond_spring"
    with pytest.raises(sweeps.StoreError, match=r"motor: absent in the store"):
        sweeps.run(sweep, path)


def test_a_store_resumes_to_the_same_bytes(tmp_path):
    whole, part = tmp_path / "whole.zarr", tmp_path / "part.zarr"
    sweeps.run(small(), whole, chunk_cells=2)
    shutil.copytree(whole, part)
    lost = list((part / "frequency").glob("c.1.*"))
    assert lost
    for file in lost:
        file.unlink()
    sweeps.run(small(), part, chunk_cells=2)
    for name in ("frequency", "status", "bracket_lower"):
        np.testing.assert_array_equal(
            xr.open_zarr(part, chunks=None)[name], xr.open_zarr(whole, chunks=None)[name]
        )


@pytest.mark.parametrize(
    "name", ["six_axis_posture_map", pytest.param("canadarm2_posture_map", marks=pytest.mark.slow)]
)
def test_the_built_in_posture_maps_run_and_are_verified(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    invoke = CliRunner().invoke
    drawn = name == "six_axis_posture_map"
    plain = [] if drawn else ["--no-plot"]
    ran = invoke(main, ["sweep", "run", f"example:{name}", "--points", "2", *plain])
    assert ran.exit_code == 0, ran.output
    assert "32 of 32 modes certified" in ran.output
    found = invoke(main, ["sweep", "verify", f"{name}.zarr", "--cells", "2"])
    assert found.exit_code == 0, found.output
    assert (tmp_path / f"{name}_maps.png").exists() == drawn
    if drawn:  # cells are solved to tell the time
        planned = invoke(main, ["sweep", "plan", f"example:{name}"])
        assert "about" in planned.output, planned.output


def test_a_missing_shear_coefficient_is_refused():
    plain = jm.spatial_section(1e-3, 1e-6, 1e-6, 2e-6)
    link = jm.SpatialLink(1.0, 7e10, 2700.0, plain, poisson_ratio=0.3)
    with pytest.raises(SweepError, match="a shear coefficient is missing"):
        sweeps.Sweep(jm.SpatialArm((link,)), [linspace("link1.length", 1.0, 2.0, 2)])


def test_outputs_of_arms_in_space_under_axial_forces():
    """Buckling factors are Euler's over the force, and shares of the strain energy have a part of the forces."""
    bar = jm.SpatialLink(0.5, 7e10, 2700.0, jm.rectangle(0.03, 0.02), poisson_ratio=0.3)
    arm = jm.SpatialArm((bar.replace(axial_force=-100.0),))
    forces, outputs = [-100.0, -300.0], ["buckling_factor", "strain_energy_fraction"]
    axis = sweeps.axis("link1.axial_force", forces)
    found = sweeps.run(
        sweeps.Sweep(arm, [axis], num_modes=2, theories=["euler_bernoulli"], outputs=outputs)
    )
    critical = np.pi**2 / 4.0 / 0.25 * 7e10 * 0.03 * 0.02**3 / 12.0
    expected = critical / np.array([100.0, 300.0])
    np.testing.assert_allclose(found.buckling_factor, expected, rtol=1e-12, atol=0)
    shares = found.strain_energy_fraction
    np.testing.assert_allclose(shares.sum(["link", "strain_part"]), 1.0, rtol=1e-12, atol=0)
    assert bool((shares.sel(strain_part="preload", mode=1) < 0.0).all())
