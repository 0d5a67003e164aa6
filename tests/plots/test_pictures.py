"""Pictures of objects: axes in, axes out, and in them what the object says."""

import importlib
import inspect

import jax
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import plots
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.pictures import PICTURES
from jaxmodal.plots.figures import finished, label_decades, new_figure, panels_or_new
from jaxmodal.runtime.statuses import Status

matplotlib.use("Agg")
ARM = jm.examples.two_link_flexible().with_posture_deg([90.0]).with_payload(mass=0.5, centre_x=0.1)


@pytest.fixture
def axes():
    return new_figure(6.0, 4.0).add_subplot()


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_an_arm_is_drawn_to_scale(axes):
    """Link 2 begins at the tip of link 1 and ends 0.54 m to its left; the payload lies 0.1 m beyond."""
    assert ARM.plot(axes) is axes
    first, second = (np.asarray(patch.get_xy()) for patch in axes.patches[:2])
    assert np.allclose(first[:, 0].max(), 0.5)
    assert np.allclose([second[:, 1].min(), second[:, 1].max()], [0.0, 0.54])
    assert np.isclose(np.ptp(second[:, 0]), 0.0006)
    payload = axes.patches[-1]
    assert np.allclose(payload.center, (0.5, 0.64))
    assert "payload, 0.5 kg" in texts(axes)
    assert axes.get_aspect() == 1.0
    assert "posture 90°" in axes.get_title()


def test_names_are_no_formulas(axes):
    """A dollar in the name of an arm ended every picture of it with an error of Matplotlib's parser."""
    ARM.replace(name="$^$").plot(axes)
    picture = finished(axes.get_figure(), None, "$^$")
    found = jm.resonance_free(ARM, 1.0, 2.0)
    plots.draw_resonance_map(
        found, new_figure(6.0, 4.0).add_subplot(), title="$^$"
    ).figure.canvas.draw()
    picture.canvas.draw()
    assert axes.get_title().startswith("$^$")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"frames": 2.5}, r"frames = 2\.5: must be at least 2, and a whole number"),
        ({"frames": 1}, "frames = 1: must be at least 2"),
        ({"seconds": 0}, r"seconds = 0\.0: must be finite and greater than 0"),
        ({"path": "mode.png"}, "path = 'mode.png': must be a file that ends in .gif"),
    ],
)
def test_animations_that_are_none(options, words):
    shapes = jm.mode_shapes(ARM, 2, stations=5)
    with pytest.raises(jm.ArmError, match=words):
        plots.animate_mode(shapes, **({"mode": 1, "path": "mode.gif"} | options))


def test_a_picture_is_not_written_beside_a_folder(tmp_path):
    """Matplotlib adds a suffix to the name of a folder, and writes there."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    free = jm.resonance_free(ARM, 1.0, 2.0)
    for draw, drawn in (
        (plots.plot_mode_shapes, jm.mode_shapes(ARM, 2, stations=5)),
        (plots.plot_resonance_map, free),
    ):
        with pytest.raises(jm.ArmError, match="is a folder; give the name of a file in it"):
            draw(drawn, folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_modes_of_one_frequency_have_no_picture_of_their_own():
    loose = dict.fromkeys(
        ("joint_stiffness", "joint_axial_stiffness", "joint_shear_stiffness"), 0.0
    )
    free = jm.Arm((ARM.links[0].replace(**loose),))
    with pytest.raises(ValueError, match="no shape to draw: its frequency is that of other modes"):
        jm.mode_shapes(free, 3, theory="euler_bernoulli").plot()


def test_section_forces_lie_to_the_left_of_their_link_whatever_the_stations(axes):
    """Stations from the end to the start turned the sides round, and one alone gave no picture."""
    beam = jm.Arm((jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0)),))
    for stations in ([0.0, 1.0], [1.0, 0.0], [0.5]):
        rest = jm.static_equilibrium(
            beam, theory="euler_bernoulli", tip_force=(0.0, 1e-3), stations=stations
        )
        rest.plot(axes, field="shear_force")
        assert np.all(axes.lines[-1].get_ydata() > 0.1)


def test_a_mode_is_drawn_with_its_frequency(axes, tmp_path):
    shapes = jm.mode_shapes(ARM, 2, stations=5)
    assert shapes.plot(axes, mode=2) is axes
    assert f"{float(shapes.frequencies_hz[1]):.5g} Hz" in axes.get_title()
    (scale,) = axes.artists  # a bar of 0.2 m: the picture is less than a metre wide
    assert scale.txt_label.get_text() == "0.2 m"
    assert scale.size_bar.get_children()[0].get_width() == 0.2
    (bodies,) = axes.collections  # that of link 1, and that of link 2 with the payload 0.1 m beyond
    tip = float(ARM.links[1].tip_mass) + 0.5
    areas = bodies.get_sizes()
    assert areas[0] / areas[1] == pytest.approx(float(ARM.links[0].tip_mass) / tip)
    ends, moved, turned = (
        np.asarray(x) for x in (shapes.position, shapes.displacement, shapes.psi)
    )
    ahead = 0.1 * 0.5 / tip * np.array([0.0, 1.0])  # link 2 points along y
    shift = moved[1, 1, -1] + float(turned[1, 1, -1]) * np.array([-ahead[1], 0.0])
    drawn = bodies.get_offsets()[1] - (ends[1, -1] + ahead)
    assert np.allclose(drawn / np.linalg.norm(drawn), shift / np.linalg.norm(shift), atol=1e-9)
    with pytest.raises(ValueError, match="modes 1 to 2"):
        shapes.plot(axes, mode=3)
    shapes.animate(tmp_path / "mode.gif", mode=1, frames=2)
    assert (tmp_path / "mode.gif").read_bytes()[:3] == b"GIF"


def test_sensitivities_are_bars_the_largest_above(axes):
    names = ["link1.length", "theta_2", "link1.joint_angle", "payload.mass"]
    table = jm.sensitivities(ARM, 1, addresses=names)
    assert table.plot(axes, top=3) is axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    widths = [abs(bar.get_width()) for bar in axes.patches]
    assert len(labels) == 3
    assert widths == sorted(widths, reverse=True)
    assert "link1.joint_angle (per °)" not in labels
    assert axes.yaxis_inverted()


def test_sensitivities_of_a_buckled_arm_say_why_there_are_none(axes):
    buckled = jm.Arm((ARM.links[0].replace(axial_force=-1e6),))
    table = jm.sensitivities(buckled, 2, addresses=["link1.length"], throw=False)
    table.plot(axes)
    assert " ".join(texts(axes)[0].split()).startswith(
        "no sensitivities: the forces at rest buckle"
    )
    assert not axes.patches


def test_frequencies_are_marks_in_hertz_and_what_is_not_certified_is_another_mark(axes):
    hertz = np.array([4.0, 5.0, 5.01, 9.0, np.nan])
    status = np.array([0, 0, 0, 1, 1], np.uint8)
    assert (Status.certified, Status.uncertified) == (0, 1)
    rest = dict.fromkeys(
        ("count_below", "count_above", "bracket", "group", "residual_ratio"), hertz
    )
    omega = 2.0 * np.pi * hertz
    found = NaturalFrequencies(
        omega=omega, status=status, evaluations=np.array(9), theory="timoshenko", **rest
    )
    assert found.plot(axes) is axes
    certified, not_certified = axes.lines
    assert np.allclose(certified.get_xdata(), hertz[:3])
    assert np.allclose(not_certified.get_xdata(), hertz[3:4])
    assert certified.get_marker() != not_certified.get_marker()
    assert texts(axes) == ["1", "2, 3", "4"]  # numbers that would touch are one text
    assert axes.get_xlabel() == "frequency [Hz]"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "certified",
        "not certified",
    ]


def test_frequencies_of_a_batch_have_a_row_for_each_arm(axes):
    alone = jm.natural_frequencies(ARM, 2)
    two = jax.tree.map(lambda x: np.stack([x, x]), alone)
    assert two.plot(axes) is axes
    (marks,) = axes.lines
    assert np.allclose(marks.get_xdata(), np.tile(np.asarray(alone.frequencies_hz), 2))
    assert marks.get_ydata().tolist() == [0, 0, 1, 1]
    assert axes.get_ylabel() == "arm"


def test_angles_with_a_frequency_are_marks_on_a_turn_of_the_joint(axes):
    found = jm.postures_at(ARM, float(jm.natural_frequencies(ARM, 1).omega[0]))
    assert found.plot(axes) is axes
    angles = np.degrees(np.asarray(found.angle)[np.isfinite(np.asarray(found.angle))])
    drawn = np.concatenate([line.get_xdata() for line in axes.lines])
    assert np.allclose(np.sort(drawn), angles)
    assert np.isclose(np.abs(drawn - 90.0), 0.0, atol=1e-6).any()
    assert sorted(texts(axes)) == ["1"] * len(angles)
    assert axes.get_xlim() == (-185.0, 185.0)


def test_the_turn_of_one_joint_is_a_strip_with_exact_borders(axes):
    free = jm.resonance_free(ARM, 2.0 * np.pi * 0.15, 2.0 * np.pi * 0.17)
    assert free.avoid
    assert free.plot(axes) is axes
    borders = np.degrees(np.asarray(free.border)[np.isfinite(np.asarray(free.border))])
    drawn = [line.get_xdata()[0] for line in axes.lines]
    assert np.allclose(drawn, borders)
    assert texts(axes) == [f"{angle:.1f}°, mode 1" for angle in borders]


def test_bodies_that_lie_together_have_one_label(axes):
    ARM.with_payload(mass=0.5).plot(axes)
    assert texts(axes)[-1].splitlines()[-1] == "payload, 0.5 kg"
    assert texts(axes)[-1].startswith("body 2, ")


@pytest.mark.parametrize(("low", "high", "least"), [(0.9, 1.1, 3), (2.0, 60.0, 4)])
def test_logarithmic_axes_have_labels_however_narrow(axes, low, high, least):
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    label_decades(axes.yaxis, low, high)
    axes.figure.draw_without_rendering()
    shown = [y for y in axes.get_yticks() if low <= y <= high]
    assert len(shown) >= least
    assert all(text.get_text() for text in axes.get_yticklabels())


def test_without_axes_a_new_figure_is_made():
    import matplotlib.pyplot as plt

    made = ARM.plot()
    assert made.figure in map(plt.figure, plt.get_fignums())
    plt.close(made.figure)


def test_public_pictures_are_documented():
    for name in plots.__all__:
        assert getattr(plots, name).__doc__, name


@pytest.mark.parametrize("place", sorted({x for x in PICTURES.values() if ":draw_" in x}))
def test_what_is_drawn_without_axes_is_shown(place):
    """By notebooks and ``plt.show()``: they know figures of pyplot alone."""
    module, name = place.split(":")
    function = getattr(importlib.import_module(module), name)
    assert "axes" in inspect.signature(function).parameters
    called = inspect.unwrap(function).__code__.co_names
    assert "new_figure" not in called


def test_new_panels_are_in_pyplot_or_in_the_given_figure():
    given, before = new_figure(), plt.get_fignums()
    panels = panels_or_new(given, 2, 6.0, 5.0)
    assert [each.figure is given for each in panels] == [True, True]
    assert given.get_size_inches().tolist() == [6.0, 5.0]
    assert plt.get_fignums() == before
    assert panels_or_new(panels, 2, 1.0, 1.0) == panels
    (alone,) = panels_or_new(None, 1, 4.0, 3.0)
    assert plt.figure(plt.get_fignums()[-1]) is alone.figure
    assert alone.figure.get_size_inches().tolist() == [4.0, 3.0]
    plt.close(alone.figure)
