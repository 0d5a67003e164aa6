"""Do small motions have the frequencies of the exact engine as modes are added, from above, and those of closed forms?

What compiles: the derivatives of the equations, once for each number of modes.
"""

import dataclasses
import functools

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import (
    EndBody,
    flexible_arm,
    inertia_matrix,
    linearise,
    link_shapes,
    static_state,
)
from jaxmodal.dynamics.model import FlexibleArm
from tests.support.dynamics_cases import CASES, VARIANTS, arm_of, model_of, uniform_link


def frequencies(model: FlexibleArm, angles, locked=True):
    """Of the undeformed arm without gravity, rad/s: the inertia matrix and K alone."""
    q = np.zeros(model.num_coordinates)
    q[: model.num_links] = angles
    kept = slice(model.num_links if locked else 0, None)
    mass, stiffness = np.asarray(inertia_matrix(model, q))[kept, kept], model.stiffness[kept, kept]
    factor = np.linalg.cholesky(mass)
    half = np.linalg.solve(factor, stiffness)
    squares = np.linalg.eigvalsh(np.linalg.solve(factor, half.T))
    return np.sqrt(np.maximum(squares, 0.0))[0 if locked else model.num_links :]


@pytest.mark.parametrize("name", ["P1", "P3", "P5", "P6", "P7", "P8"])
def test_frequencies_of_the_cases(name):
    """Model and exact beams as the file has them, 12 digits; the exact ones by jaxmodal's own engine."""
    case, model = CASES[name], model_of(name)
    for entry in case["frequencies"]:
        angles = entry["joint_angles_rad"]
        for kind in ("locked", "free"):
            expected = entry[f"{kind}_joints_model_rad_per_s"]
            found = frequencies(model, angles, kind == "locked")[: len(expected)]
            np.testing.assert_allclose(found, expected, rtol=1e-9)
        arm = arm_of(case)
        if name == "P5":  # a segment has no joint of its own
            continue
        links = [
            link.replace(rotor_inertia=None, gear_ratio=None, joint_angle=angle)
            for link, angle in zip(arm.links, angles, strict=False)
        ]
        if name not in ("P6",):
            exact = jm.natural_frequencies(
                jm.Arm(tuple(links), arm.payload), 4, theory="bending_only"
            )
            expected = entry["locked_joints_exact_beams_rad_per_s"]
            np.testing.assert_allclose(exact.omega, expected, rtol=1e-10)


POSTURES = [(0.0,), (np.pi / 2,), (0.7,), (-1.9,), (2.6,)]


def arm_of_links(links):
    """The arm of P1, with a third link or without."""
    arm = arm_of(CASES["P1"])
    return arm if links == 2 else arm.replace(links=(*arm.links, arm.links[1].replace(length=0.4)))


@functools.cache
def exact_frequencies(posture, locked):
    """The first four of inextensible beams, those of free joints left out, rad/s."""
    posed = arm_of_links(len(posture) + 1).with_posture(posture)
    free = {} if locked else {"joint_stiffness": 0.0}
    exact_arm = posed.replace(links=tuple(link.replace(**free) for link in posed.links))
    skip = 0 if locked else posed.num_links
    return jm.natural_frequencies(exact_arm, 4 + skip, theory="bending_only").omega[skip:]


def excess(posture, modes, family, locked=True):
    """Relative excess of the first four frequencies over the exact ones of inextensible beams."""
    posed = arm_of_links(len(posture) + 1).with_posture(posture)
    found = frequencies(flexible_arm(posed, modes, shapes=family), [0.0, *posture], locked)[:4]
    return np.asarray(found / exact_frequencies(posture, locked) - 1.0)


@pytest.mark.parametrize("links", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("locked", [True, False], ids=["locked", "free"])
@pytest.mark.parametrize("family", ["clamped_mass", "polynomial"])
def test_convergence_to_the_exact_engine_from_above(links, locked, family):
    """At five postures; never below beyond rounding, and at the rate of each family."""
    for posture in POSTURES:
        angles = posture if links == 2 else (*posture, 0.4 - posture[0])
        few, many = (excess(angles, modes, family, locked) for modes in (4, 8))
        assert min(few.min(), many.min()) > -2e-9
        # twice the modes: m^-5 or better leaves a 32nd, of polynomials far less
        assert many.max() < few.max() / (16.0 if family == "clamped_mass" else 1e3) + 2e-9
        assert np.all(many <= few + 2e-9)


@pytest.mark.parametrize(
    ("family", "posture", "bounds"),
    [
        ("clamped_mass", 0.0, {2: (4e-5, 1e-4), 4: (4e-7, 1e-6), 8: (5e-9, 2e-8)}),
        ("clamped_mass", np.pi / 2, {2: (1e-6, 4e-6), 4: (3e-9, 1e-8)}),
        ("clamped_free", 0.0, {2: (0.25, 0.35), 4: (0.15, 0.22), 8: (0.07, 0.11)}),
        ("polynomial", 0.0, {2: (2e-2, 6e-2), 4: (1e-4, 4e-4)}),
    ],
)
def test_rates_of_convergence_by_family(family, posture, bounds):
    """The largest excess of the first four; the brackets are those of an independent implementation, +-50 %."""
    for modes, (low, high) in bounds.items():
        assert low < excess((posture,), modes, family).max() < high


@pytest.mark.parametrize("links", [2, 3])
def test_exact_modes_of_the_locked_arm_as_shapes(links):
    """m shapes on every link: the first m frequencies of that posture to rounding, from above in another."""
    arm, angles = arm_of_links(links), (0.7, -0.3)[: links - 1]
    for modes, elsewhere in ((2, 1e-4), (4, 1e-6)):
        model = flexible_arm(arm.with_posture(angles), modes, shapes="locked_arm")
        for turn, most in ((0.0, 1e-11), (0.5, elsewhere)):
            posture = np.array(angles) + turn
            exact = jm.natural_frequencies(
                arm.with_posture(posture), modes, theory="bending_only"
            ).omega
            over = frequencies(model, [0.0, *posture])[:modes] / exact - 1.0
            assert over.min() > -1e-11
            assert over.max() < most


def test_exact_modes_that_are_no_shapes():
    """Segments have kinks; a link without mass bends as moment and shear at its end make it, in two ways."""
    arm = arm_of(CASES["P1"])
    with pytest.raises(jm.ArmError, match="consists of segments"):
        link_shapes(jm.attach_body(arm, 2, 0.2, 0.1), 2, "locked_arm")
    light = arm.replace(links=(arm.links[0].replace(density=1e-6), arm.links[1]))
    with pytest.raises(jm.ArmError, match="link 1 bends as in the modes before"):
        link_shapes(light, 3, "locked_arm")


@pytest.mark.parametrize(
    ("hub", "tip", "roots"),
    [
        (0.0, 0.0, (3.926602312, 7.068582746)),
        (1.0, 0.0, (2.010003322, 4.703794262)),
        (1.0, 1.0, (1.535805165, 4.046124051)),
    ],
)
def test_a_slewing_hub_with_a_beam(hub, tip, roots):
    """Hub inertia over rho l^3 and tip mass over rho l: roots of the classical equations, ten digits."""
    length, bending, line_mass = 1.3, 7.0, 0.6
    beam = uniform_link(
        length,
        bending,
        line_mass,
        hub_inertia=hub * line_mass * length**3,
        tip_mass=tip * line_mass * length,
    )
    model = flexible_arm(jm.Arm((beam,)), 12, shapes="polynomial")
    found = frequencies(model, [0.0], locked=False)[:2]
    waves = np.sqrt(found * np.sqrt(line_mass * length**4 / bending))
    np.testing.assert_allclose(waves, roots, rtol=3e-10)


def test_static_state_and_frequencies_about_it():
    """P8 under gravity, joints locked: sag and the frequencies about the sagging state."""
    entry = CASES["P8"]["frequencies"][0]
    model = model_of("P8").posed("full", "linear", False)
    state = static_state(model, entry["joint_angles_rad"])
    expected = entry["static_modal_tip_deflections_with_gravity_and_locked_joints_m"]
    np.testing.assert_allclose(state[2:], np.ravel(expected), rtol=1e-9, atol=1e-14)
    key = "locked_joints_model_about_that_static_state_rad_per_s"
    found = linearise(model, state, joints="locked").natural_frequencies()
    np.testing.assert_allclose(found, entry[key], rtol=1e-9)


def test_gravity_lowers_a_sagging_arm_with_foreshortening():
    """Table 2 arm: 12.550 straight; geometrically exact about the sagging state 12.270, 38.550; with foreshortening
    12.181, 38.479 for two modes, as an independent implementation has it."""
    model = model_of("P8").posed("full", "rotation", True)
    state = static_state(model, CASES["P8"]["frequencies"][0]["joint_angles_rad"])
    found = linearise(model, state, joints="locked").natural_frequencies()[:2]
    np.testing.assert_allclose(found, [12.181, 38.479], rtol=0.0, atol=6e-4)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(0.6, 0.46515), (2.0, 0.48325), (3.0, 0.50550), (8.0, 0.65666), (10.0, 0.71698)],
)
def test_first_frequency_of_a_spinning_beam(rate, expected):
    """In the plane, with N = rho A Omega^2 (l^2 - x^2)/2; five digits."""
    section = jm.raw_section(area=7.2968e-5, second_moment=8.2189e-9)
    rates = [rate] + [0.0] * 12
    arm = jm.Arm((jm.Link(8.0, 6.8952e10, 2766.7, section),))
    model = flexible_arm(arm, 12, shapes="polynomial")
    spun = linearise(model, None, rates, joints="locked")
    np.testing.assert_allclose(
        spun.natural_frequencies()[0] / (2.0 * np.pi), expected, rtol=0, atol=6e-6
    )
    plain = linearise(model.posed(foreshortening=False), None, rates, joints="locked")
    if rate < 2.9:  # omega_0^2 - Omega^2, stable below 2.91074 rad/s
        square = plain.natural_frequencies()[0] ** 2
        np.testing.assert_allclose(square, 2.91074**2 - rate**2, rtol=1e-4)
    else:
        with pytest.raises(jm.ArmError, match="not stable"):
            plain.natural_frequencies()


def test_an_elastic_joint_with_its_motor_locked_is_the_engines_spring():
    """The rotor then belongs to the link that carries it; joints between the rotor and the link."""
    spring, rotor = 300.0, {"rotor_inertia": 1e-3, "gear_ratio": 30.0, "motor": "held"}
    links = (
        uniform_link(0.6, 80.0, 0.9, joint_stiffness=200.0, **rotor),
        uniform_link(
            0.5, 50.0, 0.7, joint_stiffness=spring, hub_mass=0.3, hub_inertia=0.01, **rotor
        ),
    )
    model = flexible_arm(jm.Arm(links, jm.Payload(0.4, 0.002)), 8, shapes="polynomial")
    q = np.zeros(model.num_coordinates)
    q[1] = q[-1] = 0.8
    found = linearise(model, q, joints="locked").natural_frequencies()[:4]
    bare = [link.replace(rotor_inertia=None, gear_ratio=None) for link in links]
    engine = jm.Arm(
        (bare[0], bare[1].replace(stator_inertia=1e-3, joint_angle=0.8)), jm.Payload(0.4, 0.002)
    )
    exact = jm.natural_frequencies(engine, 4, theory="bending_only").omega
    np.testing.assert_allclose(found, exact, rtol=1e-7)


def test_state_space_and_its_names():
    model = model_of("P8").posed(
        *VARIANTS["full_linear"]
    )  # its program is that of the static state
    damping = 1e-3 * np.asarray(model.stiffness)
    model = dataclasses.replace(model, damping=damping, gravity=np.zeros(2))
    system = linearise(model, np.zeros(6))
    assert system.names[:3] == ("theta1", "theta2", "link1.mode1")
    space = system.state_space()
    poles = np.linalg.eigvals(space["A"].values)
    omega = frequencies(model, np.zeros(2), locked=False)
    # roots of s^2 + 1e-3 omega^2 s + omega^2: no gravity, about the straight state
    damped = -0.5e-3 * omega**2
    expected = damped + np.emath.sqrt(damped**2 - omega**2)
    found = poles[np.argmin(np.abs(poles - expected[:, None]), axis=1)]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=0)
    assert space["B"].sizes == {"state": 12, "input": 2}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: linearise(m, np.zeros(3)), "must be 6 finite numbers"),
        (lambda m: linearise(m, np.zeros(6), joints="braked"), "must be one of 'free', 'locked'"),
        (lambda m: static_state(m, np.zeros(3)), "must be 2 finite numbers"),
    ],
)
def test_arguments_that_are_none(call, words):
    with pytest.raises(jm.ArmError, match=words):
        call(model_of("P1"))


def test_given_bodies_replace_those_of_the_arm():
    bodies = [EndBody(1.0, 0.1, 0.0), EndBody()]
    shapes = link_shapes(arm_of(CASES["P1"]), 2, bodies=bodies)
    ratios = []
    for each in shapes:
        value, _, curvature = each.evaluate(np.array([0.0, 1.0]))
        ratios.append(curvature[0, 0] / value[1, 0])
    # of a cantilever that carries nothing the square of its first wave number; a body at the end bends it otherwise
    np.testing.assert_allclose(ratios[1], 1.8751040687119611**2, rtol=1e-10, atol=0)
    assert abs(ratios[0] / ratios[1] - 1.0) > 0.05
    np.testing.assert_allclose([*shapes[0].modal_mass, *shapes[1].modal_mass], 1.0, rtol=1e-12)
