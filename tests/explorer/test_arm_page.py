"""The page of an arm: what it may do, and in headless Chromium whether it has the library's numbers and moves."""

import base64
import hashlib
import math
import re
import threading
import urllib.request

import numpy as np
import pytest
from click.testing import CliRunner

import jaxmodal as jm
from jaxmodal.arm.addresses import list_addresses
from sweeps.commands.explore import explore
from sweeps.explorer.arms import MODES, arm_page_data
from sweeps.explorer.page import arm_assembled, arm_code, arm_page_html
from sweeps.explorer.plane_sliders import plane_sliders
from sweeps.explorer.server import PageServer
from tests.explorer.page_arms import (
    THEORIES,
    compare_in_one_page,
    compare_pages,
    hertz_and_certified,
    random_arm,
)
from tests.explorer.test_page import HOSTILE, Tags

ARM = jm.examples.three_link_industrial()


def arms(seeds):
    return {seed: (random_arm(seed), THEORIES[seed % 4]) for seed in seeds}


def test_the_page_has_the_frequencies_and_certificates_of_the_library(shown):
    compare_pages(shown, arms(range(8)))


@pytest.mark.slow
def test_many_arms_are_solved_in_a_page(shown):
    """Of the arms that Node solves by the same text; here the browser's worker does."""
    compare_in_one_page(shown(arm_page_html(ARM)), arms(range(8, 56)))


def test_values_behind_the_address_are_solved(shown):
    values = {"link2.joint_angle": 1.25, "payload.mass": 12.5, "link3.joint_stiffness": 3e5}
    address = "&".join(f"{name}={value}" for name, value in values.items())
    found, certified = hertz_and_certified(shown(arm_page_html(ARM), f"mode=3&{address}"))
    truth = jm.natural_frequencies(jm.set_parameters(ARM, values), MODES)
    np.testing.assert_allclose(found, np.asarray(truth.omega) / (2 * math.pi), rtol=1e-9, atol=0.0)
    assert all(certified)


def test_sliders_keys_and_back_change_what_is_shown(shown):
    browser = shown(arm_page_html(ARM))
    first = browser.text("#rows tr td")
    line = "document.querySelector('#arm .moving polyline:not(.joined)').getAttribute('points')"
    before = browser.value(line)
    browser.until(f"{line} !== {before!r}")  # the mode moves
    browser.press('[id="at payload.mass"]', "ArrowRight")
    browser.until(f"document.querySelector('#rows tr td').textContent !== {first!r}")
    assert "payload.mass=" in browser.value("location.hash")
    browser.press("#reset", "4")
    browser.until("document.querySelector('[aria-current] button').textContent === '4'")
    browser.value("history.go(-2)")
    browser.until(f"document.querySelector('#rows tr td').textContent === {first!r}")
    assert browser.value("performance.getEntriesByType('resource').length") == 0


def test_a_value_that_no_arm_has_is_said_and_the_table_kept(shown):
    browser = shown(arm_page_html(ARM))
    first = browser.text("#rows tr td")
    browser.run(
        "const field = document.querySelector('[aria-label=\"link1.length in m\"]');"
        "field.value = -1; field.dispatchEvent(new Event('change'));"
    )
    browser.until("document.getElementById('error').textContent.includes('link1.length = -1')")
    assert browser.text("#rows tr td") == first


def test_the_page_fits_a_phone(shown, window):
    browser = shown(arm_page_html(ARM))
    with browser.as_a_phone():
        pass


def test_names_with_markup_are_text(shown):
    data = arm_page_data(ARM)
    hostile = data | {"title": HOSTILE, "versions": {HOSTILE: HOSTILE}}
    text = arm_assembled(hostile)
    plain = [tag for tag, _ in Tags(arm_assembled(data)).found]
    assert [tag for tag, _ in Tags(text).found] == plain
    assert shown(text).text("#title") == HOSTILE


def test_the_file_runs_its_own_code_alone_and_loads_nothing():
    tags = Tags(arm_page_html(ARM))
    (policy,) = [a["content"] for a, _ in tags.of("meta") if a.get("http-equiv")]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert rules["worker-src"] == "blob:"
    (own,) = [text for attributes, text in tags.of("script") if "type" not in attributes]
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", own)
    assert sum(len(part.encode()) for part in arm_code()) <= 150_000


def test_every_slider_holds_the_value_of_the_arm():
    """The value lies between the ends; a rigid joint has its place behind them."""
    for seed in range(20):
        arm = random_arm(seed)
        for slider in plane_sliders(arm, list_addresses(arm)):
            value = float(jm.get_parameter(arm, slider["address"]))
            value = math.degrees(value) if slider["unit"] == "degree" else value
            assert slider["rigid"] == math.isinf(value)
            assert math.isinf(value) or slider["low"] <= value <= slider["high"]
            assert slider["low"] < slider["high"]


def test_the_command_writes_and_serves_the_page(tmp_path):
    out = tmp_path / "arm.html"
    arguments = ["example:two_link_flexible", "--theory", "rayleigh", "--out", str(out)]
    result = CliRunner().invoke(explore, arguments)
    assert result.exit_code == 0, result.output
    expected = arm_page_html(jm.examples.two_link_flexible(), "rayleigh")
    assert out.read_text("utf-8") == expected
    with PageServer(lambda: expected) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        assert urllib.request.urlopen(server.address, timeout=10).read().decode() == expected
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{server.address}cell/0/0", timeout=10)
        server.shutdown()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["example:two_link_flexible", "--at", "theta_2=0"], ["--at theta_2=0", "arm"]),
        (["none.toml"], ["none.toml"]),
        (["robot.urdf"], ["robot.urdf"]),
        (["store.zarr", "--theory", "rayleigh"], ["--theory rayleigh", "store"]),
    ],
)
def test_what_has_no_page_is_refused_with_what_to_do(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(explore, [*arguments, "--no-open"])
    assert (result.exit_code, result.stdout) == (2, "")
    for word in words:
        assert word in result.stderr
