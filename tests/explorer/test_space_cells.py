"""The page of a sweep of an arm in space: the picture that turns has the posture and the sizes of the cell."""

import re

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from sweeps.analysis.cells import arm_of_cell
from sweeps.explorer.data import ordered, page_data
from sweeps.explorer.page import code, page_html
from tests.explorer.test_page import HOSTILE, Tags
from tests.explorer.test_space_in_page import sliding

SIX = jm.examples.six_axis_industrial()
ELBOW = sweeps.linspace("link3.joint_angle", -150, 150, 7, unit="degree")
SHOULDER = sweeps.linspace("link2.joint_angle", 0, 90, 4, unit="degree")
#: the page has nine decimals
SAME = {"rtol": 0.0, "atol": 2e-8}


def swept(arm, *axes):
    return ordered(sweeps.run(sweeps.Sweep(arm, axes, num_modes=1)))


def put_together(arm, at):
    """Inner ends, outer ends and tips of all links at a cell, by what stands in the page."""
    links = [{**link} for link in arm["links"]]
    for change in arm["changes"]:
        owner, value = links[change["link"]], change["values"][at[change["axis"]]]
        if len(change["path"]) == 1:
            owner[change["path"][0]] = value
        elif len(change["path"]) == 2:
            name, k = change["path"]
            owner[name] = [*owner[name][:k], value, *owner[name][k + 1 :]]
    axes, tip, found = np.eye(3), np.zeros(3), []
    for link in links:
        axes = axes @ np.reshape(link["turn"], (3, 3))
        inner = tip - axes @ link["joint"]
        outer = inner + axes[:, 0] * link["length"]
        tip = outer + axes @ link["tip"]
        found.append([inner, outer, tip])
    return np.array(found)


def cells_of(ds):
    names = [str(name) for name in ds.frequency.dims if name != "mode"]
    for at in np.ndindex(*(ds.sizes[name] for name in names)):
        yield at, arm_of_cell(ds.isel(dict(zip(names, at, strict=True))))[0]


def require_frames(ds):
    arm = page_data(ds)["arm"]
    assert arm["space"]
    for at, own in cells_of(ds):
        expected = [[frame.start, frame.end, frame.tip] for frame in own.frames()]
        np.testing.assert_allclose(put_together(arm, at), expected, **SAME, err_msg=str(at))
    return arm


def test_the_arm_is_drawn_where_the_library_puts_it():
    arm = require_frames(swept(SIX, SHOULDER, ELBOW, sweeps.axis("payload.mass", [1.0, 4.0])))
    changed = {(change["axis"], change["link"], change["path"][0]) for change in arm["changes"]}
    assert changed == {(0, 1, "turn"), (1, 2, "turn"), (2, 5, "bodies")}
    (payload,) = [each for each in arm["varied"] if each["address"] == "payload.mass"]
    assert payload["values"] == [1.0, 4.0]


def test_lengths_sections_and_slides_are_those_of_the_cell():
    arm = require_frames(swept(SIX, sweeps.axis("link2.length", [0.5, 0.9]), ELBOW))
    assert ("length",) in {tuple(change["path"]) for change in arm["changes"]}
    slides = sliding()
    number = next(k for k in slides.joints if slides.slides(k))
    way = sweeps.axis(f"link{number}.base_offset.x", [0.0, 0.1, 0.25])
    require_frames(swept(slides, way))


def test_a_rigid_joint_and_zipped_axes():
    stiff = sweeps.axis("link3.joint_stiffness", [2e4, np.inf])
    both = sweeps.zipped(
        sweeps.axis("link2.joint_angle", [0.0, 30.0], unit="degree"),
        sweeps.axis("link3.joint_angle", [-20.0, 60.0], unit="degree"),
        name="path",
    )
    arm = require_frames(swept(SIX, stiff, both))
    (own,) = [each for each in arm["varied"] if each["address"] == "link3.joint_stiffness"]
    assert own["values"] == [2e4, None]


def test_axes_that_act_together_on_one_number_have_no_picture():
    leaning = sweeps.axis("link2.joint_axis.x", [0.0, 1.0])
    assert page_data(swept(SIX, SHOULDER, leaning))["arm"] is None
    require_frames(swept(SIX, leaning, ELBOW))
    # a body that comes and goes
    assert page_data(swept(SIX, sweeps.axis("link3.hub.mass", [0.0, 9.0])))["arm"] is None


def label(browser):
    """Where the page says that the tip is."""
    text = browser.value("document.querySelector('#arm').getAttribute('aria-label')")
    return [float(x) for x in re.findall(r"[xyz] (\S+?) m", text.replace("−", "-"))]


def pixels(browser):
    return browser.value("document.querySelector('#arm').toDataURL()")


def test_in_a_browser_it_takes_the_posture_of_the_cell_and_turns(shown):
    ds = swept(SIX, SHOULDER, ELBOW)
    browser = shown(page_html(ds), "at=1,2")
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    cells = dict(cells_of(ds))
    np.testing.assert_allclose(label(browser), cells[1, 2].tip_position(), rtol=5e-3, atol=1e-6)
    browser.settled()
    seen = pixels(browser)
    browser.press('[id="axis-1"]', "ArrowRight")
    np.testing.assert_allclose(label(browser), cells[1, 3].tip_position(), rtol=5e-3, atol=1e-6)
    browser.settled()
    moved = pixels(browser)
    assert moved != seen
    browser.press("#arm", "ArrowRight", "+")
    browser.until(f"document.querySelector('#arm').toDataURL() !== {moved!r}")
    np.testing.assert_allclose(label(browser), cells[1, 3].tip_position(), rtol=5e-3, atol=1e-6)


def test_names_are_text_and_the_page_is_small(shown):
    arm = SIX.replace(links=(SIX.links[0].replace(name=HOSTILE), *SIX.links[1:]))
    plain = Tags(page_html(swept(SIX, ELBOW)))
    text = page_html(swept(arm, ELBOW))
    assert [tag for tag, _ in Tags(text).found] == [tag for tag, _ in plain.found]
    assert shown(text).value("document.querySelectorAll('img, b').length") == 0
    assert sum(len(part.encode()) for part in code(True)) <= 150_000


@pytest.mark.parametrize("in_space", [False, True])
def test_the_scripts_have_one_way_to_draw_the_arm(in_space):
    script, _ = code(in_space)
    assert script.count("const makeArmView") == 1
    assert ("class SpacePicture" in script) is in_space
