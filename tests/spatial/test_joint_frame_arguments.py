"""What rows of Denavit and Hartenberg and joint origins refuse, by name, and the kinds of values that they take."""

import math

import jax
import numpy as np
import pytest

import jaxmodal as jm
from tests.spatial.test_joint_frames import COMMON, Z, rows

PLAIN = {"links": [{"length": 1.0, "joint_axis": [0, 0, 1]}], "tip": [1, 0, 0]}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rows((0.0, 0.0, 0.5)), r"rows1 = .*theta, d, a, alpha"),
        (lambda: rows((0.0, math.nan, 0.5, 0.0)), r"rows1\.d = nan"),
        (lambda: rows((0.0, 0.1, 0.5, 0.0), links=[COMMON] * 2), "there are 2 for 1 joints"),
        (lambda: rows((0.0, 0.1, 0.5, 0.0), convention="craig"), "'standard' or 'modified'"),
        (lambda: rows((0.0, 0.1, 0.5, 0.0), convention="modified"), r"tip = None: must be"),
        (
            lambda: rows((0.0, 0.1, 0.5, 0.0), links=[COMMON | {"along": "b"}]),
            r"link1\.along = 'b'",
        ),
        (lambda: rows((0.0, 0.1, 0.0, 0.0), links=[COMMON | {"along": "a"}]), "has no length"),
        (
            lambda: rows((0.0, 0.1, 0.5, 0.0), links=[COMMON | {"length": 1.0}]),
            "follows from the row",
        ),
        (
            lambda: rows((0.0, 0.0, 0.0, 0.0), (0.0, 0.1, 0.0, 0.0)),
            r"link1\.youngs_modulus = .*no length that could deform",
        ),
        (lambda: rows((0.0, 0.1, 0.5, 0.0), links=[{}]), "section are missing: .*rigid"),
        (
            lambda: jm.arm_from_joint_origins(
                [jm.JointOrigin(axis=(0, 0, 0))], [COMMON], (1, 0, 0)
            ),
            r"origins1\.axis = .*must not be zero",
        ),
        (
            lambda: jm.arm_from_joint_origins([(0, 0, 0)], [COMMON], (1, 0, 0)),
            "must be a JointOrigin",
        ),
        (lambda: jm.arm_from_dict(PLAIN), r"tip = .*belongs to links with"),
        (
            lambda: jm.arm_from_dict({"links": [{"joint_origin": {}}, {"length": 1.0}]}),
            r"link2\.joint_origin is missing",
        ),
        (
            lambda: jm.arm_from_dict({"links": [COMMON | {"joint_origin": {"rpx": 1}}]}),
            r"link1\.joint_origin\.rpx = 1: is not a known key",
        ),
        (
            lambda: jm.arm_from_dict(
                {"dimensions": 3, "links": [COMMON | {"length": 1.0, "joint": {"prismatic": True}}]}
            ),
            r"link1\.joint\.prismatic = True: is a key of the link; write it beside joint",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(jm.ArmError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: rows((0.0, 0.4, 0.0, 0.0), (0.0, 0.1, 0.5, 0.0), links=[{}, COMMON]),
        lambda: jm.arm_from_joint_origins(
            [jm.JointOrigin(), jm.JointOrigin((0, 0, 0.4))], [{}, COMMON], (1, 0, 0)
        ),
        lambda: jm.arm_from_dict(
            {
                "links": [{"denavit_hartenberg": {"d": 0.4, "a": 0.0, "alpha": 0.0}}],
            }
        ),
    ],
)
def test_a_way_without_a_link_says_what_is_missing(make):
    with pytest.raises(
        jm.ArmError, match=r"link1\.youngs_modulus and density and section .*0\.4 m"
    ):
        make()
    with pytest.raises(jm.ArmError, match=r"link1\.section is missing"):
        rows((0.0, 0.4, 0.0, 0.0), links=[{k: v for k, v in COMMON.items() if k != "section"}])


ROW, WRIST = (0.0, 0.4, 0.0, math.pi / 2), (0.3, 0.0, 0.0, 0.2)


def traced(build):
    """Call a function of one traced number, without a program."""
    jax.eval_shape(build, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rows(ROW, payload=3.0), r"payload = 3\.0: must be a RigidBody"),
        (lambda: jm.arm_from_denavit_hartenberg(np.array(3.0), [COMMON]), "rows = 3.0: must be"),
        (lambda: rows(np.array(1.0)), "rows1 = 1.0: must be"),
        (lambda: rows(ROW, convention="modified", tip=np.array(1.0)), "tip = 1.0: must be three"),
        (lambda: rows((0, 10**400, 0, 0)), r"rows1\.d = 1000.*must be a number"),
        (lambda: rows((0, 1 + 2j, 0, 0)), r"rows1\.d = .*must be a number"),
        (lambda: rows(ROW, convention=np.array(["a", "b"])), "convention = .*'standard' or"),
        (lambda: rows(ROW, links=[COMMON | {"joint_springs": 5}]), r"link1\.joint_springs = 5"),
        (lambda: rows(ROW, links=[COMMON | {"along": np.array([1, 2])}]), r"link1\.along = "),
        (lambda: jm.Spring([1], (0, 0, 1), 1.0), r"kind = \[1\]: must be"),
        (
            lambda: traced(
                lambda c: rows(ROW, links=[COMMON | {"hub": jm.RigidBody(1.0, (c, 0.0, 0.0))}])
            ),
            r"link1\.hub\.centre\.x = <traced.*set_parameters",
        ),
        (lambda: traced(lambda d: rows((0.0, d, 0.0, 0.0))), r"rows1\.d = <traced.*set_parameters"),
    ],
)
def test_values_of_other_kinds_are_refused_by_name(make, message):
    with pytest.raises(jm.ArmError, match=message):
        make()


def test_a_stiffness_of_a_joint_at_the_place_of_the_next_may_be_traced():
    def stiffness(value):
        arm = rows(WRIST, ROW, links=[{"joint_stiffness": value}, COMMON])
        return arm.links[0].joint_stiffness

    assert jax.eval_shape(stiffness, 5.0).shape == ()
    assert float(stiffness(5.0)) == 5.0


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_axis_of_a_joint_may_have_any_length(size):
    found = jm.arm_from_joint_origins([jm.JointOrigin(axis=(0, 0, size))], [COMMON], (0.5, 0, 0))
    assert found == jm.arm_from_joint_origins([jm.JointOrigin(axis=Z)], [COMMON], (0.5, 0, 0))


def test_postures_in_degrees_are_lists_of_numbers():
    arm = rows(ROW, (0.7, 0.0, 0.5, 0.0))
    expected = arm.with_posture([math.radians(30.0)])
    for given in (30.0, np.array(30.0), np.float64(30.0), [30.0], np.array([30.0])):
        assert arm.with_posture_deg(given) == expected
    with pytest.raises(
        jm.ArmError, match=r"posture = .*must be a list or one-dimensional array of 1"
    ):
        arm.with_posture_deg(np.zeros((1, 2)))
    angle = jax.eval_shape(lambda a: arm.with_posture_deg([a]).links[1].joint_angle, 30.0)
    assert angle.shape == ()


@pytest.mark.parametrize("place", [np.array([-0.1, 0.2]), np.array([0.1, 0.4]), 0.4])
def test_a_body_stands_on_its_link(place):
    with pytest.raises(jm.ArmError, match=r"position = .*less than the length of the link, 0\.4 m"):
        rows(ROW).with_body(1, place, jm.RigidBody(1.0))


FILE = {
    "youngs_modulus_gpa": 70.0,
    "density": 2700.0,
    "poisson_ratio": 0.33,
    "section": {"shape": "circle", "diameter_mm": 60.0, "shear_coefficient": "cowper"},
}


@pytest.mark.parametrize(
    ("ways", "frames"),
    [
        ([{"denavit_hartenberg": {"d": 0.4, "a": 0.0, "alpha": 0.0}}] * 2, {}),
        (
            [{"joint_origin": {}}, {"joint_origin": {"xyz": [0.3, 0, 0]}}],
            {"tip": [0.4, 0, 0]},
        ),
    ],
)
def test_files_say_converted_values_as_they_were_given(ways, frames):
    links = [FILE | ways[0], FILE | ways[1] | {"youngs_modulus_gpa": -70.0}]
    message = r"link2\.youngs_modulus = .*given as youngs_modulus_gpa = -70"
    with pytest.raises(jm.ArmError, match=message):
        jm.arm_from_dict({"links": links} | frames)


def test_the_tip_may_be_in_millimetres():
    links = [FILE | {"joint_origin": {}}]
    arm = jm.arm_from_dict({"links": links, "tip_mm": [400, 0, 0]})
    assert arm == jm.arm_from_dict({"links": links, "tip": [0.4, 0, 0]})
    with pytest.raises(jm.ArmError, match=r"tip = .*three numbers.*given as tip_mm = \[400, 0\]"):
        jm.arm_from_dict({"links": links, "tip_mm": [400, 0]})
    with pytest.raises(jm.ArmError, match=r"tip = .*belongs to links with"):
        jm.arm_from_dict({"links": [FILE | {"length": 1.0}], "tip_mm": [400, 0, 0]})
