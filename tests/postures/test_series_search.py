"""Are all frequencies of a sweep over postures found by the posture series, and is what it calls proven true?"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.postures import places, series_search
from jaxmodal.postures.series_results import SeriesResults
from jaxmodal.postures.series_roots import Roots, count_in
from tests.support.problems import ORACLE, problems

#: share of random postures that may be left to the general search
LEFT_OPEN = 0.01
#: width of the enclosures that counts in double-double prove, relative
COUNTED = 2.001e-9
#: modes and cells wherever the numbers do not matter: programs are compiled for each
MODES, CELLS = 10, 600
THREE = jm.examples.three_link_industrial()
DOUBLE_ROOT = np.radians([-155.009952919027194, -64.1983428536445678])


def postures(cells, joints=2, seed=0):
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, (joints, cells))


def by_series(arm, angles, modes, theory="timoshenko", in_all=1):
    valid = np.isfinite(angles).all(axis=0)
    addresses = [f"link{number}.joint_angle" for number in range(2, arm.num_links + 1)]
    tables = series_search.prepare(arm, addresses, angles, modes, theory, in_all)
    with ThreadPoolExecutor(2) as pool:
        return tables.solve(angles, valid, pool)


def exact(arm, angles, at, modes, theory="timoshenko"):
    """Frequencies of some cells by the general search, of the first two by that of single arms as well."""
    cells = {f"link{k}.joint_angle": x for k, x in enumerate(angles[:, at], start=2)}
    found = jm.natural_frequencies_batch(arm, cells, modes, theory=theory)
    assert found.by_sign_changes is None
    for omega, i in zip(found.omega, at[:2], strict=False):
        one = jm.natural_frequencies(
            arm.with_posture([float(x) for x in angles[:, i]]), modes, theory=theory
        )
        assert np.abs(one.omega / omega - 1.0).max() < ORACLE
    return np.asarray(found.omega)


def check(found, arm, angles, at, modes, theory="timoshenko"):
    """Frequencies and enclosures of the cells ``at`` that were proven."""
    at = np.array([i for i in at if not found.open[i]])
    assert at.size
    truth = exact(arm, angles, at, modes, theory)
    error = np.abs(found.omega[at] / truth - 1.0)
    assert error.max() < ORACLE
    low, high = np.moveaxis(found.bracket[at], -1, 0)
    assert np.all((low < truth) & (truth < high))
    width = high / low - 1.0
    assert width.max() < COUNTED
    assert width[found.by_sign_changes[at]].max() < 2.001 * ORACLE


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_random_postures_equal_the_exact_search(theory):
    angles = postures(3000)  # enough for a share of one in a hundred
    found = by_series(THREE, angles, MODES, theory)
    assert found.open.mean() < LEFT_OPEN
    check(found, THREE, angles, range(0, 3000, 300), MODES, theory)


def test_programs_and_numpy_agree():
    """Compiles the first pass and the count: a million postures in all are not left to NumPy."""
    angles = postures(3000)
    angles[0, 7] = np.nan
    numpy, programs = (by_series(THREE, angles, 10, in_all=n) for n in (1, 1_000_000))
    assert np.mean(numpy.open != programs.open) < 1e-3
    both = ~numpy.open & ~programs.open
    assert both.mean() > 1.0 - 2.0 * LEFT_OPEN
    assert np.array_equal(numpy.count[both], programs.count[both])
    assert np.abs(numpy.omega[both] / programs.omega[both] - 1.0).max() < ORACLE


@pytest.mark.parametrize("distance", [0.3, 1e-2, 1e-8, 0.0])
def test_no_mode_is_lost_near_a_double_root(distance):
    """Modes 2 and 3 coincide in this posture; what is proven must be true, the rest stays open."""
    offsets = np.random.default_rng(3).uniform(-distance, distance, (2, 300))
    angles = np.concatenate([DOUBLE_ROOT[:, None] + offsets, postures(CELLS - 300)], axis=1)
    found = by_series(THREE, angles, MODES)
    near = found.open[:300]
    if distance > 0.1:
        assert near.mean() < 0.3
    if distance >= 1e-2:
        assert not near.all()
        check(found, THREE, angles, np.flatnonzero(~near)[:10], MODES)
    if distance <= 1e-8:
        assert near.all(), "two roots within 1e-8 are beyond float64"
    assert found.open[300:].mean() < LEFT_OPEN


def test_close_modes_are_parted_by_the_extreme_value_between_them():
    """Modes 2 and 3 differ by far less than the finer separators."""
    turn = np.linspace(0.0, 2.0 * np.pi, 50, endpoint=False)
    near = DOUBLE_ROOT[:, None] + 1e-3 * np.array([np.cos(turn), np.sin(turn)])
    found = by_series(THREE, np.concatenate([near, postures(CELLS - 50)], axis=1), MODES)
    assert found.open[:50].mean() < 0.1
    check(found, THREE, near, range(0, 50, 10), MODES)


def test_the_count_is_certain_in_nearly_all_postures():
    """A link's own resonance lies one per cent above the highest mode: there one count in a hundred is not certain."""
    angles = postures(20_000)
    joints = ["link2.joint_angle", "link3.joint_angle"]
    tables = series_search.prepare(THREE, joints, angles, MODES, "timoshenko", 1)
    count, clear = count_in(tables.counter, angles)
    assert np.mean(count < 0.0) < 1e-3
    assert np.array_equal(count < 0.0, clear <= 1.0)


@pytest.mark.parametrize(
    "name", [n for n, p in problems().items() if p.tag == "slender" and len(p.entry["links"]) > 1]
)
def test_lowest_modes_of_slender_arms(name):
    """The oracle's own posture among random ones: right if proven, and if not, left open."""
    problem = problems()[name]
    joints = len(problem.entry["links"]) - 1
    angles = postures(CELLS, joints)
    own = [link["theta"] for link in problem.entry["links"][1:]]
    angles[:, 0] = own
    found = by_series(problem.arm, angles, MODES, problem.model)
    assert found.open.mean() < 0.5
    if not found.open[0]:
        assert np.abs(found.omega[0] / problem.omega[:MODES] - 1.0).max() < ORACLE


def test_values_that_are_not_finite_are_left_out():
    angles = postures(CELLS)
    angles[0, 7], angles[1, 9] = np.nan, np.inf
    found = by_series(THREE, angles, MODES)
    assert found.open[[7, 9]].all()
    for column in (found.omega, found.bracket, found.residual_ratio):
        assert np.isnan(column[[7, 9]]).all(), "what nobody has computed is not a number"
    assert np.delete(found.open, [7, 9]).mean() < 0.05


def test_angles_without_digits_are_refused_as_elsewhere():
    angles = np.append(np.linspace(0.0, 3.0, 1500), [2e6, np.nan])
    found = jm.natural_frequencies_batch(
        jm.examples.two_link_flexible(), {"link2.joint_angle": angles}, 3
    )
    assert found.by_sign_changes is not None, "the series was not used"
    assert (np.asarray(found.status)[-2:] == int(jm.Status.invalid_input)).all()
    assert np.isnan(np.asarray(found.omega)[-2:]).all()
    assert np.asarray(found.certified)[:-2].all()


def test_which_batches_take_the_series():
    two = jm.examples.two_link_flexible()
    assert places.pays(two, ["link2.joint_angle"], 100_000)
    assert places.pays(two, ["link1.joint_angle", "link2.joint_angle"], 100_000)
    assert places.pays(THREE, ["link*.joint_angle"], 100_000)
    assert not places.pays(two, ["link2.joint_angle"], 100)
    assert places.pays(two, ["link2.joint_angle", "payload.mass"], 100_000)
    assert not places.pays(two, ["link2.joint_angle", "link1.length"], 100_000)
    assert places.pays(two, ["link2.joint_stiffness"], 100_000)
    assert not places.pays(two, ["link*.joint_angle", "link2.joint_angle"], 100_000)
    eight = jm.Arm(two.links * 4)
    assert not places.pays(eight, ["link*.joint_angle"], 10_000_000)
    assert places.pays(eight, ["link2.joint_angle"], 100_000)


@pytest.mark.slow
def test_a_batch_takes_the_series_and_gives_what_the_general_search_gives():
    columns = {"link2.joint_angle": postures(8000)[0], "link3.joint_angle": postures(8000)[1]}
    columns["link2.joint_angle"][5] = np.nan
    result = jm.natural_frequencies_batch(THREE, columns, 6)
    general = jm.natural_frequencies_batch(THREE, columns, 6, chunk_size=1024)
    assert general.by_sign_changes is None
    proven = np.asarray(result.by_sign_changes)
    assert proven.shape == (8000, 6)
    assert proven.mean() > 1.0 - LEFT_OPEN
    assert not proven[5].any()
    for name in ("status", "count_below", "count_above", "group"):
        same = np.asarray(getattr(result, name)) == np.asarray(getattr(general, name))
        rows = np.arange(8000) != 5 if name.startswith("count") else slice(None)
        assert same[rows].all(), name
    omega, other = np.asarray(result.omega), np.asarray(general.omega)
    assert np.array_equal(np.isnan(omega), np.isnan(other))
    assert np.nanmax(np.abs(omega / other - 1.0)) < ORACLE
    ends = np.asarray(result.bracket)
    good = np.arange(8000) != 5
    assert np.all((ends[good, :, 0] < omega[good]) & (omega[good] < ends[good, :, 1]))
    for name in ("status", "count_below", "bracket", "group", "residual_ratio", "evaluations"):
        one, two = (np.asarray(getattr(r, name)) for r in (result, general))
        assert one.dtype == two.dtype, name
        assert one.shape == two.shape, name


@pytest.mark.parametrize("first", [1, 32])
def test_the_first_pilots_decide_no_bit_of_the_range_of_a_series(first, monkeypatch):
    """Postures of which all, the first few, or only one are like the others."""
    asked = places.varied(THREE, ["link2.joint_angle", "link3.joint_angle"])
    expansion = places.expansion_of(THREE, asked, np.empty((0, 0)), "timoshenko")
    angles = postures(200)
    for likeness in (0, 31, 200):
        angles[:, :likeness] = 0.1
        found = []
        for number in (angles.shape[1], first):
            monkeypatch.setattr(series_search, "_FIRST_PILOTS", number)
            found.append(series_search._range(expansion, angles, MODES))
        assert found[0] == found[1]


@pytest.mark.parametrize("at", [[1, 2, 3], [1, 5, 3], [3, 2, 1], [4]])
def test_roots_are_kept_for_the_cells_that_they_belong_to_in_any_order(at):
    results = SeriesResults.empty(np.zeros(6, bool), 1)
    results.count[:] = 1.0
    omega = 10.0 + np.array(at, float)[:, None]
    bracket, number = omega[..., None] * np.array([1.0 - 1e-13, 1.0 + 1e-13]), np.ones(len(at))
    noise, every = np.ones(omega.shape, np.float32), number > 0.0
    results.store(np.array(at), Roots(omega, bracket, noise, number, every, every, omega[:, :0]))
    kept = np.full(6, np.nan)
    kept[at] = omega[:, 0]
    np.testing.assert_array_equal(results.omega[:, 0], kept)
    np.testing.assert_array_equal(results.bracket[at], bracket)
    np.testing.assert_array_equal(results.open, np.isnan(kept))
