"""Are limits and objectives of driven arms met where closed forms and brute force say?"""

import dataclasses

import numpy as np
import pytest
import scipy.optimize

import jaxmodal as jm
from design_opt import (
    Evaluator,
    MinimiseMass,
    MinimiseResponse,
    Problem,
    ProblemError,
    ResponseLimit,
    Variable,
    optimise,
    problem_from_dict,
)
from design_opt.evaluation.formulation import Measure
from design_opt.solvers import scipy_solver

TIP = {"input": "tip.across", "output": "tip.across"}
INERTIA, STIFFNESS, RATIO = 2.0, 5e3, 0.1


def absorber(stiffness=400.0, damping=0.8):
    """A rigid bar on a spring that carries a rotor on a spring with a damper: two angles, nothing else couples them."""
    bar = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.01, 0.01), rigid=True)
    own = 2700.0 * 1e-4 / 3.0
    bar = bar.replace(joint_stiffness=STIFFNESS, hub_mass=0.0, hub_inertia=INERTIA - own)
    rotor = jm.Link(1e-4, 7e10, 1.0, jm.rectangle(1e-3, 1e-3), rigid=True, hub_mass=0.0)
    rotor = rotor.replace(
        hub_inertia=RATIO * INERTIA, joint_stiffness=stiffness, joint_damping=damping
    )
    return jm.Arm((bar, rotor))


def best_absorber():
    """Two peaks of one height: Asami and Nishihara, J. Vib. Acoust. 125 (2003) 398-405, for the mass ratio mu."""
    mu, root = RATIO, np.sqrt(4.0 + 3.0 * RATIO)
    tuning = (
        2.0
        / (1.0 + mu)
        * np.sqrt(
            2.0
            * (16.0 + 23.0 * mu + 9.0 * mu**2 + 2.0 * (2.0 + mu) * root)
            / (3.0 * (64.0 + 80.0 * mu + 27.0 * mu**2))
        )
    )
    ratio = 0.25 * np.sqrt((8.0 + 9.0 * mu - 4.0 * root) / (1.0 + mu))
    height = np.sqrt(
        ((8.0 + 9.0 * mu) ** 2 * (16.0 + 9.0 * mu) - 128.0 * root**3) / (3.0 * (32.0 + 27.0 * mu))
    ) / (3.0 * mu)
    omega = tuning * np.sqrt(STIFFNESS / INERTIA)
    best = {
        "link2.joint_stiffness": mu * INERTIA * omega**2,
        "link2.joint_damping": 2.0 * mu * INERTIA * ratio * omega,
    }
    return best, height / STIFFNESS


def least_peak(arm, variables):
    moment = {"input": "tip_1.moment", "output": "tip_1.rotation"}
    least = MinimiseResponse(**moment, band_hz=(4.0, 14.0), theory="euler_bernoulli")
    return Problem(arm, variables, least, theory="euler_bernoulli")


@pytest.mark.slow
def test_the_best_absorber_has_the_closed_form():
    best, height = best_absorber()
    variables = [Variable(name, 0.5 * value, 1.5 * value) for name, value in best.items()]
    found = optimise(least_peak(absorber(), variables), tolerance=1e-7)
    assert found.status == jm.Status.converged
    ((_, size),) = found.objectives.values()
    assert size == pytest.approx(height, rel=1e-6)
    for name, value in best.items():
        assert found.values[name] == pytest.approx(value, rel=1e-4), name


@pytest.mark.slow
@pytest.mark.parametrize("method", ["slsqp", "augmented_lagrangian"])
def test_a_search_from_a_peak_a_million_times_higher_ends_at_the_least_one(method):
    """Relative to such a start all designs look alike long before the least peak; what counts is the design itself."""
    link = tubes().links[0].replace(loss_factor=None, joint_stiffness=3e4, joint_damping=1e-6)
    arm = jm.Arm((link,), jm.Payload(8.0))
    band = (1.0, 1.5 * float(jm.natural_frequencies(arm, 1).frequencies_hz[0]))
    variable = Variable("link1.joint_damping", 1e-7, 1e5, scale="log")
    found = optimise(Problem(arm, [variable], MinimiseResponse(**TIP, band_hz=band)), method)
    ((before, after),) = found.objectives.values()
    sizes = []  # fall with the damping, up to its bound
    for damping in (1e1, 1e3, 1e4, 1e5):
        damped = jm.set_parameters(arm, {"link1.joint_damping": damping})
        omega = 2.0 * np.pi * np.array(band)
        peaks = jm.response_peaks(damped, *omega, "tip.across", "tip.across")
        ends = jm.frequency_response(damped, omega, "tip.across", "tip.across").values
        sizes.append(max(np.abs(peaks.values).max(initial=0.0), np.abs(ends).max()))
    assert sizes == sorted(sizes, reverse=True)
    assert before > 1e6 * sizes[-1]
    assert found.status == jm.Status.converged
    assert after == pytest.approx(sizes[-1], rel=1e-5)


def test_postures_outside_the_working_set_count_relative_to_a_design_far_below_the_start():
    """The divisors are the values of the design, scores those of the start: a billionth, and so are differences."""
    link = tubes().links[0]
    arm = jm.Arm((link, link.replace(joint_angle=0.7, joint_stiffness=3e4)))
    problem = Problem(
        arm,
        [Variable("link*.loss_factor", 0.01, 0.1)],
        MinimiseResponse(**TIP, at_hz=3.0, postures="few"),
        postures={"few": [[0.0], [0.5]]},
    )
    evaluator = Evaluator(problem)
    terms, measure = evaluator.start.terms, evaluator.program.measure
    large = Measure(1e9 * measure.scales, measure.weights)
    evaluator.program = dataclasses.replace(evaluator.program, measure=large)
    small = evaluator.at_size_of(evaluator.start)
    assert small.program.size_of_score == pytest.approx(1e-9, rel=1e-12)
    assert small.program.measure.scales == pytest.approx(measure.scales, rel=1e-12)
    assert small.program.score(terms) == pytest.approx(-1e-9, rel=1e-12)
    assert small.at_size_of(evaluator.start) is small
    y = np.array([0.5])
    outcome = scipy_solver.Outcome(
        y, None, small.report(y), True, {"few": np.array([1])}, small
    )  # the bent arm alone, which is stiffer
    assert scipy_solver._whole_set_differs(small, outcome)
    whole = dataclasses.replace(outcome, chosen={"few": np.array([0])})
    assert not scipy_solver._whole_set_differs(small, whole)


def test_a_peak_too_sharp_for_a_derivative_is_refused_in_words():
    best, _ = best_absorber()
    arm = absorber(best["link2.joint_stiffness"], 1e-6 * best["link2.joint_damping"])
    evaluator = Evaluator(least_peak(arm, [Variable("link2.joint_damping", 1e-7, 1.0)]))
    size = evaluator.program.best_bounds(evaluator.start.terms)
    with pytest.raises(ProblemError, match=r"sharp peak.*more damping"):
        evaluator.linearise(np.append(evaluator.start.y, size))


@pytest.mark.slow
def test_a_start_at_a_peak_too_sharp_leaves_the_designs_of_the_others():
    """Below its best value damping lowers the peak, so that the bound is the best design: 0.8 of the best value."""
    best, _ = best_absorber()
    damping = best["link2.joint_damping"]
    arm = absorber(best["link2.joint_stiffness"], 1e-6 * damping)
    variable = Variable("link2.joint_damping", 1e-7, 0.8 * damping)
    found = optimise(least_peak(arm, [variable]), starts=3)
    assert found.status == jm.Status.converged
    assert "sharp peak" in found.failed_starts[0]
    assert found.values["link2.joint_damping"] == pytest.approx(0.8 * damping, rel=1e-9)


def tubes(**changes):
    section = jm.hollow_circle(0.08, 0.004, "cowper")
    values = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
    link = jm.Link(0.6, section=section, loss_factor=0.02, **values)
    return jm.Arm((link, link.replace(joint_angle=0.7, joint_stiffness=3e4, **changes)))


@pytest.mark.slow
def test_the_least_wall_of_a_static_limit_is_in_closed_form():
    """Far below the first resonance the receptance is L^3/(3 E I)."""
    arm = jm.Arm((tubes().links[0],))
    address = "link1.section.wall_thickness"
    inner = 0.08 - 2 * 0.002
    second = np.pi / 64.0 * (0.08**4 - inner**4)
    limit = ResponseLimit(
        **TIP, at_hz=1e-3, at_most=0.6**3 / (3.0 * 7e10 * second), theory="euler_bernoulli"
    )
    problem = Problem(
        arm, [Variable(address, 0.001, 0.01)], MinimiseMass(), [limit], theory="euler_bernoulli"
    )
    found = optimise(problem)
    assert found.status == jm.Status.converged
    # the loss factor makes the modulus larger by sqrt(1 + eta^2)
    inner = (0.08**4 - (0.08**4 - inner**4) / np.hypot(1.0, 0.02)) ** 0.25
    assert found.values[address] == pytest.approx(0.5 * (0.08 - inner), rel=1e-6)


def test_derivatives_at_every_posture_are_those_of_the_exact_peaks():
    """Of the highest peak and of a size at a frequency, for moved bases, too, beside differences of public results."""
    arm = tubes(joint_damping=3.0)
    postures = {"few": [[0.0, 0.3], [0.2, 1.5]]}
    low, high = 5.0, 300.0
    base = {"input": "base.y", "output": "tip.across", "motion": "velocity"}
    problem = Problem(
        arm,
        [
            Variable("link2.joint_damping", 0.5, 20.0, scale="log"),
            Variable("link*.length", 0.5, 0.8),
            Variable("payload.mass", 0.1, 3.0, start=1.0),
            Variable("link2.joint_angle", 0.0, 1.5),
        ],
        MinimiseResponse(**TIP, band_hz=(low, high), postures="few"),
        [ResponseLimit(**base, at_hz=40.0, at_most=2e-3)],
        postures=postures,
    )
    evaluator = Evaluator(problem)
    y = np.array([0.4, 0.3, 0.5, 0.45])
    w = np.append(y, 0.0)
    made = evaluator.linearise(w)
    scale = evaluator.program.measure.scales[0]

    def by_hand(y):
        own = problem.space.design_at(y)
        rows = []
        for row in postures["few"]:
            found = jm.response_peaks(
                own.with_posture(row), 2 * np.pi * low, 2 * np.pi * high, *TIP.values()
            )
            ends = jm.frequency_response(
                own.with_posture(row), 2 * np.pi * np.array([low, high]), *TIP.values()
            )
            rows += sorted([*np.abs(found.values), *ends.magnitude[0, 0]])[:-4:-1]
        found = jm.frequency_response(
            own, 80.0 * np.pi, "base.y", "tip.across", quantity="transmissibility"
        )
        velocity = found.magnitude[0, 0] / (80.0 * np.pi)
        return np.append(-np.array(rows) / scale, 2e-3 / velocity - 1.0)

    np.testing.assert_allclose(made.inequalities, by_hand(y), rtol=1e-9)
    step = 1e-5
    direction = np.array([1.0, -0.7, 0.9, -0.8])  # all at once
    slope = (by_hand(y + step * direction) - by_hand(y - step * direction)) / (2 * step)
    found = made.inequality_rates[:, :4] @ direction
    np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-8)
    assert (made.inequality_rates[:6, 3] == 0.0).all()  # the postures of a set replace the angle
    assert made.inequality_rates[6, 3] != 0.0


@pytest.mark.slow
def test_derivatives_under_loads_and_axial_forces_are_those_of_the_exact_peaks():
    """By a payload and a load that move the forces at rest in every posture, and by an axial force of a link."""
    arm = tubes(joint_damping=3.0, axial_force=-2e3)
    loads = jm.Loads(gravity=9.81, tip_force_y=-3e3, pieces=2)
    arm = arm.replace(loads=loads, payload=jm.Payload(mass=30.0))
    postures, low, high = {"few": [[0.9, 0.3]]}, 1.0, 60.0
    problem = Problem(
        arm,
        [
            Variable("payload.mass", 10.0, 60.0),
            Variable("link2.axial_force", -4e3, 1e3),
            Variable("loads.tip_force_y", -6e3, -1e3),
            Variable("link*.section.wall_thickness", 0.003, 0.006),
        ],
        MinimiseResponse(**TIP, band_hz=(low, high), postures="few"),
        [ResponseLimit(**TIP, at_hz=0.5, at_most=3e-5)],
        postures=postures,
    )
    evaluator = Evaluator(problem)
    y = np.array([0.4, 0.3, 0.5, 0.45])
    made = evaluator.linearise(np.append(y, 0.0))
    scale = evaluator.program.measure.scales[0]

    def by_hand(y):
        own = problem.space.design_at(y)
        rows = []
        for row in postures["few"]:
            posed, ends = own.with_posture(row), 2 * np.pi * np.array([low, high])
            found = jm.response_peaks(posed, *ends, *TIP.values())
            at = jm.frequency_response(posed, ends, *TIP.values())
            rows += sorted([*np.abs(found.values), *at.magnitude[0, 0]])[:-4:-1]
        found = jm.frequency_response(own, np.pi, *TIP.values())
        return np.append(-np.array(rows) / scale, 3e-5 / found.magnitude[0, 0] - 1.0)

    np.testing.assert_allclose(made.inequalities, by_hand(y), rtol=1e-9)
    assert np.abs(made.inequality_rates[:, :4]).max(axis=0).min() > 1e-4
    move = 1e-5 * np.array([1.0, 0.7, -0.9, -0.8])  # all at once
    slope = (by_hand(y + move) - by_hand(y - move)) / 2e-5
    found = made.inequality_rates[:, :4] @ move * 1e5
    np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-8)


@pytest.mark.slow
def test_derivatives_in_space_under_loads_are_those_of_the_exact_response():
    """By a payload, a load and a length, which move the forces at rest in every posture; in the plane and out of it."""
    tube = jm.hollow_circle(0.08, 0.003, "cowper")
    link = jm.SpatialLink(
        *(0.6, 7e10, 2700.0, tube),
        poisson_ratio=0.33,
        joint_axis=(0, 1, 0),
        joint_stiffness=5e4,
        joint_damping=3.0,
    )
    loads = jm.SpatialLoads(gravity_z=-9.81, tip_force_y=400.0)
    arm = jm.SpatialArm((link, link.replace(joint_angle=0.4)), jm.RigidBody(30.0), loads=loads)
    asked = {"input": "tip.y", "output": "tip.ry", "at_hz": 2.0, "postures": "few"}
    postures = {"few": [[-0.9, 0.3], [-0.2, 1.0]]}
    names = ["payload.mass", "loads.tip_force_y", "link1.length"]
    ranges = [(10.0, 60.0), (100.0, 600.0), (0.5, 0.8)]
    variables = [Variable(name, *ends) for name, ends in zip(names, ranges, strict=True)]
    limit = ResponseLimit(**asked, at_most=5e-9)
    evaluator = Evaluator(Problem(arm, variables, MinimiseMass(), [limit], postures=postures))
    y = np.array([0.4, 0.5, 0.45])
    made = evaluator.linearise(y)

    def by_hand(y):
        own = evaluator.problem.space.design_at(y)
        sizes = [
            jm.frequency_response(own.with_posture(row), 4.0 * np.pi, "tip.y", "tip.ry").magnitude
            for row in postures["few"]
        ]
        return 5e-9 / np.ravel(sizes) - 1.0

    np.testing.assert_allclose(made.inequalities, by_hand(y), rtol=1e-9)
    bare = evaluator.problem.space.design_at(y).replace(loads=None).with_posture([-0.9, 0.3])
    without = jm.frequency_response(bare, 4.0 * np.pi, "tip.y", "tip.ry").magnitude
    assert without[0, 0] < 1e-14  # without loads the tip does not turn that way
    for k, way in enumerate(1e-3 * np.eye(3)):
        weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
        slope = sum(c * by_hand(y + by * way) for by, c in weights.items()) / 1e-3
        np.testing.assert_allclose(made.inequality_rates[:, k], slope, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("space", [False, True])
def test_the_least_wall_of_a_pressed_mast_is_in_closed_form(space):
    """Far below the first resonance the tip gives by (tan z - z)/z^3 L^3/(E I), z^2 = P L^2/(E I)."""
    mast = tubes().links[0].replace(joint_angle=np.pi / 2, density=1e-3, loss_factor=1e-9)
    arm = jm.Arm((mast,), loads=jm.Loads(tip_force_y=-1e5))
    arm, tip = (jm.to_spatial(arm), "tip.link_y") if space else (arm, "tip.across")
    address = "link1.section.wall_thickness"
    limit = ResponseLimit(input=tip, output=tip, at_hz=1e-3, at_most=3e-6, theory="euler_bernoulli")
    problem = Problem(
        arm, [Variable(address, 0.002, 0.01)], MinimiseMass(), [limit], theory="euler_bernoulli"
    )
    found = optimise(problem)
    assert found.status == jm.Status.converged

    def missing(wall):
        rigidity = 7e10 * np.pi / 64.0 * (0.08**4 - (0.08 - 2.0 * wall) ** 4)
        z = 0.6 * np.sqrt(1e5 / rigidity)
        return (np.tan(z) - z) / z**3 * 0.6**3 / rigidity - 3e-6

    truth = scipy.optimize.brentq(missing, 0.002, 0.01)
    assert found.values[address] == pytest.approx(truth, rel=1e-6)


def test_a_start_that_its_loads_buckle_is_refused_in_words():
    """In its own posture, and in one of a set in which alone the response is asked for."""
    mast = tubes().links[0].replace(joint_angle=np.pi / 2)
    arm = jm.Arm((mast,), loads=jm.Loads(tip_force_y=-1e6))
    wall = Variable("link1.section.wall_thickness", 0.002, 0.01)
    aim = MinimiseResponse(**TIP, band_hz=(5.0, 60.0), postures="up")
    upright = {"postures": {"up": [[np.pi / 2]]}}
    for each in (arm, arm.with_posture([-np.pi / 2])):
        with pytest.raises(ProblemError, match="unstable: the forces at rest buckle the arm"):
            Evaluator(Problem(each, [wall], aim, **upright))


DOCUMENT = {
    "arm": tubes(joint_damping=3.0).to_dict(),
    "variables": {"parameter": "link2.joint_damping", "lower": 0.5, "upper": 20.0},
    "objective": {"minimise": "response", "band_hz": [5, 60], "weight": 2.0, **TIP},
    "constraints": {"kind": "response", "at_hz": 12.5, "at_most": 1e-3, **TIP},
}
BAD = {
    "no frequency": ({"band_hz": None}, ["objective response", "at_hz and band_hz"]),
    "two": ({"at_hz": 3.0}, ["one of at_hz and band_hz"]),
    "reversed": ({"band_hz": [60, 5]}, ["band_hz = [60, 5]", "0 < lower < upper"]),
    "motion": ({"motion": "velocty"}, ["motion = 'velocty'", "Did you mean 'velocity'"]),
    "theory": ({"theory": "timo"}, ["theory", "timo"]),
    "port": ({"input": "tip.acros"}, ["input: port 'tip.acros'", "'across'"]),
    "ground": ({"output": "base.x"}, ["base.x", "ground"]),
    "no name": ({"input": 3.0}, ["input = 3.0", "one port"]),
    "weight": ({"weight": -1.0}, ["weight"]),
    "key": ({"ouput": "tip.x"}, ["ouput"]),
}


def test_files_have_both():
    problem, _ = problem_from_dict(DOCUMENT)
    (objective,), (limit,) = problem.objectives, problem.constraints
    assert objective.label == "tip.across for tip.force_across in 5 to 60 Hz [m/N]"
    assert limit.label == "tip.across for tip.force_across at 12.5 Hz <= 0.001 m/N"
    moved = dataclasses.replace(limit, input="base.x", motion="velocity")
    assert "m/s/(m/s^2)" in moved.label


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_words(name):
    changes, words = BAD[name]
    objective = DOCUMENT["objective"] | changes
    objective = {key: value for key, value in objective.items() if value is not None}
    with pytest.raises(ProblemError) as raised:
        problem_from_dict(DOCUMENT | {"objective": objective})
    for word in words:
        assert word in str(raised.value)


def test_peaks_without_damping_are_refused():
    bare = jm.Arm(tuple(link.replace(loss_factor=None) for link in tubes().links))
    wall = Variable("link*.section.wall_thickness", 0.002, 0.01)
    with pytest.raises(ProblemError, match="no damping"):
        Problem(bare, [wall], MinimiseResponse(**TIP, band_hz=(5.0, 60.0)))
    nothing = jm.Arm(tuple(link.replace(loss_factor=0.0) for link in tubes().links))
    with pytest.raises(ProblemError, match=r"-inf for a design.*damping"):
        Evaluator(Problem(nothing, [wall], MinimiseResponse(**TIP, band_hz=(5.0, 60.0))))
    limit = ResponseLimit(**TIP, band_hz=(5.0, 60.0), at_most=1.0)
    evaluator = Evaluator(Problem(nothing, [wall], MinimiseMass(), [limit]))
    assert evaluator.start.violation == 1.0
