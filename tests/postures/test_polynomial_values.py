"""Batches over masses, inertias and springs beside postures: is the determinant the polynomial that the series says?"""

import dataclasses

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.postures import kinds, places, polynomial_values, series_search, value_nodes
from jaxmodal.postures import series as series_tables
from jaxmodal.postures.polynomial_values import Varied, quantity_of
from jaxmodal.postures.series import confirmed, tabulate
from jaxmodal.postures.terms import Terms
from jaxmodal.postures.value_ranges import Ranges, scaled, unscaled, within
from jaxmodal.runtime.statuses import Status
from tests.postures.test_real_arms import featured_arm

#: the series and the search for one arm, each good to about 1e-13
ALIKE = 1e-12
#: the characteristic determinant is evaluated in float64, and its entries of very different size cancel
CHARACTERISTIC = 1e-8
THREE = jm.examples.three_link_industrial()
TWO = dataclasses.replace(THREE, links=THREE.links[:2])
ANGLES = ("link2.joint_angle", "link3.joint_angle")
MODES = 6


def with_stators():
    arm = featured_arm()
    last = dataclasses.replace(arm.links[2], stator_mass=1.0, stator_inertia=0.1)
    return dataclasses.replace(arm, links=(*arm.links[:2], last))


#: values and where they lie
CASES = {
    "payload.mass": (THREE, (0.0, 20.0)),
    "payload.inertia": (THREE, (0.0, 2.0)),
    "link2.tip_mass": (featured_arm(), (0.0, 30.0)),
    "link3.tip_mass": (featured_arm(), (0.0, 30.0)),
    "link2.tip_inertia": (featured_arm(), (0.0, 3.0)),
    "link2.hub_mass": (featured_arm(), (0.1, 10.0)),
    "link2.hub_inertia": (featured_arm(), (0.0, 3.0)),
    "link2.stator_mass": (featured_arm(), (0.0, 10.0)),
    "link3.stator_inertia": (with_stators(), (0.0, 3.0)),
    "link3.rotor_inertia": (featured_arm(), (1e-5, 1e-3)),
    "link3.gear_ratio": (featured_arm(), (-90.0, 150.0)),
    "link1.joint_stiffness": (THREE, (1e4, np.inf)),
    "link3.joint_stiffness": (featured_arm(), (1e3, 1e7)),
    "link2.joint_shear_stiffness": (featured_arm(), (1e6, 1e10)),
}


def drawn(ends, cells, seed=0):
    """Values of a range, of all decades where there are several, with both ends."""
    low, high = ends
    rng = np.random.default_rng(seed)
    if np.isinf(high) or low > 0.0:
        found = np.exp(rng.uniform(np.log(low), np.log(min(high, 1e3 * low)), cells))
    else:
        found = rng.uniform(low, high, cells)
    found[:2] = ends
    return found


def expansion_of(arm, addresses, values):
    asked = places.varied(arm, addresses)
    return places.expansion_of(arm, asked, values, "timoshenko")


@pytest.fixture
def small_batches(monkeypatch):
    """Batches take the series however few their cells, and NumPy alone."""
    monkeypatch.setattr(kinds, "_CELLS_PER_TERM", 1)


@pytest.mark.parametrize("address", CASES)
def test_the_degree_is_right_and_no_lower_one_is(address, monkeypatch):
    arm, ends = CASES[address]
    addresses = [*ANGLES[: arm.num_links - 1], address]
    expansion = expansion_of(arm, addresses, drawn(ends, 500)[None])
    (degree,) = expansion.terms.powers
    series = tabulate(expansion, 6.0, 30.0, "timoshenko", 4)
    assert confirmed(series, expansion) is not None
    terms = dataclasses.replace(expansion.terms, powers=(degree - 1,))
    lower = dataclasses.replace(expansion, arm=dataclasses.replace(expansion.arm, terms=terms))
    monkeypatch.setattr(series_tables, "_HALVINGS", 1)  # panels do not make it one
    assert confirmed(tabulate(lower, 6.0, 30.0, "timoshenko", 4), lower) is None


def test_a_table_over_many_decades_is_right_to_a_few_roundings_of_its_largest_value():
    """Against the determinant in double-double, at frequencies and places that have not made the table."""
    addresses = [ANGLES[0], "payload.mass", "payload.inertia", "link2.joint_stiffness"]
    rng = np.random.default_rng(5)
    values = np.exp(
        rng.uniform(np.log(1e-6), np.log(1e6), (3, 500)) + np.log([[20.0], [5.0], [1e9]])
    )
    expansion = expansion_of(TWO, addresses, values)
    series = tabulate(expansion, 40.0, 50.0, "timoshenko", 2)
    largest = confirmed(series, expansion, values=64)
    assert largest is not None
    np.testing.assert_allclose(largest, 0.0, rtol=0.0, atol=8.0 * 2.0**-52)


def test_few_places_give_the_characteristic_determinant_of_all():
    """Against the determinant of the paper's matrix, which shares nothing with the condensation."""
    addresses = [*ANGLES, "payload.mass", "payload.inertia", "link2.joint_stiffness"]
    rng, omega = np.random.default_rng(4), 700.0
    values = np.stack([rng.uniform(0, 50, 12), rng.uniform(0, 5, 12), 10 ** rng.uniform(4, 8, 12)])
    expansion = expansion_of(THREE, addresses, values)
    coefficients, _, _ = expansion.coefficients(np.array([omega]))
    cells = np.concatenate([rng.uniform(-np.pi, np.pi, (2, 12)), values])
    found = coefficients[0] @ expansion.terms.of(scaled(expansion.ranges, cells))
    logs, signs = [], []
    for place in cells.T:
        arm = set_parameters(THREE, dict(zip(addresses, map(float, place), strict=True)))
        sign, log = jm.log_determinant(arm, omega, theory="timoshenko")
        signs.append(float(sign))
        logs.append(float(log))
    direct = np.array(signs) * np.exp(np.array(logs) - max(logs))
    scale = (direct @ found) / (found @ found)
    np.testing.assert_allclose(
        scale * found, direct, rtol=0.0, atol=CHARACTERISTIC * np.abs(direct).max()
    )


@pytest.mark.parametrize(
    "address",
    ["payload.mass", "link3.joint_stiffness", "link2.stator_mass", "link3.gear_ratio"],
)
def test_a_batch_by_the_series_has_the_frequencies_of_single_arms(address, small_batches):
    arm, ends = CASES[address]
    rng = np.random.default_rng(2)
    cells = {name: rng.uniform(-np.pi, np.pi, 600) for name in ANGLES}
    cells[address] = drawn(ends, 600, seed=3)
    found = jm.natural_frequencies_batch(arm, cells, MODES)
    assert bool(found.certified.all())
    assert float(np.mean(np.asarray(found.by_sign_changes))) > 0.9
    for i in (0, 1, 2, 300):
        one = set_parameters(arm, {name: float(x[i]) for name, x in cells.items()})
        omega = jm.natural_frequencies(one, MODES).omega
        np.testing.assert_allclose(found.omega[i], omega, rtol=ALIKE, atol=0.0)
        assert np.all((found.bracket[i, :, 0] < omega) & (omega < found.bracket[i, :, 1]))


def test_the_gear_of_a_held_motor_changes_nothing():
    """So it takes no terms; where the motor turns with the joint, it takes three."""
    turning = featured_arm()
    held = dataclasses.replace(turning.links[2], motor="held")
    arm = dataclasses.replace(turning, links=(*turning.links[:2], held))
    address = "link3.gear_ratio"
    for one, terms in ((turning, 39), (arm, 13)):
        asked = places.varied(one, [*ANGLES, address])
        assert places.terms_of(one, asked) == terms
    assert places.why_not(arm, [address], 10**9) == "no frequency depends on what varies"
    found = expansion_of(arm, [*ANGLES, address], np.array([[-3.0, 0.0, 90.0]]))
    assert found.arm.entries == ()


@pytest.mark.slow
def test_values_over_decades_and_impossible_ones(small_batches):
    """Payloads and springs from nearly none to nearly infinite; free joints, and values that no arm may have."""
    rng, number = np.random.default_rng(5), 800
    cells = {
        "link2.joint_angle": rng.uniform(-np.pi, np.pi, number),
        "payload.mass": 10 ** rng.uniform(-4, 4, number),
        "link2.joint_stiffness": 10 ** rng.uniform(2, 13, number),
    }
    cells["link2.joint_stiffness"][:3] = [np.inf, 0.0, -1.0]
    cells["payload.mass"][3:7] = [0.0, -1.0, np.nan, np.inf]
    cells["link2.joint_angle"][7] = np.nan
    assert places.pays(TWO, list(cells), number)
    found = jm.natural_frequencies_batch(TWO, cells, MODES)
    general = jm.natural_frequencies_batch(TWO, cells, MODES, chunk_size=128)
    assert general.by_sign_changes is None
    assert float(np.mean(np.asarray(found.by_sign_changes))) > 0.9
    np.testing.assert_array_equal(found.status, general.status)
    np.testing.assert_allclose(found.omega, general.omega, rtol=ALIKE, atol=0.0)
    assert found.omega[1, 0] == 0.0
    invalid = np.flatnonzero(np.asarray(found.status[:, 0]) == int(Status.invalid_input))
    assert invalid.tolist() == [2, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "arm", [TWO, pytest.param(THREE, marks=pytest.mark.slow)], ids=["two", "three"]
)
def test_bodies_over_twelve_decades_and_springs_over_eighteen(arm, small_batches):
    """All four beside one another, with the frequencies and brackets of single arms in double-double."""
    rng, number = np.random.default_rng(7), 1500
    link = beam_arrays(arm)
    mass = float(link.density[1] * link.area[1] * link.length[1])
    spring = float(link.youngs_modulus[1] * link.second_moment[1] / link.length[1])
    cells = {name: rng.uniform(-np.pi, np.pi, number) for name in ANGLES[: arm.num_links - 1]}
    cells["payload.mass"] = mass * 10 ** rng.uniform(-6, 6, number)
    cells["payload.inertia"] = mass * float(link.length[1]) ** 2 * 10 ** rng.uniform(-6, 6, number)
    cells["link2.joint_stiffness"] = spring * 10 ** rng.uniform(-6, 12, number)
    found = jm.natural_frequencies_batch(arm, cells, MODES)
    assert found.by_sign_changes is not None  # by the series
    assert bool(found.certified.all())
    proven = np.asarray(found.by_sign_changes)
    assert proven.mean() > 0.95
    hard = np.flatnonzero(~proven.all(axis=1))[:3]
    lowest = np.argsort(np.asarray(found.omega[:, 0]))[:2]
    for i in (*lowest, *hard, 0, 1):
        one = set_parameters(arm, {name: float(x[i]) for name, x in cells.items()})
        omega = jm.natural_frequencies(one, MODES).omega
        np.testing.assert_allclose(found.omega[i], omega, rtol=1e-13, atol=0.0)
        assert np.all((found.bracket[i, :, 0] < omega) & (omega < found.bracket[i, :, 1]))


def test_coefficients_of_values_over_decades_keep_their_digits():
    """A polynomial in two masses and an inertia, whose coefficients differ by powers of ten, in all cells."""
    rng, powers, high = np.random.default_rng(8), (2, 2, 1), np.array([1e6, 1e7, 1e5])
    # one such polynomial at each frequency, all terms positive: no cell has less than its largest term
    own = 10.0 ** rng.uniform(-9.0, 9.0, (6, 3, 3, 2))

    def values(shares):
        x = [own_share * end for own_share, end in zip(shares, high, strict=True)]
        sums = [np.ones_like(x[0]) if len(x[0]) == 6 else np.ones((6, x[0].shape[1]))]
        for row, power in zip(x, powers, strict=True):
            sums = [s * row**k for s in sums for k in range(power + 1)]
        return np.einsum("kfn,fk->fn", np.stack(sums), own.reshape(6, -1))[:, :, None]

    found = value_nodes.bernstein_coefficients(values, powers, np.eye(1))
    terms = Terms(2, mirrored=False, powers=powers)
    shares = 10.0 ** -rng.uniform(0.0, 14.0, (3, 400))
    expected = values(np.repeat(shares[:, None], 6, axis=1))[:, :, 0]
    np.testing.assert_allclose(found @ terms.weights(shares), expected, rtol=1e-13, atol=0.0)
    weights = terms.weights(rng.uniform(0.0, 1.0, (3, 9)))
    np.testing.assert_allclose(weights.sum(axis=0), 1.0, rtol=1e-14, atol=0.0)


def test_places_in_an_even_scale_determine_a_polynomial():
    shares = value_nodes.even_shares(0.0, 50.0, 2.0, 3)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    x = np.array([0.0, 0.01, 0.3, 1.0])

    def cubic(t):
        return 1.0 - 3.0 * t + 5.0 * t**2 - 2.0 * t**3

    weights = Terms(4, mirrored=False, powers=(3,)).weights(x[None])
    found = value_nodes.fitted(cubic(shares)[:, None], shares, 3)[:, 0]
    np.testing.assert_allclose(found @ weights, cubic(x), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("power", [2, 3, 6])
def test_polynomials_on_both_sides_of_0_keep_their_digits_on_each(power):
    """All their powers weigh as much at a thousandth of the range, and one alone at each of its ends."""
    rng, least, postures = np.random.default_rng(10), -0.3, 5
    coefficients = rng.uniform(0.5, 1.0, (power + 1, postures))
    coefficients *= rng.choice([-1.0, 1.0], coefficients.shape)
    coefficients *= 10.0 ** (3.0 * np.arange(power + 1.0))[:, None]
    shares = value_nodes.shares_of_range((0.0, 1.0, least), 1e-3, power)
    assert (shares[0], shares[-1]) == (least, 1.0)

    def at(x):
        return np.vander(x, power + 1, increasing=True) @ coefficients

    size = 10.0 ** rng.uniform(-9.0, 0.0, 200)
    x = np.concatenate([size, least * size, [0.0, least, 1.0]])
    largest = np.vander(np.abs(x), power + 1, increasing=True) @ np.abs(coefficients)

    def away(degree):
        terms = Terms(2, mirrored=False, powers=(degree,), signed=(True,))
        found = value_nodes.fitted_in_turn(at(shares)[None], [shares], terms)
        found = found.reshape(postures, degree + 1)
        products = terms.of(np.stack([0.0 * x, x]))[: degree + 1]  # of the angles' first term, 1
        np.testing.assert_allclose(terms.weights(x[None]), np.abs(products), rtol=0.0, atol=0.0)
        return np.max(np.abs((found @ products).T - at(x)) / largest)

    assert away(power) < 2e-14
    assert away(power - 1) > 1e-3


def test_sizes_of_coefficients_between_the_ends_are_no_smaller_than_the_root_of_both():
    """Of a mass and a spring: sqrt(a b) in the middle of the mass, whose coefficient is 0 in one row of two."""
    size = np.array([[4.0, 100.0, 0.0, 1.0, 9.0, 36.0]])
    found = value_nodes.balanced(size, (2, 1))
    np.testing.assert_allclose(found, [[4.0, 100.0, 6.0, 60.0, 9.0, 36.0]], rtol=1e-15, atol=0.0)


def test_the_first_pass_on_a_device_leaves_open_what_lies_beyond_the_ranges():
    addresses = ["link2.joint_angle", "payload.mass"]
    rng = np.random.default_rng(6)
    values = np.stack([rng.uniform(-np.pi, np.pi, 256), rng.uniform(1.0, 9.0, 256)])
    tables = series_search.prepare(TWO, addresses, values, MODES, "timoshenko", 256)
    block = series_search.block_on_device(tables, TWO, addresses)
    values[1, :3], values[0, 3] = [100.0, -1.0, np.nan], np.nan
    found, left = block(values)
    left = np.flatnonzero(left)
    assert set(left) >= {0, 1, 2}
    assert 3 not in left
    assert np.all(np.asarray(found["status"])[3] == int(Status.invalid_input))
    solved = np.setdiff1d(np.arange(4, 256), left)
    assert solved.size > 200
    for i in solved[:2]:
        arm = set_parameters(TWO, dict(zip(addresses, map(float, values[:, i]), strict=True)))
        omega = jm.natural_frequencies(arm, MODES).omega
        np.testing.assert_allclose(found["omega"][i], omega, rtol=ALIKE, atol=0.0)


def test_a_determinant_beyond_all_numbers_goes_the_general_way():
    """Springs whose compliance is no number: the series is none, and says so."""
    rng, addresses = np.random.default_rng(9), ["link2.joint_angle", "link2.joint_stiffness"]
    values = np.stack([rng.uniform(-np.pi, np.pi, 64), np.full(64, 1e-310)])
    assert series_search.prepare(TWO, addresses, values, MODES, "timoshenko", 64) is None


def test_what_no_polynomial_is_known_for_goes_the_general_way():
    many = 10**9
    for addresses in (
        ["link2.length"],
        ["link2.joint_angle", "link1.density"],
        ["link*.length"],
        ["link2.joint_angle", "theta_2"],
        ["payload.mass", "payload_mass"],
        ["payload.centre_x"],
    ):
        arm = dataclasses.replace(THREE, payload=jm.Payload(1.0, 0.1, centre_x=0.1))
        assert not places.pays(arm, addresses, many), addresses
    assert places.pays(THREE, ["theta_2", "payload_mass"], many)
    springs = set_parameters(THREE, {"link2.joint_stiffness": 0.0})
    assert not places.pays(springs, ["theta_2"], many)
    assert places.pays(springs, ["theta_2", "link2.joint_stiffness"], many)


def test_ranges_are_taken_to_and_fro():
    values = np.array([[0.0, 1e-3, 2.0, 5.0], [1e2, 1e5, 1e9, np.inf]])
    quantities = [quantity_of(THREE, x) for x in ("payload.mass", "link2.joint_stiffness")]
    ranges = Ranges.of(values, quantities, [30.0, 1e6])
    cells = np.concatenate([np.full((1, 4), 0.3), values])
    s = scaled(ranges, cells)
    assert np.all((s[1:] >= 0.0) & (s[1:] <= 1.0))
    np.testing.assert_allclose(unscaled(ranges, s)[:, :3], cells[:, :3], rtol=1e-9, atol=1e-12)
    assert np.all(within(ranges, cells))
    beyond = cells.copy()
    beyond[1] = [7.0, -1e-9, np.nan, np.inf]
    assert not np.any(within(ranges, beyond))
    beyond = cells.copy()
    for out in ([0.0, -1.0, np.nan, 1.0], [-np.inf] * 4):
        beyond[2] = out
        assert not np.any(within(ranges, beyond))
    alone = Ranges.of(np.zeros((1, 3)), quantities[:1], [2.0])
    assert np.isfinite(alone.scaled(np.zeros((1, 3)))).all()


@pytest.mark.parametrize("ends", [(-90.0, -30.0), (-90.0, 150.0), (30.0, 150.0)])
def test_a_range_of_either_sign_goes_beyond_its_values(ends):
    values = np.array([ends])
    ranges = Ranges.of(values, [quantity_of(featured_arm(), "link3.gear_ratio")], [1.0])
    share = ranges.scaled(values)
    assert np.all((share > ranges.least[:, None]) & (share < 1.0))
    assert np.all(within(ranges, values))
    assert not np.any(within(ranges, 1.06 * np.array([[-90.0, 150.0]])))


@pytest.mark.parametrize("signs", [(1.0,), (-1.0,), (-1.0, 1.0)], ids=["above", "below", "both"])
def test_small_gears_in_a_wide_range_keep_their_digits(signs):
    """Shares are measured from the end next to 0; from the other end a small value would have lost them."""
    values = np.outer(signs, 10.0 ** np.linspace(-3.0, 4.0, 29)).reshape(1, -1)
    ranges = Ranges.of(values, [quantity_of(featured_arm(), "link3.gear_ratio")], [1.0])
    assert ranges.signed == (len(signs) > 1,)
    shares = ranges.scaled(values)
    assert np.all(within(ranges, values))
    np.testing.assert_allclose(ranges.values(shares), values, rtol=1e-14, atol=0.0)
    drawn_there = ranges.drawn(np.random.default_rng(0), 400)
    assert np.all(within(ranges, ranges.values(drawn_there)))
    assert len(set(np.sign(ranges.values(drawn_there)).ravel())) == len(signs)
    assert np.min(np.abs(ranges.values(drawn_there))) < 1.0


def test_the_usual_gear_is_that_of_its_own_rotor():
    """The root of a link's inertia over that of the rotor, and 1 where either has none: a gear of 0 has a range."""
    last = TWO.links[1].replace(rotor_inertia=0.5, gear_ratio=0.0, motor="beyond_spring")
    arm = TWO.replace(links=(TWO.links[0], last))
    inertias = [float(link.mass) * float(link.length) ** 2 / 3.0 for link in arm.links]
    expected = np.sqrt(np.mean(inertias) / 0.5)
    quantity = quantity_of(arm, "link2.gear_ratio")
    assert places.usual_of(arm, quantity) == pytest.approx(expected, rel=1e-12, abs=0.0)
    assert places.usual_of(TWO, quantity) == 1.0
    beams = jax.tree_util.tree_map(np.asarray, beam_arrays(arm))
    without = dataclasses.replace(beams, density=0.0 * beams.density)
    assert polynomial_values.usual(without, [quantity]) == [1.0]
    ranges = Ranges.of(np.zeros((1, 3)), [quantity], polynomial_values.usual(without, [quantity]))
    assert np.isfinite(ranges.scaled(np.zeros((1, 3)))).all()


@pytest.mark.parametrize("signs", [(-1.0,), (-1.0, 1.0)], ids=["below", "both"])
def test_gears_of_any_size_have_the_frequencies_of_single_arms(signs, small_batches):
    """A rotor of 1 kg m^2 whose weight is nothing with some gears and everything with others."""
    rng, number, address = np.random.default_rng(11), 300, "link2.gear_ratio"
    last = TWO.links[1].replace(
        rotor_inertia=1.0, gear_ratio=1.0, motor="beyond_spring", joint_stiffness=1e6
    )
    arm = TWO.replace(links=(TWO.links[0], last))
    gears = rng.choice(signs, number) * 10.0 ** rng.uniform(-2.0, 4.0, number)
    cells = {"link2.joint_angle": rng.uniform(-np.pi, np.pi, number), address: gears}
    found = jm.natural_frequencies_batch(arm, cells, MODES)
    assert bool(found.certified.all())
    assert float(np.mean(np.asarray(found.by_sign_changes))) > 0.99
    order = np.argsort(np.abs(gears))
    for i in order[:: number // 8]:
        one = set_parameters(arm, {name: float(x[i]) for name, x in cells.items()})
        omega = jm.natural_frequencies(one, MODES).omega
        np.testing.assert_allclose(found.omega[i], omega, rtol=1e-13, atol=0.0)
        assert np.all((found.bracket[i, :, 0] < omega) & (omega < found.bracket[i, :, 1]))


def test_an_arm_that_may_not_be_without_a_value_has_no_polynomial_in_it(monkeypatch):
    def refuse(*_):
        raise jm.ArmError("may not")

    asked = Varied((1,), (quantity_of(TWO, "payload.mass"),), (1,))
    monkeypatch.setattr(polynomial_values, "set_parameters", refuse)
    assert polynomial_values.varying(TWO, asked.joints, asked.quantities, "timoshenko") is None


def test_sums_of_entries_are_those_of_the_arm():
    """A payload, a tip mass and the stator of the next joint are one body."""
    arm = with_stators()
    addresses = ["payload.mass", "link3.tip_mass", "link3.stator_mass", "link3.joint_stiffness"]
    values = np.array([[2.0], [3.0], [4.0], [5e5]])
    expansion = expansion_of(arm, addresses, values)
    beams, _ = expansion.arm.at(values)
    one = set_parameters(arm, dict(zip(addresses, values[:, 0], strict=True)))
    expected = jax.tree_util.tree_map(np.asarray, beam_arrays(one))
    for field in dataclasses.fields(expected):
        mine, given = getattr(beams, field.name), getattr(expected, field.name)
        if field.name != "has_shear" and given is not None:
            np.testing.assert_allclose(np.reshape(mine, -1), given, rtol=1e-15, atol=0.0)
