"""Are files read as they are written, wrong ones refused with their line, and does the command write what was found?"""

import json

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.cli.fit import fit
from jaxmodal.identification import (
    MeasuredModes,
    MeasuredResponse,
    fit_arm,
    next_posture,
    read_measurements,
    read_universal_file,
)
from jaxmodal.identification.fitting import LOSSES
from tests.identification.cases import STIFFNESSES, THEORY, exact_hertz, two_links
from tests.support.commands import run_command

HEADINGS = "frequency_hz,standard_deviation_hz,mode,theta_2_deg,measurement\n"


def written(tmp_path, text):
    path = tmp_path / "seen.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_of_one_posture_are_one_measurement(tmp_path):
    text = HEADINGS + "# by hammer\n5.2,0.01,1,0,\n6.1,0.01,1,60,bent\n22.5,0.1,2,0,\n"
    straight, bent = read_measurements(written(tmp_path, text), two_links())
    np.testing.assert_array_equal(straight.frequencies_hz, [5.2, 22.5])
    assert (straight.numbers, straight.settings) == ((1, 2), {"theta_2": 0.0})
    np.testing.assert_allclose(bent.settings["theta_2"], np.pi / 3.0, rtol=1e-15)
    assert (bent.name, bent.how) == ("bent", "number")
    shaped = "frequency_hz,tip.across,tip_1.across\n5.2,1.0,0.4\n22.5,0.5,-0.9\n"
    (found,) = read_measurements(written(tmp_path, shaped), two_links())
    np.testing.assert_array_equal(found.shapes, [[1.0, 0.4], [0.5, -0.9]])
    assert (found.how, found.places) == ("shape", ("tip.across", "tip_1.across"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty|no row"),
        ("frequency_hz\n", "no row of values"),
        ("hertz\n5.2\n", "line 1: there is no heading 'frequency_hz'"),
        ("frequency_hz,theta_9\n5.2,1\n", "line 1: heading 'theta_9': is none of .*2 link"),
        ("frequency_hz;theta_2\n5.2;1\n", "in 'frequency_hz;theta_2'; must be .* with commas"),
        ("frequency_hz,payload.mass_deg\n5.2,1\n", "payload.mass is no angle, its unit is kg"),
        ("frequency_hz,frequency_hz\n5.2,1\n", "line 1: heading 'frequency_hz' stands twice"),
        (HEADINGS + "5.2,0.01,1,0\n", "line 2: 4 values; must be 5"),
        (HEADINGS + "5.2,0.01,1,0,\nsix,0.01,2,0,\n", "line 3: frequency_hz = 'six'"),
        (
            HEADINGS + "5.2,0.01,1,0,\n-6,0.01,2,0,\n",
            "line 3: frequency_hz = -6: must be greater than 0",
        ),
        (HEADINGS + "5.2,0.01,1,0,\n6,,2,0,\n", "standard_deviation_hz: is empty in line 3"),
        (HEADINGS + "5.2,0.01,1,0,\n6,0.01,1,0,\n", "mode 1 is given twice"),
        (
            "frequency_hz,real,imaginary,output\n1,1,0,tip.y\n",
            "line 1: there is no heading 'input'",
        ),
        (
            "frequency_hz,real,imaginary,output,input\n1,1,0,tip.y,tip.x\n1,1,0,tip.y,tip.x\n",
            "line 3: tip.y / tip.x at 1 Hz stands twice",
        ),
    ],
)
def test_wrong_files_are_refused_with_their_line(tmp_path, text, said):
    with pytest.raises(jm.ArmError, match=said):
        read_measurements(written(tmp_path, text), two_links())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: MeasuredModes([]), "one frequency or more"),
        (lambda: MeasuredModes([1.0, 2.0], 0.0), "standard_deviations_hz = 0"),
        (
            lambda: MeasuredModes([1.0, 2.0, 3.0], [0.1, 0.1]),
            r"has the shape \(2,\); must be one number, or one for each value, of the shape \(3,\)",
        ),
        (lambda: MeasuredModes([1.0, 2.0], numbers=[1]), "must be 2, one for each"),
        (lambda: MeasuredModes([1.0], numbers=[0]), "whole numbers from 1"),
        (lambda: MeasuredModes([1.0], shapes=[[1.0]], places=[]), "must be \\(1, 0\\)"),
        (lambda: MeasuredModes([1.0], places=["tip.x"]), "without shapes"),
        (lambda: MeasuredModes([1.0], settings={"theta_2": np.nan}), "one finite number"),
        (lambda: MeasuredResponse([1.0], [1.0, 2.0], "tip.x", "tip.x"), "must be \\(1, 1, 1\\)"),
        (lambda: MeasuredResponse([1.0], [np.nan], "tip.x", "tip.x"), "none is finite"),
        (lambda: MeasuredResponse([1.0], [1.0], "tip.x", "tip.x", "force"), "must be one of"),
    ],
)
def test_measurements_that_are_none_are_refused(make, said):
    with pytest.raises(jm.ArmError, match=said):
        make()


SEEN = MeasuredModes([5.2], 0.01)
WITHOUT = MeasuredModes([5.2])


@pytest.mark.parametrize(
    ("measured", "names", "options", "said"),
    [
        ([], STIFFNESSES, {}, "must be MeasuredModes or MeasuredResponse"),
        (SEEN, [], {}, "parameters is empty"),
        (SEEN, ["link1.stiffness"], {}, "is not a parameter of this arm"),
        (SEEN, STIFFNESSES, {"loss": "l2"}, "loss = 'l2': must be one of"),
        (WITHOUT, STIFFNESSES, {"loss": "huber"}, "needs standard deviations"),
        ([SEEN, WITHOUT], STIFFNESSES, {}, "measured\\[1\\]: has no standard deviations"),
        (SEEN, ["payload.inertia"], {}, "payload.inertia = 0: a fit begins at .*greater than 0"),
        (SEEN, STIFFNESSES, {"start": {"payload.mass": 1.0}}, "is not fitted; must be one of"),
        (
            SEEN,
            STIFFNESSES[:1],
            {"bounds": {STIFFNESSES[0]: (3, 1)}},
            "two numbers, the lower first",
        ),
        (
            SEEN,
            STIFFNESSES[:1],
            {"bounds": {STIFFNESSES[0]: (1, 2)}},
            "leave out where the fit begins",
        ),
        (
            MeasuredModes([5.2], 0.1, settings={STIFFNESSES[0]: 1e3}),
            STIFFNESSES,
            {},
            "measured\\[0\\]: settings\\['link1.joint_stiffness'\\]: is fitted",
        ),
        (
            MeasuredModes([5.2], 0.1, shapes=[[1.0]], places=["elbow.x"]),
            STIFFNESSES,
            {},
            "port 'elbow.x': is no port",
        ),
    ],
)
def test_what_cannot_be_fitted_is_refused(measured, names, options, said):
    with pytest.raises(jm.ArmError, match=said):
        fit_arm(two_links(), measured, names, theory=THEORY, **options)


def test_universal_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(jm.ArmError, match="is no file"):
        read_universal_file(tmp_path / "none.uff", two_links())
    (tmp_path / "text.uff").write_text("hello\n", "utf-8")
    with pytest.raises(jm.ArmError, match=r"no universal file|no frequency response"):
        read_universal_file(tmp_path / "text.uff", two_links())


def test_the_command_writes_table_json_csv_picture_and_arm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jm.write_arm(two_links(), "arm.toml")
    hertz = exact_hertz(two_links, 2, THEORY, theta_2=np.radians(40.0))
    rows = [f"{each:.6f},0.01,{k},40," for k, each in enumerate(hertz, start=1)]
    written(tmp_path, HEADINGS + "\n".join(rows))
    first = ["--fit", f"{STIFFNESSES[0]}=3000", "--bounds", f"{STIFFNESSES[0]}=1000,9000"]
    options = ["fit", "arm.toml", "seen.csv", *first, "--theory", THEORY]
    files = ["--out", "fitted.toml", "--plot", "fit.png", "--next", "2"]
    result = run_command(*options, *files, "--format", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    np.testing.assert_allclose(found["parameters"][0]["after"], 2.5e3, rtol=1e-4)
    assert [mode["number"] for mode in found["modes"]] == [1, 2]
    assert len(found["next"]) == 2
    assert (tmp_path / "fit.png").read_bytes()[1:4] == b"PNG"
    fitted = jm.get_parameter(jm.read_arm("fitted.toml"), STIFFNESSES[0])
    np.testing.assert_allclose(float(fitted), found["parameters"][0]["after"], rtol=1e-12)
    again = run_command(*options, "--out", "fitted.toml")
    assert again.exit_code == 2
    assert "exists already" in again.output


def test_the_command_ends_with_1_where_something_is_not_determined(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jm.write_arm(two_links(), "arm.toml")
    written(tmp_path, "frequency_hz,standard_deviation_hz\n5.4,0.01\n")
    both = [part for name in STIFFNESSES for part in ("--fit", name)]
    result = run_command("fit", "arm.toml", "seen.csv", *both, "--theory", THEORY)
    assert result.exit_code == 1
    assert "the data cannot tell apart" in result.output
    result = run_command("fit", "arm.toml", "none.csv", *both)
    assert result.exit_code == 2
    result = run_command("fit", "arm.toml", "seen.csv", *both, "--place", "1:2=tip.y")
    assert result.exit_code == 2
    assert "--place: says where nodes of universal files are" in result.output


def test_the_command_knows_all_losses():
    (option,) = [each for each in fit.params if each.name == "loss"]
    assert tuple(option.type.choices) == LOSSES


def test_proposals_need_what_they_rest_on():
    with pytest.raises(jm.ArmError, match="must be what fit_arm returned"):
        next_posture(two_links())
