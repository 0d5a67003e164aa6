"""Cells of the posture series, held beside the search for one arm, and the degree of D in a value."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.polynomial import chebyshev

import jaxmodal as jm
from jaxmodal.postures import series_search, value_zeros

SIX = jm.examples.six_axis_industrial()
MODES, CELLS = 4, 120
#: the series and the search for one arm, each good to about 1e-13
ALIKE = 2e-13


def solved(arm, cells, left=None):
    """Results of a batch by the series, and what it leaves to the general path."""
    addresses, values = tuple(cells), np.stack(list(cells.values()))
    tables = series_search.prepare(arm, addresses, values, MODES, "timoshenko", CELLS)
    assert tables is not None
    left = [] if left is None else left

    def general(some):
        left.extend(some.tolist())
        return jm.natural_frequencies_batch(arm, {a: x[some] for a, x in cells.items()}, MODES)

    with ThreadPoolExecutor(1) as pool:
        return series_search.solve(tables, arm, addresses, values, general, pool)


def check(arm, cells, found, at):
    for i in at:
        own = arm.with_values({a: float(x[i]) for a, x in cells.items()})
        truth = jm.natural_frequencies(own, MODES).omega
        np.testing.assert_allclose(found.omega[i], truth, rtol=ALIKE, atol=0.0)
        low, high = np.moveaxis(np.asarray(found.bracket[i]), -1, 0)
        assert np.all((low <= truth) & (truth <= high))


def check_degree(expansion, degree):
    """At 300 rad/s and an angle of 0.4, D is a polynomial of such a degree in the only value, and of no lower one."""
    assert expansion.terms.powers == (degree,)
    t = value_zeros.places(degree + 3)
    x = expansion.ranges.values(t[None])
    d = expansion.determinant(np.full(t.size, 300.0), np.concatenate([0.0 * x + 0.4, x]))
    exact = d.factor * np.exp((d.growth - d.growth[0]) + (d.rest - d.rest[0]))
    found = np.abs(chebyshev.chebfit(2.0 * t - 1.0, exact, t.size - 1))
    assert found[degree] > 1e-9 * found.max()
    assert found[degree + 1 :].max() < 1e-14 * found.max()


def drawn(seed, **decades):
    """Values evenly in their logarithms, between such powers of ten."""
    rng = np.random.default_rng(seed)
    return {name: 10.0 ** rng.uniform(*ends, CELLS) for name, ends in decades.items()}


def angles(*joints, seed=0):
    rng = np.random.default_rng(seed)
    return {f"link{j}.joint_angle": rng.uniform(-np.pi, np.pi, CELLS) for j in joints}
