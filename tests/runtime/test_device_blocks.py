"""Cells in blocks whose results stay on the device: is every cell there once, and what was left open in its place?"""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmodal.runtime.device_blocks import in_blocks_of_cells


def block(values):
    """Squares, and cells of negative values left open; of plain operations, which compile nothing of their own."""
    squares = jnp.asarray(values[0] ** 2)
    return {"square": squares, "both": jnp.asarray(values.T)}, jnp.asarray(values[0] < 0.0)


def left_open(values):
    def found(cells):
        return {"square": -values[0][cells], "both": 10.0 * values.T[cells]}

    return found


@pytest.mark.parametrize(("cells", "size"), [(5, 8), (8, 8), (19, 8)])
def test_every_cell_has_its_own_result(cells, size):
    """Fewer cells than a block, as many, and blocks of which the last overlaps the one before."""
    values = np.random.default_rng(cells).normal(size=(2, cells))
    assert (values[0] < 0.0).any()
    found = in_blocks_of_cells(block, values, size, left_open(values))
    negative = values[0] < 0.0
    assert np.array_equal(found["square"], np.where(negative, -values[0], values[0] ** 2))
    assert np.array_equal(found["both"], np.where(negative, 10.0, 1.0)[:, None] * values.T)


def test_nothing_is_asked_where_nothing_is_left():
    values = np.abs(np.random.default_rng(1).normal(size=(2, 8)))

    def never(_cells):
        raise AssertionError

    assert np.array_equal(in_blocks_of_cells(block, values, 8, never)["square"], values[0] ** 2)


@pytest.mark.parametrize("chosen", [False, True])
def test_devices_take_turns_but_for_one_that_the_caller_has_chosen(chosen, monkeypatch):
    """A second device is the same one by the name of its platform."""
    values, taken = np.ones((2, 19)), []
    first = jax.local_devices()[0]
    monkeypatch.setattr(jax, "local_devices", lambda: [first, first.platform])

    def remembered(part):
        taken.append(jax.config.jax_default_device)
        return block(part)

    with jax.default_device(first) if chosen else contextlib.nullcontext():
        found = in_blocks_of_cells(remembered, values, 8, left_open(values))
    assert taken == [first, first if chosen else first.platform, first]
    np.testing.assert_array_equal(found["square"], np.ones(19))
