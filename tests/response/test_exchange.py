"""Do other programs read what we write, and does the command print, draw and refuse as it should?"""

import csv
import io
import json

import numpy as np
import pytest
import pyuff
from matplotlib.figure import Figure

import jaxmodal as jm
from jaxmodal.plots import draw_bode, draw_nyquist, draw_peak_map, draw_waterfall
from tests.support.commands import run_command
from tests.support.damped_cantilever import cantilever

OMEGA = np.geomspace(5.0, 2000.0, 31)


@pytest.fixture(scope="module")
def arm():
    link = cantilever(loss_factor=0.01).links[0]
    second = link.replace(joint_angle=0.8, joint_stiffness=800.0)
    return jm.Arm((link, second), jm.Payload(mass=0.4))


@pytest.fixture(scope="module")
def found(arm):
    return jm.frequency_response(
        arm, OMEGA, ["tip.across", "joint_2.torque"], ["tip.x", "tip.rotation", "joint_2.torque"]
    )


def test_python_control_has_the_same_data(found):
    import control  # with half of scipy: a second that only the process of this test waits

    data = jm.response_data(found)
    assert isinstance(data, control.FrequencyResponseData)
    np.testing.assert_array_equal(data.frdata, found.values)
    np.testing.assert_array_equal(data.omega, OMEGA)
    assert data.output_labels == ["tip_2_x", "tip_2_rotation", "joint_2_relative_rotation"]
    assert data.input_labels == ["tip_2_force_across", "joint_2_torque"]


@pytest.mark.parametrize(("quantity", "kind"), [("receptance", 8), ("accelerance", 12)])
def test_a_universal_file_is_read_back(arm, tmp_path, quantity, kind):
    found = jm.frequency_response(
        arm, OMEGA, ["tip.across", "joint_2.torque"], ["tip.x", "tip.rotation"], quantity=quantity
    )
    path = jm.write_universal_file(found, tmp_path / "arm.uff")
    sets = pyuff.UFF(str(path)).read_sets()
    assert [data["type"] for data in sets] == [58] * 4
    assert [(data["rsp_node"], data["ref_node"]) for data in sets] == [(1, 1), (1, 2)] * 2
    assert [(data["rsp_dir"], data["ref_dir"]) for data in sets] == [(1, 2), (1, 6), (6, 2), (6, 6)]
    for data, (o, i) in zip(sets, np.ndindex(2, 2), strict=True):
        # the format has 6 digits for frequencies and 12 for values
        np.testing.assert_allclose(data["x"], OMEGA / (2 * np.pi), rtol=5e-6)
        np.testing.assert_allclose(data["data"].real, found.values[o, i].real, rtol=1e-11)
        np.testing.assert_allclose(data["data"].imag, found.values[o, i].imag, rtol=1e-11)
        assert data["ordinate_spec_data_type"] == kind
        assert data["id2"].strip() == f"{found.outputs[o]} / {found.inputs[i].force_name}"
    assert sets[1]["orddenom_axis_units_lab"].strip() == "N m"
    assert "node 2: joint_2" in sets[1]["id3"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"quantity": "transmissibility", "inputs": "base.x"},
            "receptance, mobility or accelerance",
        ),
        ({"omega": 3.0}, "at least 2 frequencies"),
        ({"omega": [3.0, 2.0]}, "must ascend"),
        ({"parameters": {"link2.joint_angle": [0.1, 0.2]}}, "has 2 arms"),
    ],
)
def test_what_a_universal_file_does_not_hold(arm, tmp_path, changes, words):
    given = {"omega": OMEGA, "inputs": "tip.x", "outputs": "tip.x"} | changes
    found = jm.frequency_response(arm, **given)
    with pytest.raises(jm.ArmError, match=words):
        jm.write_universal_file(found, tmp_path / "arm.uff")
    assert not list(tmp_path.iterdir())


def test_pictures(arm, found):
    figure = Figure()
    above, below = draw_bode(found, tuple(figure.subplots(2, 1)), modes=[26.0, 101.0])
    assert len(above.lines) == 6 + 2
    np.testing.assert_array_equal(above.lines[3].get_ydata(), np.abs(found.values[1, 1]))
    np.testing.assert_allclose(below.lines[0].get_ydata(), np.degrees(np.angle(found.values[0, 0])))
    square = jm.frequency_response(arm, OMEGA, *[["tip.x", "joint_2.torque"]] * 2)
    lines = square.plot(Figure().subplots(2, 1))[0].lines
    assert [x.get_linestyle() for x in lines] == ["-", "-", "--", "-"]  # one hides its reciprocal
    axes = draw_nyquist(found, Figure().add_subplot())
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), found.values[0, 0].real)
    angles = np.linspace(-1.0, 1.0, 5)
    many = jm.frequency_response(
        arm, OMEGA, "tip.x", "tip.x", parameters={"link2.joint_angle": angles[::-1]}
    )
    axes = draw_waterfall(many, Figure().add_subplot())
    drawn = axes.collections[0].get_array()
    np.testing.assert_array_equal(drawn, np.abs(many.values[::-1, 0, 0]))
    assert axes.get_ylabel() == "link2.joint_angle [°]"
    first, second = (x.reshape(-1) for x in np.meshgrid(angles, [300.0, 900.0]))
    grid = jm.frequency_response(
        arm,
        OMEGA,
        "tip.x",
        "tip.x",
        parameters={"link2.joint_angle": first, "link2.joint_stiffness": second},
    )
    assert axes.get_xlim()[0] >= 0.0
    masses = {"payload.mass": [0.0, 2.0, 4.0]}
    loads = draw_waterfall(
        jm.frequency_response(arm, [10.0, 20.0], "tip.y", "tip.y", parameters=masses),
        Figure().add_subplot(),
    )
    assert loads.get_ylim()[0] == 0.0  # cells around no payload would go below it
    axes = draw_peak_map(grid, Figure().add_subplot())
    peaks = np.abs(grid.values[:, 0, 0]).max(axis=-1)
    np.testing.assert_array_equal(axes.collections[0].get_array(), peaks.reshape(2, 5))
    assert len(found.plot(figure.subplots(2, 1), modes=[26.0])[0].lines) == 6 + 1
    assert (
        found.plot(figure.add_subplot(), kind="nyquist").get_xlabel() == "real part of receptance"
    )
    for result, what in ((many, np.abs(many.values[::-1, 0, 0])), (grid, peaks.reshape(2, 5))):
        own = result.plot(figure.add_subplot())
        np.testing.assert_array_equal(own.collections[0].get_array(), what)
    with pytest.raises(jm.ArmError, match=r"kind = 'nyquits'.*Did you mean 'nyquist'"):
        found.plot(kind="nyquits")
    for draw, given in ((draw_bode, many), (draw_waterfall, grid), (draw_peak_map, many)):
        with pytest.raises(jm.ArmError):
            draw(given)


def test_pictures_of_values_that_no_axis_takes(arm):
    """A rigid joint has an infinite stiffness: a sentence that names it, no picture."""
    joints = {"link2.joint_stiffness": [300.0, np.inf]}
    found = jm.frequency_response(arm, OMEGA, "tip.x", "tip.x", parameters=joints)
    words = r"link2\.joint_stiffness = inf in an arm of the response: .* leave such arms out"
    with pytest.raises(jm.ArmError, match=words):
        found.plot()
    both = {"link1.length": [0.7, 0.8], "link2.length": [0.7, 0.8]}
    found = jm.frequency_response(arm, OMEGA, "tip.x", "tip.x", parameters=both)
    with pytest.raises(jm.ArmError, match=r"varies with link1\.length, link2\.length; .*together"):
        found.plot(kind="waterfall")


@pytest.fixture
def run():
    return lambda *args: run_command("response", *args)


PORTS = ("example:three_link_industrial", "--input", "tip.across", "--output", "tip.x")


def test_the_command_prints_values_and_peaks(run):
    shown = run(*PORTS, "--loss-factor", "0.01", "--points", "20", "--posture-deg", "45,45")
    assert shown.exit_code == 0, shown.output
    assert "receptance at 20 frequencies" in shown.stdout
    assert "peaks from tip_3.force_across to tip_3.x" in shown.stdout
    assert "5.6464" in shown.stdout  # the certified frequency of the README, damping ratio 0.005


def test_the_command_has_no_peaks_without_damping_that_acts(run):
    """A loss factor of 0 is none, whether or not a frequency is a resonance."""
    shown = run(*PORTS, "--loss-factor", "0", "--points", "20")
    assert shown.exit_code == 0, shown.output
    assert "receptance at 20 frequencies" in shown.stdout
    assert "peaks from" not in shown.stdout


def test_the_command_of_an_arm_under_loads(run, tmp_path):
    """A mast under a payload has peaks; one that the payload buckles has none, a status, and no band of its own."""
    link = jm.Link(1.5, 7e10, 2700.0, jm.circle(0.03), joint_angle=np.pi / 2, loss_factor=0.01)
    mast = jm.Arm((link,), jm.Payload(mass=40.0), loads=jm.Loads(gravity=9.81, pieces=2))
    ports = ("--input", "tip.across", "--output", "tip.across", "--theory", "rayleigh")
    band = ("--band-hz", "0.1,20", "--points", "3")
    jm.write_arm(mast, tmp_path / "mast.toml")
    shown = run(str(tmp_path / "mast.toml"), *ports, *band)
    assert shown.exit_code == 0, shown.output
    peak = jm.response_peaks(mast, 1.0, 100.0, "tip.across", "tip.across", theory="rayleigh")
    assert f"{peak.frequencies_hz[0]:.4f}" in shown.stdout
    jm.write_arm(jm.set_parameters(mast, {"payload.mass": 4e3}), tmp_path / "heavy.toml")
    shown = run(str(tmp_path / "heavy.toml"), *ports, *band)
    assert shown.exit_code == 1, shown.output
    assert "unstable: the forces at rest buckle the arm" in shown.stdout
    assert "peaks from" not in shown.stdout
    shown = run(str(tmp_path / "heavy.toml"), *ports)
    assert shown.exit_code == 2, shown.output
    assert "has no steady response, for the forces at rest" in " ".join(shown.stderr.split())


def test_the_command_remarks_on_ports_that_cannot_move(run):
    rigid, moving = (
        run("example:three_link_industrial", "--input", port, "--output", "tip.y", "--points", "3")
        for port in ("joint_2.torque", "joint_2.moment")
    )
    assert "note: tip_3.y is 0 for joint_2.torque at every frequency" in rigid.stderr
    assert moving.stderr == ""


def test_the_command_writes_files(run, tmp_path):
    places = [tmp_path / name for name in ("bode.png", "nyquist.svg", "arm.unv")]
    shown = run(
        *PORTS,
        *("--loss-factor", "0.02", "--points", "50", "--format", "json", "--posture-deg", "45,45"),
        *("--plot", str(places[0]), "--nyquist", str(places[1]), "--uff", str(places[2])),
    )
    assert shown.exit_code == 0, shown.output
    assert all(place.stat().st_size > 1000 for place in places)
    data = json.loads(shown.stdout)
    link = [x.replace(loss_factor=0.02) for x in jm.examples.three_link_industrial().links]
    arm = jm.examples.three_link_industrial().replace(links=tuple(link))
    arm = arm.with_posture_deg([45.0, 45.0])
    omega = 2 * np.pi * np.array(data["frequencies_hz"])
    truth = jm.frequency_response(arm, omega, "tip.across", "tip.x").values[0, 0]
    (entry,) = data["responses"]
    np.testing.assert_allclose(
        np.array(entry["real"]) + 1j * np.array(entry["imag"]), truth, rtol=1e-9
    )
    assert (entry["unit"], entry["output"]) == ("m/N", "tip_3.x")


def test_the_command_prints_csv(run):
    shown = run(*PORTS, "--points", "5", "--band-hz", "1,16", "--format", "csv")
    assert shown.exit_code == 0, shown.output
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert [float(row["frequency_hz"]) for row in rows] == pytest.approx([1, 2, 4, 8, 16])
    assert {row["status"] for row in rows} == {"resolved"}
    assert {row["input"] for row in rows} == {"tip_3.force_across"}


def test_the_command_needs_a_band_where_there_is_no_frequency(run, tmp_path):
    link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05), rigid=True, joint_stiffness=0.0)
    path = tmp_path / "free.toml"
    jm.write_arm(jm.Arm((link,)), path)
    ports = (str(path), "--input", "tip.across", "--output", "tip.across")
    theory = ("--theory", "euler_bernoulli", "--format", "csv", "--points", "2")
    for band in ((), ("--band-hz", "1,"), ("--band-hz", ",2")):
        shown = run(*ports, *theory, *band)
        assert shown.exit_code == 2, shown.output
        assert "no natural frequency greater than 0" in shown.stderr
        assert "give both ends of --band-hz" in shown.stderr
    shown = run(*ports, *theory, "--band-hz", "1,2")
    assert shown.exit_code == 0, shown.output
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    inertia = 2700.0 * 0.02 * 0.05 / 3.0
    truth = [-1.0 / (inertia * (2.0 * np.pi * hertz) ** 2) for hertz in (1.0, 2.0)]
    np.testing.assert_allclose([float(row["real"]) for row in rows], truth, rtol=1e-9)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--output", "tip.y", "--band-hz", "9,3"), "is not a band"),
        (("--output", "elbow.x"), "its places are base"),
        (("--output", "tip.y", "--loss-factor", "-1"), "loss-factor"),
        (("--output", "tip.y", "--uff", "arm.txt"), "give a file that ends in .uff or .unv"),
        (("--output", "tip.y", "--plot", "nowhere/a.png"), "there is no folder"),
        (("--output", "tip.y", "--posture-deg", "1"), "takes 2 angles"),
    ],
)
def test_what_the_command_refuses(run, args, words):
    shown = run("example:three_link_industrial", "--input", "tip.across", *args)
    assert shown.exit_code == 2
    assert words in shown.stderr.lower().replace("\n", " ")
    assert shown.stdout == ""


def test_the_command_writes_sensitivities(run):
    asked = [
        "example:three_link_industrial",
        "--input",
        "tip.across",
        "--output",
        "tip.across",
        "--loss-factor",
        "0.01",
    ]
    asked += ["--points", "3", "--band-hz", "4,6"]
    chosen = [*asked, "--sensitivities", "--address", "link2.length", "--address", "payload.mass"]
    arm = jm.examples.three_link_industrial()
    arm = arm.replace(links=tuple(link.replace(loss_factor=0.01) for link in arm.links))
    omega = 2.0 * np.pi * np.geomspace(4.0, 6.0, 3)
    found = jm.response_sensitivities(
        arm, omega, "tip.across", "tip.across", addresses=["link2.length", "payload.mass"]
    )
    rows = list(csv.DictReader(io.StringIO(run(*chosen, "--format", "csv").stdout)))
    assert [row["address"] for row in rows] == ["link2.length", "payload.mass"] * 3
    got = [float(row["of_magnitude"]) for row in rows]
    np.testing.assert_array_equal(got, found.of_magnitude[0, 0].ravel())
    document = json.loads(run(*chosen, "--format", "json").stdout)
    assert document["parameters"][0]["unit"] == "m"
    np.testing.assert_array_equal(document["logarithmic"], found.logarithmic)
    assert "% for 1 %" in run(*chosen).stdout
    refused = run(*asked, "--address", "link2.length")
    assert refused.exit_code == 2
    assert "--sensitivities" in refused.stderr
    moved = run(PORTS[0], "--input", "base.y", "--output", "tip.x")
    assert moved.exit_code == 2
    assert "give --quantity transmissibility" in moved.stderr
