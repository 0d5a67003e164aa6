"""Reactions of supports, and deflections of free joints held by supports, by the force method."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxmodal.runtime.namespace import Array, linalg, on_host, xp
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays
from jaxmodal.statics.chain import (
    Geometry,
    SectionForces,
    displacements,
    forces_of_reactions,
    geometry,
    joint_gives,
    joint_laws,
)
from jaxmodal.statics.laws import compliance

#: singular values of the balanced matrix below this share of the largest are rounding: no support resists these motions
_SINGULAR = 1e-14


def supported(
    beams: BeamArrays, shape: Geometry, shear: Any, axial: Any, own: SectionForces
) -> tuple[Array, Array]:
    """Return reactions of supports and deflections of free joints, shape (n, 3, ...) each.

    Unknowns are the reactions r and the deflections g of free joints. At each support the displacement must agree with
    r, and the force in a free joint must be zero. Both are scaled by the arm: lengths by its length, forces by the
    force that bends link 1 by that much.
    """
    n = beams.length.shape[0]
    rest = beams.length.shape[1:]
    reach = xp.sum(beams.length, axis=0)
    force = beams.youngs_modulus[0] * beams.second_moment[0] / reach**2
    stiffness = xp.stack([getattr(beams, name) for name in SUPPORTS], axis=1)
    unit, _ = joint_laws(beams)
    held, loose = stiffness > 0.0, unit == 0.0
    sprung = [spring is not None for spring in beams.springs]
    places, hinges = _places(held), [(i, j) for i, j in _places(loose) if sprung[j]]
    if not places:  # supports of stiffness 0 have no reaction
        nothing = xp.zeros_like(stiffness + 0.0 * xp.stack(own.joint, axis=1))
        return nothing, nothing
    units = [force, force, force * reach]
    steps = [reach, reach, xp.ones_like(reach)]

    def cases(where: list[tuple[int, int]], sizes: list[Array], first: int) -> Array:
        """Return a case for each unknown, from the ``first`` on: 1 in its entry, else 0; (n, 3, unknowns, ...)."""
        mask = np.zeros((n, 3, len(places) + len(hinges), *(1,) * len(rest)))
        for k, (i, j) in enumerate(where, start=first):
            mask[i, j, k] = 1.0
        size = xp.stack([xp.broadcast_to(x, rest) for x in sizes], axis=0)
        return mask * size[None, :, None]

    broad = jax.tree_util.tree_map(lambda x: x[:, None], beams)
    geometry_of = geometry(broad)
    forces = forces_of_reactions(broad, geometry_of, cases(places, units, 0))
    gives = joint_gives(broad, forces) + cases(hinges, steps, len(places))
    moved = displacements(broad, geometry_of, shear, axial, forces, gives)
    by_loads = displacements(beams, shape, shear, axial, own, joint_gives(beams, own))

    def rows(tip: Any, joint: Any) -> Array:
        """Return the motions of the supported tips, then the forces in the free joints, scaled by the arm."""
        at_places = [tip[j][i] / steps[j] for i, j in places]
        return xp.stack([*at_places, *(joint[j][i] / units[j] for i, j in hinges)], axis=0)

    give = compliance(xp.where(held, stiffness, np.inf))
    own_laws = [give[i, j] * units[j] / steps[j] for i, j in places]
    for i, j in hinges:
        spring = beams.springs[j]
        own_laws.append(0.0 * force if spring is None else -(spring[i] * steps[j] / units[j]))
    soft = xp.stack([xp.broadcast_to(x, rest) for x in own_laws], axis=0)
    # entries without support or free joint are 0
    there = xp.stack([*(held[k] for k in places), *(loose[k] for k in hinges)], axis=0)
    size = len(own_laws)
    one = np.eye(size).reshape(size, size, *(1,) * len(rest))
    matrix = xp.where(
        there[:, None] & there[None], rows(moved.tip, forces.joint) + one * soft[:, None], one
    )
    right = xp.where(there, -rows(by_loads.tip, own.joint), 0.0)
    matrix = xp.moveaxis(matrix, (0, 1), (-2, -1))
    solved = _solved(matrix, xp.moveaxis(right, 0, -1), len(places))
    solved = xp.moveaxis(solved, -1, 0).reshape((size, *rest))

    def spread(values: Any, where: list[tuple[int, int]], sizes: list[Array]) -> Array:
        entries = [[xp.zeros_like(solved[0])] * 3 for _ in range(n)]
        for value, (i, j) in zip(values, where, strict=True):
            entries[i][j] = value * sizes[j]
        return xp.stack([xp.stack(row, axis=0) for row in entries], axis=0)

    held_by = len(places)
    return spread(solved[:held_by], places, units), spread(solved[held_by:], hinges, steps)


def _places(where: Array) -> list[tuple[int, int]]:
    """Return the entries that are True for at least one cell; all entries if values are traced."""
    if not on_host(where):
        return [(i, j) for i in range(where.shape[0]) for j in range(3)]
    any_cell = where.reshape(where.shape[0], 3, -1).any(axis=-1)
    return [(int(i), int(j)) for i, j in np.argwhere(any_cell)]


def _solved(matrix: Array, right: Array, held: int) -> Array:
    """Return the solution, without the motions of free joints that no support resists, of which the matrix is singular.

    Forces in free joints that act on such motions are left; see `equilibrium.require_held`. NaN if the matrix is
    not finite; where values are traced, also if it is singular. The matrix is symmetric. Rows and columns of the
    ``held`` places are scaled to a diagonal of 1, because otherwise soft springs would hide stiff ones; then those
    of free joints are scaled to entries of at most 1.
    """
    if matrix.shape[-1] == 0:
        return right
    size = xp.stack([matrix[..., k, k] for k in range(held)], axis=-1)
    by_place = 1.0 / xp.sqrt(xp.where(size != 0.0, size, 1.0))
    beside = matrix[..., :held, held:] * by_place[..., None]
    largest = xp.max(xp.abs(beside), axis=-2) if held else xp.ones_like(right)
    by_hinge = 1.0 / xp.where(largest > 0.0, largest, 1.0)
    scale = xp.concatenate([by_place, by_hinge], axis=-1)
    matrix = matrix * scale[..., :, None] * scale[..., None, :]
    right = right * scale
    if not on_host(matrix, right):
        return linalg.solve(matrix, right[..., None])[..., 0] * scale
    known, one = np.isfinite(matrix).all(axis=(-1, -2)), np.eye(matrix.shape[-1])
    values = np.linalg.svd(np.where(known[..., None, None], matrix, one), compute_uv=False)
    good = known & (values[..., -1] > _SINGULAR * values[..., 0])
    plain = np.where(good[..., None, None], matrix, one)
    solved = np.where(good[..., None], np.linalg.solve(plain, right[..., None])[..., 0], np.nan)
    loose = known & ~good
    if loose.any():
        least = np.linalg.pinv(matrix[loose], rcond=_SINGULAR)
        solved[loose] = (least @ right[loose][..., None])[..., 0]
    return solved * scale
