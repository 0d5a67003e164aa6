"""Are the mode shapes the true ones? Conditions, energies, closed forms, finite elements, symmetry."""

import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
from numpy.polynomial import legendre

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.eigenspaces.modal_mass import quadrature_size
from jaxmodal.eigenspaces.null_spaces import eigenspace
from jaxmodal.runtime.namespace import to_host
from tests.support import finite_elements
from tests.support.commands import run_command
from tests.support.problems import problems

RESIDUAL = 1e-9
"""What every condition at base, joints and tip may be missed by, relative to its scale."""

ORTHOGONALITY = 1e-10
"""Mass inner products of different modes, of unit modal mass."""

RAYLEIGH = 1e-10
"""Strain energy over kinetic energy against omega^2: the quadrature's error and rounding."""

CLOSED_FORM = 1e-12
"""Handbook formulas in float64 against the exact fields."""

AGAINST_ELEMENTS = 1e-9
"""p-elements of degree 42 have converged; near a neighbour in frequency both lose digits."""

DIFFERENCES = 1e-7
"""Central differences of fourth order of shapes."""

SMALL = [p for p in problems().values() if p.num_modes <= 20]
QUICK = {"P01", "P04", "P05", "P08", "P11", "P12", "P18", "P22", "P24", "P31", "P33", "P36", "P37"}
CASES = [
    pytest.param(p, id=p.name, marks=[] if p.name in QUICK else pytest.mark.slow) for p in SMALL
]


@functools.cache
def shapes_of(name, stations=2):
    """Once for all tests of a worker; arrays of NumPy, on which nothing is compiled."""
    problem = problems()[name]
    shapes = jm.mode_shapes(problem.arm, problem.num_modes, theory=problem.model, stations=stations)
    return jax.tree_util.tree_map(np.asarray, shapes)


def test_every_case_of_at_most_twenty_frequencies_is_here():
    assert len(SMALL) == 34


@pytest.mark.parametrize("problem", CASES)
def test_conditions_orthogonality_and_energies(problem):
    shapes = shapes_of(problem.name)
    assert np.max(shapes.residuals) <= RESIDUAL
    assert np.max(np.abs(shapes.orthogonality - np.eye(problem.num_modes))) <= ORTHOGONALITY
    assert np.max(np.abs(shapes.rayleigh_quotient / shapes.omega**2 - 1)) <= RAYLEIGH
    assert np.allclose(shapes.energies.kinetic, shapes.omega**2 / 2, rtol=RAYLEIGH, atol=0)


def unit_cantilever(theory="bending_only"):
    link = jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0))
    return jm.mode_shapes(jm.Arm((link,)), 5, theory=theory, stations=11)


def test_cantilever_against_the_handbook():
    """v = cosh bx - cos bx - s (sinh bx - sin bx), of unit mass as it stands; all section forces."""
    shapes = unit_cantilever()
    x = np.linspace(0, 1, 11)
    for k in range(5):
        guess = (k + 0.5) * np.pi
        b = scipy.optimize.brentq(lambda b: np.cos(b) + 1 / np.cosh(b), guess - 0.4, guess + 0.4)
        ch, sh, c, s = np.cosh(b * x), np.sinh(b * x), np.cos(b * x), np.sin(b * x)
        ratio = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        sign = np.sign(ch - c - ratio * (sh - s))[-1]
        expected = {
            "v": ch - c - ratio * (sh - s),
            "psi": b * (sh + s - ratio * (ch - c)),
            "moment": b**2 * (ch + c - ratio * (sh + s)),
            "shear": -(b**3) * (sh - s - ratio * (ch + c)),
        }
        for name, values in expected.items():
            scale = np.max(np.abs(values))
            # the formula itself cancels: exp(b) times eps
            tolerance = CLOSED_FORM + 1e-15 * np.exp(b)
            found = np.asarray(getattr(shapes, name))[k, 0]
            assert np.max(np.abs(found - sign * values)) <= tolerance * scale, (k, name)


def test_rod_against_the_handbook():
    """The axial mode of a unit rod: sqrt(2) sin(pi x/2), force sqrt(2) pi/2 cos(pi x/2)."""
    shapes = unit_cantilever("euler_bernoulli")
    axial = int(np.argmin(np.abs(np.asarray(shapes.omega) - np.pi / 2)))
    x = np.linspace(0, 1, 11)
    assert np.allclose(shapes.u[axial, 0], np.sqrt(2) * np.sin(np.pi * x / 2), atol=CLOSED_FORM)
    force = np.sqrt(2) * np.pi / 2 * np.cos(np.pi * x / 2)
    assert np.allclose(shapes.normal[axial, 0], force, atol=CLOSED_FORM)
    assert np.allclose(shapes.v[axial], 0, atol=CLOSED_FORM)


def test_effective_mass_of_a_cantilever():
    """0.6131 of the mass in the first bending mode (A. K. Chopra, Dynamics of Structures)."""
    shapes = unit_cantilever()
    assert float(shapes.effective_mass[0, 1]) == pytest.approx(0.6131, abs=5e-5)
    assert np.allclose(shapes.total_mass, [1, 1, 1 / 3], rtol=CLOSED_FORM)


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_effective_masses_add_up_to_the_total(theory):
    arm = jm.examples.three_link_industrial().with_posture([0.7, -1.1])
    shapes = jm.mode_shapes(arm, 32, theory=theory, stations=2)
    share = np.cumsum(np.asarray(shapes.effective_mass), axis=0) / np.asarray(shapes.total_mass)
    assert np.all(share <= 1 + CLOSED_FORM)
    reached = np.ones(3)
    if theory == "bending_only":
        # link 1 lies along x and moves along it with the base alone; what hangs on it is held back, too
        first = arm.links[0]
        reached[0] -= float((first.mass + first.tip_mass) / arm.total_mass)
    assert np.all(share[-1] > 0.85 * reached)
    assert np.all(share[-1] <= reached + CLOSED_FORM)
    assert float(shapes.total_mass[0]) == pytest.approx(float(arm.total_mass), rel=CLOSED_FORM)


@pytest.mark.parametrize("name", ["P05", "P06", "P08", "P31"])
def test_against_finite_elements(name):
    """Left singular vectors of the p-elements' mass factor are mass-weighted displacements."""
    problem, degree = problems()[name], 42
    case = problem.case
    vectors, _, _ = np.linalg.svd(finite_elements.mass_factor(case, degree), full_matrices=False)
    points, weights = legendre.leggauss(degree + 4)
    shapes = shapes_of(name, tuple((points + 1) / 2))
    tips = shapes_of(name, 2)
    for k in range(problem.num_modes):
        own = []
        for i, link in enumerate(case.links):
            mass = weights * link.L / 2 * link.rho
            own += [np.sqrt(mass * link.A) * getattr(shapes, f)[k, i] for f in ("u", "v")]
            if case.model in ("timoshenko", "rayleigh"):
                own.append(np.sqrt(mass * link.I) * shapes.psi[k, i])
            if link.M > 0:
                own.append(np.sqrt(link.M) * np.array([tips.u[k, i, -1], tips.v[k, i, -1]]))
            if link.J > 0:
                own.append(np.sqrt(link.J) * np.atleast_1d(tips.psi[k, i, -1]))
        own = np.concatenate(own)
        sign = np.sign(own @ vectors[:, k])
        assert np.linalg.norm(own - sign * vectors[:, k]) <= AGAINST_ELEMENTS, k


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_mirrored_posture_mirrors_the_shapes(theory):
    arm = jm.examples.three_link_industrial()
    one = jm.mode_shapes(arm.with_posture([0.4, -1.3]), 6, theory=theory)
    other = jm.mode_shapes(arm.with_posture([-0.4, 1.3]), 6, theory=theory)
    mirror = np.sign(np.sum(one.u * other.u, axis=(1, 2)))[:, None, None]
    for name, sign in (("u", 1), ("v", -1), ("psi", -1), ("normal", 1), ("shear", -1)):
        expected = sign * mirror * np.asarray(getattr(other, name))
        found = np.asarray(getattr(one, name))
        assert np.max(np.abs(found - expected)) <= 1e-11 * np.max(np.abs(found)), name
    assert np.allclose(one.position[..., 1], -other.position[..., 1], atol=1e-14)


def test_sign_of_a_mode():
    """The tip of the last link moves to its left in every mode that moves it sideways."""
    shapes = shapes_of("P08")
    assert np.all(np.asarray(shapes.v)[:, -1, -1] > 0)


@pytest.mark.parametrize("name", ["P08", "P24"])
def test_global_shape_is_continuous_at_the_joints(name):
    """End values of the fields themselves, also where a body of 1e6 times a link's mass is at rest."""
    shapes = shapes_of(name, 5)
    moved = np.asarray(shapes.displacement)
    scale = np.max(np.abs(moved))
    assert np.max(np.abs(moved[:, 1:, 0] - moved[:, :-1, -1])) <= 1e-14 * scale
    position = np.asarray(shapes.position)
    assert np.allclose(position[1:, 0], position[:-1, -1], atol=1e-15)


def test_energy_is_where_the_theory_allows_it():
    arm = jm.examples.three_link_industrial().with_posture([0.7, -1.1])
    energies = {
        theory: jm.mode_shapes(arm, 4, theory=theory, stations=2).energies for theory in jm.THEORIES
    }
    assert np.all(np.asarray(energies["timoshenko"].shear) > 0)
    for theory in ("rayleigh", "euler_bernoulli", "bending_only"):
        assert np.all(np.asarray(energies[theory].shear) == 0)
    assert np.all(np.asarray(energies["bending_only"].axial) == 0)
    assert np.all(np.asarray(energies["euler_bernoulli"].rotation) == 0)
    assert np.all(np.asarray(energies["timoshenko"].joint) == 0)


def fields_of(length, mass):
    """Fields of four modes by the length of link 2 and the payload, and what their conditions are missed by."""
    arm = jm.examples.three_link_industrial().with_posture([0.7, -0.5])
    changed = jm.set_parameters(arm, {"link2.length": length, "payload.mass": mass})
    shapes = jm.mode_shapes(changed, 4, stations=5, throw=False)
    return jnp.stack([shapes.v, shapes.psi, shapes.moment * 1e-6]), shapes.residuals


LENGTHS, MASSES = np.array([1.5, 1.5, 1.2]), np.array([0.0, -1.0, 2.0])


@pytest.fixture(scope="module")
def lanes():
    """Fields, their derivatives by the length and the residuals of three arms, the second impossible.

    One program for two tests: compiling it is the most of what they take.
    """

    def both(length, mass):
        return jax.jvp(lambda x: fields_of(x, mass), (length,), (1.0,), has_aux=True)

    return [np.asarray(x) for x in jax.jit(jax.vmap(both))(LENGTHS, MASSES)]


@pytest.mark.slow
def test_jit_and_vmap_give_the_same_shapes_and_invalid_lanes_are_nan(lanes):
    fields, _, residuals = lanes
    for i in (0, 2):
        own = np.asarray(fields_of(float(LENGTHS[i]), float(MASSES[i]))[0])  # in NumPy
        assert np.max(np.abs(fields[i] - own)) <= 1e-11 * np.max(np.abs(own))
    assert np.all(np.isnan(residuals[1]))
    assert np.all(np.isnan(fields[1]))
    assert np.all(residuals[[0, 2]] <= RESIDUAL)


@pytest.mark.slow
def test_derivative_of_a_shape(lanes):
    _, derivatives, _ = lanes
    h = 1e-4
    for i in (0, 2):
        steps = [
            np.asarray(fields_of(float(LENGTHS[i] + k * h), float(MASSES[i]))[0])
            for k in (-2, -1, 1, 2)
        ]
        difference = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / (12 * h)
        off = np.max(np.abs(derivatives[i] - difference))
        assert off <= DIFFERENCES * np.max(np.abs(difference))


@pytest.mark.slow
def test_quadrature_has_converged():
    """Twice as many nodes change no modal mass: boundary layers and forty half-waves included. In NumPy."""
    problem = problems()["P43"]
    flags = jm.dynamic_stiffness.beams.theory_flags(problem.model)
    beams, flags = to_host((beam_arrays(problem.arm), flags))
    omega = np.asarray(problem.omega)[-1]
    size = quadrature_size(problem.num_modes)
    one, other = (
        eigenspace(beams, flags, omega, np.asarray(1), n, np.array([0.1, 1.0]))
        for n in (size, 2 * size)
    )
    assert np.allclose(np.abs(one.at[0]), np.abs(other.at[0]), rtol=1e-11, atol=1e-11)


def test_assurance_of_a_set_with_itself():
    shapes = shapes_of("P08")
    assert np.allclose(jm.modal_assurance(shapes, shapes), np.eye(15), atol=ORTHOGONALITY)


def test_assurance_of_unlike_sets_is_refused():
    with pytest.raises(ValueError, match="same numbers of modes and links"):
        jm.modal_assurance(shapes_of("P08"), shapes_of("P05"))


@pytest.mark.parametrize("stations", [1, True, (), [0.5, 1.5], np.ones((1, 1))])
def test_unusable_stations_are_refused(stations):
    with pytest.raises(ValueError, match="stations = "):
        jm.mode_shapes(jm.examples.two_link_flexible(), 1, stations=stations)


def test_dataset():
    data = shapes_of("P08").to_xarray()
    assert data.v.dims == ("mode", "link", "station")
    assert data.frequency.attrs["units"] == "Hz"
    assert float(data.effective_mass.sel(mode=1, excitation="rotation")) > 0


def test_command_prints_the_fields(tmp_path):
    common = ["modes", "example:two_link_flexible", "--modes", "2", "--stations", "3"]
    table = run_command(*common)
    assert table.exit_code == 0, table.output
    assert "residual" in table.output
    rows = run_command(*common, "--format", "csv").output.splitlines()
    assert len(rows) == 1 + 2 * 2 * 3
    (plain,) = json.loads(run_command(*common, "--format", "json").output)
    shapes = jm.mode_shapes(jm.examples.two_link_flexible(), 2, stations=3)
    assert np.array_equal(plain["v"], np.asarray(shapes.v))


def test_command_draws(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from jaxmodal.plots import modes

    monkeypatch.setattr(modes, "animate_mode", functools.partial(modes.animate_mode, frames=2))
    picture, film = tmp_path / "modes.png", tmp_path / "mode.gif"
    common = ["modes", "example:two_link_flexible", "--modes", "3"]
    both = ["--theory", "euler_bernoulli", "--theory", "timoshenko"]
    result = run_command(*common, *both, "--plot", picture, "--animate", film, "--mode", "2")
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert film.read_bytes().startswith(b"GIF8")


def test_command_refuses_a_mode_that_is_not_computed():
    result = run_command("modes", "example:two_link_flexible", "--modes", "2", "--mode", "3")
    assert result.exit_code == 2
    assert "--mode 3" in result.output
