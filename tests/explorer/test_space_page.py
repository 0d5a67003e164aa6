"""The page of an arm in space, in headless Chromium: the library's numbers, what turns and moves, what is refused."""

import math
import re

import numpy as np
import pytest
from click.testing import CliRunner

import jaxmodal as jm
import sweeps
from sweeps.commands.explore import explore
from sweeps.definition.errors import SweepError
from sweeps.explorer.arms import arm_page_data
from sweeps.explorer.page import arm_code, arm_page_html
from sweeps.explorer.solver.spatial_programs import values_of
from sweeps.explorer.space import space_sliders
from tests.explorer.page_arms import (
    compare_in_one_page,
    compare_pages,
    found_by_the_library,
    hertz_and_certified,
    pixels,
)
from tests.explorer.test_page import HOSTILE, Tags
from tests.explorer.test_space_in_page import BAR, random_in_space, sliding
from tests.spatial.random_arms import THEORIES

SIX = jm.examples.six_axis_industrial()
#: exact to what the table of the page rounds, and to the solver in the page, see test_space_in_page
SAME = {"rtol": 1e-9, "atol": 0.0}
ROBOT = """<robot name="{name}">
  <link name="base"/>
  <link name="boom"><inertial><origin xyz="0.3 0 0"/><mass value="6"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.24" iyz="0" izz="0.24"/></inertial></link>
  <link name="rod"><inertial><origin xyz="0 0 0.1"/><mass value="2"/>
    <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.004"/></inertial></link>
  <joint name="{joint}" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.2" effort="1" velocity="1"/></joint>
  <joint name="lift" type="prismatic"><parent link="boom"/><child link="rod"/><origin xyz="0.7 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.4" effort="1" velocity="1"/></joint>
</robot>"""


def robot(tmp_path, name="crane", joint="swing", **values):
    path = tmp_path / "crane.urdf"
    path.write_text(ROBOT.format(name=name, joint=joint), encoding="utf-8")
    return jm.read_urdf(path, tip="rod", **values) if values else path


def arms(seeds):
    return {seed: (random_in_space(seed), THEORIES[seed % 4]) for seed in seeds}


def test_the_page_has_the_frequencies_and_certificates_of_the_library(shown):
    compare_pages(shown, arms(range(4)))


@pytest.mark.slow
def test_many_arms_are_solved_in_a_page(shown):
    """Every theory with every kind of base and motor, of the arms that Node solves by the same text."""
    compare_in_one_page(shown(arm_page_html(SIX)), arms(range(4, 28)))


def test_a_posture_behind_the_address_is_solved(shown):
    values = {"link2.joint_angle": 1.25, "link5.joint_angle": -2.0, "payload.mass": 12.5}
    address = "&".join(f"{name}={value}" for name, value in values.items())
    found, certified = hertz_and_certified(shown(arm_page_html(SIX), f"mode=3&{address}"))
    np.testing.assert_allclose(
        found, found_by_the_library(jm.set_parameters(SIX, values))[0], **SAME
    )
    assert all(certified)


def test_a_thicker_forearm_behind_the_address_is_solved(shown):
    """A group that the address sets a value of is open; the others of many values are closed."""
    values = {"link3.section.outer_diameter": 0.2, "link5.length": 0.31, "link2.body.mass": 8.0}
    values |= {
        "payload.centre.y": -0.03,
        "link3.base_offset.z": -0.2,
        "link1.joint_frame1.angle": -1.2,
    }
    values["link2.body.inertia.xx"] = 0.9 * float(jm.get_parameter(SIX, "link2.body.inertia.xx"))
    address = "&".join(f"{name}={value}" for name, value in values.items())
    browser = shown(arm_page_html(SIX), address)
    found, certified = hertz_and_certified(browser)
    np.testing.assert_allclose(
        found, found_by_the_library(jm.set_parameters(SIX, values))[0], **SAME
    )
    assert all(certified)
    assert browser.value("[...document.querySelectorAll('#sliders details')].every((x) => x.open)")


def test_offsets_rigid_lengths_and_mounts_move_the_picture(shown):
    """The tip is told beside it: that of the library at these values; so are the frequencies."""
    base = BAR.replace(
        rigid=True, joint_stiffness=3e4, joint_frame=((jm.Rotation((0, 1, 0), -1.2)),),
        base_offset=(0.0, 0.0, 0.1), end_offset=(0.0, 0.05, 0.0), body=jm.RigidBody(3.0),
    )  # fmt: skip
    arm = jm.SpatialArm((base, BAR.replace(end_offset=(0.0, 0.0, 0.1))), jm.RigidBody(2.0))
    values = {"link1.length": 0.45, "link1.base_offset.x": 0.1, "link1.end_offset.y": -0.1}
    values |= {
        "link1.joint_frame1.angle": -0.7,
        "link2.end_offset.z": 0.3,
        "link2.joint_angle": 0.5,
    }
    browser = shown(
        arm_page_html(arm), "&".join(f"{name}={value}" for name, value in values.items())
    )
    other = jm.set_parameters(arm, values)
    np.testing.assert_allclose(
        hertz_and_certified(browser)[0], found_by_the_library(other)[0], **SAME
    )
    told = browser.value("document.querySelector('#arm').getAttribute('aria-label')")
    tip = [float(x.replace("−", "-")) for x in re.findall(r"[xyz] ([-−.e0-9]+) m", told)]
    np.testing.assert_allclose(tip, other.frames()[-1].tip, rtol=0.0, atol=6e-4)  # three digits


def test_a_slider_of_a_length_changes_numbers_and_picture(shown):
    browser = shown(arm_page_html(SIX))
    browser.click("#still")
    first, picture = browser.text("#rows tr td"), pixels(browser)
    assert not browser.value("document.querySelectorAll('#sliders details')[2].open")
    browser.click("#sliders details:nth-of-type(3) summary")
    browser.press('[id="at link3.section.outer_diameter"]', "ArrowRight")
    browser.until(f"document.querySelector('#rows tr td').textContent !== {first!r}")
    assert pixels(browser) != picture


def test_sliders_keys_and_back_change_numbers_and_picture(shown):
    browser = shown(arm_page_html(SIX))
    first, picture = browser.text("#rows tr td"), pixels(browser)
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    browser.until(f"document.querySelector('#arm').toDataURL() !== {picture!r}")  # it moves
    browser.click("#still")
    still = pixels(browser)
    browser.settled()
    assert pixels(browser) == still
    browser.press('[id="at link3.joint_angle"]', "ArrowRight")
    browser.until(f"document.querySelector('#rows tr td').textContent !== {first!r}")
    assert pixels(browser) != still
    assert "link3.joint_angle=" in browser.value("location.hash")
    browser.press("#reset", "4")
    browser.until("document.querySelector('[aria-current] button').textContent === '4'")
    browser.value("history.go(-2)")
    browser.until(f"document.querySelector('#rows tr td').textContent === {first!r}")


def test_the_arm_turns_under_the_mouse_the_wheel_and_keys(shown, window):
    browser = shown(arm_page_html(SIX))
    browser.click("#still")
    seen = [pixels(browser)]

    def looks_from(yaw, pitch, zoom):
        view = f"{yaw},{pitch},{zoom}"
        browser.until(f"new URLSearchParams(location.hash.slice(1)).get('view') === '{view}'")
        browser.settled()
        assert pixels(browser) not in seen
        seen.append(pixels(browser))

    box = browser.value(
        "(({x, y, width, height}) => [x + width / 2, y + height / 2])"
        "(document.querySelector('#arm').getBoundingClientRect())"
    )
    for kind, x in (("mousePressed", 0), ("mouseMoved", 50), ("mouseReleased", 50)):
        window.command(
            "Input.dispatchMouseEvent",
            type=kind, button="left", buttons=1, clickCount=1, x=box[0] + x, y=box[1],
        )  # fmt: skip
    looks_from(-65, 35, 1)
    window.command(
        "Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=-200
    )
    looks_from(-65, 35, 1.35)
    browser.press("#arm", "ArrowRight", "ArrowUp", "-")
    looks_from(-60, 40, 1.12)
    browser.click("#views-of button:nth-child(2)")
    looks_from(-90, 0, 1)
    again = shown(arm_page_html(SIX), "view=-90,0,1")
    again.click("#still")
    assert again.value("document.querySelector('#arm').getAttribute('aria-label')").startswith(
        "The arm in its posture"
    )


def test_a_robot_has_its_joints_names_limits_and_slides_in_metres(shown, tmp_path):
    arm = robot(tmp_path, joint_stiffness={"swing": 2e4}, slide_stiffness={"lift": 3e6})
    swing, lift, *_ = arm_page_data(arm)["sliders"]
    assert (swing["unit"], swing["limits"]) == ("degree", "limits -85.9437° to 68.7549°")
    assert (lift["unit"], lift["low"], lift["high"]) == ("m", -0.1, 0.4)
    browser = shown(arm_page_html(arm))
    assert "lift (link2.base_offset.x)limits -0.1 m to 0.4 m" in browser.text("#sliders")
    found, certified = hertz_and_certified(browser)
    assert len(found) == 2  # no more than its springs allow
    assert all(certified)
    np.testing.assert_allclose(found, found_by_the_library(arm)[0], **SAME)
    first = browser.text("#rows tr td")
    browser.press('[id="at link2.base_offset.x"]', "End")
    browser.until(f"document.querySelector('#rows tr td').textContent !== {first!r}")
    moved = jm.set_parameters(arm, {"lift": 0.4})
    found = browser.value(
        "[...document.querySelectorAll('#rows td:nth-child(2)')].map(x => +x.textContent)"
    )
    np.testing.assert_allclose(
        found, found_by_the_library(moved)[0], rtol=1e-8, atol=0.0
    )  # nine digits


def test_a_robot_of_which_nothing_gives_way_is_shown_and_can_be_given_springs(shown, tmp_path):
    out = tmp_path / "page.html"
    with pytest.warns(jm.ImplausibleWarning, match="nothing gives way"):
        result = CliRunner().invoke(explore, [str(robot(tmp_path)), "--out", str(out)])
    assert result.exit_code == 0, result.output
    browser = shown(out.read_text("utf-8"))
    assert "Nothing gives way" in browser.text("#summary")
    assert browser.value("document.querySelectorAll('#rows tr').length") == 0
    browser.run(
        "const field = document.querySelector('[aria-label=\"swing (link1.joint_stiffness) in N m/rad\"]');"
        "field.value = 2e4; field.dispatchEvent(new Event('change'));"
    )
    browser.until("document.querySelectorAll('#rows tr').length === 1")
    arm = robot(tmp_path, joint_stiffness={"swing": 2e4})
    assert float(browser.text("#rows tr td")) == pytest.approx(
        found_by_the_library(arm)[0][0], rel=1e-8
    )


def test_a_mode_that_is_not_there_and_values_that_no_arm_has_are_said(shown):
    rigid = sliding().replace(links=tuple(x.replace(rigid=True) for x in sliding().links))
    browser = shown(arm_page_html(rigid), "mode=7")
    assert "there is no mode 7" in browser.text("#why")
    first = browser.text("#rows tr td")
    browser.run(
        "const field = document.querySelector('[aria-label=\"payload.mass in kg\"]');"
        "field.value = -1; field.dispatchEvent(new Event('change'));"
    )
    browser.until("document.getElementById('error').textContent.includes('payload.mass = -1')")
    assert browser.text("#rows tr td") == first


def test_names_with_markup_are_text(shown, tmp_path):
    arm = SIX.replace(name=HOSTILE, links=(SIX.links[0].replace(name=HOSTILE), *SIX.links[1:]))
    text = arm_page_html(arm)
    plain = [tag for tag, _ in Tags(arm_page_html(SIX)).found]
    assert [tag for tag, _ in Tags(text).found] == plain
    browser = shown(text)
    assert HOSTILE in browser.text("#title")
    assert HOSTILE in browser.text("#sliders")
    assert browser.value("document.querySelectorAll('img, b').length") == 0


def test_the_file_is_small_and_loads_nothing():
    text = arm_page_html(SIX)
    assert sum(len(part.encode()) for part in arm_code(True)) <= 150_000
    assert len(text.encode()) <= 500_000
    (policy,) = [a["content"] for a, _ in Tags(text).of("meta") if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'none'" in policy


def test_it_fits_a_phone_and_every_control_has_a_name(shown, window):
    browser = shown(arm_page_html(SIX))
    nodes = window.command("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "slider", "spinbutton", "image")
    names = [
        node.get("name", {}).get("value", "")
        for node in nodes
        if not node["ignored"] and node["role"]["value"] in roles
    ]
    assert len(names) > 30
    assert all(name.strip() for name in names)
    with browser.as_a_phone():
        pass


def test_every_slider_holds_the_value_of_the_arm():
    for seed in range(12):
        arm = random_in_space(seed)
        for slider in space_sliders(arm, values_of(arm)):
            value = float(jm.get_parameter(arm, slider["address"]))
            value = math.degrees(value) if slider["unit"] == "degree" else value
            assert slider["rigid"] or not math.isinf(value)
            assert math.isinf(value) or slider["low"] <= value <= slider["high"]
            assert slider["low"] < slider["high"]


def test_python_writes_the_pages_of_arms_and_refuses_what_is_none(tmp_path):
    path = tmp_path / "six.html"
    assert sweeps.explore(SIX, path) == path
    assert path.read_text("utf-8") == arm_page_html(SIX)
    sweeps.explore(jm.examples.two_link_flexible(), str(path), theory="rayleigh")
    assert "rayleigh" in path.read_text("utf-8")
    with pytest.raises(SweepError, match=r"six\.png.*ends in \.html"):
        sweeps.explore(SIX, "six.png")
    nowhere = tmp_path / "none" / "six.html"
    with pytest.raises(SweepError, match=r"six\.html: cannot be written .*give another place"):
        sweeps.explore(SIX, nowhere)
    with pytest.raises(SweepError, match="what = 3: must be an Arm"):
        sweeps.explore(3, path)
    with pytest.raises(ValueError, match="theory = 'shell'"):
        sweeps.explore(SIX, path, theory="shell")
