"""Limits of joints: read of URDF files, kept in files, laid under axes of sweeps, told where angles lie beyond."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import design_opt
import jaxmodal as jm
import sweeps

DATA = Path(__file__).parent.parent / "data"
SMALL, VEHICLE = DATA / "small_arm.urdf", DATA / "urdf/vehicle.urdf"


def robot(limits, kind="revolute"):
    return (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="elbow" type="'
        f'{kind}"><parent link="a"/><child link="b"/>{limits}</joint></robot>'
    )


@pytest.fixture
def arm():
    link = {"rigid": True, "joint_stiffness": 1e4, "joint_axis": (0, 1, 0)}
    body = jm.RigidBody(2.0, inertia=(0.01, 0.01, 0.01))
    limits = {"joint_limits": (-1.0, 2.0), "joint_velocity_limit": 3.0}
    first = jm.SpatialLink(0.4, body=body, name="shoulder", **link)
    second = jm.SpatialLink(0.3, body=body, name="elbow", **link, **limits)
    return jm.SpatialArm((first, second))


@pytest.mark.parametrize(
    ("text", "kind", "limits", "speed"),
    [
        (
            '<limit lower="-0.5" upper="1.5" effort="1" velocity="2.5"/>',
            "revolute",
            (-0.5, 1.5),
            2.5,
        ),
        ('<limit effort="1" velocity="2.5"/>', "continuous", None, 2.5),
        ('<limit lower="-1" upper="1" effort="1" velocity="0"/>', "continuous", None, None),
        ('<limit upper="1" effort="1"/>', "revolute", (0.0, 1.0), None),
        ('<limit lower="0" upper="0" effort="0" velocity="0"/>', "revolute", None, None),
        ("", "revolute", None, None),
    ],
)
def test_limits_of_a_urdf_are_kept_by_the_arm(tmp_path, text, kind, limits, speed):
    (tmp_path / "r.urdf").write_text(robot(text, kind))
    (link,) = jm.read_urdf(tmp_path / "r.urdf", check=False).links
    assert (link.joint_limits, link.joint_velocity_limit) == (limits, speed)


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_limits_go_through_files(tmp_path, arm, suffix):
    for kept in (arm, jm.read_urdf(SMALL, joint_stiffness={"*": 1e4})):
        jm.write_arm(kept, tmp_path / f"arm.{suffix}")
        again = jm.read_arm(tmp_path / f"arm.{suffix}")
        assert again == kept
        assert [link.joint_limits for link in again.links] == [
            link.joint_limits for link in kept.links
        ]
    assert again.links[1].joint_limits is not None
    assert arm != arm.replace(links=(arm.links[0], arm.links[1].replace(joint_limits=(-1.0, 1.0))))


def test_files_give_limits_in_degrees(tmp_path):
    link = {"length": 0.5, "rigid": True, "body": {"mass": 1.0}, "joint_axis": [0, 1, 0]}
    direct = {"joint_limits_deg": [-90, 120], "joint_velocity_limit_deg_per_s": 180}
    inner = {"joint": {"limits_deg": [-90, 120], "velocity_limit_deg_per_s": 180}}
    for own in (direct, inner):
        (found,) = jm.arm_from_dict({"links": [link | own]}).links
        assert found.joint_limits == pytest.approx(np.radians([-90.0, 120.0]), rel=1e-15)
        assert found.joint_velocity_limit == pytest.approx(np.pi, rel=1e-15)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"joint_limits": (1.0, -1.0)}, r"joint_limits = \(1\.0, -1\.0\): must be the least and"),
        ({"joint_limits": (1.0, np.inf)}, "joint_limits = "),
        ({"joint_limits": 3.0}, "joint_limits = 3.0: must be the least and the largest angle"),
        ({"joint_limits": "ab"}, "joint_limits = 'ab'"),
        ({"joint_velocity_limit": 0.0}, "joint_velocity_limit = 0.0: must be greater than 0"),
        ({"joint_velocity_limit": "fast"}, "joint_velocity_limit = 'fast'"),
    ],
)
def test_limits_that_are_none_are_refused(values, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.SpatialLink(0.5, rigid=True, **values)


def test_pieces_of_a_link_leave_the_limits_to_its_joint(arm):
    cut = arm.with_body(2, 0.1, jm.RigidBody(1.0))
    assert [link.joint_limits for link in cut.links] == [None, (-1.0, 2.0), None]


def test_limits_change_no_frequency(arm):
    free = [link.replace(joint_limits=None, joint_velocity_limit=None) for link in arm.links]
    found, expected = (
        jm.natural_frequencies(x, 2).omega for x in (arm, arm.replace(links=tuple(free)))
    )
    assert np.array_equal(found, expected)


BEYOND = r"link2\.joint_angle = 171\.887°: is beyond the limits of joint 'elbow', -57\.2958° to 114\.592°"


def test_postures_beyond_limits_are_warned_of(arm):
    for pose in (
        lambda: arm.with_posture([3.0]),
        lambda: arm.with_posture({"elbow": 3.0}),
        lambda: arm.with_posture_deg([np.degrees(3.0)]),
    ):
        with pytest.warns(jm.ImplausibleWarning, match=BEYOND) as caught:
            posed = pose()
        assert [Path(w.filename).name for w in caught] == [Path(__file__).name]
        assert float(posed.links[1].joint_angle) == pytest.approx(3.0, rel=1e-15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm.with_posture([2.0])
        arm.with_posture_deg([float(np.degrees(2.0))])
        posed.with_posture({"shoulder": 0.3})  # the other joint stays where it was
    remarks = [str(remark) for remark in jm.check_arm(posed).remarks]
    assert any(
        "link2.joint_angle" in x and "beyond the limits of joint 'elbow'" in x for x in remarks
    )


def test_a_robot_that_stands_beyond_its_limits_is_warned_of():
    with pytest.warns(jm.ImplausibleWarning, match="beyond the limits of joint 'tilt'"):
        jm.read_urdf(VEHICLE, base="mast", joint_stiffness={"*": 1e4}, positions={"tilt": 2.6})


def test_axes_of_sweeps_lie_over_the_limits(arm, tmp_path):
    angles = sweeps.over_limits(arm, "elbow", 7, unit="degree")
    assert (angles.name, angles.columns[0].unit) == ("elbow", "degree")
    np.testing.assert_allclose(
        angles.columns[0].si_values, np.linspace(-1.0, 2.0, 7), rtol=0, atol=1e-15
    )
    jm.write_arm(arm, tmp_path / "arm.toml")
    axes = [{"parameter": "elbow", "unit": "degree", "limits": {"num": 7}}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sweep = sweeps.sweep_from_dict({"arm": "arm.toml", "axes": axes}, folder=tmp_path)
        assert sweep.fingerprint == sweeps.Sweep(arm, [angles]).fingerprint
        few = sweeps.sweep_from_dict({"arm": "arm.toml", "axes": axes}, folder=tmp_path, points=3)
    assert few.shape == (3,)
    for parameter, message in (
        ("shoulder", "axis over 'shoulder': the joint has no limits; give its link joint_limits"),
        ("link2.length", "limits need the angle of one joint"),
        ("elbo", "Did you mean 'elbow'"),
    ):
        with pytest.raises(sweeps.SweepError, match=message):
            sweeps.over_limits(arm, parameter, 3)
    planar = jm.examples.two_link_flexible()
    with pytest.raises(sweeps.SweepError, match="has no limits"):
        sweeps.over_limits(planar, "theta_2", 3)
    axes[0]["limits"]["start"] = 0
    with pytest.raises(sweeps.SweepError, match=r"axes\[1\]: .*start"):
        sweeps.sweep_from_dict({"arm": "arm.toml", "axes": axes}, folder=tmp_path)


@pytest.mark.parametrize("parameter", ["elbow", "theta_2", "link*.joint_angle"])
def test_axes_beyond_the_limits_are_warned_of_and_computed(arm, parameter):
    with pytest.warns(
        jm.ImplausibleWarning, match=r"axis '.*': link2\.joint_angle = 0° to 171\.887°"
    ) as caught:
        sweep = sweeps.Sweep(arm, [sweeps.linspace(parameter, 0.0, 3.0, 2)], num_modes=2)
    assert [Path(w.filename).name for w in caught] == [Path(__file__).name]
    assert sweep.num_cells == 2


def test_variables_and_postures_of_problems_beyond_the_limits_are_warned_of(arm):
    best = design_opt.MaximiseFrequency()
    variable = design_opt.Variable("elbow", -2.0, 1.0)
    text = r"variable 'elbow': link2\.joint_angle = -114\.592° to 57\.2958°: is beyond"
    with pytest.warns(jm.ImplausibleWarning, match=text) as caught:
        design_opt.Problem(arm, [variable], [best])
    assert [Path(w.filename).name for w in caught] == [Path(__file__).name]
    stiffness = design_opt.Variable("elbow.joint_stiffness", 1e3, 1e4)
    sets = {"work": [[0.0], [2.5]]}
    text = r"postures 'work': link2\.joint_angle = 0° to 143"
    with pytest.warns(jm.ImplausibleWarning, match=text) as caught:
        design_opt.Problem(arm, [stiffness], [best], postures=sets)
    assert [Path(w.filename).name for w in caught] == [Path(__file__).name]
