"""The solver in the page for arms in space under loads against the library, in Node and in headless Chromium."""

import math

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from jaxmodal.runtime.errors import ArmError
from sweeps.explorer.data import ordered
from sweeps.explorer.page import arm_code, arm_page_html, page_html
from sweeps.explorer.solver.spatial_programs import PIECES
from sweeps.explorer.solver.tapes import number
from tests.explorer.page_arms import (
    case,
    file_of,
    found_by_the_library,
    hertz_and_certified,
    needs_node,
    solved_in_page,
)
from tests.explorer.test_answers_in_page import compare_slopes, name_of, port_of
from tests.explorer.test_between_cells import between
from tests.explorer.test_space_in_page import (
    ALUMINIUM,
    BAR,
    HARD,
    MODES,
    SIX,
    compare_shape,
    random_in_space,
    same_as_library,
    sliding,
)
from tests.spatial.random_arms import THEORIES

LOADS = jm.SpatialLoads
#: a strip on edge that a payload tips over sideways: at 25 kg
JIB = jm.SpatialLink(
    1.2, section=jm.rectangle(0.06, 0.006, "cowper"), joint_frame=(jm.Rotation((1, 0, 0), math.pi / 2),), **ALUMINIUM
)  # fmt: skip
CRANE = jm.SpatialArm((JIB,), jm.RigidBody(6.0), loads=LOADS(gravity_z=-9.81, tip_force_x=0.0))
TWO = jm.SpatialArm(
    (BAR.replace(joint_stiffness=3e4), BAR.replace(joint_angle=0.6, joint_stiffness=2e4)),
    jm.RigidBody(3.0, (0.1, 0.0, 0.05)),
    loads=LOADS(gravity_z=-300.0, gravity_x=50.0, tip_force_y=0.0, tip_moment_x=30.0, base_acceleration_y=20.0),
)  # fmt: skip
#: a hinge on which the arm hangs, and one about the vertical, which neither springs nor loads hold
HANGING = TWO.replace(
    links=(BAR.replace(joint_stiffness=0.0, joint_angle=math.pi / 2), BAR.replace(joint_stiffness=3e4)),
    payload=jm.RigidBody(3.0), loads=LOADS(gravity_z=-300.0),
)  # fmt: skip
TURNTABLE = TWO.replace(
    links=(BAR.replace(joint_stiffness=0.0, joint_axis=(0, 0, 1)), TWO.links[1]),
    loads=LOADS(gravity_z=-300.0),
)
BASE = np.diag([2e6, 3e6, 2e6, 4e5, 5e5, 3e5])
HEAVY = LOADS(gravity_x=30.0, gravity_z=-200.0)


def at_rest(arm, seed):
    """The arm under loads of all kinds, some share of what bends its softest link by a radian."""
    rng = np.random.default_rng([seed, 91])
    sections = [(link, link.section_values) for link in arm.links if not link.rigid]
    bending = [
        float(x.youngs_modulus) * min(float(v.second_moment_y), float(v.second_moment_z))
        for x, v in sections
    ]
    force = min(b / float(x.length) ** 2 for b, (x, _) in zip(bending, sections, strict=True))
    size = 0.3 * force / float(arm.total_mass)
    return arm.replace(
        loads=LOADS(
            gravity_z=-size * rng.uniform(0, 1),
            gravity_x=size * rng.uniform(-0.3, 0.3),
            tip_force_y=0.1 * force * rng.uniform(-1, 1),
            tip_moment_x=0.03 * force * rng.uniform(-1, 1),
            base_acceleration_x=0.2 * size,
        )
    )


def same_at_values(tmp_path, arms_and_values):
    """Frequencies, certificates and shapes with other values, of an arm in the page and of that in the library."""
    truths, cases = [], []
    for arm, values in arms_and_values:
        other = jm.set_parameters(arm, values)
        shapes = jm.mode_shapes(other, MODES, stations=PIECES + 1, throw=False)
        found = shapes.frequencies
        omega = np.asarray(found.omega)
        there = np.isfinite(omega)
        modes = np.flatnonzero(there & (omega > 0.0)).tolist()
        truths.append((found, modes, shapes))
        given = [[name, number(x)] for name, x in values.items()]
        cases.append(case(arm, set=given, shapes=modes, modes=MODES))
    solved = solved_in_page(tmp_path, cases, True, True)
    for k, ((found, modes, shapes), got) in enumerate(zip(truths, solved, strict=True)):
        assert "error" not in got, (k, got)
        omega = np.asarray(found.omega)[np.isfinite(np.asarray(found.omega))]
        np.testing.assert_allclose(got["omega"], omega, rtol=1e-11, atol=0.0, err_msg=str(k))
        assert got["certified"] == np.asarray(found.certified)[: omega.size].astype(int).tolist(), k
        for mode, links in zip(modes, got["shapes"], strict=True):
            if np.sum(np.abs(omega / omega[mode] - 1.0) < 1e-9) == 1:
                compare_shape(links, shapes, mode, 1e-8, (k, mode))


@needs_node
@pytest.mark.parametrize(
    "seeds",
    [[0], *(pytest.param(range(k, k + 6), marks=pytest.mark.slow) for k in range(1, 25, 6))],
)
def test_random_arms(tmp_path, seeds):
    """Frequencies, counts, certificates and shapes under all loads, of all theories; one arm that buckles is told."""
    stand, fall = [], []
    for seed in seeds:
        arm, theory = at_rest(random_in_space(seed), seed), THEORIES[seed % 4]
        omega = jm.natural_frequencies(arm, 1, theory=theory, throw=False).omega
        (stand if np.isfinite(np.asarray(omega)).all() else fall).append((arm, theory))
    assert len(fall) <= 1
    same_as_library(tmp_path, *zip(*stand, strict=True), 1e-8, True)
    for got in solved_in_page(tmp_path, [case(*each) for each in fall], True, True):
        assert "buckle" in got["error"]


@needs_node
def test_values_are_set(tmp_path):
    """Loads, masses, a posture, a hinge that hangs."""
    changed = {"link1.joint_angle": -0.4, "loads.gravity_z": 100.0, "loads.tip_force_y": 200.0}
    same_at_values(
        tmp_path,
        [
            (CRANE, {"payload.mass": 24.0, "loads.tip_force_x": 0.1}),
            (TWO, changed),
            (HANGING, {"loads.gravity_z": -200.0}),
        ],
    )


@needs_node
@pytest.mark.slow
def test_values_of_other_arms_are_set(tmp_path):
    """Rigid joints, one that nothing turns, elastic bases, slides, segments, rigid links, axial forces, bodies."""
    base = SIX.replace(loads=HEAVY, base_stiffness=BASE)
    stiff = {"link2.joint_stiffness": math.inf, "payload.mass": 0.0, "loads.tip_moment_x": 0.0}
    pressed = [link.replace(supports=()) for link in HARD["pressed"].links]
    same_at_values(
        tmp_path,
        [
            (TWO, stiff),
            (TURNTABLE, {"link2.joint_angle": 0.9}),
            (base, {"base_stiffness.k44": 3e5, "base_stiffness.k46": 1e4, "link2.joint_angle": 0.4}),
            (SIX.replace(loads=HEAVY), {"link3.length": 0.5, "link2.body.mass": 3.0, "link4.body.centre.y": 0.1}),
            (SIX.replace(loads=HEAVY), {f"loads.gravity_{axis}": 0.0 for axis in "xz"}),
            (sliding().replace(loads=HEAVY), {"link2.base_offset.x": 0.47, "link1.joint_angle": 0.8}),
            (HARD["segments"].replace(loads=HEAVY), {"link2.joint_angle": 0.3}),
            (HARD["rigid"].replace(loads=HEAVY), {"link2.length": 0.4, "link1.joint_angle": 0.2}),
            (jm.SpatialArm(tuple(pressed), jm.RigidBody(2.0), loads=HEAVY), {"link2.axial_force": 5e3}),
            (HARD["double"].replace(loads=LOADS(gravity_x=-9.81)), {"link1.length": 0.7}),
        ],
    )  # fmt: skip


@needs_node
def test_arms_that_are_not_at_rest_are_told(tmp_path):
    """Those that tip over or fall, and those that nothing holds: as the library says."""
    sets = [
        (CRANE, {"payload.mass": 26.0}, "buckle"),
        (HANGING, {"loads.gravity_z": 200.0}, "buckle"),
        (HANGING, {"link1.joint_angle": 0.3}, "link1.joint_stiffness = 0: nothing holds the arm"),
        (TWO, {"link2.joint_stiffness": 0.0}, "link2.joint_stiffness = 0: nothing holds the arm"),
        (TWO, {"loads.gravity_z": 1e308}, "not finite"),
    ]
    cases = [case(arm, set=[[k, number(x)] for k, x in values.items()]) for arm, values, _ in sets]
    for (arm, values, part), got in zip(
        sets, solved_in_page(tmp_path, cases, True, True), strict=True
    ):
        assert part in got["error"]
        other = jm.set_parameters(arm, values)
        if "buckle" in part:
            assert not np.any(
                np.isfinite(np.asarray(jm.natural_frequencies(other, 2, throw=False).omega))
            )
        else:
            with pytest.raises(ArmError, match=r"nothing holds|not finite"):
                jm.natural_frequencies(other, 2)


@needs_node
def test_derivatives_and_answers(tmp_path):
    """The forces at rest change with the values; answers at tips, along links, about them and of motors."""
    compare_slopes(tmp_path, [TWO], ["timoshenko"], True, under_loads=True)
    tip, inside, motor = (1, "z"), (0, "z", 0.35), (1, "torque")
    pairs = [(tip, tip), (inside, inside), (motor, motor), (tip, inside), (motor, (0, "link_ry"))]
    omega = [40.0, 300.0, 900.0]
    ports = [[omega, *(port_of(*port) for port in pair)] for pair in pairs]
    (got,) = solved_in_page(tmp_path, [case(TWO, ports=ports, modes=1)], True, True)
    for pair, mine in zip(pairs, got["answers"], strict=True):
        truth = jm.frequency_response(TWO, np.array(omega), *(name_of(*port) for port in pair))
        np.testing.assert_allclose(mine, truth.magnitude.ravel(), rtol=1e-8, atol=0.0)


def test_a_page_finds_the_equilibrium_of_every_posture(shown, tmp_path):
    values = {"link2.joint_angle": 1.1, "loads.gravity_z": -150.0}
    browser = shown(arm_page_html(TWO), "&".join(f"{k}={x}" for k, x in values.items()) + "&mode=2")
    other = jm.set_parameters(TWO, values)
    found, certified = hertz_and_certified(browser)
    np.testing.assert_allclose(found, found_by_the_library(other)[0], rtol=1e-9, atol=0.0)
    assert all(certified)
    browser.until("document.getElementById('bars').rows.length === 12")
    path = tmp_path / "arm.toml"
    path.write_text(file_of(browser, "toml"), encoding="utf-8")
    assert jm.read_arm(path) == other
    first = browser.text("#rows tr td")
    browser.run(
        "const field = document.querySelector('[aria-label=\"loads.gravity_x in m/s^2\"]');"
        "field.value = -1e6; field.dispatchEvent(new Event('change'));"
    )
    browser.until("document.getElementById('error').textContent.includes('buckle')")
    assert browser.text("#rows tr td") == first


def test_a_sweep_is_solved_between_its_cells(shown):
    angle = sweeps.linspace("link2.joint_angle", 0.0, 1.0, 3)
    ds = ordered(sweeps.run(sweeps.Sweep(TWO, (angle,), num_modes=3)))
    browser = shown(page_html(ds), "between=0.7")
    found, sure = between(browser)
    truth = jm.natural_frequencies(jm.set_parameters(TWO, {"link2.joint_angle": 0.7}), 3)
    np.testing.assert_allclose(found, truth.frequencies_hz, rtol=1e-8, atol=0.0)
    assert sure


def test_the_file_is_small():
    assert sum(len(part.encode()) for part in arm_code(True, True)) <= 165_000
    assert len(arm_page_html(SIX.replace(loads=HEAVY)).encode()) <= 400_000
