"""The extremes of a sweep: those of its certified cells, with their coordinates."""

import numpy as np
import pytest
import xarray as xr

import sweeps
from jaxmodal.runtime.statuses import Status


@pytest.fixture(scope="module")
def ds():
    load = sweeps.zipped(
        sweeps.axis("payload.mass", [0.0, 1.0, 2.0]),
        sweeps.axis("payload.inertia", [0.1, 0.2, 0.3]),
        name="load",
    )
    angles = sweeps.linspace("theta_2", 10, 170, 4, unit="degree")
    options = {"num_modes": 2, "theories": ["timoshenko", "rayleigh"]}
    return sweeps.run(sweeps.Sweep("example:two_link_flexible", [angles, load], **options))


def test_each_mode_has_its_cells(ds):
    found = sweeps.extremes(ds)
    for theory in ("timoshenko", "rayleigh"):
        for mode in (1, 2):
            own = ds.frequency.sel(theory=theory, mode=mode)
            for side, value in (("lowest", own.min()), ("highest", own.max())):
                at = found.sel(theory=theory, mode=mode, side=side)
                assert float(at.frequency) == float(value)
                index = ds["payload_mass"].values.tolist().index(float(at["payload_mass"]))
                cell = own.sel(theta_2=float(at.theta_2)).isel(load=index)
                assert float(cell) == float(value)
                assert float(at["payload_inertia"]) == ds["payload_inertia"].values[index]
    assert found.theta_2.attrs["units"] == "degree"
    assert np.all(found.certified_cells == 12)


def test_cells_that_are_not_certified_have_no_part_and_are_counted(ds):
    spoilt = ds.copy(deep=True)
    place = np.unravel_index(np.argmin(ds.frequency.sel(theory="rayleigh", mode=1).values), (4, 3))
    index = {"theta_2": int(place[0]), "load": int(place[1]), "theory": 1, "mode": 0}
    spoilt.status[index] = int(Status.uncertified)
    spoilt.certified[index] = False
    spoilt.frequency[index] = 1e-6
    found = sweeps.extremes(spoilt).sel(theory="rayleigh", mode=1)
    assert (int(found.certified_cells), int(found.other_cells)) == (11, 1)
    rest = np.sort(ds.frequency.sel(theory="rayleigh", mode=1).values.ravel())
    assert float(found.frequency.sel(side="lowest")) == rest[1]
    spoilt.certified[:] = False
    none = sweeps.extremes(spoilt)
    assert np.isnan(none.frequency).all()
    assert np.isnan(none.theta_2).all()


def test_a_selection_and_a_store_do_as_well(ds, tmp_path):
    one = sweeps.extremes(ds.sel(theory="timoshenko", mode=2))
    assert one.frequency.dims == ("side",)
    angles = [sweeps.linspace("theta_2", 0, 180, 5, unit="degree")]
    sweep = sweeps.Sweep("example:two_link_flexible", angles, num_modes=1)
    sweeps.run(sweep, tmp_path / "a.zarr")
    found = sweeps.extremes(sweeps.open_result(tmp_path / "a.zarr"))
    assert found.theta_2.values.ravel().tolist() == [0.0, 180.0]
    with pytest.raises(sweeps.SweepError, match="give the result of a sweep"):
        sweeps.extremes(xr.Dataset({"frequency": ("mode", [1.0])}))
