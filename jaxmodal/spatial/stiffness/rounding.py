"""Rounding error of adding a flexible link, relative to omega^2 and in units of one rounding: `Evaluation.noise`.

As in the plane (`dynamic_stiffness.stiffness`), but for three translations and three rotations, which are coupled more
strongly: high stiffness in one direction spreads its rounding error to all. The estimate serves double-double, where an
overestimate by a factor of some thousands is harmless. In float64 the error is measured by rounding variants instead
(`entries.with_link`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.stiffness import rounding_of_waves
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.stiffness.symmetric import TRIANGLE

#: 1 for diagonal entries of a symmetric 3 x 3 matrix, else 0
_DIAGONAL = np.array([1.0 if i == j else 0.0 for i, j in TRIANGLE])
#: replacement of 0 in divisors
_NO_ZERO = 1e-280


class Sizes(NamedTuple):
    """Quantities of a flexible link; arrays that broadcast with (trials, cells).

    Omega^2; mass times omega^2 and length of the link; mass, (), and inertia, (6,), of the body at its end. For both
    planes, (2,): the factor delta of the free member, the receptances r_vv and r_pp, and beta^2.
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
    """Return the rounding error of the input and the output stiffness of a flexible link.

    Parameters
    ----------
    of : Sizes
        The link.
    outboard : Array, shape (21, ...)
        The input stiffness, at its outer end.
    lost : Array, shape (3, ...)
        Growth factor of rounding errors in each of its releases.
    inner : Array, shape (6, ...)
        Diagonal of the stiffness at the inner end of its elastic part.
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
    """Return the rounding error of the springs at the inner end of a link; pivots (springs, ...) may cancel."""
    _, _, moved, turned = _what_moves(of, outboard)
    loses = xp.where(pivots == 1.0, 0.0, (1.0 + xp.abs(pivots - 1.0)) / _size(pivots))
    through = _beside(moved, inner[:3]) + _beside(turned, inner[3:])
    return through * xp.max(loses, axis=0, initial=0.0)


def _what_moves(of: Sizes, outboard: Array) -> tuple[Array, Array, Array, Array]:
    """Return the diagonal blocks of the outboard stiffness without the body, and the inertia that moves in each."""
    diagonal = _DIAGONAL.reshape((-1,) + (1,) * (outboard.ndim - 1))
    along = xp.concatenate([outboard[0:3], outboard[6:8], outboard[11:12]])
    along = along - of.squared * (of.body_mass * diagonal)
    about = outboard[15:21] - of.squared * (of.body_inertia * diagonal)
    own = of.mass_term, of.mass_term * of.length * of.length
    moved, turned = (least + _heavy(x) for least, x in zip(own, (along, about), strict=True))
    return along * diagonal, about * diagonal, moved, turned


def _of_functions(along: Array, about: Array, of: Sizes, own: Array) -> Array:
    """Return the loss of digits of functions at small wave numbers.

    It is weighted by the link's share of inertia and deformation. For a stub that carries a heavy arm both shares are
    small; ``own`` is the first.
    """
    # bending along y rotates about z, bending along z about y
    pairs = (along[3], about[5]), (along[5], about[3])
    found = 0.0 * own
    for waved, r_vv, r_pp, (v, p) in zip(of.waved, of.r_vv, of.r_pp, pairs, strict=True):
        share = own + xp.abs(r_vv * v) + xp.abs(r_pp * p)
        found = found + rounding_of_waves(waved) * xp.minimum(share, 1.0)
    return found


def _heavy(w: Array) -> Array:
    """Return a lower estimate of omega^2 times the inertia in its smallest direction; 0 if the inertia is negative."""
    xx, xy, xz, yy, yz, zz = (-w[k] for k in range(6))
    minor = xx * yy - xy * xy
    determinant = zz * minor - xx * yz * yz - yy * xz * xz + 2.0 * (xy * xz * yz)
    trace = xx + yy + zz
    positive = (xx > 0.0) & (minor > 0.0) & (determinant > 0.0)
    return xp.where(positive, 4.0 * determinant / xp.where(positive, trace * trace, 1.0), 0.0)


def _beside(inertia: Array, stiffness: Array) -> Array:
    """Return the rounding error of stiffness entries relative to omega^2 times the moving inertia."""
    return xp.sum(xp.abs(stiffness), axis=0) / inertia


def _largest(stiffness: Array) -> Array:
    return xp.max(xp.abs(stiffness), axis=0)


def _size(x: Array) -> Array:
    return xp.maximum(xp.abs(x), _NO_ZERO)
