"""Displacements of mass-normalised modes at ports."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.kinds import ByKind
from jaxmodal.dynamic_stiffness.attachments import at_joint, at_tip, before_joint, spring_gives
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags
from jaxmodal.dynamic_stiffness.preload import slope_law
from jaxmodal.eigenspaces.modal_mass import quadrature, quadrature_size
from jaxmodal.modes.mode_shapes import mode_shapes
from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.response.driven.damping import damping_of
from jaxmodal.response.driven.held_places import cannot_move
from jaxmodal.response.driven.members import on_segments, owners, segments_of
from jaxmodal.response.driven.ports import RELATIVE, Port, PortRow, port_row
from jaxmodal.response.exact.in_plane import motion_of_base
from jaxmodal.response.modal.damping_of_modes import damping_of_modes
from jaxmodal.response.modal.modes_in_space import modes_in_space
from jaxmodal.response.modal.results import ModesAtPorts
from jaxmodal.response.modal.rigid_motions import modes_at_zero
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.namespace import to_host
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.statics.beam_arrays import BeamArrays


def modes_at_ports(
    arm: AnyArm, found: Sequence[Port], num_modes: int, theory: TheoryName
) -> ModesAtPorts:
    """Return the lowest modes of a concrete arm of either kind at its ports.

    Raises
    ------
    ArmError
        If a damper is parallel to a free spring that is not about the axis of its joint.
    UncertifiedError
        If a frequency is not certified, or there are fewer modes.
    """
    return _MODES.of(arm)(arm, found, num_modes, theory)


def _modes_in_plane(
    arm: Arm, found: Sequence[Port], num_modes: int, theory: TheoryName
) -> ModesAtPorts:
    owner = owners(arm)
    damping = jax.tree_util.tree_map(lambda x: x[owner], damping_of(arm))
    rows = {
        each: on_segments(port_row(each, arm), segments_of(arm))
        for each in found
        if each.place != "base"
    }
    nodes, weights = np.zeros(0), np.zeros(0)
    if not damping.is_none:
        nodes, weights = quadrature(quadrature_size(num_modes))
    stations = np.unique([0.0, 1.0, *nodes, *(row.station for row in rows.values())])
    shapes: ModeShapes = to_host(mode_shapes(arm, num_modes, theory=theory, stations=stations))
    omega = np.asarray(shapes.omega)
    fields = np.stack(
        [shapes.u, shapes.v, shapes.psi, shapes.normal, shapes.shear, shapes.moment], axis=2
    )
    along = np.moveaxis(fields, 0, -1)  # link, field, station, mode
    beams = beam_values(arm)
    with np.errstate(all="ignore"):  # infinite stiffnesses
        inner, outer = along[:, :, 0], along[:, :, -1]
        joint, tip = at_joint(beams, omega, inner), at_tip(beams, outer)
        gives = spring_gives(beams, omega, inner, outer, before_joint(beams, tip, joint))
    columns = []
    for each in found:
        if each.place == "base":
            columns.append(-np.asarray(shapes.participation) @ motion_of_base(each, arm))
        elif each.direction == RELATIVE:
            columns.append(gives[rows[each].link, 2])
        else:
            columns.append(_read(rows[each], joint, tip, along, stations))
    at = np.stack(columns, axis=1)
    flags, inside = theory_flags(theory), along[:, :, np.searchsorted(stations, nodes)]
    inside = _strained(beams, flags, inside[:, 2], inside[:, 3:])
    rigid = omega == 0.0
    if rigid.any():
        at[rigid], hinged = modes_at_zero(arm, found, omega, theory)
        gives[..., rigid], inside[..., rigid] = 0.0, 0.0
        for number, values in hinged.items():
            gives[sum(segments_of(arm)[:number]), 2, rigid] = values
    own = damping_of_modes(beams, flags, damping, inside, weights, gives)
    return ModesAtPorts(shapes.frequencies, at, own, [cannot_move(each, arm) for each in found])


_MODES: ByKind[Callable[..., ModesAtPorts]] = ByKind(_modes_in_plane, modes_in_space)


def _strained(beams: BeamArrays, theory: Theory, turn: Floats, forces: Floats) -> Floats:
    """Return N, V and M_b that strain a section, (n, 3, q, K): V without the transverse part of the static force."""
    if beams.axial_force is None:
        return forces
    h, _ = slope_law(beams, theory)
    held = np.asarray(beams.axial_force)[:, None, None] * turn
    shear = np.asarray(h)[:, None, None] * (forces[:, 1] - held)
    return np.stack([forces[:, 0], shear, forces[:, 2]], axis=1)


def _read(row: PortRow, joint: Floats, tip: Floats, along: Floats, stations: Floats) -> Floats:
    """Return the motion at a port from motions at joints, tips and stations; the last axis is that of motions."""
    if row.place == "link":
        place = along[row.link, :3, int(np.searchsorted(stations, row.station))]
    else:
        place = (joint if row.place == "joint" else tip)[row.link, :3]
    read: Floats = np.asarray(row.row) @ place
    return read
