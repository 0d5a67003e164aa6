"""Limits of deflection, buckling and responses of arms in space: closed forms, planar arms, and derivatives."""

import jax
import numpy as np
import pytest

import jaxmodal as jm
from design_opt.evaluation.evaluator import Evaluator
from design_opt.problem.buckling import BucklingLimit, MaximiseBuckling
from design_opt.problem.designs import Design
from design_opt.problem.driven import MinimiseResponse, ResponseLimit
from design_opt.problem.errors import ProblemError
from design_opt.problem.files import problem_from_dict
from design_opt.problem.objectives import MinimiseMass
from design_opt.problem.problem import Problem
from design_opt.problem.structural_constraints import DeflectionLimit, WallLimit
from design_opt.problem.variables import Variable
from design_opt.solvers.optimise import optimise
from jaxmodal.at_rest.traced import second_order_deflection
from jaxmodal.at_rest.traced_in_space import inverse_factors, tips_at_rest
from jaxmodal.response.forced import traced_deflections
from jaxmodal.response.forced.traced_deflections import tips_under_gravity
from jaxmodal.spatial.parts.loads import LoadsInSpace

E, RHO = 7e10, 2700.0
ROD = jm.SpatialLink(0.8, E, RHO, jm.circle(0.04, shear_coefficient=0.9), poisson_ratio=0.3)
#: two rods, the second turned out of the plane, on springs, with dampers
ARM = jm.SpatialArm(
    (
        ROD.replace(joint_axis=(0, 0, 1), joint_stiffness=8e4, joint_damping=30.0),
        ROD.replace(
            length=0.6,
            joint_axis=(0, 1, 0),
            joint_angle=0.7,
            joint_stiffness=5e4,
            joint_damping=20.0,
            section=jm.rectangle(0.05, 0.02, shear_coefficient=0.85),
        ),
    ),
    payload=jm.RigidBody(2.0, centre=(0.02, 0.03, 0.0)),
)
PROP = jm.Support("translation", (0.0, 0.0, 1.0), 1e5)
DIAMETER = Variable("link1.section.diameter", 0.005, 0.2)


def optimum(limit, **changes):
    """The diameter (m) of the lightest clamped rod, massless but for the objective's sake, that keeps a limit."""
    arm = jm.SpatialArm((ROD.replace(**changes),), payload=jm.RigidBody(3.0))
    found = optimise(Problem(arm, [DIAMETER], MinimiseMass(), [limit]))
    assert found.status.name == "converged"
    return found.values["link1.section.diameter"]


@pytest.mark.slow
def test_a_column_is_as_thick_as_euler_wants_it():
    limit = BucklingLimit(2.5, gravity=0.0, tip_force_x=-4e3, theory="euler_bernoulli")
    moment = 2.5 * 4e3 * 4.0 * 0.8**2 / (np.pi**2 * E)
    assert optimum(limit) == pytest.approx((64.0 * moment / np.pi) ** 0.25, rel=1e-7)


def test_a_cantilever_sags_as_far_as_its_limit():
    """Payload at the tip and its own weight, which grows with the diameter: m g L^3/(3 E I) + w L^4/(8 E I)."""
    d = optimum(DeflectionLimit(2e-3, gravity=9.81, theory="euler_bernoulli"))
    stiffness = E * np.pi * d**4 / 64.0
    line = RHO * np.pi * d**2 / 4.0 * 9.81
    sag = (3.0 * 9.81 * 0.8**3 / 3.0 + line * 0.8**4 / 8.0) / stiffness
    assert sag == pytest.approx(2e-3, rel=1e-7)


def test_gravity_has_any_direction():
    """A number is along -z; along the rod it bends nothing."""
    arm = jm.SpatialArm((ROD,), payload=jm.RigidBody(3.0))
    across = (9.81, (0.0, 9.81, 0.0), [0.0, 0.0, -9.81], (9.81, 0.0, 0.0))
    margins = [
        Evaluator(Problem(arm, [DIAMETER], MinimiseMass(), [limit])).start.margins[0].item()
        for limit in (DeflectionLimit(2e-3, gravity=g) for g in across)
    ]
    np.testing.assert_allclose(margins[:3], margins[0], rtol=1e-12)
    assert margins[0] < 0.9
    assert margins[3] > 1.0 - 1e-6


def test_walls_of_round_and_of_square_tubes():
    """t/t_least - 1, and (t/d) times the greatest d/t, less 1."""
    tubes = jm.hollow_circle(0.06, 0.003), jm.hollow_rectangle(0.08, 0.05, 0.002)
    arm = jm.SpatialArm(tuple(ROD.replace(section=tube) for tube in tubes))
    length = Variable("link1.length", 0.3, 1.0)
    limit = WallLimit(at_least=0.0025, depth_over_wall=30.0)
    found = Evaluator(
        Problem(arm, [length], MinimiseMass(), [limit], theory="euler_bernoulli")
    ).start.margins[0]
    truth = [0.003 / 0.0025 - 1.0, 30.0 * 0.003 / 0.06 - 1.0]
    truth += [0.002 / 0.0025 - 1.0, 30.0 * 0.002 / 0.08 - 1.0]
    np.testing.assert_allclose(np.ravel(found), truth, rtol=1e-13, atol=0.0)


def test_gravity_as_a_number_presses_what_stands():
    standing = jm.SpatialArm((ROD.replace(joint_axis=(0, -1, 0), joint_angle=np.pi / 2),))
    margins = [
        Evaluator(Problem(standing, [DIAMETER], MinimiseMass(), [limit])).start.margins[0].item()
        for limit in (BucklingLimit(2.0, gravity=g) for g in (9.81, (0, 0, -9.81), (0, 0, 9.81)))
    ]
    assert margins[0] == margins[1]
    assert margins[0] < margins[2] == 1.0


@pytest.mark.slow
def test_planar_arms_as_arms_in_space():
    """The same size of the same response in a band, and the same derivative."""
    link = jm.Link(0.8, E, RHO, jm.circle(0.04, shear_coefficient=0.9), poisson_ratio=0.3)
    planar = jm.Arm((link.replace(joint_stiffness=3e4, joint_damping=50.0),), jm.Payload(2.0))
    damper = Variable("link1.joint_damping", 5.0, 5e3, scale="log")
    least = MinimiseResponse(input="tip.y", output="tip.y", band_hz=(1.0, 60.0))
    found = [Evaluator(Problem(x, [damper], least)) for x in (planar, jm.to_spatial(planar))]
    sizes = [x.start.terms[0] for x in found]
    np.testing.assert_allclose(sizes[1], sizes[0], rtol=1e-9)
    rates = [x.linearise(np.append(x.problem.space.start, -1.0)).inequality_rates for x in found]
    assert np.abs(rates[0][:, 0]).max() > 1e-2
    np.testing.assert_allclose(rates[1], rates[0], rtol=1e-8, atol=1e-12)


VARIABLES = [
    Variable("link1.section.diameter", 0.03, 0.05),
    Variable("link2.length", 0.5, 0.7),
    Variable("link2.joint_axis.x", -0.2, 0.2),
    Variable("payload.mass", 1.0, 3.0),
    Variable("link2.joint_stiffness", 3e4, 6e4),
]


@pytest.mark.parametrize(
    "limit",
    [
        DeflectionLimit(0.01, postures="work"),
        BucklingLimit(20.0, tip_force_z=-30.0, tip_moment_x=9.0, postures="work"),
        ResponseLimit(at_most=1.5e-4, input="tip.z", output="tip.x", at_hz=7.0, postures="work"),
    ],
    ids=["deflection", "buckling", "response"],
)
def test_derivatives_beside_differences(limit):
    postures = {"work": [[0.0, 0.7], [0.4, -0.9]]}
    evaluator = Evaluator(Problem(ARM, VARIABLES, MinimiseMass(), [limit], postures=postures))
    y = np.array([0.4, 0.6, 0.55, 0.5, 0.3])
    w = np.concatenate([y, evaluator.program.best_bounds(evaluator.start.terms)])
    at = evaluator.linearise(w)
    step, rng = 1e-5, np.random.default_rng(5)
    direction = rng.choice([-1.0, 1.0], w.size) * rng.uniform(0.5, 1.0, w.size)
    ends = [evaluator.linearise(w + sign * step * direction) for sign in (-1.0, 1.0)]
    difference = (ends[1].inequalities - ends[0].inequalities) / (2.0 * step)
    rates = at.inequality_rates @ direction
    assert np.abs(rates).max() > 1e-2
    # of second order in the step, and rounding of values divided by it
    np.testing.assert_allclose(rates, difference, rtol=1e-6, atol=1e-8)


def test_values_are_those_of_the_functions_and_nan_is_no_arm():
    loads = LoadsInSpace(np.array([0.0, 0.0, -9.81]), np.array([0.0, 0.0, -30.0]), np.zeros(3))
    given = {"gravity": loads.gravity, "tip_force": loads.tip_force}

    def both(mass):
        arm = jm.set_parameters(ARM, {"payload.mass": mass})
        return (
            inverse_factors(arm, None, "timoshenko", loads),
            tips_at_rest(arm, None, "timoshenko", loads),
        )

    inverse, tip = jax.jit(both)(2.0)
    found = jm.buckling(ARM, 1, **given)
    np.testing.assert_allclose(inverse, 1.0 / found.factors, rtol=1e-12)
    at_rest = jm.static_equilibrium(ARM, **given)
    np.testing.assert_allclose(tip[0], at_rest.tip_displacement[:3], rtol=1e-12)
    assert all(np.isnan(x).all() for x in jax.jit(both)(np.nan))


def test_where_nothing_is_pressed_the_share_is_zero_and_what_is_not_held_or_gives_nothing_has_none():
    loads = LoadsInSpace(np.zeros(3), np.array([9.0, 0.0, 0.0]), np.zeros(3))

    def share(length, **changes):
        arm = jm.SpatialArm((ROD.replace(length=length, **changes),))
        return inverse_factors(arm, None, "rayleigh", loads)[0]

    assert [float(x) for x in jax.value_and_grad(share)(0.8)] == [0.0, 0.0]
    assert np.isnan(share(0.8, joint_stiffness=0.0))
    assert np.isnan(share(0.8, rigid=True))


def test_files_say_the_same():
    """Gravity as a list, and a moment at the tip."""
    pressed = {"gravity": [0.0, 0.0, -9.81], "tip_moment_x": 3.0}
    document = {
        "arm": ARM.to_dict(),
        "variables": [{"parameter": "link1.length", "lower": 0.5, "upper": 0.9}],
        "objective": {"maximise": "buckling", **pressed},
        "constraints": [{"kind": "deflection", "at_most": 0.1, "gravity": [0.0, 9.81, 0.0]}],
    }
    problem, _ = problem_from_dict(document)
    share = Evaluator(problem).start.terms[0].item()
    found = jm.buckling(ARM, 1, gravity=pressed["gravity"], tip_moment=(3.0, 0.0, 0.0))
    assert -share == pytest.approx(1.0 / found.factors[0], rel=1e-11)


BAD = {
    "gravity of a planar arm": (
        lambda: problem_of(planar(), DeflectionLimit(0.1, gravity=(0.0, 0.0, -9.81))),
        ["gravity", "three numbers", "along -y"],
    ),
    "two numbers": (
        lambda: DeflectionLimit(0.1, gravity=(0.0, -9.81)),
        ["gravity = (0.0, -9.81)", "three", "(0.0, 0.0, -9.81)"],
    ),
    "no number": (
        lambda: DeflectionLimit(0.1, gravity=(0.0, np.nan, -9.81)),
        ["gravity = (0.0, nan, -9.81)", "three"],
    ),
    "a moment on a planar arm": (
        lambda: problem_of(planar(), BucklingLimit(2.0, tip_moment_y=4.0)),
        ["tip_moment_y = 4.0", "to_spatial"],
    ),
    "gravity of nothing": (
        lambda: DeflectionLimit(0.1, gravity=(0.0, 0.0, 0.0)),
        ["gravity = (0.0, 0.0, 0.0)", "differ from 0", "(0.0, 0.0, -9.81)"],
    ),
    "an array of two numbers": (
        lambda: BucklingLimit(2.0, gravity=np.array([0.0, -9.81])),
        ["gravity = [0.0, -9.81]", "three"],
    ),
    "no load": (
        lambda: MaximiseBuckling(gravity=(0.0, 0.0, 0.0)),
        ["no load", "tip_force_z"],
    ),
    "axial force on a support": (
        lambda: problem_of(
            ARM.replace(links=(ROD.replace(axial_force=-9.0, supports=(PROP,)),)),
            DeflectionLimit(1),
        ),
        ["constraint deflection", "link1.supports", "under axial forces"],
    ),
    "no damping": (
        lambda: problem_of(
            jm.SpatialArm((ROD,)),
            ResponseLimit(at_most=1.0, input="tip.x", output="tip.x", band_hz=(1.0, 9.0)),
        ),
        ["no damping", "loss_factor"],
    ),
}


def pressed(*forces):
    """A planar arm of two links on a spring, with these axial forces, N."""
    link = jm.Link(1.0, E, RHO, jm.rectangle(0.03, 0.05, "cowper"), poisson_ratio=0.3)
    first, second = (link.replace(axial_force=force, tip_mass=0.4) for force in forces)
    links = (first.replace(joint_angle=0.3), second.replace(joint_angle=0.7, joint_stiffness=5e4))
    return jm.Arm(links, jm.Payload(3.0))


def test_axial_forces_soften_and_stiffen_what_gravity_bends():
    """As the planar arm, which superposes fields, has it; the first rod alone bears 27 kN, so that -1e5 N buckle it."""
    arm, down = pressed(-1e4, 5e3), (0.0, -9.81, 0.0)
    limit = DeflectionLimit(0.02, gravity=down)
    plane = np.asarray(second_order_deflection(arm, "timoshenko", gravity=(0.0, -9.81)))
    first = Design(jm.to_spatial(arm), np.zeros(0), {}, {})
    expected = 1.0 - float(plane @ plane) / 4e-4
    assert float(limit.margins(first, first)[0, 0]) == pytest.approx(expected, rel=1e-8)
    problem_of(first.arm, limit)
    buckled = Design(jm.to_spatial(pressed(-1e5, 5e3)), np.zeros(0), {}, {})
    assert np.isnan(limit.margins(buckled, buckled)[0, 0])


@pytest.mark.slow
def test_loads_beside_axial_forces_bend_arms_as_in_the_plane():
    """Gravity of their own and of a limit, a force at the tip, and a base that accelerates, with their derivatives."""
    loads = jm.Loads(gravity=9.81, tip_force_y=-200.0, base_acceleration_x=2.0)
    for forces in ((-1e4, 5e3), (0.0, 0.0)):
        arm, pull = pressed(*forces).replace(loads=loads), (1.0, -3.0)
        spatial = jm.to_spatial(arm)

        def plane(force, mass, arm=arm, pull=pull):
            own = jm.set_parameters(arm, {"loads.tip_force_y": force, "payload.mass": mass})
            return second_order_deflection(own, "timoshenko", gravity=pull)

        def space(force, mass, arm=spatial, pull=pull):
            own = jm.set_parameters(arm, {"loads.tip_force_y": force, "payload.mass": mass})
            return tips_under_gravity(own, None, "timoshenko", (*pull, 0.0))[0]

        at = -200.0, 3.0
        np.testing.assert_allclose(space(*at)[:2], plane(*at), rtol=1e-9, atol=0)
        assert abs(space(*at)[2]) < 1e-15
        for found, expected in zip(
            jax.jacfwd(space, (0, 1))(*at), jax.jacfwd(plane, (0, 1))(*at), strict=False
        ):
            np.testing.assert_allclose(found[:2], expected, rtol=1e-6, atol=0)
    down = jm.to_spatial(pressed(-1e4, 5e3).replace(loads=loads))
    gravity = jm.set_parameters(down, {"loads.gravity_y": -9.82}), down
    high, low = (tips_under_gravity(x, None, "timoshenko", (0.0,) * 3)[0] for x in gravity)

    def by_gravity(value):
        own = jm.set_parameters(down, {"loads.gravity_y": value})
        return tips_under_gravity(own, None, "timoshenko", (0.0,) * 3)[0]

    slope = jax.jacfwd(by_gravity)(-9.815)
    np.testing.assert_allclose(slope, (low - high) / 0.01, rtol=1e-6, atol=1e-12)


@pytest.mark.slow
def test_what_bends_under_axial_forces_has_exact_derivatives():
    """By differences of two sides, in a posture of a set; a damper counts for nothing."""
    arm = jm.to_spatial(pressed(-1e4, 5e3))
    arm = arm.replace(links=(arm.links[0].replace(loss_factor=0.02), arm.links[1]))
    names = ("link1.section.depth", "link2.axial_force", "payload.mass", "link1.loss_factor")
    start, steps = np.array([0.03, 5e3, 3.0, 0.02]), np.array([3e-6, 1.0, 3e-4, 1e-3])

    def moved(values):
        own = jm.set_parameters(arm, dict(zip(names, values, strict=True)))
        return tips_under_gravity(own, [[0.2, 0.5]], "timoshenko", (3.0, -9.81, 1.0))[0]

    slopes = np.asarray(jax.jacfwd(moved)(start))
    assert not slopes[:, 3].any()
    for k, step in enumerate(np.diag(steps)):
        difference = (moved(start + step) - moved(start - step)) / (2.0 * steps[k])
        np.testing.assert_allclose(
            slopes[:, k], difference, rtol=1e-5, atol=1e-7 * np.abs(slopes[:, k]).max()
        )


def test_derivatives_that_are_not_known_are_no_numbers(monkeypatch):
    """Not 0, which would end a search; nor is a free arm, of which nothing is known, a division by 0."""

    def refuse(*_, **__):
        raise jm.ArmError("not known")

    monkeypatch.setattr(traced_deflections, "response_sensitivities", refuse)
    arm = jm.SpatialArm((ROD.replace(axial_force=5e3),), payload=jm.RigidBody(1.0))
    values, structure = jax.tree.flatten(arm)
    given = {"theory": "timoshenko", "pull": (0.0, 0.0, -9.81)}
    names = ["payload.mass"]
    moved, slopes = traced_deflections._solved(structure, values, names, **given)
    assert np.isfinite(moved).all()
    assert np.isnan(slopes).all()
    free = arm.replace(links=(arm.links[0].replace(joint_stiffness=0.0),))
    values, structure = jax.tree.flatten(free)
    found = traced_deflections._solved(structure, values, names, **given)
    assert all(np.isnan(each).all() for each in found)


def test_gravity_may_be_an_array():
    for limit in (
        lambda g: DeflectionLimit(0.1, gravity=g),
        lambda g: BucklingLimit(2.0, gravity=g),
    ):
        assert limit(np.array([0.0, 0.0, -9.81])) == limit((0.0, 0.0, -9.81))


def planar():
    return jm.Arm(
        (jm.Link(1.0, E, RHO, jm.circle(0.04, shear_coefficient=0.9), poisson_ratio=0.3),)
    )


def problem_of(arm, limit):
    return Problem(arm, [Variable("link1.length", 0.3, 1.0)], MinimiseMass(), [limit])


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused_with_a_remedy(name):
    make, words = BAD[name]
    with pytest.raises(ProblemError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
