"""Transfer matrices of the pieces of a link as power series in the square of the frequency.

Pieces are short, so a dozen terms give all digits, for every frequency at which a link needs no more pieces. Each term
follows from the one before by the same collocation as in `members`, solved at once. The terms of inertia vanish with
the frequency as they should: no digits are lost at low frequencies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arithmetic.dual import Dual, solved, value_of
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.spatial.modes.values import BeamValues
from jaxmodal.spatial.preload.members import (
    INTEGRALS,
    POINTS,
    STAGES,
    WEIGHTS,
    Forces,
    Pieces,
    inertia_rates,
    pieces_of_transfer,
    state_rates,
)

#: terms of a series; sizes of pieces are below one, and the terms fall with the factorial of twice their number
TERMS = 13
#: doublings of the power up to which the series of an inverse goes, 31; see the iterations in `members`
_DOUBLINGS = 4


def transfer_series(
    beam: BeamValues, theory: Theory, forces: Forces, starts: Floats, share: float
) -> Numbers:
    """Return the terms (terms, pieces, 12, 12) of the transfer matrices of pieces.

    Each goes over a ``share`` of the length of the link from one of the ``starts``, shares of it, too. Imaginary parts
    are kept, and so are derivatives, if the beam or the forces are dual numbers.
    """
    h, count = beam.length * share, starts.size
    places = starts[:, None] + share * POINTS
    at = forces(places.ravel()).reshape(count, STAGES, 6)
    still = state_rates(beam, theory, at, 0.0)
    inertia = -inertia_rates(beam, theory)
    size = 12 * STAGES
    # stages S of the first term solve S = 1 + h I A S; those of the next ones have h I M (S before) for 1
    blocks = h * INTEGRALS[:, None, :, None] * np.moveaxis(still, 1, 2)[:, None]
    blocks = blocks.reshape(count, size, size)
    inverse, found = _one_less(value_of(blocks)), []
    stages = np.broadcast_to(np.tile(np.eye(12), (STAGES, 1)), (count, size, 12))
    constant, slopes = stages, np.zeros(())  # slopes along the piece
    for number in range(TERMS):
        stages = solved(blocks, inverse, constant)
        of_before, by_stage = slopes, stages.reshape(count, STAGES, 12, 12)
        slopes = inertia @ by_stage
        rates = (still @ by_stage + of_before).reshape(count, STAGES, 144)
        term = h * (WEIGHTS @ rates).reshape(count, 12, 12)
        found.append(term + np.eye(12) if number == 0 else term)
        constant = h * (INTEGRALS @ slopes.reshape(count, STAGES, 144)).reshape(count, size, 12)
    return np.stack(found)


def _one_less(matrices: Numbers) -> Numbers:
    """Return (1 - B)^-1 by (1 + B)(1 + B^2)(1 + B^4)..., which unlike an elimination needs no scales for units."""
    one = np.eye(matrices.shape[-1])
    found, power = one + matrices, matrices
    for _ in range(_DOUBLINGS):
        power = power @ power
        found = found + found @ power
    return found


def transfers_at(series: Numbers, square: Any) -> Any:
    """Return transfer matrices at squares of frequencies, in rad^2/s^2, along leading axes."""
    square = square if isinstance(square, Dual) else np.asarray(square)
    return np.tensordot(square[..., None] ** np.arange(TERMS), series, 1)


def pieces_at(series: Numbers, square: complex) -> Pieces:
    """Return the pieces at the square of a frequency, in rad^2/s^2."""
    return pieces_of_transfer(transfers_at(series, square))
