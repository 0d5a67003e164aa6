"""Static compliance between ports, from the exact static stiffness."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.loaded import as_segments, under_forces
from jaxmodal.arm.refusals import require_concrete, require_known
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.dynamic_stiffness.rigid_motions import STILL
from jaxmodal.response.driven.labels import port_labels
from jaxmodal.response.driven.members import Cut, cut_at, owners, rows_on_segments
from jaxmodal.response.driven.port_quantities import unit_of_pair
from jaxmodal.response.driven.ports import RELATIVE, Port, PortRow, Ports, ports
from jaxmodal.response.static.buckled import buckled_error
from jaxmodal.response.static.in_space import compliance_in_space
from jaxmodal.runtime.array_types import Bools, Floats, Integers
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.statics.beam_arrays import SPRINGS, BeamArrays
from jaxmodal.statics.chain import Geometry, geometry, places
from jaxmodal.statics.pieces import Pieces, Prestress, most_load, pieces_for
from jaxmodal.statics.stability import (
    NO_STIFFNESS,
    Motions,
    StaticStiffness,
    balanced,
    given_prestress,
    motions_at,
    static_stiffness,
)

if TYPE_CHECKING:
    import xarray

#: component of a unit vector without stiffness above which it is more than rounding
_MOVES = 1e-6


@dataclasses.dataclass(frozen=True, repr=False)
class StaticCompliance(ResolvedResult):
    """Static displacements of an arm under unit forces; result of `static_compliance`.

    Attributes
    ----------
    values : array, shape (p, m)
        Displacements of the outputs, m or rad, for 1 N or 1 N m at each input.
    inputs, outputs : tuple of Port
        Ports of the forces and of the displacements.
    theory : str
        Name of the theory.
    """

    values: Floats
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    theory: TheoryName

    def tables(self) -> list[Table]:
        """Return a table with one row per output."""
        units = [[unit_of_pair("receptance", o, i) for i in self.inputs] for o in self.outputs]
        rows = [
            [str(output), *(f"{x:.6g} {unit}" for x, unit in zip(*pair, strict=True))]
            for output, *pair in zip(self.outputs, self.values, units, strict=True)
        ]
        headings = ("output", *(f"for 1 of {each.force_name}" for each in self.inputs))
        return [Table(f"static compliance ({self.theory})", headings, rows, (), ("output",))]

    def to_xarray(self) -> xarray.Dataset:
        """Return a dataset with the dims output and input; units are a coordinate."""
        import xarray

        unit = functools.partial(unit_of_pair, "receptance")
        about = "displacement of the output at rest for a unit force"
        return xarray.Dataset(
            {"compliance": variable(("output", "input"), self.values, about)},
            port_labels(self.outputs, self.inputs, unit),
            {"theory": self.theory},
        )


def static_compliance(
    arm: AnyArm,
    inputs: Ports,
    outputs: Ports,
    *,
    theory: TheoryName = "timoshenko",
) -> StaticCompliance:
    """Return static displacements of an arm under unit forces.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm, with concrete values. Its axial forces and loads are taken into account.
    inputs, outputs
        Names of ports or `Port`, one or several; not the base.
    theory
        As for `natural_frequencies`.

    Returns
    -------
    StaticCompliance
        ``values`` of shape (outputs, inputs), in m or rad for 1 N or 1 N m: the limit of the receptance at zero
        frequency. For the six directions of a point in space it is the 6 x 6 compliance; its inverse is the Cartesian
        stiffness.

    Raises
    ------
    ArmError
        If the arm has no such port, or if a free joint or a free base lets a port move and neither supports nor forces
        hold it.
    UncertifiedError
        If static forces buckle the arm.

    Notes
    -----
    The coordinates are the deflections of the joints and, for each link, its stretching and bending. The exact
    stiffness over these coordinates carries the unit forces; no mesh is made. Without static forces the strain energy
    is half the sum of their squares, so that this is Castigliano's theorem. Axial forces and loads of the arm stiffen
    or soften it (docs/preload.md) and are constant. Supports hold tips by additional forces.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(2.0, 3.0, 1.0, jm.raw_section(1.0, 1.0))
    >>> found = jm.static_compliance(jm.Arm((link,)), "tip.across", "tip.across", theory="euler_bernoulli")
    >>> round(float(found.values[0, 0]), 14)   # L^3/(3 E I)
    0.88888888888889
    >>> arm = jm.examples.six_axis_industrial()
    >>> six = ["tip.x", "tip.y", "tip.z", "tip.rx", "tip.ry", "tip.rz"]
    >>> jm.static_compliance(arm, six, six).values.shape
    (6, 6)
    """
    flags = theory_flags(theory)
    require_concrete(arm, "a static compliance")
    driven, read = ports(inputs, arm, "inputs"), ports(outputs, arm, "outputs")
    for each in (*driven, *read):
        if each.place == "base":
            raise ArmError(f"port {str(each)!r}: the base is held; give a port of the arm.")
    if isinstance(arm, SpatialArm):
        values = compliance_in_space(arm, arm.search_model(theory), driven, read)
        return StaticCompliance(values, driven, read, theory)
    require_known(arm, theory)
    everything = list(dict.fromkeys((*driven, *read)))
    whole, rows = beam_values(arm), rows_on_segments(arm, everything)
    cut = cut_at(whole.length.shape[0], rows)
    beams = _parts(whole, cut)
    shear, forces = float(flags.shear), given_prestress(beams)
    pieces = _require_pieces(beams, shear, forces)
    stiffness = static_stiffness(beams, shear, float(flags.axial), forces, 1.0, pieces)
    matrix, scale = balanced(stiffness)
    relative = [each.direction == RELATIVE for each in everything]
    reads = _reads(geometry(whole), cut, rows, relative, stiffness.motions)
    reads = np.concatenate([reads, np.zeros((len(rows), stiffness.held))], axis=1) * scale
    loose = _loose(arm, stiffness.motions, owners(arm)[list(cut.links)])
    under = any(np.any(each) for each in forces)
    idle = _at_rest(matrix, stiffness, arm, loose) if under else _free(stiffness, loose)
    _require_held(reads, idle, arm, loose)
    still = _held_still(reads, matrix, stiffness.held)
    # motions that no port reads and nothing drives are held by an arbitrary stiffness
    shrink = _shrink(stiffness, float(np.sum(beams.length)))
    square, reads = (matrix + idle @ idle.T) * shrink[:, None] * shrink, reads * shrink
    compliance = reads @ np.linalg.solve(square, reads.T)
    compliance = np.asarray(0.5 * (compliance + compliance.T))
    compliance[still], compliance[:, still] = 0.0, 0.0
    places = np.ix_(*([everything.index(x) for x in part] for part in (read, driven)))
    return StaticCompliance(compliance[places], driven, read, theory)


def _parts(beams: BeamArrays, cut: Cut) -> BeamArrays:
    """Return the segments, cut at the ports."""
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


def _require_pieces(beams: BeamArrays, shear: float, forces: Prestress) -> Pieces:
    """Return the pieces of all segments; refuse a segment that is sheared off, or under too high a tension."""
    if (pieces := pieces_for(beams, shear, forces, 1.0)) is not None:
        return pieces
    if most_load(beams, shear, forces) <= 1.0:
        raise ArmError(
            "axial_force: presses a link beyond -kappa G A, at which it shears off whatever its length; check the unit "
            "(N)."
        )
    raise ArmError(
        "axial_force: exceeds about 80,000 times E I/L^2 of a link, which acts as a wire; cut the link into segments."
    )


def point_of(shape: Geometry, row: PortRow) -> Floats:
    """Return the position of a port of a link or segment, in base axes, m."""
    joints, starts, tips = places(shape)
    if row.place == "link":
        along = np.stack(shape.along)[:, row.link]
        return np.asarray(starts[:, row.link] + row.station * along)
    return np.asarray((joints if row.place == "joint" else tips)[:, row.link])


def read_of(shape: Geometry, row: PortRow, moved: Any) -> Floats:
    """Return the motion at a port from the motion of its point along x and y and about it, (3, ...)."""
    c, s = shape.cosine[row.link], shape.sine[row.link]
    seen = np.array([c * moved[0] + s * moved[1], c * moved[1] - s * moved[0], moved[2]])
    return np.asarray(np.asarray(row.row, np.float64) @ seen)


def _reads(
    shape: Geometry,
    cut: Cut,
    rows: Sequence[PortRow],
    relative: Sequence[bool],
    motions: Motions,
) -> Floats:
    """Return the derivative of each port's motion by the strain coordinates, (P, coordinates)."""
    owner, ends = np.array(cut.links), np.array(cut.ends)
    found = np.zeros((len(rows), motions.place.size))
    for number, (row, between) in enumerate(zip(rows, relative, strict=True)):
        mine = np.flatnonzero(owner == row.link)
        if between:
            if (mine[0], 2) in motions.gives:
                at = motions.gives[mine[0], 2]
                found[number, at] = motions.turn[at]
            continue
        if row.place == "joint" or row.station == 0.0:
            place = mine[0] + 0.2
        else:
            place = mine[np.flatnonzero(ends[mine] == row.station)[0]] + 0.9
        found[number] = read_of(shape, row, motions_at(motions, place, *point_of(shape, row)))
    return found


def _loose(arm: Arm, motions: Motions, owner: Integers) -> dict[int, str]:
    """Return the addresses of free joints and of a free base, by coordinate; ``owner`` is the link of each part."""
    names = {
        at: f"link{owner[part] + 1}.{SPRINGS[k]}"
        for (part, k), at in motions.gives.items()
        if getattr(arm.links[owner[part]], SPRINGS[k]) == 0.0
    }
    for at, free in motions.base.items():
        if free:
            moves = (motions.move_x[at], motions.move_y[at], motions.turn[at])
            k = int(np.argmax(np.abs(moves))) + 1
            names[at] = f"base_stiffness.k{k}{k}"
    return dict(sorted(names.items()))


def _free(stiffness: StaticStiffness, loose: dict[int, str]) -> Floats:
    """Return unit vectors of the unconstrained motions, (coordinates, M), of an arm without static forces.

    Free joints and bases have no strain; these are the motions of them that move no support, however soft it is.
    """
    size = len(stiffness.matrix) - stiffness.held
    held = stiffness.matrix[size:, list(loose)]
    _, values, vectors = np.linalg.svd(held)
    rank = int(np.sum(values > STILL * np.max(values, initial=0.0)))
    idle = np.zeros((len(stiffness.matrix), len(loose) - rank))
    idle[list(loose)] = vectors[rank:].T
    return idle


def _at_rest(matrix: Floats, stiffness: StaticStiffness, arm: Arm, loose: dict[int, str]) -> Floats:
    """Return `_free` for an arm under static forces, from its balanced ``matrix``.

    Raises
    ------
    UncertifiedError
        If the equilibrium of the arm is not a minimum of its energy.
    """
    values, vectors = np.linalg.eigh(matrix)
    small = np.abs(values) <= NO_STIFFNESS * np.max(np.abs(values), initial=0.0)
    idle = vectors[:, small]
    strained = np.delete(idle[: len(matrix) - stiffness.held], list(loose), axis=0)
    if np.any(np.abs(strained) > _MOVES) or np.sum(values[~small] < 0.0) != stiffness.held:
        raise buckled_error(arm, "static compliance")
    return np.asarray(idle)


def _require_held(reads: Floats, idle: Floats, arm: Arm, loose: dict[int, str]) -> None:
    """Refuse unconstrained motions that move a port; ``reads`` are balanced."""
    seen = reads @ idle
    seen[np.abs(seen) <= STILL * np.linalg.norm(reads, axis=1)[:, None]] = 0.0
    driven = np.max(np.abs(idle @ seen.T), axis=1, initial=0.0)
    if driven.any():
        names = [name for at, name in loose.items() if driven[at] > _MOVES * driven.max()]
        neither = ", its axial forces neither" if under_forces(arm) else ""
        raise ArmError(
            f"{', '.join(names)} = 0: nothing holds the arm under a static load beyond it{neither}; give it a "
            "stiffness greater than 0, or make it rigid: leave it out at a joint, give inf at the base."
        )


def _held_still(reads: Floats, matrix: Floats, held: int) -> Bools:
    """Return True for ports that rigid supports fix: their motion depends only on motions that these hold at 0."""
    size = len(matrix) - held
    rigid = matrix[size:, :size][np.diag(matrix)[size:] == 0.0]
    _, values, rows = np.linalg.svd(rigid, full_matrices=False)
    rows = rows[values > STILL * np.max(values, initial=0.0)]
    own = reads[:, :size]
    left = own - (own @ rows.T) @ rows
    return np.asarray(np.linalg.norm(left, axis=1) <= STILL * np.linalg.norm(own, axis=1))


def _shrink(stiffness: StaticStiffness, reach: float) -> Floats:
    """Return scale factors of the coordinates, (coordinates,), so that very soft springs do not hide rigid supports.

    Such a spring deflects far for unit strain, and the motions of the rest would be lost in rounding.
    """
    motions, factors = stiffness.motions, np.ones(len(stiffness.matrix))
    springs = [*motions.gives.values(), *motions.base]
    if springs:
        moves = np.hypot(motions.move_x, motions.move_y) / reach
        sizes = np.maximum(np.abs(motions.turn), moves)
        most = np.max(sizes[motions.first]) if motions.first.size else np.min(sizes[springs])
        factors[springs] = np.minimum(1.0, most / sizes[springs])
    return factors
