"""Static compliance between ports: how far an arm bends under a unit force, in closed form."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.loaded import under_forces
from jaxmodal.arm.refusals import require_concrete, require_known
from jaxmodal.dynamic_stiffness.attachments import joint_law
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.dynamic_stiffness.rigid_motions import STILL
from jaxmodal.eigenspaces.modal_mass import link_starts, quadrature
from jaxmodal.response.driven.ports import RELATIVE, Port, port_row, ports
from jaxmodal.response.static.compliance_under_forces import compliance_under_forces
from jaxmodal.runtime.errors import ArmError
from jaxmodal.statics.beam_arrays import SPRINGS, SUPPORTS, BeamArrays
from jaxmodal.statics.foundation import base_law, of_first, times
from jaxmodal.statics.laws import flexibility

Floats = NDArray[np.float64]


def static_compliance(
    arm: Arm,
    inputs: str | Port | Sequence[str | Port],
    outputs: str | Port | Sequence[str | Port],
    theory: TheoryName = "timoshenko",
) -> Floats:
    """Displacements of an arm at rest under unit forces.

    Parameters
    ----------
    arm : Arm
        The arm, of concrete values, under axial forces and loads as it has them.
    inputs, outputs
        Names of ports or `Port`, one or several; not the base.
    theory
        As for `natural_frequencies`.

    Returns
    -------
    array, shape (outputs, inputs)
        In m or rad for 1 N or 1 N m: the limit of the receptance at zero frequency.

    Raises
    ------
    ArmError
        The arm has no such port; a free joint lies between the base and a load, and no supports hold what is beyond.
    UncertifiedError
        Forces at rest buckle the arm, as in all responses.

    Notes
    -----
    The arm is a chain: section forces follow from the loads by statics alone, and the compliance is the integral of
    the products of the section forces of two unit loads over the stiffnesses, plus those of the joints' springs
    (Castigliano). The integrands are polynomials of degree 2, which Gauss's rule integrates to rounding. Supports at
    tips are loads that answer to the motion there, and free joints hinge by what makes them bear nothing.

    Axial forces and loads of the arm stiffen or soften it (docs/preload.md): unit forces are then borne by the exact
    stiffness of links as beam columns, whose forces at rest stay as they are.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(2.0, 3.0, 1.0, jm.raw_section(1.0, 1.0))
    >>> float(jm.static_compliance(jm.Arm((link,)), "tip.across", "tip.across", "euler_bernoulli")[0, 0])
    0.8888888888888888
    """
    flags = theory_flags(theory)
    require_concrete(arm, "a static compliance")
    require_known(arm, theory)
    driven, read = ports(inputs, arm, "inputs"), ports(outputs, arm, "outputs")
    for each in (*driven, *read):
        if each.place == "base":
            raise ArmError(f"port {str(each)!r}: the base is held; give a port of the arm.")
    if under_forces(arm):
        everything = list(dict.fromkeys((*driven, *read)))
        found = compliance_under_forces(arm, everything, flags)
        return found[np.ix_(*([everything.index(x) for x in part] for part in (read, driven)))]
    supports = _supports(arm)
    everything = list(dict.fromkeys((*driven, *read, *supports)))
    beams = beam_values(arm)
    found, loose = _between(beams, arm, everything, bool(flags.shear), bool(flags.axial))
    held = [everything.index(x) for x in supports]
    hinges = _hinges(loose, held, len(everything))
    if held:  # supports push back until each has the give that its force makes, and free joints bear nothing
        gives = np.diag([1.0 / stiffness for stiffness in supports.values()])
        moved = np.concatenate([found[:, held], hinges], axis=1)
        nothing = np.zeros((hinges.shape[1], hinges.shape[1]))
        square = np.block(
            [[found[np.ix_(held, held)] + gives, hinges[held]], [hinges[held].T, nothing]]
        )
        found = found - moved @ np.linalg.solve(square, moved.T)
    rows, columns = ([everything.index(x) for x in part] for part in (read, driven))
    return found[np.ix_(rows, columns)]


def _hinges(loose: dict[tuple[int, int], Floats], held: list[int], loads: int) -> Floats:
    """What free joints bear under the loads, those that bear any, shape (P, joints): what moves the loads' places, too.

    Raises
    ------
    ArmError
        Supports do not hold what is beyond one.
    """
    columns: list[Floats] = []
    for (link, axis), bears in loose.items():
        columns.append(bears)
        supported = np.stack(columns, axis=1)[held]
        size = np.linalg.norm(supported, axis=0)
        known = supported / np.where(size > 0.0, size, 1.0)
        if not held or np.linalg.matrix_rank(known, tol=STILL) < len(columns):
            raise ArmError(
                f"link{link + 1}.{SPRINGS[axis]} = 0: nothing holds the arm under a static load beyond this joint; "
                "give it a stiffness greater than 0, or leave it out for a rigid joint."
            )
    return np.stack(columns, axis=1) if columns else np.zeros((loads, 0))


def _supports(arm: Arm) -> dict[Port, float]:
    """The directions in which tips are supported, and the stiffnesses."""
    found = {}
    for number, link in enumerate(arm.links, start=1):
        for name, direction in zip(SUPPORTS, ("x", "y", "rotation"), strict=True):
            stiffness = getattr(link, name)
            if stiffness is not None and float(stiffness) > 0.0:
                found[Port("tip", direction, number)] = float(stiffness)
    return found


def _between(
    beams: BeamArrays, arm: Arm, loads: Sequence[Port], shear: bool, axial: bool
) -> tuple[Floats, dict[tuple[int, int], Floats]]:
    """Compliance between all loads, shape (P, P), and what free joints, by link and axis, bear of each, shape (P,)."""
    angle, start = np.cumsum(beams.joint_angle), np.asarray(link_starts(beams))
    turn = np.stack([np.cos(angle), np.sin(angle)], axis=-1)  # directions of the links
    rows = [port_row(each, arm) for each in loads]
    points = np.stack(
        [point_at(beams, start, turn, row.link, row.place, row.station) for row in rows]
    )
    place = np.array([row.link for row in rows])
    relative = np.array([each.direction == RELATIVE for each in loads])
    vectors = np.stack([np.asarray(row.row, np.float64) for row in rows])
    along, across = turn[place], np.stack([-turn[place, 1], turn[place, 0]], axis=-1)
    force = vectors[:, :1] * along + vectors[:, 1:2] * across
    moment = vectors[:, 2]
    # where each load stands on its link, as x/L: before 0 for a joint
    stands = np.array([{"joint": -1.0, "tip": 2.0}.get(row.place, row.station) for row in rows])
    law, elastic = joint_law(beams, np.float64(0.0)), flexibility(beams)
    total = np.zeros((len(loads), len(loads)))
    loose = {}
    for j in range(angle.size):
        axes = np.stack([turn[j], [-turn[j, 1], turn[j, 0]]])

        def sections(beyond: Floats, at: Floats, axes: Any = axes) -> Floats:
            """Section forces N, V, M_b, shape (P, 3), at a point, of the loads that lie beyond it."""
            arm_of = points - at
            bending = moment + arm_of[:, 0] * force[:, 1] - arm_of[:, 1] * force[:, 0]
            return np.concatenate([force @ axes.T, bending[:, None]], axis=1) * beyond[:, None]

        outboard = np.where(relative, False, place > j)
        offset = [0.0 if x is None else x[j] for x in (beams.base_offset_x, beams.base_offset_y)]
        at_spring = sections((outboard | (place == j)) * 1.0, start[j] - np.asarray(offset) @ axes)
        for k in range(3):
            if law.unit[j, k] == 0.0 and np.any(np.abs(at_spring[:, k]) > 0.0):
                loose[j, k] = at_spring[:, k]
        springs = np.where(law.unit[j] == 0.0, 0.0, law.compliance[j])
        total += (at_spring * springs) @ at_spring.T
        if j == 0 and beams.base_xx is not None:
            total += _of_base(beams, arm, at_spring)
        if elastic[j] == 0.0:
            continue
        area, young = beams.area[j], beams.youngs_modulus[j]
        gives = np.array(
            [
                axial / (young * area),
                shear / (beams.shear_modulus_effective[j] * area) if shear else 0.0,
                1.0 / (young * beams.second_moment[j]),
            ]
        )
        breaks = np.unique([0.0, 1.0, *np.clip(stands[place == j], 0.0, 1.0)])
        nodes, weights = quadrature(2)
        for low, high in itertools.pairwise(breaks):
            for node, weight in zip(nodes, weights, strict=True):
                xi = low + (high - low) * node
                beyond = outboard | ((place == j) & ~relative & (stands > xi))
                forces = sections(beyond * 1.0, start[j] + xi * beams.length[j] * turn[j])
                part = (forces * gives) @ forces.T
                total += weight * (high - low) * beams.length[j] * part
    return total, loose


def _of_base(beams: BeamArrays, arm: Arm, forces: Floats) -> Floats:
    """What an elastic base adds to the compliance, (P, P), for the forces (P, 3) that joint 1 carries.

    Raises
    ------
    ArmError
        The base is free in a direction that bears a load.
    """
    law = base_law(beams)
    assert law is not None
    c, s = np.cos(beams.joint_angle[0]), np.sin(beams.joint_angle[0])
    along, across, moment = forces.T
    at_base = [c * along - s * across, s * along + c * across, moment]
    largest = np.max(np.abs(forces), initial=0.0)
    for k, (unit, force) in enumerate(zip(of_first(law).unit, at_base, strict=True), start=1):
        if unit == 0.0 and np.any(np.abs(force) > STILL * largest):
            raise ArmError(
                f"base_stiffness.k{k}{k} = 0: nothing holds the base under a static load; give it a stiffness greater "
                "than 0, or inf for a rigid one."
            )
    given = times(of_first(law).compliance, at_base)
    parts = [
        unit * np.outer(f, d) for unit, f, d in zip(of_first(law).unit, at_base, given, strict=True)
    ]
    return np.asarray(sum(parts))


def point_at(
    beams: BeamArrays, start: Floats, turn: Floats, link: int, place: str, station: float
) -> Floats:
    """Where a port stands in the axes of the base, m."""
    seen = [station * beams.length[link], 0.0]
    if place == "joint":
        offsets, sign, seen = (beams.base_offset_x, beams.base_offset_y), -1.0, [0.0, 0.0]
    else:
        offsets, sign = (beams.end_offset_x, beams.end_offset_y), float(place == "tip")
    x, y = (
        at + sign * (0.0 if o is None else o[link]) for at, o in zip(seen, offsets, strict=True)
    )
    cosine, sine = turn[link]
    found: Floats = start[link] + np.array([cosine * x - sine * y, sine * x + cosine * y])
    return found
