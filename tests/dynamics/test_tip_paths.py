"""Do joints take the tip along a path, within their limits, and is it told where they cannot?

What compiles: inverse kinematics of four small arms, and one simulation with fixed steps.
"""

import dataclasses

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import (
    CirclePath,
    LinePath,
    flexible_arm,
    follow_path,
    simulate,
    tip_position,
    tip_rotation,
)
from jaxmodal.runtime.errors import ArmError

UPPER, FORE = 0.9, 0.7
BODY = jm.RigidBody(1.0, inertia=(0.1, 0.1, 0.1))
TIMES = np.linspace(0.0, 2.0, 81)


def rigid(length, axis=(0.0, 1.0, 0.0)):
    return jm.SpatialLink(length, rigid=True, joint_axis=axis, hub=BODY)


#: about the vertical, then shoulder and elbow about y: a positive angle lowers what is beyond
ELBOW = flexible_arm(jm.SpatialArm((rigid(0.0, (0, 0, 1)), rigid(UPPER), rigid(FORE))), 1)


def elbow_angles(places):
    """The textbook's angles of that arm, elbow up."""
    x, y, z = np.transpose(places)
    along = np.hypot(x, y)
    bend = np.arccos((along**2 + z**2 - UPPER**2 - FORE**2) / (2 * UPPER * FORE))
    shoulder = np.arctan2(z, along) + np.arctan2(FORE * np.sin(bend), UPPER + FORE * np.cos(bend))
    return np.stack([np.arctan2(y, x), -shoulder, bend], axis=-1)


CIRCLE = CirclePath((0.9, 0.2, 0.4), (0.9, 0.5, 0.4), (1.0, 0.0, 0.5), duration=2.0)


def test_three_joints_have_the_angles_of_the_textbook():
    places = np.array([CIRCLE(time) for time in TIMES])
    assert np.allclose(places[0], places[-1], rtol=0.0, atol=1e-15)
    normal = np.array([1.0, 0.0, 0.5])
    away = places - CIRCLE.centre
    assert np.allclose(away @ normal, away[0] @ normal, rtol=0.0, atol=1e-15)
    assert np.ptp(np.linalg.norm(away, axis=1)) < 1e-15
    # counter-clockwise about the normal
    assert np.cross(away[20], away[30]) @ normal > 0.0
    found = follow_path(ELBOW, CIRCLE, TIMES, [0.3, -0.9, 1.2])
    assert found.status == jm.Status.resolved
    assert np.allclose(found.angles, elbow_angles(places), rtol=0.0, atol=1e-13)
    assert found.miss.max() < 1e-13
    # splines of third order: the fourth power of the step
    finer = follow_path(ELBOW, CIRCLE, np.linspace(0.0, 2.0, 161), [0.3, -0.9, 1.2])
    assert 10.0 < found.miss_between.max() / finer.miss_between.max() < 20.0
    assert found.miss_between.max() < 2e-5
    assert "times at limit" in str(found)
    data = found.to_xarray()
    assert data.angle.dims == data.at_limit.dims == ("time", "joint")
    assert data.joint.values.tolist() == [1, 2, 3]
    np.testing.assert_allclose(data.time, TIMES, rtol=0.0, atol=0.0)
    np.testing.assert_allclose(data.angle, elbow_angles(places), rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(data.miss, 0.0, rtol=0.0, atol=1e-13)
    assert (data.angle.units, data.miss.units, data.time.units) == ("rad", "m", "s")
    assert not data.at_limit.any()
    assert "turn_miss" not in data
    slid = dataclasses.replace(found, turns=np.array([True, False, True]))
    assert slid.to_xarray().units.values.tolist() == ["rad", "m", "rad"]
    assert "m/s" in str(slid)
    assert data.attrs["status"] == "resolved"
    assert found.singular_value.min() > 0.1


def test_what_cannot_be_met_is_refused_or_told():
    """A line that leaves reach: the arm then points at it, stretched, from the shoulder."""
    line = LinePath((0.9, 0.0, 0.3), (1.8, 0.9, 0.6), duration=2.0)
    near = [0.0, -1.0, 1.2]
    with pytest.raises(ArmError, match=r"path: missed at \d+ of 81 times from t = .*no limit"):
        follow_path(ELBOW, line, TIMES, near)
    found = follow_path(ELBOW, line, TIMES, near, allow_misses=True)
    far = np.linalg.norm([line(time) for time in TIMES], axis=1) - (UPPER + FORE)
    assert found.status == jm.Status.off_path
    beyond = far > 1e-2
    assert np.allclose(found.miss[beyond], far[beyond], rtol=0.0, atol=1e-6)
    assert found.miss[far < -1e-2].max() < 1e-9
    data = found.to_xarray()
    assert (data.attrs["status"], data.attrs["message"]) == ("off_path", found.message)
    assert np.allclose(data.miss[beyond], far[beyond], rtol=0.0, atol=1e-6)
    assert float(data.singular_value[-1]) < 1e-6
    assert found.singular_value[-1] < 1e-6


def test_joints_stay_within_their_limits_where_others_can_go_on():
    """Four joints in a plane follow a line; one of them would pass its limit."""
    arm = jm.SpatialArm((rigid(0.5, (0, 0, 1)),) * 4)
    model = flexible_arm(arm, 1)
    line = LinePath((1.4, 0.0, 0.0), (0.5, 0.7, 0.0), duration=2.0)
    near = [-0.6, 0.5, 0.5, 0.4]
    free = follow_path(model, line, TIMES, near)
    assert not free.at_limit.any()
    highest = np.full(4, 3.0)
    highest[2] = free.angles[:, 2].max() - 0.2
    held = follow_path(model, line, TIMES, near, limits=(-3.0, highest))
    assert held.status == jm.Status.resolved
    assert held.miss.max() < 1e-12
    assert np.all(held.angles <= highest)
    assert held.at_limit[:, 2].sum() > 5
    assert not held.at_limit[:, [0, 1, 3]].any()
    with pytest.raises(ArmError, match="joint 1, 2, 3, 4 is at a limit there"):
        follow_path(model, line, TIMES, near, limits=(-0.1, 0.1))


def test_the_whole_pose_is_followed_also_one_that_turns():
    """Six axes, of which the last three meet: a circle with the tool held, and a place about which it turns."""
    axes = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))
    lengths = (0.0, 0.9, 0.7, 0.0, 0.0, 0.1)
    model = flexible_arm(jm.SpatialArm(tuple(map(rigid, lengths, axes))), 1)
    near = np.array([0.3, -0.9, 1.2, 0.2, 0.6, 0.1])
    start = np.asarray(tip_position(model, near))
    held = np.asarray(tip_rotation(model, near))
    circle = CirclePath(start + np.array([0.0, 0.0, 0.2]), start, (0.2, 1.0, 0.0), 2.0, turns=-0.5)
    found = follow_path(model, circle, TIMES, near, orientation="start")
    assert max(found.miss.max(), found.turn_miss.max()) < 1e-12
    turned = found.to_xarray().turn_miss
    assert (turned.dims, turned.units, float(turned.max())) == (
        ("time",),
        "rad",
        found.turn_miss.max(),
    )
    assert np.allclose(tip_rotation(model, found.angles), held, rtol=0.0, atol=1e-12)
    places = [circle(time) for time in TIMES]
    assert np.allclose(tip_position(model, found.angles), places, rtol=0.0, atol=1e-12)

    def turning(time):
        c, s = np.cos(0.8 * time), np.sin(0.8 * time)
        return start, np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ held

    found = follow_path(model, turning, TIMES, near)
    expected = [turning(time)[1] for time in TIMES]
    assert np.allclose(tip_rotation(model, found.angles), expected, rtol=0.0, atol=1e-12)
    assert found.turn_miss_between.max() < 1e-5


@pytest.mark.slow
def test_a_flexible_arm_is_simulated_along_it():
    """The tip of a stiff arm is on the path up to what its links give."""
    tube = jm.hollow_circle(outer_diameter=0.2, wall_thickness=0.01)
    boom = {"youngs_modulus": 2e11, "density": 2700.0, "section": tube, "poisson_ratio": 0.3}
    links = (
        rigid(0.0, (0, 0, 1)),
        jm.SpatialLink(UPPER, joint_axis=(0, 1, 0), **boom),
        jm.SpatialLink(FORE, joint_axis=(0, 1, 0), **boom),
    )
    model = flexible_arm(jm.SpatialArm(links), {"bending_xy": 1, "bending_xz": 1})
    found = follow_path(model, CIRCLE, TIMES, [0.3, -0.9, 1.2])
    times = np.linspace(0.0, 2.0, 11)
    moved = simulate(model, times, motion=found.motion, method="linearly_implicit", step=1e-3)
    assert moved.attrs["status"] == "finished"
    away = moved["tip_position"].values - [CIRCLE(time) for time in times]
    assert np.linalg.norm(away, axis=1).max() < 1e-4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"path": 3.0}, "path = 3.0: must be a LinePath"),
        ({"path": LinePath((0, 0), (1, 0, 0), 1.0)}, r"LinePath: start = .*three finite numbers"),
        ({"path": lambda time: (1.0, 0.0)}, "path = .*3 finite numbers at t = 0 s"),
        ({"times": [0.0, 1.0]}, "times: of shape .*four ascending"),
        ({"near": [0.0, 0.0]}, "near = .*3 finite numbers, an angle of each joint"),
        ({"limits": (1.0, -1.0)}, "limits = .*the lowest below the highest"),
        ({"limits": 2.0}, "limits = 2.0: must be a pair"),
        ({"orientation": "end"}, "orientation = 'end': must be 'start'"),
        ({"orientation": np.ones((3, 3))}, "orientation = .*three orthogonal unit vectors"),
        ({"damping": 0.0}, "damping"),
        ({"path": lambda time: ((1.0, 0.0, 0.0), np.eye(3)), "orientation": "start"}, "left out"),
    ],
)
def test_bad_input_is_refused(changes, message):
    given = {"path": CIRCLE, "times": TIMES, "near": [0.3, -0.9, 1.2]} | changes
    with pytest.raises(ArmError, match=message):
        follow_path(ELBOW, **given)
