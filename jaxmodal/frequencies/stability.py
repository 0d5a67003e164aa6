"""Whether the forces at rest buckle an arm: the count as the frequency tends to zero."""

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
    """How many squares of frequencies are not above zero, besides the ``free`` zero frequencies, int64.

    The number of modes below the lowest frequency that is resolved (`resolution`).

    Parameters
    ----------
    beams, flags
        Link values, each of shape (n, ...), under axial forces, and the flags of the theory.
    free : Array
        How many modes have frequency zero (`number_of_zero_modes`), of shape (...).
    arithmetic : Arithmetic
        In float64 the count sees some more than in double-double.
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
    """The result, of an ``unstable`` arm without any frequency."""
    return dataclasses.replace(
        result,
        omega=xp.where(unstable, xp.nan, result.omega),
        bracket=xp.where(unstable, xp.nan, result.bracket),
        status=xp.where(unstable, int(Status.unstable), result.status),
        count_below=xp.where(unstable, 0, result.count_below),
        count_above=xp.where(unstable, 0, result.count_above),
    )
