"""The parts of the batch solver: how work is cut, blocks of one call, the guess through pilot cells."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.columns import columns_of
from jaxmodal.batches import engines, pilots
from jaxmodal.batches import kernels as batch_kernels
from jaxmodal.batches.acceptance import CLOSE, accepted, doubtful, with_neighbour
from jaxmodal.batches.fused_search import chosen_kernel
from jaxmodal.batches.guided_search import Enclosure, Others, _estimate
from jaxmodal.batches.results import Results
from jaxmodal.batches.sizes import CPU_SIZES, parted
from jaxmodal.batches.variants import Cells
from jaxmodal.batches.work import Work
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.runtime.devices import default_device

#: of the close modes of these cells most are finished in double-double; float64 alone reaches 1e-13; asked are 1e-12
FLOAT64 = 3e-13


@pytest.mark.parametrize("items", [0, 1, 7, 8, 9, 95, 96, 97, 1000])
@pytest.mark.parametrize(
    ("size", "blocks", "workers"), [(8, 1, 1), (8, 3, 2), (1, 4, 3), (50, 2, 16)]
)
def test_parts_hold_every_item_once_in_whole_blocks(items, size, blocks, workers):
    parts = parted(np.arange(items), size, blocks, workers)
    assert np.array_equal(np.concatenate([np.arange(0), *parts]), np.arange(items))
    assert all(0 < part.size <= blocks * size for part in parts)
    assert all(part.size % size == 0 for part in parts[:-1])
    needed = [-(-part.size // size) for part in parts]
    assert not needed or max(needed) - min(needed) <= 1


def test_blocks_of_one_call_are_solved_each_for_itself_and_no_more_than_are_used():
    """By the program of test_many_arms.py, and in NumPy, which knows no blocks."""
    arm, size, blocks = jm.examples.three_link_industrial(), CPU_SIZES.extended_modes, 4
    assert blocks == CPU_SIZES.open_blocks
    angles = np.random.default_rng(6).uniform(-3.0, 3.0, (2, blocks * size))
    problem = batch_kernels.BatchProblem(theory_flags("timoshenko"), 6)
    omega = np.linspace(20.0, 900.0, blocks * size)
    cells = columns_of(arm, ["link2.joint_angle", "link3.joint_angle"], angles).packed
    every = Cells(np.arange(omega.size), cells, None)
    host = engines.OnHost().extended(problem, every, every.numbers, omega)
    whole, some = (
        batch_kernels.extended(problem, (cells, omega), np.int64(used), blocks=blocks)
        for used in (blocks, 2)
    )
    leaves = zip(*map(jax.tree_util.tree_leaves, (host, whole, some)), strict=True)
    for expected, all_blocks, two in leaves:
        np.testing.assert_allclose(all_blocks, expected, rtol=1e-12)
        np.testing.assert_array_equal(two[: 2 * size], all_blocks[: 2 * size])
        assert not np.asarray(two[2 * size :]).any()


@pytest.mark.usefixtures("on_a_cpu")
@pytest.mark.parametrize("number", [1, 416, 417, 900])
def test_lanes_beyond_those_of_one_call_are_solved_by_further_calls(number, monkeypatch):
    """A stand-in for the program says what it got: first column and frequency of each lane of the blocks used."""

    def extended(problem, lanes, used, *, blocks):
        packed, omega = lanes
        assert omega.size == packed.shape[-1] == 416
        assert blocks == 4
        solved = np.arange(omega.size) < used * 104
        return Evaluation(packed[0, 0], np.where(solved, omega, np.nan), solved, solved)

    monkeypatch.setattr(engines, "extended", extended)
    numbers = np.array([3, 5, 8])
    cells = Cells(numbers, 1.0 * numbers[None, None], None)
    rng = np.random.default_rng(number)
    at, omega = rng.choice(numbers, number), rng.uniform(size=number)
    found = engines.Compiled(chosen_kernel("portable", default_device())).extended(
        None, cells, at, omega
    )
    np.testing.assert_array_equal(found.sign, at)
    np.testing.assert_array_equal(found.log_abs, omega)


@pytest.mark.parametrize("repeated", [False, True], ids=["apart", "repeated"])
def test_a_guess_passes_through_its_pilots_even_where_they_coincide_or_a_value_is_constant(
    repeated,
):
    rng = np.random.default_rng(5)
    values = np.stack([rng.uniform(-3.0, 3.0, 40), rng.uniform(1.0, 2.0, 40), np.full(40, 7.0)])
    if repeated:  # all but: what coincides is left out before
        values[:, 20:] = values[:, :20] + 1e-10
    omega = np.exp(np.stack([np.cos(values[0]) + values[1], 3.0 + values[1]]))
    addresses = ("link2.joint_angle", "payload.mass", "payload.inertia")
    found = pilots.Centres.of(values, addresses).pilots(omega, 64)
    guessed = jax.jit(found.guess.frequencies)(found.scaling.features(values))
    np.testing.assert_allclose(guessed, omega, rtol=1e-6)


def an_enclosure(**changed):
    """Of mode 1 at omega = 3, which D = 9 - omega^2 has there, between its ends at 3 (1 -+ 1e-8)."""
    lower, upper = 3.0 * (1.0 - 1e-8), 3.0 * (1.0 + 1e-8)
    values = {
        "omega": 3.0,
        "lower": lower,
        "upper": upper,
        "lower_log": np.log(9.0 - lower**2),
        "upper_log": np.log(upper**2 - 9.0),
        "lower_count": 0.0,
        "upper_count": 1.0,
        "third": 3.1,
        "third_log": np.log(3.1**2 - 9.0),
        "third_sign": -1.0,
        "consistent": True,
        "error": 1e-15,
        "lower_noise": 20.0,
        "upper_noise": 10.0,
    }
    arrays = {name: jnp.full((1, 1), value) for name, value in (values | changed).items()}
    return Enclosure(**arrays)


def test_a_point_so_near_the_root_that_its_rounding_error_decides_has_no_say_in_the_estimate():
    wrong = 3.0 * (1.0 + 2e-12)  # D should be 18 times 3e-12 here
    e = an_enclosure(third=wrong, third_sign=1.0, third_log=np.log(18.0 * 3e-12))
    others = Others(1, (jnp.full((1, 1), 30.0),))
    in_one_program = jax.jit(lambda e, number, omega: _estimate(e, number, omega, others))
    estimate = in_one_program(e, np.ones((1, 1)), e.omega)
    assert abs(float(estimate[0, 0]) / 3.0 - 1.0) < 1e-15
    used = in_one_program(an_enclosure(), np.ones((1, 1)), e.omega)
    assert abs(float(used[0, 0]) / 3.0 - 1.0) < 1e-15


@pytest.mark.parametrize(
    ("changed", "close", "as_it_is", "by_a_second_estimate"),
    [
        ({}, False, True, False),
        ({}, True, True, True),
        ({"lower_noise": 1e3}, False, False, True),
        ({"upper_noise": 1e3}, False, False, True),
        ({"upper_noise": 1e5}, True, False, False),
        ({"error": 1e-12}, False, False, False),
        ({"upper_count": 2.0}, True, False, False),
        ({"consistent": False}, False, False, False),
    ],
)
def test_what_certifies_a_float64_mode(changed, close, as_it_is, by_a_second_estimate):
    e = jax.tree.map(np.asarray, an_enclosure(**changed))
    number = np.ones((1, 1))
    assert bool(accepted(e, number)) == as_it_is
    assert bool(doubtful(e, number, np.full((1, 1), close))) == by_a_second_estimate


def test_neighbours_are_found_on_both_sides_and_lists_of_one_mode_have_none():
    omega = np.array([[1.0, 1.0], [1.005, 2.0], [3.0, 2.0 + 1e-7]])
    expected = [[True, False], [True, True], [False, True]]
    assert with_neighbour(omega, 1e-2).tolist() == expected
    assert with_neighbour(omega, 1e-6).tolist() == [[False, False], [False, True], [False, True]]
    assert not with_neighbour(omega[:1], 1e-2).any()
    results = Results.empty(np.zeros(2, np.int32), 3)
    results.omega[:] = omega.T
    cells, modes = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2)
    for distance in (1e-2, 1e-6):
        near = results.nearest(cells, modes) <= distance
        assert near.tolist() == with_neighbour(omega, distance).T.ravel().tolist()
    single = Results.empty(np.zeros(1, np.int32), 1)
    single.omega[:] = 5.0
    assert np.isinf(single.nearest(np.zeros(1, int), np.zeros(1, int)))


def test_close_modes_are_estimated_twice_and_as_exact_as_others(monkeypatch):
    """D is flat between two modes, and one small change of an estimate proves little there."""
    again = set()

    def recorded(one_pass):
        def run(work, given, left, *rest):
            lanes = rest[-1]
            again.update(zip(left.cell[lanes].tolist(), left.mode[lanes].tolist(), strict=True))
            return one_pass(work, given, left, *rest)

        return run

    for name in ("estimate_again", "correct", "polish"):
        monkeypatch.setattr(Work, name, recorded(getattr(Work, name)))
    arm, rng = jm.examples.three_link_industrial(), np.random.default_rng(2)
    double_root = np.radians([-155.009952919027194, -64.1983428536445678])
    cells = double_root[:, None] + rng.uniform(-0.01, 0.01, (2, 24))
    columns = {"link2.joint_angle": cells[0], "link3.joint_angle": cells[1]}
    # six modes in chunks of the usual size: the programs are those of test_many_arms.py
    result = jm.natural_frequencies_batch(arm, columns, 6, kernel="portable")
    found = np.asarray(result.omega)
    exact = np.stack([jm.natural_frequencies(arm.with_posture(x), 6).omega for x in cells.T])
    close = with_neighbour(exact.T, CLOSE)
    assert close[1:3].mean() > 0.5
    assert {(cell, mode) for mode, cell in np.argwhere(close).tolist()} <= again
    assert np.abs(found / exact - 1.0).max() < FLOAT64
