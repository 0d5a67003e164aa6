"""Are the mode shapes in space the true ones? Conditions, energies, closed forms, finite elements, the planar limit."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import plots
from jaxmodal.plots.figures import new_figure
from jaxmodal.runtime.namespace import to_host
from tests.spatial import finite_elements
from tests.spatial.cases import bar, bent_arm, references, standing_arm, tube
from tests.spatial.random_arms import random_arm
from tests.spatial.test_laws import planar_arm

RESIDUAL = 1e-10
"""What every condition at joints and tips may be missed by, relative to its scale."""

EXACT = 1e-12
"""Orthogonality, Rayleigh quotients and closed forms in float64."""

AGAINST_ELEMENTS = 1e-9
"""The finite elements have converged; near a neighbour in frequency both lose digits."""


def shapes_of(arm, modes, theory="timoshenko", stations=2):
    return to_host(jm.mode_shapes(arm, modes, theory=theory, stations=stations))


QUICK = {"S01", "S02", "S09", "S12", "S13", "S17", "S18"}
CASES = [
    pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in references()
]


@pytest.mark.parametrize("name", CASES)
def test_conditions_orthogonality_and_energies(name):
    """Also of double and triple modes, next to which no single mode is known, and beside free hinges."""
    case = references()[name]
    shapes = shapes_of(case.arm, len(case.omega), case.theory)
    vibrating = case.omega > 0.0
    assert np.all(np.isnan(shapes.motion[~vibrating]))
    assert np.max(shapes.residuals[vibrating]) <= RESIDUAL
    among = shapes.orthogonality[np.ix_(vibrating, vibrating)]
    assert np.max(np.abs(among - np.eye(len(among)))) <= EXACT
    quotient = shapes.rayleigh_quotient[vibrating] / case.omega[vibrating] ** 2
    assert np.max(np.abs(quotient - 1.0)) <= EXACT
    kinetic = shapes.energies.kinetic[vibrating]
    np.testing.assert_allclose(kinetic, case.omega[vibrating] ** 2 / 2.0, rtol=EXACT)


@pytest.mark.parametrize(
    "seeds",
    [range(300, 303), pytest.param(range(303, 312), marks=pytest.mark.slow, id="more")],
)
def test_against_finite_elements(seeds):
    """Displacements and rotations along all links, of unit modal mass."""
    points = (finite_elements.tables(18)[1] + 1.0) / 2.0
    for seed in seeds:
        document, theory = random_arm(seed, 3)
        expected = finite_elements.mode_motions(document, theory, 18, 5)
        shapes = shapes_of(jm.arm_from_dict(document), 5, theory, points)
        for mode, found in enumerate(shapes.motion):
            sign = np.sign(np.sum(found * expected[mode]))
            scale = np.max(np.abs(found), axis=(0, 1))
            error = np.max(np.abs(found - sign * expected[mode]), axis=(0, 1))
            assert np.all(error <= AGAINST_ELEMENTS * scale.max()), (seed, mode)


def test_torsion_of_a_cantilever():
    """sin(pi x/2L) of unit modal mass, with the torque G J times its slope; nothing else moves."""
    link = bar()
    shapes = shapes_of(jm.SpatialArm((link,)), 8, "euler_bernoulli", 11)
    (mode,) = np.flatnonzero(shapes.energies.torsion[:, 0] > 0.5 * shapes.energies.strain)[:1]
    values, x = link.section_values, np.linspace(0.0, 1.0, 11)
    polar = 2700.0 * (values.second_moment_y + values.second_moment_z)
    amplitude = math.sqrt(2.0 / (polar * 0.6))
    expected = amplitude * np.sin(0.5 * math.pi * x)
    np.testing.assert_allclose(
        shapes.motion[mode, 0, :, 3], expected, rtol=0.0, atol=EXACT * amplitude
    )
    rigidity = float(link.shear_modulus_value * values.torsion_constant)
    slope = 0.5 * math.pi / 0.6 * amplitude
    torque = rigidity * slope * np.cos(0.5 * math.pi * x)
    np.testing.assert_allclose(
        shapes.force[mode, 0, :, 3], torque, rtol=0.0, atol=EXACT * rigidity * slope
    )
    others = np.delete(shapes.motion[mode], 3, axis=-1)
    assert np.max(np.abs(others)) <= EXACT * amplitude
    np.testing.assert_allclose(shapes.energies.torsion[mode, 0], shapes.energies.strain[mode])


def test_double_bending_of_a_cantilever():
    """Both planes of a round tube alike: two orthogonal modes with 0.6131 of the mass between them in y, and in z."""
    shapes = shapes_of(jm.SpatialArm((tube(),)), 2, "euler_bernoulli")
    np.testing.assert_array_equal(shapes.frequencies.multiplicity, 2)
    share = (shapes.effective_mass / shapes.total_mass).sum(axis=0)
    np.testing.assert_allclose(share[1:3], 0.6131, rtol=0.0, atol=5e-5)
    np.testing.assert_allclose(share[[0, 3]], 0.0, rtol=0.0, atol=EXACT)


@pytest.mark.parametrize("theory", ["timoshenko", "bending_only"])
def test_in_plane_modes_are_those_of_the_planar_arm(theory):
    """Fields, section forces, energies and participation; the planar arm has its x and y in the ground's x-y plane."""
    arm = planar_arm()
    planar = to_host(jm.mode_shapes(arm, 4, theory=theory, stations=5))
    space = shapes_of(jm.to_spatial(arm), 10, theory, 5)
    for k, omega in enumerate(planar.omega):
        mode = int(np.argmin(np.abs(space.omega - omega)))
        sign = np.sign(np.sum(space.motion[mode, ..., 1] * planar.v[k]))
        fields = {0: planar.u, 1: planar.v, 5: planar.psi}
        forces = {0: planar.normal, 1: planar.shear, 5: planar.moment}
        for found, expected in ((space.motion, fields), (space.force, forces)):
            for place, values in expected.items():
                scale = np.max(np.abs(values[k])) + 1e-300
                got = sign * found[mode, ..., place]
                assert np.max(np.abs(got - values[k])) <= 1e-10 * scale, (k, place)
        np.testing.assert_allclose(
            space.displacement[mode, ..., :2], sign * planar.displacement[k], rtol=0.0, atol=1e-10
        )
        for name, other in (("bending_z", "bending"), ("joint", "joint"), ("hub", "hub")):
            np.testing.assert_allclose(
                getattr(space.energies, name)[mode], getattr(planar.energies, other)[k],
                rtol=0.0, atol=1e-10 * space.energies.strain[mode],
            )  # fmt: skip
        np.testing.assert_allclose(
            space.effective_mass[mode, [0, 1, 5]], planar.effective_mass[k], rtol=1e-8, atol=1e-12
        )
    np.testing.assert_allclose(space.position[..., :2], planar.position, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(space.total_mass[[0, 1, 5]], planar.total_mass, rtol=EXACT)


def test_effective_masses_add_up_to_the_total():
    """A rigid arm on an elastic base has six modes, in which all of its mass takes part, in all six directions."""
    arm = standing_arm()
    rigid = arm.replace(
        links=tuple(
            link.replace(rigid=True, joint_stiffness=math.inf, joint_springs=())
            for link in arm.links
        )
    )
    shapes = shapes_of(rigid, 6)
    np.testing.assert_allclose(shapes.effective_mass.sum(axis=0), shapes.total_mass, rtol=1e-10)
    np.testing.assert_allclose(shapes.total_mass[:3], float(arm.total_mass), rtol=EXACT)
    assert not np.any(shapes.energies.bending_y)
    np.testing.assert_allclose(shapes.energies.joint[:, 0], shapes.energies.strain, rtol=EXACT)
    seven = to_host(jm.mode_shapes(rigid, 7, throw=False))
    assert np.all(np.isnan(seven.motion[6]))
    np.testing.assert_allclose(seven.motion[:6, :, -1], shapes.motion[:, :, -1], rtol=1e-9)


def test_modes_of_an_elastic_arm_stay_below_the_total():
    """They come near to it but along x, along which link 1 lies and is stretched by far higher modes."""
    shapes = shapes_of(bent_arm(), 16)
    share = np.cumsum(shapes.effective_mass, axis=0) / shapes.total_mass
    assert np.all(share <= 1.0 + EXACT)
    assert np.all(share[-1, 1:] > 0.95)


def test_a_rolled_section_moves_as_the_turned_link():
    """In the ground's axes; in the section's axes, fields turn with them."""
    angle, section = 0.6, jm.rectangle(0.05, 0.02, "cowper")
    plain = tube(section=section, joint_angle=0.5, joint_axis=(0.0, 1.0, 0.0))
    rolled = jm.SpatialArm((bar(), plain.replace(section_roll=angle)))
    framed = jm.SpatialArm(
        (bar(), plain.replace(joint_frame=(jm.Rotation((1.0, 0.0, 0.0), angle),)))
    )
    one, other = (shapes_of(arm, 5) for arm in (rolled, framed))
    np.testing.assert_allclose(one.displacement, other.displacement, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(one.motion, other.motion, rtol=0.0, atol=1e-10)
    assurance = np.asarray(jm.modal_assurance(one, other))
    np.testing.assert_allclose(assurance, np.eye(5), rtol=0.0, atol=1e-10)


def test_datasets_tables_and_data_frames():
    shapes = jm.mode_shapes(bent_arm(), 3, stations=4)
    data = shapes.to_xarray()
    assert data.sizes["excitation"] == 6
    np.testing.assert_array_equal(data["phi_y"], np.asarray(shapes.motion)[..., 4])
    np.testing.assert_array_equal(data["moment_z"], np.asarray(shapes.force)[..., 5])
    assert data["energy_torsion"].attrs["units"] == "J"
    assert "twist %" in str(shapes)
    assert len(shapes.to_dataframe()) == 3 * 3 * 4
    assert "3 mode shapes in space" in repr(shapes)


def test_what_is_refused():
    with pytest.raises(ValueError, match="stations = 1"):
        jm.mode_shapes(bent_arm(), 2, stations=1)
    planar = jm.mode_shapes(planar_arm(), 2, stations=2)
    with pytest.raises(ValueError, match="both in the plane or both in space"):
        jm.modal_assurance(planar, jm.mode_shapes(bent_arm(), 2, stations=2))


def check_bodies(axes, shapes, scale):
    """Discs at centres of gravity that move as rigid bodies: link 1's with a stator, a hub, the payload."""
    (discs,) = axes.collections
    drawn, areas = discs.get_offsets(), discs.get_sizes()
    masses = np.array([0.7 + 0.4, 0.4, 1.5])
    np.testing.assert_allclose(areas / areas.max(), masses / 1.5)
    # link 1 lies along x: its body at (0.01, -0.02, 0.03), the stator at (0, 0.01, 0), seen from its tip
    seen = (0.7 * np.array([0.01, -0.02, 0.03]) + 0.4 * np.array([0.0, 0.01, 0.0])) / 1.1
    motion = np.asarray(shapes.displacement)[1, 0, -1]
    motion = motion + np.cross(np.asarray(shapes.rotation)[1, 0, -1], seen)
    expected = np.array([0.7, 0.0, 0.0]) + seen + scale * motion
    np.testing.assert_allclose(drawn[0], expected[[0, 2]], rtol=0.0, atol=1e-12)


def test_pictures(tmp_path):
    """Views are projections of the arm, and what is drawn of a mode is what the shapes say."""
    shapes = jm.mode_shapes(bent_arm(), 2, stations=5)
    axes = shapes.plot(new_figure(4.0, 3.0).add_subplot(), mode=2, view="x-z")
    rest = axes.lines[0].get_xydata()
    np.testing.assert_allclose(rest[1:6], np.asarray(shapes.position)[0][:, [0, 2]])
    assert f"{float(shapes.frequencies_hz[1]):.5g} Hz" in axes.get_title()
    deformed = np.concatenate([line.get_xydata()[1:] for line in axes.lines[1:4]])
    moved = deformed - np.asarray(shapes.position).reshape(-1, 3)[:, [0, 2]]
    expected = np.asarray(shapes.displacement)[1].reshape(-1, 3)[:, [0, 2]]
    scale = np.max(np.abs(moved)) / np.max(np.abs(expected))
    np.testing.assert_allclose(moved, scale * expected, rtol=0.0, atol=1e-12)
    check_bodies(axes, shapes, scale)
    page = plots.plot_mode_shapes(shapes, tmp_path / "modes.png", title="bent")
    assert len(page.axes) == 8
    assert (tmp_path / "modes.png").stat().st_size > 1000
    shapes.animate(tmp_path / "mode.gif", mode=1, frames=2)
    assert (tmp_path / "mode.gif").read_bytes()[:3] == b"GIF"
    with pytest.raises(ValueError, match=r"mode\.txt'?: must be a file that ends in \.gif"):
        shapes.animate(tmp_path / "mode.txt", mode=1, frames=2)
    with pytest.raises(ValueError, match="view = 'z-x': choose one of"):
        shapes.plot(new_figure(4.0, 3.0).add_subplot(), view="z-x")
    with pytest.raises(ValueError, match="modes 1 to 2"):
        shapes.plot(new_figure(4.0, 3.0).add_subplot(), mode=3)
    planar = jm.mode_shapes(planar_arm(), 2, stations=5)
    with pytest.raises(ValueError, match="draw them apart"):
        plots.plot_mode_shapes([shapes, planar])


def test_an_arm_whose_modes_asked_for_are_all_free_has_no_shape_and_keeps_its_mass():
    link = jm.SpatialLink(
        1.0, 7e10, 2700.0, jm.circle(0.05, "cowper"), poisson_ratio=0.3, joint_stiffness=0.0
    )
    shapes = jm.mode_shapes(jm.SpatialArm((link,)), 1, stations=3)
    assert shapes.frequencies.omega.tolist() == [0.0]
    assert shapes.motion.shape == (1, 1, 3, 6)
    assert shapes.residuals.shape == (1, 1, 4)
    for values in (shapes.motion, shapes.residuals, shapes.energies.hub, shapes.participation):
        assert np.all(np.isnan(np.asarray(values)))
    mass = 2700.0 * np.pi * 0.05**2 / 4.0
    np.testing.assert_allclose(np.asarray(shapes.total_mass)[:3], mass, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(shapes.total_mass)[4:], mass / 3.0, rtol=1e-2)
