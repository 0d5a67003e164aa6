"""Room for results that JAX takes over where it lies."""

import jax
import numpy as np
import pytest

from jaxmodal.runtime.namespace import unfilled

CASES = [((999, 10), np.float64), ((7, 3, 2), np.float32), ((9,), np.bool_), ((0, 4), np.int32)]


@pytest.mark.parametrize(("shape", "dtype"), CASES)
def test_arrays_of_results_are_not_copied(shape, dtype):
    room = unfilled(shape, dtype)
    room[...] = 1
    taken = jax.device_put(room, jax.devices("cpu")[0])
    assert (room.shape, room.dtype) == (shape, dtype)
    np.testing.assert_array_equal(taken, np.ones(shape, dtype))
    assert not room.size or taken.unsafe_buffer_pointer() == room.ctypes.data
