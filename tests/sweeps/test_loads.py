"""Do sweeps recompute what an arm bears in every cell, and find its buckling factors?"""

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from tests.real_arms import steel

L, EI = 0.5, 2e11 * 0.04 * 0.02**3 / 12
EULER = np.pi**2 * EI / (4 * L**2)


def column(**loads):
    """A clamped column along x, no weight of its own that would count."""
    return jm.Arm((steel(density=1e-6),), loads=jm.Loads(**loads, pieces=1))


def test_buckling_factors_are_eulers():
    """Of a force along the column and of a body's weight; inf and a status where it hangs, which no load buckles."""
    arm = column(gravity=0.0, gravity_direction=np.pi, tip_force_x=0.0)
    sweep = sweeps.Sweep(
        arm,
        [
            sweeps.axis("loads.tip_force_x", [-2.0 * EULER, -10.0, 50.0]),
            sweeps.axis("payload.mass", [0.0, 3.0]),
            sweeps.axis("loads.gravity", [9.81]),
        ],
        num_modes=1,
        theories=["euler_bernoulli"],
        outputs=["buckling_factor"],
    )
    ds = sweeps.run(sweep).isel(loads_gravity=0)
    pressed = np.array([2.0 * EULER, 10.0, -50.0])[:, None] + 9.81 * np.array([0.0, 3.0])
    found = ds.buckling_factor.values
    np.testing.assert_allclose(found[:2], EULER / pressed[:2], rtol=1e-9)
    assert np.isposinf(found[2]).all()
    assert ds.buckling_factor.attrs["ancillary_variables"] == "buckling_status"
    assert ds.buckling_status.values.tolist() == [[0, 0], [0, 0], [2, 2]]
    # beyond the critical load there is no frequency, and the status says so
    status = ds.status.isel(mode=0).values
    assert (status[0] == jm.Status.unstable).all()
    assert (status[1:] == jm.Status.certified).all()
    alone = jm.set_parameters(
        arm, {"loads.tip_force_x": 50.0, "payload.mass": 3.0, "loads.gravity": 9.81}
    )
    truth = jm.natural_frequencies(alone, 1, "euler_bernoulli").frequencies_hz
    np.testing.assert_allclose(ds.frequency.values[2, 1], truth, rtol=1e-12)


def test_files_with_loads(tmp_path):
    """The arm of a sweep file bears what its table says."""
    arm = jm.Arm((steel(),), loads=jm.Loads(tip_force_x=-10.0))
    jm.write_arm(arm, tmp_path / "arm.toml")
    path = tmp_path / "sweep.toml"
    path.write_text(
        'arm = "arm.toml"\nnum_modes = 1\noutputs = ["buckling_factor"]\ntheories = ["euler_bernoulli"]\n'
        '[[axes]]\nparameter = "loads.tip_force_x"\nvalues = [-10.0, -20.0]\n'
    )
    ds = sweeps.run(sweeps.read_sweep(path))
    np.testing.assert_allclose(ds.buckling_factor, [EULER / 10.0, EULER / 20.0], rtol=1e-9)


def test_an_arm_without_loads_has_no_factor():
    arm = column(tip_force_x=-10.0).replace(loads=None)
    axes = [sweeps.axis("payload.mass", [0.0, 1.0])]
    with pytest.raises(sweeps.SweepError, match="'buckling_factor' is of loads that grow"):
        sweeps.Sweep(arm, axes, num_modes=1, theories=["rayleigh"], outputs=["buckling_factor"])
