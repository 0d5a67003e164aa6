"""Do optima stand up to checks without derivatives, and the checks find what is none?"""

import copy

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxmodal as jm
from benchmarks.studies.front import mass_front
from design_opt import (
    Evaluator,
    FixedReach,
    ForbiddenBand,
    FrequencyLimit,
    MassLimit,
    Maximise,
    MaximiseFrequency,
    MinimiseMass,
    Problem,
    ProblemError,
    Require,
    Variable,
    optimise,
    read_problem,
)
from design_opt.checks.finer_postures import on_finer_postures
from design_opt.checks.perturbations import perturb
from design_opt.solvers import augmented_lagrangian

WALL, DIAMETER = "link1.section.wall_thickness", "link1.section.outer_diameter"
AGREE = 1e-6
"""Two methods, each stopped at a residual of 1e-6."""
FIRST_ORDER = 1e-3
"""What a first-order optimiser reaches of the optimum in a few hundred steps."""


def tube_problem(aggregate="bound", **options):
    """The lightest tube with f1 >= 20 Hz, its wall at least a fortieth of its diameter."""
    section = jm.hollow_circle(0.08, 0.004, "cowper")
    link = jm.Link(1.0, 7e10, 2700.0, section, poisson_ratio=0.33)
    variables = [Variable(WALL, 0.001, 0.02), Variable(DIAMETER, 0.05, 0.12)]
    limits = [FrequencyLimit(1, at_least_hz=20.0)]
    arm = jm.Arm((link,), jm.Payload(3.0))
    return Problem(arm, variables, MinimiseMass(), limits, aggregate=aggregate, **options)


@pytest.fixture(scope="module")
def evaluator():
    return Evaluator(tube_problem())


def test_fronts_refuse_lengths_of_a_fixed_reach():
    """The uniform design scales every variable; the reach was dropped without a word."""
    arm = jm.examples.two_link_flexible()
    variables = [Variable("link*.section.depth", 0.01, 0.1)]
    lengths = FixedReach(0.1, 0.9 * sum(float(link.length) for link in arm.links))
    problem = Problem(arm, variables, MaximiseFrequency(1), lengths=lengths)
    with pytest.raises(ProblemError, match=r"lengths = FixedReach\(lower=0.1.*leave lengths out"):
        mass_front(problem, [1.0])


def test_random_feasible_designs_are_worse_than_an_optimum_and_better_than_none(evaluator):
    best = optimise(evaluator.problem, evaluator=evaluator)
    assert best.status == jm.Status.converged
    found = perturb(best, 25)
    assert found.feasible == 25
    assert found.better == 0
    assert found.best_gain <= 1e-9
    y = best.report.y + np.array([0.05, 0.0])  # feasible and heavier
    beside = copy.copy(best)
    beside.report = evaluator.report(y)
    assert beside.report.violation == 0.0
    assert perturb(beside, 20).better > 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("optimizer", "steps", "status", "close"),
    [
        (optax.adam(0.02), 25, jm.Status.iteration_limit, FIRST_ORDER),
        (optax.lbfgs(), 8, jm.Status.converged, AGREE),
    ],
    ids=["adam", "lbfgs"],
)
def test_any_optax_optimiser_may_do_the_inner_steps(
    evaluator, optimizer, steps, status, close, monkeypatch
):
    """One that goes by slopes alone comes near, and says that its steps are used up; one of line searches converges."""
    monkeypatch.setattr(augmented_lagrangian, "INNER_STEPS", steps)
    exact = optimise(evaluator.problem, evaluator=evaluator)
    other = optimise(
        evaluator.problem,
        "augmented_lagrangian",
        optimizer=optimizer,
        max_iterations=6 * steps,
        evaluator=evaluator,
    )
    assert other.status == status
    assert other.report.violation <= 1e-6
    assert other.report.score == pytest.approx(exact.report.score, rel=close)
    assert other.report.score <= exact.report.score + 1e-6


def test_the_augmented_lagrangian_leaves_a_bound_that_it_was_led_to():
    """Until its price rises, a faint limit lets the wall grow to the bound; the optimum is at the limit."""
    problem = tube_problem()
    faint = Require(lambda design: 0.02 * (1.0 - design.variables[0] / 0.012), "at most 12 mm")
    thick = Maximise(lambda design: design.variables[0] / 0.004, "wall")
    thickest = Problem(problem.arm, problem.space.variables, thick, [faint])
    found = optimise(thickest, "augmented_lagrangian")
    assert found.status == jm.Status.converged
    assert found.values[WALL] == pytest.approx(0.012, rel=1e-6)


def test_a_loose_tolerance_still_keeps_the_limits():
    """Of the mass of today: a design that met the tolerance and missed the limit was dropped for the start."""
    tube = tube_problem()
    aim, limit = MaximiseFrequency(1), MassLimit(equal="today")
    found = optimise(Problem(tube.arm, tube.space.variables, aim, [limit]), tolerance=0.1)
    assert found.status == jm.Status.converged
    assert found.report.violation <= 1e-6
    assert found.report.score > 1.5


def test_a_resumed_search_does_the_starts_that_are_left(evaluator, tmp_path):
    file = tmp_path / "state.json"

    def interrupt(progress):
        if progress.start == 1 and progress.iteration == 1:
            raise KeyboardInterrupt

    options = {"starts": 3, "checkpoint": file, "evaluator": evaluator}
    first = optimise(evaluator.problem, progress=interrupt, **options)
    assert first.status == jm.Status.interrupted
    assert first.kkt_residual < 1e-6  # start 0 had converged, and its design is kept
    second = optimise(evaluator.problem, **options)
    assert second.status == jm.Status.converged
    kept = len(first.steps)
    assert [s.score for s in second.steps[:kept]] == [s.score for s in first.steps]
    added = [step.start for step in second.steps[kept:]]
    assert sorted(set(added)) == [0, 1, 2]
    assert added.count(0) <= 2  # looked at again, not searched again
    assert np.all(np.diff([step.seconds for step in second.steps]) >= 0.0)
    assert second.to_xarray().sizes["step"] == len(second.steps)


def test_a_forbidden_band_is_empty_in_the_end():
    """f1 of the stiffest allowed tube lies in the band; the best one below the band ends at its edge."""
    problem = tube_problem()
    arm = problem.arm
    wall, objective = Variable(WALL, 0.0015, 0.004), MaximiseFrequency(1, cluster=1)
    free = optimise(Problem(arm, [wall], objective))
    assert 28.0 < free.report.hz["own"][0, 0] < 33.0
    band = ForbiddenBand(28.0, 33.0, modes_below=1, modes=2)
    found = optimise(Problem(arm, [wall], objective, [band]))
    inside = copy.copy(found)
    inside.report = found.evaluator.report(free.report.y)
    assert inside.modes_in_bands == 1
    assert found.status == jm.Status.converged
    assert found.certified
    assert found.report.hz["own"][0, 0] == pytest.approx(28.0, rel=1e-6)
    ends = 2.0 * np.pi * np.array([28.0 * (1.0 + 1e-6), 33.0])
    assert np.ptp(np.asarray(jm.count_below(found.arm, ends))) == 0


def test_powers_refuse_values_that_are_not_positive():
    problem = tube_problem()
    mixed = Maximise(lambda design: jnp.array([1.0, -1.0]) * design.variables[0], "mixed")
    with pytest.raises(ProblemError, match=r"pnorm.*mixed"):
        optimise(Problem(problem.arm, problem.space.variables, mixed, aggregate="pnorm"))


def test_single_precision_is_refused():
    with jax.enable_x64(False), pytest.raises(jm.X64DisabledError):
        tube_problem()


@pytest.mark.slow
def test_worst_case_over_4096_postures():
    """Every iterate is looked at in all 4,096 postures, and no posture is worse than the worst one found."""
    problem, options = read_problem("example:three_link_stiffest")
    found = optimise(problem, **options.keywords)
    assert found.status == jm.Status.converged
    assert found.report.hz["workspace"].shape == (4096, 3)
    assert found.certified_postures["workspace"] == (4096, 4096)
    assert found.certified
    (worst,) = (value[1] for value in found.objectives.values())
    for angles in np.random.default_rng(1).uniform(-1.0, 1.0, (20, 2)) * np.deg2rad(150.0):
        posed = found.arm.with_posture(list(angles))
        alone = float(jm.natural_frequencies(posed, 1).frequencies_hz[0])
        assert alone > worst * (1.0 - 1e-3)  # between the postures of the grid
    count, finer = on_finer_postures(found)
    assert count == 127 * 127
    assert worst * (1.0 - 1e-3) < finer.objectives[0] <= worst
    assert perturb(found, 50).better == 0
    assert {label for label, *_ in found.active_set()} >= {problem.objectives[0].label}
    mass = MassLimit(at_most="today").label
    assert mass in {label for label, *_ in found.active_set()}
