"""One member under a constant axial force: the wave numbers, in which the force is a negative rotary inertia.

The force N (tension positive) adds ``N w'^2/2`` per length to the strain energy, w' the slope of the deflected axis
(F. Engesser's choice: N acts along the tangent of the axis; J. A. Haringx lets it act across the turned section). The
transverse force is then ``Q = kappa G A (w' - psi) + N w'``, and with ``n = N L^2/(E I)``, ``h = 1/(1 + n s2)`` the
field equations in w, ``h psi L``, ``h M`` and ``h^2 Q`` are those of a member without force whose numbers are

    b2 h^2 for b2,    b2 r2 - n h for b2 r2,    b2 s2 h for b2 s2.

So all closed forms of `member` and `fields` hold, with the length L h in place of L wherever one of w, psi, M, Q is
converted into another. The cut-off does not change, and the forms hold for both signs of N on both sides of it.
"""

from __future__ import annotations

from typing import NamedTuple

from jaxmodal.arithmetic.operations import (
    Arithmetic,
    Number,
    evaluate_formula,
    number,
    select,
    sqrt,
)
from jaxmodal.dynamic_stiffness.beams import (
    Theory,
    WaveNumbers,
    member_inputs,
    wave_numbers,
    waves_from,
)
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import flexibility


class MemberWaves(NamedTuple):
    """Wave numbers of a member, the length that converts its quantities into each other, and its share of shear.

    Without an axial force, ``lever`` is the length and ``shear_share`` (the number in place of b2 s2) is None.
    """

    waves: WaveNumbers
    lever: Number
    shear_share: Number | None


def member_waves(
    link: BeamArrays, theory: Theory, omega: Array, arithmetic: Arithmetic
) -> MemberWaves:
    """Return the wave numbers of one link, under its axial force if it has one.

    Arguments are those of `beams.wave_numbers`.
    """
    if link.axial_force is None:
        return MemberWaves(wave_numbers(link, theory, omega, arithmetic), link.length, None)
    *values, shear, rotary = member_inputs(link, theory)
    inputs = [*values, omega, shear * flexibility(link), rotary, link.axial_force]
    found = evaluate_formula(loaded_waves, [number(x, arithmetic) for x in inputs])
    return MemberWaves(WaveNumbers(*found[:-2]), *found[-2:])


def loaded_waves(
    length: Number,
    modulus: Number,
    area: Number,
    second_moment: Number,
    density: Number,
    shear_modulus: Number,
    omega: Number,
    shear: Number,
    rotary: Number,
    force: Number,
) -> list[Number]:
    """Return `beams._wave_formula` under an axial force, without cancellation where inertia vanishes relative to it.

    The force may have either sign.
    """
    length2 = length * length
    stiffness = modulus * second_moment
    mass_term = omega * omega * density * area
    b2 = mass_term * length2 * length2 / stiffness
    r2 = rotary * second_moment / (area * length2)
    s2 = shear * stiffness / (shear_modulus * area * length2)
    tension = force * length2 / stiffness
    h = 1.0 / (tension * s2 + 1.0)
    turning, sheared, loaded = b2 * r2 - tension * h, b2 * s2 * h, b2 * h * h
    g, total = sheared - turning, sheared + turning
    k = sqrt(g * g + loaded * 4.0)
    # z1 and beta^2: their difference is the total, their product known
    larger = (k + select(total, total, -total)) * 0.5
    smaller = b2 * h * (1.0 - b2 * r2 * s2) / larger
    z1 = select(total, smaller, larger)
    beta2, mu = select(total, larger, smaller), length * omega * sqrt(density / modulus)
    rigidities = stiffness / length, modulus * area / length
    waves = waves_from(loaded, g, k, total, z1, beta2, mu, *rigidities, mass_term * length)
    return [*waves, length * h, sheared]


def slope_law(beams: BeamArrays, theory: Theory) -> tuple[Array, Array]:
    """Return ``h`` and ``1/(kappa G A)`` of ``w' = h (psi + Q/(kappa G A))``.

    The latter is 0 for a rigid link and for a theory without shear.
    """
    bends = theory.shear * flexibility(beams)
    known = xp.isfinite(beams.shear_modulus_effective)
    rigidity = xp.where(known, beams.shear_modulus_effective, 1.0) * beams.area
    give = xp.where(known, bends, 0.0) / rigidity
    return 1.0 / (1.0 + beams.axial_force * give), give
