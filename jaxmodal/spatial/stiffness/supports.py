"""Supports at tips of arms in space, elastic or rigid, by the receptance of the unsupported arm at the supports.

Each support is a load carried along (`entries`). Let G be the motions at the supports for unit forces there, and C the
compliances of the supports, 0 for a rigid one. The determinant of the arm gets the factor det(C + G), and each negative
eigenvalue of C + G reduces the count by one (E. V. Haynsworth's additivity of inertia, Linear Algebra Appl. 1, 1968,
73-81, for the stiffness bordered by the supports).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, keep, leading, nonzero, number, sqrt
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.springs import Support
from jaxmodal.spatial.stiffness.matrices import cross, doubles, product, stacked, transposed
from jaxmodal.spatial.stiffness.symmetric import places


class ReducedSupport(NamedTuple):
    """A support by its force on the end of the elastic part, in the section's axes, (6, 1, cells), and its law.

    The law is ``unit * force = root^2 * motion``: (1, sqrt(k)) for a spring, (0, 1) for a rigid support.
    """

    load: Number
    unit: Number
    root: Number


def reduced_supports(
    links: Sequence[SpatialLink],
    turn: Number,
    end: Number,
    units: Sequence[Number],
    arithmetic: Arithmetic,
) -> list[list[ReducedSupport]]:
    """Return the supports of each link, from the rotations to the previous sections and the tips.

    The rotations have shape (3, 3, links, 1, cells), the tips (3, ...). The tip is relative to the outer end of the
    elastic part, for a rigid link to its base, in the section's axes. ``units`` are the directions of all supports in
    order, in the axes of the ground.
    """
    found: list[list[ReducedSupport]] = []
    to_ground = None
    left = iter(units)
    for k, link in enumerate(links):
        own = turn[..., k, :, :]
        to_ground = own if to_ground is None else product(to_ground, own)
        found.append([])
        for support in link.supports:
            along = product(transposed(to_ground), next(left)[:, None])[:, 0]
            none = along * 0.0
            turning = support.kind == "rotation"
            moment = along if turning else cross(end[..., k, :, :], along)
            force = none if turning else along
            load = stacked([part[i] for part in (force, moment) for i in range(3)])
            found[-1].append(ReducedSupport(load, *_law(support, arithmetic)))
    return found


def _law(support: Support, arithmetic: Arithmetic) -> tuple[Number, Number]:
    given = doubles(support.stiffness)[None]
    rigid = np.isinf(given)
    stiffness = number(np.where(rigid, 1.0, given), arithmetic)
    root = sqrt(number(np.where(leading(stiffness) > 0.0, leading(stiffness), 1.0), arithmetic))
    return number(np.where(rigid, 0.0, 1.0), arithmetic), root * (given > 0.0).astype(float)


def load_numbers(
    own: Sequence[ReducedSupport], before: int, number_of: int, flexible: bool, zero: Number
) -> list[Number]:
    """Return the numbers of `LoadEntries` of all supports of an arm on one link; 0 for supports of other links."""
    found: list[Number] = []
    for k in range(number_of):
        mine = before <= k < before + len(own)
        load = [own[k - before].load[i] for i in range(6)] if mine else [zero] * 6
        nothing = [zero] * 6
        found += [*load, *nothing, zero] if flexible else [*nothing, *load, zero]
    return found


def support_pivots(w: Number, supports: Sequence[ReducedSupport]) -> list[Number]:
    """Return the pivots of C + G, scaled by the roots of the stiffnesses.

    ``w`` (entries, ...) is over directions and loads.
    """
    size = len(supports)
    at = {place: k for k, place in enumerate(places(6 + size))}
    m = [
        [(w[at[6 + j, 6 + i]] * -1.0) * (supports[i].root * supports[j].root) for j in range(i + 1)]
        for i in range(size)
    ]
    for i, support in enumerate(supports):
        m[i][i] = m[i][i] + support.unit
    pivots = []
    for k in range(size):
        pivot = keep(nonzero(m[k][k]))
        pivots.append(pivot)
        for i in range(k + 1, size):
            share = m[i][k] / pivot
            for j in range(k + 1, i + 1):
                m[i][j] = m[i][j] - share * m[j][k]
    return pivots


def support_pivots_alone(w: Number, number_of: int, supports: Sequence[ReducedSupport]) -> Number:
    """Return the pivot of one support in the absence of the others."""
    at, own = places(6 + len(supports)).index((6 + number_of, 6 + number_of)), supports[number_of]
    return w[at] * -1.0 * (own.root * own.root) + own.unit
