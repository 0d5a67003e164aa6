"""Do sweeps recompute what an arm bears in every cell, and find its buckling factors?"""

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from tests.support.damped_cantilever import pendulum
from tests.support.real_arms import steel

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
    assert ds.buckling_status.values.tolist() == [[0, 0], [0, 0], [jm.Status.nothing_pressed] * 2]
    # beyond the critical load there is no frequency, and the status says so
    status = ds.status.isel(mode=0).values
    assert (status[0] == jm.Status.unstable).all()
    assert (status[1:] == jm.Status.certified).all()
    alone = jm.set_parameters(
        arm, {"loads.tip_force_x": 50.0, "payload.mass": 3.0, "loads.gravity": 9.81}
    )
    truth = jm.natural_frequencies(alone, 1, theory="euler_bernoulli").frequencies_hz
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


def test_damping_and_peaks_of_an_inverted_pendulum():
    """A rigid link upright on a spring: its weight takes m g l off; a weight that topples it leaves neither."""
    arm, inertia = pendulum(50.0)
    link = arm.links[0].replace(joint_damping=0.4, joint_angle=np.pi / 2)
    arm = jm.Arm((link,), loads=jm.Loads(gravity=0.0, pieces=1))
    gravity = np.array([0.0, 9.81, 60.0])
    stiffness = 50.0 - gravity * (2.0 * 0.5 + 1000.0 * 1e-6 * 0.5**2 / 2.0)
    sweep = sweeps.Sweep(
        arm,
        [sweeps.axis("loads.gravity", gravity)],
        num_modes=1,
        theories=["euler_bernoulli"],
        outputs=["damping_ratio", "peak_response", "peak_frequency"],
        response=sweeps.Response("joint_1.moment", "joint_1.rotation", (0.1, 10.0)),
    )
    ds = sweeps.run(sweep)
    ratio = 0.4 / (2.0 * np.sqrt(stiffness[:2] * inertia))
    np.testing.assert_allclose(ds.damping_ratio[:2, 0], ratio, rtol=1e-9)
    size = 1.0 / (2.0 * ratio * np.sqrt(1.0 - ratio**2) * stiffness[:2])
    np.testing.assert_allclose(ds.peak_response[:2], size, rtol=1e-9)
    place = np.sqrt(stiffness[:2] / inertia * (1.0 - 2.0 * ratio**2)) / (2.0 * np.pi)
    np.testing.assert_allclose(ds.peak_frequency[:2], place, rtol=1e-7)
    assert ds.status.values[2, 0] == jm.Status.unstable
    assert ds.damped_status.values[2, 0] == ds.peak_status.values[2] == jm.Status.no_value
    assert np.isnan([ds.damping_ratio.values[2, 0], ds.peak_response.values[2]]).all()


def test_shares_of_the_strain_energy_add_up():
    """With what forces at rest add, which is negative in compression; without forces there is no such part."""
    arm = jm.Arm((steel(axial_force=-3000.0), steel(joint_angle=0.5, tip_mass=1.0)))
    sweep = sweeps.Sweep(
        arm,
        [sweeps.axis("link1.axial_force", [-3000.0, 0.0])],
        num_modes=2,
        theories=["timoshenko"],
        outputs=["strain_energy_fraction"],
    )
    share = sweeps.run(sweep).strain_energy_fraction.squeeze()
    assert share.strain_part.values.tolist() == ["bending", "shear", "axial", "joint", "preload"]
    np.testing.assert_allclose(share.sum(("link", "strain_part")), 1.0, rtol=1e-12)
    energies = jm.mode_shapes(arm, 2).energies
    whole = np.asarray(energies.kinetic)[:, None]
    for kind in ("bending", "preload"):
        found = share.isel(link1_axial_force=0).sel(strain_part=kind).values
        np.testing.assert_allclose(
            found, np.asarray(getattr(energies, kind)) / whole, rtol=1e-9, atol=1e-15
        )
    assert (share.isel(link1_axial_force=0).sel(strain_part="preload", link=1) < 0.0).all()
    assert (share.isel(link1_axial_force=1).sel(strain_part="preload") == 0.0).all()
    plain = sweeps.Sweep(
        jm.Arm((steel(),)),
        [sweeps.axis("link1.length", [0.5])],
        num_modes=1,
        outputs=["strain_energy_fraction"],
    )
    assert plain.labels("strain_part") == ("bending", "shear", "axial", "joint")
