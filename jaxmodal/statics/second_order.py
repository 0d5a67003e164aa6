"""Deflections of an arm under axial forces by second-order theory: exact, from the static stiffness.

Arrays are NumPy's; imaginary parts are kept, for derivatives.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.runtime.array_types import Numbers
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads, geometry, places, weights
from jaxmodal.statics.laws import shear_ratio
from jaxmodal.statics.pieces import Pieces, Prestress, laws_under, pieces_for
from jaxmodal.statics.stability import (
    Motions,
    balanced,
    motions_at,
    static_stiffness,
    turns_before,
)

#: eigenvalues of the balanced stiffness below this share of the largest are rounding
_CRITICAL = 1e-13


def loaded_tip(
    beams: BeamArrays, shear: float, axial: float, prestress: Prestress, loads: DeadLoads
) -> Numbers:
    """Return the displacement of the last tip under loads, with the stiffening or softening by static forces.

    Parameters
    ----------
    beams : BeamArrays
        Link values of NumPy, shape (n,); imaginary parts are kept.
    prestress : Prestress
        The static forces, which are constant.

    Returns
    -------
    array, shape (2,)
        Displacement along x and y of the base, m; NaN if static forces buckle the arm, or it is not held.

    Notes
    -----
    Along each piece of a link, the work of the load is computed with the exact deflections under unit motions of the
    ends. Therefore the displacement is exact, without discretisation error.
    """
    pieces = pieces_for(beams, shear, prestress, 1.0)
    if pieces is None:
        return np.full(2, np.nan)
    found = static_stiffness(beams, shear, axial, prestress, 1.0, pieces)
    matrix, scale = balanced(found)
    # as many negative eigenvalues as supports, and none within rounding of zero
    values = np.linalg.eigvalsh(np.real(matrix))
    small = np.abs(values) <= _CRITICAL * np.max(np.abs(values), initial=0.0)
    if small.any() or np.sum(values < 0.0) != found.held:
        return np.full(2, np.nan)
    force = _forces(beams, shear, prestress, loads, pieces, found.motions)
    free = np.zeros(found.held)
    moved = scale * np.linalg.solve(matrix, scale * np.concatenate([force, free]))
    last = beams.length.shape[0] - 1
    tip = motions_at(found.motions, last + 0.9, *places(geometry(beams))[2][:, -1])[:2]
    return np.asarray(tip @ moved[: force.size])


def _forces(
    beams: BeamArrays,
    shear: float,
    prestress: Prestress,
    loads: DeadLoads,
    pieces: Pieces,
    motions: Motions,
) -> Numbers:
    """Return the work of the loads on each strain coordinate."""
    shape = geometry(beams)
    joints, starts, tips = places(shape)
    line, tip, moment, hub = weights(beams, shape, loads)
    total = np.zeros(motions.place.size, np.result_type(motions.move_x, *line, *tip))
    flexible = np.ones(beams.length.shape[0]) if beams.flexible is None else beams.flexible
    for i in range(beams.length.shape[0]):
        at_tip = np.array([tip[0][i], tip[1][i], moment[i]])
        total = total + at_tip @ motions_at(motions, i + 0.9, *tips[:, i])
        at_hub = np.array([hub[0][i], hub[1][i]])
        total = total + at_hub @ motions_at(motions, i + 0.2, *joints[:, i])[:2]
        own = np.array([line[0][i], line[1][i]])
        if np.real(flexible[i]) == 0.0:
            along = np.array([shape.along[0][i], shape.along[1][i]])
            middle = motions_at(motions, i + 0.2, *(starts[:, i] + 0.5 * along))
            total = total + beams.length[i] * (own @ middle[:2])
    return total + _along_pieces(beams, shear, prestress, pieces, motions, starts, line)


def _along_pieces(
    beams: BeamArrays,
    shear: float,
    prestress: Prestress,
    pieces: Pieces,
    motions: Motions,
    starts: Numbers,
    line: tuple[Numbers, Numbers],
) -> Numbers:
    """Return the work of the weight of links."""
    shape, link, h = geometry(beams), pieces.link, pieces.length
    laws, sheared = laws_under(beams, shear, prestress, 1.0, pieces)
    # deflections for a rotation of the start, the piece's own rotation, and its own deflection over h, from the start
    slope = np.einsum("tjp,jkp->tkp", laws.curves.slope[:, 1:], laws.start)
    slope[:, 0] += laws.curves.slope[:, 0]
    order = np.arange(slope.shape[0])
    area = np.einsum("tkp,t->kp", slope, 1.0 / ((order + 1.0) * (order + 2.0)))
    c, s = shape.cosine[link], shape.sine[link]
    across = c * line[1][link] - s * line[0][link]
    by_turn, by_own, by_shift = across * h * h * area
    bend = np.sqrt(h / shear_ratio(beams, shear)[0][link])
    before = turns_before(motions, motions.place[motions.first])
    total = by_turn @ before
    np.add.at(total, motions.first, (by_own + 0.5 * by_shift) * bend)
    np.add.at(total, motions.first + 1, by_shift * bend * np.sqrt(1.0 / 12.0 + sheared))
    for k, i in enumerate(link):
        at = starts[:, i] + pieces.begin[k] * np.array([c[k], s[k]])
        moved = motions_at(motions, motions.place[motions.first[k]], *at)[:2]
        if i in motions.stretch:  # grows along the link
            share = (pieces.begin[k] + 0.5 * h[k]) / beams.length[i]
            moved[:, motions.stretch[i]] *= share
        total = total + h[k] * (np.array([line[0][i], line[1][i]]) @ moved)
    return total
