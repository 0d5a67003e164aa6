"""The report of an arm: the numbers of the library, names as text, nothing loaded; as a file in headless Chromium."""

import base64
import dataclasses
import hashlib
import itertools
import math
import re
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import jaxmodal as jm
import sweeps
from jaxmodal.runtime.statuses import Status
from sweeps.commands.arm_report import report as command
from sweeps.definition.errors import SweepError
from sweeps.explorer.report.parts import NUMBER, Asked, centre_of_gravity, map_of, parts
from tests.explorer.test_page import HOSTILE, Tags
from tests.support.browser import Browser

THREE, SIX = jm.examples.three_link_industrial(), jm.examples.six_axis_industrial()
SPACE = SIX.replace(links=SIX.links[:3])
BEAM = jm.Arm((jm.Link(1.2, 7e10, 2700.0, jm.rectangle(0.02, 0.05)),), name="beam")
#: names may hold what no font has, what ends an element or a formula, and what no XML has
NAME = HOSTILE + " $\\foo$ \x01 \u202e \U0001f9a0"
SOME = {"num_modes": 3, "starts": 4}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The report of an arm as text; each is made once."""
    folder, known = tmp_path_factory.mktemp("reports"), {}

    def page(key, arm, theory="timoshenko"):
        if key not in known:
            path = sweeps.report(arm, folder / f"{key}.html", theory=theory, **SOME)
            known[key] = path.read_text("utf-8")
        return known[key]

    return page


def rows(text):
    """The cells of every row of every table."""
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]
    return [row for row in cells if row]


def section(text, heading):
    """What a page has beneath a heading."""
    (found,) = [part for part in text.split("<section>") if f"<h2>{heading}</h2>" in part]
    return found


@pytest.mark.parametrize(
    ("key", "arm"), [("three", THREE), ("space", SPACE)], ids=["plane", "space"]
)
def test_the_report_has_the_numbers_of_the_library(pages, key, arm):
    text = pages(key, arm)
    found = jm.natural_frequencies(arm, 3)
    modes = rows(section(text, "Frequencies and modes"))
    hertz = [float(row[1]) for row in modes]
    np.testing.assert_allclose(hertz, found.frequencies_hz, rtol=5e-5, atol=0.0)  # five digits
    assert [row[2] for row in modes] == ["certified"] * 3
    masses = section(text, "Model and masses")
    assert f"total mass {float(arm.total_mass):.6g} kg" in masses
    assert f"payload {float(arm.payload.mass):.6g} kg" in masses
    links = rows(masses)
    place = 3 if key == "three" else 4
    np.testing.assert_allclose(
        [float(row[place]) for row in links],
        [float(x.mass) for x in arm.links],
        rtol=1e-5,
        atol=0.0,  # six digits
    )
    table = jm.sensitivities(arm, 3)
    largest = np.max(
        np.abs(np.asarray(table.logarithmic)[:, ["length" in x for x in table.addresses]])
    )
    shown = [row for row in rows(section(text, "What matters most")) if "length" in row[1]]
    assert max(abs(float(x)) for row in shown for x in row[5:]) == pytest.approx(largest, rel=1e-3)
    by_name = dict(zip(table.labels, np.asarray(table.logarithmic).T, strict=True))
    for row in shown:
        np.testing.assert_allclose(
            [float(x) for x in row[5:]], by_name[row[1]], rtol=1e-3, atol=1e-12
        )
    lowest, highest = rows(section(text, "Lowest and highest posture"))
    inside = jm.extremes(arm, starts=4, climbs=3)
    assert float(lowest[1]) == pytest.approx(inside.lowest.frequency_hz, rel=5e-5)
    assert float(highest[1]) == pytest.approx(inside.highest.frequency_hz, rel=5e-5)
    assert float(lowest[1]) < hertz[0] * (1.0 + 1e-4)  # the posture of the arm is one of them
    posed = inside.lowest.arm.with_posture_deg([float(x) for x in lowest[3:]])
    again = float(jm.natural_frequencies(posed, 1).frequencies_hz[0])
    assert again == pytest.approx(float(lowest[1]), rel=1e-4)
    assert "is not proved" in section(text, "Lowest and highest posture")
    assert "No implausible values found." in section(text, "Remarks")
    assert jm.__version__ in section(text, "Versions")


@pytest.mark.parametrize(
    "arm",
    [
        THREE.with_posture_deg([30.0, 40.0]).replace(payload=jm.Payload(4.0, centre_x=0.2)),
        SIX,
        jm.examples.space_station_arm(),
    ],
    ids=["plane", "six", "seven"],
)
def test_the_centre_of_gravity_is_that_about_which_the_weight_turns(arm):
    found = centre_of_gravity(arm, jm.mode_shapes(arm, 1))
    little = 1e-4  # m/s^2: nothing bends
    if found.size == 2:
        along, across, turn = jm.static_equilibrium(arm, gravity=(-little, -little)).base_reaction
        np.testing.assert_allclose(found[0] * across - found[1] * along, turn, rtol=1e-9, atol=0.0)
    else:
        for down in np.eye(3):
            reaction = np.asarray(jm.static_equilibrium(arm, gravity=-little * down).base_reaction)
            turn = np.cross(found, reaction[:3])
            np.testing.assert_allclose(
                reaction[3:], turn, rtol=1e-9, atol=1e-9 * np.abs(turn).max()
            )
    text = ", ".join(f"{axis} {x:.5g} m" for axis, x in zip("xyz", found, strict=False))
    model = next(parts(Asked(arm, "timoshenko", 1, 4)))
    assert f"centre of gravity at {text}." in model.texts[0]


def test_a_cantilever_has_its_closed_form_and_says_what_it_has_not(pages):
    text = pages("beam", BEAM, "euler_bernoulli")
    ((_, hertz, *_), *_) = rows(section(text, "Frequencies and modes"))
    exact = (
        1.8751040687119611**2 / (2.0 * math.pi) * math.sqrt(7e10 * 0.02**2 / 12.0 / 2700.0) / 1.2**2
    )
    assert float(hertz) == pytest.approx(exact, rel=5e-5)  # five digits
    assert "None: ranges: the arm has one joint" in section(text, "Posture map")
    assert "None: ranges: the arm has one joint" in section(text, "Lowest and highest posture")
    lengths = [row for row in rows(section(text, "What matters most")) if row[1] == "link1.length"]
    assert [float(x) for x in lengths[0][5:]] == pytest.approx([-2.0, -2.0, -2.0])


@pytest.mark.parametrize(
    ("arm", "joints"), [(THREE, (2, 3)), (SIX, (3, 5))], ids=["plane", "space"]
)
def test_the_map_is_over_two_joints_that_matter_and_the_library_has_its_values(arm, joints):
    ds = map_of(Asked(arm, "timoshenko", 2, 16))
    names = [f"theta_{k}" for k in joints]
    assert set(ds.frequency.dims) == {*names, "mode"}
    cell = ds.isel({name: k for k, name in zip((4, 11), names, strict=True)})
    values = {f"link{k}.joint_angle": np.radians(float(cell[f"theta_{k}"])) for k in joints}
    direct = jm.natural_frequencies(jm.set_parameters(arm, values), 2)
    np.testing.assert_allclose(cell.frequency, direct.frequencies_hz, rtol=1e-10, atol=0.0)


def test_the_map_is_over_the_joints_that_change_the_first_mode_most():
    """Of the six-axis arm, one joint after the other turned about, the others as they are."""
    angles, joints = np.linspace(-np.pi, np.pi, 7), range(2, 7)
    cells = {
        f"link{k}.joint_angle": np.full(35, float(SIX.links[k - 1].joint_angle)) for k in joints
    }
    for row, joint in enumerate(joints):
        cells[f"link{joint}.joint_angle"][7 * row : 7 * row + 7] = angles
    found = jm.natural_frequencies_batch(SIX, cells, 1)
    assert np.all(np.asarray(found.status) == Status.certified)
    hertz = np.asarray(found.frequencies_hz).reshape(5, 7)
    change = dict(zip(joints, np.ptp(hertz, axis=1) / hertz.max(axis=1), strict=True))
    assert sorted(sorted(change, key=change.__getitem__)[-2:]) == [3, 5]


def test_modes_of_frequency_zero_have_a_row_and_no_picture():
    link = BEAM.links[0]
    arm = jm.Arm((link.replace(joint_stiffness=0.0), link))
    asked = Asked(arm, "euler_bernoulli", 2, 16)
    _, modes, matters, _, lowest = itertools.islice(parts(asked), 5)
    assert len(modes.tables[0].rows) == 2
    found = jm.mode_shapes(arm, 2, theory="euler_bernoulli", throw=False)
    there = np.isfinite(np.asarray(found.displacement)).all(axis=(1, 2, 3))
    assert len(modes.pictures) == there.sum()
    assert len(matters.pictures) == 1
    assert lowest.texts[0].startswith("Mode 2 over the range of 1 joint: ")


def test_what_is_not_certified_is_said(monkeypatch):
    import jaxmodal.modes.mode_shapes as module
    from sweeps.explorer.report import parts as made

    real = module.mode_shapes

    def doubted(*args, **given):
        found = real(*args, **given)
        status = np.array(found.frequencies.status)
        status[1] = Status.not_converged
        frequencies = dataclasses.replace(found.frequencies, status=status)
        return dataclasses.replace(found, frequencies=frequencies)

    monkeypatch.setattr(made, "mode_shapes", doubted)
    _, modes = itertools.islice(parts(Asked(THREE, "timoshenko", 2, 16)), 2)
    assert [row[2] for row in modes.tables[0].rows] == ["certified", "NOT certified: not_converged"]
    assert any(note.startswith("not_converged: ") for note in modes.tables[0].notes)


# ---- what the file may do ----


def test_it_runs_nothing_loads_nothing_and_is_small(pages):
    for key, arm in (("three", THREE), ("space", SPACE)):
        text = pages(key, arm)
        tags = Tags(text)
        assert len(text.encode()) <= 2_000_000
        (policy,) = [a["content"] for a, _ in tags.of("meta") if a.get("http-equiv")]
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        (style,) = [found for _, found in tags.of("style")]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert rules == {
            "default-src": "'none'",
            "img-src": "data:",
            "style-src": f"'sha256-{digest}'",
            "base-uri": "'none'",
            "form-action": "'none'",
        }
        assert not tags.of("script")
        for tag, attributes in tags.found:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert attributes.get("href", "data:,") == "data:,"
            if tag == "img":
                assert attributes["alt"]
                kind, _, data = attributes["src"].partition(",")
                assert kind == "data:image/svg+xml;base64"
                picture = base64.b64decode(data).decode()
                links = re.findall(r'href="([^"]*)"', picture)
                assert not [link for link in links if not link.startswith(("#", "data:image/png"))]
                assert "<script" not in picture
                xml.etree.ElementTree.fromstring(picture)
        assert "@media print" in style


@pytest.fixture(scope="module")
def hostile():
    links = tuple(link.replace(name=f"{NAME}{k}") for k, link in enumerate(SPACE.links))
    return SPACE.replace(name=NAME, links=links)


def test_names_with_markup_are_text(pages, hostile):
    plain = Tags(pages("space", SPACE))
    tags = Tags(pages("hostile", hostile))
    assert [tag for tag, _ in tags.found] == [tag for tag, _ in plain.found]
    shown = NAME.replace("\u2028", "\\u2028").replace("\x01", "\\x01").replace("\u202e", "\\u202e")
    assert tags.of("h1")[0][1] == f"{shown}, timoshenko"
    assert tags.of("title")[0][1].startswith("</script><script>alert(1)")
    for attributes, _ in tags.of("img"):
        xml.etree.ElementTree.fromstring(base64.b64decode(attributes["src"].partition(",")[2]))


def test_a_browser_shows_all_pictures_and_says_nothing(pages, hostile, tmp_path):
    browser = Browser()
    try:
        for key, arm in (("space", SPACE), ("hostile", hostile)):
            path = tmp_path / f"{key}.html"
            path.write_text(pages(key, arm), encoding="utf-8")
            browser._send("POST", f"{browser.session}/url", {"url": path.as_uri()})
            browser.until("document.readyState === 'complete'")
            widths = browser.value("[...document.images].map(x => x.naturalWidth)")
            assert len(widths) >= 6
            assert min(widths) > 100
            for media in ("screen", "print"):
                browser.command("Emulation.setEmulatedMedia", media=media)
                wide = browser.value("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0 or key == "hostile"  # names without blanks cannot be broken
            assert browser.value("document.querySelectorAll('b, script').length") == 0
        assert browser.errors() == []
    finally:
        browser.close()


# ---- how it is asked for ----


def test_the_command_writes_it_and_says_how_far_it_is(tmp_path):
    out = tmp_path / "report.html"
    asked = ["example:two_link_flexible", "--out", str(out), "--modes", "2", "--starts", "16"]
    more = ["--theory", "rayleigh", "--posture-deg", "40", "--digits", "8"]
    result = CliRunner().invoke(command, [*asked, *more])
    assert result.exit_code == 0, result.output
    assert f"wrote {out}" in result.stderr
    text = out.read_text("utf-8")
    assert "rayleigh</h1>" in text
    assert "posture 40°" in text
    arm = jm.examples.two_link_flexible().with_posture_deg([40.0])
    hertz = jm.natural_frequencies(arm, 2, theory="rayleigh").frequencies_hz
    shown = [float(row[1]) for row in rows(section(text, "Frequencies and modes"))]
    np.testing.assert_allclose(shown, hertz, rtol=5e-8, atol=0.0)  # eight digits
    # of two links the map is a curve over the joint that matters
    assert "over the angle of joint 2, the other joints as above: 73 postures" in text
    asked[2] = str(tmp_path / "again.html")
    assert CliRunner().invoke(command, [*asked, *more]).exit_code == 0
    assert Path(asked[2]).read_text("utf-8") == text, "the same arm, another page"
    steps = []
    sweeps.report(BEAM, out, theory="rayleigh", num_modes=1, progress=lambda *x: steps.append(x))
    assert steps == [(k, NUMBER) for k in range(NUMBER + 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["example:two_link_flexible"], "Missing option '--out'"),
        (["example:two_link_flexible", "--out", "report.pdf"], "give a file that ends in .html"),
        (["example:two_link_flexible", "--out", "nowhere/report.html"], "there is no folder"),
        (["example:three_links", "--out", "report.html"], "three_link_industrial"),
        (["tests/data/small_arm.urdf", "--out", "report.html"], "nothing gives way"),
        (["example:two_link_flexible", "--out", "report.html", "--modes", "0"], "--modes"),
    ],
)
def test_what_cannot_be_done_is_refused_before_it_begins(
    arguments, message, request, tmp_path, monkeypatch
):
    arguments = [str(request.config.rootpath / x) if x.endswith("urdf") else x for x in arguments]
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not list(tmp_path.rglob("*.html"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((BEAM, "report.txt"), "must be the name of a page, which ends in .html"),
        (("arm.toml", "report.html"), "must be an Arm or a SpatialArm"),
    ],
)
def test_from_python_the_same_is_refused(given, message):
    with pytest.raises(SweepError, match=message):
        sweeps.report(*given)
    with pytest.raises(ValueError, match="num_modes"):
        sweeps.report(BEAM, "report.html", num_modes=0)
    with pytest.raises(ValueError, match="theory"):
        sweeps.report(BEAM, "report.html", theory="newton")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    nowhere = tmp_path / "none" / "report.html"
    with pytest.raises(SweepError, match=r"report\.html: cannot be written .*give another place"):
        sweeps.report(BEAM, nowhere, theory="rayleigh", num_modes=1, starts=16)
