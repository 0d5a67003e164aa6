"""Damping ratios and peaks of a response as outputs of sweeps: closed forms, direct calls, labels, refusals."""

import numpy as np
import pytest
import xarray as xr

import jaxmodal as jm
import sweeps
from sweeps.commands.report import summary_lines, work_lines
from sweeps.plots.responses import peaks
from tests.support.commands import run_command
from tests.support.damped_cantilever import pendulum

STIFFNESS = 50.0
RATIOS = np.array([0.0, 0.05, 0.3, 0.8, 1.5])
OUTPUTS = ["peak_response", "peak_frequency", "damping_ratio", "damped_frequency", "decay_rate"]


def oscillator(ratios=RATIOS, **options):
    arm, inertia = pendulum(STIFFNESS)
    arm = arm.replace(links=(arm.links[0].replace(joint_damping=0.0),))
    omega = np.sqrt(STIFFNESS / inertia)
    dampers = sweeps.axis("link1.joint_damping", 2.0 * ratios * np.sqrt(STIFFNESS * inertia))
    turning = sweeps.Response(
        "joint_1.moment", "joint_1.rotation", (0.01 * omega / 2 / np.pi, omega)
    )
    given = {"num_modes": 1, "theories": "euler_bernoulli", "outputs": OUTPUTS} | options
    return sweeps.Sweep(arm, [dampers], **{"response": turning} | given), omega


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    sweep, _ = oscillator()
    path = tmp_path_factory.mktemp("responses") / "oscillator.zarr"
    sweeps.run(sweep, path, chunk_cells=2)
    return path


def test_an_oscillator_in_closed_form(stored):
    _, omega = oscillator()
    ds = sweeps.open_result(stored).load()
    damping = np.minimum(RATIOS, 1.0)
    np.testing.assert_allclose(ds.damping_ratio[:, 0], damping, rtol=1e-9, atol=1e-12)
    slow = omega * np.where(RATIOS > 1.0, RATIOS - np.sqrt(np.abs(RATIOS**2 - 1.0)), RATIOS)
    np.testing.assert_allclose(ds.decay_rate[:, 0], slow, rtol=1e-9, atol=1e-12 * omega)
    moving = omega * np.sqrt(np.maximum(1.0 - RATIOS**2, 0.0)) / (2.0 * np.pi)
    np.testing.assert_allclose(ds.damped_frequency[:, 0], moving, rtol=1e-9)
    assert ds.damped_status.values[:, 0].tolist() == [0] * 5
    # above a ratio of sqrt(1/2) the response falls from rest on
    found = [jm.Status(code).name for code in ds.peak_status.values]
    assert found == ["resonance", "resolved", "resolved", "no_peak", "no_peak"]
    for k in (1, 2):
        size = 1.0 / (2.0 * RATIOS[k] * np.sqrt(1.0 - RATIOS[k] ** 2) * STIFFNESS)
        np.testing.assert_allclose(ds.peak_response[k], size, rtol=1e-9)
        place = omega * np.sqrt(1.0 - 2.0 * RATIOS[k] ** 2) / (2.0 * np.pi)
        np.testing.assert_allclose(ds.peak_frequency[k], place, rtol=1e-7)
    assert np.isposinf(ds.peak_response[0])
    assert np.isnan(ds.peak_response[3:]).all()


def test_a_cell_has_the_numbers_of_its_arm():
    link = jm.examples.two_link_flexible().links[0].replace(loss_factor=0.02)
    arm = jm.Arm((link, link.replace(loss_factor=0.05)))
    sweep = sweeps.Sweep(
        arm,
        [sweeps.axis("theta_2", [40.0, 200.0], unit="degree")],
        num_modes=2,
        outputs=["damping_ratio", "peak_response"],
        response=sweeps.Response("base.y", "tip.y", (0.01, 3.0), "velocity"),
    )
    ds = sweeps.run(sweep)
    alone = arm.with_posture_deg([40.0])
    np.testing.assert_allclose(
        ds.damping_ratio.sel(theta_2=40.0), jm.damped_modes(alone, 2).damping_ratio, rtol=1e-9
    )
    low, high = 0.02 * np.pi, 6.0 * np.pi
    found = jm.response_peaks(alone, low, high, "base.y", "tip.y", motion="velocity")
    highest = float(np.abs(found.values).max())
    np.testing.assert_allclose(ds.peak_response.sel(theta_2=40.0), highest, rtol=1e-9)
    assert ds.peak_response.attrs["units"] == "m/s/(m/s^2)"
    assert ds.peak_response.dims == ("theta_2",)
    assert ds.peak_response.attrs["ancillary_variables"] == "peak_status"
    assert ds.damping_ratio.dims == ("theta_2", "mode")


@pytest.mark.slow
def test_what_is_printed_and_drawn(tmp_path):
    sweep, _ = oscillator(ratios=RATIOS[1:3])
    assert "peak_status, peak_response" in "\n".join(work_lines(sweep))
    stored = tmp_path / "oscillator.zarr"
    ds = sweeps.run(sweep, stored).load()
    assert "peaks of displacement joint_1.rotation for joint_1.moment" in summary_lines(ds)[-1]
    axes = peaks(ds, ["link1_joint_damping"]).axes[0]
    assert axes.get_ylabel() == "highest peak of the response [rad/(N m)]"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), ds.peak_response)
    ratios = peaks(ds, ["link1_joint_damping"], kind="damping").axes[0]
    assert ratios.get_ylabel() == "damping ratio"
    # over two axes a map; here of copies, which cost no search
    wide = xr.concat([ds, ds], xr.Variable("load", [0.0, 1.0], {"parameter": "payload.mass"}))
    wide["frequency"].attrs, wide["peak_response"].attrs = (
        ds.frequency.attrs,
        ds.peak_response.attrs,
    )
    meshes = peaks(wide, ["link1_joint_damping", "load"]).axes[0].collections
    assert meshes[0].get_array().shape == (2, 2)
    done = run_command("sweep", "plot", stored, "--kind", "peaks", "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a_peaks.png").stat().st_size > 5000


def test_files_and_fingerprints(tmp_path):
    path = tmp_path / "sweep.toml"
    link = jm.examples.two_link_flexible().links[0]
    jm.write_arm(jm.Arm((link.replace(loss_factor=0.0),)), tmp_path / "arm.toml")
    path.write_text(
        'arm = "arm.toml"\nnum_modes = 1\noutputs = ["peak_response"]\n'
        '[response]\ninput = "tip.moment"\noutput = "payload.y"\nband_hz = [1, 60]\n'
        '[[axes]]\nparameter = "link1.loss_factor"\nvalues = [0.01, 0.02]\n'
    )
    sweep = sweeps.read_sweep(path)
    assert sweep.response is not None
    assert sweep.response.units == "m/(N m)"
    assert sweep.outputs[-2:] == ("peak_status", "peak_response")
    other = sweeps.Response("tip.moment", "payload.y", (1.0, 61.0))
    changed = sweeps.Sweep(
        sweep.arm, sweep.axes, num_modes=1, outputs=["peak_response"], response=other
    )
    assert changed.fingerprint != sweep.fingerprint


def refused(options):
    if isinstance(options.get("response"), dict):
        ports = {"input": "tip.x", "output": "tip.x", "band_hz": (1.0, 2.0)}
        options = {"response": sweeps.Response(**ports | options["response"])}
    oscillator(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"response": None}, ("'peak_frequency'", "give response with input")),
        ({"outputs": ["damping_ratio"]}, ("no output refers to it", "peak_response")),
        ({"response": 3}, ("response = 3", "sweeps.Response(")),
        ({"response": {"input": "tipp.x"}}, ("tipp.x", "places are")),
        ({"response": {"output": "base.x"}}, ("base.x", "as the input")),
        ({"response": {"band_hz": (5.0, 1.0)}}, ("band_hz = (5.0, 1.0)", "0 < lower < upper")),
        ({"response": {"motion": "speed"}}, ("motion = 'speed'", "'velocity'")),
        ({"response": {"input": ["tip.x"]}}, ("input = ['tip.x']", "one port")),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(sweeps.SweepError) as caught:
        refused(options)
    for word in words:
        assert word in str(caught.value)


def test_arms_without_damping_are_refused():
    options = {"num_modes": 1, "outputs": ["peak_response"]}
    options["response"] = sweeps.Response("tip.x", "tip.x", (1.0, 2.0))
    with pytest.raises(sweeps.SweepError, match="no damping, so its peaks are infinite"):
        sweeps.Sweep("example:two_link_flexible", [sweeps.axis("theta_2", [0.0])], **options)


def test_damping_and_peaks_in_space():
    """In two cells what `damped_modes` and `response_peaks` say of the arm; a damper of a joint is an axis."""
    arm = jm.examples.six_axis_industrial()
    arm = arm.replace(links=tuple(link.replace(joint_damping=50.0) for link in arm.links))
    ports = "tip.force_z", "tip.z"
    turned = sweeps.axis("theta_2", [-0.6, 0.2])
    damper = sweeps.axis("link3.joint_damping", [10.0, 80.0])
    outputs = ["damping_ratio", "peak_response", "peak_frequency", "tip_compliance"]
    response = sweeps.Response(*ports, (5.0, 30.0))
    sweep = sweeps.Sweep(arm, [turned, damper], num_modes=3, outputs=outputs, response=response)
    ds = sweeps.run(sweep)
    assert ds.peak_response.attrs["units"] == "m/N"
    assert (ds.damped_status == 0).all()
    # across the grid: a value that goes astray on an axis is seen in one of two cells, which share none
    for k, (angle, damping) in enumerate([(-0.6, 80.0), (0.2, 10.0)]):
        one = jm.set_parameters(arm, {"theta_2": angle, "link3.joint_damping": damping})
        cell = ds.isel(theta_2=k, link3_joint_damping=1 - k)
        ratios = jm.damped_modes(one, 3).damping_ratio
        np.testing.assert_allclose(cell.damping_ratio, ratios, rtol=1e-12, atol=0.0)
        resonances = jm.response_peaks(one, 10.0 * np.pi, 60.0 * np.pi, *ports)
        highest = np.abs(resonances.values).max()
        np.testing.assert_allclose(cell.peak_response, highest, rtol=1e-12, atol=0.0)
        three = ["tip.x", "tip.y", "tip.z"]
        compliance = jm.static_compliance(one, three, three).values
        np.testing.assert_allclose(cell.tip_compliance, compliance, rtol=1e-12, atol=0.0)
    meshes = [
        panel.collections
        for panel in peaks(ds, ["theta_2", "link3_joint_damping"], kind="compliance").axes
    ]
    shown = [mesh[0].get_array() for mesh in meshes[:3]]
    for own, found in zip("xyz", shown, strict=True):
        cells = ds.tip_compliance.sel(direction=own, force_direction=own)
        np.testing.assert_array_equal(np.sort(np.ravel(found)), np.sort(np.ravel(cells)))
    lines = peaks(ds, ["theta_2"], kind="compliance").axes[0].lines
    assert len(lines) == 3


def test_a_tip_that_nothing_holds_has_no_compliance():
    """A free joint in one cell; the other, a clamped bar, gives way by L^3/(3 E I) across and by L/(E A) along."""
    link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05, 0.85))
    sweep = sweeps.Sweep(
        jm.Arm((link,)),
        [sweeps.axis("link1.joint_stiffness", [0.0, np.inf])],
        num_modes=1,
        theories=["euler_bernoulli"],
        outputs=["tip_compliance"],
    )
    ds = sweeps.run(sweep)
    assert ds.compliance_status.values.ravel().tolist() == [
        jm.Status.no_value,
        jm.Status.resolved,
    ]
    assert np.isnan(ds.tip_compliance.values.reshape(2, 2, 2)[0]).all()
    area, second = 0.02 * 0.05, 0.05 * 0.02**3 / 12
    expected = np.diag([1.0 / (7e10 * area), 1.0 / (3 * 7e10 * second)])
    found = ds.tip_compliance.values.reshape(2, 2, 2)[1]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-25)
