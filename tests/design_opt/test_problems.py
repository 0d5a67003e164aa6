"""Do problems that cannot be solved get a clear answer?"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import jaxmodal as jm
from design_opt import (
    BucklingLimit,
    DeflectionLimit,
    Evaluator,
    FixedReach,
    ForbiddenBand,
    FrequencyLimit,
    MassLimit,
    Maximise,
    MaximiseBuckling,
    MaximiseFrequency,
    MinimiseMass,
    Problem,
    ProblemError,
    Require,
    ResponseLimit,
    Variable,
    WallLimit,
    optimise,
    per_link,
    workspace,
)

ADDRESS = "link1.section.wall_thickness"


def arm():
    section = jm.hollow_circle(0.08, 0.004, "cowper")
    link = jm.Link(1.0, 7e10, 2700.0, section, poisson_ratio=0.33)
    return jm.Arm((link,), jm.Payload(3.0))


def wall(**changes):
    values = {"parameter": ADDRESS, "lower": 0.001, "upper": 0.02}
    return Variable(**values | changes)


def arm_with(**changes):
    (link,) = arm().links
    return jm.Arm((dataclasses.replace(link, **changes),), jm.Payload(3.0))


def flat_arm():
    return jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05)),))


WIDE = Maximise(lambda design: design.variables[0], "wall")


class Heavy:
    label, postures, highest_mode, sign = "mass", "", 0, 1.0

    def terms(self, design):
        return jnp.reshape(design.arm.total_mass, (1, 1))


def rigid():
    """As many modes as springs: two."""
    bar = jm.Link(0.5, 7e10, 1e-9, jm.raw_section(1e-4, 1e-9), 0.3, rigid=True, tip_mass=2.0)
    return jm.Arm((bar.replace(joint_stiffness=300.0), bar.replace(joint_stiffness=100.0)))


#: an arm without shear data, a variable and an objective that need none
FLAT = (flat_arm(), [Variable("link1.section.depth", 0.01, 0.05)], MinimiseMass())

BAD = {
    "no variables": (lambda: Problem(arm(), [], MinimiseMass()), ["variables", "none"]),
    "one variable, no list": (
        lambda: Problem(arm(), wall(), MinimiseMass()),
        ["variables = Variable", "[Variable(...)]"],
    ),
    "a word among variables": (
        lambda: Problem(arm(), [wall(), "link1.length"], MinimiseMass()),
        ["variables: 'link1.length'", "must be a Variable"],
    ),
    "constraints in a word": (
        lambda: Problem(arm(), [wall()], MinimiseMass(), "mass"),
        ["constraints = 'mass'", "[MassLimit(...)]"],
    ),
    "an objective of one's own without a weight": (
        lambda: Problem(arm(), [wall()], Heavy()),
        ["has no weight", "postures, highest_mode"],
    ),
    "one constraint, no list": (
        lambda: Problem(arm(), [wall()], MinimiseMass(), MassLimit(1.0)),
        ["constraints = MassLimit", "must be a list"],
    ),
    "lengths of no kind": (
        lambda: Problem(arm(), [wall()], MinimiseMass(), lengths=3.0),
        ["lengths = 3.0", "FixedReach"],
    ),
    "postures in words": (
        lambda: Problem(arm(), [wall()], MinimiseMass(), postures={"few": "folded"}),
        ["postures 'few' = 'folded'", "joint angles in rad"],
    ),
    "negative weight": (
        lambda: Problem(arm(), [wall()], Maximise(lambda design: 1.0, "one", weight=-1.0)),
        ["objective 'one': weight = -1.0", "greater than 0"],
    ),
    "half a mode": (
        lambda: Problem(arm(), [wall()], Maximise(lambda design: 1.0, highest_mode=2.5)),
        ["highest_mode = 2.5", "whole number"],
    ),
    "a number for a function": (lambda: Maximise(3.0), ["function = 3.0", "function of a Design"]),
    "a number for a rule": (lambda: Require(3.0), ["function = 3.0", "function of a Design"]),
    "a number for a map": (lambda: wall(maps={"link1.density": 3.0}), ["maps = {", "functions"]),
    "evaluator of no kind": (
        lambda: optimise(Problem(arm(), [wall()], MinimiseMass()), evaluator=3.0),
        ["evaluator", "Evaluator(problem)"],
    ),
    "bounds exchanged": (lambda: wall(lower=0.02, upper=0.001), ["lower", "upper", "exchange"]),
    "bound not finite": (lambda: wall(upper=np.inf), ["upper", "inf", "finite"]),
    "bound is text": (lambda: wall(upper="1 cm"), ["upper", "1 cm"]),
    "log from zero": (lambda: wall(lower=0.0, scale="log"), ["logarithmic", "lower"]),
    "unknown scale": (lambda: wall(scale="lin"), ["scale", "lin"]),
    "start outside": (lambda: wall(start=0.5), ["start", "0.5"]),
    "unknown address": (
        lambda: Problem(arm(), [wall(parameter="link1.section.wall")], MinimiseMass()),
        ["link1.section.wall", "wall_thickness"],
    ),
    "set twice": (
        lambda: Problem(
            arm(), [wall(), wall(parameter="link*.section.wall_thickness")], MinimiseMass()
        ),
        [ADDRESS, "already"],
    ),
    "to follow nothing": (
        lambda: Problem(
            arm(),
            [Variable("payload.inertia", 0.1, 1.0, follow={"payload.mass": 1.0})],
            MaximiseFrequency(1),
        ),
        ["payload.inertia = 0.0 today", "follow"],
    ),
    "impossible corner": (
        lambda: Problem(arm(), [wall(upper=0.05)], MinimiseMass()),
        ["bounds", "wall_thickness", "Narrow"],
    ),
    "per link of nothing": (
        lambda: per_link(arm(), "link*.section.depth", 0.1, 0.2),
        ["link*.section.depth"],
    ),
    "unknown theory": (
        lambda: Problem(arm(), [wall()], MinimiseMass(), theory="timoshenk"),
        ["timoshenk", "timoshenko"],
    ),
    "unknown aggregate": (
        lambda: Problem(arm(), [wall()], MinimiseMass(), aggregate="kss"),
        ["kss", "ks"],
    ),
    "unknown postures": (
        lambda: Problem(
            arm(), [wall()], MaximiseFrequency(1, "workspac"), postures={"workspace": [[0.0]]}
        ),
        ["workspac", "workspace"],
    ),
    "no shear data": (
        lambda: Problem(
            flat_arm(), [Variable("link1.section.depth", 0.01, 0.05)], MaximiseFrequency()
        ),
        ["theory", "shear_coefficient"],
    ),
    "no shear data for a response": (
        lambda: Problem(
            *FLAT,
            [ResponseLimit(input="tip.across", output="tip.across", at_hz=3.0, at_most=1e-3)],
            theory="euler_bernoulli",
        ),
        ["constraint response", "shear_coefficient", "euler_bernoulli"],
    ),
    "no shear data for a deflection": (
        lambda: Problem(*FLAT, [DeflectionLimit(0.01)], theory="euler_bernoulli"),
        ["constraint deflection", "link1.section.shear_coefficient is missing"],
    ),
    "no shear data for a limit of buckling": (
        lambda: Problem(*FLAT, [BucklingLimit(2.0)], theory="euler_bernoulli"),
        ["constraint buckling", "link1.section.shear_coefficient is missing"],
    ),
    "no shear data for the greatest buckling factor": (
        lambda: Problem(*FLAT[:2], MaximiseBuckling(), theory="euler_bernoulli"),
        ["objective buckling", "link1.section.shear_coefficient is missing"],
    ),
    "unknown theory of a deflection": (
        lambda: DeflectionLimit(0.01, theory="timoshenk"),
        ["constraint deflection", "timoshenk", "'euler_bernoulli'"],
    ),
    "no such limit": (lambda: FrequencyLimit(1), ["at_least_hz"]),
    "limits exchanged": (
        lambda: FrequencyLimit(1, at_least_hz=20.0, at_most_hz=10.0),
        ["at_least_hz", "at_most_hz"],
    ),
    "mode zero": (lambda: MaximiseFrequency(0), ["mode", "0"]),
    "band exchanged": (lambda: ForbiddenBand(20.0, 10.0), ["low_hz", "high_hz"]),
    "mass twice": (lambda: MassLimit(at_most=1.0, equal=1.0), ["at_most", "equal"]),
    "negative mass": (lambda: MassLimit(at_most=-1.0), ["at_most", "-1.0"]),
    "negative deflection": (lambda: DeflectionLimit(-0.1), ["at_most"]),
    "no wall": (
        lambda: Problem(*FLAT, [WallLimit(0.001)]),
        ["wall", "rectangle"],
    ),
    "negative buckling factor": (lambda: BucklingLimit(-2.0), ["buckling", "at_least"]),
    "buckling without a load": (lambda: BucklingLimit(2.0, gravity=0.0), ["no load"]),
    "buckling under no number": (lambda: BucklingLimit(2.0, tip_force_x="1"), ["tip_force_x"]),
    "same constraint twice": (
        lambda: Problem(arm(), [wall()], MinimiseMass(), [MassLimit(1.0), MassLimit(1.0)]),
        ["twice"],
    ),
    "reach out of reach": (
        lambda: Problem(
            jm.examples.three_link_industrial(), [], MinimiseMass(), lengths=FixedReach(0.1, 0.5)
        ),
        ["lengths", "reach"],
    ),
    "wrong postures": (
        lambda: Problem(arm(), [wall()], MinimiseMass(), postures={"few": [[0.0, 0.0, 0.0]]}),
        ["few", "shape"],
    ),
    "bad grid": (lambda: workspace((0.0, 90.0, 0.5)), ["grid"]),
    "unknown method": (
        lambda: optimise(Problem(arm(), [wall()], MinimiseMass()), "slsq"),
        ["slsq", "slsqp"],
    ),
    "more modes than a rigid arm has": (
        lambda: optimise(
            Problem(
                rigid(),
                [Variable("link2.joint_stiffness", 50.0, 900.0)],
                MaximiseFrequency(1),
                theory="euler_bernoulli",
            )
        ),
        ["f1 [Hz]", "up to 3", "has 2", "'own'", "cluster = 0"],
    ),
    "no starts": (
        lambda: optimise(Problem(arm(), [wall()], MinimiseMass()), starts=0),
        ["starts", "0"],
    ),
    "optimiser that is not asked": (
        lambda: optimise(Problem(arm(), [wall()], MinimiseMass()), optimizer=optax.adam(0.1)),
        ["optimizer", "'slsqp'", "'augmented_lagrangian'"],
    ),
    "no optimiser": (
        lambda: optimise(
            Problem(arm(), [wall()], MinimiseMass()), "augmented_lagrangian", optimizer="adam"
        ),
        ["optimizer", "'adam'", "optax"],
    ),
    "progress that is no function": (
        lambda: optimise(Problem(arm(), [wall()], MinimiseMass()), progress=3),
        ["progress = 3", "function"],
    ),
    "another problem's evaluator": (
        lambda: optimise(
            Problem(arm(), [wall()], MinimiseMass()),
            evaluator=Evaluator(Problem(arm(), [wall(upper=0.01)], MinimiseMass())),
        ),
        ["evaluator", "another problem"],
    ),
    "an evaluator of another function of the same name": (
        lambda: optimise(
            Problem(arm(), [wall()], Maximise(lambda design: -design.variables[0], "wall")),
            evaluator=Evaluator(
                Problem(arm(), [wall()], Maximise(lambda design: design.variables[0], "wall"))
            ),
        ),
        ["evaluator", "another problem"],
    ),
    "an evaluator with another weight": (
        lambda: optimise(
            Problem(arm(), [wall()], [MinimiseMass(), dataclasses.replace(WIDE, weight=9.0)]),
            evaluator=Evaluator(Problem(arm(), [wall()], [MinimiseMass(), WIDE])),
        ),
        ["evaluator", "another problem"],
    ),
    "an angle that all postures set": (
        lambda: optimise(
            Problem(
                jm.Arm((*arm().links, *arm().links)),
                [wall(), Variable("link2.joint_angle", 0.0, 2.0)],
                MaximiseFrequency(1, postures="work"),
                postures={"work": [[0.3], [1.0]]},
            )
        ),
        ["'link2.joint_angle'", "nothing depends on it", "postures = 'own'"],
    ),
    "too many postures": (
        lambda: optimise(
            Problem(
                jm.examples.three_link_industrial(),
                [Variable("link*.section.wall_thickness", 0.002, 0.03)],
                MaximiseFrequency(1, "many"),
                postures={"many": workspace((0, 90, 20), (0, 90, 20))},
            ),
            "augmented_lagrangian",
        ),
        ["400", "slsqp"],
    ),
}


def test_variables_and_constraints_may_come_one_by_one():
    made = {"wall": wall()}.values()
    problem = Problem(arm(), made, MinimiseMass(), (MassLimit(x) for x in (1.0, 2.0)))
    assert problem.variables == [wall()]
    assert [rule.at_most for rule in problem.constraints] == [1.0, 2.0]


@pytest.mark.parametrize("name", BAD)
def test_bad_problems_are_refused_in_words(name):
    make, words = BAD[name]
    with pytest.raises(ProblemError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
