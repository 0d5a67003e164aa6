"""Are frequencies of arms under axial forces right, certified, and refused beyond the critical load?

Against closed forms, 40 digits of mpmath, and the independent finite elements with geometric stiffness.
"""

import functools
import json
import math
from fractions import Fraction

import jax
import mpmath as mp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.dynamic_stiffness.cut_links import SHARES, cut_lengths
from jaxmodal.runtime.statuses import Status
from sweeps import Sweep, axis, run
from sweeps.analysis.cells import axes_of
from sweeps.analysis.verify import verify
from sweeps.plots.pictures import certificate_map
from tests.support import finite_elements
from tests.support.commands import run_command
from tests.support.real_arms import random_arm, relative, steel

INF = math.inf
E, RHO, L, DEPTH, WIDTH = 2e11, 7800.0, 0.5, 0.02, 0.04
EI, AREA, SHEAR = E * WIDTH * DEPTH**3 / 12, WIDTH * DEPTH, 0.85 * E / 2.6 * WIDTH * DEPTH
EULER = np.pi**2 * EI / L**2  # pinned at both ends
#: closed forms to 1e-13: the sums of their terms lose that much for slender beams
CLOSED = 1e-13
FREE_TIP = np.pi**2 * EI / (4 * L**2)


def pinned(force):
    held = {"support_x_stiffness": INF, "support_y_stiffness": INF}
    return jm.Arm((steel(joint_stiffness=0.0, axial_force=force, **held),))


def pinned_truth(force, theory, count):
    """Bending by its own quadratic for every half wave, rotation of all sections alike, and stretching."""
    mass, turning = mp.mpf(RHO) * AREA, mp.mpf(RHO) * EI / E
    squares = []
    for k in (mp.pi * j / L for j in range(1, count + 1)):
        squares.append(k**2 * E / RHO)
        if theory == "euler_bernoulli":
            squares.append((EI * k**4 + force * k**2) / mass)
            continue
        a, c = mass * turning, (SHEAR + force) * k**2 * (EI * k**2 + SHEAR) - SHEAR**2 * k**2
        b = mass * (EI * k**2 + SHEAR) + turning * (SHEAR + force) * k**2
        root = mp.sqrt(b * b - 4 * a * c)
        squares += [(b - root) / (2 * a), (b + root) / (2 * a)]
    if theory == "timoshenko":
        squares.append(SHEAR / turning)
    return np.array([float(mp.sqrt(x)) for x in sorted(squares)[:count]])


@pytest.mark.parametrize("theory", ["euler_bernoulli", "timoshenko"])
def test_pinned_at_both_ends(theory):
    """From nearly buckled to a string, whose stiffness is that of its tension; 20 modes pass the cut-off of shear."""
    forces = np.array([-0.9 * EULER, -0.3 * EULER, -1e-6, 1e-3, EULER, 300 * EULER])
    cells = {"link1.axial_force": forces}
    found = np.asarray(jm.natural_frequencies_batch(pinned(1.0), cells, 20, theory=theory).omega)
    one = jm.natural_frequencies(pinned(float(forces[0])), 20, theory=theory).omega
    assert np.max(relative(one, found[0])) <= CLOSED
    for k, force in enumerate(forces.tolist()):
        with mp.workdps(40):
            truth = pinned_truth(force, theory, 20)
        assert np.max(relative(found[k], truth)) <= CLOSED, force
    assert truth[0] / (np.pi / L * np.sqrt(force / (RHO * AREA))) - 1 < 2e-3  # a string


def cantilever_determinant(omega, force, theory):
    """Of force and moment at the tip for those at the base: by the exponential of the equations."""
    give = 1 / mp.mpf(SHEAR) if theory == "timoshenko" else mp.mpf(0)
    turning = mp.mpf(RHO) * EI / E if theory != "euler_bernoulli" else mp.mpf(0)
    h = 1 / (1 + force * give)
    rates = mp.matrix(4, 4)  # w, psi, M, Q
    rates[0, 1], rates[0, 3] = h, h * give
    rates[1, 2] = 1 / mp.mpf(EI)
    rates[2, 1], rates[2, 3] = force * h - omega**2 * turning, -h
    rates[3, 0] = -(omega**2) * RHO * AREA
    across = mp.expm(rates * L, method="taylor")
    return across[2, 2] * across[3, 3] - across[2, 3] * across[3, 2]


@pytest.mark.parametrize(
    "theory",
    [
        "timoshenko",
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("euler_bernoulli", "rayleigh")),
    ],
)
def test_a_cantilever_and_its_derivative_by_the_force(theory):
    with mp.workdps(40):
        for force in (-0.8 * FREE_TIP, 25 * FREE_TIP):
            arm = jm.Arm((steel(axial_force=force),))
            found = jm.sensitivities(arm, 2, addresses=["link1.axial_force"], theory=theory)
            for omega, rate in zip(
                np.asarray(found.frequencies.omega), found.derivative[:, 0], strict=True
            ):

                def determinant(x, n):
                    return cantilever_determinant(x, n, theory)

                # a step of Newton from the frequency found is its error; its slope is that of the implicit function
                at, share = mp.mpf(float(omega)), mp.mpf(10) ** -13
                here = determinant(at, force)
                by_omega = (determinant(at * (1 + share), force) - here) / (at * share)
                by_force = (determinant(at, force * (1 + share)) - here) / (force * share)
                assert abs(here / by_omega / at) <= CLOSED
                assert (
                    abs(rate / float(-by_force / by_omega) - 1) <= 1e-11
                )  # of sums along the link


def loaded_arm(seed, structure, least=-0.1, most=10.0):
    """A random arm of which every link has an axial force, in units of E I/L^2."""
    arm, rng = random_arm(seed, structure), np.random.default_rng(seed + 1000)
    slides = dict.fromkeys(("joint_axial_stiffness", "joint_shear_stiffness"))
    links = []
    for link in arm.links:
        unit = link.youngs_modulus * link.second_moment / link.length**2
        force = float(rng.uniform(least, most) * unit)
        links.append(link.replace(axial_force=force, **slides))
    return arm.replace(links=tuple(links))


STRUCTURES = ("hubs", "offsets", "bodies", "rigid", "everything")


@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 6), marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_random_arms_against_finite_elements(structure, seeds):
    """To 1e-9: a body a hundred times as heavy as its link leaves the finite elements as many digits."""
    theory = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")[
        STRUCTURES.index(structure) % 4
    ]
    for seed in seeds:
        arm = loaded_arm(seed, structure, 0.2)
        case = finite_elements.case_from_arm(arm, theory)
        truth = finite_elements.frequencies(case, 6, 24)
        shapes = jm.mode_shapes(arm, 6, theory=theory)
        assert np.max(relative(shapes.frequencies.omega, truth)) <= 1e-9
        assert np.max(shapes.residuals) <= 1e-10
        assert "preload %" in shapes.tables()[0].headings
        # the strain energy, that of the forces included, is the kinetic one
        assert np.max(np.abs(shapes.energies.strain / shapes.energies.kinetic - 1)) <= 1e-12


@pytest.mark.slow
def test_counts_of_a_thousand_random_arms():
    """At three frequencies each, buckled arms included: none differs from the finite elements' Sturm count."""
    rng = np.random.default_rng(0)
    buckled = 0
    for seed in range(1000):
        structure = STRUCTURES[seed % len(STRUCTURES)]
        arm = loaded_arm(seed, structure, -3.0, 10.0)
        theory = ("timoshenko", "rayleigh", "euler_bernoulli", "bending_only")[seed % 4]
        case = finite_elements.case_from_arm(arm, theory)
        scale = min(
            math.sqrt(k.youngs_modulus * k.second_moment / (k.density * k.area)) / k.length**2
            for k in arm.links
        )
        omega = scale * 10 ** rng.uniform(-2, 2, 3)
        counts = np.asarray(jm.count_below(arm, omega, theory=theory))
        *truth, negative = finite_elements.counts_below(case, [*omega, 1e-6 * scale], 20)
        assert counts.tolist() == truth, (seed, structure, theory)
        buckled += negative > 0
        if seed % 10:
            continue
        lowest = jm.natural_frequencies(arm, 1, theory=theory, throw=False)
        unstable = np.asarray(lowest.status) == Status.unstable
        assert unstable.all() == (negative > 0), (seed, structure, theory)
        assert np.isfinite(np.asarray(lowest.omega)).all() == (negative == 0)
    assert 100 < buckled < 900


def test_the_critical_load():
    """The lowest square goes linearly through zero there; beyond, there is a status and no number."""
    shares = np.array([0.5, 0.9, 1 - 1e-6, 1 - 1e-9, 1 + 1e-9, 1.1, 9.5])
    arm = jm.Arm((steel(axial_force=-FREE_TIP),))
    cells = {"link1.axial_force": -FREE_TIP * shares}
    found = jm.natural_frequencies_batch(arm, cells, 3, theory="euler_bernoulli")
    stable = shares < 1
    assert np.all(np.asarray(found.status)[stable] == Status.certified)
    assert np.all(np.asarray(found.status)[~stable] == Status.unstable)
    assert np.all(np.isnan(np.asarray(found.omega)[~stable]))
    slope = np.asarray(found.omega)[:, 0] ** 2 / (1 - shares)
    assert abs(slope[3] / slope[2] - 1) < 2e-6
    twice = jm.set_parameters(
        arm, {"link1.axial_force": -9.5 * FREE_TIP}
    )  # 9 is the second critical load
    assert int(jm.count_below(twice, 1e-6, theory="euler_bernoulli")) == 2
    beyond = jm.set_parameters(arm, {"link1.axial_force": -1.01 * FREE_TIP})
    with pytest.raises(jm.UncertifiedError, match="unstable: the forces at rest buckle the arm"):
        jm.natural_frequencies(beyond, 2)
    # a hinge that nothing but the force holds is a pendulum, or falls
    hanging = jm.Arm((steel(joint_stiffness=0.0, axial_force=50.0),))
    assert float(jm.natural_frequencies(hanging, 1).omega[0]) > 0.0
    standing = jm.set_parameters(hanging, {"link1.axial_force": -50.0})
    assert jm.natural_frequencies(standing, 1, throw=False).status[0] == Status.unstable
    loose = jm.set_parameters(hanging, {"link1.axial_force": 0.0})
    assert float(jm.natural_frequencies(loose, 1).omega[0]) == 0.0


def held_column(omega, beams):
    """M and Q at the free end per unit of the two free constants, as a determinant: no shear, no rotary inertia."""
    names = ("length", "youngs_modulus", "area", "second_moment", "density", "axial_force")
    length, modulus, area, second, density, force = (
        mp.mpf(float(getattr(beams, x)[0])) for x in names
    )
    rigidity, inertia = modulus * second, density * area * omega**2
    root = mp.sqrt(force**2 + 4 * rigidity * inertia)
    a, b = (mp.sqrt((root + x) / (2 * rigidity)) for x in (force, -force))
    ch, sh, co, si = (
        mp.cosh(a * length),
        mp.sinh(a * length),
        mp.cos(b * length),
        mp.sin(b * length),
    )
    # w = ch - co and sh/a - si/b
    slopes = a * sh + b * si, ch - co
    moments = a**2 * ch + b**2 * co, a * sh + b * si
    thirds = a**3 * sh - b**3 * si, a**2 * ch + b**2 * co
    forces = [rigidity * x - force * y for x, y in zip(thirds, slopes, strict=True)]
    return moments[0] * forces[1] - moments[1] * forces[0]


@pytest.mark.parametrize("seed", [5, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("beside", [1e-9, 1e-8, 1e-6, 1e-3])
def test_a_column_at_its_critical_load_is_as_exact_as_it_says(beside, seed):
    """There the last bit of its length, or of a part of it where it is cut, moves the lowest mode by 1e-8."""
    rng = np.random.default_rng(seed)
    for _ in range(3):
        length, depth = rng.uniform(0.5, 2.0), rng.uniform(0.01, 0.05)
        link = jm.Link(
            length, 7e10, 2700.0, jm.rectangle(depth, 0.05), poisson_ratio=0.3, axial_force=-1.0
        )
        critical = np.pi**2 * float(link.youngs_modulus * link.second_moment) / (4 * length**2)
        arm = jm.Arm((link.replace(axial_force=-critical * (1.0 - beside)),))
        found = jm.natural_frequencies(arm, 1, theory="bending_only")
        assert found.ok
        column = functools.partial(held_column, beams=beam_values(arm))
        with mp.workdps(50):
            low, high = (column(mp.mpf(float(x))) for x in found.bracket[0])
            at = mp.mpf(float(found.omega[0]))
            root = mp.findroot(column, (at, at * (1 + mp.mpf(10) ** -12)))
            assert low * high < 0
            assert abs(at / root - 1) <= float(found.omega_error[0]) + 1e-16


def test_the_parts_of_a_link_add_up_to_it():
    lengths = np.random.default_rng(0).uniform(0.1, 3.0, 1000)
    for share in SHARES:
        inner, outer = cut_lengths(lengths, share)
        np.testing.assert_array_equal(
            [Fraction(x) + Fraction(y) for x, y in zip(inner, outer, strict=True)],
            [Fraction(x) for x in lengths],
        )
        np.testing.assert_allclose(inner, share * lengths, rtol=1e-15)


def test_batches_and_derivatives():
    """A batch gives the numbers of single arms, and the derivatives by the forces are those of differences."""
    arm = jm.Arm((steel(axial_force=2e4, end_offset_x=0.05), steel(joint_angle=0.7, tip_mass=1.0)))
    address, other, steps = "link1.axial_force", "link1.end_offset_x", (200.0, 1e-4)
    near, there = np.array([-2, -1, 1, 2]), np.ones(4)
    force = np.concatenate([np.linspace(-2e4, 6e4, 5), 2e4 + steps[0] * near, 2e4 * there])
    offset = np.concatenate([0.05 * np.ones(9), 0.05 + steps[1] * near])
    found = jm.natural_frequencies_batch(arm, {address: force, other: offset}, 4)
    assert bool(np.all(found.certified))
    for k in (0, 4):
        one = jm.natural_frequencies(jm.set_parameters(arm, {"link1.axial_force": force[k]}), 4)
        assert np.max(relative(found.omega[k], np.asarray(one.omega))) <= 1e-11
    rate = jm.sensitivities(arm, 4, addresses=[address, other])
    for column in range(2):
        w = np.asarray(found.omega)[5 + 4 * column : 9 + 4 * column]
        difference = (8 * (w[2] - w[1]) - (w[3] - w[0])) / (12 * steps[column])
        assert np.max(np.abs(rate.derivative[:, column] / difference - 1)) <= 1e-6


@pytest.mark.slow
def test_traced_forces():
    """Compiled once for arms under axial forces: the frequencies and the derivative are those of the concrete arm."""

    def lowest(force):
        arm = jm.Arm((steel(axial_force=force),))
        return jm.natural_frequencies(arm, 2, throw=False).omega[0]

    value, rate = jax.jit(jax.value_and_grad(lowest))(3e4)
    arm = jm.Arm((steel(axial_force=3e4),))
    one = jm.sensitivities(arm, 2, addresses=["link1.axial_force"])
    assert abs(value / one.frequencies.omega[0] - 1) <= 1e-14
    assert abs(rate / one.derivative[0, 0] - 1) <= 1e-10
    assert math.isnan(float(lowest(-2 * FREE_TIP)))


def test_arms_without_forces_know_nothing_of_them():
    arm = jm.Arm((steel(), steel(joint_angle=0.3, support_y_stiffness=1e5)))
    beams = beam_values(arm)
    assert (beams.axial_force, beams.base_turning_stiffness, beams.end_turning_stiffness) == (
        None,
    ) * 3
    unloaded = jm.Arm(tuple(link.replace(axial_force=0.0) for link in arm.links))
    own, other = (np.asarray(jm.natural_frequencies(x, 8).omega) for x in (arm, unloaded))
    assert np.max(relative(own, other)) <= 1e-15 * 4


def test_files_and_the_command_line(tmp_path):
    arm = jm.Arm((steel(axial_force=-1e4), steel(joint_angle=0.4)))
    path = tmp_path / "arm.toml"
    jm.write_arm(arm, path)
    assert jm.read_arm(path) == arm
    given = ["frequencies", str(path), "--modes", "3", "--format", "json"]
    ran = run_command(*given)
    assert ran.exit_code == 0, ran.output
    found = 2 * np.pi * np.array(json.loads(ran.output)[0]["frequencies_hz"])
    assert np.max(relative(found, np.asarray(jm.natural_frequencies(arm, 3).omega))) <= 1e-14
    jm.write_arm(jm.set_parameters(arm, {"link1.axial_force": -1e6}), path)
    ran = run_command(*given)
    assert ran.exit_code != 0
    assert "unstable" in ran.output


def test_a_buckled_arm_has_no_shapes_and_no_derivatives():
    """NaN, with the status; the derivative of what is not known is not zero."""
    buckled = jm.Arm((steel(axial_force=-2.0 * EULER),))
    shapes = jm.mode_shapes(buckled, 2, throw=False)
    assert shapes.frequencies.status.tolist() == [Status.unstable] * 2
    assert np.isnan(shapes.v).all()
    assert np.isnan(shapes.energies.preload).all()

    def lowest(force):
        arm = jm.Arm((steel(axial_force=force),))
        return jm.natural_frequencies(arm, 1, throw=False).omega[0]

    assert np.isnan(jax.grad(lowest)(-2.0 * EULER))
    assert jax.grad(lowest)(-0.1 * EULER) > 0.0


def test_bad_values():
    with pytest.raises(jm.ArmError, match=r"axial_force = -4.*greater than -kappa G A"):
        steel(axial_force=-4e8)
    with pytest.raises(jm.ArmError, match=r"axial_force = inf"):
        steel(axial_force=INF)
    arm = jm.Arm((steel(axial_force=1e3), steel(joint_shear_stiffness=1e5)))
    with pytest.raises(jm.ArmError, match=r"link2\.joint_shear_stiffness = .*at the base alone"):
        jm.natural_frequencies(arm, 2)
    cells = {"link1.axial_force": np.array([1e3, -4e8])}
    found = jm.natural_frequencies_batch(jm.Arm(arm.links[:1]), cells, 2)
    assert np.asarray(found.status)[:, 0].tolist() == [Status.certified, Status.invalid_input]


def test_a_sweep_to_the_critical_load(tmp_path):
    """Cells beyond it are marked in the store, verified as such, and drawn."""
    pytest.importorskip("matplotlib")
    arm = jm.Arm((steel(axial_force=0.0, joint_stiffness=1e4),))
    forces = np.array([-1.5, -0.9, 0.0, 1.0]) * FREE_TIP
    axes = [axis("link1.axial_force", forces), axis("link1.joint_stiffness", [1e6, 1e7])]
    ds = run(Sweep(arm, axes, theories=["rayleigh"], num_modes=2), tmp_path / "store.zarr").load()
    status = ds.status.squeeze().values
    assert np.all(status[0] == Status.unstable)
    assert np.all(status[2:] == Status.certified)
    assert verify(ds, 8).failures == ()
    labels = [text.get_text() for text in certificate_map(ds, *axes_of(ds)[:2]).legends[0].texts]
    assert any("unstable" in label for label in labels)


def uneven(forces, stiffness=math.inf):
    """A short thick link between two long thin ones, whose inertia at the lowest frequencies is lost beside it."""
    sizes = ((0.6, 0.008), (0.06, 0.06), (0.3, 0.01))
    return jm.Arm(
        tuple(
            jm.Link(
                length,
                7e10,
                2700.0,
                jm.rectangle(depth, 0.01, 0.85),
                poisson_ratio=0.3,
                axial_force=force,
                joint_stiffness=stiffness,
            )
            for (length, depth), force in zip(sizes, forces, strict=True)
        )
    )


@pytest.mark.parametrize("kind", ["plane", "space"])
def test_links_that_differ_much_do_not_buckle_under_next_to_nothing(kind):
    """Counts at the lowest frequencies are noise there; at higher ones they are not, and are no lower than at zero."""
    made = jm.to_spatial if kind == "space" else lambda arm: arm
    free = jm.natural_frequencies(made(uneven((None, None, None))), 2, theory="euler_bernoulli")
    rng = np.random.default_rng(5)
    for _ in range(12):
        arm = made(uneven(1e-16 * rng.normal(size=3)))
        found = jm.natural_frequencies(arm, 2, theory="euler_bernoulli", throw=False)
        np.testing.assert_allclose(found.omega, free.omega, rtol=1e-11, atol=0.0)
    pressed = np.array([-1.0, -0.5, -0.2])
    factor = float(jm.buckling(uneven(pressed), 1, theory="euler_bernoulli").factors[0])
    for share, expected in ((1.0 - 1e-7, Status.certified), (1.0 + 1e-7, Status.unstable)):
        arm = made(uneven(share * factor * pressed))
        found = jm.natural_frequencies(arm, 1, theory="euler_bernoulli", throw=False)
        assert int(found.status[0]) == expected


def test_level_arms_with_rigid_links_bear_their_weight():
    """Weight across all links leaves axial forces of rounding."""
    beam = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3}
    rng = np.random.default_rng(0)
    links = [
        jm.Link(1.0, section=jm.rectangle(0.02, 0.01, 0.85), rigid=k == 1, **beam) for k in range(3)
    ]
    arm, lengths = jm.Arm(tuple(links)), rng.uniform(0.1, 0.5, (20, 3))
    cells = {f"link{k + 1}.length": column for k, column in enumerate(lengths.T)}
    alone = np.asarray(jm.natural_frequencies_batch(arm, cells, 1).omega)
    for k, expected in enumerate(alone):
        own = jm.set_parameters(arm, {name: float(x[k]) for name, x in cells.items()})
        loaded = own.replace(loads=jm.Loads(gravity=9.81))
        found = jm.natural_frequencies(loaded, 1, throw=False)
        np.testing.assert_allclose(found.omega, expected, rtol=1e-11, atol=0.0)
