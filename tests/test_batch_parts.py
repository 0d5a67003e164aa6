"""The parts of the batch solver: how work is cut, blocks of one call, the guess through pilot cells."""

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import batch_kernels, pilots
from jaxmodal.batch_sizes import parted
from jaxmodal.beams import theory_flags


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
    arm = jm.examples.two_link_flexible()
    angles = np.linspace(0.1, 3.0, 12)
    problem = batch_kernels.Problem(arm, theory_flags("timoshenko"), ("link2.joint_angle",), 3)
    omega = np.linspace(2.0, 40.0, 12)
    whole = batch_kernels.extended(problem, angles[None], omega, np.int64(1), blocks=1)
    parts = batch_kernels.extended(problem, angles[None], omega, np.int64(2), blocks=3)
    for one, some in zip(whole, parts, strict=True):
        np.testing.assert_allclose(some[:8], one[:8], rtol=1e-14)
        assert not np.asarray(some[8:]).any()


@pytest.mark.parametrize("repeated", [False, True], ids=["apart", "repeated"])
def test_a_guess_passes_through_its_pilots_even_where_they_coincide_or_a_value_is_constant(
    repeated,
):
    rng = np.random.default_rng(5)
    values = np.stack([rng.uniform(-3.0, 3.0, 40), rng.uniform(1.0, 2.0, 40), np.full(40, 7.0)])
    if repeated:
        values[:, 20:] = values[:, :20]
    omega = np.exp(np.stack([np.cos(values[0]) + values[1], 3.0 + values[1]]))
    addresses = ("link2.joint_angle", "payload.mass", "payload.inertia")
    guess = pilots.fit(values, omega, addresses)
    np.testing.assert_allclose(guess.frequencies(jnp.asarray(values)), omega, rtol=1e-6)
