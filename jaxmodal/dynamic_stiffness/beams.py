"""Beam theories and the wave numbers of one member.

All four theories are one set of formulas in three dimensionless numbers of a member of length L vibrating at omega:
``b2 = omega^2 rho A L^4/(E I)``, ``r2 = I/(A L^2)`` (rotary inertia) and ``s2 = E I/(kappa G A L^2)`` (shear); a theory
that leaves an effect out sets its number to zero.
"""

from __future__ import annotations

import dataclasses
from typing import Literal, NamedTuple, get_args

import jax
import numpy as np

from jaxmodal.arithmetic.operations import (
    Arithmetic,
    Number,
    evaluate_formula,
    number,
    select,
    sqrt,
)
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.refusals import known_form
from jaxmodal.runtime.errors import suggestion
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.runtime.precision import require_x64
from jaxmodal.statics.beam_arrays import BeamArrays

#: Names of the theories, most complete first.
TheoryName = Literal["timoshenko", "rayleigh", "euler_bernoulli", "bending_only"]
THEORIES: tuple[TheoryName, ...] = get_args(TheoryName)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Theory:
    """Effects included in a theory: three flags, 1.0 or 0.0, traced, so that all theories share one compilation."""

    shear: Array
    rotary_inertia: Array
    axial: Array


def theory_named(theory: str) -> TheoryName:
    """Return the name of a theory if it is known.

    Raises
    ------
    ValueError
        For any other name; the message lists the four.
    """
    if not isinstance(theory, str) or theory not in THEORIES:
        raise ValueError(
            f"theory = {theory!r} is not known; choose one of {', '.join(map(repr, THEORIES))}."
            f"{suggestion(str(theory).lower().replace('-', '_'), THEORIES)}"
        )
    return theory


def theory_flags(theory: str) -> Theory:
    """Return the flags of a named theory.

    Parameters
    ----------
    theory : str
        ``"timoshenko"`` (shear, rotary inertia, axial motion), ``"rayleigh"`` (rotary inertia, axial motion),
        ``"euler_bernoulli"`` (axial motion; the paper's EB-dagger) or ``"bending_only"`` (each link axially rigid; the
        paper's EB-double-dagger).

    Raises
    ------
    ValueError
        If the name is unknown; see `theory_named`.
    """
    theory_named(theory)
    return Theory(
        shear=np.float64(theory == "timoshenko"),
        rotary_inertia=np.float64(theory in ("timoshenko", "rayleigh")),
        axial=np.float64(theory != "bending_only"),
    )


def prepared_values(arm: Arm, theory: TheoryName) -> tuple[BeamArrays, Theory]:
    """Return beams and theory flags for the solvers, or raise an error that names what is missing.

    They are NumPy arrays if all values of the arm are concrete.
    """
    flags = theory_flags(theory)
    require_x64()
    return known_form(arm, theory).beams, flags


class WaveNumbers(NamedTuple):
    """Wave numbers of one member at one frequency; dimensionless except the last three.

    ``z1`` and ``-beta**2`` are the two characteristic values of bending times L^2 (the paper's eqs 28 and 29); z1 < 0
    above the cut-off. ``alpha = sqrt |z1|``, ``e_a e_b = b2``, ``e_a - e_b = g = b2 (s2 - r2)``, ``e_a + e_b = k``,
    ``sum_rs = b2 (r2 + s2)``; ``mu`` is the axial wave number times L; ``flexural_rigidity = E I/L``, ``axial_rigidity
    = E A/L``, ``mass_term = omega^2 rho A L``.
    """

    b2: Number
    g: Number
    k: Number
    sum_rs: Number
    z1: Number
    alpha: Number
    beta: Number
    e_a: Number
    e_b: Number
    mu: Number
    flexural_rigidity: Number
    axial_rigidity: Number
    mass_term: Number


class MemberConstants(NamedTuple):
    """Frequency-independent quantities for `WaveNumbers`.

    ``b2``, ``mu`` and ``mass`` are those at 1 rad/s; ``difference, total, product`` are s2 - r2, s2 + r2 and s2 r2.
    """

    b2: Number
    difference: Number
    total: Number
    product: Number
    mu: Number
    flexural_rigidity: Number
    axial_rigidity: Number
    mass: Number


def member_formula(
    length: Number,
    modulus: Number,
    area: Number,
    second_moment: Number,
    density: Number,
    shear_modulus: Number,
    shear: Number,
    rotary: Number,
) -> MemberConstants:
    """Return `MemberConstants` from `member_inputs`."""
    length2 = length * length
    stiffness = modulus * second_moment
    mass = density * area
    r2 = rotary * second_moment / (area * length2)
    s2 = shear * stiffness / (shear_modulus * area * length2)
    return MemberConstants(
        b2=mass * length2 * length2 / stiffness,
        difference=s2 - r2,
        total=r2 + s2,
        product=r2 * s2,
        mu=length * sqrt(density / modulus),
        flexural_rigidity=stiffness / length,
        axial_rigidity=modulus * area / length,
        mass=mass * length,
    )


def waves_at(member: MemberConstants, omega: Number) -> WaveNumbers:
    """Return `wave_numbers` of a member with known constants."""
    return WaveNumbers(*evaluate_formula(waves_of_constants, [omega, *member]))


def waves_of_constants(omega: Number, *constants: Number) -> WaveNumbers:
    """Return the characteristic values without cancellation: z2 first, then z1 from their product."""
    member = MemberConstants(*constants)
    omega2 = omega * omega
    b2 = omega2 * member.b2
    g, sum_rs = b2 * member.difference, b2 * member.total
    k = sqrt(g * g + b2 * 4.0)
    beta2 = (sum_rs + k) * 0.5
    z1 = b2 * (1.0 - b2 * member.product) / beta2
    rigidities = member.flexural_rigidity, member.axial_rigidity
    return waves_from(
        b2, g, k, sum_rs, z1, beta2, omega * member.mu, *rigidities, omega2 * member.mass
    )


def waves_from(
    b2: Number, g: Number, k: Number, sum_rs: Number, z1: Number, beta2: Number, *rest: Number
) -> WaveNumbers:
    """Return all wave numbers from the characteristic values; ``rest`` are ``mu`` and the values after it."""
    larger = (k + select(g, g, -g)) * 0.5
    smaller = b2 / larger
    alpha, beta = sqrt(select(z1, z1, -z1)), sqrt(beta2)
    e_a, e_b = select(g, larger, smaller), select(g, smaller, larger)
    return WaveNumbers(b2, g, k, sum_rs, z1, alpha, beta, e_a, e_b, *rest)


def _wave_formula(omega: Number, *values: Number) -> WaveNumbers:
    return waves_of_constants(omega, *member_formula(*values))


def wave_numbers(
    link: BeamArrays, theory: Theory, omega: Array, arithmetic: Arithmetic
) -> WaveNumbers:
    """Return the wave numbers of one link at ``omega`` > 0, in the given arithmetic.

    Parameters
    ----------
    link : BeamArrays
        Values of one link, scalars or arrays that broadcast with ``omega``.

    Notes
    -----
    The paper's eqs 26-30 in dimensionless form, with the sign of its (29) corrected; see docs/theory.md.
    """
    values = [number(v, arithmetic) for v in (omega, *member_inputs(link, theory))]
    return WaveNumbers(*evaluate_formula(_wave_formula, values))


def member_constants(
    link: BeamArrays, theory: Theory, arithmetic: Arithmetic = Arithmetic.float64
) -> MemberConstants:
    """Return the frequency-independent part of `wave_numbers`."""
    values = [number(v, arithmetic) for v in member_inputs(link, theory)]
    return MemberConstants(*evaluate_formula(member_formula, values))


def member_inputs(link: BeamArrays, theory: Theory) -> tuple[Array, ...]:
    """Return the values of the link and the flags of shear and rotary inertia that its wave numbers depend on."""
    known = xp.isfinite(link.shear_modulus_effective)
    density, rotary = link.density, theory.rotary_inertia
    if link.nonstructural_mass is not None:  # it moves with the sections, but does not turn them
        density = density + link.nonstructural_mass / link.area
        rotary = rotary * link.density / density
    return (
        link.length,
        link.youngs_modulus,
        link.area,
        link.second_moment,
        density,
        xp.where(known, link.shear_modulus_effective, 1.0),
        xp.where(known, theory.shear, 0.0),
        rotary,
    )
