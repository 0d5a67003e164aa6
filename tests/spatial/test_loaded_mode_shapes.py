"""Mode shapes of arms in space under loads beside planar arms, finite elements, and arms without loads."""

import dataclasses

import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial.loaded_arms import MATERIAL, arm_with_everything, column, planar_booms
from tests.spatial.prestressed_elements import loaded_pair
from tests.spatial.random_arms import random_arm


@pytest.fixture(scope="module")
def arm():
    return arm_with_everything()


def test_forces_at_the_tip_as_in_the_plane():
    """They leave constant axial forces, for which planar shapes are exact."""
    planar = planar_booms().replace(loads=jm.Loads(tip_force_x=60.0, tip_force_y=-100.0))
    own = jm.mode_shapes(planar, 3, stations=3)
    found = jm.mode_shapes(jm.to_spatial(planar), 8, stations=3)
    for k in range(3):
        same = int(np.argmin(np.abs(np.asarray(found.omega) - own.omega[k])))
        motion, force = (np.asarray(x)[same] for x in (found.motion, found.force))
        pairs = [(own.u, motion[..., 0]), (own.v, motion[..., 1]), (own.psi, motion[..., 5])]
        pairs += [(own.normal, force[..., 0]), (own.shear, force[..., 1])]
        pairs += [(own.moment, force[..., 5])]
        for expected, value in pairs:
            expected = np.asarray(expected[k])
            sign = np.sign(np.sum(expected * value))
            # brackets of 1e-12
            bound = 1e-11 * np.abs(expected).max()
            np.testing.assert_allclose(sign * value, expected, rtol=0, atol=bound)
        energies = [float(np.sum(x)) for x in (own.energies.preload[k], own.energies.bending[k])]
        kinds = found.energies.preload[same], found.energies.bending_z[same]
        values = [float(np.sum(x)) for x in kinds]
        np.testing.assert_allclose(values, energies, rtol=1e-10, atol=0)


def test_all_loads_beside_finite_elements():
    """Two strips with a spring between them, under weight, and a force and a moment at the tip."""
    arm, elements = loaded_pair()
    omega, modes = elements.modes(5)
    found = jm.mode_shapes(arm, 5, theory="bending_only", stations=[0.0, 0.4, 1.0])
    # rounding of the elements
    np.testing.assert_allclose(found.omega, omega, rtol=1e-9, atol=0)
    bare = jm.natural_frequencies(arm.replace(loads=None), 3, theory="bending_only").omega
    assert (np.abs(bare / omega[:3] - 1.0) > 1e-3).all()
    own = np.concatenate([found.displacement, found.rotation], axis=-1)
    for k in range(5):
        expected = np.array(
            [[elements.motion(i, x) @ modes[:, k] for x in (0.0, 0.4, 1.0)] for i in range(2)]
        )
        sign, size = np.sign(np.sum(expected * own[k])), np.abs(expected).max()
        # rounding and degree of the elements
        np.testing.assert_allclose(sign * own[k], expected, rtol=0, atol=4e-9 * size)


def test_loads_of_zero_change_nothing(arm):
    """Shapes without loads come from other code; base, rotor, rigid link and support are in both."""
    bare = jm.mode_shapes(arm.replace(loads=None), 6, stations=3)
    found = jm.mode_shapes(arm.replace(loads=jm.SpatialLoads(gravity_z=0.0)), 6, stations=3)
    for name in ("motion", "force", "participation", "displacement"):
        expected, value = (np.asarray(getattr(x, name)) for x in (bare, found))
        size = np.abs(expected.reshape(6, -1)).max(axis=1)
        difference = np.abs(value - expected).reshape(6, -1).max(axis=1)
        np.testing.assert_array_less(difference, 1e-11 * size, err_msg=name)
    whole = np.asarray(bare.energies.strain)[:, None]
    for field in dataclasses.fields(bare.energies):
        expected, value = (getattr(x.energies, field.name) for x in (bare, found))
        expected = np.zeros_like(value) if expected is None else expected
        np.testing.assert_allclose(
            value / whole, expected / whole, rtol=0, atol=1e-11, err_msg=field.name
        )


@pytest.mark.parametrize(
    "seed", [2, 11, *(pytest.param(k, marks=pytest.mark.slow) for k in (0, 1, 5, 6, 14, 18))]
)
def test_random_arms(seed):
    """Four theories, rotors, springs, rigid links and offsets: loads of zero change nothing, and small ones balance."""
    document, theory = random_arm(seed)
    arm = jm.arm_from_dict(document)
    loads = jm.SpatialLoads(gravity_z=-0.5, tip_force_x=2.0, tip_moment_y=0.5)
    bare, found, loaded = (
        jm.mode_shapes(arm.replace(loads=x), 3, theory=theory, stations=3)
        for x in (None, jm.SpatialLoads(gravity_z=0.0), loads)
    )
    moving = np.asarray(bare.omega) > 0.0
    for name in ("motion", "force"):
        expected, value = (np.asarray(getattr(x, name))[moving] for x in (bare, found))
        size = np.abs(expected).max(axis=(1, 2, 3), keepdims=True)
        np.testing.assert_allclose(value / size, expected / size, rtol=0, atol=1e-10, err_msg=name)
    for each in (found, loaded):
        residuals = np.asarray(each.residuals)
        np.testing.assert_array_less(residuals[~np.isnan(residuals)], 1e-10)
    omega = np.asarray(bare.omega)[moving] * 1.07
    ports = ["tip.x", "tip.y", "tip.z", "tip.rx", "link_1@0.4.y"]
    expected, value = (
        jm.frequency_response(arm.replace(loads=x), omega, ports, ports, theory=theory).values
        for x in (None, jm.SpatialLoads(gravity_z=0.0))
    )
    size = np.sqrt(np.abs(np.einsum("iif->if", expected)))
    size = size[:, None] * size
    np.testing.assert_allclose(value / size, expected / size, rtol=0, atol=1e-10)


def test_conditions_and_energies(arm):
    """Forces balance at joints and tips with those at rest; the strain energy, theirs included, is the kinetic one."""
    rigid = (jm.Support("translation", (0.0, 0.6, 0.8), np.inf),)
    held = arm.replace(links=(*arm.links[:2], arm.links[2].replace(supports=rigid)))
    for each in (arm, held):
        found = jm.mode_shapes(each, 5, stations=2)
        np.testing.assert_array_less(np.asarray(found.residuals), 1e-11)
        np.testing.assert_allclose(found.orthogonality, np.eye(5), rtol=0, atol=1e-11)
        energies = found.energies
        np.testing.assert_allclose(energies.strain, energies.kinetic, rtol=1e-10, atol=0)
        shares = np.abs(energies.preload.sum(axis=-1) / energies.strain)
        assert shares.max() > 1e-3
    # the rigid support holds the tip
    tip = np.asarray(found.displacement)[:, -1, -1]
    size = np.abs(np.asarray(found.displacement)).max(axis=(1, 2, 3))
    np.testing.assert_allclose(tip @ [0.0, 0.6, 0.8] / size, 0.0, rtol=0, atol=1e-11)


def test_repeated_frequencies_have_an_orthonormal_basis():
    rod = jm.SpatialLink(0.7, section=jm.circle(0.02, "cowper"), **MATERIAL)
    pulled = jm.SpatialArm((rod, rod), loads=jm.SpatialLoads(tip_force_x=2e3))
    found = jm.mode_shapes(pulled, 4, stations=3)
    assert found.frequencies.multiplicity.tolist() == [2] * 4
    np.testing.assert_allclose(found.orthogonality, np.eye(4), rtol=0, atol=1e-11)
    np.testing.assert_array_less(np.asarray(found.residuals), 1e-11)


@pytest.mark.parametrize("stiffness", [0.0, 1.0])
def test_a_stiff_rod_on_a_soft_hinge_swings_straight(stiffness):
    """It hangs: ``omega^2 = (k + m g L/2)/(m L^2/3)``, with the forces of a rigid rod, and its derivatives."""
    length, theory = 0.5, {"theory": "euler_bernoulli"}
    rod = jm.SpatialLink(
        length,
        section=jm.circle(0.08),
        joint_axis=(0, 1, 0),
        joint_angle=np.pi / 2,
        joint_stiffness=stiffness,
        **MATERIAL,
    )
    arm = jm.SpatialArm((rod,), loads=jm.SpatialLoads(gravity_z=-9.81))
    mass = 2700.0 * np.pi * 0.04**2 * length
    inertia = mass * length**2 / 3.0
    omega = np.sqrt((stiffness + 0.5 * mass * 9.81 * length) / inertia)
    found = jm.mode_shapes(arm, 1, **theory, stations=3)
    # the rod bends a little
    np.testing.assert_allclose(found.omega, omega, rtol=1e-5, atol=0)
    np.testing.assert_array_less(np.asarray(found.residuals), 1e-11)
    turned = np.abs(np.asarray(found.rotation)[0, 0, :, 1])
    np.testing.assert_allclose(turned, 1.0 / np.sqrt(inertia), rtol=1e-3, atol=0)
    slope = jm.sensitivities(arm, 1, **theory, addresses=["loads.gravity_z"]).derivative
    np.testing.assert_allclose(slope, -0.25 * mass * length / inertia / omega, rtol=1e-4, atol=0)


def test_batches_are_single_arms(arm):
    cells = {"loads.gravity_z": np.array([-9.81, 0.0]), "payload.mass": np.array([8.0, 5.0])}
    found = jm.natural_frequencies_batch(arm, cells, 2)
    names = ["loads.tip_force_y", "payload.mass"]
    many = jm.modal_quantities_batch(arm, cells, found, addresses=names)
    for k in range(2):
        own = jm.set_parameters(arm, {name: float(x[k]) for name, x in cells.items()})
        shapes = jm.mode_shapes(own, 2, stations=2)
        np.testing.assert_allclose(
            many.effective_mass[k], shapes.effective_mass, rtol=1e-9, atol=1e-12
        )
        for kind in ("bending_y", "torsion", "preload"):
            expected = getattr(shapes.energies, kind)
            size = float(np.max(shapes.energies.strain))
            value = getattr(many.energies, kind)[k]
            np.testing.assert_allclose(value, expected, rtol=0, atol=4e-9 * size)
        slopes = jm.sensitivities(own, 2, addresses=names).derivative
        np.testing.assert_allclose(many.derivative[k], slopes, rtol=1e-8, atol=0)


def test_an_arm_that_buckles_has_no_shapes():
    found = jm.mode_shapes(
        column(jm.SpatialLoads(tip_force_z=-1e6)), 2, theory="rayleigh", throw=False
    )
    assert np.isnan(found.motion).all()
    with pytest.raises(jm.UncertifiedError, match="unstable"):
        jm.mode_shapes(column(jm.SpatialLoads(tip_force_z=-1e6)), 2, theory="rayleigh")


def test_pictures_tables_and_assurance(arm, tmp_path):
    found = jm.mode_shapes(arm, 2, stations=5)
    assert "preload" in str(found)
    bare = jm.mode_shapes(arm.replace(loads=None), 2, stations=5)
    np.testing.assert_array_less(0.9, np.diagonal(jm.modal_assurance(found, bare)))
    assert found.to_xarray().displacement.shape == (2, 3, 5, 3)
    found.plot(mode=1).figure.savefig(tmp_path / "mode.png")
