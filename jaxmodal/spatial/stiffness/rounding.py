"""What adding a flexible link rounds, in relative errors of omega^2 and units of one rounding: `Evaluation.noise`.

As in the plane (`dynamic_stiffness.stiffness`), but for three directions and three turns, which hide more from one
another: what is stiff in one direction brings its rounding to all. It serves double-double, where nothing is lost by an
estimate that is some thousands too large. Float64 in space is known by what other roundings make of it
(`entries.with_link`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.stiffness import rounding_of_waves
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.stiffness.symmetric import TRIANGLE

#: where the diagonal is among the entries of a symmetric matrix of 3 x 3
_DIAGONAL = np.array([1.0 if i == j else 0.0 for i, j in TRIANGLE])
#: what a number that is divided by has in place of zero
_NO_ZERO = 1e-280


class Sizes(NamedTuple):
    """Of a flexible link, arrays that broadcast with (trials, cells).

    Omega^2, its mass and its length; what the body at its end has of mass, (), and of inertia, (6,).
    Of both planes, (2,): the factor delta of the free member, the receptances r_vv and r_pp, and beta^2.
    """

    squared: Array
    mass_term: Array
    length: Array
    body_mass: Array
    body_inertia: Array
    deltas: Array
    r_vv: Array
    r_pp: Array
    waved: Array


def rounding_of_link(of: Sizes, outboard: Array, lost: Array, inner: Array) -> Array:
    """What a flexible link rounds in what it takes and in what it hands on.

    Parameters
    ----------
    of : Sizes
        The link.
    outboard : Array, shape (21, ...)
        The stiffness that is handed to it.
    lost : Array, shape (3, ...)
        How many times a rounding grows in each of its releases.
    inner : Array, shape (6, ...)
        The diagonal of the stiffness at the inner end of what is elastic of it.
    """
    along, about, moved, turned = _what_moves(of, outboard)
    tip = _beside(moved, along) + _beside(turned, about)
    tip = tip + _of_functions(along, about, of, of.mass_term / moved)
    turning = of.mass_term * of.length * of.length
    stiff = xp.maximum(
        _largest(inner[:3]) / (of.mass_term + _largest(along)),
        _largest(inner[3:]) / (turning + _largest(about)),
    )
    large = xp.sum(1.0 / _size(of.deltas), axis=0)
    return tip + (xp.prod(lost, axis=0) + 1.0) * large / xp.maximum(stiff, 1.0)


def rounding_of_springs(of: Sizes, outboard: Array, inner: Array, pivots: Array) -> Array:
    """What the springs at the inner end of a link round, whose pivots may cancel; shape (springs, ...) is theirs."""
    _, _, moved, turned = _what_moves(of, outboard)
    loses = xp.where(pivots == 1.0, 0.0, (1.0 + xp.abs(pivots - 1.0)) / _size(pivots))
    through = _beside(moved, inner[:3]) + _beside(turned, inner[3:])
    return through * xp.max(loses, axis=0, initial=0.0)


def _what_moves(of: Sizes, outboard: Array) -> tuple[Array, Array, Array, Array]:
    """The diagonals of what is outboard along and about the axes, less the body; the inertia that moves with each."""
    diagonal = _DIAGONAL.reshape((-1,) + (1,) * (outboard.ndim - 1))
    along = xp.concatenate([outboard[0:3], outboard[6:8], outboard[11:12]])
    along = along - of.squared * (of.body_mass * diagonal)
    about = outboard[15:21] - of.squared * (of.body_inertia * diagonal)
    own = of.mass_term, of.mass_term * of.length * of.length
    moved, turned = (least + _heavy(x) for least, x in zip(own, (along, about), strict=True))
    return along * diagonal, about * diagonal, moved, turned


def _of_functions(along: Array, about: Array, of: Sizes, own: Array) -> Array:
    """What functions of small wave numbers lose, by the share of the link in what moves, and in what bends.

    Of a stub that carries a heavy arm both are small; ``own`` is the first one.
    """
    # bending along y turns about z, bending along z about y
    pairs = (along[3], about[5]), (along[5], about[3])
    found = 0.0 * own
    for waved, r_vv, r_pp, (v, p) in zip(of.waved, of.r_vv, of.r_pp, pairs, strict=True):
        share = own + xp.abs(r_vv * v) + xp.abs(r_pp * p)
        found = found + rounding_of_waves(waved) * xp.minimum(share, 1.0)
    return found


def _heavy(w: Array) -> Array:
    """Omega^2 times the inertia in the direction that has least, no more of it than there is; 0 where one has none."""
    xx, xy, xz, yy, yz, zz = (-w[k] for k in range(6))
    minor = xx * yy - xy * xy
    determinant = zz * minor - xx * yz * yz - yy * xz * xz + 2.0 * (xy * xz * yz)
    trace = xx + yy + zz
    positive = (xx > 0.0) & (minor > 0.0) & (determinant > 0.0)
    return xp.where(positive, 4.0 * determinant / xp.where(positive, trace * trace, 1.0), 0.0)


def _beside(inertia: Array, stiffness: Array) -> Array:
    """What entries of a stiffness round beside omega^2 times the inertia that moves."""
    return xp.sum(xp.abs(stiffness), axis=0) / inertia


def _largest(stiffness: Array) -> Array:
    return xp.max(xp.abs(stiffness), axis=0)


def _size(x: Array) -> Array:
    return xp.maximum(xp.abs(x), _NO_ZERO)
