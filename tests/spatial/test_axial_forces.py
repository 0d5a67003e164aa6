"""Axial forces of links in space: planar arms of both planes, closed forms, the critical load, and what is refused."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from tests.spatial.cases import bent_arm, tube

DEPTH, WIDTH = 0.03, 0.02
BAR = jm.SpatialLink(0.9, 7e10, 2700.0, jm.rectangle(DEPTH, WIDTH, 0.85), poisson_ratio=0.3)
VALUES = BAR.section_values
POLAR = VALUES.second_moment_y + VALUES.second_moment_z
#: relative; both sides round
LAST_DIGITS = 1e-13


def pressed(force, **changes):
    return jm.SpatialArm((BAR.replace(axial_force=force, **changes),))


def planar(depth, width, force, **changes):
    section = jm.rectangle(depth, width, "cowper")
    link = jm.Link(0.5, 7e10, 2700.0, section, poisson_ratio=0.33, axial_force=force, **changes)
    return jm.Arm((link, link.replace(axial_force=2.0 * force, tip_mass=0.5)))


@pytest.mark.parametrize("theory", jm.THEORIES)
@pytest.mark.parametrize("force", [2e4, -8e2])
def test_bending_in_both_planes_is_that_of_planar_arms(force, theory):
    space = jm.to_spatial(planar(DEPTH, WIDTH, force))
    omega = np.asarray(jm.natural_frequencies(space, 7, theory=theory).omega)
    for arm in (planar(DEPTH, WIDTH, force), planar(WIDTH, DEPTH, force)):
        for expected in np.asarray(jm.natural_frequencies(arm, 2, theory=theory).omega):
            assert np.min(np.abs(omega / expected - 1.0)) < LAST_DIGITS


def test_tension_stiffens_torsion():
    """Omega = pi/(2 L) sqrt((G J + N (I_y + I_z)/A)/(rho (I_y + I_z)))."""
    force = 5e5
    omega = np.asarray(jm.natural_frequencies(pressed(force), 10).omega)
    rigidity = 7e10 / 2.6 * VALUES.torsion_constant + force * POLAR / VALUES.area
    expected = np.pi / 1.8 * np.sqrt(rigidity / (2700.0 * POLAR))
    assert np.min(np.abs(omega / expected - 1.0)) < LAST_DIGITS
    free = np.asarray(jm.natural_frequencies(pressed(0.0), 10).omega)
    assert np.min(np.abs(free / expected - 1.0)) > 1e-3


def test_a_pulled_beam_on_two_pins_is_a_closed_form():
    """Omega^2 = k^4 E I/m + k^2 N/m with k = n pi/L, in both planes."""
    force = 3e4
    hinges = (jm.Spring("rotation", (0, 1, 0), 0.0),)
    pins = [jm.Support("translation", each, np.inf) for each in ((0, 1, 0), (0, 0, 1))]
    arm = pressed(force, joint_stiffness=0.0, joint_springs=hinges, supports=pins)
    k, mass = np.pi / 0.9 * np.arange(1, 3)[:, None], 2700.0 * DEPTH * WIDTH
    own = 7e10 * np.array([VALUES.second_moment_y, VALUES.second_moment_z])
    expected = np.sort(np.sqrt((k**4 * own + k**2 * force) / mass).ravel())
    found = jm.natural_frequencies(arm, 4, theory="bending_only")
    np.testing.assert_allclose(found.omega, expected, rtol=LAST_DIGITS, atol=0.0)


def test_an_arm_buckles_at_eulers_load():
    critical = np.pi**2 / 4.0 / 0.81 * 7e10 * VALUES.second_moment_y
    forces = {"link1.axial_force": -critical * np.array([0.999, 0.999999, 1.000001])}
    found = jm.natural_frequencies_batch(pressed(0.0), forces, 2, theory="euler_bernoulli")
    assert found.status[:, 0].tolist() == [0, 0, int(jm.Status.unstable)]
    # near it the square of the frequency falls in proportion
    ratio = float(found.omega[1, 0] / found.omega[0, 0])
    assert abs(ratio - np.sqrt(1e-3)) < 1e-4
    beyond = pressed(-1.01 * critical)
    with pytest.raises(jm.UncertifiedError, match="buckle"):
        jm.natural_frequencies(beyond, 1, theory="euler_bernoulli")
    assert int(jm.count_below(beyond, 1e-3, theory="euler_bernoulli")) == 1
    responded = jm.frequency_response(beyond, [1.0], "tip.z", "tip.z", theory="euler_bernoulli")
    assert int(responded.status[0, 0, 0]) == jm.Status.unstable
    with pytest.raises(jm.UncertifiedError, match="buckle"):
        jm.damped_modes(beyond, 1, theory="euler_bernoulli")


@pytest.mark.parametrize("force", [2e4, -8e2])
def test_responses_and_damped_modes_are_those_of_the_plane(force):
    arm = planar(DEPTH, WIDTH, force, loss_factor=0.02)
    space = jm.to_spatial(arm)
    omega = [20.0, 150.0, 900.0]
    flat = jm.frequency_response(arm, omega, "tip.y", ["tip.y", "tip_1.rotation"])
    found = jm.frequency_response(space, omega, "tip.y", ["tip.y", "tip_1.rz"])
    size = np.abs(flat.values).max(axis=-1, keepdims=True)
    np.testing.assert_allclose(found.values / size, flat.values / size, rtol=0.0, atol=1e-11)
    roots = jm.damped_modes(space, 4).roots
    for expected in jm.damped_modes(arm, 2).roots:
        assert np.min(np.abs(roots / expected - 1.0)) < 1e-11


@pytest.mark.parametrize(
    ("force", "theory"),
    [
        *((2e4, "timoshenko"), (-8e2, "euler_bernoulli")),
        pytest.param(2e4, "euler_bernoulli", marks=pytest.mark.slow),
        pytest.param(-8e2, "timoshenko", marks=pytest.mark.slow),
    ],
)
def test_shapes_and_derivatives_are_those_of_the_plane(force, theory):
    """Energies, derivatives and sums over modes, of the modes of the plane, between which those out of it are."""
    arm = planar(DEPTH, WIDTH, force, loss_factor=0.02)
    space = jm.to_spatial(arm)
    flat, found = jm.mode_shapes(arm, 2, theory=theory), jm.mode_shapes(space, 6, theory=theory)
    assert float(np.max(found.residuals)) < 1e-12
    np.testing.assert_allclose(found.energies.kinetic, found.energies.strain, rtol=1e-12, atol=0)
    omega = np.asarray(found.frequencies.omega)
    place = [int(np.argmin(np.abs(omega - x))) for x in np.asarray(flat.frequencies.omega)]
    for kind, own in (("bending", "bending_z"), ("shear", "shear_y"), ("preload", "preload")):
        expected = np.asarray(getattr(flat.energies, kind))
        size = float(flat.energies.strain.max())
        values = np.asarray(getattr(found.energies, own))[place]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-11 * size)
    names = ["link1.axial_force", "link2.axial_force", "link1.length", "link2.density"]
    rates = jm.sensitivities(arm, 2, theory=theory, addresses=names).derivative_hz
    derived = jm.sensitivities(space, 6, theory=theory, addresses=names).derivative_hz[
        np.array(place)
    ]
    np.testing.assert_allclose(derived, rates, rtol=1e-10, atol=0)
    sums = [
        jm.modal_superposition(x, "tip.y", "tip.y", number, theory=theory)
        for x, number in ((arm, 2), (space, 6))
    ]
    for name in ("structural", "static"):
        expected, values = (np.asarray(getattr(x, name)) for x in sums)
        values = values[np.ix_(place, place)] if name == "structural" else values
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_derivatives_of_torsion_by_the_axial_force():
    """Omega^2 = pi^2/(4 L^2) (G J + N r^2)/(rho A r^2), so that d Omega/dN = Omega r^2/(2 (G J + N r^2))."""
    force, gyration = 5e5, POLAR / VALUES.area
    arm = pressed(force)
    omega = np.asarray(jm.natural_frequencies(arm, 10).omega)
    rigidity = 7e10 / 2.6 * VALUES.torsion_constant + force * gyration
    expected = np.pi / 1.8 * np.sqrt(rigidity / (2700.0 * POLAR))
    place = int(np.argmin(np.abs(omega / expected - 1.0)))
    rates = jm.sensitivities(arm, 10, addresses=["link1.axial_force"]).derivative_hz[:, 0]
    own = expected * gyration / (2.0 * rigidity) / (2.0 * np.pi)
    np.testing.assert_allclose(rates[place], own, rtol=1e-11, atol=0)


def test_energies_and_the_derivative_by_length_of_pulled_torsion():
    """Twisted by t(x) all energy of strain is (G J + N r^2) t'^2/2; Omega goes with 1/L."""
    force, gyration = 5e5, POLAR / VALUES.area
    arm, stiffness = pressed(force), 7e10 / 2.6 * VALUES.torsion_constant
    expected = np.pi / 1.8 * np.sqrt((stiffness + force * gyration) / (2700.0 * POLAR))
    shapes = jm.mode_shapes(arm, 10)
    place = int(np.argmin(np.abs(np.asarray(shapes.frequencies.omega) / expected - 1.0)))
    own = {
        name: float(np.sum(getattr(shapes.energies, name)[place]))
        for name in ("torsion", "preload")
    }
    half = float(shapes.energies.kinetic[place])
    shares = {"torsion": stiffness, "preload": force * gyration}
    for name, share in shares.items():
        expected_share = half * share / (stiffness + force * gyration)
        np.testing.assert_allclose(own[name], expected_share, rtol=1e-11, atol=0)
    rate = jm.sensitivities(arm, 10, addresses=["link1.length"]).derivative_hz[place, 0]
    np.testing.assert_allclose(rate, -expected / 0.9 / (2.0 * np.pi), rtol=1e-11, atol=0)


def test_derivatives_of_bent_arms_by_differences():
    """By every address, of the fourth order in the step: 1e-7 of the largest of an address is what steps leave."""
    arm = bent_arm()
    forces = (2e3, None, -5e1)  # offsets along the second link bear none
    links = [x.replace(axial_force=f) for x, f in zip(arm.links, forces, strict=True)]
    arm = arm.replace(links=tuple(links))
    names = [
        "link1.axial_force",
        "link3.axial_force",
        "link2.length",
        "link3.joint_angle",
        "link2.section.wall_thickness",
        "link1.section.width",
    ]
    rates = jm.sensitivities(arm, 3, addresses=names).derivative_hz
    for k, name in enumerate(names):
        value = float(jm.get_parameter(arm, name))
        step = 1e-3 * abs(value)
        at = [
            np.asarray(
                jm.natural_frequencies(
                    jm.set_parameters(arm, {name: value + j * step}), 3
                ).frequencies_hz
            )
            for j in (-2, -1, 1, 2)
        ]
        expected = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * step)
        np.testing.assert_allclose(
            rates[:, k], expected, rtol=0, atol=1e-7 * np.abs(expected).max()
        )


@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli"])
@pytest.mark.parametrize("force", [3e6, 2e4, 1e-3, -8e2])
def test_static_compliances_are_those_of_the_plane(force, theory):
    arm = planar(DEPTH, WIDTH, force)
    ports = ["tip.x", "tip.y", "tip.rotation", "link_1@0.4.y"]
    flat = jm.static_compliance(arm, ports, ports, theory=theory).values
    ports[2] = "tip.rz"
    found = jm.static_compliance(jm.to_spatial(arm), ports, ports, theory=theory).values
    np.testing.assert_allclose(found, flat, rtol=0, atol=1e-13 * np.abs(flat).max())


def test_a_beam_column_in_both_planes():
    """(tan k L - k L)/(k N) under compression N, (k L - tanh k L)/(k N) under tension, k^2 = N/(E I)."""
    for force in (-1e3, 5e3):
        found = jm.static_compliance(
            pressed(force), ["tip.y", "tip.z"], ["tip.y", "tip.z"], theory="rayleigh"
        ).values
        for value, own in zip(
            np.diag(found), (VALUES.second_moment_z, VALUES.second_moment_y), strict=True
        ):
            size = abs(force)
            k = np.sqrt(size / (7e10 * own))
            x = 0.9 * k
            expected = (np.tan(x) - x if force < 0.0 else x - np.tanh(x)) / (k * size)
            assert abs(value / expected - 1.0) < 1e-12
    turned = jm.static_compliance(pressed(5e3), "tip.rx", "tip.rx").values
    rigidity = 7e10 / 2.6 * VALUES.torsion_constant + 5e3 * POLAR / VALUES.area
    assert abs(turned[0, 0] * rigidity / 0.9 - 1.0) < 1e-13
    critical = np.pi**2 / 4.0 / 0.81 * 7e10 * VALUES.second_moment_y
    with pytest.raises(
        jm.UncertifiedError, match="static compliance, for the forces at rest buckle"
    ):
        jm.static_compliance(pressed(-1.01 * critical), "tip.z", "tip.z", theory="rayleigh")


@pytest.mark.parametrize("theory", ["timoshenko", "euler_bernoulli"])
def test_buckling_under_axial_forces(theory):
    """The factors of the plane among those in space; frequencies are those of the engine, which has other members."""
    arm = planar(DEPTH, WIDTH, -300.0)
    space = jm.to_spatial(arm)
    flat, found = jm.buckling(arm, 2, theory=theory), jm.buckling(space, 4, theory=theory)
    assert found.certified.all()
    for factor in flat.factors:
        assert np.abs(found.factors / factor - 1.0).min() < 1e-12
    np.testing.assert_array_equal(found.axial_force[:, 0], [-300.0, -600.0])
    under = jm.preloaded_frequencies(space, 4, theory=theory)
    expected = jm.natural_frequencies(space, 4, theory=theory).omega
    np.testing.assert_allclose(under.omega, expected, rtol=1e-11, atol=0)


@pytest.mark.parametrize("name", ["base_offset", "end_offset"])
def test_rigid_parts_along_a_pressed_link_are_refused(name):
    with pytest.raises(jm.ArmError, match=f"{name}.x = 0.1: must be 0 beside an axial_force"):
        pressed(10.0, **{name: (0.1, 0.0, 0.0)})
    assert pressed(10.0, **{name: (0.0, 0.1, 0.0)}).num_links == 1


def test_in_which_postures_a_pulled_arm_has_a_frequency(tmp_path):
    arm = bent_arm()
    arm = arm.replace(links=(arm.links[0].replace(axial_force=3e4), *arm.links[1:]))
    omega = float(jm.natural_frequencies(arm, 2).omega[1])
    found = jm.postures_at(arm, omega, 3)
    assert np.array_equal(found.found, found.certified)
    assert np.nanmin(np.abs(np.asarray(found.angle) + 1.1)) < 1e-6
    with pytest.raises(jm.ArmError, match=r"the axial forces buckle the arm where joint 3 is at"):
        jm.resonance_free(
            *(arm, 0.9 * omega, omega, 3), across="link1.axial_force", values=(-1e5, 0), points=2
        )
    jm.write_arm(arm, tmp_path / "arm.toml")
    assert jm.read_arm(tmp_path / "arm.toml") == arm


@pytest.mark.parametrize(
    "call",
    [
        lambda arm: jm.static_equilibrium(arm, gravity=(0.0, 0.0, -9.81)),
        lambda arm: jm.posture_series(arm, 10.0, joints=[2]),
        lambda arm: dynamics.flexible_arm(arm, 2),
        lambda arm: jm.modal_superposition(arm, "base.rz", "tip.x", num_modes=2),
    ],
)
def test_what_knows_no_axial_forces_says_so(call):
    with pytest.raises(jm.ArmError, match=r"axial_force = 100\.0|an axial force"):
        call(jm.SpatialArm((BAR, BAR.replace(axial_force=100.0))))


def test_impossible_forces_are_refused():
    with pytest.raises(
        jm.ArmError, match=r"axial_force = -1000000000000\.0: .*stable in torsion and shear"
    ):
        BAR.replace(axial_force=-1e12)
    with pytest.raises(jm.ArmError, match=r"axial_force = 5\.0: a rigid link"):
        tube(rigid=True, axial_force=5.0)


@pytest.mark.parametrize("name", ["base_turning_stiffness", "end_turning_stiffness"])
def test_what_forces_at_rest_resist_turns_with_is_not_lost_on_the_way_to_space(name):
    link = planar(DEPTH, WIDTH, 10.0).links[0].replace(**{name: 3.0})
    with pytest.raises(
        jm.ArmError, match=f"link1.{name} = 3.0: an arm in space has no such stiffness"
    ):
        jm.to_spatial(jm.Arm((link,)))
