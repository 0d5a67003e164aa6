"""Do pictures show the motion that they are given, and the animation the arm where the equations have it?

What compiles: positions along the links.
"""

import numpy as np
import pytest
from dynamics_cases import uniform_link
from PIL import Image

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, link_positions, tip_position
from jaxmodal.dynamics.integration.histories import dataset
from jaxmodal.dynamics.integration.trajectories import Trajectory
from jaxmodal.plots.motions import animate_motion, plot_motion

TIMES = np.linspace(0.0, 0.5, 26)


def bent_model():
    """Two links, the second with an elastic joint."""
    first = uniform_link(0.5, 1.0, 0.2)
    second = first.replace(joint_stiffness=30.0, rotor_inertia=1e-4, gear_ratio=20.0)
    return flexible_arm(jm.Arm((first, second)), 2)


def swinging(model):
    """States at times, put together by hand: nothing is integrated; the last five are not known."""
    q = 0.1 * np.sin(TIMES[:, None] * np.arange(1, 8)) * [1, 1, 0.1, 0.01, 0.2, 0.01, 1]
    tips = np.array(tip_position(model, q))
    tips[-5:] = np.nan
    blank, pairs = np.zeros(len(TIMES)), np.zeros((len(TIMES), 2))
    known = np.array(q)
    known[-5:] = np.nan
    found = Trajectory(
        TIMES, known, 0 * q, 0 * q, pairs, tips, pairs, pairs, *[blank] * 5,
        np.int64(2), TIMES[-6], np.zeros(16), np.int64(1),
    )  # fmt: skip
    return dataset(model, found, "rk4"), q


@pytest.mark.parametrize("frames", ["rotation", "linear"])
@pytest.mark.parametrize("foreshortening", [True, False])
def test_positions_along_the_links(frames, foreshortening):
    """They begin at the base, meet at joints, end at the tip, and bent links keep their length to fourth order."""
    model = bent_model().posed("full", frames, foreshortening)
    q = np.array([0.3, 0.8, 0.02, 0.001, -0.03, 0.002, 0.0])
    places = np.asarray(link_positions(model, q))
    np.testing.assert_allclose(places[0, 0], 0.0, atol=1e-15)
    np.testing.assert_allclose(places[1, 0], places[0, -1], atol=1e-14)
    np.testing.assert_allclose(places[1, -1], tip_position(model, q), atol=1e-14)
    if frames == "rotation":
        steps = np.diff(places, axis=1)
        lengths = np.hypot(steps[..., 0], steps[..., 1]).sum(axis=1)
        assert np.all(np.abs(lengths / 0.5 - 1.0) < (1e-4 if foreshortening else 2e-2))
        assert foreshortening or np.abs(lengths / 0.5 - 1.0).max() > 1e-4


def test_a_picture_has_a_panel_for_every_quantity(tmp_path):
    motion, q = swinging(bent_model())
    figure = plot_motion(motion, tmp_path / "motion.png", title="swinging")
    assert len(figure.axes) == 4
    drawn = [line.get_ydata() for axes in figure.axes for line in axes.get_lines()]
    expected = [*q[:, 2:6].T, *q[:, :2].T, *motion["tip_position"].values.T]
    for values, column in zip(drawn, expected, strict=True):
        np.testing.assert_array_equal(values[:-5], column[:-5])
    assert Image.open(tmp_path / "motion.png").size[0] > 900
    names = ("deflections", "joints", "tip", "torques", "tip_acceleration", "energies")
    assert sum(axes.get_visible() for axes in plot_motion(motion, panels=names).axes) == 7
    with pytest.raises(jm.ArmError, match="'speed' is none"):
        plot_motion(motion, panels=("speed",))
    with pytest.raises(jm.ArmError, match="nothing to draw"):
        plot_motion(motion, panels=())


def test_an_animation_shows_the_arm_at_its_times(tmp_path):
    """Pictures of known times alone; another model is refused."""
    model = bent_model()
    motion, _ = swinging(model)
    path = tmp_path / "arm.gif"
    animate_motion(model, motion, path, frames=4)
    assert Image.open(path).n_frames == 4
    with pytest.raises(jm.ArmError, match="must be the model that was simulated"):
        animate_motion(model.posed(foreshortening=False), motion, path, frames=4)
    with pytest.raises(jm.ArmError, match="must be at least 2"):
        animate_motion(model, motion, path, frames=1)
    with pytest.raises(jm.ArmError, match="seconds = -1"):
        animate_motion(model, motion, path, frames=4, seconds=-1.0)
