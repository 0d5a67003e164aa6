"""Entries of vectors at known places, written as products.

A program would make a loop of each index that is written, also of one that is read and differentiated in reverse. A
product with ones and zeros is a single operation, exact for finite values. An infinite one becomes NaN at all places:
a motion that diverges ends at that time.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxmodal.runtime.namespace import Array


def at_places(size: int, places: np.ndarray, values: Array) -> Array:
    """Return a vector (size,) with ``values``, as many as places or one for all, and 0 elsewhere."""
    given = jnp.broadcast_to(jnp.asarray(values, float), places.shape)
    return jnp.asarray(np.eye(size)[:, places]) @ given


def placed(vector: Array, places: np.ndarray, values: Array) -> Array:
    """Return a vector with ``values``, as many as places or one for all, in place of its entries there."""
    if not places.size:
        return vector
    size = vector.shape[0]
    return jnp.where(np.isin(np.arange(size), places), at_places(size, places, values), vector)
