"""Frequencies as a function of rows of values, and their differences."""

import jax
import numpy as np

import jaxmodal as jm

AD_VS_FD = 1e-6
"""Differences of fourth order of certified frequencies, relative to the largest in a row."""

HESSIAN_VS_FD = 1e-7
"""Differences of fourth order of gradients."""

NUM_MODES = 6
"""Wherever the number does not matter: a program is compiled for each number of modes."""

DOUBLE_ROOT_DEG = (-155.009952919027194, -64.1983428536445678)
"""Posture of the three-link arm at which modes 2 and 3 coincide (37.0643031192404803 Hz)."""


def industrial(*angles_deg):
    return jm.examples.three_link_industrial().with_posture(np.deg2rad(angles_deg))


def omega_of(arm, names, num_modes, theory):
    @jax.jit
    def changed(x):
        """In one program: outside of one every operation on a value is a small program of its own."""
        return jm.set_parameters(arm, dict(zip(names, x, strict=True)))

    # not compiled as a whole: the search is that of the other tests
    return lambda x: jm.natural_frequencies(changed(x), num_modes, theory=theory).omega


def of_cells(arm, names, num_modes, theory="timoshenko"):
    """omega (N, K) of rows of values (N, P): all arms side by side in NumPy, a millisecond each."""

    def omega(rows):
        cells = dict(zip(names, np.transpose(rows), strict=True))
        found = jm.natural_frequencies_batch(arm, cells, num_modes, theory=theory)
        assert bool(found.certified.all())
        return np.asarray(found.omega)

    return omega


def one_by_one(function):
    """The same of a function of one row."""
    return lambda rows: np.stack([np.asarray(function(row)) for row in rows])


def differences(function, x, steps):
    """Central differences of fourth order, one column for each entry of x; the function takes rows of values."""
    offsets = np.array([-2, -1, 1, 2])[:, None, None] * np.diag(steps)
    values = function((x + offsets).reshape(-1, len(x)))
    values = values.reshape(4, len(x), *values.shape[1:])
    weights = np.array([1, -8, 8, -1]) / 12
    columns = np.tensordot(weights, values, axes=1)
    return np.stack([column / h for column, h in zip(columns, steps, strict=True)], axis=-1)


def far_off(found, expected, scale):
    """Largest error of any entry, relative to the largest entry of its row after scaling."""
    weighted = np.abs((found - expected) * scale)
    return np.max(weighted / np.max(np.abs(expected * scale), axis=-1, keepdims=True))
