"""Where the roots of a posture series begin, what a first pass calls certain, and what of it callers get."""

import functools
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.postures import changes_of_sign, harmonics, series_roots
from jaxmodal.postures.polynomial_values import quantity_of, varying
from jaxmodal.postures.series_results import SeriesResults, merged
from jaxmodal.postures.terms import Terms
from jaxmodal.runtime.statuses import Status

TWO = jm.examples.two_link_flexible()


@pytest.fixture(scope="module")
def series():
    return jm.posture_series(TWO, omega_max=2 * np.pi * 20)


def test_a_step_of_halleys_is_of_third_order():
    """Of u^3 + u^2/2 + u - c the error after a step from h away is K h^3 with a K of three derivatives."""
    a = np.zeros((series_roots.DEGREES, 2))
    root, away = 0.1, np.array([1e-2, 1e-3])
    slope, bend = 3 * root**2 + root + 1, 6 * root + 1
    a[:4] = np.array([-(root**3 + root**2 / 2 + root), 1.0, 0.5, 1.0])[:, None]
    found = series_roots._halley(a, root + away, np.full(2, -1.0), np.full(2, 1.0)) - root
    expected = ((bend / (2 * slope)) ** 2 - 1 / slope) * away**3
    np.testing.assert_allclose(found, expected, rtol=0.1, atol=0.0)


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_a_step_stays_in_its_interval(value):
    """Of a constant, and of no number, it leads to the middle."""
    a = np.zeros((series_roots.DEGREES, 1))
    a[0] = value
    with np.errstate(all="ignore"):
        found = series_roots._halley(a, *(np.array([x]) for x in (0.15, -0.2, 0.2)))
    assert found.tolist() == [0.0]


def two_roots(half, error, safe=True, centre=0.0, away=0.2):
    """Zeros of (u - centre)^2 - away^2, right to an error, on a panel of a half-width about sqrt(omega) = 10."""
    coefficients = np.zeros((series_roots.DEGREES, 1))
    coefficients[:3, 0] = centre**2 - away**2, -2.0 * centre, 1.0
    errors = np.full((1, 1), error)
    panels = series_roots.Panels(
        (coefficients,), np.array([10.0]), np.array([half]), errors, errors
    )
    given = {"terms": Terms(0, mirrored=True), "modes": 2, "intervals": 6, "safe": safe}
    found = series_roots.roots_in(np.zeros((1, 1)), panels, **given)
    return found, [[(10.0 + half * (centre - away)) ** 2, (10.0 + half * (centre + away)) ** 2]]


@pytest.mark.parametrize(("half", "apart"), [(1e-12, False), (1e-9, True)])
def test_roots_whose_enclosures_touch_are_not_apart(half, apart):
    found, exact = two_roots(half, 1e-15)
    np.testing.assert_allclose(found.omega, exact, rtol=1e-15, atol=0.0)
    assert found.number.tolist() == [2.0]
    assert np.all(found.width <= series_roots.WIDEST)
    assert found.apart.tolist() == [apart]


def test_values_at_the_ends_of_an_enclosure_are_beyond_the_error():
    """By two errors and a half; the noise of a frequency is what one error moves it by."""
    half, error = 1e-2, 1e-7
    found, _ = two_roots(half, error)
    noise = found.residual_ratio.astype(float) * 2.0**-52
    for width, errors in ((found.width, series_roots._MARGIN), (noise, 1.0)):
        assert width.min() > 100 * series_roots.WIDEST
        u = (np.sqrt(found.omega * (1.0 + np.array([[-1.0], [1.0]]) * width)) - 10.0) / half
        np.testing.assert_allclose(np.abs(u**2 - 0.04), errors * error, rtol=1e-5, atol=0.0)
    assert series_roots._MARGIN > 1.0


@pytest.mark.parametrize("safe", [True, False])
def test_a_zero_that_is_not_reached_has_no_enclosure(safe, monkeypatch):
    """One step of Halley's and one of Newton's do not reach it."""
    for steps, number in (("_STEPS", 1), ("_SAFE_STEPS", 0)):
        monkeypatch.setattr(series_roots, steps, number)
    found, exact = two_roots(1e-2, 1e-15, safe)
    assert np.all(np.abs(found.omega - exact) > 1e-9)
    assert not found.narrow.any()
    assert np.all(np.isinf(found.bracket))


@pytest.mark.parametrize(
    ("safe", "error", "number"), [(True, 1e-9, 2), (True, 1e-5, 0), (False, 1e-9, 0)]
)
def test_two_roots_in_one_interval_are_parted_by_the_value_between_them(safe, error, number):
    """Both lie between the separators at 0 and 0.5; a value within its error parts nothing."""
    found, exact = two_roots(1e-2, error, safe, centre=0.3, away=1e-3)
    assert found.number.tolist() == [number]
    if number:
        np.testing.assert_allclose(found.omega, exact, rtol=1e-14, atol=0.0)
        assert found.apart.all()


def on_panels(values, intervals):
    """Polynomials (P, d, cells) of degree 1 from values at both ends of panels, (P, 2, cells), and at separators."""
    polynomials = np.zeros((len(values), series_roots.DEGREES, values.shape[2]))
    polynomials[:, 0], polynomials[:, 1] = (
        0.5 * (values[:, 1] + values[:, 0]),
        0.5 * (values[:, 1] - values[:, 0]),
    )
    u = changes_of_sign.separators(intervals)
    there = polynomials[:, :1] + polynomials[:, 1:2] * u[:, None]
    return polynomials, np.concatenate([there[:, :-1].reshape(-1, values.shape[2]), there[-1:, -1]])


COMPILED = jax.jit(changes_of_sign.changes_of_sign, static_argnums=3, static_argnames="single")
BOTH_WAYS = tuple(
    functools.partial(way, single=single)
    for way in (changes_of_sign.changes_of_sign, COMPILED)
    for single in (False, True)
)


def test_a_sign_is_certain_beyond_the_error_of_its_own_panel():
    error, weakest = np.array([[1.0], [2.0]]), np.array([[2.2]])
    first = np.array([1.5, 0.5, -0.5, 1.5, 1.5, 1.5, -1.5])
    second = np.array([2.5, 2.5, 2.5, 1.9, -1.9, 2.1, 2.5])
    polynomials, _ = on_panels(np.stack([first, second])[:, None].repeat(2, axis=1), 20)
    for changes in BOTH_WAYS:
        clear = changes(polynomials, error, weakest, 20).clear
        assert clear.tolist() == [True, False, False, False, False, False, True]


def test_certain_signs_in_single_precision_are_those_of_the_values():
    """Of polynomials with a root next to a separator, beside their values in extended precision."""
    rng, cells, intervals = np.random.default_rng(3), 2000, 30
    rest = rng.normal(size=(series_roots.DEGREES - 1, cells)) * 10.0 ** rng.uniform(-6, 6, cells)
    u = changes_of_sign.separators(intervals)
    away = 10.0 ** rng.uniform(-8, -2.5, cells) * rng.choice([-1.0, 1.0], cells)
    root = rng.choice(u[1:-1], cells) + away
    polynomials = np.zeros((1, series_roots.DEGREES, cells))
    polynomials[0, 1:] += rest
    polynomials[0, :-1] -= root * rest
    powers = u.astype(np.longdouble)[:, None] ** np.arange(series_roots.DEGREES)
    signs = powers @ polynomials[0].astype(np.longdouble) < 0.0
    nothing = np.zeros((1, 1))
    for changes in (changes_of_sign.changes_of_sign, COMPILED):
        found = changes(polynomials, nothing, nothing, intervals, single=True)
        clear = np.asarray(found.clear)
        assert 0.2 < clear.mean() < 0.8
        assert clear[np.abs(away) > 1e-3].mean() > 0.9 > clear[np.abs(away) < 1e-7].mean()
        bits = np.asarray(found.words)[0] >> np.arange(intervals, dtype=np.uint64)[:, None]
        changed = (bits & np.uint64(1)).astype(bool)
        assert np.array_equal(changed[:, clear], (signs[1:] != signs[:-1])[:, clear])
        assert np.array_equal(np.asarray(found.negative)[clear], signs[0, clear])


@pytest.mark.parametrize("size", [1e-38, 1e-300, 1e38, 1e300])
def test_values_beyond_single_precision_are_not_certain_there(size):
    polynomials, nothing = np.zeros((1, series_roots.DEGREES, 1)), np.zeros((1, 1))
    polynomials[0, 0] = size
    with np.errstate(all="ignore"):
        for single, clear in ((False, True), (True, False)):
            found = changes_of_sign.changes_of_sign(
                polynomials, nothing, nothing, 20, single=single
            )
            assert found.clear.tolist() == [clear]


def test_the_first_changes_of_sign_are_those_of_the_values_at_separators():
    """In NumPy and compiled alike, for any number of panels: here five, 20 intervals each, two words of bits."""
    values = np.random.default_rng(5).normal(size=(5, 2, 40))
    values[:, :, 0] = 1.0
    values[:, :, 1] = np.abs(values[:, :, 1])
    values[4, 1, 1] = -1.0
    polynomials, there = on_panels(values, 20)
    changed = (there[1:] < 0.0) != (there[:-1] < 0.0)
    for changes in BOTH_WAYS:
        found = changes(polynomials, np.zeros((5, 1)), np.zeros((1, 1)), 20)
        assert found.number.tolist() == changed.sum(axis=0).tolist()
        assert found.negative.tolist() == (there[0] < 0.0).tolist()
        first = np.asarray(changes_of_sign.first_intervals(found.words, 3, 20))
        for cell in range(40):
            places = [*np.flatnonzero(changed[:, cell]), 120, 120, 120]  # beyond all
            assert first[:, cell].tolist() == places[:3]


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
