"""Supports in derivatives, batches and traced values: against forty digits, and cell against single arm."""

import math

import jax
import numpy as np
import pytest

import jaxmodal as jm
from benchmarks.cross_check_arms import case
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes, rank_of
from tests.support import exact_derivatives
from tests.support.elastic_bases import FULL
from tests.support.problems import ORACLE
from tests.support.real_arms import relative, steel
from tests.support.supported_arms import TIPS, held_arm, supported_two

EXACT = 1e-10
"""Of the largest logarithmic derivative of the mode."""


@pytest.mark.parametrize(
    ("tip", "theory"),
    [
        ("springs", "timoshenko"),
        ("rigid", "euler_bernoulli"),
        pytest.param("rigid", "timoshenko", marks=pytest.mark.slow),
        pytest.param("springs", "euler_bernoulli", marks=pytest.mark.slow),
    ],
)
def test_derivatives_against_forty_digits(tip, theory):
    """By supports, base springs (one of them 0), angles (that of link 1 turns the arm against them) and all else."""
    arm = held_arm(**TIPS[tip])
    exact_derivatives.assert_sensitivities(arm, ["rectangle"] * 2, theory, (0, 1, 4), ORACLE, EXACT)


VARIED = {
    "link2.support_x_stiffness": (1e4, 1e7), "link2.support_torsional_stiffness": (1e2, 1e5),
    "link1.joint_shear_stiffness": (1e4, 1e7), "link1.joint_angle": (-1.0, 1.0), "link2.joint_angle": (-2.0, 2.0),
}  # fmt: skip


def cells_of(arm, count, **more):
    """Random values at `VARIED` and between the ends of others, a few at their limits; and the arm of each cell."""
    rng = np.random.default_rng(7)
    cells = {
        address: np.exp(rng.uniform(*np.log(ends), count))
        if ends[0] > 0
        else rng.uniform(*ends, count)
        for address, ends in (VARIED | more).items()
    }
    cells["link2.support_x_stiffness"][:3] = (0.0, math.inf, 1e12)
    at = [{a: float(v[k]) for a, v in cells.items()} for k in range(count)]
    return cells, [jm.set_parameters(arm, values) for values in at]


@pytest.mark.parametrize("tip", TIPS)
def test_batches_and_single_arms_agree(tip):
    arm = held_arm(**TIPS[tip])
    cells, arms = cells_of(arm, 30)
    batch = jm.natural_frequencies_batch(arm, cells, 5)
    assert bool(batch.certified.all())
    for cell in (0, 1, 2, 12, 23):
        one = jm.natural_frequencies(arms[cell], 5)
        assert np.max(relative(batch.omega[cell], np.asarray(one.omega))) <= ORACLE
        assert np.array_equal(batch.count_below[cell], one.count_below)


@pytest.mark.slow
@pytest.mark.parametrize("tip", TIPS)
def test_compiled_cells_agree(tip):
    """What a large batch compiles, and the derivatives of its cells; the same programs serve supports and a base."""
    arm = held_arm(**TIPS[tip]).replace(base_stiffness=FULL)
    cells, arms = cells_of(arm, 30, **{"base_stiffness.k33": (3e4, 9e4)})
    names = [*cells, "base_stiffness.k13"]
    batch = jm.natural_frequencies_batch(arm, cells, 5)
    compiled = jm.natural_frequencies_batch(arm, cells, 5, chunk_size=32)
    assert np.array_equal(batch.count_below, compiled.count_below)
    assert np.max(relative(compiled.omega, np.asarray(batch.omega))) <= ORACLE
    quantities = jm.modal_quantities_batch(arm, cells, batch, addresses=names)
    for cell in (0, 1, 2, 12):
        table = jm.sensitivities(arms[cell], 5, addresses=names)
        largest = np.max(np.abs(np.asarray(table.derivative)), axis=0)
        error = np.abs(np.asarray(quantities.derivative[cell]) - np.asarray(table.derivative))
        assert np.max(error / np.where(largest > 0.0, largest, 1.0)) <= 1e-9


def test_zeros_of_a_batch():
    """Cells with none, one and two motions that supports leave."""
    second = steel(joint_angle=0.6, joint_stiffness=0.0, support_x_stiffness=1e5)
    arm = jm.Arm((steel(joint_stiffness=0.0), second))
    cells = {
        "link2.support_x_stiffness": np.array([0.0, 1e5, math.inf, 1e5]),
        "link2.joint_stiffness": np.array([0.0, 0.0, 0.0, 1e3]),
    }
    batch = jm.natural_frequencies_batch(arm, cells, 4)
    assert bool(batch.certified.all())
    assert np.sum(np.asarray(batch.omega) == 0.0, axis=1).tolist() == [2, 1, 1, 0]


@pytest.mark.slow
def test_traced_values():
    """Under jit the frequencies and the zeros are those of the concrete arm; one program asks of supports and base."""
    arm = supported_two(support_y_stiffness=7e5)
    springs = {"joint_axial_stiffness": 3e6, "joint_shear_stiffness": 2e5, "joint_stiffness": 1e5}
    links = (arm.links[0].replace(**springs), arm.links[1])
    arm = arm.replace(links=links, base_stiffness=[2e6, 1e6, 4e4])
    base, support = "base_stiffness.k33", "link2.support_y_stiffness"

    def lowest(*values):
        moved = jm.set_parameters(arm, dict(zip((base, support), values, strict=True)))
        return jm.natural_frequencies(moved, 4).omega

    traced = jax.jit(lowest)
    for values in ((0.0, 0.0), (7e3, 0.0), (0.0, 7e5), (math.inf, 7e5), (7e3, math.inf)):
        truth = np.asarray(lowest(*values))
        assert np.sum(truth == 0.0) == (values == (0.0, 0.0))
        assert np.max(relative(traced(*values), truth)) <= 1e-14, values


def test_motions_that_supports_hinder_are_counted_without_a_decomposition():
    """XLA's singular values, in programs of two threads at a time, wait for ever."""
    arm = supported_two()
    links = [link.replace(joint_stiffness=0.0) for link in arm.links]
    beams = beam_arrays(arm.replace(links=tuple(links)))
    program = jax.jit(number_of_zero_modes).lower(beams).as_text()
    assert "custom_call" not in program
    assert int(number_of_zero_modes(beams)) == int(jax.jit(number_of_zero_modes)(beams))


@pytest.mark.parametrize("columns", [4, 6, 9])
def test_ranks_by_elimination(columns):
    rng = np.random.default_rng(columns)
    ranks = np.arange(200) % 5
    left, right = rng.normal(size=(200, 6, 4)), rng.normal(size=(200, 4, columns))
    some = np.arange(4) < ranks[:, None]
    np.testing.assert_array_equal(rank_of((left * some[:, None]) @ right), ranks)
    sparse = np.where(rng.uniform(size=(200, 6, columns)) < 0.2, 1.0, 0.0)
    np.testing.assert_array_equal(rank_of(sparse), np.linalg.matrix_rank(sparse))


@pytest.mark.slow
def test_a_large_batch_of_four_bars_ends():
    """Of free hinges on a pin; two threads waited for each other here."""
    given = case("four_bars", 11, 4, 1024)
    found = jm.natural_frequencies_batch(
        given.arm, given.parameters, given.modes, theory=given.theory, kernel="portable"
    )
    assert found.certified.mean() > 0.9
