"""Does every command print JSON, with what its tables and files say, and list its options in one order?"""

import json
import tomllib

import click
import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from jaxmodal.cli.commands import main
from tests.support.commands import run_command
from tests.test_other_kinds_of_files import URDF

SWEEP = """
arm = "example:two_link_flexible"
theories = ["euler_bernoulli"]
num_modes = 1
[[axes]]
parameter = "theta_2"
unit = "degree"
linspace = { start = 0, stop = 90, num = 3 }
"""
BEAM = ("--theory", "euler_bernoulli")
#: options in the order of help: tables, pictures, files
ORDER = (
    *("--format", "--digits"),
    *("--no-plot", "--plot", "--nyquist", "--animate", "--magnify"),
    *("--out", "--sample-time", "--settings", "--uff", "--force"),
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def leaves(group, before=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


LEAVES = dict(leaves(main))


def run(*arguments, status=0):
    result = run_command(*arguments, "--format", "json")
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_takes_json(name):
    (option,) = (one for one in LEAVES[name].params if "--format" in one.opts)
    assert {"table", "json"} <= set(option.type.choices)
    assert option.default == "table"


@pytest.mark.parametrize("name", LEAVES)
def test_help_has_tables_before_pictures_before_files(name):
    names = [
        one.opts[0]
        for one in LEAVES[name].params
        if isinstance(one, click.Option) and not one.hidden
    ]
    found = [ORDER.index(one) for one in names if one in ORDER]
    assert found == sorted(found), names
    assert names[-len(found) :] == [ORDER[place] for place in found]


def test_check(folder):
    jm.write_arm(jm.examples.three_link_industrial(), folder / "arm.toml")
    found, arm = run("check", "arm.toml"), jm.examples.three_link_industrial()
    assert (found["arm"], found["name"], found["remarks"]) == ("arm.toml", arm.name, [])
    np.testing.assert_allclose(found["total_mass"], float(arm.total_mass), rtol=1e-15, atol=0)
    assert [link["length"] for link in found["links"]] == [float(x.length) for x in arm.links]
    assert {"address", "value", "unit"} == set(found["features"][0])


@pytest.mark.parametrize("name", ["two_link_flexible", "six_axis_industrial"])
def test_an_example_in_json_is_an_arm_file(name, folder):
    assert name in [each["name"] for each in run("examples")]
    (folder / "arm.json").write_text(json.dumps(run("examples", name)))
    assert jm.read_arm(folder / "arm.json") == getattr(jm.examples, name)()


def test_convert(folder):
    (folder / "robot.urdf").write_text(URDF)
    found = run("convert", "robot.urdf", "--out", "arm.toml", "--joint-stiffness", "j=2e4")
    assert (found["arm"], found["base"], found["tip"]) == ("robot.urdf", "a", "b")
    assert (found["wrote"], found["num_links"]) == (["arm.toml"], 1)
    assert found["joints"][0]["stiffness"] == 2e4
    assert (folder / "arm.toml").exists()


def test_statuses_of_a_response_are_names():
    ports = ("--input", "tip.x", "--output", "tip.x", "--points", 2, "--band-hz", "1,2")
    found = run("response", "example:two_link_flexible", *ports, *BEAM)
    assert found["responses"][0]["status"] == ["resolved", "resolved"]


def test_resonance_map():
    band = ("--band-hz", "0.21,0.24")
    found = run("resonance-map", "example:two_link_flexible", *band, "--range", "theta_2=0,90")
    assert (found["limits_deg"], found["across"], found["certified"]) == ([0.0, 90.0], None, True)
    (row,) = found["rows"]
    for angle, hertz in zip(row["border_deg"], row["border_hz"], strict=True):
        arm = jm.examples.two_link_flexible().with_posture_deg((angle,))
        mode = row["border_mode"][0] - 1
        solved = jm.natural_frequencies(arm, 2).frequencies_hz[mode]
        # the posture of an exact border has the frequency, to the rounding of both searches
        np.testing.assert_allclose(solved, hertz, rtol=1e-9, atol=0)
    (low, high), width = row["border_deg"], 90.0
    np.testing.assert_allclose(found["free"], 1.0 - (high - low) / width, rtol=1e-12, atol=0)
    refused = run_command(
        "resonance-map", "example:two_link_flexible", *band, "--range", "payload.mas=0,1"
    )
    assert "Did you mean 'payload.mass'" in refused.stderr


def test_equations_as_text_and_as_files(folder):
    few = ("example:two_link_flexible", "--links", 1, "--link-modes", 1)
    plain = run_command("equations", *few).stdout
    assert run("equations", *few)["text"] == plain
    found = run("equations", *few, "--out", "model.py")
    assert found["wrote"] == ["model.py"]
    assert len(found["coordinates"]) == 2
    assert found["operations"]["multiplications"] > 0


def test_export(folder):
    few = ("--modes", 1, "--pieces", 1, "--postures", 0, *BEAM)
    found = run("export", "example:two_link_flexible", "--out", "arm.urdf", *few)
    exact = jm.natural_frequencies(jm.examples.two_link_flexible(), 1, theory="euler_bernoulli")
    np.testing.assert_allclose(found["exact_hz"][0], exact.frequencies_hz, rtol=1e-12, atol=0)
    ratio = found["frequencies_hz"][0][0] / found["exact_hz"][0][0]
    np.testing.assert_allclose(found["errors"][0][0], ratio - 1.0, rtol=0, atol=1e-12)
    assert found["wrote"] == ["arm.urdf", "arm.toml"]


def test_a_page(folder):
    found = run("explore", "example:two_link_flexible", "--out", "page.html")
    assert (found["page_of"], found["wrote"]) == ("example:two_link_flexible", ["page.html"])
    assert found["bytes"] == (folder / "page.html").stat().st_size


@pytest.mark.slow
def test_sweeps(folder):
    (folder / "sweep.toml").write_text(SWEEP)
    plan = run("sweep", "plan", "sweep.toml")
    assert (plan["cells"], plan["shape"], plan["modes"]) == (3, [3], 1)
    assert plan["axes"][0]["highest"] == 90.0
    assert plan["seconds"]["total"] > 0.0
    found = run("sweep", "run", "sweep.toml", "--no-plot")
    ds = sweeps.open_result("sweep.zarr")
    values = ds.frequency.values.ravel()
    (mode,) = found["modes"]
    assert mode["lowest"] == {"frequency_hz": values.min(), "at": {"theta_2": 0.0}}
    assert mode["highest"] == {"frequency_hz": values.max(), "at": {"theta_2": 90.0}}
    assert (found["computed"], found["cells"], found["wrote"]) == (3, 3, ["sweep.zarr"])
    state = run("sweep", "status", "sweep.zarr")
    assert (state["shards_missing"], state["modes"]) == (0, {"certified": 3})
    assert run("sweep", "verify", "sweep.zarr", "--cells", 3)["failures"] == []
    part = run("sweep", "run", "sweep.toml", "--part", "1/1", "--out", "part.zarr")
    assert (part["part"], part["modes"]) == ([1, 1], {"certified": 3})
    merged = run("sweep", "merge", "all.zarr", "part.zarr")
    assert (merged["copied"], merged["missing"]) == (merged["shards"], 0)
    assert run("sweep", "export", "sweep.zarr", "--out", "a.csv")["wrote"] == ["a.csv"]
    drawn = run("sweep", "plot", "sweep.zarr", "--kind", "certificates", "--out", "a.png")
    assert drawn["wrote"] == ["a.png"]
    script = run("sweep", "script", "sweep.toml", "--slurm")["script"]
    assert script.startswith("#!/bin/bash\n")
    listed = run("sweep", "examples")
    assert {"name", "sweep", "shape", "modes"} == set(listed[0])
    text = run_command("sweep", "examples", listed[0]["name"]).stdout
    assert run("sweep", "examples", listed[0]["name"]) == tomllib.loads(text)


def test_problems():
    listed = run("optimise", "--list")
    assert "three_link_lightest" in [each["name"] for each in listed]
    text = run_command("optimise", "--show", listed[0]["name"]).stdout
    assert run("optimise", "--show", listed[0]["name"]) == tomllib.loads(text)


def test_the_cache(folder, monkeypatch):
    monkeypatch.setenv("JAXMODAL_CACHE", str(folder / "cache"))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    found = run("cache")
    assert (found["folder"], found["programs"], found["bytes"]) == (str(folder / "cache"), 0, 0)
    assert run("cache", "where") == {"folder": str(folder / "cache")}
    assert run("cache", "clear")["removed"] == {"programs": 0, "bytes": 0}
    monkeypatch.setenv("JAXMODAL_CACHE", "off")
    assert run("cache")["in_use"] is None


def test_reproductions(folder, monkeypatch):
    """Their work is replaced: it takes minutes."""
    from benchmarks.reproduction.comparison import Agreement, ReproductionSummary

    summary = ReproductionSummary((), (Agreement("table2:tbt", 3, 3),))
    monkeypatch.setattr("benchmarks.reproduction.reproduce.reproduce", lambda *_: summary)
    found = run("reproduce", "--out", "paper", status=0 if summary.ok else 1)
    assert found["groups"] == [{"group": "table2:tbt", "agree": 3, "total": 3, "marks": 0}]
    monkeypatch.setattr(
        "benchmarks.studies.sweep_gallery.make_gallery", lambda folder, tell: tell("README.md")
    )
    assert run("sweep", "gallery", "--out", "made")["wrote"] == ["made/README.md"]


@pytest.mark.slow
def test_an_optimisation(folder):
    (folder / "problem.toml").write_text(run_command("optimise", "--show", "two_link_front").stdout)
    result = run_command(
        "optimise", "problem.toml", "--no-plot", "--max-iterations", "2", "--format", "json"
    )
    found = json.loads(result.stdout)
    assert (found["status"], result.exit_code) == ("iteration_limit", 1)
    assert found["wrote"][0] == "problem_arm.toml"
    arm = jm.read_arm("problem_arm.toml")
    before_and_after = next(iter(found["objectives"].values()))
    assert set(before_and_after) == {"before", "after"}
    for address, value in found["variables"].items():
        if "." in address and "*" not in address:
            np.testing.assert_allclose(jm.get_parameter(arm, address), value, rtol=1e-12, atol=0)


@pytest.mark.slow
def test_motions_and_reports(folder):
    text = run_command("examples", "two_link_flexible").stdout
    (folder / "arm.toml").write_text(f"{text}\n[dynamics]\nmodes = 1\nuntil = 1e-3\nevery = 1e-3\n")
    found = run("simulate", "arm.toml", "--out", "motion.csv")
    assert (found["status"], found["time_reached"], found["wrote"]) == (
        "finished",
        1e-3,
        ["motion.csv"],
    )
    page = run(
        "report", "example:two_link_flexible", "--out", "r.html", "--modes", 1, "--starts", 2
    )
    assert page["certified"]
    assert page["bytes"] == (folder / "r.html").stat().st_size
