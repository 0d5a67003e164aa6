"""Are stiffness and damping found from frequency responses with noise, read from files too?"""

import functools

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.identification import (
    MeasuredResponse,
    fit_arm,
    next_sensor,
    read_measurements,
    read_universal_file,
)

THEORY = "euler_bernoulli"
NAMES = [f"link{k}.joint_{what}" for what in ("stiffness", "damping") for k in (1, 2, 3)]
TRUE = np.array([6.5e3, 6e3, 1.6e3, 6.0, 6.0, 0.7])
START = dict(zip(NAMES, (8e3, 5e3, 2e3, 10.0, 4.0, 1.0), strict=True))
OUTPUTS = {
    "plane": ["tip_1.across", "tip_2.across", "tip.across"],
    "space": ["tip_1.link_y", "tip_2.link_y", "tip.link_y"],
}


@functools.cache
def three_joints():
    """Three beams on elastic and damped joints."""
    beam = {"length": 0.4, "youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3}
    section = jm.rectangle(depth=0.03, width=0.04)
    body = {"hub_mass": 0.8, "hub_inertia": 0.01, "loss_factor": 0.002}
    links = tuple(
        jm.Link(**beam, **body, section=section, joint_stiffness=1.0, joint_damping=1.0)
        for _ in range(3)
    )
    arm = jm.Arm(links, jm.Payload(1.0, 0.005)).with_posture([0.6, -0.9])
    return jm.set_parameters(arm, dict(zip(NAMES, TRUE, strict=True)))


def measured(arm, outputs, count, rng, known=True):
    """Accelerances under a torque of the first motor at 40 dB: noise of 1 % of each one's root mean square."""
    omega = 2.0 * np.pi * np.linspace(1.0, 120.0, count)
    exact = np.asarray(
        jm.frequency_response(
            arm, omega, "joint_1.torque", outputs, quantity="accelerance", theory=THEORY
        ).values
    )
    size = np.sqrt(np.mean(np.abs(exact) ** 2, axis=-1, keepdims=True))
    spread = np.broadcast_to(0.01 * size / np.sqrt(2.0), exact.shape)
    noise = rng.standard_normal(exact.shape) + 1j * rng.standard_normal(exact.shape)
    hertz = omega / (2.0 * np.pi)
    given = spread if known else None
    return MeasuredResponse(
        hertz, exact + spread * noise, "joint_1.torque", outputs, "accelerance", given
    )


@pytest.mark.parametrize("arm", ["plane", pytest.param("space", marks=pytest.mark.slow)])
def test_three_joints_at_40_decibels_are_found_to_one_per_cent(arm):
    stood = three_joints() if arm == "plane" else jm.to_spatial(three_joints())
    seen = measured(stood, OUTPUTS[arm], 120, np.random.default_rng(11), known=arm == "plane")
    found = fit_arm(stood, seen, NAMES, theory=THEORY, start=START)
    assert found.status.usable
    np.testing.assert_allclose(found.values, TRUE, rtol=0.01)
    assert np.all(found.standard_errors < 0.01 * TRUE)
    assert np.all(np.abs(found.values - TRUE) < 4.0 * found.standard_errors)
    assert np.all(found.responses[0].misfit(found.responses[0].after) < 0.012)
    assert np.all(found.responses[0].misfit(found.responses[0].before) > 0.2)
    table = found.to_xarray()
    assert table["response1_after"].dims == ("output1", "input1", "frequency1")
    expected = 1.0 if arm == "plane" else 0.01 / np.sqrt(2.0)
    np.testing.assert_allclose(found.scatter, expected, rtol=0.1)


def test_a_response_that_is_0_at_the_start_is_no_obstacle():
    """Along a straight arm nothing moves across; measured it is noise."""
    straight = three_joints().with_posture([0.0, 0.0])
    seen = measured(straight, ["tip.across"], 40, np.random.default_rng(3))
    values = np.concatenate([seen.values, np.full((1, 1, 40), 1e-9 + 0j)])
    both = MeasuredResponse(
        seen.frequencies_hz, values, seen.inputs, ["tip.across", "tip.along"], "accelerance"
    )
    found = fit_arm(straight, both, NAMES[:1], theory=THEORY, start={NAMES[0]: 7e3})
    np.testing.assert_allclose(found.values, TRUE[:1], rtol=0.01)


def test_a_sensor_where_modes_are_seen_is_proposed_before_one_on_the_first_link():
    seen = measured(three_joints(), ["tip_1.across"], 40, np.random.default_rng(2))
    found = fit_arm(three_joints(), seen, NAMES[:3], theory=THEORY)
    proposed = next_sensor(found, ["tip_1.across", "tip.across", "tip.along"])
    assert proposed.best != "tip_1.across"
    assert np.all(np.diff(proposed.gains) <= 0.0)
    assert proposed.gains[0] > proposed.gains[-1] > 0.0


def test_responses_come_back_from_a_universal_file_and_from_csv(tmp_path):
    omega = 2.0 * np.pi * np.array([2.0, 5.0, 9.0])
    ports = ["tip.y", "tip_2.across"]
    exact = jm.frequency_response(
        three_joints(), omega, "joint_1.torque", ports, quantity="mobility", theory=THEORY
    )
    path = jm.write_universal_file(exact, tmp_path / "seen.uff")
    (back,) = read_universal_file(path, three_joints(), settings={"payload.mass": 1.0})
    assert (back.quantity, back.outputs) == ("mobility", ("tip_3.y", "tip_2.across"))
    np.testing.assert_allclose(back.values, exact.values, rtol=1e-5)
    np.testing.assert_allclose(back.frequencies_hz, omega / (2.0 * np.pi), rtol=1e-5)
    turned = {(1, 2): "-tip.y", (2, 2): "tip_2.across", (3, 6): "joint_1.torque"}
    (turned_back,) = read_universal_file(path, three_joints(), places=turned)
    np.testing.assert_allclose(turned_back.values[0], -back.values[0], rtol=1e-12)
    text = path.read_text("utf-8")
    other = tmp_path / "other.uff"
    other.write_text(text.replace("tip_3.y / joint_1.torque", "accelerometer 12"), "utf-8")
    with pytest.raises(jm.ArmError, match=r"does not say where node 1, direction 2, is; give"):
        read_universal_file(other, three_joints())
    rows = ["frequency_hz,output,input,real,imaginary,quantity,payload.mass"]
    for o, name in enumerate(ports):
        for k, value in enumerate(np.asarray(exact.values)[o, 0]):
            hertz = omega[k] / (2.0 * np.pi)
            rows.append(f"{hertz!r},{name},joint_1.torque,{value.real!r},{value.imag!r},mobility,1")
    table = tmp_path / "seen.csv"
    table.write_text("\n".join(rows).replace("np.float64(", "").replace(")", ""), "utf-8")
    (read,) = read_measurements(table, three_joints())
    np.testing.assert_allclose(read.values, exact.values, rtol=1e-14)
    assert (read.settings, read.quantity) == ({"payload.mass": 1.0}, "mobility")
