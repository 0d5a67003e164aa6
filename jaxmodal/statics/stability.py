"""Exact static stiffness of an arm whose links carry axial forces, in strain coordinates.

The coordinates are the deflections of the joints and, for each link, the stretch and the bending of short pieces. Every
motion follows from them outwards from the base, and the strain energy without axial forces is half the sum of their
squares. Therefore no stiff part hides a soft one.

Arrays are NumPy's; imaginary parts are kept, for derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Floats, Integers, Numbers
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays
from jaxmodal.statics.chain import DeadLoads, geometry, places
from jaxmodal.statics.equilibrium import Equilibrium, turning_stiffness
from jaxmodal.statics.foundation import base_law, of_first, strains
from jaxmodal.statics.laws import shear_ratio
from jaxmodal.statics.pieces import Pieces, Prestress, laws_under, pieces_for

#: eigenvalues of the balanced stiffness below this share of the largest are rounding: the arm moves without strain
NO_STIFFNESS = 1e-12
#: eigenvalues below this share of the largest may be rounding
ROUNDING = 10.0 * 2.0**-52


class StaticStiffness(NamedTuple):
    """The symmetric stiffness matrix and its coordinates.

    ``matrix`` is the stiffness bordered by the supports. Its negative eigenvalues are those of the stiffness and one
    for each of the ``held`` supports.
    """

    matrix: Numbers
    held: int
    motions: Motions


class Motions(NamedTuple):
    """Motion of everything beyond each coordinate: a rotation about a point and a displacement, in base axes.

    Arrays of shape (coordinates,). ``place`` orders them along the chain; ``first`` is the first bending coordinate of
    each piece, (pieces,); ``base`` is True for free coordinates of an elastic base.
    """

    place: Floats
    turn: Numbers
    move_x: Numbers
    move_y: Numbers
    about_x: Numbers
    about_y: Numbers
    first: Integers
    stretch: dict[int, int]
    gives: dict[tuple[int, int], int]
    base: dict[int, bool]


def given_prestress(beams: BeamArrays) -> Prestress:
    """Return the static forces that are given directly for the links."""
    nothing = np.zeros(beams.length.shape[0])
    force = beams.axial_force
    if force is None:
        return Prestress(*(nothing,) * 6)
    assert beams.base_turning_stiffness is not None
    assert beams.end_turning_stiffness is not None
    at_end = beams.end_turning_stiffness
    if beams.flexible is not None:
        at_end = at_end + (1.0 - beams.flexible) * force * beams.length
    return Prestress(force, force, beams.base_turning_stiffness, at_end, nothing, nothing)


def prestress(beams: BeamArrays, loads: DeadLoads, found: Equilibrium) -> Prestress:
    """Return the static forces of the loads plus those given directly for the links."""
    forces = found.forces
    turning = turning_stiffness(beams, loads, forces)
    made = (forces.start[0], forces.outer[0], *turning, forces.joint[0], forces.joint[1])
    return Prestress(*(x + y for x, y in zip(made, given_prestress(beams), strict=True)))


def static_stiffness(
    beams: BeamArrays,
    shear: float,
    axial: float,
    prestress: Prestress,
    factor: complex,
    pieces: Pieces,
) -> StaticStiffness:
    """Return the stiffness under ``factor`` times the prestress.

    Parameters
    ----------
    beams : BeamArrays
        Link values of NumPy, shape (n,); imaginary parts are kept.
    prestress : Prestress
        Static forces per unit factor.
    pieces : Pieces
        From `pieces_for`, for this factor or a larger one.
    """
    motions = _motions(beams, shear, axial, pieces)
    link = pieces.link
    laws, sheared = laws_under(beams, shear, prestress, factor, pieces)
    own = np.sqrt(1.0 / 12.0 + sheared)
    energy = laws.energy
    one_two = 0.5 * energy[:, 2]
    bending = np.stack([energy[:, 0], energy[:, 1] + one_two, own * energy[:, 2]], axis=1)
    bending = np.stack(
        [bending[0], bending[1] + 0.5 * bending[2], own * bending[2]], axis=0
    )  # over (rotation of the start times sqrt(E I/h), the two coordinates)
    size = motions.place.size
    root = np.sqrt(shear_ratio(beams, shear)[0][link] / pieces.length)
    before = turns_before(motions, motions.place[motions.first]) * root[:, None]
    beside = np.zeros((link.size, size), bending.dtype)
    rows = np.arange(link.size)
    beside[rows, motions.first] = bending[0, 1]
    beside[rows, motions.first + 1] = bending[0, 2]
    matrix = (before * bending[0, 0][:, None]).T @ before + before.T @ beside + beside.T @ before
    for i in range(2):
        for j in range(2):
            matrix[motions.first + i, motions.first + j] += bending[i + 1, j + 1]
    matrix = matrix + np.diag(_strain_of_others(beams, motions))
    matrix = matrix + factor * _of_rigid_parts(beams, prestress, motions)
    return _with_supports(beams, matrix, motions)


def _motions(beams: BeamArrays, shear: float, axial: float, pieces: Pieces) -> Motions:
    """Return all coordinates, base to tip."""
    shape = geometry(beams)
    rigidity, give = shear_ratio(beams, shear)
    rows: list[tuple[Any, ...]] = []
    first, stretch, gives, moved = [], {}, {}, {}
    x = y = 0.0 * beams.length[0]
    soft = np.sqrt(np.max(np.real(beams.length / rigidity)))
    reach = np.sum(np.real(beams.length))
    law = base_law(beams)
    for motion, loose in [] if law is None else strains(of_first(law)):
        amounts = (soft * reach, soft * reach, soft) if loose else (1.0, 1.0, 1.0)
        move_x, move_y, turn = (m * amount for m, amount in zip(motion, amounts, strict=True))
        moved[len(rows)] = loose
        rows.append((-1, turn, move_x, move_y, x, y))
    for i in range(beams.length.shape[0]):
        c, s = shape.cosine[i], shape.sine[i]
        for k, spring in enumerate(beams.springs):
            stiffness = np.inf if spring is None else spring[i]
            if np.isinf(np.real(stiffness)):
                continue
            loose = np.real(stiffness) == 0.0
            amount = soft * (reach if k < 2 else 1.0) if loose else 1.0 / np.sqrt(stiffness)
            gives[i, k] = len(rows)
            turn, along, across = ((k == j) * amount for j in (2, 0, 1))
            rows.append((i, turn, c * along - s * across, s * along + c * across, x, y))
        x, y = x + shape.base[0][i], y + shape.base[1][i]
        own = np.flatnonzero(pieces.link == i)
        for k, piece in enumerate(own):
            h = pieces.length[piece]
            if k == 0 and axial:
                amount = np.sqrt(beams.length[i] / (beams.youngs_modulus[i] * beams.area[i]))
                stretch[i] = len(rows)
                rows.append((i + 0.3, 0.0 * x, c * amount, s * amount, x, y))
            end_x, end_y = x + c * h * (k + 1), y + s * h * (k + 1)
            bend = np.sqrt(h / rigidity[i])
            shift = np.sqrt(h**3 / (12.0 * rigidity[i]) + h * give[i])
            place = i + 0.4 + 0.2 * k / own.size
            first.append(len(rows))
            for turn, move in ((bend, 0.5 * h * bend), (0.0 * bend, shift)):
                rows.append((place, turn, -s * move, c * move, end_x, end_y))
        x = x + shape.along[0][i] + shape.end[0][i]
        y = y + shape.along[1][i] + shape.end[1][i]
    columns = [np.array([row[k] for row in rows]) for k in range(6)]
    return Motions(
        np.real(columns[0]).astype(np.float64),
        *(columns[1], columns[2], columns[3], columns[4], columns[5]),
        first=np.array(first, np.int64),
        stretch=stretch,
        gives=gives,
        base=moved,
    )


def turns_before(motions: Motions, places: Numbers) -> Numbers:
    """Return the rotation of places by each coordinate before them, (places, coordinates).

    Places on the chain are counted in links from 0: i is before the joint of a link, i + 0.2 its start, i + 0.9 its
    end; -1 is in the base.
    """
    return np.where(motions.place[None, :] < places[:, None], motions.turn[None, :], 0.0)


def motions_at(motions: Motions, place: float, x: Any, y: Any) -> Numbers:
    """Return the motion of a place at (x, y) by each coordinate: along x, y and about it, (3, coordinates).

    Places are as in `turns_before`.
    """
    moved = motions.place < place
    rows = np.array(
        [
            motions.move_x - motions.turn * (y - motions.about_y),
            motions.move_y + motions.turn * (x - motions.about_x),
            motions.turn,
        ]
    )
    return np.where(moved, rows, 0.0)


def _strain_of_others(beams: BeamArrays, motions: Motions) -> Numbers:
    """Return twice the strain energy of springs and stretches: 1 each, 0 for a free joint."""
    given = [spring for spring in beams.springs if spring is not None]  # complex if one is varied
    diagonal = np.zeros(motions.place.size, np.result_type(motions.turn, *given))
    for (i, k), at in motions.gives.items():
        spring = beams.springs[k]
        stiffness = np.inf if spring is None else spring[i]
        if np.real(stiffness) != 0.0:
            diagonal[at] = 1.0
        else:
            amount = (
                motions.turn[at]
                if k == 2
                else np.hypot(*np.real([motions.move_x[at], motions.move_y[at]]))
            )
            diagonal[at] = stiffness * amount**2
    for at in (*motions.stretch.values(), *(at for at, free in motions.base.items() if not free)):
        diagonal[at] = 1.0
    return diagonal


def _of_rigid_parts(beams: BeamArrays, prestress: Prestress, motions: Motions) -> Numbers:
    """Return the geometric stiffness of rigid parts that rotate, and of joints that slide and are rotated.

    The springs of a joint belong to the part before it. If that rotates by phi, a deflection g moves by phi x g, on
    which the force F in the joint does the work ``-phi (F_x g_y - F_y g_x)``.
    """
    n = beams.length.shape[0]
    starts = turns_before(motions, np.arange(n) + 0.2)
    ends = turns_before(motions, np.arange(n) + 0.9)
    matrix = (starts * prestress.at_start[:, None]).T @ starts
    matrix = matrix + (ends * prestress.at_end[:, None]).T @ ends
    shape = geometry(beams)
    bearers = turns_before(motions, np.arange(n) + 0.0)
    for (i, k), at in motions.gives.items():
        if k == 2:
            continue
        c, s = shape.cosine[i], shape.sine[i]
        along = c * motions.move_x[at] + s * motions.move_y[at]
        across = c * motions.move_y[at] - s * motions.move_x[at]
        amount = prestress.along[i] * across - prestress.across[i] * along
        matrix[at] = matrix[at] + amount * bearers[i]
        matrix[:, at] = matrix[:, at] + amount * bearers[i]
    return np.asarray(matrix)


def _with_supports(beams: BeamArrays, matrix: Numbers, motions: Motions) -> StaticStiffness:
    """Return the stiffness bordered by the supports: ``[[K, R^T], [R, -1/k]]``, with rows of R of unit size.

    Each support adds one negative eigenvalue to those of ``K + k R^T R`` or, if rigid, to those of K where R q = 0
    (E. V. Haynsworth, Linear Algebra Appl. 1, 1968, 73-81).
    """
    if beams.supports is None:
        return StaticStiffness(matrix, 0, motions)
    tips = places(geometry(beams))[2]
    rows, gives = [], []
    for i in range(beams.length.shape[0]):
        moved = motions_at(motions, i + 0.9, *tips[:, i])
        for name, row in zip(SUPPORTS, moved, strict=True):
            stiffness, size = getattr(beams, name)[i], np.linalg.norm(np.real(row))
            if np.real(stiffness) == 0.0 or size == 0.0:  # no support, or no coordinate moves it
                if np.imag(stiffness) != 0.0:
                    matrix = matrix + stiffness * np.outer(row, row)
                continue
            give = 0.0 if np.isinf(np.real(stiffness)) else 1.0 / stiffness
            rows.append(row / size)
            gives.append(give / size**2)
    if not rows:
        return StaticStiffness(matrix, 0, motions)
    border = np.array(rows)
    bordered = np.block([[matrix, border.T], [border, -np.diag(gives)]])
    return StaticStiffness(bordered, len(rows), motions)


def eigenvalues(
    beams: BeamArrays, shear: float, axial: float, forces: Prestress, factor: float
) -> tuple[Numbers, int]:
    """Return the eigenvalues of the stiffness under a load factor, and how many of the first are due to supports.

    Eigenvalues ascend. The number of negative ones among the others is the number of buckling factors below the factor.
    Only -inf is returned if the arm has no finite number of pieces.
    """
    pieces = pieces_for(beams, shear, forces, factor)
    if pieces is None:
        return np.array([-np.inf]), 0
    found = static_stiffness(beams, shear, axial, forces, factor, pieces)
    return np.linalg.eigvalsh(balanced(found)[0]), found.held


def moves_without_strain(beams: BeamArrays, shear: float, axial: float, forces: Prestress) -> bool:
    """Return True if the arm has a motion that no spring, link or support resists."""
    own, _ = eigenvalues(beams, shear, axial, forces, 0.0)
    return bool(own.size and np.min(np.abs(own)) <= NO_STIFFNESS * np.max(np.abs(own)))


def unstable(
    beams: BeamArrays, shear: float, axial: float, forces: Prestress, factor: float
) -> bool:
    """Return True if the arm buckles under a factor of its static forces, or is at a critical load within rounding.

    For a motion without strain only these forces decide, if they exceed rounding.
    """
    values, held = eigenvalues(beams, shear, axial, forces, factor)
    if not values.size or values[0] == -np.inf:
        return bool(values.size)
    free = moves_without_strain(beams, shear, axial, forces)
    least = (-NO_STIFFNESS if free else ROUNDING) * np.max(np.abs(values))
    return bool(np.sum(values < least) > held)


def balanced(found: StaticStiffness) -> tuple[Numbers, Numbers]:
    """Return the matrix with scaled rows and columns, and the scales; the number of negative eigenvalues is unchanged.

    Tension and very soft supports make some entries much larger than others, so that small eigenvalues would be lost in
    rounding. Diagonal entries above 1 are scaled to 1, then the rows of supports, or their compliances, to unit size.
    """
    matrix, size = found.matrix, found.matrix.shape[0] - found.held
    scale = np.ones(found.matrix.shape[0])
    scale[:size] = 1.0 / np.sqrt(np.maximum(1.0, np.abs(np.diagonal(matrix)[:size])))
    if found.held:
        rows = np.linalg.norm(matrix[size:, :size] * scale[:size], axis=1)
        rows = np.maximum(rows, np.sqrt(np.abs(np.diagonal(matrix)[size:])))
        scale[size:] = 1.0 / np.where(rows > 0.0, rows, 1.0)
    return matrix * scale[:, None] * scale[None, :], scale
