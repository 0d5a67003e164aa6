"""Is the optimum of an arm in space that of closed forms and of finite elements, and are its derivatives exact?"""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import jaxmodal as jm
from design_opt import (
    Evaluator,
    FixedReach,
    FrequencyLimit,
    MassLimit,
    MaximiseFrequency,
    MaximiseGap,
    MinimiseMass,
    Problem,
    ProblemError,
    Variable,
    WallLimit,
    optimise,
    problem_from_dict,
    read_problem,
)
from tests.spatial import finite_elements
from tests.spatial.cases import standing_arm, tube

DIFFERENCES = 1e-6
"""Central differences of exact frequencies, step 1e-5 of the box, values of order 1."""
RESIDUAL = 1e-6
"""The optimum is stopped at a residual of the optimality conditions of 1e-6 beside positions of order 1."""


def test_the_lightest_cantilever_is_square():
    """Euler-Bernoulli: each plane's first frequency goes with the thickness in it, so both reach the limit."""
    length, modulus, density, wanted = 1.2, 7e10, 2700.0, 25.0
    link = jm.SpatialLink(length, modulus, density, jm.rectangle(0.06, 0.04), poisson_ratio=0.33)
    arm = jm.SpatialArm((link,))
    sides = [Variable(f"link1.section.{side}", 0.01, 0.1) for side in ("depth", "width")]
    limit = FrequencyLimit(1, at_least_hz=wanted)
    problem = Problem(arm, sides, MinimiseMass(), [limit], theory="euler_bernoulli")
    found = optimise(problem)
    root = 1.8751040687119611664  # cos x cosh x = -1
    side = 2.0 * np.pi * wanted * (length / root) ** 2 * np.sqrt(12.0 * density / modulus)
    assert found.status == jm.Status.converged
    assert found.certified
    assert list(found.values.values()) == pytest.approx([side, side], rel=RESIDUAL)
    assert found.arm.total_mass == pytest.approx(density * side**2 * length, rel=RESIDUAL)


def l_frame(share=0.5):
    """Two round tubes, the second turned out of the plane, as a reference case has them; 1.4 m in all."""
    common = {
        "youngs_modulus": 7e10,
        "shear_modulus": 2.6e10,
        "density": 2700.0,
        "shear_coefficient_y": 0.55,
        "shear_coefficient_z": 0.55,
        "nonstructural_mass": 0.0,
        "rigid": False,
        "base_offset": [0.0, 0.0, 0.0],
        "end_offset": [0.0, 0.0, 0.0],
        "hub": None,
    }
    links = []
    for length, area, second, angle in (
        (1.4 * share, 8e-4, 4e-7, 0.0),
        (1.4 * (1.0 - share), 5e-4, 1e-7, 1.1),
    ):
        body = {"mass": 2.0, "centre": [0.0, 0.03, 0.0], "inertia": np.diag([4e-3, 3e-3, 3e-3])}
        link = common | {
            "length": length,
            "area": area,
            "second_moment_y": second,
            "second_moment_z": 1.5 * second,
            "torsion_constant": 2.0 * second,
            "body": body | {"inertia": body["inertia"].tolist()},
            "joint": {
                "axis": [0.0, 1.0, 0.0],
                "angle": angle,
                "frame": [{"axis": [1.0, 0.0, 0.0], "angle": 0.4}],
                "stiffness": 4e4 if angle else None,
                "springs": [],
            },
        }
        links.append(link)
    return {"links": links, "payload": None}


def arm_of(entry):
    links = []
    for link in entry["links"]:
        names = [
            *("area", "second_moment_y", "second_moment_z", "torsion_constant"),
            *("shear_coefficient_y", "shear_coefficient_z"),
        ]
        values = {k: link[k] for k in ("length", "youngs_modulus", "shear_modulus", "density")}
        links.append(values | {k: link[k] for k in ("joint", "body")})
        links[-1]["joint"] = {k: v for k, v in link["joint"].items() if v is not None}
        links[-1]["section"] = {name: link[name] for name in names}
    return jm.arm_from_dict({"dimensions": 3, "links": links})


def test_shared_lengths_against_finite_elements():
    """The highest first frequency for one reach, beside a search of one variable on finite elements."""

    def lowest(share):
        return finite_elements.frequencies(l_frame(share), "timoshenko", 12)[0] / (2.0 * np.pi)

    best = minimize_scalar(
        lambda share: -lowest(share), bounds=(0.3, 0.7), method="bounded", options={"xatol": 1e-7}
    )
    found = optimise(
        Problem(arm_of(l_frame()), [], MaximiseFrequency(1), lengths=FixedReach(0.35, 1.05))
    )
    assert 0.31 < best.x < 0.69, "the bounds decide"
    assert found.status == jm.Status.converged
    # about a maximum the frequency is flat: positions are known to the root of the digits of values
    assert found.report.objectives[0] == pytest.approx(-best.fun, rel=1e-10)
    assert found.values["link1.length"] == pytest.approx(1.4 * best.x, rel=1e-5)


def everything(aggregate="bound"):
    """A variable of each kind, some of which change with the postures and some of which postures replace."""
    variables = [
        Variable("link2.section.wall_thickness", 0.002, 0.008),
        Variable(("link1.section.depth", "link3.section.depth"), 0.02, 0.05),
        Variable("link2.joint_angle", 0.3, 1.5),
        Variable("link2.joint_axis.x", -0.5, 1.0),
        Variable("link3.joint_frame1.angle", 0.0, 1.2),
        Variable("link2.joint_stiffness", 1e3, 1e5, scale="log"),
        Variable("link2.joint_spring2.direction.y", 0.2, 1.2),
        Variable("link1.body.inertia.yz", -1e-3, 1e-3),
        Variable("payload.mass", 0.5, 3.0, follow={"payload.inertia.xx": 0.5}),
        Variable("base_stiffness.k15", -3e3, 3e3),
    ]
    return Problem(
        standing_arm(),
        variables,
        [MaximiseFrequency(1, "few"), MaximiseGap(1, weight=0.5)],
        [MassLimit(at_most="today"), FrequencyLimit(2, at_least_today=0.9)],
        postures={"few": [[0.0, 0.5, -0.4], [0.3, 1.1, 0.8]]},
        aggregate=aggregate,
    )


def test_derivatives_of_every_kind_of_variable_against_differences():
    problem = everything()
    evaluator = Evaluator(problem)
    w = np.concatenate([problem.space.start, evaluator.program.best_bounds(evaluator.start.terms)])
    w = np.clip(w + 0.02 * np.sin(np.arange(w.size)), 0.05, 0.95)
    at = evaluator.linearise(w)
    assert np.all(np.abs(at.inequality_rates).max(axis=0) > 1e-5), "nothing depends on an unknown"
    step, rng = 1e-5, np.random.default_rng(3)
    direction = rng.choice([-1.0, 1.0], w.size) * rng.uniform(0.5, 1.0, w.size)
    ends = [evaluator.linearise(w + sign * step * direction) for sign in (-1.0, 1.0)]
    difference = (ends[1].inequalities - ends[0].inequalities) / (2.0 * step)
    scale = max(1.0, np.abs(difference).max())
    assert np.abs(difference - at.inequality_rates @ direction).max() < DIFFERENCES * scale


def test_what_a_hidden_partner_beyond_the_list_changes():
    """The first of a pair, asked alone, of a variable that parts the pair: the mean of both, whatever the basis."""
    arm = jm.SpatialArm((tube(body=jm.RigidBody(2.0, inertia=(4e-3, 4e-3, 4e-3))),))
    variable = Variable("link1.body.inertia.yy", 3e-3, 5e-3)
    evaluator = Evaluator(Problem(arm, [variable], MaximiseFrequency(1, cluster=0)))
    hz = float(jm.natural_frequencies(arm, 1).frequencies_hz[0])
    pair = jm.directional_derivatives(arm, {"link1.body.inertia.yy": 1.0}, 2) / (2.0 * np.pi)
    slope = evaluator.linearise(evaluator.problem.space.start).objective_rate[0]
    assert slope == pytest.approx(-float(np.mean(pair)) * 2e-3 / hz, rel=1e-9)


TUBE = tube()
VARIABLE = Variable("link1.length", 0.3, 1.0)


def problem_with(**changes):
    given = {"arm": jm.SpatialArm((TUBE,)), "constraints": []} | changes
    return Problem(given["arm"], [VARIABLE], MinimiseMass(), given["constraints"])


BAD = {
    "no wall": (
        lambda: problem_with(arm=arm_of(l_frame()), constraints=[WallLimit(0.001)]),
        ["constraint wall", "link 1", "without a wall"],
    ),
    "free hinge": (
        lambda: problem_with(
            arm=jm.SpatialArm((TUBE, TUBE.replace(joint_stiffness=0.0))),
            constraints=[FrequencyLimit(1, at_least_hz=1.0)],
        ),
        ["mode 1", "1 mode of frequency 0", "link2.joint_stiffness", "mode = 2"],
    ),
    "spring that gives way freely": (
        lambda: problem_with(
            arm=jm.SpatialArm(
                (TUBE.replace(joint_springs=(jm.Spring("rotation", (1.0, 0.0, 0.0), 0.0),)),)
            ),
            constraints=[FrequencyLimit(1, at_least_hz=1.0)],
        ),
        ["mode 1", "link1.joint_spring1.stiffness", "mode = 2"],
    ),
    "no shear coefficient": (
        lambda: problem_with(arm=jm.SpatialArm((tube(section=jm.circle(0.03)),))),
        ["theory", "link1.section", "shear coefficient"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_has_no_meaning_in_space_is_refused_with_a_remedy(name):
    make, words = BAD[name]
    with pytest.raises(ProblemError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_grids_of_postures_may_leave_joints_out():
    """Joint 1 counts, for an elastic base makes its angle matter; what is left out keeps the arm's own angle."""
    arm = standing_arm()
    document = {
        "arm": arm.to_dict(),
        "variables": [{"parameter": "link1.length", "lower": 0.5, "upper": 0.9}],
        "objective": {"maximise": "frequency", "postures": "work"},
        "postures": {"work": {"grid_deg": {"theta_1": [0, 90, 2], "theta_3": [-30, 30, 3]}}},
    }
    problem, _ = problem_from_dict(document)
    angles = np.degrees(problem.sets["work"])
    assert angles[:, 0].tolist() == [0.0] * 3 + [90.0] * 3
    assert angles[:3, 2] == pytest.approx([-30.0, 0.0, 30.0], abs=1e-12)
    assert np.all(problem.sets["work"][:, 1] == 0.9)


@pytest.mark.slow
def test_the_built_in_arm_in_space_becomes_lighter():
    """Beside random designs about the optimum that keep the limit: none is lighter."""
    from design_opt.checks.perturbations import perturb

    problem, options = read_problem("example:six_axis_lightest")
    found = optimise(problem, **options.keywords)
    assert found.status == jm.Status.converged
    assert found.certified
    assert found.arm.total_mass < problem.arm.total_mass - 5.0
    assert perturb(found, 8).better == 0
