"""Number of modes of frequency zero: motions without strain that free joints allow and no support resists."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxmodal.runtime.namespace import Array, repeat, tree_on_host, xp
from jaxmodal.statics.beam_arrays import BASE, SUPPORTS, BeamArrays

#: stiffness of the base in a direction of its own
DIAGONAL = (BASE[0], BASE[3], BASE[5])
#: a motion that moves supports by less than this, beside what free joints move them by at most, moves them by rounding
STILL = 1e-13


def number_of_zero_modes(beams: BeamArrays) -> Array:
    """Return the number of modes with zero frequency, int64.

    Without supports, it is one for each free hinge or slide and for each free direction of the base; these motions are
    independent. With supports at tips, the rank of the support displacements by these motions is subtracted. Static
    forces resist or drive a rotation; see `_without_load`.
    """
    if beams.axial_force is not None:
        beams = _without_load(beams)
    free = (beams.joint_stiffness == 0.0).astype(np.int64)
    for slide in beams.slides:
        if slide is not None:
            free = free + (slide == 0.0).astype(np.int64)
    of_base = [] if beams.base_xx is None else [getattr(beams, name)[0] for name in DIAGONAL]
    total = xp.sum(free, axis=0)
    total = total + sum((k == 0.0).astype(np.int64) for k in of_base)
    if beams.supports is None:
        return total
    return total - rank_of(_moves_of_supports(beams))


def rank_of(moves: Array) -> Array:
    """Return the rank of each of several matrices (..., rows, columns), by elimination with complete pivoting.

    Singular values are not used: programs may run in two threads at a time, and XLA's decomposition can then deadlock.
    """
    rows, columns = moves.shape[-2:]
    least = STILL * xp.maximum(xp.max(xp.abs(moves), axis=(-2, -1)), 1.0)

    def step(i: Any, state: tuple[Array, Array]) -> tuple[Array, Array]:
        left, rank = state
        flat = left.reshape(*left.shape[:-2], rows * columns)
        at = xp.argmax(xp.abs(flat), axis=-1)[..., None]
        row = xp.take_along_axis(left, (at // columns)[..., None], axis=-2)
        column = xp.take_along_axis(left, (at % columns)[..., None], axis=-1)
        pivot = xp.take_along_axis(flat, at, axis=-1)
        known = xp.abs(pivot[..., 0]) > least
        share = column / xp.where(known[..., None], pivot, 1.0)[..., None]
        left = xp.where(known[..., None, None], left - share * row, 0.0)
        return left, rank + known.astype(rank.dtype)

    start = moves, xp.zeros_like(moves[..., 0, 0]).astype(np.int64)
    _, rank = repeat(0, min(rows, columns), step, start, tree_on_host(moves))
    return rank


def _without_load(beams: BeamArrays) -> BeamArrays:
    """Return the links with only those free hinges that rotate links without static forces, up to the next free hinge.

    If a tip is supported as well, no hinge of an arm with such a force counts as free. A mode of frequency zero may
    then be left, which has the status of a buckled one.
    """
    forces = (beams.axial_force, beams.base_turning_stiffness, beams.end_turning_stiffness)
    loaded = sum((x != 0.0 for x in forces if x is not None), start=False)
    hinged = beams.joint_stiffness == 0.0
    resisted = [loaded[-1]]
    for load, next_hinge in zip(loaded[-2::-1], hinged[:0:-1], strict=True):
        resisted.append(load | (resisted[-1] & ~next_hinge))
    free = hinged & ~xp.stack(resisted[::-1])
    if beams.supports is not None:
        held = sum((getattr(beams, name) > 0.0 for name in SUPPORTS), start=False)
        free = free & ~(xp.any(loaded, axis=0) & xp.any(held, axis=0))
    turning = xp.where(hinged & ~free, np.inf, beams.joint_stiffness)
    return dataclasses.replace(beams, joint_stiffness=turning)


def _moves_of_supports(beams: BeamArrays) -> Array:
    """Return the displacement of each support by each free motion of a joint, shape (..., 3 n, 3 n).

    Free motions are slides and rotations. With an elastic base there are three more columns, for motions of the base
    along x and y and about joint 1. Displacements are relative to the length of the arm, and 0 where there is no
    support or the joint is not free.
    """
    n = beams.length.shape[0]
    never = xp.full_like(beams.joint_stiffness, np.inf)
    joints = xp.stack([never if x is None else x for x in beams.springs])
    free = joints == 0.0
    held = xp.stack([getattr(beams, name) for name in SUPPORTS]) > 0.0
    along, across = beams.reach
    c, s = xp.cos(beams.ground_angle), xp.sin(beams.ground_angle)
    size = xp.sum(xp.abs(along) + xp.abs(across), axis=0, keepdims=True)
    reach_x, reach_y = (c * along - s * across) / size, (s * along + c * across) / size
    tip_x, tip_y = xp.cumsum(reach_x, axis=0), xp.cumsum(reach_y, axis=0)
    x = tip_x[:, None] - (tip_x - reach_x)[None]
    y = tip_y[:, None] - (tip_y - reach_y)[None]
    none, one = xp.zeros_like(x), xp.ones_like(x)
    cosine, sine = c[None] + none, s[None] + none
    moves = xp.stack(  # (3 supports, 3 motions, n tips, n joints, ...)
        [
            xp.stack([cosine, -sine, -y]),
            xp.stack([sine, cosine, x]),
            xp.stack([none, none, one]),
        ]
    )
    outboard = np.tril(np.ones((n, n), bool)).reshape((n, n) + (1,) * (x.ndim - 2))
    counts = held[:, None, :, None] & free[None, :, None, :] & outboard[None, None]
    moves = xp.where(counts, moves, 0.0)
    moves = xp.moveaxis(moves, (0, 1, 2, 3), (-4, -2, -3, -1))
    moves = moves.reshape((*moves.shape[:-4], 3 * n, 3 * n))
    if beams.base_xx is None:
        return moves
    none, one = xp.zeros_like(tip_x), xp.ones_like(tip_x)
    of_base = xp.stack(  # (3 supports, 3 motions, n tips, ...)
        [
            xp.stack([one, none, -tip_y]),
            xp.stack([none, one, tip_x]),
            xp.stack([none, none, one]),
        ]
    )
    loose = xp.stack([getattr(beams, name)[0] == 0.0 for name in DIAGONAL])
    of_base = xp.where(held[:, None] & loose[None, :, None], of_base, 0.0)
    of_base = xp.moveaxis(of_base, (0, 1, 2), (-3, -1, -2))
    of_base = of_base.reshape((*of_base.shape[:-3], 3 * n, 3))
    return xp.concatenate([moves, of_base], axis=-1)
