"""Are sensitivities of responses and of damped modes of arms in space the derivatives of the field equations?"""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import jaxmodal as jm
from tests.response.arms import bent, with_damping
from tests.response.held_arms import held
from tests.spatial import exact_frequencies
from tests.spatial.cases import standing_arm, tube
from tests.spatial.exact_frequencies import receptance

SIX = [f"tip.{x}" for x in ("x", "y", "z", "rx", "ry", "rz")]
#: sixth order: nine digits of what changes by a few per cent
CENTRAL = dict(zip((-3, -2, -1, 1, 2, 3), (-1 / 60, 0.15, -0.75, 0.75, -0.15, 1 / 60), strict=True))
KINDS = (
    *("link1.length", "link1.section.depth", "link2.joint_angle", "link2.joint_axis.y"),
    *("link2.joint_spring2.direction.y", "link2.joint_spring2.damping", "link2.gear_ratio"),
    *("link1.loss_factor", "link3.section_roll", "link3.kelvin_voigt_time", "payload.centre.y"),
    *("link2.end_offset.z", "link1.joint_stiffness", "link2.hub.inertia.xx"),
    "base_stiffness.k24",
)


def damped_arm(**joint):
    """Every kind of part, on a base that gives way in all directions."""
    first, second, third = standing_arm().links
    springs = (second.joint_springs[0], second.joint_springs[1].replace(damping=3.0))
    second = second.replace(joint_springs=springs, joint_damping=2.0, **joint)
    first, third = first.replace(loss_factor=0.02), third.replace(kelvin_voigt_time=4e-6)
    return standing_arm().replace(links=(first, second, third))


def close(found, expected, response, value, error):
    """Derivatives (outputs, inputs, F), beside what the change of a parameter by itself does at most."""
    size = np.sqrt(np.abs(np.einsum("iif->if", response)))
    most = size[:, None] * size[None, :] / (abs(value) or 1.0)
    scale = most + np.abs(expected)
    np.testing.assert_array_less(np.abs(found - expected) / scale, error)


@pytest.mark.parametrize("names", [KINDS, pytest.param(None, marks=pytest.mark.slow, id="every")])
def test_compliances_of_the_tip_in_eighty_digits(names):
    """Among the first modes, where rounding of the response is some 1e-12 of its size."""
    arm = damped_arm()
    modes = np.asarray(jm.natural_frequencies(arm, 3).omega)
    omega = np.array([0.5 * (modes[1] + modes[2])])
    found = jm.response_sensitivities(arm, omega, SIX, SIX, addresses=names)
    response = np.asarray(found.response.values)
    for name, value, slopes in zip(
        found.addresses, found.values, np.moveaxis(found.derivative, -1, 0), strict=True
    ):
        if np.isinf(value):
            assert not slopes.any()
            continue
        step = mpf("1e-20")
        expected = np.empty_like(slopes)
        for k, w in enumerate(omega):
            with mpmath.workdps(exact_frequencies.DIGITS):
                high, low = (
                    receptance(arm, "timoshenko", w, {name: mpf(float(value)) + by})
                    for by in (step, -step)
                )
                expected[..., k] = np.array(((high - low) / (2 * step)).tolist(), complex)
        close(slopes, expected, response, value, 1e-10)


OUTPUTS = ["tip.link_y", "joint_2.torque", "link_1@0.4.link_rz", "payload.rx"]


@pytest.mark.parametrize(
    ("quantity", "inputs", "outputs", "stiffness"),
    [
        pytest.param("receptance", OUTPUTS[2:], OUTPUTS, np.inf, marks=pytest.mark.slow),
        ("transmissibility", ["base.link_y", "base.rz"], OUTPUTS, 4e5),
        pytest.param("dynamic_stiffness", OUTPUTS[:2], OUTPUTS[:2], 4e5, marks=pytest.mark.slow),
        pytest.param("accelerance", OUTPUTS, OUTPUTS, 0.0, marks=pytest.mark.slow),
    ],
)
def test_ports_and_quantities_beside_differences_of_sixth_order(
    quantity, inputs, outputs, stiffness
):
    """Stations, torques, axes of links, the base, and supports, rigid or free: to 1e-8 of what there is."""
    support = jm.Support("translation", (0.3, 1.0, 0.2), stiffness)
    arm = damped_arm()
    first = arm.links[0].replace(supports=(support,), end_offset=(0.02, 0.0, 0.01))
    arm = arm.replace(links=(first, arm.links[1], arm.links[2].replace(axial_force=900.0)))
    names = ["link1.joint_angle", "link1.length", "link2.joint_angle", "link2.joint_damping"]
    names += ["link1.end_offset.x", "link2.end_offset.z", "payload.centre.y", "link1.joint_axis.x"]
    names += ["link1.support1.direction.x", "link1.support1.stiffness", "link3.axial_force"]
    omega = np.array([25.0, 200.0])
    found = jm.response_sensitivities(
        arm, omega, inputs, outputs, addresses=names, quantity=quantity
    )
    assert found.response.ok
    scale = np.abs(found.response.values)

    def compare(slopes, there, step, name):
        expected = np.tensordot(list(CENTRAL.values()), there, 1) / step
        error = np.abs(slopes - expected) / (np.abs(expected) + 1e-3 * scale / step)
        assert error.max() < 1e-8, name

    for number, (name, value) in enumerate(zip(names, found.values, strict=True)):
        slopes = found.derivative[..., number]
        if np.isinf(value):
            assert not slopes.any()
            continue
        step = (
            2.0 if name.endswith(("support1.stiffness", "force")) else 1e-3 * max(abs(value), 0.1)
        )
        cells = {name: value + step * np.array(list(CENTRAL))}
        if value == 0.0 and name.endswith("stiffness"):  # forward, for none is below 0
            cells[name] = step * np.arange(7.0)
        asked = omega, inputs, outputs
        there = np.asarray(
            jm.frequency_response(arm, *asked, quantity=quantity, parameters=cells).values
        )
        if len(there) == 7:
            weights = [-147 / 60, 6.0, -7.5, 20 / 3, -3.75, 1.2, -1 / 6]
            there = np.tensordot(weights, there, 1) / CENTRAL[1]
            there = np.stack([0.0 * there] * 3 + [there] + [0.0 * there] * 2)
        compare(slopes, there, step, name)
    there = [
        jm.frequency_response(arm, omega * (1 + 1e-3 * k), inputs, outputs, quantity=quantity)
        for k in CENTRAL
    ]
    compare(found.by_frequency * omega, np.array([x.values for x in there]), 1e-3, "omega")


def test_a_mass_on_a_hinge_with_a_spring_or_without_in_closed_form():
    """The hinge turns by 1/(k + i w c - w^2 m l^2) under a unit torque; k and c may be 0, and the rotor nothing."""
    length, mass, omega = 0.5, 2.0, np.array([3.0, 11.0])
    names = [f"link1.{x}" for x in ("joint_stiffness", "joint_damping", "length", "rotor_inertia")]
    for stiffness, damping in ((40.0, 0.7), (0.0, 0.0), (0.0, 0.7)):
        link = jm.SpatialLink(
            length,
            rigid=True,
            joint_axis=(0.0, 0.6, 0.8),
            joint_stiffness=stiffness,
            joint_damping=damping,
            rotor_inertia=0.0,
            gear_ratio=1.0,
            motor="beyond_spring",
        )
        arm = jm.SpatialArm((link,), payload=jm.RigidBody(mass))
        found = jm.response_sensitivities(
            arm, omega, "joint_1.torque", "joint_1.torque", addresses=names
        )
        turn = 1.0 / (stiffness + 1j * omega * damping - omega**2 * mass * length**2)
        rates = [1.0 + 0j, 1j * omega, -2.0 * omega**2 * mass * length, -(omega**2) + 0j]
        expected = np.stack([-(turn**2) * rate for rate in rates], axis=-1)
        np.testing.assert_allclose(found.derivative[0, 0], expected, rtol=1e-12, atol=0.0)


def test_a_planar_arm_has_the_same_derivatives_in_space():
    """Whose own stand beside 40 digits: of responses, of damped modes, on rigid supports, too."""
    arm = with_damping(bent(joint_stiffness=2e4), 3)
    for planar in (arm, held()):
        spatial = jm.to_spatial(planar)
        names = [
            name
            for name in ("link1.length", "link2.joint_angle", "link1.loss_factor", "link2.length")
            if name in jm.list_addresses(planar) and name in jm.list_addresses(spatial)
        ]
        assert len(names) >= 2
        first = float(jm.natural_frequencies(planar, 1).omega[0])
        ports = (
            first * np.array([0.4, 1.3]),
            ["joint_2.x", "joint_2.y"],
            ["joint_2.y", "link_1@0.5.across"],
        )
        beside = ports[0], ports[1], ["joint_2.y", "link_1@0.5.link_y"]
        expected = jm.response_sensitivities(planar, *ports, addresses=names)
        found = jm.response_sensitivities(spatial, *beside, addresses=names)
        scale = np.max(np.abs(expected.derivative), axis=(0, 1, 2))
        np.testing.assert_array_less(np.abs(found.derivative - expected.derivative) / scale, 1e-10)
        modes = jm.damped_sensitivities(planar, 2, addresses=names)
        among = jm.damped_sensitivities(spatial, 5, addresses=names)
        for root, slopes in zip(modes.modes.roots, modes.derivative, strict=True):
            k = int(np.argmin(np.abs(among.modes.roots - root)))
            np.testing.assert_allclose(among.modes.roots[k], root, rtol=1e-11, atol=0.0)
            most = 1e-9 * np.max(np.abs(slopes))
            np.testing.assert_allclose(among.derivative[k], slopes, rtol=1e-9, atol=most)


def test_undamped_roots_have_the_derivatives_of_natural_frequencies():
    arm = standing_arm()
    damped, plain = jm.damped_sensitivities(arm, 3), jm.sensitivities(arm, 3)
    assert damped.addresses == plain.addresses
    scale = np.where(np.isfinite(damped.values) & (damped.values != 0.0), damped.values, 1.0)
    expected = np.asarray(plain.derivative) * scale
    error = np.abs(damped.derivative * scale - expected) / np.max(np.abs(expected), axis=1)[:, None]
    assert error.max() < 1e-10
    assert "link2.joint_axis.y" in str(damped)
    assert damped.to_xarray().of_damping_ratio.shape == damped.derivative.shape


def test_a_root_that_is_not_simple_has_no_derivative():
    """Every bending mode of a straight round tube is double."""
    found = jm.damped_sensitivities(
        jm.SpatialArm((tube(loss_factor=0.01),)), 2, addresses=["link1.length"]
    )
    assert np.isnan(found.derivative).all()
