"""Pictures of sweeps: the right numbers in the right place, files that repeat."""

import numpy as np
import pytest
import xarray as xr

import jaxmodal as jm
import sweeps
from jaxmodal.dynamic_stiffness.beams import THEORIES
from jaxmodal.plots.figures import new_figure
from sweeps.plots import pictures as plots
from sweeps.plots.maps import contours, missed_levels
from sweeps.plots.style import save

pytest.importorskip("matplotlib")

#: a double root of modes 2 and 3 (degrees and Hz), from the design notes of the reference solution
DOUBLE = (75.4445861562247047, -65.9908017300219814, 36.4921356522557731)


def texts(figure):
    import matplotlib.text

    return " ".join(entry.get_text() for entry in figure.findobj(matplotlib.text.Text))


def panels_of(figure):
    return [axes for axes in figure.axes if axes.get_title()]


def test_a_map_shows_the_numbers_of_each_mode(map_of_postures):
    figure = plots.posture_maps(map_of_postures, "theta_2", "theta_3", marks=[(2, 75.4, -66.0)])
    panels = panels_of(figure)
    assert [axes.get_title() for axes in panels] == ["mode 1", "mode 2", "mode 3"]
    for mode, axes in enumerate(panels, start=1):
        drawn = axes.collections[0].get_array()
        expected = map_of_postures.frequency.sel(mode=mode).transpose("theta_3", "theta_2")
        np.testing.assert_array_equal(np.asarray(drawn).reshape(expected.shape), expected)
        assert len(axes.lines) == (mode in (2, 3))  # the double root belongs to both
    words = texts(figure)
    for word in ("map", "[Hz]", "[°]", "double roots"):
        assert word in words


def test_a_contour_lies_where_the_map_has_its_frequency(map_of_postures):
    """The level is that of a point of the grid, so the line passes through that point; no other mode has it."""
    first = map_of_postures.frequency.sel(mode=1)
    point = first.isel(theta_2=first.sizes["theta_2"] // 3, theta_3=first.sizes["theta_3"] // 3)
    level = float(point)
    figure = plots.posture_maps(map_of_postures, "theta_2", "theta_3", levels=[level, 1e9])
    panels = panels_of(figure)
    usual, path = (lines.get_paths()[0] for lines in panels[0].collections[1:3])
    place = np.array([float(point.theta_2), float(point.theta_3)])
    span = np.ptp(map_of_postures.theta_2.values)
    assert np.min(np.hypot(*(path.vertices - place).T)) < 1e-6 * span
    assert usual.vertices.size, "round frequencies have lines without being asked for"
    others = map_of_postures.frequency.sel(mode=3)
    assert float(others.min()) > level
    assert len(panels[2].collections) == 2
    assert "industrial arm" in texts(figure)
    assert "timoshenko" in texts(figure)
    assert f"lines: {level:g} Hz; no line: 1e+09 Hz" in texts(figure)
    assert missed_levels(map_of_postures, "theta_2", "theta_3", [level, 1e9]) == [1e9]
    with pytest.raises(sweeps.SweepError, match="above 0"):
        plots.posture_maps(map_of_postures, "theta_2", "theta_3", levels=[-1.0])


def test_each_mode_has_its_own_scale_of_colours_or_all_share_one(map_of_postures):
    """On one scale the maps of high modes were of one colour."""
    frequency = map_of_postures.frequency
    for shared in (False, True):
        figure = plots.posture_maps(map_of_postures, "theta_2", "theta_3", shared_scale=shared)
        for mode, axes in enumerate(panels_of(figure), start=1):
            own = frequency if shared else frequency.sel(mode=mode)
            assert axes.collections[0].get_clim() == (float(own.min()), float(own.max()))
        bars = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
        assert len(bars) == (1 if shared else 3)


def test_a_level_that_only_missing_values_separate_has_no_line(map_of_postures):
    """Between values below and above it lie no two neighbours that are known."""
    values = map_of_postures.frequency.copy(deep=True).sortby("theta_2")
    values[:2], values[2], values[3:] = 10.0, np.nan, 20.0
    values[1, 1] = 12.0
    ds = map_of_postures.assign(frequency=values)
    assert missed_levels(ds, "theta_2", "theta_3", [11.0, 15.0]) == [15.0]
    figure = plots.posture_maps(ds, "theta_2", "theta_3", levels=[15.0])
    assert "no line: 15 Hz" in texts(figure)


def test_no_axis_of_a_mass_goes_below_zero():
    """Cells and margins around a payload of 0 did; angles may."""
    axes = [
        sweeps.linspace("payload.mass", 0.0, 10.0, 3),
        sweeps.linspace("theta_2", 0.0, 90.0, 3, unit="degree"),
    ]
    ds = sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, num_modes=1))
    for figure in (
        plots.posture_maps(ds, "payload_mass", "theta_2"),
        plots.certificate_map(ds, "payload_mass", "theta_2"),
        plots.branches(ds, "payload_mass"),
    ):
        assert figure.axes[0].get_xlim()[0] == 0.0
    assert plots.posture_maps(ds, "theta_2", "payload_mass").axes[0].get_ylim()[0] == 0.0
    assert plots.posture_maps(ds, "theta_2", "payload_mass").axes[0].get_xlim()[0] == -22.5


def test_samples_of_a_mass_have_no_axis_below_zero():
    design = sweeps.zipped(
        sweeps.axis("payload.mass", [3.0, 0.0, 1.0]),
        sweeps.axis("payload.centre_x", [0.1, 0.0, -0.1]),
        name="some",
    )
    arm = jm.examples.two_link_flexible().with_payload(mass=1.0, centre_x=0.1)
    ds = sweeps.run(sweeps.Sweep(arm, [design], num_modes=2))
    mass, place = plots.pictures(ds)["samples"].axes
    assert mass.get_xlim()[0] == 0.0
    assert place.get_xlim()[0] < -0.1


def test_branches_are_drawn_with_units_and_crossings(map_of_postures):
    line = map_of_postures.sel(theta_3=-66.0)
    figure = plots.branches(line, "theta_2")
    labels = [entry.get_label() for entry in figure.axes[0].lines]
    assert labels == ["crossing, or narrower veering", "branch 1", "branch 2", "branch 3"]
    words = texts(figure)
    for word in ("natural frequency [Hz]", "[°]", "θ₃ = -66°"):
        assert word in words
    assert "$" not in words
    plain = plots.branches(map_of_postures, "theta_2", tracked=False)
    assert [entry.get_label() for entry in plain.axes[0].lines] == ["mode 1", "mode 2", "mode 3"]


def test_an_axis_with_a_single_point_is_drawn_as_dots(thickness):
    one = thickness.isel(thickness_factor=[0])
    for figure in (plots.branches(one, "thickness_factor"), plots.slenderness(one)):
        for axes in figure.axes:
            assert len(axes.lines) >= 3
            assert {entry.get_marker() for entry in axes.lines} == {"o"}
    lines = plots.slenderness(thickness).axes[0].lines
    assert {entry.get_marker() for entry in lines} == {"None"}


def test_slenderness_shows_frequencies_and_differences(thickness):
    figure = plots.slenderness(thickness)
    upper, lower = figure.axes
    assert len(upper.lines) == 6  # three modes in two theories
    assert len(lower.lines) == 3  # the difference of Timoshenko
    expected = thickness.difference_to_euler_bernoulli.isel(theory=0, mode=0)
    np.testing.assert_allclose(lower.lines[0].get_ydata(), np.abs(expected), rtol=1e-15)
    assert upper.get_xscale() == upper.get_yscale() == "log"
    assert "thickness factor" in texts(figure)


@pytest.fixture(scope="module")
def two_theories():
    """Values in no order, a rigid joint among them, two theories, sensitivities."""
    axes = [
        sweeps.axis("link2.joint_stiffness", [100.0, np.inf, 1.0]),
        sweeps.geomspace("link1.section.width", 1e-3, 1e-1, 2),
    ]
    options = {"num_modes": 3, "outputs": ["sensitivity"], "sensitivity_to": ["link1.length"]}
    theories = ["timoshenko", "euler_bernoulli"]
    return sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, theories=theories, **options))


def test_points_are_drawn_in_order_and_infinite_ones_have_a_place(two_theories):
    figure = plots.branches(two_theories, "link2_joint_stiffness", theory="euler_bernoulli")
    axes = figure.axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "100", "∞"]
    expected = two_theories.frequency.sel(theory="euler_bernoulli").isel(link1_section_width=0)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), expected.values[[2, 0, 1], 0])
    assert "euler bernoulli, link1 section width = 0.001 m" in texts(figure)


def test_cells_lie_halfway_between_points_on_a_logarithmic_axis(two_theories):
    ds = two_theories.isel(theory=0)
    for figure in (
        plots.posture_maps(ds, "link2_joint_stiffness", "link1_section_width"),
        plots.picture(ds, "sensitivities", ["link2_joint_stiffness", "link1_section_width"]),
        plots.certificate_map(ds, "link2_joint_stiffness", "link1_section_width"),
    ):
        axes = figure.axes[0]
        assert axes.get_yscale() == "log"
        corners = axes.collections[0].get_coordinates()
        np.testing.assert_allclose(corners[:, 0, 1], [1e-4, 1e-2, 1.0], rtol=1e-14)
        np.testing.assert_array_equal(corners[0, :, 0], [-0.5, 0.5, 1.5, 2.5])


def test_samples_are_drawn_against_each_of_their_parameters():
    ranges = [
        sweeps.Range("link1.length", 0.4, 0.6),
        sweeps.Range("link2.joint_stiffness", 1e2, 1e6, scale="log"),
    ]
    design = sweeps.random_design(ranges, 5, seed=1)
    ds = sweeps.run(sweeps.Sweep("example:two_link_flexible", [design], num_modes=2))
    found = plots.pictures(ds)
    assert list(found) == ["samples"]
    for axes, column in zip(found["samples"].axes, design.columns, strict=True):
        for mode, line in enumerate(axes.lines):
            np.testing.assert_array_equal(line.get_xdata(), column.values)
            np.testing.assert_array_equal(line.get_ydata(), ds.frequency[:, mode])
    assert [axes.get_xscale() for axes in found["samples"].axes] == ["linear", "log"]
    with pytest.raises(sweeps.SweepError, match="draw samples"):
        plots.branches(ds, "sample")


def test_parameters_that_ascend_together_are_drawn_against_the_first():
    load = sweeps.zipped(
        sweeps.axis("payload.mass", [0, 5, 10]),
        sweeps.axis("payload.inertia", [0, 0.2, 0.1]),
        name="load",
    )
    ds = sweeps.run(sweeps.Sweep("example:two_link_flexible", [load], num_modes=1))
    assert list(plots.pictures(ds)) == ["branches"]
    (line,) = plots.branches(ds, "load").axes[0].lines
    np.testing.assert_array_equal(line.get_xdata(), [0, 5, 10])


def test_the_certificate_map_counts_every_status(map_of_postures):
    status = map_of_postures.status.copy(deep=True)
    status[0, 0, 0] = 1
    figure = plots.certificate_map(map_of_postures.assign(status=status), "theta_2", "theta_3")
    words = texts(figure)
    for word in ("certified: 74 modes", "uncertified: 1 modes"):
        assert word in words
    assert "not computed" not in words
    assert "mode" in texts(plots.certificate_map(map_of_postures, "theta_2"))


def test_the_pictures_suit_the_axes(map_of_postures, thickness):
    assert list(plots.pictures(map_of_postures)) == ["maps"]
    assert list(plots.pictures(thickness)) == ["slenderness"]
    line = map_of_postures.isel(theta_3=0)
    assert list(plots.pictures(line)) == ["branches"]
    status = map_of_postures.status.copy(deep=True)
    status[0, 0, 0] = 1
    assert list(plots.pictures(map_of_postures.assign(status=status))) == ["maps", "certificates"]


@pytest.fixture(scope="module")
def drawn_twice(thickness):
    return [plots.slenderness(thickness) for _ in range(2)]


@pytest.mark.parametrize("kind", ["png", pytest.param("svg", marks=pytest.mark.slow)])
def test_the_same_figure_gives_the_same_file(kind, drawn_twice, tmp_path):
    files = [tmp_path / f"{name}.{kind}" for name in "ab"]
    for figure, file in zip(drawn_twice, files, strict=True):
        save(figure, file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert first.startswith(b"\x89PNG" if kind == "png" else b"<?xml")


def test_pictures_leave_matplotlib_as_it_was(thickness):
    import matplotlib

    before = dict(matplotlib.rcParams)
    plots.slenderness(thickness)
    assert dict(matplotlib.rcParams) == before


def test_a_sweep_without_a_value_has_pictures_all_the_same():
    """Forces at rest buckle every arm: branches had no scale to choose."""
    arm = jm.examples.two_link_flexible()
    pressed = arm.replace(links=(arm.links[0].replace(axial_force=-1e6), *arm.links[1:]))
    sweep = sweeps.Sweep(pressed, [sweeps.axis("payload.mass", [0.1, 1.0])], num_modes=2)
    assert list(plots.pictures(sweeps.run(sweep))) == ["branches", "certificates"]


def test_four_theories_have_four_kinds_of_lines():
    axes = [sweeps.geomspace("thickness_factor", 1, 10, 2)]
    options = {"theories": THEORIES, "num_modes": 1}
    ds = sweeps.run(sweeps.Sweep("example:two_link_flexible", axes, **options))
    (panel,) = plots.slenderness(ds).axes
    assert len({line.get_linestyle() for line in panel.lines}) == len(THEORIES) == 4


def test_pictures_that_suit_are_of_the_theory_and_the_axes_asked_for(two_theories):
    names = ["link1_section_width", "link2_joint_stiffness"]
    found = plots.pictures(two_theories, names, theory="euler_bernoulli")
    assert list(found) == ["maps", "sensitivities"]
    drawn = np.asarray(found["maps"].axes[0].collections[0].get_array()).reshape(3, 2)
    expected = two_theories.frequency.sel(theory="euler_bernoulli", mode=1).values[[2, 0, 1]]
    np.testing.assert_array_equal(drawn, expected)


def test_wrong_uses_of_pictures_are_refused(map_of_postures, thickness, tmp_path):
    figure = plots.certificate_map(map_of_postures, "theta_2")
    for make, words in [
        (lambda: plots.branches(map_of_postures, "theta2"), "Did you mean 'theta_2'"),
        (lambda: plots.posture_maps(map_of_postures, "theta_2", "x"), "'x' is no axis"),
        (
            lambda: plots.posture_maps(map_of_postures, "theta_2", "theta_3", modes=[9]),
            "modes 1 to 3",
        ),
        (lambda: plots.branches(thickness, "thickness_factor", theory="euler"), "euler_bernoulli"),
        (lambda: plots.slenderness(map_of_postures), "'thickness_factor' is no axis"),
        (lambda: plots.pictures(map_of_postures, theory="euler"), "has timoshenko"),
        (lambda: plots.pictures(map_of_postures, "theta"), "'theta' is no axis"),
        (lambda: plots.pictures(map_of_postures.isel(theta_2=0, theta_3=0)), "no axis left"),
        (lambda: save(figure, tmp_path / "a.pdf"), "png or .svg"),
        (lambda: save(figure, tmp_path / "none" / "a.png"), "cannot be written"),
    ]:
        with pytest.raises(sweeps.SweepError, match=words):
            make()


def test_labels_of_contours_neither_touch_nor_leave_the_axes():
    axes = new_figure(3.0, 3.0).add_subplot()
    points = xr.DataArray(np.linspace(0.0, 1.0, 21), dims="x")
    values = np.broadcast_to(np.linspace(0.0, 1.0, 21)[:, None], (21, 21)) ** 0.25
    levels = np.linspace(0.02, 0.98, 49)
    contours(axes, points, points, values, levels)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) >= 3
    assert all(not box.count_overlaps(boxes[:k]) for k, box in enumerate(boxes))
    assert all(axes.bbox.contains(*corner) for box in boxes for corner in box.corners())
