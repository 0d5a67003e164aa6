"""The elastic base: its law over x, y of the ground and rotation, and its deflection under a force.

Entries are elementwise numbers of any shape. A direction is rigid (inf on the diagonal), free (0) or elastic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.runtime.namespace import xp
from jaxmodal.statics.beam_arrays import BASE, BeamArrays

#: a number for each of x, y and rotation
Triple = tuple[Any, Any, Any]
#: a symmetric 3 x 3 matrix, its upper triangle row by row
Six = tuple[Any, Any, Any, Any, Any, Any]
#: places of the entries of the matrix in its upper triangle
PLACES = ((0, 1, 2), (1, 3, 4), (2, 4, 5))


class BaseLaw(NamedTuple):
    """Law of the base, ``unit * motion = compliance @ force``.

    Attributes
    ----------
    stiffness
        The stiffness matrix, 0 in rigid directions.
    compliance
        Its inverse in elastic directions, 1 in free ones, 0 in rigid ones.
    unit
        0 in free directions, else 1.
    rigid
        1 in rigid directions, else 0.
    scale
        Scales for which the matrix has determinant 1; 0 in rigid directions.
    """

    stiffness: Six
    compliance: Six
    unit: Triple
    rigid: Triple
    scale: Triple


def base_law(beams: BeamArrays) -> BaseLaw | None:
    """Return the law of the base before each joint, rigid except at the first; None if no arm has an elastic base."""
    if beams.base_xx is None:
        return None
    xx, xy, xr, yy, yr, rr = (getattr(beams, name) for name in BASE)
    own = (xx, yy, rr)
    rigid = [xp.isinf(k.real) for k in own]
    free = [k.real == 0.0 for k in own]
    sprung = [~(r | f) for r, f in zip(rigid, free, strict=True)]
    size = [1.0 / xp.sqrt(xp.where(s, k, 1.0)) for s, k in zip(sprung, own, strict=True)]
    pairs = ((0, 1), (0, 2), (1, 2))
    mixed = [
        xp.where(sprung[i] & sprung[j], k, 0.0)
        for (i, j), k in zip(pairs, (xy, xr, yr), strict=True)
    ]
    a, b, c = (k * size[i] * size[j] for (i, j), k in zip(pairs, mixed, strict=True))
    det = 1.0 - a * a - b * b - c * c + 2.0 * a * b * c
    adjugate = (1.0 - c * c, b * c - a, a * c - b, 1.0 - b * b, a * b - c, 1.0 - a * a)
    left = [size[k] * xp.where(rigid[k], 0.0, 1.0) for k in range(3)]
    places = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    inverse = [left[i] * x * left[j] / det for (i, j), x in zip(places, adjugate, strict=True)]
    # one elastic direction, the first, takes the rest of the determinant
    rest = 1.0 / xp.sqrt(xp.where(det.real > 0.0, det, 1.0))
    size[0], size[1] = (
        xp.where(sprung[0], size[0] * rest, size[0]),
        xp.where(~sprung[0] & sprung[1], size[1] * rest, size[1]),
    )
    scale = [
        xp.where(s, t, xp.where(f, 1.0, 0.0)) for s, f, t in zip(sprung, free, size, strict=True)
    ]
    finite = [xp.where(r, 0.0, k) for r, k in zip(rigid, own, strict=True)]
    return BaseLaw(
        (finite[0], mixed[0], mixed[1], finite[1], mixed[2], finite[2]),
        tuple(inverse),
        tuple(xp.where(f, 0.0, 1.0) for f in free),
        tuple(xp.where(r, 1.0, 0.0) for r in rigid),
        tuple(scale),
    )


def of_first(law: BaseLaw) -> BaseLaw:
    """Return the law of the base itself, from arrays whose first axis is that of the links."""
    return BaseLaw(*(tuple(x[0] for x in part) for part in law))


def times(matrix: Six, vector: Any, sizes: bool = False) -> Triple:
    """Return the matrix times a vector; with ``sizes``, of absolute values of its entries."""
    entries = [xp.abs(x) for x in matrix] if sizes else matrix
    return tuple(sum(entries[k] * v for k, v in zip(row, vector, strict=True)) for row in PLACES)


def base_gives(beams: BeamArrays, force: Any) -> Triple | None:
    """Return the deflection of the base under the force (N, V, M) in joint 1.

    It is along and across link 1 and about joint 1; 0 in free directions, None without an elastic base.
    """
    every = base_law(beams)
    if every is None:
        return None
    law = of_first(every)
    c, s = xp.cos(beams.joint_angle[0]), xp.sin(beams.joint_angle[0])
    along, across, moment = force
    given = [
        u * f
        for u, f in zip(
            law.unit, (c * along - s * across, s * along + c * across, moment), strict=True
        )
    ]
    x, y, turn = (u * d for u, d in zip(law.unit, times(law.compliance, given), strict=True))
    return c * x + s * y, c * y - s * x, turn


def strains(law: BaseLaw) -> list[tuple[Triple, bool]]:
    """Return motions (x, y, rotation) that span those of the base, of unit strain energy or free (True).

    For one concrete base; imaginary parts are kept. They are the columns of the Cholesky factor of the compliance.
    """
    rows = [[law.compliance[k] for k in row] for row in PLACES]
    found: list[tuple[Triple, bool]] = []
    for k in range(3):
        if np.real(law.rigid[k]) == 1.0:
            continue
        column = [
            rows[i][k] / np.sqrt(rows[k][k]) if i >= k else 0.0 * rows[i][k] for i in range(3)
        ]
        for i in range(3):
            for j in range(3):
                rows[i][j] = rows[i][j] - column[i] * column[j]
        found.append(((column[0], column[1], column[2]), bool(np.real(law.unit[k]) == 0.0)))
    return found
