"""Two parts of an arm joined at an interface: what the part before it answers with the part beyond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxmodal.arithmetic.operations import nonzero
from jaxmodal.dynamic_stiffness.stiffness import Matrix, Stiffness, adjugate
from jaxmodal.response.pieces import Vector
from jaxmodal.response.recursion import Condensed, permanent, size_of, work_of

#: rows of the three forces at an interface
INTERFACE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def joined(
    before: Condensed,
    beyond: Condensed,
    interface: tuple[int, int, int],
    pairs: Sequence[tuple[int, int]],
) -> tuple[dict[tuple[int, int], Any], Any]:
    """The responses of the part before an interface with the part beyond, and their margin as of `margin_of`.

    With C the receptance of the part before at its free end, E the motion there for a load at one of its ports, and W
    and q of the part beyond, the interface moves by ``(I + C W)^-1 (E + C q)``.

    Parameters
    ----------
    before, beyond
        The two parts; ports of one are not ports of the other.
    interface
        Numbers of the three ports.
    pairs
        Pairs whose responses are wanted.
    """

    def response(i: int, j: int) -> Any:
        return before.responses.get((min(i, j), max(i, j)), 0.0)

    c = Stiffness(*(response(interface[i], interface[j]) for i, j in _SYMMETRIC))
    w, q = beyond.stiffness, beyond.loads
    product = _identity_plus(c, w)
    a = adjugate(product)
    det = nonzero(product.uu * a.uu + product.uv * a.vu + product.up * a.pu)
    by_det = 1.0 / det
    sizes = _identity_plus(Stiffness(*map(size_of, c)), Stiffness(*map(size_of, w)))
    inner = {number for number in before.loads if number not in interface}

    def free(number: int) -> Vector:
        """Motion of the interface of the part before for a load at a port, the part beyond without stiffness."""
        if number in inner:
            return tuple(response(k, number) for k in interface)
        return _times(c, q[number])

    def works(number: int) -> Vector:
        """What the motion of the interface works at a port."""
        if number not in inner:
            return q[number]
        e = _times(w, free(number))
        return (-e[0], -e[1], -e[2])

    found: dict[tuple[int, int], Any] = {}
    motions: dict[int, Vector] = {}
    for i, j in pairs:
        if j not in motions:
            u, v, p = free(j)
            motions[j] = (
                (a.uu * u + a.uv * v + a.up * p) * by_det,
                (a.vu * u + a.vv * v + a.vp * p) * by_det,
                (a.pu * u + a.pv * v + a.pp * p) * by_det,
            )
        total = work_of(works(i), motions[j])
        if i in inner and j in inner:
            total = total + response(i, j)
        elif i in inner:
            total = total + work_of(free(i), q[j])
        elif j not in inner:
            total = total + beyond.responses[i, j]
        found[i, j] = total
    return found, size_of(det) / permanent(sizes)


_SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def _times(c: Stiffness, q: Vector) -> Vector:
    u, v, p = q
    return (
        c.uu * u + c.uv * v + c.up * p,
        c.uv * u + c.vv * v + c.vp * p,
        c.up * u + c.vp * v + c.pp * p,
    )


def _identity_plus(c: Stiffness, w: Stiffness) -> Matrix:
    """``I + C W``."""
    return Matrix(
        uu=c.uu * w.uu + c.uv * w.uv + c.up * w.up + 1.0,
        uv=c.uu * w.uv + c.uv * w.vv + c.up * w.vp,
        up=c.uu * w.up + c.uv * w.vp + c.up * w.pp,
        vu=c.uv * w.uu + c.vv * w.uv + c.vp * w.up,
        vv=c.uv * w.uv + c.vv * w.vv + c.vp * w.vp + 1.0,
        vp=c.uv * w.up + c.vv * w.vp + c.vp * w.pp,
        pu=c.up * w.uu + c.vp * w.uv + c.pp * w.up,
        pv=c.up * w.uv + c.vp * w.vv + c.pp * w.vp,
        pp=c.up * w.up + c.vp * w.vp + c.pp * w.pp + 1.0,
    )
