"""Borders of resonance maps are whole lines, also where they turn back between rows."""

import math
from collections import Counter

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.postures.resonance_lines import links, refined
from tests.support.commands import run_command

pytest.importorskip("matplotlib")

from jaxmodal.plots.figures import broken, new_figure
from jaxmodal.plots.resonance_maps import draw_resonance_map

THREE = jm.examples.three_link_industrial()
BENT = THREE.with_posture_deg([0.0, 120.0])
BAND = (2.0 * math.pi * 10.0, 2.0 * math.pi * 14.0)


@pytest.fixture(scope="module")
def payloads():
    """Mode 1 has 10 Hz up to some 41 kg, mode 2 has 14 Hz from some 17 kg on: both borders turn back."""
    return jm.resonance_free(BENT, *BAND, across="payload.mass", values=(0.0, 60.0), points=13)


@pytest.fixture(scope="module")
def smooth(payloads):
    return refined(BENT, payloads)


def pieces(axes):
    """Ends of the pieces of the lines of each end of the band, shape (N, 2, 2)."""
    found = []
    for line in axes.lines:
        points = np.stack(line.get_data(), axis=-1)
        found.append(points.reshape(-1, 3, 2)[:, :2])
        assert np.isnan(points[2::3]).all()
    return found


def open_ends(axes, rows, limits=(-180.0, 180.0)):
    """Ends of pieces at which no other begins, inside the map."""
    left = []
    for some in pieces(axes):
        ends = [(round(x, 6), round(y, 9)) for x, y in some.reshape(-1, 2)]
        for (x, y), times in Counter(ends).items():
            inside = limits[0] + 1e-6 < x < limits[1] - 1e-6 and rows[0] < y < rows[1]
            left += [(x, y)] if times < 2 and inside else []
    return left


def test_lines_have_no_ends_inside_a_map_of_a_parameter(smooth):
    axes = draw_resonance_map(smooth, new_figure(6.0, 5.0).add_subplot())
    assert not open_ends(axes, (0.0, 60.0))
    steps = np.concatenate([np.abs(np.diff(some[:, :, 0], axis=1)) for some in pieces(axes)])
    assert steps.max() < 0.01 * 360.0


def test_lines_have_no_ends_inside_a_map_of_two_joints():
    """Closed lines, lines that go round, and rows at which they turn back, from nine rows."""
    found = refined(THREE, jm.resonance_free(THREE, 2 * math.pi * 40, 2 * math.pi * 60, points=9))
    assert found.certified
    axes = draw_resonance_map(found, new_figure(6.0, 5.0).add_subplot())
    assert not open_ends(axes, (-180.0, 180.0))


def test_a_border_turns_back_where_the_frequency_is_extreme(smooth):
    """Independently: the largest first frequency of any angle is 10 Hz with this payload, the least second 14 Hz."""
    angles = np.radians(np.linspace(0.0, 180.0, 1441))
    for end, mode, extreme, best in ((0, 1, max, np.max), (1, 2, min, np.min)):
        rows = np.flatnonzero((np.asarray(smooth.end) == end).any(axis=1))
        mass = extreme(float(smooth.across_angle[row]) for row in rows)
        cells = {"theta_2": angles, "payload.mass": np.full(angles.size, mass)}
        omega = jm.natural_frequencies_batch(BENT, cells, mode).omega[:, mode - 1]
        # the last row still has both borders, 1.4 degrees apart at most
        assert float(best(np.asarray(omega))) == pytest.approx(BAND[end], rel=5e-5)


def test_rows_between_are_solved_as_the_others_are(payloads, smooth):
    assert smooth.certified
    rows = np.asarray(smooth.across_angle)
    assert np.all(np.diff(rows) > 0.0)
    np.testing.assert_array_equal(
        np.asarray(smooth.border)[np.isin(rows, payloads.across_angle)], payloads.border
    )
    rng = np.random.default_rng(1)
    exists = np.argwhere(np.isfinite(np.asarray(smooth.border)))
    for row, place in rng.choice(exists, 12, replace=False):
        arm = jm.set_parameters(BENT, {"payload.mass": rows[row]})
        held = jm.set_parameters(arm, {"theta_2": float(smooth.border[row, place])})
        omega = jm.natural_frequencies(held, 3).omega[smooth.border_mode[row, place] - 1]
        assert float(omega) == pytest.approx(BAND[smooth.end[row, place]], rel=1e-11)


def test_limits_end_lines(payloads):
    limits = np.radians([-120.0, 100.0])
    cut = jm.resonance_free(
        BENT, *BAND, across="payload.mass", values=(0.0, 60.0), points=13, limits=limits
    )
    found = refined(BENT, cut)
    assert links(found, 0.004 * 220.0)[1].all()
    axes = draw_resonance_map(found, new_figure(6.0, 5.0).add_subplot())
    assert axes.get_xlim() == (-120.0, 100.0)
    ends = open_ends(axes, (0.0, 60.0), (-120.0, 100.0))
    assert all(min(abs(x + 120.0), abs(x - 100.0)) < 0.01 * 220.0 for x, _ in ends)


def test_the_command_draws_whole_lines(tmp_path, monkeypatch):
    taken = {}
    monkeypatch.setattr(
        "jaxmodal.plots.resonance_maps.plot_resonance_map",
        lambda found, path, title: taken.update(found=found, title=title),
    )
    few = [
        "--band-hz",
        "10,14",
        "--across",
        "payload.mass",
        "--range",
        "payload.mass=0,60",
        "--points",
        "7",
    ]
    place = ["--posture-deg", "0,120", "--plot", str(tmp_path / "a.png")]
    done = run_command("resonance-map", "example:three_link_industrial", *few, *place)
    assert done.exit_code == 0, done.output
    assert taken["found"].border.shape[0] > 7
    assert links(taken["found"], 0.004 * 2.0 * math.pi)[1].all()


def test_titles_are_broken_to_the_width_of_their_picture():
    """Part of a long one was outside."""
    figure = new_figure(6.2, 5.6)
    words = "0.21 to 0.24 Hz, joint 2 turns within -120° to 120°, payload.mass [kg] from 0 to 0.2"
    axes = figure.add_subplot()
    axes.set_title(broken(words, 6.2), fontsize=10)
    figure.draw_without_rendering()
    box = axes.title.get_window_extent()
    assert box.x0 >= 0.0
    assert box.x1 <= figure.bbox.width
    assert broken("one\ntwo", 6.2) == "one\ntwo"
