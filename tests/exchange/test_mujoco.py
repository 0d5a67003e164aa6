"""MuJoCo reads what is written, and has the frequencies of the table; the tip is where the arm has it."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.exchange import lumped, write_mjcf
from tests.exchange.cases import full_arm, planar_arm

witness = pytest.importorskip(
    "tests.exchange.mujoco_witness", reason="MuJoCo (pip install mujoco) is not installed"
)


@pytest.mark.parametrize(
    "arm",
    [
        planar_arm,
        pytest.param(full_arm, marks=pytest.mark.slow),
        pytest.param(jm.examples.six_axis_industrial, marks=pytest.mark.slow),
    ],
)
def test_the_first_five_frequencies_in_twenty_postures(arm, tmp_path):
    found = write_mjcf(arm(), tmp_path / "arm.xml", pieces=2, postures=20)
    model = witness.loaded(tmp_path / "arm.xml")
    for posture, hertz in zip(found.postures[1:], found.frequencies_hz[1:], strict=True):
        seen = witness.frequencies_hz(model, found.joints, posture, 5)
        np.testing.assert_allclose(seen, hertz, rtol=1e-8, atol=0.0)


@pytest.mark.parametrize("arm", [planar_arm, full_arm])
def test_locked_motors_and_the_place_of_the_tip(arm, tmp_path):
    made = lumped(arm(), pieces=2, postures=1)
    found = write_mjcf(made, tmp_path / "arm.xml", motors="locked", gravity=(0.0, -9.81, 0.0))
    model = witness.loaded(tmp_path / "arm.xml")
    seen = witness.frequencies_hz(model, (), (), 5)
    np.testing.assert_allclose(seen, found.frequencies_hz[0], rtol=1e-8, atol=0.0)
    np.testing.assert_allclose(model.opt.gravity, [0.0, -9.81, 0.0], rtol=0.0, atol=0.0)
    place = witness.data_at(model, (), ()).site("tip").xpos
    tip = np.resize(arm().tip_position(), 3) if isinstance(arm(), jm.SpatialArm) else None
    if tip is None:
        tip = jm.to_spatial(arm()).tip_position()
    np.testing.assert_allclose(place, tip, rtol=0.0, atol=1e-12)


def test_the_keyframe_is_the_posture_and_stands_still_there(tmp_path):
    """With its control MuJoCo finds no force in a spring, and nothing moves without gravity."""
    found = write_mjcf(lumped(full_arm(), pieces=2, postures=0), tmp_path / "arm.xml")
    model = witness.loaded(tmp_path / "arm.xml")
    data = witness.mujoco.MjData(model)
    witness.mujoco.mj_resetDataKeyframe(model, data, 0)
    witness.mujoco.mj_forward(model, data)
    assert np.abs(data.qacc).max() < 1e-9
    assert [model.actuator(k).name for k in range(model.nu)] == list(found.joints)


@pytest.mark.slow
def test_a_motion_keeps_its_energy_at_the_step_that_is_written(tmp_path):
    """Ten thousand steps after a push, without damping: the step is short enough for the fastest oscillation."""
    link = planar_arm().links[0].replace(joint_damping=None)
    write_mjcf(lumped(jm.Arm((link,)), postures=0), tmp_path / "arm.xml", motors="locked")
    model = witness.loaded(tmp_path / "arm.xml")
    model.opt.enableflags |= witness.mujoco.mjtEnableBit.mjENBL_ENERGY
    data = witness.mujoco.MjData(model)
    data.qvel[0] = 0.1
    energies = []
    for _ in range(10_000):
        witness.mujoco.mj_step(model, data)
        energies.append(data.energy.sum())
    np.testing.assert_allclose(energies, energies[0], rtol=1e-2, atol=0.0)
