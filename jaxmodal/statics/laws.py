"""Mass per length of links, their flexibility in bending and shear, and the laws of joint springs."""

from __future__ import annotations

from typing import Any

from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays


def line_mass(beams: BeamArrays) -> Array:
    """Return the mass per length, kg/m, including non-structural mass; shape (n,)."""
    own = beams.density * beams.area
    return own if beams.nonstructural_mass is None else own + beams.nonstructural_mass


def flexibility(beams: BeamArrays) -> Array:
    """Return 1, or 0 for a rigid link; shape (n,)."""
    return xp.ones_like(beams.length) if beams.flexible is None else beams.flexible


def shear_ratio(beams: BeamArrays, shear: Any) -> tuple[Array, Array]:
    """Return E I and 1/(kappa G A), the latter 0 for a theory without shear; (n,)."""
    known = xp.isfinite(beams.shear_modulus_effective) & (shear > 0.0)
    stiffness = xp.where(known, beams.shear_modulus_effective, 1.0) * beams.area
    return beams.youngs_modulus * beams.second_moment, xp.where(known, 1.0 / stiffness, 0.0)


def compliance(stiffness: Array) -> Array:
    """Return ``1/k``, zero for a rigid spring (inf)."""
    rigid = xp.isinf(stiffness)
    return xp.where(rigid, 0.0, 1.0 / xp.where(rigid, 1.0, stiffness))


def spring_law(stiffness: Array) -> tuple[Array, Array]:
    """Return the law of a joint spring for a rotation or a displacement, ``unit * deflection = compliance * force``.

    Rigid: (1, 0). Elastic: (1, 1/k). Free hinge or slide: (0, 1).
    """
    free = stiffness == 0.0
    return xp.where(free, 0.0, 1.0), compliance(xp.where(free, 1.0, stiffness))
