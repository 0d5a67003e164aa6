"""One member with its outer end free: its matrices for end motions, and the count of its own frequencies.

With ``d0, d1 = (u, v, psi)`` at the inner and the outer end and W the dynamic stiffness attached to the outer end, a
member is described by ``F`` (force at the inner end per d0, outer end free), ``H`` (d1 per d0, outer end free), and
``R`` (receptance of the outer end, inner end clamped). Unlike the stiffness between two clamped ends, these are not
differences of large numbers at low frequency. The closed forms hold for every theory and on both sides of the cut-off.
"""

from __future__ import annotations

from typing import NamedTuple

from jaxmodal.arithmetic.operations import (
    Number,
    functions_of,
    keep,
    keep_all,
    leading,
    nonzero,
    select,
)
from jaxmodal.dynamic_stiffness.beams import WaveNumbers
from jaxmodal.runtime.namespace import Array, xp

#: below this z1 > 0 the hyperbolic sine is taken from its series
_SERIES_LIMIT = 0.25


class MemberFunctions(NamedTuple):
    """Circular and hyperbolic functions of the wave numbers; the halved arguments are also used for the count."""

    decay: Number  # exp(-alpha)
    sinh_series: Number  # sinh(alpha)/alpha for small alpha
    sin_half_alpha: Number
    cos_half_alpha: Number
    sin_half_beta: Number
    cos_half_beta: Number
    sin_half_mu: Number
    cos_half_mu: Number


class FunctionTurns(NamedTuple):
    """Whole multiples of pi in alpha, beta and mu, float64, from the range reductions of the functions."""

    alpha: Array
    beta: Array
    mu: Array


def member_functions(w: WaveNumbers) -> tuple[MemberFunctions, FunctionTurns]:
    """Evaluate all transcendental functions of one member."""
    halves = w.alpha * 0.5, w.beta * 0.5, w.mu * 0.5
    (a, b, m), decay, ratio = functions_of(halves, w.alpha, w.z1)
    functions = MemberFunctions(decay, ratio, a[0], a[1], b[0], b[1], m[0], m[1])
    return keep_all(functions), FunctionTurns(a[2], b[2], m[2])


class FreeEndMember(NamedTuple):
    """Matrices F, H, R of one member in SI units (u and (v, psi) do not couple) and its determinant factor."""

    f_uu: Number
    f_vv: Number
    f_vp: Number
    f_pp: Number
    h_uu: Number
    h_vv: Number
    h_vp: Number
    h_pv: Number
    h_pp: Number
    r_uu: Number
    r_vv: Number
    r_vp: Number
    r_pp: Number
    det_r_flex: Number
    #: zero at the clamped-free frequencies, bending times axial; positive as omega -> 0
    delta: Number


class SymmetryTests(NamedTuple):
    """Numbers whose signs, with the turns, determine the count of clamped-clamped bending frequencies."""

    z1: Number
    half_c: Number
    half_s: Number
    sin_half: Number
    cos_half: Number
    first: Number
    second: Number


class Curves(NamedTuple):
    """Circular and hyperbolic functions of a whole member, ``C = cosh(alpha)`` and ``S = sinh(alpha)/alpha``, scaled.

    ``c, s`` are divided by exp(growth of alpha), ``si = sin(beta)`` and ``co = cos(beta)`` by exp(growth of beta),
    which is 0 for real beta. Terms without a function of beta use ``lone_c`` and ``lone_s``, divided by both. Terms
    without a function of alpha use ``x`` in place of 1, and terms with neither ``lone_x``.
    """

    x: Number
    c: Number
    s: Number
    si: Number
    co: Number
    lone_x: Number
    lone_c: Number
    lone_s: Number


def free_end_matrices(
    w: WaveNumbers,
    curves: Curves,
    axial: tuple[Number, Number, Number, Number],
    length: Number,
    loaded: bool,
) -> FreeEndMember:
    """Return F, H, R and determinant factor from the functions by arithmetic; ``axial`` are those of axial motion.

    For a ``loaded`` member (see `preload`), everything is divided by b2 times delta instead, which stays finite where
    inertia vanishes relative to the axial force. The determinant factor is then that, in units of (k/2)^2, and
    ``length`` is the lever of the member.
    """
    b2, k, g, z1, beta = w.b2, w.k, w.g, w.z1, w.beta
    x, c, s, si, co, lone_x, lone_c, lone_s = curves
    k_b = w.e_b / beta
    cc, ss = c * co, s * si
    if loaded:
        full = nonzero(cc * (g * g + b2 * 2.0) + (lone_x * 2.0 - w.sum_rs * ss / beta) * b2)
        by_b2 = 1.0 / full
        by_beta = by_b2 * b2 / beta
        delta = full * 4.0 / (k * k)
    else:
        delta = nonzero(cc * (g * g / b2 + 2.0) + lone_x * 2.0 - w.sum_rs * ss / beta)
        by_delta = 1.0 / delta
        by_b2, by_beta = by_delta / b2, by_delta / beta
    twice = by_b2 * beta / b2
    compliance = length / w.flexural_rigidity  # L^2/(E I)
    f_uu, h_uu, r_uu, delta_axial = axial
    return FreeEndMember(
        f_uu=f_uu,
        f_vv=-k
        * (c * w.e_a * si + s * beta * w.e_b * co)
        * by_beta
        * w.flexural_rigidity
        / (length * length),
        f_vp=-(beta * g * (lone_x - cc) + ss * (z1 * w.e_a + beta * beta * w.e_b))
        * by_beta
        * w.flexural_rigidity
        / length,
        f_pp=-k * (c * beta * w.e_b * si - s * z1 * w.e_a * co) * by_b2 * w.flexural_rigidity,
        h_uu=h_uu,
        h_vv=k * (lone_c * w.e_a + x * w.e_b * co) * by_b2,
        h_vp=k * (lone_s * z1 + x * beta * si) * by_b2 * length,
        h_pv=k * (lone_s * beta - x * si) * by_beta / length,
        h_pp=k * (lone_c * w.e_b + x * w.e_a * co) * by_b2,
        r_uu=r_uu,
        r_vv=k * (c * w.e_a * si - s * z1 * k_b * co) * twice * length * compliance,
        r_vp=(g * (cc - lone_x) + ss * (z1 * k_b + beta * w.e_a)) * by_b2 * compliance,
        r_pp=k * (c * k_b * si + s * w.e_a * co) * by_b2 / w.flexural_rigidity,
        det_r_flex=((lone_x - cc) * b2 / beta * 2.0 + (w.e_a * w.e_a - z1 * k_b * k_b) * ss)
        * twice
        * compliance
        * compliance,
        delta=delta * delta_axial,
    )


def free_end_member(
    w: WaveNumbers, f: MemberFunctions, length: Number, axial: Number, loaded: bool = False
) -> tuple[FreeEndMember, SymmetryTests]:
    """Return F, H, R and determinant factor of one member, and the tests of its count, by arithmetic.

    Parameters
    ----------
    length : Number
        Length in m; for a loaded member its lever.
    axial : Number
        1 for a theory with axial motion; 0 for a link that moves rigidly along its axis.
    loaded : bool
        True if the member is under an axial force, and ``w`` are from `preload.member_waves`.

    Notes
    -----
    Derived from the field equations and end conditions of the paper (eqs 4-6, 16-21); these forms,
    which stay accurate at low frequency and beyond the cut-off, are given in docs/theory.md.
    """
    z1, beta = w.z1, w.beta
    above = -z1
    half_decay = (f.decay + 1.0) * 0.5
    s_hyp = select(
        z1 - _SERIES_LIMIT,
        (1.0 - f.decay * f.decay) * 0.5 / nonzero(w.alpha),
        f.decay * f.sinh_series,
    )
    half_c = select(above, f.cos_half_alpha, half_decay)
    half_s = select(above, f.sin_half_alpha / nonzero(w.alpha), s_hyp / (half_decay * 2.0))
    x = select(above, f.decay * 0.0 + 1.0, f.decay)
    c = select(
        above, 1.0 - f.sin_half_alpha * f.sin_half_alpha * 2.0, (f.decay * f.decay + 1.0) * 0.5
    )
    x, c, s = keep(x), keep(c), keep(half_s * half_c * 2.0)
    si = keep(f.sin_half_beta * f.cos_half_beta * 2.0)
    co = keep(1.0 - f.sin_half_beta * f.sin_half_beta * 2.0)
    curves = Curves(x, c, s, si, co, x, c, s)
    member = free_end_matrices(w, curves, _axial(w, f, axial), length, loaded)
    tests = SymmetryTests(
        z1=z1,
        half_c=half_c,
        half_s=half_s,
        sin_half=f.sin_half_beta,
        cos_half=f.cos_half_beta,
        first=beta * w.e_a * half_s * f.cos_half_beta + w.e_b * f.sin_half_beta * half_c,
        second=beta * w.e_a * half_c * f.sin_half_beta - w.e_b * f.cos_half_beta * z1 * half_s,
    )
    return keep_all(member), tests


def _axial(
    w: WaveNumbers, f: MemberFunctions, axial: Number
) -> tuple[Number, Number, Number, Number]:
    """Return axial F, H, R and determinant factor."""
    sine = f.sin_half_mu * f.cos_half_mu * 2.0
    cosine = nonzero(1.0 - f.sin_half_mu * f.sin_half_mu * 2.0)
    tangent = sine / cosine
    one = axial * 0.0 + 1.0
    return (
        select(axial, -(w.axial_rigidity * w.mu * tangent), -w.mass_term),
        select(axial, 1.0 / cosine, one),
        select(axial, tangent / (w.mu * w.axial_rigidity), axial),
        select(axial, cosine, one),
    )


def clamped_count(tests: SymmetryTests, turns: FunctionTurns, axial: Array) -> Array:
    """Return the number of clamped-clamped frequencies of one member below omega, bending and axial, as float64.

    It is the number of simply supported bending frequencies, minus one for each of two end-stiffness tests (symmetric
    and antisymmetric motion): W. H. Wittrick and F. W. Williams, Q. J. Mech. Appl. Math. 24 (1971) 263-284, here in a
    form valid on both sides of the cut-off.
    """
    n = SymmetryTests(*(leading(x) < 0.0 for x in tests))
    supported = turns.beta + xp.where(n.z1, turns.alpha + 1.0, 0.0)
    first = n.first ^ n.cos_half ^ n.half_c
    second = n.second ^ n.z1 ^ n.half_s ^ n.sin_half
    flexural = supported - first.astype(supported.dtype) - second.astype(supported.dtype)
    return xp.where(supported == 0.0, 0.0, flexural) + xp.where(axial > 0.0, turns.mu, 0.0)
