"""What holds a rotor: named in files and calls, told where it is not, one meaning in the plane and in space."""

import re

import numpy as np
import pytest

import jaxmodal as jm
from tests.support.commands import run_command

BEAM = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.003, 0.04, 0.85), 0.3, joint_stiffness=200.0)
ROTOR = {"rotor_inertia": 2e-4, "gear_ratio": 50.0}
MOTORS = ("held", "beyond_spring")
LINK = """
[[links]]
length = 0.4
youngs_modulus = 7e10
density = 2700
poisson_ratio = 0.3
section = {{ shape = "circle", diameter = 0.02, shear_coefficient = "cowper" }}
"""
FILE = f"{LINK}{LINK}{{joint}}\n"
PLANAR = "joint_stiffness = 300.0\nrotor_inertia = 2e-4\ngear_ratio = 50\n{motor}"
SPATIAL = "joint = {{ axis = [0, 1, 0], stiffness = 300.0, rotor_inertia = 2e-4, gear_ratio = 50{motor} }}"


def hertz(arm, count=4):
    return np.asarray(jm.natural_frequencies(arm, count).frequencies_hz)


def geared(**changes):
    return jm.Arm((BEAM.replace(joint_stiffness=np.inf), BEAM.replace(**ROTOR | changes)))


def test_a_held_rotor_is_a_stator_in_the_plane():
    stator = BEAM.replace(stator_inertia=ROTOR["rotor_inertia"])
    truth = hertz(jm.Arm((BEAM.replace(joint_stiffness=np.inf), stator)))
    np.testing.assert_allclose(hertz(geared(motor="held")), truth, rtol=1e-13)
    beyond = hertz(geared(motor="beyond_spring"))
    assert np.abs(beyond / truth - 1.0).max() > 0.1


def test_on_a_rigid_joint_both_are_one():
    held, beyond = (hertz(geared(motor=motor, joint_stiffness=np.inf)) for motor in MOTORS)
    np.testing.assert_allclose(held, beyond, rtol=1e-13)


@pytest.mark.parametrize("motor", MOTORS)
def test_the_same_in_space(motor):
    arm = geared(motor=motor)
    assert jm.to_spatial(arm).links[1].motor == motor
    every, planar = hertz(jm.to_spatial(arm), 10), hertz(arm)
    assert np.abs(every[:, None] / planar - 1.0).min(axis=0).max() < 1e-12


@pytest.mark.parametrize("in_space", [False, True])
def test_no_gear_acts_on_a_held_rotor(in_space):
    arm = geared(motor="held")
    arm = jm.to_spatial(arm) if in_space else arm
    table = jm.sensitivities(arm, 2, addresses=["link2.gear_ratio", "link2.rotor_inertia"])
    ratio, inertia = np.asarray(table.derivative_hz).T
    assert np.all(ratio == 0.0)
    assert np.all(inertia < 0.0)
    step = 1e-7
    sides = [
        hertz(jm.set_parameters(arm, {"link2.rotor_inertia": 2e-4 + side}), 2)
        for side in (-step, step)
    ]
    np.testing.assert_allclose(inertia, (sides[1] - sides[0]) / (2.0 * step), rtol=1e-6)


def test_a_rotor_without_a_motor_is_told_of_and_held():
    words = "motor is missing: rotor_inertia = 0.0002 needs"
    with pytest.warns(jm.RotorWarning, match=words) as given:
        link = BEAM.replace(**ROTOR)
    assert "Write motor = 'held' for a brake or a stiff servo, or motor = 'beyond_spring'" in str(
        given[0].message
    )
    assert link.motor == "held"
    link.replace(joint_angle=0.1)  # it is named now: nothing is said again
    with pytest.warns(jm.RotorWarning, match=words) as given:
        jm.Link(1.0, 7e10, 2700.0, BEAM.section, **ROTOR)
    assert [each.filename for each in given] == [__file__]
    with pytest.warns(jm.RotorWarning, match=words):
        space = jm.SpatialLink(1.0, 7e10, 2700.0, BEAM.section, 0.3, **ROTOR)
    assert space.motor == "held"


def test_without_a_rotor_there_is_no_motor():
    link = BEAM.replace(**ROTOR, motor="held").replace(rotor_inertia=None, gear_ratio=None)
    assert link.motor is None
    assert link == BEAM
    assert "motor" not in jm.Arm((link,)).to_toml()
    pieces = jm.attach_body(geared(motor="held"), 2, 0.2, 0.1)
    assert [piece.motor for piece in pieces.links] == [None, "held", None]


@pytest.mark.parametrize("kind", ["plane", "space"])
@pytest.mark.parametrize("motor", [*MOTORS, None])
def test_files(tmp_path, kind, motor):
    path = tmp_path / "arm.toml"
    if kind == "plane":
        joint = PLANAR.format(motor=f'motor = "{motor}"' if motor else "")
    else:
        joint = SPATIAL.format(motor=f', motor = "{motor}"' if motor else "")
    path.write_text(FILE.format(joint=joint))
    if motor is None:
        with pytest.warns(jm.RotorWarning, match=re.escape(f"{path}: link2.motor is missing")):
            arm = jm.read_arm(path)
    else:
        arm = jm.read_arm(path)
    assert arm.links[1].motor == (motor or "held")
    again = tmp_path / "again.toml"
    jm.write_arm(arm, again)
    assert jm.read_arm(again) == arm
    assert hertz(jm.read_arm(again)).tolist() == hertz(arm).tolist()


def test_the_command_says_it_once_on_standard_error(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(FILE.format(joint=PLANAR.format(motor="")))
    shown = run_command("frequencies", path)
    assert shown.exit_code == 0, shown.output
    assert shown.stderr.count("link2.motor is missing") == 1
    strict = run_command("frequencies", "--strict", path)
    assert strict.exit_code == 1


@pytest.mark.parametrize("kind", [jm.Link, jm.SpatialLink])
def test_other_words_are_refused(kind):
    expected = "motor = 'hold': must be 'held' or 'beyond_spring'.*Did you mean 'held'"
    with pytest.raises(jm.ArmError, match=expected):
        kind(1.0, 7e10, 2700.0, BEAM.section, 0.3, **ROTOR, motor="hold")
    with pytest.raises(jm.ArmError, match="motor = True: must be"):
        kind(1.0, 7e10, 2700.0, BEAM.section, 0.3, **ROTOR, motor=True)


def test_batches_and_columns_follow():
    """Cells side by side, in the plane and in space, are the arms one by one."""
    stiffness = np.array([50.0, 400.0, 9e3])
    for arm in (geared(motor="held"), jm.to_spatial(geared(motor="held"))):
        many = jm.natural_frequencies_batch(arm, {"link2.joint_stiffness": stiffness}, 4)
        single = [hertz(jm.set_parameters(arm, {"link2.joint_stiffness": k})) for k in stiffness]
        np.testing.assert_allclose(np.asarray(many.frequencies_hz), single, rtol=1e-12)
