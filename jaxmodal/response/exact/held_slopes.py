"""Derivatives of responses of arms on rigid supports, from those of the arm on springs in place of the supports."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.exact.held_places import cannot_move
from jaxmodal.response.exact.held_tips import (
    STAND_INS,
    on_springs,
    rigid_addresses,
    rigid_supports,
    stand_ins,
)
from jaxmodal.response.exact.slopes import motions_with_slopes, system_with_slopes

Complexes = NDArray[np.complex128]


def held_motions(
    arm: Arm,
    theory: TheoryName,
    inputs: Sequence[Port],
    read: Sequence[Port],
    singles: Sequence[str],
    omega: np.ndarray,
) -> Dual:
    """Return motions (read, inputs, 1, F) of an arm on rigid supports, with derivatives by addresses and frequency.

    Notes
    -----
    They are ``A - B C^-1 D``, with motions of the arm on springs: A and B at the ports read, under the inputs and under
    forces at the supports; D and C at the supports. The springs are not values of the arm and have no derivative.
    """
    answers = [
        _held(*_on_springs(arm, theory, inputs, read, singles, omega, factor))
        for factor in STAND_INS
    ]
    (first, slopes, near), (second, other_slopes, farther) = answers
    nearer = near <= farther
    value = np.moveaxis(np.where(nearer[:, None, None], first, second), 0, -1)
    slope = np.moveaxis(np.where(nearer[:, None, None], slopes, other_slopes), 1, -1)
    still = np.array([[cannot_move(a, arm) or cannot_move(b, arm) for b in inputs] for a in read])
    value, slope = (np.where(still[:, :, None], 0.0, x)[..., None, :] for x in (value, slope))
    return Dual(value, _without_rigid(slope, arm, singles))


def held_root_slopes(
    arm: Arm, theory: TheoryName, singles: Sequence[str], roots: Complexes
) -> Complexes:
    """Return derivatives (P, M) of simple roots of an arm on rigid supports.

    Notes
    -----
    At a root, forces v at the supports alone keep them at rest: ``C v = 0`` with their symmetric receptance matrix C.
    Therefore a root changes by ``-(v^T dC v)/(v^T dC/ds v)``.
    """
    value, slope, _ = _on_springs(arm, theory, (), (), singles, roots)
    size, scale = _sizes(value)
    vector = np.linalg.svd(value / scale)[2][:, -1].conj() / size
    found = np.einsum("fs,pfst,ft->pf", vector, slope, vector)
    return _without_rigid(-found[:-1] / found[-1], arm, singles)


def _without_rigid(slopes: Complexes, arm: Arm, singles: Sequence[str]) -> Complexes:
    """Return the derivatives with 0 for rigid supports, whose stiffness has no effect."""
    rigid = rigid_addresses(arm)
    for place, single in enumerate(singles):
        if single in rigid:
            slopes[place] = 0.0
    return slopes


def _held(
    value: Complexes, slope: Complexes, springs: np.ndarray
) -> tuple[Complexes, Complexes, np.ndarray]:
    """Return motions (F, R, I), their derivatives (P, F, R, I), and the nearness of a resonance on springs, (F,).

    With dM the derivatives of all four blocks, the derivatives are ``(1, -B C^-1) dM (1, -C^-1 D)^T``.
    """
    count = springs.size
    held = value[:, -count:, -count:]
    size, scale = _sizes(held)
    inverse = np.linalg.inv(held / scale) / scale
    passed = value[:, :-count, -count:] @ inverse
    pushed = inverse @ value[:, -count:, :-count]
    motions = value[:, :-count, :-count] - passed @ value[:, -count:, :-count]
    left, right = (np.broadcast_to(np.eye(n), (len(size), n, n)) for n in motions.shape[1:])
    left = np.concatenate([left, -passed], axis=2)
    right = np.concatenate([right, -pushed], axis=1)
    return motions, left @ slope @ right, (size * size * springs).max(axis=1)


def _sizes(held: Complexes) -> tuple[np.ndarray, np.ndarray]:
    """Return square roots of the diagonal receptances of the supports, (F, S), and their products, (F, S, S)."""
    size = np.sqrt(np.abs(np.einsum("fss->fs", held)))
    return size, size[:, :, None] * size[:, None, :]


def _on_springs(
    arm: Arm,
    theory: TheoryName,
    inputs: Sequence[Port],
    read: Sequence[Port],
    singles: Sequence[str],
    omega: np.ndarray,
    factor: float = 1.0,
) -> tuple[Complexes, Complexes, np.ndarray]:
    """Return motions (F, R + S, I + S) of an arm on springs, their derivatives (first axis), and the springs, (S,)."""
    held = tuple(rigid_supports(arm))
    springs = stand_ins(arm, factor)
    places, forces = (tuple(dict.fromkeys((*x, *held))) for x in (read, inputs))
    system = system_with_slopes(arm, theory, "receptance", forces, places, singles)
    system = dataclasses.replace(system, beams=on_springs(system.beams, arm, springs))
    motions, _ = motions_with_slopes(system, omega)
    rows = [places.index(each) for each in (*read, *held)]
    columns = [forces.index(each) for each in (*inputs, *held)]
    shape = (len(places), len(forces), 1, omega.size)
    value = np.broadcast_to(motions.value, shape)[rows][:, columns, 0]
    slope = np.broadcast_to(motions.slopes, (len(singles) + 1, *shape))[:, rows][:, :, columns, 0]
    value, slope = (np.moveaxis(x.astype(complex), -1, -3) for x in (value, slope))
    return value, slope, np.array(springs)
