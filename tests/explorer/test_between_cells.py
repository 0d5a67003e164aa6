"""The page of a sweep between its cells: solved exactly there, at any value of every axis, in headless Chromium."""

import math

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from sweeps.explorer.data import ordered, page_data
from sweeps.explorer.page import assembled, code, page_html
from tests.explorer.page_arms import csv_of

TWO, SIX = jm.examples.two_link_flexible(), jm.examples.six_axis_industrial()
ANGLE = sweeps.linspace("theta_2", -90, 90, 5, unit="degree")
STIFFNESS = sweeps.axis("link2.joint_stiffness", [1e3, 1e4, np.inf])
READY = "document.getElementById('between-rows').rows.length"


def run(arm, *axes, **options):
    return ordered(sweeps.run(sweeps.Sweep(arm, axes, **({"num_modes": 3, "name": ""} | options))))


def between(browser, several=3):
    """Frequencies as the page shows them, and whether all are certified."""
    browser.until(f"{READY} === {several} && !document.getElementById('between-note').textContent")
    rows = browser.value(
        "[...document.getElementById('between-rows').rows].map((row) => [...row.cells].map((x) => x.textContent))"
    )
    return [float(row[1]) for row in rows], all(row[2] == "certified" for row in rows)


def test_values_between_the_cells_are_solved_and_counted(shown):
    ds = run(TWO, ANGLE, STIFFNESS, theories=("rayleigh", "timoshenko"))
    browser = shown(page_html(ds), "theory=1&at=2,1&between=33.25,2345.5")
    found, sure = between(browser)
    values = {"link2.joint_angle": math.radians(33.25), "link2.joint_stiffness": 2345.5}
    truth = jm.natural_frequencies(jm.set_parameters(TWO, values), 3).frequencies_hz
    np.testing.assert_allclose(found, truth, rtol=1e-8, atol=0.0)  # nine digits are shown
    assert sure
    browser.press('[aria-label="theta_2 [degree], between the cells"]', "ArrowRight")
    browser.until("!location.hash.includes('between=33.25')")
    browser.until("!document.getElementById('between-note').textContent")
    assert between(browser)[0] != found
    browser.click("#between-cell")
    browser.until("!location.hash.includes('between')")
    browser.value("history.back()")
    browser.until("location.hash.includes('between')")


def test_a_rigid_end_and_the_other_theory(shown):
    ds = run(TWO, ANGLE, STIFFNESS, theories=("rayleigh", "timoshenko"))
    browser = shown(page_html(ds), "theory=0&between=-12.5,Infinity")
    rigid = jm.set_parameters(TWO, {"link2.joint_angle": math.radians(-12.5)})
    rigid = jm.set_parameters(rigid, {"link2.joint_stiffness": math.inf})
    truth = jm.natural_frequencies(rigid, 3, theory="rayleigh").frequencies_hz
    np.testing.assert_allclose(between(browser)[0], truth, rtol=1e-8, atol=0.0)


def test_arms_in_space_and_axes_of_several_parameters(shown):
    """Axes that set several parameters together stay at the cell."""
    angles = {"link2.joint_angle": [0.1, 0.9], "link3.joint_angle": [0.5, 1.1]}
    bent = sweeps.zipped(*(sweeps.axis(name, x) for name, x in angles.items()), name="bent")
    ds = run(SIX, sweeps.linspace("link3.length", 0.1, 0.4, 3), bent)
    browser = shown(page_html(ds), "at=1,1&between=0.333,1")
    values = {"link3.length": 0.333, "link2.joint_angle": 0.9, "link3.joint_angle": 1.1}
    truth = jm.natural_frequencies(jm.set_parameters(SIX, values), 3).frequencies_hz
    found, sure = between(browser)
    np.testing.assert_allclose(found, truth, rtol=1e-8, atol=0.0)
    assert sure


def test_a_value_that_no_arm_has_is_said(shown):
    ds = run(TWO, ANGLE, sweeps.linspace("link2.length", 0.2, 0.4, 3))
    browser = shown(page_html(ds), "between=10,-1")
    browser.until("document.getElementById('between-note').textContent.includes('no arm can have')")
    assert browser.value(READY) == 0


def test_what_the_solver_cannot_change_is_said_and_no_solver_is_within(shown):
    hanging = page_data(run(TWO.replace(loads=jm.Loads(gravity=9.81)), ANGLE))
    assert "arms" in hanging["exact"]  # forces at rest alone are solved there
    held = TWO.links[1].replace(support_y_stiffness=1e4)
    loaded = TWO.replace(loads=jm.Loads(gravity=9.81), links=(TWO.links[0], held))
    prop = sweeps.linspace("link2.support_y_stiffness", 1e4, 2e4, 2)
    data = page_data(run(loaded, prop)) | {"served": False}
    assert "support_y_stiffness" in data["exact"]["why"]
    text = assembled(data)
    assert "worker-src" not in text
    browser = shown(text)
    assert "support_y_stiffness" in browser.text("#between-note")
    assert browser.value("document.getElementById('branches').disabled")
    fixed = page_data(run(SIX, sweeps.linspace("link3.joint_axis.x", 0.1, 0.2, 2)))
    assert "link3.joint_axis.x" in fixed["exact"]["why"]


def test_branches_go_through_a_crossing_between_cells_and_on_one(shown):
    """A bar that becomes wider than it is deep: the line of each plane goes on, also where both meet in a cell."""
    bar = jm.SpatialLink(1.0, 7e10, 2700.0, jm.rectangle(0.03, 0.02), poisson_ratio=0.3)
    widths = sweeps.linspace("link1.section.width", 0.01, 0.05, 9)  # 0.03 among them
    sweep = sweeps.Sweep(
        jm.SpatialArm((bar,)), (widths,), num_modes=2, theories=["euler_bernoulli"]
    )
    ds = ordered(sweeps.run(sweep))
    browser = shown(page_html(ds), "branches=1")
    browser.until("document.getElementById('branches-note').textContent.startsWith('Lines go on')")
    rows = [
        (float(x), branch, float(hertz)) for x, branch, _, hertz, _ in csv_of(browser, "curves-csv")
    ]
    wide, deep = (np.array([(x, f) for x, branch, f in rows if branch == name]).T for name in "12")
    lowest = float(ds.frequency.values.ravel()[0])
    # without rotary inertia a plane's frequency is that of its own depth alone
    np.testing.assert_allclose(wide[1], lowest * wide[0] / 0.01, rtol=1e-9, atol=0.0)
    np.testing.assert_allclose(deep[1], 3.0 * lowest, rtol=1e-9, atol=0.0)
    browser.click("#branches")
    assert "branches" not in browser.value("location.hash")
    assert len(csv_of(browser, "curves-csv")) == 9


def test_a_value_that_fits_only_with_those_of_other_axes_leaves_the_cells(shown):
    """Thick walls need the greater depth, of which no value has been selected."""
    thick = sweeps.axis("link2.section.wall_thickness", [0.005, 0.02])
    deep = sweeps.axis("link2.section.depth", [0.05, 0.08])
    arm = TWO.replace(
        links=tuple(
            x.replace(section=jm.hollow_rectangle(0.03, 0.06, 0.002, 0.44)) for x in TWO.links
        )
    )
    ds = run(arm, thick, deep).isel(link2_section_wall_thickness=1)
    browser = shown(page_html(ds))
    assert "wall_thickness = 0.02" in browser.text("#between-note")
    assert browser.value("document.getElementById('rows').rows.length") == 3


@pytest.mark.parametrize("in_space", [False, True])
def test_the_code_stays_small(in_space):
    assert sum(len(part.encode()) for part in code(in_space, in_space)) <= 150_000
