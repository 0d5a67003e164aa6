"""Do models warn where frequencies of the locked arm are not those of `natural_frequencies`, and nowhere else?"""

import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import jaxmodal as jm
from jaxmodal.cli.commands import main
from jaxmodal.dynamics import flexible_arm, linearise, static_state

BEAM = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.003, 0.04), hub_inertia=0.01, hub_mass=0.3)
SPRING = {"joint_stiffness": 200.0}
ROTOR = {"rotor_inertia": 1e-4, "gear_ratio": 50.0}
#: what each joint has: springs come with a rotor, which the model needs
ARMS = {
    "neither": ({}, {}),
    "rotors on rigid joints": (ROTOR, ROTOR),
    "a spring at joint 1": (SPRING | ROTOR, {}),
    "a spring at joint 2": (ROTOR, SPRING | ROTOR),
    "two springs": (SPRING | ROTOR, SPRING | ROTOR),
}


def arm_of(name):
    first, second = ARMS[name]
    links = BEAM.replace(**first), BEAM.replace(joint_angle=0.7, **second)
    return jm.Arm(links, jm.Payload(0.2))


def locked_hz(arm):
    """Of the model with enough shapes for eight digits of the first three, and what it warned of."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        model = flexible_arm(arm, 7, shapes="polynomial")
    state = static_state(model, [0.0, 0.7])
    omega = linearise(model, state, joints="locked").natural_frequencies()[:3]
    return omega / (2.0 * np.pi), [
        str(each.message) for each in given if each.category is jm.RotorWarning
    ]


def exact_hz(arm):
    return np.asarray(jm.natural_frequencies(arm, 3, "bending_only").frequencies_hz)


@pytest.mark.parametrize("name", ARMS)
def test_the_warning_is_given_where_frequencies_differ(name):
    arm = arm_of(name)
    found, said = locked_hz(arm)
    error = np.abs(found / exact_hz(arm) - 1.0).max()
    if "spring" not in name:
        assert (error < 1e-6, said) == (True, [])
        return
    assert error > 1e-2
    (words,) = said
    joints = {"a spring at joint 1": "joint 1:", "a spring at joint 2": "joint 2:"}
    assert words.startswith(joints.get(name, "joints 1, 2:"))
    assert "natural_frequencies has rotor_inertia beyond it" in words


@pytest.mark.parametrize("name", [name for name in ARMS if "spring" in name])
def test_the_frequencies_are_those_that_the_warning_names(name):
    """With the shaft held, a rotor turns with the link that carries it, as the stator does."""
    held = {"rotor_inertia": None, "gear_ratio": None}
    links = []
    for number, link in enumerate(arm_of(name).links):
        stator = {"stator_inertia": link.rotor_inertia} if number and link.rotor_inertia else {}
        links.append(link.replace(**held | stator))
    truth = exact_hz(arm_of(name).replace(links=tuple(links)))
    np.testing.assert_allclose(locked_hz(arm_of(name))[0], truth, rtol=1e-6)


def test_it_is_a_warning_that_points_to_the_call():
    with pytest.warns(jm.RotorWarning, match="joints 1, 2: joint_stiffness lies between") as given:
        flexible_arm(arm_of("two springs"), 1)
    assert [each.filename for each in given] == [__file__]


def test_the_command_says_it_on_standard_error(tmp_path):
    path = tmp_path / "moving.toml"
    tables = '\n[dynamics]\nmodes = 1\nuntil = 1e-3\nevery = 1e-3\nmethod = "rk4"\n'
    path.write_text(arm_of("a spring at joint 2").to_toml() + tables)
    for more, status in (((), 0), (("--no-check", "--strict"), 1)):
        shown = CliRunner().invoke(main, ["simulate", str(path), *more])
        assert shown.exit_code == status, shown.output
        assert shown.stderr.count("warning: joint 2: joint_stiffness lies between rotor") == 1
