"""Is what the posture series finds of arms in space what double-double finds of each posture alone?"""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.plan import Question
from jaxmodal.postures import fewer_terms, places, series_search
from jaxmodal.postures.combinations import combined, in_groups
from jaxmodal.postures.expansion_in_space import ExpansionInSpace, has_series_in_space, turning
from jaxmodal.postures.fewer_terms import in_fewer_terms, measured
from jaxmodal.postures.series import holds, tabulate
from jaxmodal.postures.series_roots import count_at, count_in
from jaxmodal.postures.terms import IN_SPACE
from tests.spatial.cases import bar, bent_arm, references, standing_arm, tube
from tests.spatial.random_arms import random_arm
from tests.support.problems import ORACLE

MODES, CELLS = 4, 300
SIX = jm.examples.six_axis_industrial()
#: posture of S19 at which its modes 3 and 4 coincide
DOUBLE_ROOT = np.array([0.72953631351494133, 2.8694908715233486])


def postures(joints, cells=CELLS, seed=0):
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, (joints, cells))


def addresses_of(joints):
    return tuple(f"link{j}.joint_angle" for j in joints)


def by_series(arm, joints, angles, modes=MODES, theory="timoshenko", cells=CELLS):
    """Tables and what they leave of the postures ``angles`` of some ``joints``."""
    tables = series_search.prepare(arm, addresses_of(joints), angles, modes, theory, cells)
    with ThreadPoolExecutor(1) as pool:
        return tables, tables.solve(angles, np.ones(angles.shape[1], bool), pool)


def alone(arm, joints, angles, modes=MODES, theory="timoshenko"):
    """Frequencies of single arms, by the search in double-double."""
    found = []
    for cell in angles.T:
        values = dict(zip(addresses_of(joints), map(float, cell), strict=True))
        found.append(jm.natural_frequencies(arm.with_values(values), modes, theory=theory).omega)
    return np.array(found)


def wrist():
    """An arm whose last three axes meet in a point: z, y and z again, of links without length between."""
    stub = {"length": 0.0, "rigid": True, "section": None, "youngs_modulus": None, "density": None}
    body = jm.RigidBody(1.5, (0.0, 0.0, 0.02), (4e-3, 3e-3, 5e-3))
    return jm.SpatialArm(
        (
            tube(joint_axis=(0, 1, 0), joint_stiffness=8e4),
            tube(length=0.4, joint_angle=0.6, joint_axis=(0, 1, 0), joint_stiffness=6e4),
            tube(**stub, joint_axis=(1, 0, 0), joint_stiffness=2e4, body=body),
            tube(**stub, joint_axis=(0, 1, 0), joint_stiffness=2e4, body=body),
            bar(length=0.3, joint_axis=(1, 0, 0), joint_stiffness=1e4),
        ),
        payload=jm.RigidBody(4.0, (0.05, 0.02, 0.0), (0.02, 0.03, 0.04)),
    )


def other_way():
    """Base offsets, links offset from their joints, and joints rigid in turning."""
    return jm.SpatialArm(
        (
            tube(),
            bar(joint_axis=(1, 1, 0), base_offset=(0.0, 0.05, -0.1), end_offset=(0.02, 0.0, 0.06)),
            tube(length=0.5, joint_axis=(0, 0.3, 1), base_offset=(0.03, 0.0, 0.0)),
        ),
        payload=jm.RigidBody(0.8, (0.1, -0.03, 0.02), (2e-3, 3e-3, 4e-3)),
    )


CASES = {
    "six axes, arm": (SIX, (2, 3)),
    "six axes, wrist": (SIX, (4, 6)),
    "six axes, one angle": (SIX, (5,)),
    "axes that meet": (wrist(), (3, 4)),
    "bodies, rotor, springs": (bent_arm(), (2, 3)),
    "on an elastic base": (standing_arm(), (1, 3)),
    "offsets, rigid joints": (other_way(), (2, 3)),
    "canadarm": (jm.examples.canadarm2_like(), (3, 5)),
    **{name: (references()[name].arm, (2, 3)) for name in ("S05", "S14", "S19")},
}


#: that others of the fast tests resemble: as many axes, or links of the same kinds
SLOW = {"six axes, one angle", "canadarm", "S05", "S14"}


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=pytest.mark.slow) if x in SLOW else x for x in CASES]
)
def test_frequencies_of_postures_are_those_of_each_alone(name):
    arm, joints = CASES[name]
    angles = postures(len(joints))
    _, found = by_series(arm, joints, angles)
    assert found.open.mean() < 0.02
    done = np.flatnonzero(~found.open)
    hard = done[~found.by_sign_changes[done].all(axis=1)]
    at = np.concatenate([done[:3], hard[:2]])
    truth = alone(arm, joints, angles[:, at])
    error = np.abs(found.omega[at] / truth - 1.0)
    assert error.max() < 1e-13
    # as stated: enclosures hold the frequency, and the noise is no smaller than the error
    low, high = np.moveaxis(found.bracket[at], -1, 0)
    assert np.all((low < truth) & (truth < high))
    assert np.all(error <= 2.0**-52 * found.residual_ratio[at] + 8.0 * 2.0**-52)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_frequencies_of_random_arms(seed):
    """Any axes, frames, offsets, bodies, springs, rotors, rigid links, and all theories."""
    document, theory = random_arm(seed, 4)
    arm = jm.arm_from_dict(document)
    if arm.num_links < 2 or not has_series_in_space(arm):
        pytest.skip("one link")
    joints = (2,) if arm.num_links == 2 else (2, arm.num_links)
    angles = postures(len(joints), seed=seed)
    _, found = by_series(arm, joints, angles, MODES, theory)
    at = np.flatnonzero(~found.open)[:4]
    truth = alone(arm, joints, angles[:, at], MODES, theory)
    assert np.abs(found.omega[at] / truth - 1.0).max() < 1e-13


LOADED = {
    "six axes": (SIX, (2, 3), "payload.mass"),
    "the last joint": (other_way(), (2, 3), "payload.mass"),
    "on an elastic base": (standing_arm(), (1,), "payload.mass"),
    "a body at the tip": (wrist(), (2,), "link5.body.mass"),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(x, marks=pytest.mark.slow if x in ("six axes", "the last joint") else ())
        for x in LOADED
    ],
)
def test_the_mass_at_the_tip_varies_with_the_angles(name):
    """Over four decades, with a cell beyond, and one that an arm may not have."""
    arm, joints, address = LOADED[name]
    if address.startswith("link5"):
        last = arm.links[-1].replace(body=jm.RigidBody(1.0, (0.0, 0.02, 0.01), (0.01, 0.02, 0.03)))
        arm = arm.replace(links=(*arm.links[:-1], last))
    addresses, cells = [*addresses_of(joints), address], 240
    values = np.concatenate([postures(len(joints), cells), np.zeros((1, cells))])
    values[-1] = 10 ** np.random.default_rng(3).uniform(-2.0, 2.0, cells)
    tables = series_search.prepare(arm, addresses, values, MODES, "timoshenko", cells)
    assert tables.expansion.terms.powers == (3,)
    values[-1, :2], values[0, 2] = [1e4, -1.0], np.nan
    left = []

    def general(some):
        left.extend(some.tolist())
        columns = dict(zip(addresses, values[:, some], strict=True))
        return jm.natural_frequencies_batch(arm, columns, MODES)

    with ThreadPoolExecutor(1) as pool:
        found = series_search.solve(tables, arm, addresses, values, general, pool)
    assert {0, 1} <= set(left)
    assert 2 not in left
    assert len(left) < 30
    status = np.asarray(found.status[:, 0])
    assert np.flatnonzero(status == int(jm.Status.invalid_input)).tolist() == [1, 2]
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.7
    for cell in np.setdiff1d(np.arange(cells), [*left, 1, 2])[:3]:
        own = dict(zip(addresses, map(float, values[:, cell]), strict=True))
        omega = jm.natural_frequencies(arm.with_values(own), MODES).omega
        np.testing.assert_allclose(found.omega[cell], omega, rtol=1e-13, atol=0.0)


def test_the_degree_in_a_mass_is_three():
    addresses, values = ["link2.joint_angle", "payload.mass"], np.array([[0.5, 1.0, 20.0]])
    asked = places.varied(SIX, addresses)
    expansion = places.expansion_of(SIX, asked, values, "timoshenko")
    series = tabulate(expansion, 8.0, 20.0, "timoshenko", 3)
    assert measured(series, None, expansion) is not None
    lower = asked._replace(quantities=(asked.quantities[0]._replace(degree=2),))
    other = places.expansion_of(SIX, lower, values, "timoshenko")
    assert measured(tabulate(other, 8.0, 20.0, "timoshenko", 3), None, other) is None


def test_three_angles():
    joints, angles = (2, 3, 5), postures(3, 40)
    tables, found = by_series(SIX, joints, angles, 2)
    combinations = tables.panels.combinations.terms
    assert all(len(x) < 40 < x.shape[1] == 9**3 for x in combinations)
    done = np.flatnonzero(~found.open)[:4]
    truth = alone(SIX, joints, angles[:, done], 2)
    assert np.abs(found.omega[done] / truth - 1.0).max() < 1e-13


def test_near_a_double_root_nothing_wrong_is_called_proven():
    arm, joints, distances = references()["S19"].arm, (2, 3), np.array([1e-9, 1e-6, 1e-3, 3e-2])
    turn = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    circle = np.array([np.cos(turn), np.sin(turn)])
    near = DOUBLE_ROOT[:, None, None] + distances[:, None] * circle[:, None]
    _, found = by_series(arm, joints, np.concatenate([near.reshape(2, -1), postures(2)], axis=1))
    for k, distance in enumerate(distances):
        done = np.flatnonzero(~found.open[12 * k : 12 * (k + 1)])[:3]
        if distance >= 1e-3:
            assert done.size
        if done.size:
            truth = alone(arm, joints, near[:, k, done])
            assert np.abs(found.omega[12 * k + done] / truth - 1.0).max() < ORACLE


def test_a_wrong_series_is_found_out():
    """A determinant of a higher degree, one value that is wrong, and digits that are lost are no series."""
    expansion = ExpansionInSpace(SIX, (1, 2), "timoshenko")
    low, high = 6.0, 9.0
    good = tabulate(expansion, low, high, "timoshenko")
    assert holds(good, expansion)
    taylor = np.array(good.taylor)
    taylor[0, 0, 7] += 1e-12
    assert not holds(dataclasses.replace(good, taylor=jnp.asarray(taylor)), expansion)

    class TooHigh(ExpansionInSpace):
        """As if a joint's angle did twice as much."""

        def determinant(self, omega, angles):
            return super().determinant(omega, 2.0 * angles)

        def coefficients(self, omega):
            angles, to_coefficients = self.terms.sampling(2)
            lanes = np.repeat(omega, angles.shape[1]), np.tile(angles, omega.size)
            d = self.determinant(*lanes)
            factor = (d.factor * np.exp(d.growth)).reshape(omega.size, -1)
            zero = np.zeros(omega.size)
            return factor @ to_coefficients.T, zero, zero

    wrong = TooHigh(SIX, (1, 2), "timoshenko")
    assert not holds(tabulate(wrong, low, 6.5, "timoshenko"), wrong)

    class Drowned(ExpansionInSpace):
        def determinant(self, omega, angles):
            found = super().determinant(omega, angles)
            return found._replace(noise=np.full_like(found.noise, 1e12))

    assert not holds(good, Drowned(SIX, (1, 2), "timoshenko"))


def test_a_series_that_does_not_hold_is_not_taken(monkeypatch):
    monkeypatch.setattr(fewer_terms, "confirmed", lambda *_: None)
    angles = postures(1)
    given = SIX, addresses_of((3,)), angles
    assert series_search.prepare(*given, 2, "timoshenko", CELLS) is None
    plan = PlanInSpace.of(Question(*given[:2], 2, "timoshenko"), angles, 10**6, few=True)
    assert plan.tables is None


def test_double_modes_of_every_posture_are_left_to_the_general_path():
    """D touches zero and does not change its sign there."""
    arm = references()["S02"].arm
    given = arm, addresses_of((2, 3)), postures(2)
    assert series_search.prepare(*given, 4, "timoshenko", CELLS) is None


@pytest.mark.slow
def test_counts_of_lanes_are_those_of_double_double():
    for arm, joints in ((SIX, (1, 2)), (SIX, (3, 5)), (standing_arm(), (0, 2)), (wrist(), (2, 3))):
        expansion = ExpansionInSpace(arm, joints, "timoshenko")
        angles = postures(2, 40)
        omega = expansion.scale * np.array([0.3, 1.0, 4.0, 20.0])
        exact = [expansion.determinant(np.full(40, w), angles).passed for w in omega]
        np.testing.assert_array_equal(expansion.counts(omega, angles), exact)
        for k, w in enumerate(omega):
            counter = expansion.counter(np.array([w]))
            count, clear = count_in(counter, angles)
            certain = count >= 0.0
            assert certain.mean() > 0.95
            np.testing.assert_array_equal(certain, clear > 1.0)
            np.testing.assert_array_equal(count[certain], exact[k][certain])
            if k == 1 and arm is SIX:
                by_program, _ = count_at(counter, angles)
                np.testing.assert_array_equal(by_program, count)


def test_tables_from_the_tip_are_the_determinants_of_the_arm():
    """What is condensed for the angles of outer joints once, and the same arm in each of these postures."""
    for arm, joints in ((SIX, (2, 4)), (standing_arm(), (0, 1))):
        expansion = ExpansionInSpace(arm, joints, "timoshenko")
        omega = np.array([0.7, 3.0]) * expansion.scale
        coefficients, growth, rest = expansion.coefficients(omega)
        angles = postures(2, 5)
        series = coefficients @ IN_SPACE.of(angles)
        for k, w in enumerate(omega):
            values = dict(zip(addresses_of(np.array(joints) + 1), angles, strict=True))
            model = arm.with_values(values).model_of_cells(arm.model("timoshenko").flags)
            exact = model.evaluate_cells(np.full((1, 5), w), Arithmetic.double_double)
            log_abs = np.log(np.abs(series[k])) + growth[k] + rest[k]
            np.testing.assert_allclose(log_abs, exact.log_abs[0], rtol=0.0, atol=1e-11)
            np.testing.assert_array_equal(np.sign(series[k]), exact.sign[0])


def test_fewer_terms_are_the_series(monkeypatch):
    expansion = ExpansionInSpace(SIX, (1, 2), "timoshenko")
    series = tabulate(expansion, 6.0, 20.0, "timoshenko")
    few, combinations = in_fewer_terms(series, IN_SPACE)
    assert sum(map(len, combinations.terms)) < 40
    terms, panels = IN_SPACE.of(postures(2, 500)), few.error.size
    inner = np.asarray(series.at_nodes)[1:-1].reshape(panels, -1, terms.shape[0])
    groups = zip(in_groups(combinations, inner), combined(combinations, terms), strict=True)
    found = np.concatenate([table @ group for table, group in groups])
    error = np.abs(found - inner @ terms).max(axis=(1, 2))
    assert np.all(error < np.asarray(few.error))
    for up, down in zip(combinations.terms, combinations.coefficients, strict=True):
        np.testing.assert_allclose(up @ down.T, np.eye(len(up)), rtol=0.0, atol=1e-14)
    # what far fewer leave out is far more than the series is off by, and no more than they say
    monkeypatch.setattr(fewer_terms, "_LEFT_OUT", 1e-6)
    few, combinations = in_fewer_terms(series, IN_SPACE)
    groups = zip(in_groups(combinations, inner), combined(combinations, terms), strict=True)
    found = np.concatenate([table @ group for table, group in groups])
    error = np.abs(found - inner @ terms).max(axis=(1, 2))
    assert np.all(error > 10.0 * np.asarray(series.error))
    assert np.all(error < np.asarray(few.error))


def test_which_batches_take_the_series():
    def pays(joints, cells, arm=SIX):
        return places.pays(arm, addresses_of(joints), cells)

    assert pays((2, 3), 100_000)
    assert pays((1, 2, 3), 100_000), "the first joint turns the whole arm"
    assert not pays((1,), 100_000)
    assert not pays((2, 3), 50)
    assert pays((2, 3, 4), 10**6)
    assert not pays((2, 3, 4), 1000)
    assert not pays((2, 3, 4, 5), 10**9), "6,561 terms"
    assert places.pays(SIX, ("link2.joint_angle", "payload.mass"), 10**6)
    assert not places.pays(SIX, ("link2.joint_angle", "payload.mass"), 1000)
    assert not pays((1, 2), 10**6, jm.set_parameters(SIX, {"link3.joint_stiffness": 0.0}))
    assert turning(standing_arm(), [0, 1]) == (0, 1)
    assert turning(bent_arm(), [0, 1]) == (1,)


def test_batches_take_it_and_give_what_the_general_path_gives():
    angles = postures(2, 3000)
    angles[0, 5] = np.nan
    columns = dict(zip(addresses_of((2, 3)), angles, strict=True))
    result = jm.natural_frequencies_batch(SIX, columns, 4)
    assert result.by_sign_changes is not None, "the series was not used"
    some = np.r_[0:24, 2980:3000]
    few = {address: column[some] for address, column in columns.items()}
    general = jm.natural_frequencies_batch(SIX, few, 4)
    assert general.by_sign_changes is None
    for name in ("status", "count_below", "count_above", "group"):
        one, two = np.asarray(getattr(result, name))[some], np.asarray(getattr(general, name))
        good = np.arange(some.size) != 5 if name.startswith("count") else slice(None)
        np.testing.assert_array_equal(one[good], two[good])
    difference = np.abs(np.asarray(result.omega)[some] / np.asarray(general.omega) - 1.0)
    assert np.nanmax(difference) < ORACLE
    assert np.isnan(np.asarray(result.omega)[5]).all()
    assert np.delete(np.asarray(result.certified), 5, axis=0).all()


@pytest.mark.slow
def test_programs_find_what_numpy_finds():
    joints, angles = (2, 3), postures(2, 3000)
    tables, found = by_series(SIX, joints, angles, 4)
    by_programs = dataclasses.replace(tables, host=False)
    with ThreadPoolExecutor(2) as pool:
        other = by_programs.solve(angles, np.ones(3000, bool), pool)
    np.testing.assert_array_equal(found.open, other.open)
    done = ~found.open
    np.testing.assert_allclose(found.omega[done], other.omega[done], rtol=1e-14, atol=0.0)


@pytest.mark.slow
def test_on_a_gpu_postures_stay_there_and_are_the_same(monkeypatch):
    """Block by block, of which each leaves its open cells to the host; here on the CPU."""
    angles = postures(2, 1500)
    angles[1, 7] = np.nan
    columns = dict(zip(addresses_of((2, 3)), angles, strict=True))
    usual = jm.natural_frequencies_batch(SIX, columns, 4)
    monkeypatch.setattr(series_search, "is_gpu", lambda _: True)
    found = jm.natural_frequencies_batch(SIX, columns, 4)
    np.testing.assert_array_equal(found.status, usual.status)
    np.testing.assert_array_equal(found.count_below, usual.count_below)
    np.testing.assert_allclose(found.omega, usual.omega, rtol=ORACLE, atol=0.0)
