"""Static compliance of arms under axial forces, by their exact stiffness at rest: that of strain and of forces."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.loaded import as_segments
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.response.driven.members import Cut, cut_at, rows_on_segments
from jaxmodal.response.driven.ports import RELATIVE, Port, PortRow
from jaxmodal.response.static.buckled import buckled_error
from jaxmodal.runtime.errors import ArmError
from jaxmodal.statics.beam_arrays import SPRINGS, BeamArrays
from jaxmodal.statics.chain import geometry
from jaxmodal.statics.pieces import Pieces, Prestress, most_load, pieces_for
from jaxmodal.statics.stability import NO_STIFFNESS, Motions, balanced, motions_at, static_stiffness

Floats = NDArray[np.float64]


def compliance_under_forces(arm: Arm, found: Sequence[Port], theory: Theory) -> Floats:
    """Displacements of ports for unit forces at ports, shape (P, P).

    Parameters
    ----------
    arm
        A concrete arm with axial forces, or loads that make some.
    found
        Its ports, not the base.

    Raises
    ------
    ArmError
        A joint gives without end.
    UncertifiedError
        The forces buckle the arm or are its critical ones.

    Notes
    -----
    Exact for axial forces that are constant along each link or segment that stands for one. Each port is a row R over
    the coordinates of strain, of which the stiffness K at rest is a matrix, bordered by supports; the compliance is
    ``R K^-1 R^T``. With as many negative eigenvalues as supports the arm is at rest in a minimum of its energy.
    """
    beams = beam_values(arm)
    rows = rows_on_segments(arm, found)
    relative = [each.direction == RELATIVE for each in found]
    cut = cut_at(beams.length.shape[0], rows)
    parts = _parts(beams, cut)
    force = parts.axial_force
    assert force is not None
    assert parts.base_turning_stiffness is not None
    assert parts.end_turning_stiffness is not None
    at_end = parts.end_turning_stiffness
    if parts.flexible is not None:
        at_end = at_end + (1.0 - parts.flexible) * force * parts.length
    nothing = np.zeros_like(force)
    forces = Prestress(force, force, parts.base_turning_stiffness, at_end, nothing, nothing)
    shear = float(theory.shear)
    pieces = _require_pieces(parts, shear, forces)
    stiffness = static_stiffness(parts, shear, float(theory.axial), forces, 1.0, pieces)
    matrix, scale = balanced(stiffness)
    _require_rest(np.linalg.eigvalsh(matrix), stiffness.held, arm)
    reads = _reads(parts, cut, rows, relative, stiffness.motions)
    reads = np.concatenate([reads, np.zeros((len(rows), stiffness.held))], axis=1) * scale
    compliance = reads @ np.linalg.solve(matrix, reads.T)
    return np.asarray(0.5 * (compliance + compliance.T))


def _parts(beams: BeamArrays, cut: Cut) -> BeamArrays:
    """The segments cut where ports stand."""
    owner, ends = np.array(cut.links), np.array(cut.ends)
    last = ends == 1.0
    first = np.concatenate([[True], last[:-1]])
    columns = {
        field.name: getattr(beams, field.name)
        for field in dataclasses.fields(beams)
        if field.name != "has_shear" and getattr(beams, field.name) is not None
    }
    made = as_segments(columns, owner, first, last)
    made["length"] = made["length"] * np.array(cut.shares)
    return BeamArrays(**made, has_shear=beams.has_shear)


def _reads(
    parts: BeamArrays,
    cut: Cut,
    rows: Sequence[PortRow],
    relative: Sequence[bool],
    motions: Motions,
) -> Floats:
    """What each port reads of the coordinates of strain, (P, coordinates)."""
    shape = geometry(parts)
    base, along, end = (np.stack(x, axis=1) for x in (shape.base, shape.along, shape.end))
    behind = np.cumsum(base + along + end, axis=0)  # the tips
    starts = behind - along - end
    owner, ends = np.array(cut.links), np.array(cut.ends)
    found = np.zeros((len(rows), motions.place.size))
    for number, (row, between) in enumerate(zip(rows, relative, strict=True)):
        mine = np.flatnonzero(owner == row.link)
        if between:
            if (mine[0], 2) in motions.gives:
                at = motions.gives[mine[0], 2]
                found[number, at] = motions.turn[at]
            continue
        if row.place == "joint":
            part, place, point = mine[0], 0.2, starts[mine[0]] - base[mine[0]]
        elif row.place == "tip":
            part, place, point = mine[-1], 0.9, behind[mine[-1]]
        elif row.station == 0.0:
            part, place, point = mine[0], 0.2, starts[mine[0]]
        else:
            part = mine[np.flatnonzero(ends[mine] == row.station)[0]]
            place, point = 0.9, starts[part] + along[part]
        moved = motions_at(motions, part + place, *point)
        c, s = shape.cosine[part], shape.sine[part]
        seen = np.array([c * moved[0] + s * moved[1], c * moved[1] - s * moved[0], moved[2]])
        found[number] = np.asarray(row.row, np.float64) @ seen
    return found


def _require_rest(values: Floats, held: int, arm: Arm) -> None:
    """Refuse an arm that is not at rest in a minimum of its energy, by the eigenvalues of the bordered stiffness."""
    negative = int(np.sum(values < 0.0))
    small = np.abs(values) <= NO_STIFFNESS * np.max(np.abs(values), initial=0.0)
    if not small.any() and negative == held:
        return
    loose = [
        f"link{number}.{name}"
        for number, link in enumerate(arm.links, start=1)
        for name in SPRINGS
        if getattr(link, name) == 0.0
    ]
    if small.any() and negative <= held and loose:
        raise ArmError(
            f"{', '.join(loose)} = 0: nothing holds the arm under a static load beyond a free joint, its axial forces "
            "neither; give the joint a stiffness greater than 0, or leave it out for a rigid one."
        )
    raise buckled_error(arm, "static compliance")


def _require_pieces(beams: BeamArrays, shear: float, forces: Prestress) -> Pieces:
    """The pieces of all segments; refused where a segment is sheared off, or as taut as a wire."""
    if (pieces := pieces_for(beams, shear, forces, 1.0)) is not None:
        return pieces
    if most_load(beams, shear, forces) <= 1.0:
        raise ArmError(
            "axial_force: presses a link beyond -kappa G A, at which it shears off whatever its length; check the unit "
            "(N)."
        )
    raise ArmError(
        "axial_force: is beyond some 80,000 times E I/L^2 of a link, which it makes a wire; cut the link into segments."
    )
