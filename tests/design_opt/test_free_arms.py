"""Are arms with free joints and bases optimised to closed forms, and modes of frequency 0 never taken for others?"""

import math

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import brentq, minimize_scalar

import jaxmodal as jm
from design_opt import (
    BucklingLimit,
    DeflectionLimit,
    Evaluator,
    ForbiddenBand,
    FrequencyLimit,
    MassLimit,
    Maximise,
    MaximiseBuckling,
    MaximiseFrequency,
    MaximiseGap,
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
from jaxmodal.cli.commands import main
from tests import exact_derivatives

FREE = {"joint_stiffness": 0.0, "joint_axial_stiffness": 0.0, "joint_shear_stiffness": 0.0}
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


@pytest.mark.parametrize(
    "method", ["slsqp", pytest.param("augmented_lagrangian", marks=pytest.mark.slow)]
)
def test_the_lightest_free_beam(method):
    """Mode 4 is the first that vibrates; the certificate holds the three of frequency 0 as well."""
    problem = lightest(FrequencyLimit(4, at_least_hz=WANTED))
    found = optimise(problem, method)
    assert found.status == "converged"
    assert found.values["link1.section.depth"] == pytest.approx(thickness(), rel=RESIDUAL)
    assert found.report.hz["own"][0, :3].tolist() == [0.0, 0.0, 0.0]
    assert found.certified
    assert found.certified_postures["own"] == (1, 1)
    assert "5 of 5 certified; 0.000000, 0.000000, 0.000000, 120.0" in str(found)


@pytest.mark.slow
def test_the_lightest_free_beam_in_space_is_square():
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
    found = optimise(lightest(FrequencyLimit(7, at_least_hz=WANTED), arm, sides))
    assert found.status == "converged"
    assert found.certified
    assert list(found.values.values()) == pytest.approx([thickness()] * 2, rel=RESIDUAL)
    with pytest.raises(ProblemError, match=r"mode 6 .* 6 modes .* Modes from 7 on"):
        lightest(FrequencyLimit(6, at_least_hz=WANTED), arm, sides)


def two_bars(elbow):
    """Rigid bars, pinned at the base, 2 kg at each tip, a spring between them; stretched out."""
    bar = jm.Link(0.5, MODULUS, 1e-9, jm.raw_section(1e-4, 1e-9), rigid=True, tip_mass=2.0)
    first = bar.replace(joint_stiffness=0.0)
    return jm.Arm((first, bar.replace(joint_stiffness=elbow)))


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
    assert found.status == "converged"
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
    assert found.status == "converged"
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
    assert found.status == "converged"
    mass = 4.0 / (most * (2.0 * math.pi * hz) ** 2)
    assert found.objectives["total mass [kg]"][1] == pytest.approx(mass, rel=RESIDUAL)
    assert pictures(found)


def steel(**changes):
    section = jm.rectangle(0.01, 0.03, 0.85)
    return jm.Link(0.5, 2.1e11, 7800.0, section, poisson_ratio=0.3, **changes)


def pair(base=None, **first):
    second = steel(joint_angle=0.4, joint_stiffness=3e3, tip_mass=2.0)
    return jm.Arm((steel(joint_angle=0.3, **first), second), base_stiffness=base)


STANDING = {
    "free": (pair(**FREE), 3),
    "pinned": (pair(joint_stiffness=0.0), 1),
    "free along the ground": (pair([0.0, 3e5, 4e3], joint_stiffness=2e3), 1),
    "afloat": (pair([0.0, 0.0, 0.0]), 3),
}


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
        scale = evaluator.program.scales[0]
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


PIN = {"support_x_stiffness": math.inf, "support_y_stiffness": math.inf}


def linkage(crank=None):
    """A four-bar linkage, its crank locked or, with a stiffness of 0, loose."""
    return jm.Arm(
        (
            steel(joint_angle=1.2, joint_stiffness=crank),
            steel(joint_angle=-1.0, joint_stiffness=0.0, tip_mass=2.0),
            steel(joint_angle=-1.5, joint_stiffness=0.0, **PIN),
        )
    )


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
    assert found.status == "converged"
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


def pointing(**changes):
    """Pinned at the base and held along x at the tip: held but where it points along x."""
    link = steel(joint_stiffness=0.0, support_x_stiffness=1e5, **changes)
    return jm.Arm((link,))


def test_a_posture_that_no_support_holds_is_told_from_its_neighbours():
    angle = Variable("link1.joint_angle", -1.0, 1.0)
    objective = MaximiseFrequency(1, cluster=0)
    evaluator = Evaluator(Problem(pointing(joint_angle=0.5), [angle], objective))
    truth = float(jm.natural_frequencies(pointing(joint_angle=0.5), 1).frequencies_hz[0])
    assert evaluator.start.hz["own"][0, 0] == pytest.approx(truth, rel=1e-12)
    with pytest.raises(ProblemError, match="mode 1: its frequency falls to 0 at its own posture"):
        evaluator.linearise(np.array([0.5]))
    with pytest.raises(ProblemError, match="1 mode of frequency 0 in its own posture"):
        Problem(pointing(joint_angle=0.0), [angle], objective)


DEPTH = Variable("link*.section.depth", 0.02, 0.05)
CRANK = "link1.joint_stiffness"


def problem_of(arm, part, variable=DEPTH, postures=()):
    objective = [part] if hasattr(part, "terms") else MinimiseMass()
    limits = [] if hasattr(part, "terms") else [part]
    return Problem(arm, [variable], objective, limits, postures=dict(postures))


FLOATING = STANDING["free"][0]
PINNED = STANDING["pinned"][0]
THREE = ["3 modes of frequency 0", "link1.joint_axial_stiffness", "in its own posture"]
BAD = {
    "a frequency": (
        lambda: problem_of(FLOATING, MaximiseFrequency(1)),
        ["objective 'f1 [Hz]'", "mode 1", *THREE, "from 4 on", "mode = 4"],
    ),
    "a frequency of a set": (
        lambda: problem_of(FLOATING, MaximiseFrequency(3, "few"), postures={"few": [[0.9]]}),
        ["mode 3", "at (51.57°) of few", "mode = 4"],
    ),
    "a gap": (
        lambda: problem_of(FLOATING, MaximiseGap(3)),
        ["gap f4 - f3", "mode 3", "below = 4", "maximise the frequency of mode 4"],
    ),
    "a limit": (
        lambda: problem_of(FLOATING, FrequencyLimit(2, at_most_hz=3.0)),
        ["constraint 'f2 <= 3 Hz'", "mode 2", *THREE],
    ),
    "a limit of today": (
        lambda: problem_of(
            PINNED, FrequencyLimit(1, at_least_today=2.0), Variable(CRANK, 10.0, 1e3)
        ),
        ["f1 >= 2 x today's", "today's arm", "1 mode of frequency 0", "in Hz"],
    ),
    "a band that watches nothing": (
        lambda: problem_of(FLOATING, ForbiddenBand(1.0, 3.0, modes=3)),
        ["no frequency in 1 to 3 Hz", "modes = 3", "modes = 4 or more"],
    ),
    "a band below which fewer are": (
        lambda: problem_of(FLOATING, ForbiddenBand(1.0, 3.0, modes_below=2)),
        ["modes_below = 2", *THREE, "modes_below = 3"],
    ),
    "a deflection": (
        lambda: problem_of(PINNED, DeflectionLimit(0.01)),
        ["constraint deflection", "nothing holds the arm at rest", CRANK, "stiffness"],
    ),
    "buckling": (
        lambda: problem_of(linkage(0.0), BucklingLimit(2.0)),
        ["constraint buckling", "nothing holds the arm at rest", "link3.joint_stiffness"],
    ),
    "buckling as an objective": (
        lambda: problem_of(STANDING["afloat"][0], MaximiseBuckling()),
        ["objective buckling", "base_stiffness.k11", "nothing holds"],
    ),
    "a deflection on a base that a support holds": (
        lambda: problem_of(
            jm.Arm((steel(support_x_stiffness=1e5),), base_stiffness=[0.0, 3e5, 4e3]),
            DeflectionLimit(0.01),
        ),
        ["constraint deflection", "base_stiffness.k11 = 0", "stiffness"],
    ),
    "a bound of 0": (
        lambda: problem_of(
            PINNED, FrequencyLimit(2, at_least_hz=3.0), Variable(CRANK, 0.0, 1e3)
        ),
        [CRANK, "lower = 0.0", "1 mode of frequency 0", "it has 0", "off 0"],
    ),
    "a function of one's own": (
        lambda: Evaluator(problem_of(FLOATING, Maximise(lambda d: d.hz["own"][:, 2], "mine", "own", 3))),
        ["'mine'", "a frequency that is 0", *THREE, "columns of design.hz from 3 on"],
    ),
    "a limit of one's own": (
        lambda: Evaluator(problem_of(FLOATING, Require(lambda d: 9.0 - d.hz["own"].sum(), "sum", "own", 4))),
        ["'sum'", "a frequency that is 0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_asks_for_a_mode_of_frequency_0_is_refused_with_a_remedy(name):
    make, words = BAD[name]
    with pytest.raises(ProblemError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_a_bound_of_0_that_changes_no_number_is_taken():
    """Supports hold the linkage, whatever the spring."""
    variable = Variable("link2.joint_stiffness", 0.0, 1e3)
    problem = problem_of(linkage(), FrequencyLimit(1, at_least_hz=3.0), variable)
    assert problem.zero_modes["own"].most == 0


def test_modes_of_frequency_0_are_no_partners_and_in_no_band():
    """A gap above mode 4 looks at modes 4 to 6; a band of the watched modes at 4 and 5 alone."""
    band = ForbiddenBand(20.0, 30.0, modes=5)
    below = ForbiddenBand(20.0, 31.0, modes_below=3, modes=5)
    problem = Problem(FLOATING, [DEPTH], MaximiseGap(4), [band, below])
    report = Evaluator(problem).start
    truth = np.asarray(jm.natural_frequencies(problem.space.design_at(report.y), 6).frequencies_hz)
    assert sorted(set(report.terms[0][0])) == pytest.approx(
        [truth[4] - truth[3], truth[5] - truth[3]]
    )
    outside = (truth[3:5] - 20.0) * (truth[3:5] - 30.0) / (5.0 * 30.0)
    assert report.margins[0][0] == pytest.approx([1.0, 1.0, 1.0, *outside])
    assert report.margins[1][0] == pytest.approx([1.0, 1.0, 1.0, *(truth[3:5] / 31.0 - 1.0)])


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
    result = CliRunner().invoke(main, ["optimise", "beam.toml", "--no-plot"])
    assert result.exit_code == 0, result.output
    assert "active: f4 >= 120 Hz" in result.stdout
    depth = float(jm.read_arm("beam_arm.toml").links[0].section.depth)
    assert depth == pytest.approx(thickness(), rel=RESIDUAL)
    refused = CliRunner().invoke(main, ["optimise", "still.toml"])
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
