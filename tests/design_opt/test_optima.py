"""Does the optimiser find what is known to be best, and do its two methods agree?"""

from functools import cache

import jax
import numpy as np
import pytest
import scipy.optimize

import jaxmodal as jm
from benchmarks import classical_optima
from design_opt import (
    BucklingLimit,
    DeflectionLimit,
    Evaluator,
    FixedReach,
    ForbiddenBand,
    FrequencyLimit,
    MassLimit,
    MaximiseBuckling,
    MaximiseFrequency,
    MaximiseGap,
    MinimiseMass,
    Problem,
    Require,
    Variable,
    WallLimit,
    optimise,
    per_link,
)
from design_opt.evaluation import evaluator as evaluation
from design_opt.evaluation.gradients import at_postures, gradients
from jaxmodal.dynamic_stiffness.beams import prepared_values

RATIO, COARSE_RATIO = 3e-4, 1.5e-3
"""Of ratios extrapolated from 32 and from 16 segments: four times fewer digits for half the segments."""
DIFFERENCES = 1e-6
"""Central differences of exact frequencies, step 1e-5 of the box, values of order 1."""
AGREE = 2e-6
"""Two methods, each stopped at a residual of 1e-6."""


def three_links():
    return jm.examples.three_link_industrial()


def tube(length=1.0, **changes):
    section = jm.hollow_circle(0.08, 0.004, "cowper")
    values = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
    return jm.Link(length, section=section, **values | changes)


def frequency_by_hand(arm, mode=1, theory="timoshenko"):
    return float(jm.natural_frequencies(arm, mode, theory=theory).frequencies_hz[mode - 1])


def test_least_wall_is_where_the_frequency_limit_is_met():
    """One variable, one limit: the optimum is a root that SciPy finds by the public solver, too."""
    arm = jm.Arm((tube(),), jm.Payload(3.0))
    address = "link1.section.wall_thickness"
    limit = FrequencyLimit(1, at_least_hz=20.0)
    found = optimise(Problem(arm, [Variable(address, 0.001, 0.02)], MinimiseMass(), [limit]))
    wall = scipy.optimize.brentq(
        lambda it: frequency_by_hand(jm.set_parameters(arm, {address: it})) - 20.0, 0.001, 0.02
    )
    assert found.status == jm.Status.converged
    assert found.kkt_residual < 1e-6
    assert found.values[address] == pytest.approx(wall, rel=1e-8)
    assert found.certified
    assert found.report.violation <= 1e-6


def test_a_tapered_cantilever_comes_near_the_classical_optimum():
    """From below, of four segments; how more of them converge to it is checked by the slow tests."""
    found = optimise(classical_optima.cantilever(4, 0.1, 3))
    assert found.status == jm.Status.converged
    limit = classical_optima.CANTILEVER[0.1, 3]
    assert 0.9 * limit < found.report.score < limit
    areas = list(found.values.values())
    assert areas == sorted(areas, reverse=True)  # strong at the root


@cache
def cantilever_ratio(number, tip_mass, power):
    """Once for all tests of a worker.

    The ratio is stationary, so a residual of 1e-5 is 1e-10 of it. Whether the last iterations reach 1e-6 or stall in
    rounding before depends on the machine.
    """
    found = optimise(classical_optima.cantilever(number, tip_mass, power))
    assert found.kkt_residual < 1e-5, found.message
    assert found.certified
    return found.report.score


def approach(tip_mass, power, numbers):
    """Limit of the ratios for more and more segments; they rise towards it."""
    ratios = [cantilever_ratio(number, tip_mass, power) for number in numbers]
    assert ratios == sorted(ratios)
    return classical_optima.extrapolated(*ratios)


FINE = (0.1, 2)
"""The tip mass and power that 32 segments are tried with."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tip_mass", "power"), [it for it in classical_optima.CANTILEVER if it != FINE]
)
def test_classical_cantilevers(tip_mass, power):
    expected = classical_optima.CANTILEVER[tip_mass, power]
    assert approach(tip_mass, power, (4, 8, 16)) == pytest.approx(expected, rel=COARSE_RATIO)


@pytest.mark.slow
def test_a_classical_cantilever_of_32_segments():
    """The other five by ``python -m benchmarks.optimisation --segments 8 16 32``."""
    expected = classical_optima.CANTILEVER[FINE]
    assert approach(*FINE, (8, 16, 32)) == pytest.approx(expected, rel=RATIO)
    assert approach(*FINE, (4, 8, 16)) == pytest.approx(expected, rel=COARSE_RATIO)


@pytest.mark.slow
def test_simply_supported_beams():
    """p = 1: no shape beats the uniform one, from wherever the search starts. p = 2: 1.066."""
    uniform = Evaluator(classical_optima.simply_supported(8, 1)).start.objectives[0]
    assert uniform == pytest.approx(np.pi / 2.0, rel=1e-6)  # sqrt(EI/(rho A)) pi^2/L^2 in Hz
    from_afar = classical_optima.simply_supported(8, 1, start=0.4)
    found = optimise(from_afar)
    assert found.status == jm.Status.converged
    assert found.report.objectives[0] / uniform == pytest.approx(1.0, abs=1e-6)
    found = optimise(classical_optima.simply_supported(8, 2))
    assert found.status == jm.Status.converged
    # steps come near the continuous optimum from below; 16 and 32 of them take minutes each
    score = found.report.objectives[0] / uniform
    assert 1.04 < score < classical_optima.SIMPLY_SUPPORTED[2]


def everything_problem(aggregate="bound"):
    arm = three_links()
    variables = [
        *per_link(arm, "link*.section.wall_thickness", 0.002, 0.03),
        Variable("link*.section.depth", 0.08, 0.3, scale="log"),
        Variable("link2.joint_angle", -2.0, 2.0),
        Variable("link3.joint_stiffness", 1e4, 1e7, scale="log", start=1e6),
        Variable(("link1.section.width", "link2.section.width"), 0.1, 0.3),
        Variable("link2.tip_mass", 5.0, 40.0, start=20.0),
        Variable("link2.tip_inertia", 0.01, 2.0, start=0.5),
    ]
    return Problem(
        arm,
        variables,
        [MaximiseFrequency(1, "few"), MaximiseGap(1, weight=0.5)],
        [
            MassLimit(at_most="today"),
            FrequencyLimit(2, at_least_today=0.9),
            DeflectionLimit(0.1, postures="few"),
            BucklingLimit(200.0, tip_force_x=-50.0, postures="few"),
            WallLimit(at_least=0.002, depth_over_wall=60.0),
            ForbiddenBand(12.0, 14.0, modes=3, postures="few"),
            Require(lambda d: d.hz["few"][:, 0] / d.arm.links[1].tip_mass - 0.1, "ratio", "few", 1),
        ],
        postures={"few": [[0.0, 0.0], [0.5, 0.5], [1.0, -1.0]]},
        lengths=FixedReach(0.5, 3.0),
        aggregate=aggregate,
    )


def test_gradients_of_every_kind_of_row_against_differences():
    problem = everything_problem()
    evaluator = Evaluator(problem)
    size = evaluator.program.size
    w = np.concatenate([problem.space.start, evaluator.program.best_bounds(evaluator.start.terms)])
    w = np.clip(w + 0.02 * np.sin(np.arange(size)), 0.05, 0.95)
    at = evaluator.linearise(w)
    assert np.all(np.abs(at.inequality_rates).max(axis=0) > 1e-3), "nothing depends on an unknown"
    step = 1e-5
    direction = np.random.default_rng(0).uniform(
        0.5, 1.0, size
    )  # all at once: an error of any shows
    direction[::2] *= -1.0
    ends = [evaluator.linearise(w + sign * step * direction) for sign in (-1.0, 1.0)]
    difference = (ends[1].inequalities - ends[0].inequalities) / (2.0 * step)
    scale = max(1.0, np.abs(difference).max())
    assert np.abs(difference - at.inequality_rates @ direction).max() < DIFFERENCES * scale
    slope = (ends[1].objective - ends[0].objective) / (2.0 * step)
    assert slope == pytest.approx(at.objective_rate @ direction, abs=DIFFERENCES)


@pytest.mark.slow
def test_gradients_in_numpy_are_those_of_the_program():
    arm = jm.Arm(three_links().links[:2], three_links().payload)  # the program grows with the links
    beams, flags = prepared_values(arm, "timoshenko")
    lanes, alone = at_postures(beams, "set", np.full((5, 2), [0.0, 0.4])), np.ones(5, int)
    posed = arm.with_posture([0.4])
    omega = np.asarray(jm.natural_frequencies(posed, 5).omega)
    both = [gradients(5, lanes, flags, omega, alone, compiled=c) for c in (False, True)]
    for one, other in zip(*map(jax.tree_util.tree_leaves, both), strict=True):
        assert np.abs(one - other).max() <= 1e-10 * np.abs(other).max()


def test_derivatives_and_report_of_a_design_take_its_frequencies_once(monkeypatch):
    arm = jm.Arm((tube(),), jm.Payload(3.0))
    wall = Variable("link1.section.wall_thickness", 0.001, 0.02)
    limit = FrequencyLimit(1, at_least_hz=20.0)
    evaluator = Evaluator(Problem(arm, [wall], MinimiseMass(), [limit]))
    solve, asked = evaluation.natural_frequencies_batch, []

    def counted(*question, **how):
        asked.append(question)
        return solve(*question, **how)

    monkeypatch.setattr(evaluation, "natural_frequencies_batch", counted)
    for wall_at in (0.3, 0.4):
        y = np.array([wall_at])
        w = np.concatenate([y, evaluator.program.best_bounds(evaluator.start.terms)])
        evaluator.linearise(w)
        report = evaluator.report(y)
        thick = jm.set_parameters(arm, {wall.addresses[0]: float(wall.physical(wall_at))})
        assert report.hz["own"][0, 0] == pytest.approx(frequency_by_hand(thick), rel=1e-12)
    assert len(asked) == 2


def test_lengths_keep_their_sum():
    arm = three_links()
    problem = Problem(
        arm,
        [],
        MaximiseFrequency(1),
        lengths=FixedReach(0.8, 2.5),
    )
    found = optimise(problem)
    lengths = [float(link.length) for link in found.arm.links]
    assert found.status == jm.Status.converged
    assert sum(lengths) == pytest.approx(4.5, rel=1e-14)
    assert min(lengths) >= 0.8 - 1e-9
    assert max(lengths) <= 2.5 + 1e-9
    assert frequency_by_hand(found.arm) > frequency_by_hand(arm)


@pytest.mark.slow
@pytest.mark.parametrize("aggregate", ["bound", "ks"])
def test_the_two_methods_agree(aggregate):
    arm = three_links()
    problem = Problem(
        arm,
        [
            *per_link(arm, "link*.section.wall_thickness", 0.002, 0.03),
            *per_link(arm, "link*.section.depth", 0.08, 0.3),
        ],
        MaximiseFrequency(1, "few"),
        [MassLimit(at_most="today"), WallLimit(depth_over_wall=60.0)],
        postures={"few": [[0.0, 0.0], [0.5, 0.5]]},
        aggregate=aggregate,
    )
    evaluator = Evaluator(problem)
    one = optimise(problem, evaluator=evaluator)
    other = optimise(
        problem, "augmented_lagrangian", starts=2, max_iterations=500, evaluator=evaluator
    )
    assert one.status == jm.Status.converged
    assert other.status == jm.Status.converged
    assert other.report.score == pytest.approx(one.report.score, rel=AGREE)
    assert {step.start for step in other.steps} == {0, 1}


def test_the_lightest_column_that_does_not_buckle():
    """The depth of a bar that carries Euler's load and no more."""
    column = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.05, 0.05))
    limit = BucklingLimit(1.0, gravity=0.0, tip_force_x=-2e4, theory="euler_bernoulli")
    depth = Variable("link1.section.depth", 0.02, 0.08)
    problem = Problem(jm.Arm((column,)), [depth], MinimiseMass(), [limit], theory="euler_bernoulli")
    found = optimise(problem)
    assert found.status == jm.Status.converged
    truth = (12.0 * 2e4 * 4.0 / (np.pi**2 * 7e10 * 0.05)) ** (1 / 3)
    assert float(found.arm.links[0].section.depth) == pytest.approx(truth, rel=1e-6)


@pytest.mark.slow
def test_the_stiffest_column_of_a_given_mass():
    """Where its depth has to be, as a search over the factors of `buckling` finds it; the arm bears its load."""
    column = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.05, 0.05))
    arm = jm.Arm((column, column), loads=jm.Loads(tip_force_x=-2e4))
    depths = [Variable(f"link{k}.section.depth", 0.02, 0.08) for k in (1, 2)]
    aim = MaximiseBuckling(theory="euler_bernoulli")
    mass = [MassLimit(equal="today")]
    found = optimise(Problem(arm, depths, aim, mass, theory="euler_bernoulli"))
    assert found.status == jm.Status.converged

    def share(depth):
        values = {"link1.section.depth": depth, "link2.section.depth": 0.1 - depth}
        return (
            1.0
            / jm.buckling(jm.set_parameters(arm, values), 1, theory="euler_bernoulli").factors[0]
        )

    best = scipy.optimize.minimize_scalar(
        share, bounds=(0.03, 0.07), method="bounded", options={"xatol": 1e-9}
    )
    assert float(found.arm.links[0].section.depth) == pytest.approx(best.x, rel=1e-4)
    ((old, new),) = found.objectives.values()
    assert new == pytest.approx(best.fun, rel=1e-8)
    assert new < 0.95 * old


@pytest.mark.slow
def test_the_lightest_mast_under_its_weight():
    """Its own weight, which grows with the depth, and the payload's soften it: the depth that a search finds."""
    mast = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05), joint_angle=np.pi / 2)
    arm = jm.Arm((mast,), jm.Payload(mass=1.0), loads=jm.Loads(gravity=9.81, pieces=2))
    depth = Variable("link1.section.depth", 0.01, 0.05)
    found = optimise(
        Problem(
            arm, [depth], MinimiseMass(), [FrequencyLimit(1, at_least_hz=5.0)], theory="rayleigh"
        )
    )
    assert found.status == jm.Status.converged

    def missing(depth, arm):
        changed = jm.set_parameters(arm, {"link1.section.depth": depth})
        return float(jm.natural_frequencies(changed, 1, theory="rayleigh").frequencies_hz[0]) - 5.0

    truth, light = (
        scipy.optimize.brentq(missing, 0.01, 0.05, args=(x,))
        for x in (arm, arm.replace(loads=None))
    )
    assert float(found.arm.links[0].section.depth) == pytest.approx(truth, rel=1e-6)
    assert truth > 1.004 * light


@pytest.mark.slow
def test_the_lightest_pressed_mast_of_a_deflection():
    """A mast under a weight P and a push F: the tip moves by F L^3/(E I) (tan z - z)/z^3, z^2 = P L^2/(E I)."""
    mast = jm.Link(1.0, 7e10, 1e-6, jm.rectangle(0.03, 0.05), joint_angle=np.pi / 2)
    arm = jm.Arm((mast,), loads=jm.Loads(tip_force_x=20.0, tip_force_y=-8e3))
    depth = Variable("link1.section.depth", 0.02, 0.05)
    limit = DeflectionLimit(2e-3, theory="bending_only")
    found = optimise(Problem(arm, [depth], MinimiseMass(), [limit], theory="bending_only"))
    assert found.status == jm.Status.converged

    def missing(depth, pressed=8e3):
        rigidity = 7e10 * 0.05 * depth**3 / 12.0
        z = np.sqrt(pressed / rigidity)
        return 20.0 / rigidity * (np.tan(z) - z) / z**3 - 2e-3

    truth = scipy.optimize.brentq(missing, 0.0245, 0.05)
    assert float(found.arm.links[0].section.depth) == pytest.approx(truth, rel=1e-6)
    assert truth > 1.2 * scipy.optimize.brentq(missing, 0.005, 0.05, args=(1.0,))
