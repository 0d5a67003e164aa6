"""The further views of the page of an arm in headless Chromium: what a mode depends on, response, curves."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.spatial.parts.springs import Support
from sweeps.explorer.page import arm_page_html
from tests.explorer.page_arms import csv_of, file_of

SIX = jm.examples.six_axis_industrial()
BENT = jm.examples.three_link_industrial().with_posture([0.4, -1.1, 0.8])
WHOLE = "document.getElementById('along-note').textContent.startsWith('A click')"


@pytest.mark.parametrize("arm", [BENT, SIX], ids=["plane", "space"])
def test_bars_are_the_sensitivities_of_the_library(shown, arm):
    """For 1 % of a size, 1 degree of an angle, 1 kg of what has no mass; the largest first, rigid joints left out."""
    browser = shown(arm_page_html(arm), "mode=2")
    browser.until("document.getElementById('bars').rows.length === 12")
    assert browser.text("#matters-head") == "What mode 2 depends on"
    rows = csv_of(browser, "matters-csv")
    names = [row[0] for row in rows]
    table = jm.sensitivities(arm, 2, addresses=names)
    truth = np.asarray(table.derivative)[1] / float(jm.natural_frequencies(arm, 2).omega[1])
    for (name, step, change), slope in zip(rows, truth, strict=True):
        value = float(jm.get_parameter(arm, name))
        size = {"1 %": 0.01 * value, "1°": math.pi / 180.0, "1 kg": 1.0, "1 mm": 1e-3}[step]
        np.testing.assert_allclose(float(change), 100.0 * slope * size, rtol=1e-6, atol=1e-8)
    changes = [abs(float(row[2])) for row in rows]
    assert changes == sorted(changes, reverse=True)
    assert "link1.length" in names
    assert not any(math.isinf(float(jm.get_parameter(arm, name))) for name in names)


def test_modes_of_one_frequency_have_no_bars(shown):
    round_bar = jm.SpatialLink(0.6, 7e10, 2700.0, jm.circle(0.03, "cowper"), poisson_ratio=0.3)
    browser = shown(arm_page_html(jm.SpatialArm((round_bar,))))
    browser.until("document.getElementById('matters-note').textContent.includes('Another mode')")
    assert browser.value("document.getElementById('bars').rows.length") == 0


def choose(browser, label, value):
    browser.run(
        f"const chosen = document.querySelector('[aria-label=\"{label}\"]'); chosen.value = {value!r};"
        "chosen.dispatchEvent(new Event('change'));"
    )


def test_the_response_at_the_ports_of_the_address(shown):
    browser = shown(arm_page_html(SIX), "force=tip_6.z&motion=tip_3.x&link3.length=0.25")
    browser.until("document.getElementById('response-note').textContent.includes('damping')")
    browser.until("new Set(document.getElementById('response-plot').toDataURL()).size > 10")
    rows = csv_of(browser, "response-csv")
    known = [(float(x), float(y)) for x, y in rows if y != "NaN"]
    hertz, found = np.array(known[:20]).T
    arm = jm.set_parameters(SIX, {"link3.length": 0.25})
    truth = jm.frequency_response(arm, 2.0 * math.pi * hertz, "tip_6.z", "tip_3.x").magnitude
    np.testing.assert_allclose(found, truth.ravel(), rtol=2e-5, atol=0.0)
    choose(browser, "Displacement: direction", "link_rz")
    assert "motion=tip_3.link_rz" in browser.value("location.hash")
    choose(browser, "Force: direction", "components")
    assert "components" not in browser.value("location.hash")  # there are none yet
    browser.until("document.getElementById('response-note').textContent.includes('not 0')")
    browser.press("[aria-label^='Force: components']", "1", ",", "2", ",", "0", "Tab")
    browser.until("decodeURIComponent(location.hash).includes('force=tip_6.(1,2,0)')")
    assert "mode=1" in browser.value("location.hash")  # what is typed there is no key of the page
    choose(browser, "Force: place", "joint_2")
    assert "force=joint_2.torque" in browser.value("location.hash")


def test_branches_cross_where_modes_of_two_planes_do(shown):
    """A bar that becomes wider bends as before in one plane, more stiffly in the other: the lines keep their plane."""
    bar = jm.SpatialLink(1.0, 7e10, 2700.0, jm.rectangle(0.03, 0.02), poisson_ratio=0.3)
    browser = shown(
        arm_page_html(jm.SpatialArm((bar,)), "euler_bernoulli"), "along=link1.section.width"
    )
    browser.until(WHOLE)
    rows = [
        (float(value), branch, float(hertz))
        for value, branch, _, hertz, _ in csv_of(browser, "along-csv")
    ]
    first, second = (
        np.array([(x, f) for x, branch, f in rows if branch == name]).T for name in "12"
    )
    assert first.shape == second.shape == (2, 41)
    truth = jm.natural_frequencies(
        jm.set_parameters(jm.SpatialArm((bar,)), {"link1.section.width": 0.01}),
        2,
        theory="euler_bernoulli",
    ).frequencies_hz
    # without rotary inertia a plane's frequency is that of its own depth alone
    np.testing.assert_allclose(first[1], truth[0] * first[0] / 0.01, rtol=1e-9, atol=0.0)
    np.testing.assert_allclose(second[1], truth[1], rtol=1e-9, atol=0.0)
    assert first[1][0] < second[1][0]
    assert first[1][-1] > second[1][-1]


def test_curves_are_those_of_the_library_and_a_click_sets_the_value(shown):
    browser = shown(arm_page_html(BENT), "along=link2.joint_angle")
    browser.until(WHOLE)
    rows = csv_of(browser, "along-csv")
    assert len(rows) == 41 * 10
    for row in rows[7::83]:
        bent = jm.set_parameters(BENT, {"link2.joint_angle": math.radians(float(row[0]))})
        truth = jm.natural_frequencies(bent, 10).frequencies_hz[int(row[2]) - 1]
        np.testing.assert_allclose(float(row[3]), truth, rtol=1e-9, atol=0.0)
        assert row[4] == "certified"
    first = browser.text("#rows tr td")
    browser.click("#along-plot", 0.75)
    browser.until(f"document.querySelector('#rows tr td').textContent !== {first!r}")
    assert "link2.joint_angle=" in browser.value("location.hash")


def test_views_fit_a_phone(shown):
    address = (
        "force=tip_3.y&motion=tip_3.y&along=link2.joint_angle&over=link2.joint_angle,link1.length"
    )
    browser = shown(arm_page_html(BENT), address)
    browser.until("document.getElementById('map-progress').textContent.startsWith('9 x 9')")
    with browser.as_a_phone():
        pass


@pytest.mark.parametrize("arm", [BENT, SIX], ids=["plane", "space"])
def test_the_arm_shown_is_offered_as_a_file(shown, tmp_path, arm):
    """Every value that was moved stands in it, defaults that a file leaves out, too; a rigid joint is inf."""
    values = {"link2.joint_angle": 0.25, "link3.length": 0.3, "payload.mass": 3.5}
    values |= {"link1.joint_stiffness": 2.5e6, "link2.joint_stiffness": math.inf}
    address = "&".join(f"{name}={str(x).replace('inf', 'Infinity')}" for name, x in values.items())
    browser = shown(arm_page_html(arm), address)
    path = tmp_path / "arm.toml"
    path.write_text(file_of(browser, "toml"), encoding="utf-8")
    assert jm.read_arm(path) == jm.set_parameters(arm, values)


_HELD = SIX.links[5].replace(supports=(Support("translation", (0, 0, 1), math.inf),))
ON_BASE = {
    "plane": (
        BENT.replace(base_stiffness=np.diag([3e7, 3e7, 4e6]) + 1e5),
        {"base_stiffness.k12": 2e5, "link2.joint_angle": 0.25},
    ),
    "space": (
        SIX.replace(
            base_stiffness=np.diag([3e7, 3e7, 3e7, 4e6, 4e6, 4e6]) + 1e5,
            links=(*SIX.links[:5], _HELD),
        ),
        {
            "base_stiffness.k12": 2e5,
            "link3.base_offset.z": -0.2,
            "link1.end_offset.x": 0.1,
            "link1.joint_frame1.angle": -1.2,
            "link6.support1.stiffness": 3e4,
        },
    ),
}


@pytest.mark.parametrize("kind", ON_BASE)
def test_arms_on_elastic_bases_are_offered_as_files(shown, tmp_path, kind):
    """Entries beside the diagonal stand twice in the file; offsets, turns and rigid supports are moved, too."""
    arm, values = ON_BASE[kind]
    browser = shown(arm_page_html(arm), "&".join(f"{name}={x}" for name, x in values.items()))
    path = tmp_path / "arm.toml"
    path.write_text(file_of(browser, "toml"), encoding="utf-8")
    assert jm.read_arm(path) == jm.set_parameters(arm, values)


@pytest.mark.parametrize("arm", [BENT, SIX], ids=["plane", "space"])
def test_a_pinned_state_stands_beside_the_arm(shown, arm):
    browser = shown(arm_page_html(arm), "pin=link3.length%3D0.9&link3.length=1.2")
    browser.until("document.querySelector('#rows tr').children.length === 5")
    now, then = (
        float(
            jm.natural_frequencies(jm.set_parameters(arm, {"link3.length": x}), 1).frequencies_hz[0]
        )
        for x in (1.2, 0.9)
    )
    shown_then, change = browser.value(
        "[...document.querySelector('#rows tr').children].slice(3).map((x) => x.textContent)"
    )
    np.testing.assert_allclose(float(shown_then), then, rtol=1e-5, atol=0.0)
    assert change.replace("−", "-") == f"{100 * (now / then - 1):+.2f} %"
    assert "link3.length 0.9 m" in browser.text("#pinned")
    browser.press("#still", "Escape")
    browser.until("document.querySelector('#rows tr').children.length === 4")
    assert "pin=" not in browser.value("location.hash")
    browser.press("#still", "p")
    browser.until("document.querySelector('#rows tr').children.length === 5")
    assert "link3.length 1.2 m" in browser.text("#pinned")
    browser.value("history.back()")
    browser.until("document.querySelector('#rows tr').children.length === 4")


def test_another_choice_forgets_what_was_asked_before(shown):
    """Ports and the value of the curves changed while answers are on their way: none of the old ones stays."""
    browser = shown(arm_page_html(BENT), "force=tip_3.y&motion=tip_3.y&along=link2.joint_angle")
    browser.run(
        "const chosen = document.getElementById('along-value'); chosen.value = 'link1.length';"
        "chosen.dispatchEvent(new Event('change'));"
    )
    for label, value in (("place", "tip_2"), ("direction", "x")):
        choose(browser, f"Displacement: {label}", value)
    browser.until(WHOLE)
    values = {float(row[0]) for row in csv_of(browser, "along-csv")}
    assert len(values) == 41
    assert (min(values), max(values)) == (0.75, 3.0)
    rows = csv_of(browser, "response-csv")
    hertz, found = np.array([row for row in rows[100:140] if row[1] != "NaN"], float).T
    truth = jm.frequency_response(BENT, 2.0 * math.pi * hertz, "tip_3.y", "tip_2.x").magnitude
    np.testing.assert_allclose(found, truth.ravel(), rtol=2e-5, atol=0.0)
    assert np.all(np.diff([float(row[0]) for row in rows]) > 0.0)


def test_a_map_of_the_arm_is_the_library_at_every_cell(shown):
    """Over two angles: modes, the share that a band to avoid leaves, by counts above what is shown, extremes, keys."""
    low, high = 300.0, 350.0  # between modes 5 and 6, of which the first map asks for three
    browser = shown(
        arm_page_html(BENT), f"over=link2.joint_angle,link3.joint_angle&low={low}&high={high}"
    )
    browser.until("document.getElementById('map-progress').textContent.startsWith('9 x 9')")
    rows = np.array([row[1:] for row in csv_of(browser, "map-csv")])
    assert len(rows) == 81
    postures = {
        "link3.joint_angle": np.deg2rad(rows[:, 0].astype(float)),
        "link2.joint_angle": np.deg2rad(rows[:, 1].astype(float)),
    }
    truth = np.asarray(jm.natural_frequencies_batch(BENT, postures, 8).frequencies_hz)
    np.testing.assert_allclose(rows[:, 2::2].astype(float), truth[:, :3], rtol=1e-9, atol=0.0)
    assert set(rows[:, 3::2].ravel()) == {"certified"}
    free = np.mean(~((truth >= low) & (truth <= high)).any(axis=1))
    assert browser.text("#band-text").startswith(f"{100 * free:.3g} % of the 81 cells")
    browser.press("#map", "ArrowRight", "ArrowUp")
    browser.until("location.hash.includes('link3.joint_angle')")
    lowest = float(truth[:, 0].min())
    browser.click("#lowest")
    browser.until(
        f"Math.abs(document.querySelector('#rows tr td').textContent / {lowest!r} - 1) < 1e-6"
    )
    browser.click("#undo")
    browser.until(
        f"Math.abs(document.querySelector('#rows tr td').textContent / {lowest!r} - 1) > 1e-3"
    )


def drawn(browser, name):
    """The elements of a drawing by their names, and the words in it."""
    elements = list(ET.fromstring(file_of(browser, f"{name}-svg")).iter())
    return [element.tag.rpartition("}")[2] for element in elements], [x.text for x in elements]


def test_what_is_shown_is_offered_as_drawings(shown):
    """Lines and words stay lines and words; cells of a map are a picture within."""
    address = "force=tip_3.y&motion=tip_3.y&loss=0.01&along=link3.joint_angle"
    address += "&over=link2.joint_angle,link3.joint_angle&level=20"
    browser = shown(arm_page_html(BENT), address)
    browser.until("document.getElementById('map-progress').textContent.startsWith('9 x 9')", 60)
    browser.until("!document.getElementById('along-note').textContent.startsWith('1 ')")
    words = {"response-plot": "frequency [Hz]", "along-plot": "link3.joint_angle [degree]"}
    words |= {"arm": None, "map": "link2.joint_angle [degree]"}
    for name, word in words.items():
        tags, texts = drawn(browser, name)
        assert tags[0] == "svg"
        assert "path" in tags or "polygon" in tags
        assert ("image" in tags) == (name == "map")
        assert word in texts


def test_an_arm_in_space_is_offered_as_a_drawing(shown):
    tags, texts = drawn(shown(arm_page_html(SIX)), "arm")
    bodies = [getattr(link, kind) for link in SIX.links for kind in link.bodies]
    assert (
        tags.count("radialGradient") == sum(body is not None for body in bodies) + 1
    )  # the payload
    assert tags.count("path") > 100
    assert {"x", "y", "z", "0.5 m"} < set(texts)


def test_losses_give_peaks_their_height(shown):
    loss = 0.02
    viscous = BENT.replace(links=tuple(x.replace(kelvin_voigt_time=1e-5) for x in BENT.links))
    port = "link_2@0.35.across"
    browser = shown(arm_page_html(viscous), f"force={port}&motion={port}&loss={loss}")

    def compare(arm):
        browser.until(
            "document.getElementById('response-note').textContent.includes('loss factor 0.02')"
        )
        browser.until("document.getElementById('response-plot').toDataURL().length > 4000")
        hertz, found = np.array(csv_of(browser, "response-csv")[:20], float).T
        truth = jm.frequency_response(arm, 2.0 * math.pi * hertz, port, port).magnitude
        np.testing.assert_allclose(found, truth.ravel(), rtol=1e-8, atol=0.0)

    lossy = viscous.replace(links=tuple(x.replace(loss_factor=loss) for x in viscous.links))
    compare(lossy)
    browser.click("#own-damping")
    browser.until("location.hash.includes('own=0')")
    browser.until(
        "document.getElementById('response-note').textContent.startsWith('All stiffness')"
    )
    compare(lossy.replace(links=tuple(x.replace(kelvin_voigt_time=None) for x in lossy.links)))


def test_gravity_has_a_slider_and_an_arm_that_buckles_is_told(shown, tmp_path):
    loaded = BENT.replace(loads=jm.Loads(gravity=9.81, tip_force_x=0.0, pieces=2))
    browser = shown(arm_page_html(loaded), "loads.gravity=200&mode=2")
    changed = jm.set_parameters(loaded, {"loads.gravity": 200.0})
    first = browser.text("#rows tr td")
    assert float(first) == pytest.approx(
        float(jm.natural_frequencies(changed, 1).frequencies_hz[0]), rel=1e-8
    )
    assert float(first) != pytest.approx(
        float(jm.natural_frequencies(BENT, 1).frequencies_hz[0]), rel=1e-3
    )
    browser.until("document.getElementById('bars').rows.length === 12")
    assert (
        browser.value("document.querySelectorAll('#arm polygon').length") == 3
    )  # links, not their segments
    path = tmp_path / "arm.toml"
    path.write_text(file_of(browser, "toml"), encoding="utf-8")
    assert jm.read_arm(path) == changed
    browser.run(
        "const field = document.querySelector('[aria-label=\"loads.tip_force_x in N\"]');"
        "field.value = -3e6; field.dispatchEvent(new Event('change'));"
    )
    browser.until("document.getElementById('error').textContent.includes('buckle')")
    assert browser.text("#rows tr td") == first
