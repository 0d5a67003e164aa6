"""Pieces of links under static axial forces: their number, and their exact stiffness.

The equations of a piece have polynomial coefficients in x, because the axial force is linear, and are solved by power
series. Arrays are NumPy's; imaginary parts are kept, for derivatives.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Bools, Integers, Numbers
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import shear_ratio

#: terms of the power series of a piece
_TERMS = 30
#: largest |N| h^2/(E I) of a piece, beyond which the series would need more terms; a piece clamped at both ends buckles
#: at 4 pi^2
_MOST_LOADED = 2.0
#: largest relative change, along a piece, of the shear stiffness that N leaves
_MOST_CHANGED = 0.25
#: largest number of pieces of a link
MOST_PIECES = 200


class Prestress(NamedTuple):
    """Static forces per unit load factor; all arrays of shape (n,).

    ``start, outer`` are the axial forces at both ends of each link, N, tension positive; ``at_start, at_end`` the
    stiffness against rotation there (`equilibrium.turning_stiffness`), N m/rad; ``along, across`` the forces in each
    joint, N.
    """

    start: Numbers
    outer: Numbers
    at_start: Numbers
    at_end: Numbers
    along: Numbers
    across: Numbers


class Pieces(NamedTuple):
    """Pieces of all flexible links, base to tip: link of each, position of its start along the link, length."""

    link: Integers
    begin: Numbers
    length: Numbers


def most_load(beams: BeamArrays, shear: float, prestress: Prestress) -> float:
    """Return the load factor at which a link under compression loses its shear stiffness; inf without shear."""
    _, give = shear_ratio(beams, shear)
    pressed = np.maximum(-np.real(prestress.start), -np.real(prestress.outer))
    share = np.where(_flexible(beams), pressed * np.real(give), 0.0)
    worst = float(np.max(share))
    return 1.0 / worst if worst > 0.0 else math.inf


def pieces_for(
    beams: BeamArrays, shear: float, prestress: Prestress, factor: float, least: int = 1
) -> Pieces | None:
    """Return the links cut into pieces short enough for ``factor``; None if some link would need too many."""
    rigidity, give = (np.real(x) for x in shear_ratio(beams, shear))
    length = np.real(beams.length)
    links, begins, lengths = [], [], []
    for i in np.flatnonzero(_flexible(beams)):
        ends = factor * np.real(np.array([prestress.start[i], prestress.outer[i]]))
        left = 1.0 + ends * give[i]
        if not np.min(left) > 0.0:
            return None
        load = np.max(np.abs(ends) / np.minimum(left, 1.0)) * length[i] ** 2 / rigidity[i]
        change = abs(ends[1] - ends[0]) * give[i] / np.min(left)
        needed = max(least, math.sqrt(load / _MOST_LOADED), change / _MOST_CHANGED)
        if not needed <= MOST_PIECES:  # or NaN, for loads near the limits of float64
            return None
        count = math.ceil(needed)
        links += [i] * count
        begins += [beams.length[i] * (k / count) for k in range(count)]
        lengths += [beams.length[i] / count] * count
    kind = np.result_type(beams.length, np.float64)
    return Pieces(np.array(links, np.int64), np.array(begins, kind), np.array(lengths, kind))


def _flexible(beams: BeamArrays) -> Bools:
    everywhere = np.ones(beams.length.shape[0], bool)
    return everywhere if beams.flexible is None else np.real(beams.flexible) > 0.0


class PieceCurves(NamedTuple):
    """Power series of one piece in x/h: rotation, and slope without shear, for unit rotation, curvature and force.

    Each has shape (terms, 3, pieces), the coefficients of psi at the start, of h psi' there, and of V h^2/(E I).
    """

    rotation: Numbers
    slope: Numbers


def piece_curves(a: Numbers, change: Numbers, give: Numbers) -> PieceCurves:
    """Solve ``(1 + e a(x)) psi'' = a(x) psi - nu`` and ``w' = (psi + e nu)/(1 + e a(x))``.

    ``a = N h^2/(E I)`` is given at the start of each piece, ``change`` is its change along the piece, and ``give`` is
    ``e = E I/(kappa G A h^2)``.
    """
    kind = np.result_type(a, change, give, np.float64)
    psi = np.zeros((_TERMS + 2, 3, *a.shape), kind)
    slope = np.zeros((_TERMS + 2, 3, *a.shape), kind)
    psi[0, 0] = 1.0
    psi[1, 1] = 1.0
    left, lost = 1.0 + give * a, give * change
    for k in range(_TERMS):
        right = a * psi[k]
        if k:
            right = right + change * psi[k - 1]
        else:
            right[2] -= 1.0
        psi[k + 2] = (right - lost * ((k + 1) * k) * psi[k + 1]) / (left * ((k + 2) * (k + 1)))
    for k in range(_TERMS + 2):
        right = psi[k].copy()
        if k == 0:
            right[2] += give
        else:
            right -= lost * slope[k - 1]
        slope[k] = right / left
    return PieceCurves(psi, slope)


class PieceLaws(NamedTuple):
    """Stiffness of a piece for (rotation of its start, own rotation, own deflection over h), in units of E I/h.

    ``start`` (2, 3, pieces) are curvature and force for each of these; ``energy`` has shape (3, 3, pieces).
    """

    curves: PieceCurves
    start: Numbers
    energy: Numbers


def piece_laws(a: Numbers, change: Numbers, give: Numbers) -> PieceLaws:
    """Return the exact stiffness of each piece.

    The entries of the first row and column vanish with a and have full relative accuracy.
    """
    curves = piece_curves(a, change, give)
    order = np.arange(_TERMS + 2.0)
    at_end = np.sum(curves.rotation[2:], axis=0)  # beyond the first two terms, which are 1 and x
    bent = np.tensordot(order[2:], curves.rotation[2:], axes=1)
    shift = np.tensordot(1.0 / (order[1:] + 1.0), curves.slope[1:], axes=1)
    first = give * a / (1.0 + give * a)
    # deviations from the rigid rotation: of the end's rotation, of the mean slope, of the curvature
    turn = at_end.copy()
    turn[1] += 1.0
    sink = shift.copy()
    sink[0] -= first
    sink[2] += give / (1.0 + give * a)
    moment = np.tensordot(order[3:], curves.rotation[3:], axes=1)
    # psi'' at the start is (a psi - nu)/(1 + e a): the force's part of the curvature and the force cancel
    moment[0] += 2.0 * curves.rotation[2, 0]
    moment[1] += 2.0 * curves.rotation[2, 1]
    moment[2] += first
    det = turn[1] * sink[2] - turn[2] * sink[1]
    inverse = np.array([[sink[2], -turn[2]], [-sink[1], turn[1]]]) / det
    given = np.zeros((2, 3, *a.shape), turn.dtype)
    given[0, 0], given[1, 0] = -turn[0], -sink[0]
    given[0, 1] = given[1, 2] = 1.0
    start = np.einsum("ijp,jkp->ikp", inverse, given)
    energy = np.empty((3, 3, *a.shape), turn.dtype)
    energy[0] = moment[1] * start[0] + moment[2] * start[1]
    energy[0, 0] += moment[0]
    energy[1] = start[0] * (1.0 + bent[1]) + bent[2] * start[1]
    energy[1, 0] += bent[0]
    energy[2] = start[1]
    return PieceLaws(curves, start, energy)


def laws_under(
    beams: BeamArrays, shear: float, prestress: Prestress, factor: complex, pieces: Pieces
) -> tuple[PieceLaws, Numbers]:
    """Return `piece_laws` under ``factor`` times the prestress, and E I/(kappa G A h^2) of each piece."""
    rigidity, give = shear_ratio(beams, shear)
    link, h = pieces.link, pieces.length
    growth = (prestress.outer - prestress.start) / beams.length
    unit = h * h / rigidity[link]
    begin = factor * (prestress.start[link] + growth[link] * pieces.begin)
    share = give[link] / unit
    return piece_laws(begin * unit, factor * growth[link] * h * unit, share), share
