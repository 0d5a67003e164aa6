"""Buckling shapes of planar arms along their links."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.at_rest.loaded_arms import LoadedArm
from jaxmodal.runtime.array_types import Floats, Integers
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import geometry, places
from jaxmodal.statics.laws import shear_ratio
from jaxmodal.statics.pieces import PieceLaws, Pieces, laws_under, pieces_for
from jaxmodal.statics.stability import balanced, turns_before

#: displacements below this share of the largest rotation times the length of the arm are rounding
_MOVES = 1e-12


def null_vector(problem: LoadedArm, factor: float, place: int) -> Floats:
    """Return the null vector of the stiffness at a factor: the ``place``-th eigenvector, from 0, after those of
    supports.

    Its first entries are the strain coordinates, the others belong to supports.
    """
    found = problem.stiffness(factor)
    assert found is not None
    matrix, scale = balanced(found)
    vector: Floats = scale * np.linalg.eigh(matrix)[1][:, found.held + place]
    return vector


def shape_along(
    problem: LoadedArm, factor: float, vector: Floats, stations: Floats
) -> tuple[Floats, Floats]:
    """Return displacements (n, S, 2) in base axes and rotations (n, S) at shares of each link's length.

    Along a piece they are the power series of its equations.
    """
    beams, found = problem.beams, problem.stiffness(factor)
    pieces = pieces_for(beams, problem.shear, problem.prestress, factor)
    assert found is not None
    assert pieces is not None
    laws, sheared = laws_under(beams, problem.shear, problem.prestress, factor, pieces)
    motions = found.motions
    q = vector[: motions.place.size]
    n = beams.length.shape[0]
    turn = turns_before(motions, np.arange(n) + 0.2) @ q
    shape = geometry(beams)
    moved, turned = np.zeros((n, stations.size, 2)), np.zeros((n, stations.size))
    base = list(motions.base)
    x, y = motions.move_x[base] @ q[base], motions.move_y[base] @ q[base]
    for i in range(n):
        c, s = shape.cosine[i], shape.sine[i]
        for k in range(2):
            if (i, k) in motions.gives:
                at = motions.gives[i, k]
                x, y = x + motions.move_x[at] * q[at], y + motions.move_y[at] * q[at]
        x, y = x - turn[i] * shape.base[1][i], y + turn[i] * shape.base[0][i]
        stretch = 0.0
        if i in motions.stretch:
            at = motions.stretch[i]
            stretch = float((c * motions.move_x[at] + s * motions.move_y[at]) * q[at])
        with_end = np.append(stations, 1.0)
        v, psi = _across(problem, laws, sheared, pieces, motions.first, q, i, turn[i], with_end)
        (v, end_v), (psi, end_psi) = (v[:-1], v[-1]), (psi[:-1], psi[-1])
        u = stations * stretch
        moved[i, :, 0], moved[i, :, 1] = x + c * u - s * v, y + s * u + c * v
        turned[i] = psi
        x, y = x + c * stretch - s * end_v, y + s * stretch + c * end_v
        x, y = x - end_psi * shape.end[1][i], y + end_psi * shape.end[0][i]
    return moved, turned


def _across(
    problem: LoadedArm,
    laws: PieceLaws,
    sheared: Floats,
    pieces: Pieces,
    first: Integers,
    q: Floats,
    link: int,
    turn: float,
    stations: Floats,
) -> tuple[Floats, Floats]:
    """Return deflection across a link relative to its start, and rotation."""
    length = float(problem.beams.length[link])
    own = np.flatnonzero(pieces.link == link)
    if not own.size:
        return turn * length * stations, np.full(stations.size, turn)
    h = length / own.size
    bend = np.sqrt(h / shear_ratio(problem.beams, problem.shear)[0][link])
    v, psi = np.zeros(stations.size), np.zeros(stations.size)
    before, rotation = 0.0, turn
    place = np.minimum((stations * own.size).astype(np.int64), own.size - 1)
    for k, piece in enumerate(own):
        a, b = q[first[piece]], q[first[piece] + 1]
        own_turn = bend * a
        sink = 0.5 * own_turn + np.sqrt(1.0 / 12.0 + sheared[piece]) * bend * b
        start = laws.start[:, :, piece] @ np.array([rotation, own_turn, sink])
        unknown = np.array([rotation, *start])
        here = place == k
        t = stations[here] * own.size - k
        psi[here] = _series(laws.curves.rotation[:, :, piece] @ unknown, t)
        slope = laws.curves.slope[:, :, piece] @ unknown
        whole = np.concatenate([[0.0], slope / np.arange(1.0, slope.size + 1.0)])
        v[here] = before + h * _series(whole, t)
        before, rotation = before + h * (rotation + sink), rotation + own_turn
    return v, psi


def _series(coefficients: Floats, t: Floats) -> Floats:
    found: Any = np.polynomial.polynomial.polyval(t, coefficients)
    return np.asarray(found, np.float64)


def scaled(moved: Floats, turned: Floats, length: float) -> tuple[Floats, Floats]:
    """Return a shape scaled to a largest displacement of 1 m, positive; of 1 rad if no point moves.

    ``length`` is that of the arm.
    """
    largest = moved.reshape(-1)[np.argmax(np.abs(moved))]
    if abs(largest) <= _MOVES * length * np.max(np.abs(turned)):
        largest = turned.reshape(-1)[np.argmax(np.abs(turned))]
    return moved / largest, turned / largest


def positions(beams: BeamArrays, stations: Floats) -> Floats:
    """Return the positions of stations in the undeformed posture, (n, S, 2), in m."""
    shape = geometry(beams)
    starts, along = places(shape)[1], np.stack(shape.along)
    return np.moveaxis(starts[..., None] + along[..., None] * stations, 0, -1)
