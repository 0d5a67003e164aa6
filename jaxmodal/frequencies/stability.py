"""Detection of buckling under static forces, by the count as the frequency tends to zero."""

from __future__ import annotations

import dataclasses

import jax

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import evaluate
from jaxmodal.frequencies.resolution import near_zero, starting_scale
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

    It is the least number of modes below frequencies near zero (`resolution.near_zero`).

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
    at = near_zero(starting_scale(beams), arithmetic)
    beams = jax.tree_util.tree_map(lambda x: x[:, None], beams)
    counts = evaluate(beams, flags, at, arithmetic, num_links).count
    return xp.maximum(xp.min(counts, axis=0) - free, 0)


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
