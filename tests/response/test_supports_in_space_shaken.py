"""Arms in space on rigid supports, of which the base moves, or a port that the supports let move."""

import numpy as np
import pytest

import jaxmodal as jm
from tests.response.held_arms import OUTPUTS, held, held_in_40_digits, without_supports

WORDS = {"across": "link_y", "along": "link_x", "rotation": "rz"}


def in_space(names):
    parts = [name.rpartition(".") for name in names]
    return [f"{place}.{WORDS.get(word, word)}" for place, _, word in parts]


def test_a_base_that_moves_against_40_digits():
    """The supports stand still, so the arm bends; 1e-10 as for forces in the plane."""
    arm = jm.to_spatial(held())
    for omega in (30.0, 1700.0):
        found = jm.frequency_response(
            arm, omega, "base.x", in_space([*OUTPUTS, "tip_2.x"]), quantity="transmissibility"
        )
        assert found.ok
        truth = held_in_40_digits(without_supports(), omega, "base.x")
        np.testing.assert_allclose(found.values[:-1, 0], truth, rtol=1e-10, atol=0)
        assert found.values[-1, 0] == 0.0  # held
    moved = jm.harmonic_response(arm, 30.0, {"base.x": 2.0}, "tip.rz", base_motion="displacement")
    truth = held_in_40_digits(without_supports(), 30.0, "base.x", outputs=["tip.rotation"])[0]
    assert abs(moved.values[0, 0] - 2.0 * truth) < 1e-10 * abs(truth)


def test_its_derivatives_are_those_in_the_plane():
    """Which stand beside 40 digits (test_sensitivities)."""
    asked = {"addresses": ["link1.length", "link2.density"], "quantity": "transmissibility"}
    omega = [30.0, 300.0, 1700.0]
    plane = jm.response_sensitivities(held(), omega, "base.x", OUTPUTS, **asked)
    space = jm.response_sensitivities(
        jm.to_spatial(held()), omega, "base.x", in_space(OUTPUTS), **asked
    )
    for name in ("derivative", "by_frequency"):
        one, other = getattr(plane, name), getattr(space, name)
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-9 * np.abs(one).max())


def on_a_clamped_elbow():
    """Two links out of one plane; supports of the first tip, askew, part them."""
    rod = jm.SpatialLink(
        0.7, 7e10, 2700.0, jm.circle(0.02, 0.9), poisson_ratio=0.3, loss_factor=0.01
    )
    triad = ((0.6, 0.8, 0.0), (-0.48, 0.36, 0.8), (0.64, -0.48, 0.6))
    kinds = ("translation", "rotation")
    held = rod.replace(supports=tuple(jm.Support(k, d, np.inf) for k in kinds for d in triad))
    return jm.SpatialArm((held, rod.replace(joint_axis=(0, 1, 0), joint_angle=0.7)))


def test_beyond_a_clamped_tip_nothing_follows_the_base():
    """Exactly 0 with derivatives, and the link between both is that between two clamps."""
    arm, omega = on_a_clamped_elbow(), [30.0, 411.0]
    outputs = ["tip_2.x", "link_2@0.5.ry", "link_1@0.5.y"]
    found = jm.response_sensitivities(
        *(arm, omega, ["base.y", "base.link_rz"], outputs),
        addresses=["link1.length"],
        quantity="transmissibility",
    )
    assert not np.any(found.response.values[:2])
    assert not np.any(found.derivative[:2])
    planar = jm.Link(0.7, 7e10, 2700.0, jm.circle(0.02, 0.9), poisson_ratio=0.3, loss_factor=0.01)
    names = ("support_x_stiffness", "support_y_stiffness", "support_torsional_stiffness")
    clamped = jm.Arm((planar.replace(**dict.fromkeys(names, np.inf)),))
    alone = jm.response_sensitivities(
        *(clamped, omega, ["base.y", "base.rotation"], "link_1@0.5.y"),
        addresses=["link1.length"],
        quantity="transmissibility",
    )
    np.testing.assert_allclose(found.response.values[2:], alone.response.values, rtol=1e-9, atol=0)
    np.testing.assert_allclose(found.derivative[2:], alone.derivative, rtol=1e-8, atol=0)


def test_displacements_of_ports_that_supports_let_move():
    arm, names = jm.to_spatial(held()), in_space(OUTPUTS[:3])
    receptance = jm.frequency_response(arm, 300.0, names, names).values
    stiffness = jm.frequency_response(arm, 300.0, names, names, quantity="dynamic_stiffness")
    np.testing.assert_allclose(stiffness.values @ receptance, np.eye(3), rtol=0, atol=1e-11)
    ratio = jm.frequency_response(arm, 300.0, names, names, quantity="transmissibility").values
    np.testing.assert_allclose(ratio, receptance / np.diag(receptance), rtol=1e-12, atol=0)


@pytest.mark.parametrize("port", ["tip_2.x", "payload.y"])
@pytest.mark.parametrize("quantity", ["dynamic_stiffness", "transmissibility"])
def test_a_held_port_has_no_displacement(port, quantity):
    with pytest.raises(jm.ArmError, match=rf"'{port}' is held at rest by a rigid support"):
        jm.frequency_response(jm.to_spatial(held()), 7.0, port, port, quantity=quantity)
