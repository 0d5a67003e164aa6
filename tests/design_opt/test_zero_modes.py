"""Is a mode of frequency 0 never taken for one that vibrates, and is what asks for one told what to do?"""

import numpy as np
import pytest

import jaxmodal as jm
from design_opt import (
    BucklingLimit,
    DeflectionLimit,
    Evaluator,
    ForbiddenBand,
    FrequencyLimit,
    Maximise,
    MaximiseBuckling,
    MaximiseFrequency,
    MaximiseGap,
    MinimiseMass,
    Problem,
    ProblemError,
    Require,
    Variable,
    optimise,
)
from design_opt.output.plots import pictures
from design_opt.problem.files import problem_from_dict
from tests.support.free_arms import STANDING, linkage, steel


def pointing(**changes):
    """Pinned at the base and held along x at the tip: held but where it points along x."""
    link = steel(joint_stiffness=0.0, support_x_stiffness=1e5, **changes)
    return jm.Arm((link,))


def test_where_joint_1_turns_against_the_ground_postures_are_named_by_it():
    limit = FrequencyLimit(1, at_least_hz=3.0, postures="few")
    with pytest.raises(ProblemError, match=r"at \(0°\) of few"):
        problem_of(pointing(joint_angle=0.5), limit, postures={"few": [[0.4], [0.0]]})


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
#: pinned at the base, held by springs at two tips, of which one is enough
TWICE_HELD = jm.Arm(
    (
        steel(joint_stiffness=0.0, support_y_stiffness=1e5),
        steel(support_y_stiffness=1e5, joint_angle=0.4),
    )
)
TIPS = [Variable(f"link{i}.support_y_stiffness", 0.0, 1e6) for i in (1, 2)]
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
    "bounds of 0 together": (
        lambda: Problem(TWICE_HELD, TIPS, MinimiseMass(), [FrequencyLimit(1, at_least_hz=1.0)]),
        ["link1.support_y_stiffness", "link2.support_y_stiffness", "together", "1 mode of frequency 0",
         "it has 0", "bounds off 0"],
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


@pytest.mark.parametrize(
    ("directions", "fewest", "most"),
    [((), 2, 2), (((1, 0, 0),), 1, 2), (((1, 0, 0), (0, 0, 1)), 0, 1)],
)
def test_supports_in_space_hold_free_joints(directions, fewest, most):
    """Two hinges about y: each direction held takes a motion, but where it acts along both links; 0 holds nothing."""
    tube = jm.hollow_circle(0.05, 0.003, "cowper")
    hinge = {"joint_axis": (0, 1, 0), "joint_stiffness": 0.0}
    bar = jm.SpatialLink(0.5, 7e10, 2700.0, tube, poisson_ratio=0.33, **hinge)
    held = [jm.Support("translation", each, 1e4) for each in directions]
    idle = jm.Support("translation", (0, 1, 0), 0.0)
    arm = jm.SpatialArm((bar, bar.replace(supports=(*held, idle))))
    angles = np.array([[0.0, 0.7], [0.0, 0.0]])
    depth = Variable("link1.section.outer_diameter", 0.04, 0.08)
    limit = FrequencyLimit(3, at_least_hz=1.0, postures="two")
    problem = Problem(arm, [depth], MinimiseMass(), [limit], postures={"two": angles})
    assert problem.zero_modes["two"].most == most
    numbers = [
        int(np.sum(np.asarray(jm.natural_frequencies(arm.with_posture(x), 3).omega) == 0.0))
        for x in angles
    ]
    assert (min(numbers), max(numbers)) == (fewest, most)


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


def test_a_grid_turns_joint_1_and_the_picture_shows_it():
    """Pinned and held along x, stiff beside its payload: f = sin(angle) sqrt(k/m) / 2 pi."""
    bar = steel(joint_stiffness=0.0, support_x_stiffness=1e5, joint_angle=0.4)
    document = {
        "arm": jm.Arm((bar,), jm.Payload(100.0)).to_dict(),
        "variables": [{"parameter": "payload.mass", "lower": 50.0, "upper": 200.0}],
        "objective": {"minimise": "mass"},
        "constraints": {"kind": "frequency", "mode": 1, "at_least_hz": 0.1, "postures": "work"},
        "postures": {"work": {"grid_deg": {"theta_1": [10, 80, 3]}}},
    }
    problem, _ = problem_from_dict(document)
    angles = problem.sets["work"][:, 0]
    assert np.degrees(angles) == pytest.approx([10.0, 45.0, 80.0])
    found = optimise(problem, max_iterations=1)
    own = problem.arm.links[0]
    beside = np.sqrt(1e5 / (100.0 + own.mass / 3.0)) / (2.0 * np.pi)
    assert found.evaluator.start.hz["work"][:, 0] == pytest.approx(
        beside * np.sin(angles), rel=1e-3
    )
    (axes,) = pictures(found)["postures"].axes
    assert axes.get_xlabel() == "θ₁ [°]"
    assert axes.lines[0].get_xdata() == pytest.approx([10.0, 45.0, 80.0])
