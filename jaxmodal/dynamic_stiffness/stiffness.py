"""Dynamic stiffness over (u, v, psi) passed through a member, a torsional spring and a rotation of axes.

Plain arithmetic on named 3 x 3 entries, for float64 arrays, double-doubles and recorded expressions.
"""

from __future__ import annotations

from typing import NamedTuple

from jaxmodal.arithmetic.operations import (
    Number,
    absolute,
    keep,
    keep_all,
    leading,
    nonzero,
    rounds_to_float64,
    select,
)
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.runtime.namespace import Array, xp

#: functions of small wave numbers lose digits by the square of these: of no less than this
_SLOWEST = 1e-6


class Stiffness(NamedTuple):
    """A symmetric 3 x 3 dynamic stiffness over (u, v, psi)."""

    uu: Number
    uv: Number
    up: Number
    vv: Number
    vp: Number
    pp: Number


class Receptance(NamedTuple):
    """Diagonal, minors of order 2 and determinants of the symmetric ``S = R + R W R``.

    ``det_flex`` is the determinant of the (v, psi) block.
    """

    uu: Number
    vv: Number
    pp: Number
    minor_uv: Number
    minor_up: Number
    minor_vp: Number
    det_full: Number
    det_flex: Number


class Matrix(NamedTuple):
    """A general 3 x 3 matrix over (u, v, psi)."""

    uu: Number
    uv: Number
    up: Number
    vu: Number
    vv: Number
    vp: Number
    pu: Number
    pv: Number
    pp: Number


def condensed(m: FreeEndMember, w: Stiffness) -> tuple[Stiffness, Matrix, Matrix, Number, Number]:
    """Return ``P = F + H^T X H`` with ``X = W Q^-1``, and Q, its adjugate, its determinant and the inverse of that.

    ``Q = I + R W``.
    """
    q = keep_all(identity_plus_product(m, w))
    a = adjugate(q)
    det = keep(nonzero(q.uu * a.uu + q.uv * a.vu + q.up * a.pu))
    by_det = 1.0 / det
    x = keep_all(
        Stiffness(
            uu=(w.uu * a.uu + w.uv * a.vu + w.up * a.pu) * by_det,
            uv=(w.uu * a.uv + w.uv * a.vv + w.up * a.pv) * by_det,
            up=(w.uu * a.up + w.uv * a.vp + w.up * a.pp) * by_det,
            vv=(w.uv * a.uv + w.vv * a.vv + w.vp * a.pv) * by_det,
            vp=(w.uv * a.up + w.vv * a.vp + w.vp * a.pp) * by_det,
            pp=(w.up * a.up + w.vp * a.vp + w.pp * a.pp) * by_det,
        )
    )
    y_vv, y_pv = x.vv * m.h_vv + x.vp * m.h_pv, x.vp * m.h_vv + x.pp * m.h_pv
    y_vp, y_pp = x.vv * m.h_vp + x.vp * m.h_pp, x.vp * m.h_vp + x.pp * m.h_pp
    inner = Stiffness(
        uu=m.f_uu + m.h_uu * m.h_uu * x.uu,
        uv=m.h_uu * (x.uv * m.h_vv + x.up * m.h_pv),
        up=m.h_uu * (x.uv * m.h_vp + x.up * m.h_pp),
        vv=m.f_vv + m.h_vv * y_vv + m.h_pv * y_pv,
        vp=m.f_vp + m.h_vv * y_vp + m.h_pv * y_pp,
        pp=m.f_pp + m.h_vp * y_vp + m.h_pp * y_pp,
    )
    return keep_all(inner), q, a, det, by_det


def identity_plus_product(m: FreeEndMember, w: Stiffness) -> Matrix:
    """Return ``Q = I + R W``."""
    return Matrix(
        uu=m.r_uu * w.uu + 1.0,
        uv=m.r_uu * w.uv,
        up=m.r_uu * w.up,
        vu=m.r_vv * w.uv + m.r_vp * w.up,
        vv=m.r_vv * w.vv + m.r_vp * w.vp + 1.0,
        vp=m.r_vv * w.vp + m.r_vp * w.pp,
        pu=m.r_vp * w.uv + m.r_pp * w.up,
        pv=m.r_vp * w.vv + m.r_pp * w.vp,
        pp=m.r_vp * w.vp + m.r_pp * w.pp + 1.0,
    )


def adjugate(q: Matrix) -> Matrix:
    """Return the adjugate: ``Q adj Q = det Q``."""
    return Matrix(
        uu=q.vv * q.pp - q.vp * q.pv,
        uv=q.up * q.pv - q.uv * q.pp,
        up=q.uv * q.vp - q.up * q.vv,
        vu=q.vp * q.pu - q.vu * q.pp,
        vv=q.uu * q.pp - q.up * q.pu,
        vp=q.up * q.vu - q.uu * q.vp,
        pu=q.vu * q.pv - q.vv * q.pu,
        pv=q.uv * q.pu - q.uu * q.pv,
        pp=q.uu * q.vv - q.uv * q.vu,
    )


def lost(m: FreeEndMember, w: Stiffness, q: Matrix, a: Matrix, by_det: Number) -> Number:
    """Return the amplification of rounding errors where `condensed` inverts Q.

    It is estimated from the cancellation in the determinant. For equal links folded on each other, the entries of Q
    cancel as well. In float64 the member's own ``1/delta`` is a sufficient estimate, at lower cost.
    """
    if rounds_to_float64(by_det):
        minor = absolute(q.vv * q.pp) + absolute(q.vp * q.pv)
    else:
        vv = absolute(m.r_vv * w.vv) + absolute(m.r_vp * w.vp) + 1.0
        vp = absolute(m.r_vv * w.vp) + absolute(m.r_vp * w.pp)
        pv = absolute(m.r_vp * w.vv) + absolute(m.r_pp * w.vp)
        pp = absolute(m.r_vp * w.vp) + absolute(m.r_pp * w.pp) + 1.0
        minor = vv * pp + vp * pv
    terms = absolute(q.uu) * minor + absolute(q.uv * a.vu) + absolute(q.up * a.pu)
    return terms * absolute(by_det) + 1.0


def rounding(m: FreeEndMember, lost: Number) -> Number:
    """Return the rounding error of `condensed`, as relative errors of omega^2 in units of one rounding.

    An error of the stiffness handed on, over omega^2 times the mass that moves with it, moves the squared frequencies
    by as much; that mass is at least the mass of the member itself. The free member is large by ``1/delta``.
    """
    return lost / absolute(nonzero(m.delta))


class Sizes(NamedTuple):
    """Sums of the absolute values of the terms of the entries uu, vv, pp of a stiffness."""

    u: Number
    v: Number
    p: Number

    def shifted(self, x: Number, y: Number) -> Sizes:
        """Return those of the stiffness about a point from which this one is at (x, y)."""
        return self._replace(p=self.p + y * y * self.u + x * x * self.v)


def sizes_of(m: FreeEndMember, p: Stiffness) -> Sizes:
    """Return the sizes of P: the free member and the outboard part may cancel, each large by ``1/delta``."""
    return Sizes(
        absolute(m.f_uu) + absolute(p.uu),
        absolute(m.f_vv) + absolute(p.vv),
        absolute(m.f_pp) + absolute(p.pp),
    )


def rounding_of(w: Stiffness, mass_term: Number, length: Number) -> Number:
    """Return the rounding of a stiffness W, in the units of `rounding`.

    W may be large relative to the mass of a member.
    """
    turning = absolute(w.pp) / (length * length)
    return (absolute(w.uu) + absolute(w.vv) + turning) / mass_term


def rounding_of_waves(waved: Number) -> Number:
    """Return the rounding of functions of a small wave number, in the units of `rounding`.

    ``waved`` is (wave number x length)^2.
    """
    one = waved * 0.0 + 1.0  # the loss of a stub that weighs nothing is bounded
    return select(waved - _SLOWEST, 4.0 / waved, one * (4.0 / _SLOWEST))


def rounding_of_shift(
    w: Stiffness, x: Number, y: Number, mass_term: Number, length: Number
) -> Number:
    """Return the rounding of a shift of a stiffness to another point, in the units of `rounding`."""
    reach = (x * x + y * y) / (length * length)
    return reach * (absolute(w.uu) + absolute(w.vv)) / mass_term


def receptance_of(m: FreeEndMember, q: Matrix, det_q_flex: Number, det_q: Number) -> Receptance:
    """Return the quantities that decide the signs of ``S = Q R``."""
    uu, uv, up = q.uu * m.r_uu, q.uv * m.r_vv + q.up * m.r_vp, q.uv * m.r_vp + q.up * m.r_pp
    vv, vp = q.vv * m.r_vv + q.vp * m.r_vp, q.vv * m.r_vp + q.vp * m.r_pp
    pp = q.pv * m.r_vp + q.pp * m.r_pp
    return Receptance(
        uu=uu,
        vv=vv,
        pp=pp,
        minor_uv=uu * vv - uv * uv,
        minor_up=uu * pp - up * up,
        minor_vp=vv * pp - vp * vp,
        det_full=det_q * m.r_uu * m.det_r_flex,
        det_flex=det_q_flex * m.det_r_flex,
    )


def negative_eigenvalues(s: Receptance, axial: Array) -> Array:
    """Return the number of negative eigenvalues of a symmetric matrix.

    Descartes' rule is applied to its characteristic polynomial. The matrix is scaled to unit diagonal first; all roots
    are real, so that the sign changes of (1, c1, c2, c3) count them. Without axial motion only the (v, psi) block is
    used.
    """
    u, v, p = (nonzero(leading(x)) for x in (s.uu, s.vv, s.pp))
    c2 = (
        leading(s.minor_uv) / xp.abs(u * v)
        + leading(s.minor_up) / xp.abs(u * p)
        + leading(s.minor_vp) / xp.abs(v * p)
    )
    three = _sign_changes(xp.sign(u) + xp.sign(v) + xp.sign(p), c2, leading(s.det_full))
    two = _sign_changes(xp.sign(v) + xp.sign(p), leading(s.det_flex))
    return xp.where(axial > 0.0, three, two)


def _sign_changes(*coefficients: Array) -> Array:
    changes = xp.zeros_like(coefficients[0])
    previous = xp.zeros_like(coefficients[0], dtype=bool)
    for coefficient in coefficients:
        negative = coefficient < 0.0
        changes = changes + (negative ^ previous).astype(changes.dtype)
        previous = negative
    return changes


def through_joint(p: Stiffness, unit: Number, y: Number) -> tuple[Stiffness, Number]:
    """Add a torsional spring in series: ``P - y (P e)(P e)^T/pivot``, e the rotation, ``pivot = unit + y e^T P e``.

    Unit and compliance y are those of `joints.spring_law`: (1, 0) is rigid, (0, 1) a free hinge.
    """
    pivot = nonzero(y * p.pp + unit)
    inverse = 1.0 / pivot
    a, by_pivot = y * inverse, unit * inverse
    return (
        Stiffness(
            uu=p.uu - a * p.up * p.up,
            uv=p.uv - a * p.up * p.vp,
            up=p.up * by_pivot,
            vv=p.vv - a * p.vp * p.vp,
            vp=p.vp * by_pivot,
            pp=p.pp * by_pivot,
        ),
        pivot,
    )


def rotated(p: Stiffness, s: Number, c: Number) -> Stiffness:
    """Return ``T^T P T``, T of the paper's eq 42: in the axes of the previous link, s and c of the joint angle."""
    cc, cs, ss = c * c, c * s, s * s
    return Stiffness(
        uu=cc * p.uu - cs * p.uv * 2.0 + ss * p.vv,
        uv=(p.uu - p.vv) * cs + (cc - ss) * p.uv,
        up=c * p.up - s * p.vp,
        vv=ss * p.uu + cs * p.uv * 2.0 + cc * p.vv,
        vp=s * p.up + c * p.vp,
        pp=p.pp,
    )
