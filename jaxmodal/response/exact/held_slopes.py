"""Derivatives of what arms on rigid supports answer, from those of the arm on springs in place of the supports."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

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
from jaxmodal.response.exact.slopes import condensed_with_slopes, system_with_slopes
from jaxmodal.response.receptance.answers import motions_of

Complexes = NDArray[np.complex128]


class _Blocks(NamedTuple):
    """Motions, or their derivatives, (..., F, places, forces), of what is read and of supports, R, S."""

    read_driven: Complexes
    read_held: Complexes
    held_driven: Complexes
    held: Complexes


def held_motions(
    arm: Arm,
    theory: TheoryName,
    inputs: Sequence[Port],
    read: Sequence[Port],
    singles: Sequence[str],
    omega: np.ndarray,
) -> Dual:
    """Motions (read, inputs, 1, F) of an arm on rigid supports, by single addresses and by the frequency last.

    Notes
    -----
    With A, B, C, D the motions on springs of what is read and of the supports, by the inputs and by forces at the
    supports, they are ``A - B C^-1 D``. The springs are none of the arm's values, and have no derivative.
    """
    answers = [
        _held(*blocks_with_slopes(arm, theory, inputs, read, singles, omega, factor))
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
    """Derivatives (P, M) of simple roots of an arm on rigid supports.

    Notes
    -----
    At a root forces at the supports alone, v, keep them at rest: ``C v = 0`` for their receptances C, which are
    symmetric; so a root moves by ``-(v^T dC v)/(v^T dC/ds v)``.
    """
    value, slope, _ = blocks_with_slopes(arm, theory, (), (), singles, roots)
    size, scale = _sizes(value.held)
    vector = np.linalg.svd(value.held / scale)[2][:, -1].conj() / size
    found = np.einsum("fs,pfst,ft->pf", vector, slope.held, vector)
    return _without_rigid(-found[:-1] / found[-1], arm, singles)


def _without_rigid(slopes: Complexes, arm: Arm, singles: Sequence[str]) -> Complexes:
    """Derivatives, those by supports that are rigid 0: more stiffness adds nothing."""
    rigid = rigid_addresses(arm)
    for place, single in enumerate(singles):
        if single in rigid:
            slopes[place] = 0.0
    return slopes


def _held(
    value: _Blocks, slope: _Blocks, springs: np.ndarray
) -> tuple[Complexes, Complexes, np.ndarray]:
    """Motions (F, R, I), their derivatives (P, F, R, I), and how near the arm on springs is to a resonance, (F,)."""
    size, scale = _sizes(value.held)
    inverse = np.linalg.inv(value.held / scale) / scale
    pushed = inverse @ value.held_driven
    passed = value.read_held @ inverse
    motions = value.read_driven - passed @ value.held_driven
    slopes = (
        slope.read_driven
        - slope.read_held @ pushed
        - passed @ slope.held_driven
        + passed @ slope.held @ pushed
    )
    return motions, slopes, (size * size * springs).max(axis=1)


def _sizes(held: Complexes) -> tuple[np.ndarray, np.ndarray]:
    """Roots of the receptances of supports at themselves, (F, S), and of every two multiplied, (F, S, S)."""
    size = np.sqrt(np.abs(np.einsum("fss->fs", held)))
    return size, size[:, :, None] * size[:, None, :]


def blocks_with_slopes(
    arm: Arm,
    theory: TheoryName,
    inputs: Sequence[Port],
    read: Sequence[Port],
    singles: Sequence[str],
    omega: np.ndarray,
    factor: float = 1.0,
) -> tuple[_Blocks, _Blocks, np.ndarray]:
    """Motions of an arm on springs, their derivatives, with a first axis of these, and the springs, (S,)."""
    held = tuple(rigid_supports(arm))
    springs = stand_ins(arm, factor)
    places, forces = (tuple(dict.fromkeys((*x, *held))) for x in (read, inputs))
    system = system_with_slopes(arm, theory, "receptance", forces, places, singles)
    system = dataclasses.replace(system, beams=on_springs(system.beams, arm, springs))
    arms, _, found = condensed_with_slopes(system, omega)
    with np.errstate(all="ignore"):
        motions = motions_of(system, arms, found, (1, omega.size))
    shape = (len(places), len(forces), 1, omega.size)
    value = np.broadcast_to(motions.value, shape)[:, :, 0]
    slope = np.broadcast_to(motions.slopes, (len(singles) + 1, *shape))[..., 0, :]

    def blocks(values: np.ndarray) -> _Blocks:
        values = np.moveaxis(values.astype(complex), -1, -3)
        rows = [[places.index(each) for each in x] for x in (read, held)]
        columns = [[forces.index(each) for each in x] for x in (inputs, held)]
        return _Blocks(*(values[..., r, :][..., c] for r in rows for c in columns))

    return blocks(value), blocks(slope), np.array(springs)
