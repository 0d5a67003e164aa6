"""How do searches end, and what do they say of it?"""

import copy
import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from design_opt import (
    BucklingLimit,
    CheckpointError,
    DeflectionLimit,
    Evaluator,
    FrequencyLimit,
    MaximiseFrequency,
    Minimise,
    MinimiseMass,
    Problem,
    ProblemError,
    Variable,
    optimise,
)
from design_opt.solvers import found_designs
from design_opt.solvers.search import violations
from jaxmodal.at_rest import traced
from tests.design_opt.test_problems import ADDRESS, arm, arm_with, wall


@pytest.mark.slow
def test_arms_with_offsets_hubs_and_bodies_off_the_axis_are_optimised():
    """The best wall of a tube with a heavy eccentric body, against a search over walls."""
    changed = arm_with(
        hub_mass=2.0, hub_inertia=0.01, joint_stiffness=2e4, end_offset_x=0.1, tip_centre_y=0.05,
        tip_mass=5.0,
    )  # fmt: skip
    problem = Problem(changed, [wall()], MinimiseMass(), [FrequencyLimit(1, at_least_hz=5.0)])
    found = optimise(problem)
    assert found.status == jm.Status.converged
    walls = np.linspace(0.001, 0.02, 2001)
    hz = jm.natural_frequencies_batch(changed, {ADDRESS: walls}, 1).frequencies_hz[:, 0]
    least = walls[int(np.argmax(np.asarray(hz) >= 5.0))]
    best = float(np.asarray(jm.get_parameter(found.arm, ADDRESS)))
    assert best > 0.001
    assert abs(best - least) <= 1.01 * (walls[1] - walls[0])


def test_infeasible_limits_get_the_least_violation_and_where():
    """f1 at least 200 Hz is out of reach; the least violation is that of the best tube among many."""
    problem = Problem(arm(), [wall()], MinimiseMass(), [FrequencyLimit(1, at_least_hz=200.0)])
    found = optimise(problem, max_iterations=6)
    assert found.status == jm.Status.infeasible
    assert "f1 >= 200 Hz" in found.message
    tubes = jm.natural_frequencies_batch(arm(), {ADDRESS: np.linspace(0.001, 0.02, 20)}, 1)
    best = float(np.max(tubes.frequencies_hz))
    assert found.report.violation == pytest.approx(1.0 - best / 200.0, abs=1e-4)


@pytest.mark.slow
def test_a_search_that_stands_still_beside_an_infeasible_limit_of_buckling_ends(monkeypatch):
    """The thickest tube buckles last, by `jm.buckling`; line searches in rounding noise took thrice the derivatives."""
    postures = np.linspace(0.0, 1.5, 6)
    limit = BucklingLimit(1e3, gravity=9.81, tip_force_y=-1e6, postures="work")
    (link,) = arm().links
    both = jm.Arm((link.replace(joint_angle=1.2), link.replace(joint_angle=0.4)), jm.Payload(3.0))
    walls = [Variable(f"link{i}.section.wall_thickness", 0.001, 0.02) for i in (1, 2)]
    shape, derivatives = traced.null_vector, []

    def counted(*question, **how):
        derivatives.append(question)
        return shape(*question, **how)

    monkeypatch.setattr(traced, "null_vector", counted)
    sets = {"work": postures[:, None]}
    found = optimise(Problem(both, walls, MinimiseMass(), [limit], postures=sets))
    assert found.status == jm.Status.infeasible
    assert 0 < len(derivatives) < 20 * len(postures)
    thick = jm.set_parameters(both, {"link*.section.wall_thickness": 0.02})
    load = {"gravity": (0.0, -9.81), "tip_force": (0.0, -1e6)}
    each = [jm.buckling(thick.with_posture([x]), 1, **load).factors[0] for x in postures]
    assert found.report.violation == pytest.approx(1e3 / float(min(each)) - 1.0, rel=1e-9)


def test_a_start_that_violates_the_limits_finds_its_way():
    problem = Problem(
        arm(), [wall(start=0.001)], MinimiseMass(), [FrequencyLimit(1, at_least_hz=30.0)]
    )
    found = optimise(problem)
    assert found.status == jm.Status.converged
    assert found.report.hz["own"][0, 0] == pytest.approx(30.0, rel=1e-6)


def test_interruption_keeps_the_best_feasible_design_and_resumes(tmp_path):
    """Ctrl-C after three iterations; the second call goes on where the first stopped."""
    limit = FrequencyLimit(1, at_least_hz=20.0)
    both = [wall(), Variable("link1.section.outer_diameter", 0.05, 0.12)]
    problem = Problem(arm(), both, MinimiseMass(), [limit])
    file = tmp_path / "state.json"

    def interrupt(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    first = optimise(problem, checkpoint=file, progress=interrupt)
    assert first.status == jm.Status.interrupted
    assert first.report.violation <= 1e-6
    assert file.exists()
    assert [path.name for path in file.parent.iterdir()] == ["state.json"]
    second = optimise(problem, checkpoint=file)
    assert second.status == jm.Status.converged
    kept = len(first.steps)
    assert [step.score for step in second.steps[:kept]] == [step.score for step in first.steps]
    assert second.steps[kept].y == pytest.approx(first.steps[-1].y, abs=0.3)
    whole = optimise(problem)
    assert second.report.score == pytest.approx(whole.report.score, rel=1e-6)
    other = Problem(arm(), both, MinimiseMass(), [FrequencyLimit(1, at_least_hz=21.0)])
    with pytest.raises(CheckpointError, match="another problem"):
        optimise(other, checkpoint=file)
    file.write_text("{")
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        optimise(problem, checkpoint=file)


def test_the_start_has_its_score_so_that_a_better_design_of_another_start_wins():
    """Its cached report once scored 0, which no mass can beat. The heavier of two feasible ends is a local optimum."""
    evaluator = Evaluator(Problem(arm(), [wall()], MinimiseMass()))
    assert evaluator.report(evaluator.problem.space.start).score == pytest.approx(-1.0, rel=1e-12)

    def double_well(design):
        x = 1e3 * design.variables[0]
        return 1.0 + (x - 4.0) ** 2 * (x - 12.0) ** 2 / 100.0 - x / 50.0

    wells = Minimise(double_well, "two wells")
    found = optimise(Problem(arm(), [wall(start=0.00401571751880963)], wells), starts=6)
    assert found.status == jm.Status.converged
    assert 1e3 * found.values[ADDRESS] == pytest.approx(12.0, abs=0.1)


@pytest.mark.slow
def test_a_search_whose_objective_rises_by_four_decades_goes_on_to_the_best_design():
    """A drive of a soft start, and the best wall of two tubes: bounds of a worst case once ended at 1,000 times it."""
    link = arm().links[0].replace(joint_stiffness=1e-4)
    two = jm.Arm((link, link.replace(length=0.5, joint_stiffness=np.inf)), jm.Payload(0.3))
    few = [[0.0], [0.9]]
    drive = Variable("link1.joint_stiffness", 1e-5, 1e6, scale="log")
    walls = Variable("link*.section.wall_thickness", 0.001, 0.02)
    objective = MaximiseFrequency(1, "few", cluster=0)
    found = optimise(Problem(two, [drive, walls], objective, postures={"few": few}))
    assert found.status == jm.Status.converged
    stiff = jm.set_parameters(two, {"link1.joint_stiffness": 1e6})
    tried = np.linspace(0.001, 0.02, 39)
    lowest = [
        jm.natural_frequencies_batch(
            stiff.with_posture(posture), {"link*.section.wall_thickness": tried}, 1
        ).frequencies_hz[:, 0]
        for posture in few
    ]
    best = float(np.max(np.min(lowest, axis=0)))
    ((before, after),) = found.objectives.values()
    assert best > 1e4 * before
    assert best <= after < 1.001 * best


def known_up_to(edge, value):
    """An objective that is NaN where the wall is thicker than an edge in mm."""

    def objective(design):
        x = 1e3 * design.variables[0]
        return jnp.where(x > edge, jnp.nan, value(x))

    return Minimise(objective, "known in part")


def test_starts_that_fail_are_told_and_leave_the_designs_of_the_others():
    """A valley at 8 mm, nothing known from 14 mm on: five of six starts jump there."""
    valley = known_up_to(14.0, lambda x: 2.0 + (x - 8.0) ** 2)
    found = optimise(Problem(arm(), [wall(start=0.004)], valley), starts=6)
    assert found.status == jm.Status.converged
    assert found.values[ADDRESS] == pytest.approx(0.008, abs=1e-8)
    assert sorted(found.failed_starts) == [0, 2, 3, 4, 5]
    assert "is nan" in found.failed_starts[0]
    assert "start 1 of 6 (and 4 more)" in found.message


def test_a_start_that_fails_on_its_way_counts_with_its_best_iterate():
    """A slope of 0.01 a mm: the first step ends within the known part, a later one beyond it."""
    slope = known_up_to(14.0, lambda x: 100.0 - x)
    found = optimise(Problem(arm(), [wall(start=0.004)], slope))
    assert found.status == jm.Status.stalled
    assert list(found.failed_starts) == [0]
    ((before, after),) = found.objectives.values()
    assert before == pytest.approx(96.0, abs=1e-9)
    assert after == pytest.approx(100.0 - 1e3 * found.values[ADDRESS], abs=1e-9)
    assert after < 95.0
    assert 0.0 < found.kkt_residual < 1.0
    with pytest.raises(ProblemError, match=r"known in part.*is nan"):
        optimise(Problem(arm(), [wall(start=0.013)], slope))


@pytest.mark.parametrize("at_least_hz", [20.0, 1e5])
@pytest.mark.parametrize("kind", [jm.ArmError, ProblemError, OSError])
def test_an_error_of_the_progress_function_ends_the_search_whatever_its_class(kind, at_least_hz):
    """Errors of the library, as of a file that cannot be written, were once told as designs without a value."""

    def failing(progress):
        raise kind("picture.png: cannot be written")

    limit = FrequencyLimit(1, at_least_hz=at_least_hz)
    problem = Problem(arm(), [wall(start=0.004)], MinimiseMass(), [limit])
    with pytest.raises(kind, match="cannot be written"):
        optimise(problem, progress=failing, starts=2)


def test_a_search_without_a_feasible_design_tells_the_starts_that_fail():
    slope = known_up_to(14.0, lambda x: 100.0 - x)
    far = FrequencyLimit(1, at_least_hz=1e5)
    found = optimise(Problem(arm(), [wall(start=0.004)], slope, [far]), starts=2)
    assert found.status == jm.Status.infeasible
    assert found.failed_starts
    assert "could not be evaluated" in found.message


def test_iterations_used_up_are_said_to_be():
    problem = Problem(
        arm(), [wall(start=0.02)], MinimiseMass(), [FrequencyLimit(1, at_least_hz=20.0)]
    )
    found = optimise(problem, max_iterations=1)
    assert found.status == jm.Status.iteration_limit
    assert "max_iterations" in found.message


def test_a_design_is_certified_by_status_and_not_by_finite_frequencies(monkeypatch):
    """One frequency is right and not certified: at the worst posture alone, or at one of three as a batch."""
    limit = FrequencyLimit(1, at_least_hz=1.0, postures="reach")
    postures = {"reach": np.zeros((3, 1))}
    problem = Problem(arm(), [wall()], MinimiseMass(), [limit], postures=postures)
    found = optimise(problem, max_iterations=1)
    by_one, together = copy.copy(found), copy.copy(found)
    assert found.certified_postures["reach"] == (3, 3)

    def doubted(solve, at):
        def solved(*given, **options):
            answer = solve(*given, **options)
            status = np.array(answer.status)
            status[at] = jm.Status.uncertified
            return dataclasses.replace(answer, status=status)

        return solved

    with monkeypatch.context() as changed:
        changed.setattr(found_designs, "natural_frequencies", doubted(jm.natural_frequencies, 0))
        assert not by_one.certified
        assert "(NOT certified)" in str(by_one)
    batch = doubted(jm.natural_frequencies_batch, (1, 0))
    monkeypatch.setattr(found_designs, "natural_frequencies_batch", batch)
    assert together.certified_postures["reach"] == (2, 3)
    assert not together.certified


def segmented_problem(*counts):
    """A taper is several links and one joint; one set of so many postures for each count."""
    thick = jm.Link(0.4, 7e10, 2700.0, jm.rectangle(0.04, 0.05, 0.85), poisson_ratio=0.3)
    rest = dataclasses.replace(thick, segment=True)
    segmented = jm.Arm((thick, rest, dataclasses.replace(thick, joint_angle=0.3)), arm().payload)
    sets = {f"of {count}": np.linspace(-1.0, 1.0, count)[:, None] for count in counts}
    problem = Problem(
        segmented,
        [Variable("link1.section.depth", 0.03, 0.05)],
        MinimiseMass(),
        [FrequencyLimit(1, at_least_hz=1.0, postures=name) for name in sets],
        postures=sets,
    )
    hz = Evaluator(problem).start.hz
    for name, angles in sets.items():
        turned = np.concatenate([0.0 * angles, 0.0 * angles, angles], axis=1)
        assert np.array_equal(problem.sets[name], turned)
        for posture in (0, len(angles) - 1):
            truth = jm.natural_frequencies(segmented.with_posture(angles[posture]), 1)
            assert hz[name][posture, 0] == pytest.approx(float(truth.frequencies_hz[0]), rel=1e-12)
    return problem


def test_a_posture_shows_the_angle_of_joint_1_where_the_set_turns_it():
    """It matters to the deflection under gravity alone, and the worst of both postures is the flat one."""
    (link,) = arm().links
    both = jm.Arm((link, link), jm.Payload(3.0))
    limit = DeflectionLimit(1e-3, postures="work")
    walls = Variable("link*.section.wall_thickness", 0.001, 0.02)
    sets = {"work": [[np.pi / 3.0, 0.25], [0.0, 0.25]]}
    evaluator = Evaluator(Problem(both, [walls], MinimiseMass(), [limit], postures=sets))
    assert violations(evaluator, evaluator.start).endswith("at (0°, 14.32°)")


def test_postures_of_an_arm_with_segments_name_its_joints_alone():
    problem = segmented_problem(3)
    with pytest.raises(ProblemError, match=r"expected \(postures, 1\)"):
        Problem(
            problem.arm,
            [Variable("link1.section.depth", 0.03, 0.05)],
            MinimiseMass(),
            postures={"links": np.zeros((2, 3))},
        )


@pytest.mark.slow
def test_large_sets_turn_the_joint_of_an_arm_with_segments_and_nothing_else():
    found = optimise(segmented_problem(3, 600))
    assert found.certified
    assert found.certified_postures["of 600"] == (600, 600)
