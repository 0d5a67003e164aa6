"""Branches, double roots and verification of sweeps: shapes followed, roots found, numbers counted again."""

from types import SimpleNamespace

import numpy as np
import pytest

import sweeps
from sweeps.analysis.cells import arm_of_cell
from sweeps.analysis.double_roots import find_double_roots
from sweeps.analysis.tracking import by_branch, track
from sweeps.analysis.verify import verify

#: a double root of modes 2 and 3 (degrees and Hz), from the design notes of the reference solution
DOUBLE = (75.4445861562247047, -65.9908017300219814, 36.4921356522557731)


# ---- branches ----


def test_branches_follow_shapes_through_a_crossing(map_of_postures):
    """Beside the double root of modes 2 and 3 their shapes change places along theta_2."""
    line = map_of_postures.sel(theta_3=-66.0)
    tracked = track(line, "theta_2")
    assert tracked.branch.dims == ("theta_2", "mode")
    assert tracked.branch[0].values.tolist() == [1, 2, 3]
    assert tracked.branch[-1].values.tolist() == [1, 3, 2]
    swapped = (tracked.branch_flag == 1).any("mode")
    assert swapped.sum() == 1
    np.testing.assert_array_equal(tracked.frequency, line.frequency)  # sorted order stays
    curves = by_branch(tracked)
    assert curves.dims == ("theta_2", "branch")
    np.testing.assert_array_equal(curves.sortby("branch").values.sum(1), line.frequency.sum("mode"))
    second = curves.sel(branch=2).values
    assert np.all(np.diff(second) < 0) or np.all(np.diff(second) > 0)


def test_branches_keep_their_order_where_nothing_crosses(thickness):
    tracked = track(thickness.isel(theory=0), "thickness_factor")
    assert np.all(tracked.branch == tracked.mode)
    meanings = tracked.branch_flag.attrs["flag_meanings"].split()
    assert len(meanings) == len(tracked.branch_flag.attrs["flag_values"])


def test_a_cell_without_an_arm_begins_new_branches_with_a_flag():
    axes = [
        sweeps.axis("link1.section.depth", [0.15, 0.015, 0.16]),
        sweeps.axis("link1.section.width", [0.2]),
    ]
    ds = sweeps.run(sweeps.Sweep("example:three_link_industrial", axes, num_modes=2))
    flags = track(ds, "link1_section_depth").branch_flag.isel(link1_section_width=0)
    assert flags.values.tolist() == [[0, 0], [2, 2], [2, 2]]


def test_wrong_uses_of_branches_are_refused(map_of_postures):
    with pytest.raises(sweeps.SweepError, match="Did you mean 'theta_2'"):
        track(map_of_postures, "theta2")
    with pytest.raises(sweeps.SweepError, match="single point"):
        track(map_of_postures.isel(theta_2=[0]), "theta_2")
    with pytest.raises(sweeps.SweepError, match="no branches"):
        by_branch(map_of_postures)


# ---- double roots ----


def test_the_known_double_root_is_found_from_a_coarse_map(map_of_postures):
    roots = find_double_roots(map_of_postures, "theta_2", "theta_3")
    (root,) = roots
    assert root.mode == 2
    # the gap is a cone, found to about 1e-11 of a step of 5 degrees; 1e-6 leaves room
    np.testing.assert_allclose([root.x, root.y], DOUBLE[:2], rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(root.frequency, DOUBLE[2], rtol=1e-8)
    assert root.gap < 1e-9


def test_double_roots_are_told_apart_by_the_step_of_the_map(monkeypatch):
    """Two cones 0.5 mm from each other, of the solver only their place: below 1e-3, in metres, they were one root."""
    centres = np.array([[1.6e-3, 2.1e-3], [2.1e-3, 2.1e-3]])
    sides = [sweeps.linspace(f"link1.section.{s}", 1e-3, 3e-3, 9) for s in ("depth", "width")]
    ds = sweeps.run(sweeps.Sweep("example:two_link_flexible", sides, num_modes=2))
    x, y = ds.link1_section_depth, ds.link1_section_width

    def pair(x, y):
        """The gap is 1e-9 of the frequencies, which is a root, 5e-9 m from a centre."""
        gap = np.minimum(*(np.hypot(x - a, y - b) for a, b in centres))
        return 10.0 - gap[..., None] * np.array([1.0, -1.0])

    def found_at(arm, values, *_, **__):
        return SimpleNamespace(frequencies_hz=pair(*values.values()))

    monkeypatch.setattr("sweeps.analysis.double_roots.natural_frequencies_batch", found_at)
    drawn = ds.frequency.copy(data=pair(x.values[:, None], y.values[None, :]))
    roots = find_double_roots(ds.assign(frequency=drawn), x.name, y.name)
    np.testing.assert_allclose([[root.x, root.y] for root in roots], centres, rtol=0.0, atol=5e-9)


def test_double_roots_need_axes_over_one_parameter():
    load = sweeps.zipped(
        *(sweeps.axis(f"payload.{x}", [0, 1]) for x in ("mass", "inertia")), name="load"
    )
    ds = sweeps.run(
        sweeps.Sweep(
            "example:two_link_flexible", [sweeps.axis("theta_2", [0, 1]), load], num_modes=2
        )
    )
    with pytest.raises(sweeps.SweepError, match="axis 'load': double roots need axes over one"):
        find_double_roots(ds, "theta_2", "load")


def test_double_roots_need_two_axes(thickness):
    with pytest.raises(sweeps.SweepError, match="dimensions theta_2, theta_3 and mode"):
        find_double_roots(thickness, "theta_2", "theta_3")


# ---- cells and verification ----


def test_cells_lead_back_to_their_arms(map_of_postures):
    arm, theory = arm_of_cell(map_of_postures.isel(theta_2=1, theta_3=4))
    angles = [float(np.rad2deg(link.joint_angle)) for link in arm.links]
    np.testing.assert_allclose(angles, [0.0, 70.0, -56.0], rtol=1e-15)
    assert theory == "timoshenko"
    with pytest.raises(sweeps.SweepError, match="select one value of theta_3"):
        arm_of_cell(map_of_postures.isel(theta_2=1))
    with pytest.raises(sweeps.SweepError, match="'theta_2' is missing"):
        arm_of_cell(map_of_postures.isel(theta_2=1, theta_3=4, drop=True))
    with pytest.raises(sweeps.SweepError, match="no attribute 'definition'"):
        arm_of_cell(
            map_of_postures.isel(theta_2=1, theta_3=4).assign_attrs(definition=1).drop_attrs()
        )


def test_verification_confirms_right_numbers_and_finds_wrong_ones(map_of_postures):
    found = verify(map_of_postures, cells=4, seed=2)
    assert (found.cells, found.modes, found.failures) == (4, 12, ())
    for change in (
        map_of_postures.frequency * (1.0 + 1e-8),  # displaced
        map_of_postures.frequency.isel(mode=[0, 1, 1]).assign_coords(mode=[1, 2, 3]),  # duplicated
    ):
        wrong = verify(map_of_postures.assign(frequency=change), cells=2)
        assert len(wrong.failures) == 2
        assert "theta_2 = " in wrong.failures[0]
    hidden = map_of_postures.assign(status=map_of_postures.status * 0 + 3)
    assert "the arm is valid" in verify(hidden, cells=1).failures[0]
    empty = map_of_postures.assign(status=map_of_postures.status * 0 + 127)
    with pytest.raises(sweeps.SweepError, match="no cell has been computed"):
        verify(empty)
