"""Ports that rigid supports hold, directly or through rigid parts: which are at rest, and which still move."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.statics.beam_arrays import SUPPORTS
from tests.response.held_arms import CLAMPED, PINNED
from tests.support.real_arms import steel
from tests.support.supported_arms import TIPS, supported_two


def on_two_rollers(**changes):
    """Three links on a roller under the first and the last, each free along and in rotation."""
    roller = {
        "support_y_stiffness": np.inf,
        "support_x_stiffness": 0.0,
        "support_torsional_stiffness": 0.0,
    }
    link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.03, 0.85), poisson_ratio=0.3)
    link = link.replace(joint_angle=0.3, loss_factor=0.05)
    return jm.Arm(
        (link.replace(**roller), link, link.replace(**roller, **changes)), jm.Payload(1.0)
    )


def test_what_is_rigid_with_a_held_tip_stays_at_rest():
    omega = [7.0, 20.0, 55.0]
    names = ["tip.y", "payload.y", "joint_2.y", "link_1@1.y", "link_2@0.y", "link_3@1.y"]
    arm = on_two_rollers()
    for source in ("tip_2.x", "base.x"):
        quantity = "transmissibility" if source == "base.x" else "receptance"
        found = jm.frequency_response(arm, omega, source, names, quantity=quantity)
        assert found.ok
        assert not np.any(found.values)
    assert not np.any(jm.frequency_response(arm, omega, "joint_2.y", "tip_2.x").values)
    many = jm.frequency_response(
        arm, omega, "tip_2.x", names, parameters={"link2.length": [0.9, 1.1]}
    )
    assert many.ok
    assert not np.any(many.values)
    assert jm.response_peaks(arm, 5.0, 60.0, "tip_2.x", "payload.y").omega.size == 0


def test_a_link_turns_on_its_spring_at_a_clamped_tip():
    """As it does alone on the ground."""
    spring = {"joint_stiffness": 3e3, "joint_angle": 0.7}
    arm = jm.Arm((steel(**CLAMPED), steel(**spring)))
    found = jm.frequency_response(arm, [40.0, 500.0], "tip.y", "link_2@0.rotation").values
    alone = jm.frequency_response(
        jm.Arm((steel(**spring),)), [40.0, 500.0], "tip.y", "link_1@0.rotation"
    )
    np.testing.assert_allclose(found, alone.values, rtol=1e-10, atol=0.0)


def test_a_base_that_one_of_its_springs_holds():
    """Beside a rigid support: along the rigid direction the base is at rest, along the other one it moves."""
    rigid_x = [[np.inf, 0.0, 0.0], [0.0, 3e5, 0.0], [0.0, 0.0, 2e4]]
    arm = jm.Arm((steel(joint_angle=0.4, **PINNED),), base_stiffness=rigid_x)
    found = jm.frequency_response(
        arm, [40.0, 500.0], "link_1@0.5.y", ["joint_1.x", "joint_1.y"]
    ).values
    np.testing.assert_array_equal(found[0], 0.0)
    assert np.all(np.abs(found[1]) > 1e-9)


def test_what_turns_about_a_held_tip_moves():
    """At distance d from the axis along the last link, in small rotations: d cos(angle) times the rotation."""
    omega, angle = [7.0, 20.0, 55.0], 0.9
    payload = jm.Payload(1.0, inertia=0.1, centre_x=0.2)
    arm = on_two_rollers().replace(payload=payload)
    moved = jm.frequency_response(arm, omega, "tip_2.x", ["payload.y", "tip.rotation"])
    assert moved.ok
    lever = 0.2 * np.cos(angle) * moved.values[1]
    np.testing.assert_allclose(moved.values[0], lever, rtol=1e-9)
    arm = on_two_rollers(end_offset_x=-0.1)
    moved = jm.frequency_response(arm, omega, "tip_2.x", ["link_3@1.y", "tip.rotation"])
    assert moved.ok
    np.testing.assert_allclose(moved.values[0], 0.1 * np.cos(angle) * moved.values[1], rtol=1e-9)


@pytest.mark.parametrize("port", ["tip_3.y", "payload.y", "joint_2.y", "joint_1.y"])
@pytest.mark.filterwarnings("error")
def test_no_displacement_of_a_held_port(port):
    for quantity in ("dynamic_stiffness", "transmissibility"):
        names = [port, "tip_2.x"]
        with pytest.raises(jm.ArmError, match=f"'{port}' is held at rest"):
            jm.frequency_response(on_two_rollers(), 7.0, names, names, quantity=quantity)


def test_links_rigid_along_their_axes_and_rigid_supports():
    with pytest.raises(jm.ArmError, match=r"link1\.support_y_stiffness = inf: .*bending_only"):
        jm.frequency_response(on_two_rollers(), 7.0, "tip.x", "tip.x", theory="bending_only")


def test_stiffness_between_ports_on_both_sides_of_a_clamped_tip():
    """Neither side knows of the other: the entry is rounding, and no resonance."""
    arm = on_two_rollers()
    clamped = arm.links[1].replace(**dict.fromkeys(SUPPORTS, np.inf))
    arm = arm.replace(links=(arm.links[0], clamped, *arm.links[2:]))
    names = ["tip.rotation", "link_1@0.2.rotation"]
    found = jm.frequency_response(arm, [37.0, 420.0], names, names, quantity="dynamic_stiffness")
    assert found.ok
    size = found.magnitude
    assert (np.maximum(size[0, 1], size[1, 0]) < 1e-11 * np.sqrt(size[0, 0] * size[1, 1])).all()


@pytest.mark.parametrize("kind", ["springs", "rigid"])
def test_what_rigid_supports_hold_gives_nothing_at_rest(kind):
    """Exactly 0, along a link as well where the support is askew to it; a spring leaves what it gives."""
    arm = supported_two(**TIPS[kind])
    for own, turn in ((arm, "rotation"), (jm.to_spatial(arm), "rz")):
        ports = ["tip.y", "tip.x", f"tip.{turn}", "tip_1.y"]
        found = jm.static_compliance(own, ports, ports).values
        assert np.any(found[0]) == (kind == "springs")
        np.testing.assert_array_equal(found[0], found[:, 0])
        assert np.all(np.diag(found)[1:] > 0.0)


@pytest.mark.parametrize("diameter", [0.02, 0.002])
def test_supports_askew_hold_a_port_along_a_link_as_well(diameter):
    """Exactly: what bends by 2e-4 m/N, if thin by 2 m/N, leaves rounding beside 3e-8 or 3e-6 m/N along the rod."""
    rod = jm.SpatialLink(0.7, 7e10, 2700.0, jm.circle(diameter, 0.9), poisson_ratio=0.3)
    triad = ((0.6, 0.8, 0.0), (-0.48, 0.36, 0.8), (0.64, -0.48, 0.6))
    held = rod.replace(supports=tuple(jm.Support("translation", d, np.inf) for d in triad))
    arm = jm.SpatialArm((held, rod.replace(joint_angle=0.7)))
    ports = ["tip_1.x", "tip_1.z", "tip_1.rz", "tip_2.y"]
    found = jm.frequency_response(arm, [30.0, 411.0], ports, ports).values
    assert not np.any(found[:2])
    assert not np.any(found[:, :2])
    assert np.all(found[2:, 2:])
