"""Responses of arms in space under loads beside planar arms, finite elements, closed forms and arms without loads."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial.loaded_arms import (
    arm_with_everything,
    column,
    damped,
    of_zero,
    planar_booms,
    rigidities,
)
from tests.spatial.prestressed_elements import loaded_pair

SIX = ["tip.x", "tip.y", "tip.z", "tip.rx", "tip.ry", "tip.rz"]
INTO = ["tip.x", "tip.ry", "link_1@0.3.z", "joint_1.rz"]
OUT = ["tip.z", "link_1@0.3.z", "payload.y", "tip.rx", "joint_1.relative_rotation"]
SLENDER = {"theory": "bending_only"}


@pytest.fixture(scope="module")
def arm():
    return arm_with_everything()


def test_forces_at_the_tip_as_in_the_plane():
    """They leave constant axial forces, for which the planar arm is exact."""
    planar = planar_booms().replace(loads=jm.Loads(tip_force_x=60.0, tip_force_y=-100.0))
    links = (planar.links[0].replace(loss_factor=0.02, joint_stiffness=4e4), planar.links[1])
    planar = planar.replace(links=links)
    arms, ports = (planar, jm.to_spatial(planar)), ["tip.x", "tip.y", "payload.x"]
    omega = np.array([4.0, 40.0, 150.0])
    own, found = (jm.frequency_response(x, omega, ports, ports).values for x in arms)
    size = np.abs(own).max(axis=(0, 1))
    np.testing.assert_allclose(found / size, own / size, rtol=0, atol=1e-11)
    moved = {"quantity": "transmissibility"}
    for base in (("base.x", "base.x"), ("base.rotation", "base.rz")):
        own, found = (
            jm.frequency_response(x, omega, at, ports, **moved).values
            for x, at in zip(arms, base, strict=True)
        )
        np.testing.assert_allclose(found, own, rtol=0, atol=1e-11 * np.abs(own).max())
    own, found = (jm.static_compliance(x, ports, ports).values for x in arms)
    np.testing.assert_allclose(found, own, rtol=0, atol=1e-12 * np.abs(own).max())
    own, found = (jm.damped_modes(x, n).roots for x, n in zip(arms, (1, 2), strict=True))
    np.testing.assert_allclose(np.abs(found / own[0] - 1.0).min(), 0.0, rtol=0, atol=1e-11)


def test_all_loads_beside_finite_elements():
    """Two strips with a spring between them, under weight, and a force and a moment at the tip."""
    arm, elements = loaded_pair(loss_factor=0.02)
    omega, tip = np.array([3.0, 30.0, 90.0, 200.0]), elements.motion(1, 1.0)
    found = jm.frequency_response(arm, omega, SIX, SIX, **SLENDER).values
    bare = jm.frequency_response(arm.replace(loads=None), omega, SIX, SIX, **SLENDER).values
    for k, w in enumerate(omega):
        expected = elements.receptance(tip, w, 1.0 + 0.02j)
        size = np.abs(expected).max()
        # rounding of the elements
        np.testing.assert_allclose(found[..., k] / size, expected / size, rtol=0, atol=3e-9)
        assert np.abs(found[..., k] - bare[..., k]).max() > 1e-3 * size
    still = jm.static_compliance(arm, SIX, SIX, **SLENDER).values
    expected = elements.receptance(tip, 0.0)
    np.testing.assert_allclose(still, expected, rtol=0, atol=3e-9 * np.abs(expected).max())


@pytest.mark.slow
def test_damped_modes_beside_finite_elements():
    arm, elements = loaded_pair(loss_factor=0.05)
    expected = elements.roots(3, 1.0 + 0.05j)
    found = jm.damped_modes(arm, 3, **SLENDER)
    assert bool(np.all(found.ok))
    np.testing.assert_allclose(np.asarray(found.roots), expected, rtol=3e-8, atol=0)


def test_the_static_limit(arm):
    """Low frequencies tend to it as the square, and it is symmetric, as the response is."""
    still = jm.static_compliance(damped(arm), SIX, SIX).values
    np.testing.assert_allclose(still, still.T, rtol=0, atol=1e-12 * np.abs(still).max())
    gaps = []
    for w in (0.02, 0.2):
        found = jm.frequency_response(arm, w, SIX, SIX).values
        np.testing.assert_allclose(found, found.T, rtol=0, atol=1e-12 * np.abs(found).max())
        gaps.append(np.abs(found - still).max() / np.abs(still).max())
    assert gaps[0] < 1e-5
    np.testing.assert_allclose(gaps[1] / gaps[0], 100.0, rtol=1e-2, atol=0)


def test_a_column_gives_more_under_compression():
    """``(tan(k L)/k - L)/P`` with k^2 = P/EI, in its weak and its strong plane; under a moment at the tip others."""
    weak, strong = rigidities()
    force = 0.9 * math.pi**2 * weak / 4.0
    pressed = column(jm.SpatialLoads(tip_force_z=-force))
    options = {"theory": "euler_bernoulli"}
    found = np.diag(
        jm.static_compliance(pressed, ["tip.x", "tip.y"], ["tip.x", "tip.y"], **options).values
    )
    expected = []
    for bending in (weak, strong):
        k = math.sqrt(force / bending)
        expected.append((math.tan(k) / k - 1.0) / force)
    np.testing.assert_allclose(np.sort(found)[::-1], expected, rtol=1e-11, atol=0)
    beyond = column(jm.SpatialLoads(tip_force_z=-force / 0.8))
    with pytest.raises(jm.UncertifiedError, match="static compliance"):
        jm.static_compliance(beyond, "tip.x", "tip.x", **options)
    assert np.isnan(jm.frequency_response(beyond, 3.0, "tip.x", "tip.x", **options).values).all()


@pytest.mark.parametrize("case", ["plain", "damped", "viscous", "held"])
def test_loads_of_zero_change_nothing(arm, case):
    """Base, rotor, springs, dampers, rigid link and supports are in both recursions."""
    given = {"plain": arm, "damped": damped(arm), "viscous": damped(arm, 1e-4)}
    rigid = (jm.Support("translation", (0.0, 0.6, 0.8), math.inf), *arm.links[2].supports)
    given["held"] = arm.replace(links=(*arm.links[:2], arm.links[2].replace(supports=rigid)))
    omega = np.array([5.0, 40.0, 120.0, 300.0])
    found, expected = (
        jm.frequency_response(x, omega, INTO, OUT).values for x in of_zero(given[case])
    )
    # by output, as units differ; near resonances some digits are lost
    size = np.abs(expected).max(axis=1, keepdims=True)
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=1e-10)
    moved = jm.frequency_response(given[case], omega, INTO, OUT).values
    assert (np.abs(moved - expected) / size).max() > 1e-3
    base = {"inputs": "base.x", "outputs": OUT[:3], "quantity": "transmissibility"}
    found, expected = (jm.frequency_response(x, omega, **base).values for x in of_zero(given[case]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    found, expected = (jm.static_compliance(x, SIX, SIX).values for x in of_zero(given[case]))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14 * np.abs(expected).max())


def test_what_a_rigid_support_holds_stays(arm):
    rigid = (jm.Support("translation", (0.0, 0.6, 0.8), math.inf),)
    held = arm.replace(links=(*arm.links[:2], arm.links[2].replace(supports=rigid)))
    found = jm.frequency_response(held, np.array([7.0, 70.0]), "tip.x", SIX[:3]).values
    np.testing.assert_allclose(
        0.6 * found[1] + 0.8 * found[2], 0.0, rtol=0, atol=1e-12 * np.abs(found).max()
    )


def test_resonances_are_natural_frequencies(arm):
    """The determinant of the response's recursion, of a complex frequency, is that of the counts."""
    omega = float(jm.natural_frequencies(arm, 1).omega[0])
    near = [
        abs(complex(jm.frequency_response(arm, omega * (1.0 + x), "tip.z", "tip.z").values[0, 0]))
        for x in (1e-6, 1e-4)
    ]
    np.testing.assert_allclose(near[0] / near[1], 100.0, rtol=1e-2, atol=0)


def test_sums_over_modes(arm):
    """With the static residual about the equilibrium, a dozen modes stand for the exact response of low frequencies."""
    report = jm.truncation_error(
        jm.modal_superposition(damped(arm), "tip.z", "tip.x", 12), 1.0, 60.0
    )
    assert report.worst < 1e-2


@pytest.mark.parametrize("kind", ["loads", pytest.param("axial forces", marks=pytest.mark.slow)])
def test_sums_over_modes_of_a_shaken_arm(arm, kind):
    """Seen from the ground, an accelerated base moves the tip as the exact response does, on its elastic base."""
    free = arm.replace(links=tuple(x.replace(supports=()) for x in arm.links))
    if kind == "axial forces":
        first, bar, third = (x.replace(base_offset=None) for x in free.links)
        pressed = first.replace(axial_force=-3e3), bar, third.replace(axial_force=2e3)
        free = free.replace(loads=None, links=pressed)
    omega, base = np.array([5.0, 40.0, 150.0]), ["base.x", "base.z"]
    exact = jm.frequency_response(free, omega, base, SIX[:3], quantity="transmissibility").values
    bare = free.replace(
        loads=None, links=tuple(x if x.rigid else x.replace(axial_force=None) for x in free.links)
    )
    other = jm.frequency_response(bare, omega, base, SIX[:3], quantity="transmissibility").values
    assert np.abs(other - exact).max() > 1e-3 * np.abs(exact).max()
    summed = jm.modal_superposition(free, base, SIX[:3], 16, seen_from="ground")
    moved = -(omega**2) * summed.receptance(omega)
    error = np.abs(moved - exact).max(axis=(0, 1)) / np.abs(exact).max()
    assert (
        error < [1e-12, 1e-9, 1e-7]
    ).all()  # a residual of the modes left out is of the order of omega^4


def test_sums_over_modes_of_a_hinge_that_weight_does_not_turn():
    """A jib swings freely about the vertical, beside its vibrations, as the exact response does."""
    tube = jm.hollow_circle(0.05, 0.002, "cowper")
    jib = jm.SpatialLink(
        0.6, 7e10, 2700.0, tube, poisson_ratio=0.33, joint_axis=(0, 0, 1), joint_stiffness=0.0
    )
    weight = jm.SpatialLoads(gravity_z=-9.81)
    arm = jm.SpatialArm((jib,), jm.RigidBody(8.0), loads=weight)
    assert float(jm.natural_frequencies(arm, 1).omega[0]) == 0.0
    omega, into = np.array([5.0, 40.0]), ["tip.y", "tip.z", "joint_1.torque"]
    exact = jm.frequency_response(arm, omega, into, SIX).values
    summed = jm.modal_superposition(arm, into, SIX, 6).receptance(omega)
    np.testing.assert_allclose(summed, exact, rtol=0, atol=1e-7 * np.abs(exact).max())
    exact = jm.frequency_response(arm, omega, "base.y", SIX[:3], quantity="transmissibility").values
    shaken = jm.modal_superposition(arm, "base.y", SIX[:3], 6, seen_from="ground")
    moved = -(omega**2) * shaken.receptance(omega)
    np.testing.assert_allclose(moved, exact, rtol=0, atol=1e-10)


@pytest.mark.parametrize("weight", [-9.81, -0.1, 0.1])
def test_a_slide_that_weight_does_not_push_moves_the_whole_mass(weight):
    """Across its weight the arm slides as a body, which is not buckling, and vibrates as on a weak spring."""
    strip = jm.rectangle(0.03, 0.01, 0.85)
    first = jm.SpatialLink(1.0, 7e10, 2700.0, strip, poisson_ratio=0.33)
    second = first.replace(joint_axis=(0, 1, 0), joint_angle=0.5, joint_stiffness=500.0)

    def on(stiffness):
        slide = jm.Spring("translation", (0, 1, 0), stiffness)
        links = first.replace(joint_springs=(slide,)), second
        return jm.SpatialArm(links, jm.RigidBody(1.0), loads=jm.SpatialLoads(gravity_z=weight))

    found = np.asarray(jm.natural_frequencies(on(0.0), 3).omega)
    weak = np.asarray(jm.natural_frequencies(on(1e-3), 3).omega)
    mass = 1.0 + 2.0 * 2700.0 * 0.03 * 0.01
    assert found[0] == 0.0
    np.testing.assert_allclose(weak[0], np.sqrt(1e-3 / mass), rtol=1e-4, atol=0)
    np.testing.assert_allclose(found[1:], weak[1:], rtol=2e-5, atol=0)
    slow = np.array([1e-2])
    moved = jm.frequency_response(on(0.0), slow, "tip.y", "tip.y").values
    np.testing.assert_allclose(moved.ravel(), -1.0 / (mass * slow**2), rtol=1e-4, atol=0)


def test_batches_are_single_arms(arm):
    cells = {"loads.gravity_z": np.array([-9.81, 0.0]), "link1.joint_angle": np.array([-1.0, 0.2])}
    omega = np.array([10.0, 60.0])
    many = jm.frequency_response(arm, omega, "tip.z", SIX[:3], parameters=cells).values
    for k in range(2):
        own = jm.set_parameters(arm, {name: float(x[k]) for name, x in cells.items()})
        found = jm.frequency_response(own, omega, "tip.z", SIX[:3]).values
        np.testing.assert_allclose(many[k], found, rtol=1e-12, atol=0)


def test_messages(arm):
    with pytest.raises(jm.ArmError, match=r"omega = 1e\+09: link 3 vibrates in waves too short"):
        jm.frequency_response(arm, 1e9, "tip.z", "tip.z")
    free = arm.replace(links=tuple(x.replace(supports=()) for x in arm.links))
    with pytest.raises(jm.ArmError, match=r"'base\.rz': the arm is under an axial force or loads"):
        jm.modal_superposition(free, "base.rz", "tip.z", 2)
    with pytest.raises(jm.ArmError, match=r"link3\.support1\.stiffness, which does not move"):
        jm.modal_superposition(arm, "base.x", "tip.z", 2)
    rod = column(jm.SpatialLoads(tip_force_z=0.0))
    loose = jm.set_parameters(
        rod.replace(links=(rod.links[0].replace(joint_stiffness=1.0),)),
        {"link1.joint_stiffness": 0.0},
    )
    with pytest.raises(jm.ArmError, match=r"link1\.joint_stiffness = 0: nothing holds the arm"):
        jm.static_compliance(loose, "tip.x", "tip.x", theory="euler_bernoulli")
