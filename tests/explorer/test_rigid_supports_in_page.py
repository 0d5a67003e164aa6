"""Rigid supports of arms in space in the page, against the library: no spring stands for them."""

import math

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.parts.springs import Support
from sweeps.explorer.data import ordered
from sweeps.explorer.page import arm_page_html, page_html
from sweeps.explorer.solver import arm_json
from sweeps.explorer.solver.tapes import number
from sweeps.explorer.space import space_sliders
from tests.explorer.page_arms import (
    case,
    found_by_the_library,
    hertz_and_certified,
    needs_node,
    pixels,
    solved_in_page,
)
from tests.explorer.test_answers_in_page import lossy, port_of
from tests.explorer.test_space_in_page import (
    BAR,
    HARD,
    MODES,
    SIX,
    random_in_space,
    same_as_library,
    supported,
)

RIGID = math.inf
EVERY = [
    (kind, tuple(np.eye(3)[axis]), RIGID)
    for kind in ("translation", "rotation")
    for axis in range(3)
]
UPRIGHT = ("translation", (0, 0, 1), RIGID)
#: one beside springs, a tip that is held in every direction, free joints that they hold, links under forces, on an
#: elastic base, rigid, folded on each other
HELD = {
    "one": supported(SIX, {6: [("translation", (1, 0.3, 1), RIGID)], 3: [("translation", (0, 0.2, 1), 3e5)]}),
    "tip held": supported(SIX, {6: EVERY}),
    "free": supported(HARD["free"], {2: [UPRIGHT]}),
    "pressed": supported(HARD["pressed"], {2: [UPRIGHT]}),
    "on a base": supported(random_in_space(1), {2: [("rotation", (0.1, 0.3, 1), RIGID)]}),
    "rigid links": supported(HARD["rigid"], {3: [("translation", (0.1, 0.7, 0.3), RIGID)]}),
    "folded": supported(HARD["folded"], {1: [UPRIGHT]}),
}  # fmt: skip


@needs_node
@pytest.mark.parametrize("name", HELD)
def test_rigid_supports(tmp_path, name):
    """Frequencies, counts, certificates and shapes."""
    same_as_library(tmp_path, [HELD[name]], ["timoshenko"])


@needs_node
@pytest.mark.slow
def test_rigid_supports_of_random_arms(tmp_path):
    """One in any direction at the tip of the last elastic link, some beside a spring."""
    arms = []
    for seed in range(100, 112):
        arm, rng = random_in_space(seed), np.random.default_rng([seed, 5])
        last = max(k for k, link in enumerate(arm.links, start=1) if not link.rigid)
        given = [("translation", tuple(rng.normal(size=3)), RIGID)]
        given += [("rotation", tuple(rng.normal(size=3)), 1e4)] * (seed % 2)
        arms.append(supported(arm, {last: given}))
    same_as_library(tmp_path, arms, ["timoshenko"] * len(arms))


@needs_node
def test_a_support_becomes_rigid_and_gives_way(tmp_path):
    """By the values of the page: the arm is that of the library with these, at the posture that is set."""
    arm = HELD["one"]
    sets = [
        {"link6.support1.stiffness": 4e5, "link2.joint_angle": 0.4},
        {"link3.support1.stiffness": RIGID, "link3.length": 0.4},
        {"link3.support1.stiffness": 0.0},
    ]
    cases = [case(arm, set=[[name, number(x)] for name, x in given.items()]) for given in sets]
    for given, got in zip(sets, solved_in_page(tmp_path, cases, True), strict=True):
        truth = jm.natural_frequencies(jm.set_parameters(arm, given), MODES)
        np.testing.assert_allclose(got["omega"], truth.omega, rtol=1e-10, atol=0.0)
        assert all(got["certified"])


@needs_node
def test_answers_of_held_arms(tmp_path):
    """Receptances without losses and with; at a support there is none."""
    direction = (1.0, 0.3, 1.0)
    arm = supported(SIX.with_posture([0.3] * 6), {6: [("translation", direction, RIGID)]})
    omega, held = [40.0, 300.0], port_of(5, list(direction))
    first, second = port_of(2, "z"), port_of(5, "y")
    ports = [[omega, first, second], [omega, first, second, 0.05], [omega, held, held]]
    (got,) = solved_in_page(tmp_path, [case(arm, ports=ports, modes=1)], True)
    free, damped, at_support = got["answers"]
    for at, plain, lossy_one in zip(omega, free, damped, strict=True):
        for mine, model in ((plain, arm), (lossy_one, lossy(arm, 0.05, at))):
            truth = jm.frequency_response(model, np.array([at]), "tip_3.z", "tip_6.y").magnitude
            np.testing.assert_allclose(mine, float(truth.ravel()[0]), rtol=2e-5, atol=0.0)
    assert max(at_support) < 1e-25


@needs_node
def test_supports_that_have_no_room_are_refused(tmp_path):
    """By the library where the arm is written, by the page where a value makes it so: both name the support."""
    stiff = BAR.replace(rigid=True, supports=(Support(*UPRIGHT),))
    with pytest.raises(ArmError, match=r"link1\.support1\.stiffness = inf: the arm is rigid"):
        arm_json(jm.SpatialArm((stiff, BAR)))
    twice = supported(SIX, {6: [UPRIGHT, (*UPRIGHT[:2], 1e5)]})
    given = [["link6.support2.stiffness", "Infinity"]]
    (told,) = solved_in_page(tmp_path, [case(twice, set=given)], True)
    assert "link6.support2.stiffness = Infinity: the arm is rigid there" in told["error"]


def test_many_supports_beside_a_rigid_one_are_refused():
    soft = [("translation", (0, 0, 1), 1e4)] * 24
    with pytest.raises(ArmError, match="the arm has 25 supports, one of them rigid"):
        arm_json(supported(SIX, {6: [*soft, UPRIGHT]}))
    many = supported(SIX, {6: [*soft, soft[0]]})
    rigid = [x["rigid"] for x in space_sliders(many, ["link6.support1.stiffness"])]
    assert rigid == [False]


def test_sliders_of_supports_end_at_a_rigid_one():
    arm = supported(SIX, {6: [UPRIGHT, ("rotation", (0, 1, 0), 2e3)]})
    names = [f"link6.support{k}.stiffness" for k in (1, 2)]
    stiff, soft = space_sliders(arm, names)
    assert [stiff["rigid"], soft["rigid"]] == [True, True]
    assert stiff["low"] < stiff["high"] < math.inf
    assert (soft["low"], soft["high"]) == (20.0, 2e5)


def test_a_rigid_support_is_drawn_and_gives_way_by_its_slider(shown):
    """It stands at the end of the slider; without it the arm has other frequencies, and the picture no support."""
    arm = HELD["one"]
    browser = shown(arm_page_html(arm))
    compare(hertz_and_certified(browser), found_by_the_library(arm))
    browser.click("#still")
    first, picture = browser.text("#rows tr td"), pixels(browser)
    name = "link6.support1.stiffness"
    assert browser.value(f"document.querySelector('[aria-label=\"{name} in N/m\"]').value") == ""
    browser.run(
        f"const field = document.querySelector('[aria-label=\"{name} in N/m\"]');"
        "field.value = 0; field.dispatchEvent(new Event('change'));"
    )
    browser.until(f"document.querySelector('#rows tr td').textContent !== {first!r}")
    compare(hertz_and_certified(browser), found_by_the_library(jm.set_parameters(arm, {name: 0.0})))
    assert pixels(browser) != picture


def compare(shown_here, of_library):
    (found, certified), (hertz, sure) = shown_here, of_library
    np.testing.assert_allclose(found, hertz, rtol=1e-9, atol=0.0)
    assert certified == sure


def test_rigid_supports_on_an_axis_of_a_sweep_are_solved_between_its_cells(shown):
    """An axis that ends at a rigid support, and one over the offset of a joint."""
    held = sweeps.axis("link6.support1.stiffness", [1e5, RIGID])
    elbow = sweeps.axis("link3.base_offset.z", [-0.15, -0.1])
    ds = ordered(sweeps.run(sweeps.Sweep(HELD["one"], [held, elbow], num_modes=3)))
    browser = shown(page_html(ds), "between=Infinity,-0.12")
    browser.until("document.getElementById('between-rows').rows.length === 3")
    rows = browser.value(
        "[...document.querySelectorAll('#between-rows td:nth-child(2)')].map((x) => +x.textContent)"
    )
    other = jm.set_parameters(HELD["one"], {"link3.base_offset.z": -0.12})
    np.testing.assert_allclose(
        rows, jm.natural_frequencies(other, 3).frequencies_hz, rtol=1e-8, atol=0.0
    )  # nine digits
