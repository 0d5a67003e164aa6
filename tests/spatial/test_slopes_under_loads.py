"""Derivatives of responses and damped modes of arms in space under loads: does the equilibrium change with a value?"""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import jaxmodal as jm
from jaxmodal.identification import MeasuredResponse, fit_arm
from tests.spatial.loaded_arms import (
    arm_with_everything,
    column,
    damped,
    of_zero,
    planar_booms,
)

INTO = ["tip.x", "tip.ry"]
OUT = ["tip.z", "link_1@0.3.z", "payload.y", "tip.rx", "joint_1.relative_rotation"]
#: weights of differences of sixth order
CENTRAL = dict(zip((-3, -2, -1, 1, 2, 3), (-1 / 60, 0.15, -0.75, 0.75, -0.15, 1 / 60), strict=True))
NAMES = (
    *("loads.tip_moment_x", "loads.gravity_z", "loads.base_acceleration_x", "payload.mass"),
    *("link3.joint_angle", "link1.length", "link2.length", "link1.loss_factor"),
    *("link1.joint_damping", "link3.support1.direction.y", "link1.gear_ratio"),
)
OMEGA = np.array([5.0, 40.0, 120.0])
RIGID = jm.Support("translation", (0.0, 0.6, 0.8), np.inf)


@pytest.fixture(scope="module")
def arm():
    return damped(arm_with_everything())


def held(arm):
    third = arm.links[2]
    return arm.replace(links=(*arm.links[:2], third.replace(supports=(*third.supports, RIGID))))


def tip_in_closed_form(omega, values):
    """Deflection of a clamped Euler-Bernoulli column by a force across its tip, under a dead force along it."""
    length, modulus, density, force = (values[name] for name in values)
    area, moment = mpf("0.025") * mpf("0.01"), mpf("0.025") * mpf("0.01") ** 3 / 12
    rigidity, pressed = modulus * moment, -force
    root = mpmath.sqrt(pressed**2 + 4 * rigidity * density * area * mpf(float(omega)) ** 2)
    a, b = (mpmath.sqrt((root + sign * pressed) / (2 * rigidity)) for sign in (1, -1))
    s, c = mpmath.sin(a * length), mpmath.cos(a * length)
    sh, ch = mpmath.sinh(b * length), mpmath.cosh(b * length)
    # w = p (cos a x - cosh b x) + q (b sin a x - a sinh b x), whose value and slope are 0 at the clamp
    bent = [-a * a * c - b * b * ch, -a * a * b * s - a * b * b * sh]
    third = [a**3 * s - b**3 * sh, -(a**3) * b * c - a * b**3 * ch]
    slope = [-a * s - b * sh, a * b * c - a * b * ch]
    moved = [c - ch, b * s - a * sh]
    shear = [-rigidity * x - pressed * y for x, y in zip(third, slope, strict=True)]
    p, q = mpmath.lu_solve(mpmath.matrix([bent, shear]), mpmath.matrix([0, 1]))
    return p * moved[0] + q * moved[1]


def test_a_pressed_column_in_forty_digits():
    """By the dead force, which presses it, and by what else is in the closed form; nearly at rest and beyond."""
    omega = np.array([0.5, 30.0, 200.0])
    given = {"link1.length": 1.0, "link1.youngs_modulus": 7e10, "link1.density": 2700.0}
    given["loads.tip_force_z"] = -300.0
    pressed = column(jm.SpatialLoads(tip_force_z=-300.0))
    options = {"addresses": tuple(given), "theory": "euler_bernoulli"}
    found = jm.response_sensitivities(pressed, omega, "tip.x", "tip.x", **options)
    assert found.response.ok
    assert (found.status == jm.Status.resolved).all()
    with mpmath.workdps(40):
        for k, name in enumerate(given):
            for f, w in enumerate(omega):

                def at(x, name=name, w=w):
                    return tip_in_closed_form(w, {**{n: mpf(v) for n, v in given.items()}, name: x})

                value = mpf(given[name])
                expected = float(mpmath.diff(at, value, h=abs(value) * mpf("1e-18")))
                np.testing.assert_allclose(
                    found.derivative[0, 0, f, k], expected, rtol=1e-9, atol=0.0
                )
            np.testing.assert_allclose(
                complex(found.response.values[0, 0, 1]).real,
                float(tip_in_closed_form(omega[1], {n: mpf(v) for n, v in given.items()})),
                rtol=1e-11,
            )


@pytest.mark.slow
def test_a_fit_to_a_response_finds_what_presses():
    """The mass at the tip, and a force that pulls along a strip which bends sideways under both."""
    strip = jm.rectangle(depth=0.06, width=0.006)
    jib = jm.SpatialLink(1.2, 7e10, 2700.0, strip, poisson_ratio=0.33, loss_factor=0.02)
    upright = jib.replace(joint_frame=[jm.Rotation((1, 0, 0), np.pi / 2)])
    loads = jm.SpatialLoads(gravity_z=-9.81, tip_force_x=5.0)
    crane = jm.SpatialArm((upright,), jm.RigidBody(6.0), loads=loads)
    hertz, ports = np.linspace(0.3, 2.0, 20), ("tip.y", "tip.y")
    theory = {"theory": "rayleigh"}
    values = jm.frequency_response(crane, 2.0 * np.pi * hertz, *ports, **theory).values
    start = jm.set_parameters(crane, {"payload.mass": 6.5, "loads.tip_force_x": 2.0})
    found = fit_arm(
        start,
        MeasuredResponse(hertz, values, *ports),
        ["payload.mass", "loads.tip_force_x"],
        **theory,
    )
    np.testing.assert_allclose(found.values, [6.0, 5.0], rtol=1e-6, atol=0)


def test_no_derivatives_beyond_buckling():
    options = {"addresses": ["loads.tip_force_z"], "theory": "euler_bernoulli"}
    beyond = column(jm.SpatialLoads(tip_force_z=-1e5))
    found = jm.response_sensitivities(beyond, 3.0, "tip.x", "tip.x", **options)
    assert np.isnan(found.derivative).all()
    assert (found.status == jm.Status.unstable).all()
    with pytest.raises(jm.UncertifiedError, match="unstable"):
        jm.damped_sensitivities(beyond, 1, **options)


def test_forces_at_the_tip_as_in_the_plane():
    """They leave constant axial forces, for which the planar arm is exact; the forces turn with the posture."""
    planar = planar_booms().replace(loads=jm.Loads(tip_force_x=60.0, tip_force_y=-100.0))
    first = planar.links[0].replace(loss_factor=0.02, joint_stiffness=4e4, joint_damping=3.0)
    planar = planar.replace(links=(first, planar.links[1]))
    names = [f"link1.{x}" for x in ("length", "joint_angle", "youngs_modulus", "loss_factor")]
    names += ["link2.joint_angle", "link1.joint_damping", "payload.mass", "payload.centre_x"]
    names += ["loads.tip_force_x", "loads.tip_force_y"]
    own = jm.response_sensitivities(planar, OMEGA, "tip.x", ["tip.x", "tip.y"], addresses=names)
    damped_own = jm.damped_sensitivities(planar, 1, addresses=names)
    names = [name.replace("centre_x", "centre.x") for name in names]
    spatial = jm.to_spatial(planar)
    found = jm.response_sensitivities(spatial, OMEGA, "tip.x", ["tip.x", "tip.y"], addresses=names)
    size = np.abs(own.derivative).max(axis=(0, 1, 2))
    assert (size > 0.0).all()
    np.testing.assert_allclose(found.derivative / size, own.derivative / size, rtol=0, atol=1e-10)
    size = np.abs(own.by_frequency).max()
    np.testing.assert_allclose(found.by_frequency, own.by_frequency, rtol=0, atol=1e-10 * size)
    damped_found = jm.damped_sensitivities(spatial, 2, addresses=names)
    near = int(np.argmin(np.abs(damped_found.modes.roots - damped_own.modes.roots[0])))
    expected = damped_own.derivative[0]
    size = np.abs(expected)
    np.testing.assert_allclose(damped_found.derivative[near] / size, expected / size, rtol=1e-9)


def beside_differences(arm, names, inputs=INTO, outputs=OUT, quantity="receptance"):
    """Hold derivatives against differences of sixth order of the exact response."""
    asked = {"quantity": quantity}
    found = jm.response_sensitivities(arm, OMEGA, inputs, outputs, addresses=names, **asked)
    assert found.response.ok
    assert not np.isnan(found.derivative).any()
    size = np.abs(np.asarray(found.response.values))
    size = size + 1e-2 * size.max(axis=1, keepdims=True)

    def compare(slopes, there, step, name):
        expected = np.tensordot(list(CENTRAL.values()), np.array(there), 1) / step
        error = np.abs(slopes - expected) / (np.abs(expected) + 1e-2 * size / step)
        assert error.max() < 1e-9, name

    for k, (name, value) in enumerate(zip(found.addresses, found.values, strict=True)):
        if np.isinf(value):
            assert not found.derivative[..., k].any()
            continue
        if value == 0.0 and name.rpartition(".")[2] in ("stiffness", "mass"):
            continue  # none below 0
        step = 2e-3 * (abs(value) or 0.1)
        there = [
            jm.frequency_response(
                jm.set_parameters(arm, {name: value + by * step}), OMEGA, inputs, outputs, **asked
            ).values
            for by in CENTRAL
        ]
        compare(found.derivative[..., k], there, step, name)
    there = [
        jm.frequency_response(arm, OMEGA * (1.0 + 1e-3 * by), inputs, outputs, **asked).values
        for by in CENTRAL
    ]
    compare(found.by_frequency, there, 1e-3 * OMEGA, "omega")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("as it is", {}),
        ("viscous", {"names": (*NAMES, "link1.kelvin_voigt_time")}),
        ("held", {"names": (*NAMES, "link3.support2.direction.z")}),
        ("shaken", {"inputs": ["base.x", "base.ry"], "quantity": "transmissibility"}),
        ("stiff", {"inputs": OUT[:2], "outputs": OUT[:2], "quantity": "dynamic_stiffness"}),
    ],
)
def test_beside_differences_of_sixth_order(arm, kind, given):
    """Links, bars, joints, rotors, a base and supports, with all loads and dampers: to 1e-9 of what there is."""
    own = held(arm) if kind in ("held", "shaken") else arm
    if kind == "viscous":
        own = damped(arm_with_everything(), 1e-4)
    beside_differences(own, **{"names": NAMES, **given})


def test_loads_move_the_response(arm):
    """In the fast tests by one value that acts through the forces at rest alone."""
    beside_differences(arm, ("loads.gravity_z",))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["loose", "held"])
def test_loads_of_zero_have_the_derivatives_without(arm, kind):
    """By all values, of which the recursion without loads has other formulas."""
    zero, bare = of_zero(held(arm) if kind == "held" else arm)
    asked = OMEGA, INTO, OUT
    expected = jm.response_sensitivities(bare, *asked)
    names = expected.addresses
    found = jm.response_sensitivities(zero, *asked, addresses=names)
    for k, name in enumerate(names):
        own, other = (x.derivative[..., k] for x in (found, expected))
        size = np.abs(other).max(axis=1, keepdims=True) + 1e-12 * np.abs(other).max()
        np.testing.assert_allclose(
            own / (size + (size == 0.0)), other / (size + (size == 0.0)), rtol=0, atol=2e-9,
            err_msg=name,
        )  # fmt: skip


@pytest.mark.slow
def test_damped_modes_beside_differences(arm):
    found = jm.damped_sensitivities(held(arm), 2, addresses=NAMES)
    assert (found.status == jm.Status.certified).all()
    for k, (name, value) in enumerate(zip(found.addresses, found.values, strict=True)):
        step = 3e-3 * (abs(value) or 0.1)
        there = [
            jm.damped_modes(jm.set_parameters(held(arm), {name: value + by * step}), 2).roots
            for by in CENTRAL
        ]
        expected = np.tensordot(list(CENTRAL.values()), np.array(there), 1) / step
        scale = np.abs(expected) + 1e-3 * np.abs(found.modes.roots) / step
        assert (np.abs(found.derivative[:, k] - expected) / scale).max() < 1e-9, name


def test_loads_change_frequencies_of_damped_modes(arm):
    """Derivatives of slightly damped modes by a load are those of the frequencies, which other formulas give."""
    given = ["loads.tip_moment_x", "loads.gravity_z", "payload.mass"]
    bare = arm_with_everything()
    own = jm.sensitivities(bare, 1, addresses=given).derivative[0]
    first = bare.links[0].replace(joint_damping=1e-9)
    found = jm.damped_sensitivities(
        bare.replace(links=(first, *bare.links[1:])), 1, addresses=given
    )
    np.testing.assert_allclose(found.derivative[0].real, own, rtol=1e-8, atol=0.0)
