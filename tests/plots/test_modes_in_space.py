"""Modes of arms in space: views that are not mirrored, of one scale, with a triad, and nothing outside."""

import matplotlib
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import plots
from jaxmodal.plots.bent_arms import VIEWS, bent
from jaxmodal.plots.figures import new_figure

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def shapes():
    return jm.mode_shapes(jm.examples.six_axis_industrial(), 3, stations=5)


@pytest.fixture(scope="module")
def page(shapes):
    """Axes by mode and view."""
    figure = plots.plot_mode_shapes(shapes)
    figure.draw_without_rendering()
    return np.array(figure.axes, object).reshape(3, len(VIEWS))


@pytest.mark.parametrize("view", list(VIEWS))
def test_no_view_is_mirrored(view):
    """Right, up and towards the eye are right-handed, from the same side of the arm: x goes right or forwards."""
    right, up = np.array(VIEWS[view])
    np.testing.assert_allclose(np.linalg.norm([right, up], axis=1), 1.0, rtol=0.0, atol=1e-4)
    assert right @ up == pytest.approx(0.0, abs=1e-9)
    eye = np.cross(right, up)
    assert right[0] >= 0.0
    assert eye[0] >= 0.0
    assert up[2] > 0.0 or eye[2] > 0.0


def test_nothing_is_outside_whichever_way_the_mode_moves(shapes, page):
    for mode, row in enumerate(page):
        drawn = bent(shapes, mode)
        for axes, view in zip(row, VIEWS, strict=True):
            for rest, moved in ((drawn.rest, drawn.moved), (drawn.centres, drawn.carried)):
                for share in (-1.0, 0.0, 1.0):
                    seen = (rest + share * (moved - rest)) @ np.array(VIEWS[view]).T
                    inside = axes.bbox.padded(-6.0)  # bodies have a size
                    places = axes.transData.transform(seen.reshape(-1, 2))
                    assert all(inside.contains(*place) for place in places)


def test_views_of_a_mode_have_one_scale_and_say_it(page):
    for row in page:
        sides = [np.ptp(axes.get_xlim()) for axes in row] + [
            np.ptp(axes.get_ylim()) for axes in row
        ]
        np.testing.assert_allclose(sides, sides[0], rtol=1e-12)
        bars = [artist for axes in row for artist in axes.artists]
        assert len(bars) == len(VIEWS)
        for bar in bars:
            length = bar.size_bar.get_children()[0].get_width()
            assert bar.txt_label.get_text() == f"{length:g} m"
            assert 0.1 * sides[0] < length < 0.3 * sides[0]


def test_a_triad_shows_the_axes_that_a_view_shows(page):
    for axes, view in zip(page[0], VIEWS, strict=True):
        names = [text.get_text() for text in axes.texts if text.get_text()]
        assert names == (list("xyz") if view == "oblique" else sorted(view.replace("-", "")))
        arrows = [text for text in axes.texts if not text.get_text()]
        for name, arrow in zip(names, arrows, strict=True):
            drawn = np.asarray(arrow.xy) - np.asarray(arrow.get_position())
            own = np.array(VIEWS[view])[:, "xyz".index(name)]
            np.testing.assert_allclose(
                drawn / np.linalg.norm(drawn), own / np.linalg.norm(own), rtol=0.0, atol=1e-9
            )


def test_a_mode_in_the_plane_has_no_triad():
    planar = jm.mode_shapes(jm.examples.two_link_flexible(), 1, stations=5)
    assert not planar.plot(new_figure(4.0, 3.0).add_subplot()).texts
