"""Counts of the natural frequencies below given frequencies, and certificates of lists of frequencies."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from jaxmodal.arm.arguments import real_array, real_number
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import Model
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.certificate import TOLERANCE, Certificate
from jaxmodal.frequencies.host_solver import confirm_on_host, count_on_host
from jaxmodal.frequencies.models import OtherArm, TracedModel, model_of, on_host_model, planar
from jaxmodal.frequencies.programs import (
    MOST,
    confirm_padded,
    count_padded,
    padded_beams,
    padded_size,
)
from jaxmodal.frequencies.root_search import LARGEST
from jaxmodal.runtime.namespace import Array, is_traced, on_host, xp
from jaxmodal.runtime.precision import require_x64
from jaxmodal.runtime.statuses import Status

#: frequencies of one count_below call are evaluated in pieces of this size
_COUNT_CHUNK = 1024


def count_below(
    arm: Arm | OtherArm, omega: ArrayLike, *, theory: TheoryName = "timoshenko"
) -> Array:
    """Return J(omega), the number of natural frequencies of an arm below ``omega``.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm.
    omega : ArrayLike
        Angular frequencies in rad/s, from 0 to 1e100, any shape.
    theory : str
        As for `natural_frequencies`.

    Returns
    -------
    Array
        int64, of the shape of ``omega``. -1 where a traced ``omega`` is outside its range or above 2^53 frequencies,
        and where the arm has an invalid value (traced, or set through `jax.tree.map`, which does not validate).

    Raises
    ------
    ValueError
        If a concrete ``omega`` is negative, above 1e100 or not finite, if more than 2^53 frequencies lie below it
        (counts are exact up to there), or if ``theory`` is unknown.

    Notes
    -----
    W. H. Wittrick and F. W. Williams, Q. J. Mech. Appl. Math. 24 (1971) 263-284, in double-double
    arithmetic. No search is needed: the number of modes between two frequencies is the
    difference of their counts.
    """
    values = _frequencies_argument(omega)
    found = counts_below(model_of(arm, theory), values)
    return jax.device_put(found) if on_host(found) else found


def counts_below(model: Model | TracedModel, values: Array) -> Array:
    """Return `count_below` at frequencies that were checked; NumPy arrays for a concrete arm."""
    concrete = on_host_model(model, values)
    if concrete is not None:
        found = count_on_host(concrete, values)
        _require_exact(values, found)
        return found
    arm = planar(model)
    beams, values = jax.tree_util.tree_map(jnp.asarray, (arm.beams, values))
    invalid = jnp.asarray(arm.invalid)
    flat = jnp.where(invalid, jnp.nan, values.reshape(-1))
    size = min(padded_size(max(flat.shape[0], 1), 16, 2), _COUNT_CHUNK)
    chunks = -(-max(flat.shape[0], 1) // size)
    padded = jnp.concatenate([flat, jnp.ones(chunks * size - flat.shape[0])]).reshape(chunks, size)
    counts: Array = count_padded(*padded_beams(beams, invalid), arm.flags, padded)
    return counts.reshape(-1)[: flat.shape[0]].reshape(values.shape)


def _require_exact(omega: np.ndarray, counts: np.ndarray) -> None:
    """Refuse frequencies at which counts are not exact."""
    beyond = (omega > LARGEST) | (counts > MOST) | (counts < -1)
    if np.any(beyond):
        raise ValueError(
            f"omega = {float(np.min(omega[beyond])):g} rad/s is too high to count below: counts are exact up to "
            f"2^53 = {MOST:,} frequencies and to {LARGEST:g} rad/s; give a lower one, and check its unit"
        )


def certify(
    arm: Arm | OtherArm,
    omega: ArrayLike,
    *,
    theory: TheoryName = "timoshenko",
    tolerance: float = TOLERANCE,
) -> Certificate:
    """Certify a list of frequencies from any source by Wittrick-Williams counts.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm.
    omega : ArrayLike, shape (K,)
        Frequencies in rad/s, ascending, claimed to be modes 1 to K, each to a relative ``tolerance``. For an arm
        with free joints, leave out the zero frequencies; entry 1 is then the first other mode.
    theory : str
        As for `natural_frequencies`.
    tolerance : float
        Relative accuracy claimed; between 1e-14 and 0.1.

    Returns
    -------
    Certificate
        If a frequency is missing or spurious, all entries after it fail; if it is displaced, only its own entry fails.
        ``left_out`` is the number of modes left out by a list that ends inside a repeated frequency.

    Raises
    ------
    ValueError
        If ``omega`` is empty, not one-dimensional, not ascending, or has a value that is not positive and finite.
    """
    values = _frequencies_argument(omega)
    if values.ndim != 1 or values.shape[0] == 0:
        raise ValueError(f"omega has shape {values.shape}; expected (K,) with K >= 1")
    if on_host(values) and (np.any(values <= 0.0) or np.any(values[1:] < values[:-1])):
        raise ValueError("omega must be positive and ascending (rad/s); sort them first")
    tolerance = real_number(tolerance, "tolerance", "a relative accuracy between 1e-14 and 0.1")
    if not 1e-14 <= tolerance <= 0.1:
        raise ValueError(
            f"tolerance = {tolerance!r}; expected a relative accuracy between 1e-14 and 0.1"
        )
    count, model = values.shape[0], model_of(arm, theory)
    concrete = on_host_model(model, values)
    if concrete is not None:
        modes = np.arange(1, count + 1) + concrete.zero_frequencies
        found = confirm_on_host(concrete, values, modes, tolerance)
        return jax.device_put(_certificate(found, np.bool_(concrete.invalid), count))
    lowered = planar(model)
    # a verdict has no derivative, as that of `natural_frequencies` has none
    given = jax.lax.stop_gradient((lowered.beams, values))
    beams, values = jax.tree_util.tree_map(jnp.asarray, given)
    lanes = padded_size(count, 16, 2)
    padded = jnp.concatenate([values, jnp.full(lanes - count, 2.0 * values[-1])])
    modes = jnp.minimum(jnp.arange(1, lanes + 1), count) + number_of_zero_modes(beams)
    found = confirm_padded(
        *padded_beams(beams, jnp.asarray(False)),
        lowered.flags,
        padded,
        modes,
        jnp.int64(count),
        jnp.float64(tolerance),
    )
    return _certificate(found, lowered.invalid, count)


def _certificate(found: Certificate, invalid: Array, count: int) -> Certificate:
    """Return the certificate of the first ``count`` frequencies."""
    status = xp.where(invalid, int(Status.invalid_input), found.status)
    some: Certificate = jax.tree_util.tree_map(
        lambda x: x[:count], dataclasses.replace(found, status=status)
    )
    return some


def _frequencies_argument(omega: ArrayLike) -> Array:
    require_x64()
    values = jnp.asarray(omega, jnp.float64) if is_traced(omega) else real_array(omega, "omega")
    if on_host(values) and not np.all(np.isfinite(values) & (values >= 0.0)):
        raise ValueError(
            f"omega = {shown(omega)}: holds a value that is negative or not finite; expected frequencies in rad/s"
        )
    return values
