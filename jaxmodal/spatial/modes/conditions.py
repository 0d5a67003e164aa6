"""What the fields of an arm in space must satisfy at its joints and tips: the matrix whose null vectors are modes.

Unknowns are twelve constants for each link, the give of each spring that is not rigid, and the motion of an elastic
base. Conditions are, for each link, six of continuity at its joint and six of balance at its tip, one for each such
spring, and six at the base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.eigenspaces.null_spaces import power_of_two
from jaxmodal.spatial.modes.values import ArmValues, LinkValues
from jaxmodal.spatial.stiffness.matrices import skew

_ONE = np.eye(6)


class Transfer(NamedTuple):
    """Matrices (6, 6) of a link that take what is known at one place to another.

    ``start`` and ``start_force`` take displacements and forces at the inner end, in the section's axes, to the joint,
    in the link's; ``end`` and ``end_force`` those at the outer end to the tip. ``turn`` takes both from the link's axes
    to those of the link before.
    """

    start: np.ndarray
    start_force: np.ndarray
    end: np.ndarray
    end_force: np.ndarray
    turn: np.ndarray


def _both(matrix: np.ndarray) -> np.ndarray:
    """A 3 x 3 matrix of displacements and of rotations."""
    return np.kron(np.eye(2), matrix)


def _at_offset(offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What displacements at a point are at another, seen from it at ``offset``, and likewise forces."""
    cross = skew(offset)
    motion, force = _ONE.copy(), _ONE.copy()
    motion[:3, 3:] = -cross
    force[3:, :3] = -cross
    return motion, force


def transfer(link: LinkValues) -> Transfer:
    """The matrices of a link of one cell."""
    roll = _both(link.roll[..., 0])
    inward, inward_force = _at_offset(-link.base_offset[..., 0])
    outward, outward_force = _at_offset(link.end_offset[..., 0])
    return Transfer(
        start=inward @ roll,
        start_force=inward_force @ roll,
        end=outward @ roll,
        end_force=outward_force @ roll,
        turn=_both(link.rotation[..., 0]),
    )


class Chain(NamedTuple):
    """An arm's transfers and parts of one cell, and where its unknowns and conditions stand.

    ``springs`` holds, for each link, the numbers of its springs that are not rigid; ``place`` where the first of them
    stands among the unknowns; ``base`` where the base does, None for a clamped one. ``size`` is the number of unknowns.
    """

    values: ArmValues
    transfers: tuple[Transfer, ...]
    springs: tuple[tuple[int, ...], ...]
    place: tuple[int, ...]
    base: int | None
    size: int


def chain_of(values: ArmValues) -> Chain:
    """The chain of an arm of one cell."""
    springs = tuple(
        tuple(int(k) for k in np.flatnonzero(np.isfinite(link.stiffness[:, 0])))
        for link in values.links
    )
    counts = [len(s) for s in springs]
    first = 12 * len(values.links)
    place = tuple(first + int(sum(counts[:i])) for i in range(len(counts)))
    size = first + sum(counts)
    base = None if values.base is None else size
    return Chain(
        values,
        tuple(transfer(link) for link in values.links),
        springs,
        place,
        base,
        size + 6 * (base is not None),
    )


def conditions(
    chain: Chain, omega: float, inner: np.ndarray, outer: np.ndarray, sizes: bool = False
) -> np.ndarray:
    """The matrix of the conditions in the unknowns.

    Parameters
    ----------
    inner, outer : np.ndarray, shape (n, 12, 12)
        Fields at both ends of each link for its constants.
    sizes : bool
        The terms of each entry by their size, those of the fields being positive.

    Returns
    -------
    np.ndarray, shape (size, size)
        Rows: for each link continuity of its joint and balance of its tip; springs; base.
    """
    sign = np.abs if sizes else np.asarray
    plus = 1.0 if sizes else -1.0
    square = omega * omega
    n, links = len(chain.transfers), chain.values.links
    matrix = np.zeros((chain.size, chain.size))
    for i, (link, t) in enumerate(zip(links, chain.transfers, strict=True)):
        own = slice(12 * i, 12 * i + 12)
        give = slice(chain.place[i], chain.place[i] + len(chain.springs[i]))
        direction = sign(link.directions[list(chain.springs[i]), :, 0])
        # displacements before the joint, in this link's axes, of the link before or of the base
        before, back = None, sign(t.turn.T)
        if i > 0:
            before = slice(12 * i - 12, 12 * i)
            moved = back @ sign(chain.transfers[i - 1].end) @ outer[i - 1, :6]
        elif chain.base is not None:
            before = slice(chain.base, chain.base + 6)
            moved = back
        joint = sign(t.start) @ inner[i, :6]
        hub = sign(link.hub[..., 0])
        force = sign(t.start_force) @ inner[i, 6:] + square * (hub @ joint)
        rows = slice(12 * i, 12 * i + 6)
        matrix[rows, own] += joint
        matrix[rows, give] += plus * direction.T
        # the force that link and rotor exert on the link before, of its constants, of gives, and of what is before
        felt = {own.start: (own, force)}
        if before is not None:
            matrix[rows, before] += plus * moved
        matrix[give, own] += plus * direction @ force
        stiffness = link.stiffness[list(chain.springs[i]), 0]
        matrix[give, give] += np.diag(stiffness)
        inertia, ratio = link.rotor[:, 0]
        if inertia != 0.0:
            axis = sign(link.directions[-1, :, 0])
            spun = square * inertia
            last = chain.place[i] + len(chain.springs[i]) - 1
            turns = np.isfinite(link.stiffness[-1, 0])
            if turns:
                column = (spun * sign(ratio) * axis)[:, None]
                felt[last] = (slice(last, last + 1), column)
                matrix[last, last] += plus * spun * ratio * ratio
            if before is not None:
                carried = spun * np.outer(axis, axis @ moved)
                felt[before.start] = (before, carried)
                if turns:
                    matrix[last, before] += plus * spun * sign(ratio) * (axis @ moved)
        tip = slice(12 * i - 6, 12 * i)
        if i == 0 and chain.base is not None:
            tip = slice(chain.base, chain.base + 6)
            matrix[tip, tip] += sign(chain.values.base[..., 0])  # type: ignore[index]
            matrix[tip, tip] += plus * square * sign(link.stator[..., 0])
        if i > 0 or chain.base is not None:
            for columns, values in felt.values():
                matrix[tip, columns] += plus * sign(t.turn) @ values
        rows = slice(12 * i + 6, 12 * i + 12)
        mass = sign(link.tip[..., 0])
        if i + 1 < n:
            mass = mass + sign(links[i + 1].stator[..., 0])
        tip_motion = sign(t.end) @ outer[i, :6]
        matrix[rows, own] += sign(t.end_force) @ outer[i, 6:] + plus * square * (mass @ tip_motion)
    return matrix


def equilibration(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Powers of two for rows and columns that bring the terms of a matrix, of these sizes, near to one."""
    rows = columns = np.ones(size.shape[0])
    for _ in range(3):
        rows = 1.0 / power_of_two(np.max(size * columns[None, :], axis=1))
        columns = 1.0 / power_of_two(np.max(size * rows[:, None], axis=0))
    return rows, columns
