"""Entries of vectors at known places, beside those that are written by index."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmodal.dynamics.mechanics.entries import at_places, placed

PLACES = [np.array([3, 0]), np.arange(4), np.array([], int)]


@pytest.mark.parametrize("places", PLACES, ids=len)
@pytest.mark.parametrize("one_for_all", [False, True])
def test_they_are_those_written_by_index(places, one_for_all):
    values = jnp.asarray(2.5) if one_for_all else jnp.linspace(1.1, 2.3, places.size)
    vector = jnp.linspace(-1.0, 1.0, 5)
    np.testing.assert_array_equal(at_places(5, places, values), jnp.zeros(5).at[places].set(values))
    np.testing.assert_array_equal(placed(vector, places, values), vector.at[places].set(values))


def test_derivatives_go_to_the_values_and_to_the_entries_that_stay():
    places, weights = np.array([3, 0]), jnp.arange(1.0, 6.0)
    of_vector, of_values = jax.grad(
        lambda vector, values: placed(vector, places, values) @ weights, argnums=(0, 1)
    )(jnp.ones(5), jnp.ones(2))
    np.testing.assert_array_equal(of_vector, [0.0, 2.0, 3.0, 0.0, 5.0])
    np.testing.assert_array_equal(of_values, [4.0, 1.0])
