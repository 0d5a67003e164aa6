"""Supports of arms in space for the page: springs if all stiffnesses are finite, else loads, as in the library.

A rigid support is not a stiff spring. With one, the page treats all supports as loads in the recursion. The response of
the arm to them, with the laws of the supports, gives the missing factors of the determinant and the missing counts.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from jaxmodal.arithmetic.operations import Number, keep, nonzero
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.supports import (
    ReducedSupport,
    support_pivots,
    support_pivots_alone,
)
from jaxmodal.spatial.stiffness.symmetric import PLACES, Symmetric, total
from sweeps.explorer.solver.spatial_layouts import ENTRIES, MEMBER, entries
from sweeps.explorer.solver.spatial_passages import along_piece, before_piece, less_tip
from sweeps.explorer.solver.tapes import Both, tape_of_formula

#: most supports that are treated as loads: the formulas of links grow with the square of their number
MOST_LOADS = 24


def supports_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of the stiffnesses of supports."""
    return [
        f"link{k}.support{m}.stiffness"
        for k, link in enumerate(arm.links, start=1)
        for m in range(1, len(link.supports) + 1)
    ]


def loads_of(arm: SpatialArm) -> tuple[int, ...]:
    """Return the numbers of loads in the recursions of the page: 0, and with supports also their number.

    Raises
    ------
    ArmError
        There are too many supports, and one of them is rigid.
    """
    every = [x for link in arm.links for x in link.supports]
    if not every:
        return (0,)
    if len(every) <= MOST_LOADS:
        return 0, len(every)
    if any(float(x.stiffness) == float("inf") for x in every):
        raise ArmError(
            f"the arm has {len(every)} supports, one of them rigid: with a rigid one the page of an arm takes "
            f"{MOST_LOADS} at most; leave some out, or give all of them a finite stiffness."
        )
    return (0,)


def carrying_tapes(loads: int) -> dict[str, Any]:
    """Return the tapes of stiffness and motion along links with some loads, and those of the supports."""
    size = entries(loads)
    laws = size + 2 * loads
    passed = {
        "entries": size,
        "tip": tape_of_formula(functools.partial(less_tip, loads), 1 + 10 + size, False),
        "before_piece": tape_of_formula(
            functools.partial(before_piece, loads), 2 * MEMBER + size, False
        ),
        "along_piece": tape_of_formula(
            functools.partial(along_piece, loads), 2 * MEMBER + size + 6 + loads, False
        ),
    }
    if not loads:
        return passed
    return passed | {
        "pivots": Both(functools.partial(_pivots, loads), laws).written(),
        "held": tape_of_formula(functools.partial(_held, loads), laws, False),
        "forces": tape_of_formula(functools.partial(_forces, loads), laws + 6, False),
    }


def _given(loads: int, numbers: Sequence[Number]) -> tuple[Any, list[ReducedSupport], list[Number]]:
    """Return the entries of the stiffness with the loads, the laws of the supports, and the remaining inputs."""
    left = iter(numbers)
    w = list(itertools.islice(left, entries(loads)))
    laws = [ReducedSupport(w[0], next(left), next(left)) for _ in range(loads)]
    return w, laws, list(left)


def _pivots(loads: int, *numbers: Number) -> list[Number]:
    """Return the pivots of all supports together, and the pivot of each support alone."""
    w, laws, _ = _given(loads, numbers)
    alone = [support_pivots_alone(w, k, laws) for k in range(loads)]
    return [*support_pivots(w, laws), *alone]


def _held(loads: int, *numbers: Number) -> list[Number]:
    """Return the stiffness with the supports included, at the same place."""
    given, laws, _ = _given(loads, numbers)
    w, found = Symmetric(given), Symmetric(given[:ENTRIES])
    rows = [[w[6 + k, j] * law.root for j in range(6)] for k, law in enumerate(laws)]
    pivots, _ = _eliminated(w, laws, rows)
    for row, pivot in zip(rows, pivots, strict=True):
        for i, j in PLACES:
            found[i, j] = found[i, j] + row[i] * row[j] / pivot
    return found.entries


def _forces(loads: int, *numbers: Number) -> list[Number]:
    """Return the forces of the supports on the arm for a motion of the place of the stiffness."""
    given, laws, motion = _given(loads, numbers)
    w = Symmetric(given)
    rows = [
        [total(w[6 + k, j] * x for j, x in enumerate(motion)) * law.root]
        for k, law in enumerate(laws)
    ]
    pivots, shares = _eliminated(w, laws, rows)
    found = [row[0] / pivot for row, pivot in zip(rows, pivots, strict=True)]
    for k in reversed(range(loads)):
        for i in range(k):
            found[i] = found[i] - shares[k][i] * found[k]
    return [x * law.root for x, law in zip(found, laws, strict=True)]


def _eliminated(
    w: Symmetric, laws: Sequence[ReducedSupport], rows: list[list[Number]]
) -> tuple[list[Number], list[list[Number]]]:
    """Return pivots and factors of the scaled C + G of `support_pivots`; ``rows`` are eliminated in place."""
    m = [
        [-w[6 + i, 6 + j] * (laws[i].root * laws[j].root) for j in range(i + 1)]
        for i in range(len(laws))
    ]
    pivots: list[Number] = []
    shares: list[list[Number]] = [[] for _ in laws]
    for k, law in enumerate(laws):
        m[k][k] = m[k][k] + law.unit
    for k in range(len(laws)):
        pivots.append(keep(nonzero(m[k][k])))
        for i in range(k + 1, len(laws)):
            share = keep(m[i][k] / pivots[k])
            shares[i].append(share)
            for j in range(k + 1, i + 1):
                m[i][j] = m[i][j] - share * m[j][k]
            rows[i] = [x - share * y for x, y in zip(rows[i], rows[k], strict=True)]
    return pivots, shares
