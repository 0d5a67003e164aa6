"""The lowest frequency at which an arm's inertia is resolved beside its stiffness; below it, counts are noise."""

from __future__ import annotations

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.condensation import evaluate
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: shares of `starting_scale`, in float64 and in double-double: (omega/scale)^2, the inertia of a link beside its
#: stiffness, is then 1e-14 and 1e-28, some hundred times what rounding leaves
RESOLVED = {Arithmetic.float64: 1e-7, Arithmetic.double_double: 1e-14}
#: multiples of the lowest resolved frequency at which modes at and below zero are counted. The count is never below
#: theirs, and the lowest of the counts is theirs: at the first it may be noise where links differ much in stiffness,
#: at the last other modes may lie below
COUNTED_AT = (1.0, 1e3, 1e6, 1e9)


def starting_scale(beams: BeamArrays) -> Array:
    """Return the frequency in rad/s about which a search without a guess starts; per cell for beams (n, 1, cells)."""
    rigidity = beams.youngs_modulus * beams.second_moment / (beams.density * beams.area)
    own = xp.sqrt(rigidity) / (beams.length * beams.length)
    return xp.min(own, axis=tuple(range(max(1, own.ndim - 1))))


def resolved(scale: Array, omega: Array, arithmetic: Arithmetic) -> Array:
    """Return trial frequencies in rad/s, raised to the lowest at which the inertia of the links is resolved.

    The count there is never too low, and a mode below is not certified.
    """
    return xp.maximum(omega, RESOLVED[arithmetic] * xp.where(xp.isfinite(scale), scale, 0.0))


def near_zero(scale: Array, arithmetic: Arithmetic) -> Array:
    """Return the frequencies in rad/s at which modes at and below zero are counted, shape (4, ...)."""
    lowest = resolved(scale, xp.zeros_like(scale), arithmetic)
    return xp.stack([factor * lowest for factor in COUNTED_AT])


def evaluate_resolved(
    beams: BeamArrays,
    flags: Theory,
    omega: Array,
    arithmetic: Arithmetic,
    num_links: Array | None = None,
) -> Evaluation:
    """Return `condensation.evaluate` of one arm at `resolved` frequencies."""
    return evaluate(
        beams, flags, resolved(starting_scale(beams), omega, arithmetic), arithmetic, num_links
    )
