"""Fields inside one link: exact solutions of the beam equations at any station, and their end values.

The motion of a link at one frequency has six constants, four of bending and two of axial motion. The bending solutions
are selected by the wave numbers so that they are never nearly dependent in float64. At low frequency they are the four
responses to unit values at the inner end (a translation, a rotation, a moment and a shear force), in power series.
Otherwise they are two circular ones, with two exponentials that each decay from one end or, near the cut-off and beyond
it, with ``cos`` and ``sin/alpha``. All are smooth in the parameters of the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import Theory, WaveNumbers
from jaxmodal.dynamic_stiffness.preload import member_waves
from jaxmodal.runtime.namespace import Array, tree_on_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: the order of the fields in the arrays of this module: displacements, then section forces
FIELDS = ("u", "v", "psi", "normal", "shear", "moment")
#: wave numbers (squared) below this are served by power series; ten terms leave less than 1e-18
SERIES_BELOW = 1.0
SERIES_TERMS = 10


class _Bending(NamedTuple):
    """v, psi L, shear L^3/(E I) and moment L^2/(E I) of one bending solution at the stations."""

    v: Array
    psi: Array
    shear: Array
    moment: Array


def link_fields(link: BeamArrays, theory: Theory, omega: Array, xi: Array) -> Array:
    """Return the six fields of one link for a unit value of each of its six constants.

    Parameters
    ----------
    omega : Array
        Angular frequency > 0 in rad/s, scalar.

    Returns
    -------
    Array, shape (s, 6, 6)
        Station, field (u, v, psi, N, V, M_b; SI units; V = kappa G A (v' - psi), M_b = E I psi', N = E A u'), constant.

    Notes
    -----
    These are the paper's eqs 26-38 with the solutions regrouped. The shear force is the antiderivative of the inertia
    force, which also holds for theories without shear deformation. Under an axial force N it is the transverse force,
    which includes N v'.
    """
    waves, lever, share = member_waves(link, theory, omega, Arithmetic.float64)
    return plane_fields(waves, theory, lever, link.flexible, xi, share)


def fields_of_links(beams: BeamArrays, theory: Theory, omega: Array, xi: Array) -> Array:
    """Return `link_fields` of each of n links, shape (n, s, 6, 6); on the host for all links at once.

    On the host ``omega`` may have the shape (..., 1, 1); the result then has shape (..., n, s, 6, 6).
    """
    if not tree_on_host(beams, theory, omega, xi):
        of_links: Array = jax.vmap(link_fields, (0, None, None, None))(beams, theory, omega, xi)
        return of_links
    columns = jax.tree_util.tree_map(lambda x: x[:, None], beams)
    waves, lever, share = member_waves(columns, theory, omega, Arithmetic.float64)
    return plane_fields(waves, theory, lever, columns.flexible, xi, share)


def plane_fields(
    w: WaveNumbers,
    theory: Theory,
    length: Array,
    flexible: Array | None,
    xi: Array,
    shear_share: Array | None = None,
) -> Array:
    """Return `link_fields` of a link from its wave numbers; ``flexible`` is 1, 0 for a rigid link, or None.

    Values of shape (links, 1) give (links, s, 6, 6). Under an axial force, ``length`` is the lever of the link and
    ``shear_share`` is given; see `preload.MemberWaves`.
    """
    bending, axial = _solutions(w, theory, length, flexible, xi, shear_share)
    return _by_constants(bending, axial)


def _by_constants(bending: Sequence[_Bending], axial: Sequence[tuple[Array, Array]]) -> Array:
    """Return the values of the six fields for each constant from those of each solution: shape (..., 6, 6)."""
    v, psi, shear, moment = (xp.stack(rows, axis=-1) for rows in zip(*bending, strict=True))
    u, normal = (xp.stack(rows, axis=-1) for rows in zip(*axial, strict=True))
    no4, no2 = xp.zeros_like(v), xp.zeros_like(u)
    rows = ((no4, u), (v, no2), (psi, no2), (no4, normal), (shear, no2), (moment, no2))
    return xp.stack([xp.concatenate(row, axis=-1) for row in rows], axis=-2)


def link_motion(
    link: BeamArrays, theory: Theory, omega: Array, xi: Array, constants: Array
) -> Array:
    """Return the six fields of one link for given constants, shape (6, s): the weighted sum of `link_fields`."""
    waves, lever, share = member_waves(link, theory, omega, Arithmetic.float64)
    bending, axial = _solutions(waves, theory, lever, link.flexible, xi, share)

    def total(solutions: Sequence[tuple[Array, ...]], constants: Array) -> list[Array]:
        return [
            sum((c * f for c, f in zip(constants, rows, strict=True)), start=xp.zeros_like(xi))
            for rows in zip(*solutions, strict=True)
        ]

    v, psi, shear, moment = total(bending, constants[:4])
    u, normal = total(axial, constants[4:])
    return xp.stack([u, v, psi, normal, shear, moment])


def field_sizes(link: BeamArrays, theory: Theory, omega: Array, xi: Array) -> Array:
    """Return the largest absolute value over the stations of each field for each constant: shape (6, 6)."""
    waves, lever, share = member_waves(link, theory, omega, Arithmetic.float64)
    bending, axial = _solutions(waves, theory, lever, link.flexible, xi, share)
    return _by_constants(
        [_Bending(*(xp.max(xp.abs(x)) for x in b)) for b in bending],
        [(xp.max(xp.abs(u)), xp.max(xp.abs(normal))) for u, normal in axial],
    )


def _solutions(
    w: WaveNumbers,
    theory: Theory,
    length: Array,
    flexible: Array | None,
    xi: Array,
    shear_share: Array | None,
) -> tuple[list[_Bending], list[tuple[Array, Array]]]:
    """Return the four bending solutions (v, psi, V, M_b) and the two axial ones (u, N) at the stations, in SI units."""
    z2 = -w.beta * w.beta
    small, evanescent = w.beta * w.beta < SERIES_BELOW, w.z1 >= SERIES_BELOW
    if shear_share is None:
        shear_share = 0.5 * (w.sum_rs + w.g)  # b2 s2
    else:
        small = small & (w.z1 < SERIES_BELOW)
    si, co = xp.sin(w.beta * xi), xp.cos(w.beta * xi)
    s_beta = si / w.beta
    series = _power_series(
        xp.where(xp.abs(w.z1) < SERIES_BELOW, w.z1, 0.0), xp.where(small, z2, 0.0), xi
    )
    c, s = _cosine_pair(w.z1, xi, series)
    first, second = _exponential_pair(w, xi)
    from_c, from_s = _cosine_solutions(w, c, s)
    start = _unit_start_solutions(w, series, shear_share)
    general = (
        _choose(evanescent, first, from_c),
        _choose(evanescent, second, from_s),
        _Bending(co, -w.e_b * s_beta, -w.b2 * s_beta, -w.e_b * co),
        _Bending(-z2 / w.e_b * s_beta, co, w.e_a * co, z2 * s_beta),
    )
    bending = [_choose(small, a, b) for a, b in zip(start, general, strict=True)]
    axial = _axial(w, theory, xi)
    if flexible is not None:
        rotary = 0.5 * (w.sum_rs - w.g)  # omega^2 rho I L^2/(E I)
        bends, one = flexible > 0.0, xp.ones_like(xi)
        bar = _rigid_solutions(w.b2, rotary, xi)
        bending = [_choose(bends, a, b) for a, b in zip(bending, bar, strict=True)]
        still = [(one, -w.mass_term * xi), (0.0 * one, one)]
        axial = [
            (xp.where(bends, u, a), xp.where(bends, normal, b))
            for (u, normal), (a, b) in zip(axial, still, strict=True)
        ]
    rigidity = w.flexural_rigidity
    scaled = [
        _Bending(
            b.v, b.psi / length, b.shear * (rigidity / length**2), b.moment * (rigidity / length)
        )
        for b in bending
    ]
    return scaled, axial


def _choose(condition: Array, a: _Bending, b: _Bending) -> _Bending:
    return _Bending(*(xp.where(condition, x, y) for x, y in zip(a, b, strict=True)))


_EVEN = np.array([1.0 / factorial(2 * j) for j in range(SERIES_TERMS)])
_ODD = np.array([1.0 / factorial(2 * j + 1) for j in range(SERIES_TERMS)])


class _Series(NamedTuple):
    """``C, S`` (`_cosine_pair`) of z1 and of z2, and their divided differences, by power series."""

    c: Array
    s: Array
    co: Array
    si: Array
    d_c: Array
    d_s: Array


def _power_series(z1: Array, z2: Array, xi: Array) -> _Series:
    """Return the series for |z1|, |z2| <= 1.

    Differences over ``z1 - z2`` are taken term by term, without cancellation.
    """
    z1, z2 = (xp.reshape(z, np.shape(z) or (1,)) for z in (z1, z2))
    even, odd = (x.reshape(-1, *[1] * z1.ndim) for x in (_EVEN, _ODD))
    first, second, symmetric = [xp.ones_like(z1)], [xp.ones_like(z1)], [xp.zeros_like(z1)]
    for _ in range(1, SERIES_TERMS):
        symmetric.append(z1 * symmetric[-1] + second[-1])
        first.append(first[-1] * z1)
        second.append(second[-1] * z2)
    one, two, both = (xp.stack(x) for x in (first, second, symmetric))
    coefficients = xp.stack(
        [one * even, one * odd, two * even, two * odd, both * even, both * odd], axis=1
    )
    square = xp.reshape(xi * xi, (*[1] * z1.ndim, -1))
    total = np.zeros((6, *z1.shape[:-1], xi.shape[0]))
    for j in reversed(range(SERIES_TERMS)):
        total = total * square + coefficients[j]
    c, s, co, si, d_c, d_s = total
    return _Series(c, s * xi, co, si * xi, d_c, d_s * xi)


def _cosine_pair(z1: Array, xi: Array, series: _Series) -> tuple[Array, Array]:
    """Return ``C = cosh(sqrt(z1) xi)`` and ``S = sinh(sqrt(z1) xi)/sqrt z1`` for z1 < 1, circular where z1 < 0."""
    circular = z1 <= -SERIES_BELOW
    alpha = xp.sqrt(xp.where(circular, -z1, 1.0))
    si, co = xp.sin(alpha * xi), xp.cos(alpha * xi)
    return xp.where(circular, co, series.c), xp.where(circular, si / alpha, series.s)


def _cosine_solutions(w: WaveNumbers, c: Array, s: Array) -> tuple[_Bending, _Bending]:
    return (
        _Bending(c, w.e_a * s, -w.b2 * s, w.e_a * c),
        _Bending(w.z1 / w.e_a * s, c, -w.e_b * c, w.z1 * s),
    )


def _exponential_pair(w: WaveNumbers, xi: Array) -> tuple[_Bending, _Bending]:
    """Return solutions that decay from the inner and from the outer end."""
    alpha = xp.sqrt(xp.where(w.z1 >= SERIES_BELOW, w.z1, 1.0))
    pair = []
    for sign, distance in ((-1.0, xi), (1.0, 1.0 - xi)):
        decay = xp.exp(-alpha * distance)
        pair.append(
            _Bending(
                decay,
                sign * w.e_a / alpha * decay,
                -sign * w.b2 / alpha * decay,
                w.e_a * decay,
            )
        )
    return pair[0], pair[1]


def _unit_start_solutions(
    w: WaveNumbers, series: _Series, shear_share: Array
) -> tuple[_Bending, ...]:
    """Return solutions of unit translation, rotation, moment and (negative) shear force at the inner end."""
    c, s, co, si, d_c, d_s = series
    z1, z2 = w.z1, -w.beta * w.beta
    p_a, p_b = w.e_a / w.k, w.e_b / w.k
    mixed_c, mixed_s = p_b * c + p_a * co, p_b * s + p_a * si
    other_c, other_s = p_a * c + p_b * co, p_a * s + p_b * si
    turning = (z1 * s - z2 * si) / w.k
    return (
        _Bending(mixed_c, w.b2 * d_s, -w.b2 * mixed_s, w.b2 * d_c),
        _Bending(
            turning,
            other_c,
            -w.b2 * d_c,
            w.e_a * w.e_a * d_s + w.g * si - shear_share * other_s,
        ),
        _Bending(d_c, other_s, -w.b2 * d_s, other_c),
        _Bending(d_s - shear_share / w.b2 * mixed_s, d_c, -mixed_c, turning),
    )


def _rigid_solutions(b2: Array, rotary: Array, xi: Array) -> tuple[_Bending, ...]:
    """Return solutions of a rigid link: translation, rotation, shear and moment at the inner end."""
    one, zero = xp.ones_like(xi), xp.zeros_like(xi)
    square, cube = 0.5 * xi * xi, xi * xi * xi / 6.0
    return (
        _Bending(one, zero, -b2 * xi, b2 * square),
        _Bending(xi, one, -b2 * square, b2 * cube - rotary * xi),
        _Bending(zero, zero, one, -xi),
        _Bending(zero, zero, zero, one),
    )


def _axial(w: WaveNumbers, theory: Theory, xi: Array) -> list[tuple[Array, Array]]:
    """Return u and N of the two axial constants; of translation and outer force where links are axially rigid."""
    elastic = theory.axial > 0.0
    stiffness = w.axial_rigidity * w.mu
    one, zero = xp.ones_like(xi), xp.zeros_like(xi)
    cosine, sine = xp.cos(w.mu * xi), xp.sin(w.mu * xi)
    u = (xp.where(elastic, cosine, one), xp.where(elastic, sine, zero))
    normal = (
        xp.where(elastic, -stiffness * sine, w.mass_term * (1.0 - xi)),
        xp.where(elastic, stiffness * cosine, one),
    )
    return list(zip(u, normal, strict=True))
