"""What objects say of themselves: short when they are printed, with a remedy when a value is assigned."""

import dataclasses
import inspect

import numpy as np
import pytest

import design_opt
import jaxmodal as jm
import jaxmodal.dynamics as dynamics
import sweeps

PACKAGES = (jm, dynamics, sweeps, design_opt)


def public_classes():
    for package in PACKAGES:
        for name in package.__all__:
            found = getattr(package, name)
            if inspect.isclass(found) and not issubclass(found, BaseException):
                yield found


FROZEN = [
    kind
    for kind in public_classes()
    if dataclasses.is_dataclass(kind)
    and kind.__dataclass_params__.frozen
    and dataclasses.fields(kind)
]


def test_what_is_meant_is_found():
    assert {jm.Arm, jm.NaturalFrequencies, sweeps.Sweep, design_opt.Variable} <= set(FROZEN)
    assert dynamics.FlexibleArm in FROZEN


@pytest.mark.parametrize("kind", FROZEN, ids=lambda kind: kind.__name__)
def test_assignment_is_refused_with_the_remedy(kind):
    record = object.__new__(kind)
    name = dataclasses.fields(kind)[0].name
    remedy = rf"old\.replace\({name}=" if hasattr(kind, "replace") else "dataclasses.replace"
    for change in (lambda: setattr(record, name, 1.0), lambda: delattr(record, name)):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"{name} cannot .*{remedy}"):
            change()


def test_parts_that_are_not_public_say_it_as_well():
    arm = jm.examples.six_axis_industrial()
    for record, name in (
        (arm.links[0].section, "wall_thickness"),
        (arm.links[0].joint_axis, "x"),
        (arm.payload.inertia, "xx"),
        (arm, "payload"),
    ):
        with pytest.raises(AttributeError, match=r"\.replace\(.*jaxmodal\.set_parameters"):
            setattr(record, name, 1.0)
    with pytest.raises(AttributeError, match=r"no field .lenght..*Did you mean .length."):
        arm.links[0].lenght = 2.0


@pytest.mark.parametrize("kind", list(public_classes()), ids=lambda kind: kind.__name__)
def test_every_public_class_has_a_repr(kind):
    protocol = getattr(kind, "_is_protocol", False)  # what a caller's own classes are like
    assert protocol or kind.__repr__ is not object.__repr__


def test_what_holds_many_numbers_is_shown_short():
    arm = jm.examples.two_link_flexible()
    problem, _ = design_opt.read_problem("example:three_link_stiffest")
    times = np.linspace(0.0, 1.0, 900)
    for made in (
        dynamics.flexible_arm(arm, 3),
        dynamics.link_shapes(arm, 10),
        dynamics.SampledTorque(times, np.zeros((900, 2))),
        dynamics.PiecewiseConstant(np.linspace(0.0, 1.0, 901), np.zeros((900, 2))),
        problem,
        design_opt.Evaluator,
    ):
        assert len(repr(made)) < 1000, type(made)
        assert len(repr(made).splitlines()) == 1
        assert len(str(made).splitlines()) < 25, type(made)
    shown = str(dynamics.flexible_arm(arm, [3, 2]))
    assert "2 links, 5 modes, 0 elastic joints, N = 7" in shown
    masses = [float(link.mass + link.tip_mass) for link in arm.links]
    assert f"{masses[0]:.6g}" in shown


def test_a_problem_shows_its_variables_and_what_is_sought():
    problem, _ = design_opt.read_problem("example:three_link_stiffest")
    assert repr(problem) == "<Problem: problem Three-link arm: stiffest: 9 variables, timoshenko>"
    text = str(problem)
    for words in (
        "link1.section.wall_thickness",
        "0.003",
        "f1 [Hz]",
        "total mass <= today's",
        "workspace (4096)",
    ):
        assert words in text
