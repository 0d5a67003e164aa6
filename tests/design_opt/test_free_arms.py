"""Are arms with free joints and bases optimised to closed forms, and are their derivatives exact?"""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

import jaxmodal as jm
from design_opt import (
    METHODS,
    BucklingLimit,
    DeflectionLimit,
    Evaluator,
    FrequencyLimit,
    MassLimit,
    MaximiseFrequency,
    Minimise,
    MinimiseMass,
    Problem,
    ProblemError,
    Require,
    ResponseLimit,
    Variable,
    optimise,
    read_problem,
)
from design_opt.output.plots import pictures
from tests.support import exact_derivatives
from tests.support.commands import run_command
from tests.support.free_arms import FREE, STANDING, linkage, pair

LENGTH, MODULUS, DENSITY = 1.2, 7e10, 2700.0
ROOT = 4.7300407448627040260  # cos x cosh x = 1
WANTED = 120.0
RESIDUAL = 1e-6
"""A search stops at a residual of the optimality conditions of 1e-6 beside positions of order 1."""
EXACT = 1e-10
"""Derivatives beside 40 digits, relative to the largest."""


def thickness():
    """Of a free beam whose first vibration is the wanted one: f = x^2/(2 pi) h/L^2 sqrt(E/(12 rho))."""
    return 2.0 * math.pi * WANTED * (LENGTH / ROOT) ** 2 * math.sqrt(12.0 * DENSITY / MODULUS)


def free_beam():
    return jm.Arm((jm.Link(LENGTH, MODULUS, DENSITY, jm.rectangle(0.05, 0.03), **FREE),))


def lightest(limit, arm=None, variables=None):
    depth = Variable("link1.section.depth", 0.01, 0.08)
    arm, variables = arm or free_beam(), variables or [depth]
    return Problem(arm, variables, MinimiseMass(), [limit], theory="euler_bernoulli")


@pytest.mark.parametrize("method", METHODS)
def test_the_lightest_free_beam(method):
    """Mode 4 is the first that vibrates; the certificate holds the three of frequency 0 as well."""
    problem = lightest(FrequencyLimit(4, at_least_hz=WANTED))
    found = optimise(problem, method)
    assert found.status == jm.Status.converged
    assert found.values["link1.section.depth"] == pytest.approx(thickness(), rel=RESIDUAL)
    assert found.report.hz["own"][0, :3].tolist() == [0.0, 0.0, 0.0]
    assert found.certified
    assert found.certified_postures["own"] == (1, 1)
    assert "5 of 5 certified; 0.000000, 0.000000, 0.000000, 120.0" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_lightest_free_beam_in_space_is_square(method):
    """Six motions without strain; both planes reach the limit together, so modes 7 and 8 coincide."""
    axes = np.eye(3).tolist()
    springs = [jm.Spring("translation", tuple(axis), 0.0) for axis in axes]
    springs += [jm.Spring("rotation", tuple(axis), 0.0) for axis in axes[:2]]
    link = jm.SpatialLink(
        LENGTH, MODULUS, DENSITY, jm.rectangle(0.06, 0.04), poisson_ratio=0.33,
        joint_axis=(0.0, 0.0, 1.0), joint_stiffness=0.0, joint_springs=tuple(springs),
    )  # fmt: skip
    sides = [Variable(f"link1.section.{side}", 0.01, 0.1) for side in ("depth", "width")]
    arm = jm.SpatialArm((link,))
    found = optimise(lightest(FrequencyLimit(7, at_least_hz=WANTED), arm, sides), method)
    assert found.status == jm.Status.converged
    assert found.certified
    assert list(found.values.values()) == pytest.approx([thickness()] * 2, rel=RESIDUAL)
    with pytest.raises(ProblemError, match=r"mode 6 .* 6 modes .* Modes from 7 on"):
        lightest(FrequencyLimit(6, at_least_hz=WANTED), arm, sides)


def two_bars(elbow):
    """Rigid bars, pinned at the base, 2 kg at each tip, a spring between them; stretched out."""
    bar = jm.Link(0.5, MODULUS, 1e-9, jm.raw_section(1e-4, 1e-9), rigid=True, tip_mass=2.0)
    first = bar.replace(joint_stiffness=0.0)
    return jm.Arm((first, bar.replace(joint_stiffness=elbow)))


@pytest.mark.slow
def test_the_softest_elbow_of_a_pinned_arm():
    """Absolute angles: M = m l^2 [[2, 1], [1, 1]], so that w^2 = 5 k/(m l^2)."""
    problem = Problem(
        two_bars(300.0),
        [Variable("link2.joint_stiffness", 100.0, 1000.0)],
        Minimise(lambda design: design.variables[0], "elbow [N m/rad]"),
        [Require(lambda design: design.hz["own"][:, 1] / 12.0 - 1.0, "f2 >= 12 Hz", "own", 2)],
        theory="euler_bernoulli",
    )
    found = optimise(problem)
    assert found.status == jm.Status.converged
    assert found.certified
    elbow = (2.0 * math.pi * 12.0) ** 2 * 2.0 * 0.25 / 5.0
    assert found.values["link2.joint_stiffness"] == pytest.approx(elbow, rel=RESIDUAL)


def receptance(depth, hz):
    """Of the free beam across its end, per unit of force."""
    area, second = 0.03 * depth, 0.03 * depth**3 / 12.0
    wave = ((2.0 * math.pi * hz) ** 2 * DENSITY * area / (MODULUS * second)) ** 0.25
    x = wave * LENGTH
    numerator = math.sin(x) * math.cosh(x) - math.cos(x) * math.sinh(x)
    return numerator / (MODULUS * second * wave**3 * (math.cos(x) * math.cosh(x) - 1.0))


def test_a_response_may_be_limited_of_an_arm_that_moves_freely():
    hz, most = 10.0, 3e-4  # below the lowest zero of the response
    limit = ResponseLimit(
        input="tip.across", output="tip.across", at_hz=hz, at_most=most, theory="euler_bernoulli"
    )
    found = optimise(lightest(limit))
    assert found.status == jm.Status.converged
    depth = brentq(lambda depth: abs(receptance(depth, hz)) - most, 0.01, 0.08, xtol=1e-14)
    assert found.values["link1.section.depth"] == pytest.approx(depth, rel=RESIDUAL)
    assert found.problem.num_modes == 4  # so that one that vibrates is shown and certified
    assert found.certified


@pytest.mark.slow
def test_a_rigid_arm_that_floats_has_no_mode_that_vibrates():
    """A bar of mass m and length l pushed across its end answers as 4/(m w^2)."""
    hz, most = 10.0, 3e-4
    bar = jm.Link(LENGTH, MODULUS, DENSITY, jm.rectangle(0.05, 0.03), rigid=True, **FREE)
    tip = {"input": "tip.across", "output": "tip.across"}
    limit = ResponseLimit(**tip, at_hz=hz, at_most=most, theory="euler_bernoulli")
    found = optimise(lightest(limit, jm.Arm((bar,))))
    assert found.status == jm.Status.converged
    mass = 4.0 / (most * (2.0 * math.pi * hz) ** 2)
    assert found.objectives["total mass [kg]"][1] == pytest.approx(mass, rel=RESIDUAL)
    assert pictures(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDING)
@pytest.mark.parametrize("postures", ["own", "few"])
def test_derivatives_against_forty_digits(name, postures):
    """Of the first two frequencies that vibrate, by values of both links, in the arm's own posture and another."""
    arm, zeros = STANDING[name]
    variables = [
        Variable("link1.section.depth", 0.02, 0.05),
        Variable("link2.length", 0.3, 0.6),
        Variable("link2.tip_mass", 1.0, 3.0),
        Variable("link2.joint_stiffness", 1e3, 1e4),
    ]
    few = {"few": [[-0.5, 0.9]]}
    for mode in (zeros + 1, zeros + 2):
        objective = MaximiseFrequency(mode, postures, cluster=0)
        evaluator = Evaluator(Problem(arm, variables, objective, postures=few))
        scale = evaluator.program.measure.scales[0]
        y = evaluator.problem.space.start
        posed = arm if postures == "own" else arm.with_posture(few["few"][0])
        values = zip(variables, y, strict=True)
        posed = jm.set_parameters(posed, {v.name: float(v.physical(x)) for v, x in values})
        omega = 2.0 * math.pi * evaluator.start.hz[postures][0, mode - 1]
        exact, rates = exact_derivatives.frequency_and_derivatives(
            posed, ["rectangle"] * 2, "timoshenko", omega
        )
        assert abs(omega / float(exact) - 1.0) <= 1e-12
        expected = [float(rates[v.name]) * (v.upper - v.lower) / (2.0 * math.pi) for v in variables]
        found = -evaluator.linearise(y).objective_rate * scale
        assert np.max(np.abs(found - expected)) <= EXACT * np.max(np.abs(expected))


DEPTH = Variable("link*.section.depth", 0.02, 0.05)


def held_linkage():
    """Free joints that make no mode of frequency 0."""
    *others, last = linkage().links
    return jm.Arm((*others, last.replace(support_y_stiffness=1e5)))


@pytest.mark.parametrize("name", ["linkage", pytest.param("elastic base", marks=pytest.mark.slow)])
def test_all_limits_of_an_arm_that_springs_to_the_ground_hold(name):
    """Against the functions for single arms, and differences of these."""
    on_base = pair([1e6, 3e5, 4e3], joint_stiffness=2e3)
    held, length = {"linkage": (held_linkage(), 4e-4), "elastic base": (on_base, 0.02)}[name]
    loads = {"tip_force_x": -500.0, "gravity": 9.81}
    limits = [DeflectionLimit(length, 9.81), BucklingLimit(2.0, **loads), FrequencyLimit(1, 20.0)]
    problem = Problem(held, [DEPTH], MinimiseMass(), limits)
    evaluator = Evaluator(problem)

    def truth(y):
        arm = problem.space.design_at(y)
        gravity = {"gravity": (0.0, -9.81)}
        moved = np.asarray(jm.static_equilibrium(arm, **gravity).tip_displacement)[:2]
        factor = float(jm.buckling(arm, 1, **gravity, tip_force=(-500.0, 0.0)).factors[0])
        hz = np.asarray(jm.natural_frequencies(arm, 2).frequencies_hz)
        return np.array([1.0 - moved @ moved / length**2, 1.0 - 2.0 / factor, *(hz / 20.0 - 1.0)])

    y, step = np.array([0.4]), np.array([1e-4])
    at = evaluator.linearise(y)
    expected = truth(y)
    assert at.inequalities == pytest.approx(np.minimum(expected, 1.0), abs=1e-9)
    slope = (truth(y + step) - truth(y - step)) / 2e-4
    slope = np.where(expected < 1.0, slope, 0.0)
    assert np.abs(slope[:3]).min() > 1e-3
    assert at.inequality_rates[:, 0] == pytest.approx(slope, abs=1e-6)


@pytest.mark.slow
def test_the_worst_of_many_postures_beside_a_search():
    """A pinned arm of a given mass: its first vibration in 600 postures, beside a search of one variable."""
    fold = np.linspace(0.0, 2.5, 600)[:, None]
    arm = pair(joint_stiffness=0.0)
    depths = [Variable(f"link{i}.section.depth", 0.004, 0.018) for i in (1, 2)]
    objective = MaximiseFrequency(2, "fold", cluster=1)
    limit = MassLimit(at_most="today")
    found = optimise(Problem(arm, depths, objective, [limit], postures={"fold": fold}))
    assert found.status == jm.Status.converged
    assert found.certified_postures["fold"] == (600, 600)
    assert found.certified

    def worst(depth):
        """Equal widths, so that the depths add up to today's 2 cm."""
        shared = {depths[0].name: float(depth), depths[1].name: 0.02 - float(depth)}
        changed = jm.set_parameters(arm, shared)
        cells = jm.natural_frequencies_batch(changed, {"theta_2": fold[:, 0]}, 2)
        return float(np.min(cells.frequencies_hz[:, 1]))

    best = minimize_scalar(
        lambda depth: -worst(depth),
        bounds=(0.004, 0.016),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert 0.0041 < best.x < 0.0159, "the bounds decide"
    assert found.report.objectives[0] == pytest.approx(-best.fun, rel=1e-6)
    assert found.values[depths[0].name] == pytest.approx(best.x, rel=1e-4)
    drawn = pictures(found)["postures"].axes[0]
    labels = [line.get_label() for line in drawn.lines]
    assert "f2 after" in labels
    assert "f1 after" not in labels


FILE = """
theory = "euler_bernoulli"

[arm]
base_stiffness = [0.0, 0.0, 0.0]
[[arm.links]]
length = 1.2
youngs_modulus = 7e10
density = 2700.0
section = { shape = "rectangle", width = 0.05, depth = 0.03 }

[[variables]]
parameter = "link1.section.depth"
lower = 0.01
upper = 0.08

[objective]
minimise = "mass"

[[constraints]]
kind = "frequency"
mode = MODE
at_least_hz = 120.0
"""


def test_the_command_takes_a_free_base(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beam.toml").write_text(FILE.replace("MODE", "4"))
    (tmp_path / "still.toml").write_text(FILE.replace("MODE", "1"))
    result = run_command("optimise", "beam.toml", "--no-plot")
    assert result.exit_code == 0, result.output
    assert "active: f4 >= 120 Hz" in result.stdout
    depth = float(jm.read_arm("beam_arm.toml").links[0].section.depth)
    assert depth == pytest.approx(thickness(), rel=RESIDUAL)
    refused = run_command("optimise", "still.toml")
    assert refused.exit_code == 2
    assert "3 modes of frequency 0 in its own posture (base_stiffness.k11" in refused.output
    problem, _ = read_problem("beam.toml")
    assert problem.zero_modes["own"].most == 3


@pytest.mark.slow
def test_derivatives_of_a_free_joint_in_space_against_differences():
    """A hinge between two flat bars and a slide at the base, in two postures of a set."""
    axis = {"joint_axis": (0.2, 1.0, -0.4), "joint_angle": 0.5}
    slide = (jm.Spring("translation", (0.0, 1.0, 0.0), 0.0),)
    section = jm.rectangle(0.03, 0.012, "cowper")
    bar = jm.SpatialLink(0.6, MODULUS, DENSITY, section, poisson_ratio=0.33)
    arm = jm.SpatialArm(
        (
            bar.replace(joint_springs=slide, joint_stiffness=2e3),
            bar.replace(joint_stiffness=0.0, body=jm.RigidBody(2.0, inertia=(4e-3,) * 3), **axis),
        )
    )
    variables = [
        Variable("link1.length", 0.4, 0.8),
        Variable("link2.section.depth", 0.02, 0.05),
        Variable("link2.body.mass", 1.0, 4.0),
        Variable("link1.joint_stiffness", 1e3, 5e3),
    ]
    few = {"few": [[0.0, 0.3], [0.4, -0.9]]}
    limit = FrequencyLimit(3, at_most_hz=1e3, postures="few")
    problem = Problem(arm, variables, MinimiseMass(), [limit], postures=few)
    assert problem.zero_modes["few"].most == 2

    def truth(y):
        posed = [problem.space.design_at(y).with_posture(row) for row in few["few"]]
        return 1.0 - np.array([float(jm.natural_frequencies(x, 3).omega[2]) for x in posed]) / (
            2e3 * math.pi
        )

    y = np.array([0.35, 0.4, 0.5, 0.6])
    at = Evaluator(problem).linearise(y)
    assert at.inequalities == pytest.approx(truth(y), abs=1e-11)
    for k, step in enumerate(1e-4 * np.eye(4)):
        difference = (truth(y + step) - truth(y - step)) / 2e-4
        assert np.abs(difference).max() > 1e-5
        assert at.inequality_rates[:, k] == pytest.approx(difference, abs=1e-8)
