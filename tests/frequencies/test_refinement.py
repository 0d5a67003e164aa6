"""The finish in double-double: whatever it is told beforehand, a mode is right to its stated error, or stays open."""

import dataclasses
import functools

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.columns import columns_of
from jaxmodal.batches import kernels as batch_kernels
from jaxmodal.batches.work import Work
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies import refinement
from jaxmodal.frequencies.refinement import WIDTH, refine, refine_together

ULP = 2.0**-52
DOUBLE_ROOT = np.radians([-155.009952919027194, -64.1983428536445678])


def product(roots):
    """D = prod(1 - x/r) and J of roots that lie a little above those given, at no float64 number.

    The differences are exact next to a root.
    """

    def evaluate(lanes, omega):
        factors = ((roots[:, None] - omega) + 0.03 * ULP * roots[:, None]) / roots[:, None]
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(factors)).sum(axis=0)
        count = (factors < 0.0).sum(axis=0)
        return Evaluation(np.prod(np.sign(factors), axis=0), logs, count, np.zeros_like(logs))

    return evaluate


def like(estimates, *values):
    return tuple(np.full(estimates.size, value) for value in values)


def one_mode(roots, mode, estimates, half):
    estimates = np.asarray(estimates, float)
    return refine(product(roots), estimates, *like(estimates, half, mode))


@pytest.mark.parametrize("half", [4e-13, 1e-11, 2e-9])
@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-8, 2e-9, 3e-11, 1e-12])
def test_no_estimate_makes_a_wrong_frequency(gap, half):
    """Wrong by nothing, by much, at the neighbour, next to it, between the two, and beyond all modes."""
    roots = np.array([3.0, 200.0, 200.0 * (1.0 + gap), 1000.0])
    offsets = np.concatenate([[0.0], *(np.array([-1.0, 1.0]) * 10.0**k for k in range(-15, -2))])
    near = [root * (1.0 + offsets) for root in roots[1:3]]
    estimates = np.concatenate([*near, [0.5 * (roots[1] + roots[2]), np.nan, 0.0, 50.0]])
    for mode in (1, 2):
        found, good = one_mode(roots, mode, estimates, half)
        error = np.abs(found.omega[good] / roots[mode] - 1.0)
        assert np.all(error <= found.error[good] + 0.03 * ULP)
        assert np.all(found.error[good] <= 8.0 * ULP)
        assert np.all((found.lower <= roots[mode]) & (roots[mode] < found.upper) | ~good)
        assert np.all((found.upper - found.lower <= WIDTH * found.upper) | ~good)
        with np.errstate(
            all="ignore"
        ):  # as a formula, which a device computes for all lanes side by side
            together = refine_together(
                functools.partial(product(roots), None), estimates, *like(estimates, half, mode)
            )
        assert np.array_equal(together[1], good)
        for field in ("omega", "lower", "upper", "error"):
            both = (getattr(x, field)[good] for x in (together[0], found))
            assert np.array_equal(*both), field
        close = np.abs(estimates / roots[mode] - 1.0) <= 2e-4
        assert good[close].all()
        assert not good[-3:].any(), "there is nothing to start from"


def test_few_evaluations_suffice_where_the_estimate_is_good():
    roots, calls = np.array([3.0, 200.0, 210.0]), []

    def counted(lanes, omega):
        calls.append(omega.size)
        return product(roots)(lanes, omega)

    _, settled = refine(
        counted, np.array([200.0 * (1.0 + 1e-13)]), np.array([4e-13]), np.array([1])
    )
    assert settled.all()
    assert sum(calls) <= 4


def test_both_sides_in_one_call_give_what_one_after_the_other_does(monkeypatch):
    roots = np.array([3.0, 200.0, 200.0 * (1.0 + 1e-8), 1000.0])
    estimates = np.array([200.0, 200.0 * (1.0 + 1e-9), np.nan, 200.0 * (1.0 - 3e-6), 0.0, 990.0])
    together, good = one_mode(roots, 1, estimates, 4e-13)
    monkeypatch.setattr(refinement, "_BOTH", 0)
    apart, settled = one_mode(roots, 1, estimates, 4e-13)
    assert good.tolist() == settled.tolist() == [True, True, False, True, False, False]
    for field in dataclasses.fields(together):
        np.testing.assert_array_equal(getattr(together, field.name), getattr(apart, field.name))


def test_modes_that_coincide_and_contradicting_counts_stay_open():
    twice = np.array([3.0, 200.0, 200.0])
    assert not one_mode(twice, 1, [200.0, 200.0 * (1.0 + 1e-9)], 2e-9)[1].any()

    def contradicting(lanes, omega):
        d = product(np.array([3.0, 200.0]))(lanes, omega)
        return dataclasses.replace(d, sign=-d.sign)

    _, settled = refine(contradicting, np.array([200.0]), np.array([2e-9]), np.array([1]))
    assert not settled.any()


def counts(arm, columns, cells, omega):
    """J in double-double at one frequency of each of some cells, in NumPy."""
    problem = batch_kernels.BatchProblem(theory_flags("timoshenko"), 4)
    packed = columns_of(arm, tuple(columns), np.stack(list(columns.values()))).packed
    return np.asarray(batch_kernels.extend_block(problem, packed[..., cells], omega).count)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "wrong", [*(pytest.param(it, marks=SLOW) for it in (0.0, 1e-9, -3e-9)), 1e-6]
)
def test_batches_near_a_double_root_are_right_whatever_the_finish_starts_from(monkeypatch, wrong):
    """Neighbours 1e-12 to 1e-7 apart, all estimates displaced: counts beside each mode prove its digits."""
    finish = Work.polish

    def displaced(work, given, left, lanes):
        left.enclosure.omega[lanes] *= 1.0 + wrong
        left.omegas[:] *= 1.0 - 2.0 * wrong
        return finish(work, given, left, lanes)

    monkeypatch.setattr(Work, "polish", displaced)
    rng = np.random.default_rng(7)
    distance, direction = 10.0 ** rng.uniform(-12.0, -7.0, 300), rng.uniform(0.0, 2.0 * np.pi, 300)
    ways = distance * np.stack([np.cos(direction), np.sin(direction)])
    cells = DOUBLE_ROOT[:, None] + ways
    arm = jm.examples.three_link_industrial()
    columns = {"link2.joint_angle": cells[0], "link3.joint_angle": cells[1]}
    columns["payload.mass"] = np.full(300, arm.payload.mass)  # else a series of postures finds them
    # with the modes of tests/batches/test_many_arms.py, whose programs then serve
    result = jm.natural_frequencies_batch(arm, columns, 6, kernel="portable")
    assert bool(result.certified.all())
    omega, claimed = np.asarray(result.omega), np.asarray(result.residual_ratio, float)
    assert np.all(np.diff(omega, axis=1) >= 0.0)
    cell, mode = np.indices(omega.shape)[:, :, 1:3].reshape(2, -1)
    error = (claimed[cell, mode] + 1.0) * ULP
    alone = np.asarray(result.multiplicity)[cell, mode] == 1
    below = counts(arm, columns, cell, omega[cell, mode] * (1.0 - error))
    above = counts(arm, columns, cell, omega[cell, mode] * (1.0 + error))
    assert np.all((below <= mode) & (above >= mode + 1))
    assert np.all((below[alone] == mode[alone]) & (above[alone] == mode[alone] + 1))


def test_a_batch_that_contradicts_itself_is_opened_again():
    from jaxmodal.batches.results import Results
    from jaxmodal.runtime.statuses import Status

    results = Results.empty(np.zeros(3, np.int32), 3)
    results.omega[:] = [1.0, 2.0, 3.0]
    results.lower[:], results.upper[:] = 0.999 * results.omega, 1.001 * results.omega
    results.status[:] = int(Status.certified)
    results.omega[1, 1], results.omega[2, 0] = 3.5, 1.5
    results.lower[1, 1], results.upper[1, 1] = 3.4, 3.6
    results.reopen_contradictions()
    opened = results.status == Status.uncertified
    assert opened.tolist() == [[False] * 3, [False, True, True], [True, False, False]]
    assert results.open_cells().tolist() == [1, 2]
