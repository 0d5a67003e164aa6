"""Where the roots of a posture series begin, what a first pass calls certain, and what of it callers get."""

from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.postures import harmonics, series_roots
from jaxmodal.postures.polynomial_values import quantity_of, varying
from jaxmodal.postures.series_results import SeriesResults, merged
from jaxmodal.postures.terms import Terms
from jaxmodal.runtime.statuses import Status

#: a root of a cubic that is simple, after four steps of Newton's
ROUNDED = 1e-12
TWO = jm.examples.two_link_flexible()


@pytest.fixture(scope="module")
def series():
    return jm.posture_series(TWO, omega_max=2 * np.pi * 20)


def test_a_cubic_through_four_values_has_the_root_where_the_search_begins():
    rng = np.random.default_rng(3)
    at = np.sort(rng.uniform(-1.0, 1.0, (4, 40)), axis=0)
    at[1], at[2] = -0.1 + 0.0 * at[1], 0.1 + 0.0 * at[2]
    at[0], at[3] = at[0] - 1.1, at[3] + 1.1
    root, others = rng.uniform(-0.1, 0.1, 40), np.array([[-0.7], [0.9]])
    values = (at - root) * (at - others[0]) * (at - others[1])
    found = series_roots._start(list(at), values, at[1], at[2])
    np.testing.assert_allclose(found, root, rtol=0.0, atol=ROUNDED)


def test_a_start_stays_in_its_interval():
    """Values that are all alike, or of no number, give the middle."""
    at = np.array([[-1.0], [-0.2], [0.2], [1.0]])
    for values in (np.ones((4, 1)), np.full((4, 1), np.nan)):
        with np.errstate(all="ignore"):
            (found,) = series_roots._start(list(at), values, at[1], at[2])
        assert -0.2 <= found <= 0.2


@pytest.mark.parametrize("fine", [None, 40])
def test_four_separators_are_of_the_panel_of_their_interval(series, fine):
    """Values of another panel have another scale."""
    grid, panels = series_roots.grid_of(series, fine), series_roots.panels_of(series)
    inside = (grid.rows - 2) // len(panels.centre)
    rows = grid.first + np.arange(4)[:, None]
    assert len(grid.table[0]) == grid.rows
    assert np.array_equal((rows - 1) // inside, [grid.panel] * 4)
    # at these rows lies what the table says: the polynomial of the panel
    power = grid.four[..., None] ** np.arange(np.shape(series.taylor)[1])
    values = np.einsum("knd,ndh->knh", power, np.asarray(series.taylor)[grid.panel])
    size = np.asarray(series.size)[grid.panel][:, None]
    np.testing.assert_allclose(grid.table[0][rows] / size, values / size, rtol=0.0, atol=1e-13)


def two_roots(half, error, safe=True):
    """Zeros of u^2 - 1/16, right to an error, on a panel of a half-width about sqrt(omega) = 10, separator between."""
    coefficients = np.zeros((series_roots.DEGREES, 1))
    coefficients[[0, 2], 0] = -1 / 16, 1.0
    at = np.array([-1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0])
    first = np.array([1, 1, 1, 2, 2, 2])
    errors = np.full((1, 1), error)
    grid = series_roots.SeparatorTable(
        table=((at**2 - 1 / 16)[:, None],),
        weakest=errors,
        panel=np.zeros(6, np.int32),
        ends=np.stack([at[:-1], at[1:]]),
        first=first.astype(np.int32),
        four=at[first + np.arange(4)[:, None]],
    )
    panels = series_roots.Panels((coefficients,), np.array([10.0]), np.array([half]), errors)
    given = {"terms": Terms(0, mirrored=True), "modes": 2, "safe": safe}
    found = series_roots.roots_in(np.zeros((1, 1)), grid, panels, **given)
    assert found.number.tolist() == [2.0]
    return found, [[(10.0 - half / 4) ** 2, (10.0 + half / 4) ** 2]]


@pytest.mark.parametrize(("half", "apart"), [(1e-12, False), (1e-9, True)])
def test_roots_whose_enclosures_touch_are_not_apart(half, apart):
    found, exact = two_roots(half, 1e-15)
    np.testing.assert_allclose(found.omega, exact, rtol=1e-15, atol=0.0)
    assert np.all(found.width <= series_roots.WIDEST)
    assert found.apart.tolist() == [apart]


def test_values_at_the_ends_of_an_enclosure_are_beyond_the_error():
    """By two errors and a half; the noise of a frequency is what one error moves it by."""
    half, error = 1e-2, 1e-7
    found, _ = two_roots(half, error)
    for width, errors in ((found.width, series_roots._MARGIN), (found.noise, 1.0)):
        assert width.min() > 100 * series_roots.WIDEST
        u = (np.sqrt(found.omega * (1.0 + np.array([[-1.0], [1.0]]) * width)) - 10.0) / half
        np.testing.assert_allclose(np.abs(u**2 - 1 / 16), errors * error, rtol=1e-5, atol=0.0)
    assert series_roots._MARGIN > 1.0


@pytest.mark.parametrize("safe", [True, False])
def test_a_zero_that_is_not_reached_has_no_enclosure(safe, monkeypatch):
    """A chord and one step of Newton's do not reach it."""
    for steps in ("_CUBIC_STEPS", "_STEPS", "_SAFE_STEPS"):
        monkeypatch.setattr(series_roots, steps, 0)
    found, exact = two_roots(1e-2, 1e-15, safe)
    assert np.all(np.abs(found.omega - exact) > 1e-6)
    assert np.all(np.isinf(found.width))


def test_a_sign_is_certain_beyond_the_error_of_its_own_panel():
    error, weakest = np.array([[1.0], [2.0]]), np.array([[5.0]])
    certain = np.array([1.5, -1.5, 1.5, 2.5, -2.5, 6.0])
    values = np.tile(certain[:, None], (1, 7))
    for cell, row in enumerate(range(6), start=1):
        values[row, cell] = [0.5, 0.5, -0.5, 1.9, -1.9, 4.9][row]
    clear = series_roots._clear_signs(values, error, weakest)
    assert clear.tolist() == [True] + [False] * 6


def test_the_last_interval_stands_where_there_are_fewer_changes_of_sign():
    """In NumPy and compiled alike, for any number of intervals: here 66, two words of bits."""
    values = np.ones((67, 3))
    values[10:, 0], values[64:, 1], values[66:, 1] = -1.0, -1.0, 1.0
    number, interval = series_roots._changes_on_host(values, 3)
    assert number.tolist() == [1.0, 2.0, 0.0]
    assert interval.T.tolist() == [[9, 65, 65], [63, 65, 65], [65, 65, 65]]
    compiled = jax.jit(series_roots._changes, static_argnums=1)(values, 3)
    assert np.array_equal(compiled[0], number)
    assert np.array_equal(compiled[1], interval)


@pytest.mark.slow
@pytest.mark.parametrize("shapes", [(1, 5), (3, 5)])
def test_a_program_for_all_postures_gives_the_determinant_of_each(shapes, monkeypatch):
    """Values alike at all frequencies, and others at each; against one evaluation for each arm."""
    quantities = [quantity_of(TWO, name) for name in ("payload.mass", "link2.joint_stiffness")]
    arm = varying(TWO, (1,), quantities, "timoshenko")
    rng, omega, flags = (
        np.random.default_rng(0),
        np.array([2.0, 9.0, 31.0]),
        theory_flags("timoshenko"),
    )
    values = rng.uniform(0.0, 1e-3, (2, *shapes)).repeat(3 // shapes[0], axis=1)
    angles = rng.uniform(-np.pi, np.pi, 5)
    beams, _ = arm.at(np.stack([np.tile(angles, 3), *values.reshape(2, -1)]))
    d = harmonics.determinant(beams, flags, omega.repeat(5), np.tile(angles, 3)[None])
    each = jax.tree_util.tree_map(lambda x: x.reshape(2, 3, 5) if x.ndim > 1 else x, beams)
    if shapes[0] == 1:
        each = jax.tree_util.tree_map(lambda x: x[:, :1] if x.ndim > 1 else x, each)
    monkeypatch.setattr(harmonics, "_HOST_LANES", 0)
    monkeypatch.setattr(harmonics, "_BLOCK", (2, 4))
    factor, growth, rest = harmonics.exact_values(each, flags, omega, angles[None])
    shift = (d.growth.reshape(3, 5) - growth[:, None]) + (d.rest.reshape(3, 5) - rest[:, None])
    np.testing.assert_allclose(factor, d.factor.reshape(3, 5) * np.exp(shift), rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("group", [1, 0])
def test_groups_are_the_counts_below_but_of_modes_together(group):
    """Cell 1 is from the general search, which may have found its two modes as one group."""
    valid = np.ones(3, bool)
    results = SeriesResults.empty(valid, 2)
    for column in (results.omega, results.bracket, results.residual_ratio):
        column[...] = 1.0
    results.by_sign_changes[...] = True
    one = np.array([[0, 1]], np.int32)
    general = jm.NaturalFrequencies(
        omega=np.ones((1, 2)),
        bracket=np.ones((1, 2, 2)),
        residual_ratio=np.ones((1, 2), np.float32),
        status=np.full((1, 2), Status.certified, np.uint8),
        count_below=one,
        count_above=one + 1,
        group=np.array([[0, group]], np.int32),
        evaluations=np.array([9], np.int32),
        by_sign_changes=None,
        theory="timoshenko",
    )
    with ThreadPoolExecutor(1) as pool:
        found = merged(results, valid, np.array([1]), general, "timoshenko", pool)
    assert found.count_below.tolist() == [[0, 1]] * 3
    assert found.evaluations.tolist() == [1, 9, 1]
    assert found.group.tolist() == [[0, 1], [0, group], [0, 1]]
