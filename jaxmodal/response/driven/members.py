"""Members at a frequency, with real or complex matrices: uniform parts of links, flexible or rigid."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from math import factorial
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, is_positive, nonzero
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.loaded import segments
from jaxmodal.dynamic_stiffness.beams import Theory, WaveNumbers
from jaxmodal.dynamic_stiffness.fields import SERIES_BELOW, SERIES_TERMS
from jaxmodal.dynamic_stiffness.member import Curves, FreeEndMember, free_end_matrices
from jaxmodal.dynamic_stiffness.preload import MemberWaves, member_waves
from jaxmodal.response.driven.ports import Port, PortRow, port_row
from jaxmodal.runtime.namespace import Array, is_complex, is_traced, repeat, take_first, xp
from jaxmodal.statics.beam_arrays import BeamArrays

#: 1/(2j)! and 1/(2j + 1)!, the last terms of the series first
_OVER_FACTORIALS = tuple(
    np.array([1.0 / factorial(2 * j + odd) for j in reversed(range(SERIES_TERMS))])
    for odd in (0, 1)
)


class Cut(NamedTuple):
    """Division of links into members: the link of each, its share of the length, the station at its outer end."""

    links: tuple[int, ...]
    shares: tuple[float, ...]
    ends: tuple[float, ...]


def cut_at(num_links: int, rows: Sequence[PortRow]) -> Cut:
    """Cut every link at the stations that ports read."""
    links: list[int] = []
    shares: list[float] = []
    ends: list[float] = []
    for link in range(num_links):
        stations = {row.station for row in rows if row[:2] == (link, "link")}
        last = 0.0
        for station in sorted((stations | {1.0}) - {0.0}):
            links.append(link)
            shares.append(station - last)
            ends.append(station)
            last = station
    return Cut(tuple(links), tuple(shares), tuple(ends))


def on_segments(row: PortRow, number: Sequence[int]) -> PortRow:
    """Return the row of a port for the segments of an arm under loads; ``number`` has the segments per link."""
    first, count = sum(number[: row.link]), number[row.link]
    if row.place == "tip":
        return row._replace(link=first + count - 1)
    if row.place != "link":
        return row._replace(link=first)
    place = min(int(row.station * count), count - 1)
    return row._replace(link=first + place, station=row.station * count - place)


def segments_of(arm: Arm) -> list[int]:
    """Return the number of segments of each link; more than 1 under loads."""
    return segments(arm.loads, [link.rigid for link in arm.links])


def owners(arm: Arm) -> np.ndarray:
    """Return the link index of each segment."""
    return np.repeat(np.arange(arm.num_links), segments_of(arm))


def rows_on_segments(arm: Arm, found: Sequence[Port]) -> list[PortRow]:
    """Return the rows of ports (not of the base) for the segments of the links."""
    number = segments_of(arm)
    return [on_segments(port_row(each, arm), number) for each in found]


def member_at(beam: BeamArrays, theory: Theory, omega: Array) -> FreeEndMember:
    """Return F, H, R of members at ``omega``; real for real stiffnesses and frequencies.

    Parameters
    ----------
    beam
        Values of members, in shapes that broadcast with ``omega``; stiffnesses may be complex.
    omega
        Angular frequencies, not 0, rad/s; may be complex.

    Notes
    -----
    These are the closed forms of `dynamic_stiffness.member`. They are even in the wave numbers, so that any branch of
    the roots gives the same matrices; with the principal branch every exponential stays below 1. Growing functions are
    divided by their growth, which cancels in H and R.
    """
    found = member_waves(beam, theory, omega, Arithmetic.float64)
    elastic = elastic_member(found, theory.axial)
    if beam.flexible is None:
        return elastic
    rigid, flexible = _rigid(found.waves, beam.length), beam.flexible > 0.0
    return FreeEndMember(*(xp.where(flexible, a, b) for a, b in zip(elastic, rigid, strict=True)))


def elastic_member(found: MemberWaves, gives_along: Any) -> FreeEndMember:
    """Return `member_at` of flexible members from their wave numbers; they are extensible where ``gives_along`` > 0."""
    w, loaded = found.waves, found.shear_share is not None
    decay, c, s = _hyperbolic(w.z1, w.alpha)
    shrunk, co, si = _circular(w.beta)
    curves = Curves(
        x=decay,
        c=c,
        s=s,
        si=si,
        co=co,
        lone_x=decay * shrunk,
        lone_c=c * shrunk,
        lone_s=s * shrunk,
    )
    axial = _axial(w, gives_along)
    elastic = free_end_matrices(w, curves, axial, found.lever, loaded)
    slow = _is_slow(found)
    if is_traced(slow) or not isinstance(w.beta, np.ndarray):
        series = _slow_member(found, slow, axial)
        return FreeEndMember(*(xp.where(slow, a, b) for a, b in zip(series, elastic, strict=True)))
    return _with_slow(elastic, found, np.asarray(slow), axial) if np.any(slow) else elastic


def delta_by_growth(beam: BeamArrays, theory: Theory, omega: Array, delta: Array) -> Array:
    """Return ``delta`` of `member_at`, divided by the growth of bending in slow members, too, where it is not."""
    found = member_waves(beam, theory, omega, Arithmetic.float64)
    decay, shrunk = (
        _hyperbolic(found.waves.z1, found.waves.alpha)[0],
        _circular(found.waves.beta)[0],
    )
    return xp.where(_is_slow(found), decay * shrunk, 1.0) * delta


def phases(beam: BeamArrays, theory: Theory, omega: Array) -> Array:
    """Return the sum of the phases of all waves along members, rad, by size."""
    waves = member_waves(beam, theory, omega, Arithmetic.float64).waves
    return xp.abs(waves.alpha) + xp.abs(waves.beta) + xp.abs(waves.mu)


def _is_slow(found: MemberWaves) -> Any:
    """Return a mask of members whose bending is taken from power series."""
    w, loaded = found.waves, found.shear_share is not None
    slow = xp.abs(w.beta * w.beta) < SERIES_BELOW
    if loaded:  # static axial force makes one or the other large
        slow = slow & (xp.abs(w.z1) < SERIES_BELOW)
    return slow


def _with_slow(
    elastic: FreeEndMember, found: MemberWaves, slow: np.ndarray, axial: Any
) -> FreeEndMember:
    """Return NumPy members in which slow ones are replaced by `_slow_member`; those given stay as they are."""
    shape = np.broadcast_shapes(slow.shape, *(np.shape(x) for x in elastic))
    at = np.broadcast_to(slow, shape)

    def there(x: Any) -> Any:
        alike = isinstance(x, np.ndarray) and x.shape == shape
        return (x if alike else np.broadcast_to(x, shape))[at]

    own, those = jax.tree_util.tree_map(there, (found, axial))
    series = _slow_member(own, np.bool_(True), those)
    made = []
    for quick, exact in zip(elastic, series, strict=True):
        both = np.array(np.broadcast_to(quick, shape))  # fields may share memory with others
        both[at] = exact
        made.append(both)
    return FreeEndMember(*made)


def _slow_member(
    found: MemberWaves, slow: Array, axial: tuple[Any, Any, Any, Any]
) -> FreeEndMember:
    """Return the member from power series of its fundamental solutions (`fields`), accurate as omega tends to 0.

    The closed forms are differences there and lose digits in proportion to the smallness of the squared wave number.
    """
    w, length, share = found
    z1, z2 = xp.where(slow, w.z1, 0.0), xp.where(slow, -(w.beta * w.beta), 0.0)
    c, s, co, si, d_c, d_s = _series(z1, z2)
    b2, g, k = w.b2, w.g, w.k
    of_shear = 0.5 * (w.sum_rs + g) if share is None else share  # b2 s2
    p_a, p_b = w.e_a / k, w.e_b / k
    mixed_c, mixed_s = p_b * c + p_a * co, p_b * s + p_a * si
    other_c, other_s = p_a * c + p_b * co, p_a * s + p_b * si
    turning = (z1 * s - z2 * si) / k
    bent = w.e_a * w.e_a * d_s + g * si - of_shear * other_s
    given = d_s - of_shear / b2 * mixed_s
    det = nonzero(mixed_c * other_c - b2 * d_s * turning)
    by_det = 1.0 / det
    # moment and negative shear force at the inner end that keep the outer end free of load, for unit v and psi there
    m_v = b2 * (mixed_s * turning - mixed_c * d_c) * by_det
    n_v = b2 * (b2 * d_s * d_c - other_c * mixed_s) * by_det
    m_p = (b2 * d_c * turning - mixed_c * bent) * by_det
    n_p = b2 * (d_s * bent - other_c * d_c) * by_det
    rigidity = w.flexural_rigidity  # E I/L
    f_uu, h_uu, r_uu, delta_axial = axial
    return FreeEndMember(
        f_uu=f_uu,
        f_vv=n_v * rigidity / (length * length),
        f_vp=n_p * rigidity / length,
        f_pp=-m_p * rigidity,
        h_uu=h_uu,
        h_vv=mixed_c + d_c * m_v + given * n_v,
        h_vp=(turning + d_c * m_p + given * n_p) * length,
        h_pv=(b2 * d_s + other_s * m_v + d_c * n_v) / length,
        h_pp=other_c + other_s * m_p + d_c * n_p,
        r_uu=r_uu,
        r_vv=(d_c * turning - given * other_c) * by_det * length * length / rigidity,
        r_vp=(d_c * mixed_c - given * b2 * d_s) * by_det * length / rigidity,
        r_pp=(other_s * mixed_c - b2 * d_s * d_c) * by_det / rigidity,
        det_r_flex=0.0 * det,  # for counts, which are not used here
        delta=(det * k * k / b2 if share is None else 4.0 * det) * delta_axial,
    )


def _series(z1: Array, z2: Array) -> list[Array]:
    """Return ``C, S`` of z1 and of z2 (without growth) and their divided differences, for |z| <= 1.

    By Horner's scheme: the sums so far at z2 are the coefficients of the divided difference, which gives ``C`` and
    ``S`` of z1.
    """

    def with_term(j: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        co, si, d_c, d_s = state
        even, odd = (take_first(x, j) for x in _OVER_FACTORIALS)
        return co * z2 + even, si * z2 + odd, d_c * z1 + co, d_s * z1 + si

    one, zero = xp.ones_like(z1), xp.zeros_like(z1)
    start = (*(float(x[0]) * one for x in _OVER_FACTORIALS), zero, zero)
    # a loop also in compiled programs: the derivative of a damped response then compiles in a sixth of the time
    co, si, d_c, d_s = repeat(1, SERIES_TERMS, with_term, start, not is_traced(z1, z2))
    between = z1 - z2
    return [co + between * d_c, si + between * d_s, co, si, d_c, d_s]


def _hyperbolic(z: Array, alpha: Array) -> tuple[Array, Array, Array]:
    """Return ``1/growth, cosh(r)/growth, sinh(r)/(r growth)`` with ``r = sqrt z`` and ``growth = exp(Re r)``.

    ``alpha`` is the root of z or, where z is not positive (`is_positive`), of -z, as in `beams.waves_from`.
    """
    if is_complex(z):
        right, below = is_positive(z), alpha.imag > 0.0
        growing, turning = alpha.real, alpha.imag
        if not (isinstance(right, np.ndarray) and right.all()):
            # not abs: where the imaginary part is 0 both parts have the derivative of one side
            aside = xp.where(below, turning, -turning), xp.where(below, -growing, growing)
            growing, turning = (
                xp.where(right, x, y) for x, y in zip((growing, turning), aside, strict=True)
            )
        small = -0.5 * xp.expm1(-2.0 * growing)
        large = 1.0 - small
        cosine, sine = xp.cos(turning), xp.sin(turning)
        return (
            xp.exp(-growing),
            large * cosine + 1j * (small * sine),
            (small * cosine + 1j * (large * sine)) / nonzero(growing + 1j * turning),
        )
    grows = is_positive(z)
    root = nonzero(alpha)
    if isinstance(grows, np.ndarray) and grows.all():
        small = -0.5 * xp.expm1(-2.0 * root)
        return xp.exp(-root), 1.0 - small, small / root
    growing = xp.where(grows, root, 0.0)
    small = -0.5 * xp.expm1(-2.0 * growing)
    return (
        xp.exp(-growing),
        xp.where(grows, 1.0 - small, xp.cos(root)),
        xp.where(grows, small, xp.sin(root)) / root,
    )


def _circular(beta: Array) -> tuple[Any, Array, Array]:
    """Return ``1/growth, cos(beta)/growth, sin(beta)/growth`` with ``growth = exp(|Im beta|)``."""
    if not is_complex(beta):
        return 1.0, xp.cos(beta), xp.sin(beta)
    turning, below = beta.real, beta.imag > 0.0
    growing = xp.where(below, beta.imag, -beta.imag)
    small = -0.5 * xp.expm1(-2.0 * growing)
    large, rising = 1.0 - small, xp.where(below, small, -small)
    cosine, sine = xp.cos(turning), xp.sin(turning)
    return (
        xp.exp(-growing),
        large * cosine - 1j * (rising * sine),
        large * sine + 1j * (rising * cosine),
    )


def _axial(w: WaveNumbers, gives_along: Any) -> tuple[Any, Any, Any, Any]:
    """Return F, H, R and determinant factor of axial motion; of a rigid translation for a theory without it."""
    mu = nonzero(w.mu)
    decay, cosine, sine = _circular(mu)
    cosine = nonzero(cosine)
    tangent = sine / cosine
    elastic, one = gives_along > 0.0, xp.ones_like(cosine)
    found = (
        -(w.axial_rigidity * mu * tangent),
        decay / cosine,
        tangent / (mu * w.axial_rigidity),
        cosine,
    )
    if isinstance(elastic, np.ndarray | np.bool_) and elastic.all():
        return found
    rigid = -w.mass_term, one, 0.0, one
    return tuple(xp.where(elastic, x, y) for x, y in zip(found, rigid, strict=True))


def _rigid(w: WaveNumbers, length: Array) -> FreeEndMember:
    """Return the matrices of a rigid link, with zero receptance."""
    mass = w.mass_term
    rotary = 0.5 * (w.sum_rs - w.g) * w.flexural_rigidity
    one = xp.ones_like(mass)
    zero = 0.0 * one
    return FreeEndMember(
        f_uu=-mass,
        f_vv=-mass,
        f_vp=-0.5 * mass * length,
        f_pp=-(mass * length * length / 3.0 + rotary),
        h_uu=one,
        h_vv=one,
        h_vp=one * length,
        h_pv=zero,
        h_pp=one,
        r_uu=zero,
        r_vv=zero,
        r_vp=zero,
        r_pp=zero,
        det_r_flex=zero,
        delta=4.0 * one,
    )


def members_of(
    beam: BeamArrays, theory: Theory, omega: Array, shares: Sequence[float]
) -> FreeEndMember:
    """Return the matrices of the parts of one link, each of shape (parts, ...), from their shares of its length."""
    at = np.array(shares).reshape((-1,) + (1,) * np.ndim(beam.length))
    return member_at(dataclasses.replace(beam, length=beam.length * at), theory, omega)


def members_of_links(beams: BeamArrays, theory: Theory, omega: Array, cut: Cut) -> FreeEndMember:
    """Return the matrices of the parts of all links, each of shape (parts, ...); ``beams`` have an axis of links."""
    owner, shares = np.array(cut.links), np.array(cut.shares)
    pieces = jax.tree_util.tree_map(lambda x: x[owner], beams)
    length = pieces.length * shares.reshape((-1,) + (1,) * (pieces.length.ndim - 1))
    return member_at(dataclasses.replace(pieces, length=length), theory, omega)
