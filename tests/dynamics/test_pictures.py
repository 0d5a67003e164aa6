"""Do pictures show the motion that they are given, and the animation the arm where the equations have it?

What compiles: positions along the links.
"""

import numpy as np
import pytest
from PIL import Image

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, link_positions, tip_position
from jaxmodal.dynamics.drives.motions import RestToRest
from jaxmodal.dynamics.files import simulation_from_dict
from jaxmodal.dynamics.integration.histories import dataset, followed
from jaxmodal.dynamics.integration.trajectories import Trajectory
from jaxmodal.plots.motions import animate_motion, plot_motion
from tests.support.dynamics_cases import uniform_link

TIMES = np.linspace(0.0, 0.5, 26)


def bent_model():
    """Two links, the second with an elastic joint."""
    first = uniform_link(0.5, 1.0, 0.2)
    second = first.replace(joint_stiffness=30.0, rotor_inertia=1e-4, gear_ratio=20.0, motor="held")
    return flexible_arm(jm.Arm((first, second)), 2)


def swinging(model):
    """States at times, put together by hand: nothing is integrated; the last five are not known."""
    q = 0.1 * np.sin(TIMES[:, None] * np.arange(1, 8)) * [1, 1, 0.1, 0.01, 0.2, 0.01, 1]
    return moved(model, q), q


def moved(model, q):
    """The motion through coordinates q."""
    tips = np.array(tip_position(model, q))
    tips[-5:] = np.nan
    blank, pairs = np.zeros(len(TIMES)), np.zeros((len(TIMES), 2))
    known = np.array(q)
    known[-5:] = np.nan
    found = Trajectory(
        TIMES, known, 0 * q, 0 * q, pairs, tips, pairs, pairs, *[blank] * 5,
        np.int64(2), TIMES[-6], np.zeros(16), np.int64(1),
    )  # fmt: skip
    return dataset(model, found, "rk4")


@pytest.mark.parametrize("frames", ["rotation", "linear"])
@pytest.mark.parametrize("foreshortening", [True, False])
def test_positions_along_the_links(frames, foreshortening):
    """They begin at the base, meet at joints, end at the tip, and bent links keep their length to fourth order."""
    model = bent_model().posed("full", frames, foreshortening)
    q = np.array([0.3, 0.8, 0.02, 0.001, -0.03, 0.002, 0.0])
    places = np.asarray(link_positions(model, q))
    np.testing.assert_allclose(places[0, 0], 0.0, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(places[1, 0], places[0, -1], rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(places[1, -1], tip_position(model, q), rtol=0.0, atol=1e-14)
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


def chain(angles, lengths=(0.5, 0.5)):
    """Tip of rigid links, by hand."""
    turned = np.cumsum(angles, axis=-1)
    return np.stack([np.cos(turned) @ lengths, np.sin(turned) @ lengths], axis=-1)


WANTED = RestToRest([0.0, 0.1], [0.4, 0.6], 0.3)


def asked_for():
    """Angles by hand: the fifth-order polynomial."""
    part = np.clip(TIMES / 0.3, 0.0, 1.0)[:, None]
    return [0.0, 0.1] + np.array([0.4, 0.5]) * part**3 * (10.0 - 15.0 * part + 6.0 * part**2)


def test_deflections_are_in_millimetres_and_what_was_asked_for_is_dotted():
    motion, _ = swinging(bent_model())
    target = followed(bent_model(), WANTED, TIMES)
    panels = ("end_deflections", "joints", "tip", "torques")
    deflections, joints, tip, torques = plot_motion(motion, panels=panels, target=target).axes
    assert "[mm]" in deflections.get_title()
    for line, column in zip(deflections.lines, motion["end_deflection"].values.T, strict=True):
        np.testing.assert_allclose(line.get_ydata()[:-5], 1e3 * column[:-5], rtol=1e-14)
    for axes, expected in ((joints, asked_for()), (tip, chain(asked_for()))):
        dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
        for line, column in zip(dotted, expected.T, strict=True):
            np.testing.assert_allclose(line.get_ydata(), column, rtol=0.0, atol=1e-12)
        assert "asked for" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert not [line for line in torques.lines if line.get_linestyle() == ":"]
    for axes in plot_motion(motion).axes:  # each has a unit
        assert axes.get_title().endswith((")", "]"))


@pytest.fixture
def animated(monkeypatch):
    """Axes of an animation, and what shows a picture of it."""
    taken = {}

    def keep(figure, show, *rest):
        taken.update(axes=figure.axes[0], show=show)

    monkeypatch.setattr("jaxmodal.plots.motions.write_gif", keep)
    return taken


def test_an_animation_magnifies_bending_and_says_how_much(animated, tmp_path):
    model = bent_model()
    motion, q = swinging(model)
    animate_motion(model, motion, tmp_path / "a.gif", frames=21, magnified=3.0)
    animated["show"](7)
    axes = animated["axes"]
    more = q[7] * [1, 1, 3, 3, 3, 3, 1]
    drawn = [line.get_xydata() for line in axes.lines if len(line.get_xdata()) == 21]
    np.testing.assert_allclose(drawn, link_positions(model, more), rtol=0.0, atol=1e-12)
    off = 1e3 * np.hypot(*(motion["tip_position"].values[7] - chain(q[7, :2])))
    assert axes.get_title() == f"t = 0.140 s, tip deflection {off:.3g} mm, bending × 3"
    with pytest.raises(jm.ArmError, match=r"magnified = 0\.0"):
        animate_motion(model, motion, tmp_path / "a.gif", magnified=0)


@pytest.mark.parametrize(("share", "note"), [(1.0, ""), (0.02, ", bending × 50"), (0.0, "")])
def test_bending_is_magnified_by_a_round_number_where_it_is_not_seen(
    share, note, animated, tmp_path
):
    """The largest of 1, 2, 5, 10 and so on that keeps a deflection within 0.08 of the metre; none of what is seen."""
    model = bent_model()
    _, q = swinging(model)
    small = q * [1, 1, share, share, share, share, 1]
    motion = moved(model, small)
    animate_motion(model, motion, tmp_path / "a.gif", frames=21)
    animated["show"](2)
    assert animated["axes"].get_title().partition(" mm")[2] == note
    off = np.hypot(*(motion["tip_position"].values - chain(small[:, :2])).T)[:-5].max()
    if note:
        assert 50.0 * off <= 0.08 < 100.0 * off


def test_an_animation_shows_the_path_that_was_asked_for(animated, tmp_path):
    model = bent_model()
    motion, _ = swinging(model)
    animate_motion(
        model, motion, tmp_path / "a.gif", frames=3, target=followed(model, WANTED, TIMES)
    )
    axes = animated["axes"]
    (dotted,) = (line for line in axes.lines if line.get_linestyle() == ":")
    np.testing.assert_allclose(dotted.get_xydata(), chain(asked_for()), rtol=0.0, atol=1e-12)
    assert axes.get_xlim()[0] < dotted.get_xdata().min()
    assert axes.get_xlim()[1] > dotted.get_xdata().max()


def test_a_file_says_what_its_motors_follow():
    link = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700.0, "hub_inertia": 0.01}
    link["section"] = {"shape": "rectangle", "depth": 0.003, "width": 0.04}
    motors = {"kind": "pd", "target_deg": [40.0, 60.0], "duration": 0.3}
    motors |= {"proportional": 50.0, "derivative": 2.0, "feed_forward": True}
    run = {"modes": 1, "start_deg": [0.0, 0.0], "until": 0.3, "every": 0.1}
    arm = {"links": [link, link], "dynamics": run | {"motors": motors}}
    target = simulation_from_dict(arm).target()
    np.testing.assert_allclose(
        np.degrees(target["joint_angle"].values[[0, -1]]), [[0, 0], [40, 60]]
    )
    arm["dynamics"]["motors"] = {"kind": "free"}
    assert simulation_from_dict(arm).target() is None
