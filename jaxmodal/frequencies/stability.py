"""Detection of buckling under static forces, by the count as the frequency tends to zero."""

from __future__ import annotations

import dataclasses

import jax

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.frequencies.resolution import evaluate_resolved
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.runtime.statuses import Status
from jaxmodal.statics.beam_arrays import BeamArrays


def number_unstable(
    beams: BeamArrays,
    flags: Theory,
    free: Array,
    arithmetic: Arithmetic = Arithmetic.double_double,
    num_links: Array | None = None,
) -> Array:
    """Return the number of squared frequencies that are not positive, int64, besides the ``free`` zero frequencies.

    It is the number of modes below the lowest resolved frequency (`resolution`).

    Parameters
    ----------
    beams, flags
        Link values, each of shape (n, ...), under axial forces, and the flags of the theory.
    free : Array
        Number of modes with frequency zero (`number_of_zero_modes`), shape (...).
    arithmetic : Arithmetic
        The count in float64 is somewhat larger than in double-double.
    num_links : Array, optional
        Number of links in use when ``beams`` is padded to a longer shape.
    """
    at = xp.zeros_like(beams.length[0])
    beams = jax.tree_util.tree_map(lambda x: x[:, None], beams) if at.ndim else beams
    count = evaluate_resolved(
        beams, flags, at[None] if at.ndim else at, arithmetic, num_links
    ).count
    count = count[0] if at.ndim else count
    return xp.maximum(count - free, 0)


def refused(result: NaturalFrequencies, unstable: Array) -> NaturalFrequencies:
    """Return the result with NaN frequencies and the status ``unstable`` for ``unstable`` arms."""
    return dataclasses.replace(
        result,
        omega=xp.where(unstable, xp.nan, result.omega),
        bracket=xp.where(unstable, xp.nan, result.bracket),
        status=xp.where(unstable, int(Status.unstable), result.status),
        count_below=xp.where(unstable, 0, result.count_below),
        count_above=xp.where(unstable, 0, result.count_above),
    )
