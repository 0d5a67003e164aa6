"""Arms in space at rest: what is drawn is where it is, in views of one scale, and nothing lies outside."""

import matplotlib
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import plots
from jaxmodal.plots.bent_arms import VIEWS

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def arm():
    """With rigid links, one of length 0 and a rigid joint."""
    body = jm.RigidBody(3.0, (0.1, 0.0, 0.2), (0.01, 0.02, 0.02))
    rigid = {"rigid": True, "hub": body, "joint_stiffness": 1e4}
    tube = jm.hollow_circle(0.09, 0.003, "cowper")
    beam = jm.SpatialLink(0.5, 7e10, 2700.0, tube, poisson_ratio=0.33, end_offset=(0.0, 0.1, 0.0))
    wrist = jm.SpatialLink(0.0, joint_axis=(0, 1, 0), joint_angle=0.4, **rigid)
    hand = jm.SpatialLink(0.2, joint_axis=(1, 0, 0), **rigid)
    upright = beam.replace(joint_frame=[jm.Rotation((0, 1, 0), -np.pi / 2)])
    return jm.SpatialArm((upright, wrist, hand), payload=jm.RigidBody(1.0), name="$5 arm_1")


@pytest.mark.parametrize("view", list(VIEWS))
def test_joints_axes_and_bodies_are_where_they_are(arm, view):
    axes = arm.plot(view=view)
    sides = np.array(VIEWS[view]).T
    joints = np.array([line.get_xydata()[0] for line in axes.lines if line.get_marker() == "o"])
    frames = arm.frames()
    np.testing.assert_allclose(
        joints, [frame.joint @ sides for frame in frames], rtol=0.0, atol=1e-12
    )
    faces = [line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "o"]
    assert faces[0] == "white"  # rigid
    assert faces[1] == faces[2] != "white"
    # the axis of the wrist is y of the link before
    (ends,) = [line.get_xydata() for line in axes.lines if line.get_zorder() == 4][1:2]
    way = frames[0].axes[:, 1] @ sides
    drawn = ends[1] - ends[0]
    assert drawn[0] * way[1] - drawn[1] * way[0] == pytest.approx(0.0, abs=1e-12)
    (bodies,) = axes.collections
    centres = [frame.joint + frame.axes @ [0.1, 0.0, 0.2] for frame in frames[1:]]
    expected = [*centres, frames[-1].tip]
    np.testing.assert_allclose(
        bodies.get_offsets(), np.array(expected) @ sides, rtol=0.0, atol=1e-12
    )
    np.testing.assert_allclose(bodies.get_sizes()[2] / bodies.get_sizes()[0], 1.0 / 3.0)
    assert axes.get_title() == "$5 arm_1"


def test_four_views_have_one_scale_and_nothing_lies_outside(arm, tmp_path):
    figure = plots.plot_spatial_arm(arm, tmp_path / "arm.png")
    assert (tmp_path / "arm.png").stat().st_size > 0
    assert [axes.get_title() for axes in figure.axes] == list(VIEWS)
    widths = [np.ptp(axes.get_xlim()) for axes in figure.axes]
    np.testing.assert_allclose(widths, widths[0])
    for axes in figure.axes:
        points = np.concatenate(
            [line.get_xydata() for line in axes.lines] + [axes.collections[0].get_offsets()]
        )
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        assert np.all((points > [left, low]) & (points < [right, high]))


def test_an_arm_without_extent_is_drawn():
    link = jm.SpatialLink(0.0, rigid=True, hub=jm.RigidBody(1.0, inertia=(1.0, 1.0, 1.0)))
    assert jm.SpatialArm((link,)).plot().lines


def test_a_view_that_is_none_is_refused(arm):
    with pytest.raises(jm.ArmError, match="view = 'front': choose one of 'oblique', 'x-z'"):
        arm.plot(view="front")
