"""The further views of the page of an arm in headless Chromium: what a mode depends on, response, curves."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from sweeps.explorer.page import arm_page_html
from tests.explorer.page_arms import csv_of

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
        size = {"1 %": 0.01 * value, "1°": math.pi / 180.0, "1 kg": 1.0}[step]
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
    browser.run(
        "const motion = document.getElementById('motion'); motion.value = 'tip_6.rz';"
        "motion.dispatchEvent(new Event('change'));"
    )
    assert "motion=tip_6.rz" in browser.value("location.hash")


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
    address = "force=tip_3.y&motion=tip_3.y&along=link2.joint_angle"
    browser = shown(arm_page_html(BENT), address)
    browser.until(WHOLE)
    with browser.as_a_phone():
        pass


def file_of(browser, button):
    """The text that a button of the page offers as a file."""
    return "\n".join(",".join(row) for row in csv_of(browser, button, head=0))


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
    for name, value in (("along-value", "link1.length"), ("motion", "tip_2.x")):
        browser.run(
            f"const chosen = document.getElementById('{name}'); chosen.value = '{value}';"
            "chosen.dispatchEvent(new Event('change'));"
        )
    browser.until(WHOLE)
    values = {float(row[0]) for row in csv_of(browser, "along-csv")}
    assert len(values) == 41
    assert (min(values), max(values)) == (0.75, 3.0)
    rows = csv_of(browser, "response-csv")
    hertz, found = np.array([row for row in rows[100:140] if row[1] != "NaN"], float).T
    truth = jm.frequency_response(BENT, 2.0 * math.pi * hertz, "tip_3.y", "tip_2.x").magnitude
    np.testing.assert_allclose(found, truth.ravel(), rtol=2e-5, atol=0.0)
    assert np.all(np.diff([float(row[0]) for row in rows]) > 0.0)
