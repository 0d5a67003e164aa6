"""An arm with its ports, ready for any frequency, and what it answers there: all inputs on all outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import BeamArrays, invalid_values
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.arm.links import SUPPORTS
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, prepared_values, theory_flags
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.damping import Damping, damped_beams, damping_of
from jaxmodal.response.ports import Port, PortRow, port_row
from jaxmodal.response.quantities import in_quantity, read_ports
from jaxmodal.response.recursion import Cut, Terminal, cut_at, inward, members_of, outward
from jaxmodal.runtime.namespace import Array, constant, to_host, tree_on_host, xp

#: frequencies, and entries (frequencies times cells), that NumPy works on at a time: what fits into a cache
BLOCK_FREQUENCIES, BLOCK = 2048, 16384
#: denominators below this, relative to their terms, are looked at for a resonance
_SUSPECT = 1e-6
#: a resonance is where the response changes by more than half when the frequency moves by this, relative: rounding
#: moves resonances by some 1e-15
_NUDGE = 2.0**-45
#: what only joints and bodies know: the other fields of beams make the members
_OF_JOINTS = frozenset(
    (
        *("tip_mass", "tip_inertia", "tip_moment_x", "tip_moment_y", "joint_angle"),
        *("joint_stiffness", "joint_axial_stiffness", "joint_shear_stiffness"),
        *("hub_mass", "hub_inertia", "rotor_inertia", "gear_ratio"),
        *("base_offset_x", "base_offset_y", "end_offset_x", "end_offset_y"),
        *SUPPORTS,
        "ground_angle",
        *("joint_damping", "joint_axial_damping", "joint_shear_damping"),
    )
)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class System:
    """Arms, their ports and what is asked of them.

    Arrays (n, cells or 1) of one or many arms, rows (3, cells or 1) of the ports: inputs, then those that are read.
    ``invalid`` has the shape (cells,); its cells hold harmless values.
    """

    beams: BeamArrays
    damping: Damping
    theory: Theory
    rows: tuple[Array, ...]
    invalid: Array
    quantity: str = dataclasses.field(metadata={"static": True})
    inputs: tuple[Port, ...] = dataclasses.field(metadata={"static": True})
    outputs: tuple[Port, ...] = dataclasses.field(metadata={"static": True})
    places: tuple[tuple[int, str, float], ...] = dataclasses.field(metadata={"static": True})
    cut: Cut = dataclasses.field(metadata={"static": True})

    @property
    def cells(self) -> int:
        """Number of arms."""
        return int(self.invalid.shape[0])

    @property
    def terminals(self) -> tuple[list[Terminal], list[Terminal]]:
        """The inputs, and the ports that are read."""
        every = (*self.inputs, *read_ports(self.quantity, self.inputs, self.outputs))
        found = [
            Terminal(each, PortRow(*place, row))
            for each, place, row in zip(every, self.places, self.rows, strict=True)
        ]
        return found[: len(self.inputs)], found[len(self.inputs) :]


def system_of(
    arm: Arm,
    theory: TheoryName,
    quantity: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    columns: tuple[Sequence[str], np.ndarray] | None = None,
) -> System:
    """One arm, whose values may be traced, or with ``columns`` (addresses, values (addresses, cells)) many."""
    if columns is None:
        beams, flags = prepared_values(arm, theory)
        posed, invalid = to_host(arm), xp.asarray(invalid_values(arm))[None]
        beams = jax.tree_util.tree_map(_two_axes, beams)
    else:
        flags, packed = theory_flags(theory), columns_of(arm, *columns)
        with np.errstate(all="ignore"):
            posed = set_parameters(arm, dict(zip(columns[0], columns[1], strict=True)))
        beams = jax.tree_util.tree_map(_two_axes, unpacked(packed.packed))
        invalid = packed.invalid
    every = (*inputs, *read_ports(quantity, inputs, outputs))
    rows = [_row(each, posed) for each in every]
    return System(
        beams=beams,
        damping=jax.tree_util.tree_map(_two_axes, damping_of(posed)),
        theory=flags,
        rows=tuple(_two_axes(row.row) for row in rows),
        invalid=invalid,
        quantity=quantity,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        places=tuple((row.link, row.place, row.station) for row in rows),
        cut=cut_at(arm.num_links, rows),
    )


def _row(each: Port, arm: Arm) -> PortRow:
    """What a port reads, or the motion that the ground imposes, in the axes of link 1."""
    if each.place != "base":
        return port_row(each, arm)
    return port_row(Port("joint", each.direction, 1), arm)._replace(place="base")


def _two_axes(x: Array) -> Array:
    """Of shape (k, cells), or (k, 1) where it is the same in all cells."""
    if x.ndim == 1:
        return x[:, None]
    return x[:, :1] if isinstance(x, np.ndarray) and (x == x[:, :1]).all() else x


def _wide(system: System) -> System:
    """With one more axis, along which the frequencies lie."""
    return jax.tree_util.tree_map(lambda x: x[..., None] if x.ndim else x, system)


def _cells(system: System, at: Any) -> System:
    """Some cells of a system; arrays that are the same in every cell stay."""

    def some(x: Array) -> Array:
        return x if x.ndim < 2 or x.shape[1] == 1 else x[:, at]

    changed: System = jax.tree_util.tree_map(some, system)
    return dataclasses.replace(changed, invalid=system.invalid[at])


def _members(system: System, omega: Array) -> FreeEndMember:
    beams = damped_beams(system.beams, system.damping, omega)
    return members_of(beams, system.theory, omega, system.cut)


def _answers(system: System, members: FreeEndMember | None, omega: Array) -> tuple[Any, Any]:
    """The quantity (outputs, inputs, ...) and the margin (...) of a system whose axes broadcast with ``omega``."""
    inputs, read = system.terminals
    beams = damped_beams(system.beams, system.damping, omega)
    known = _members(system, omega) if members is None else members
    found = inward(beams, known, system.cut, omega, inputs)
    angles = system.beams.joint_angle[0]  # every axis of cells is in it, in the margin, or in a row
    shapes = [np.shape(x) for x in (omega, found.margin, angles, *(row[0] for row in system.rows))]
    shape = np.broadcast_shapes(*shapes)
    columns = []
    for number, terminal in enumerate(inputs):
        of_ground = tuple(terminal.row.row) if terminal.port.place == "base" else None
        readings = outward(found, system.cut, number, of_ground, read)
        columns.append(xp.stack([xp.broadcast_to(xp.asarray(x), shape) for x in readings]))
    motions = xp.stack(columns, axis=1)
    values = in_quantity(system.quantity, system.inputs, system.outputs, motions, omega)
    # what a quotient or an inverse has in place of a resonance is no zero of the arm's own determinant
    anywhere = system.quantity in ("transmissibility", "dynamic_stiffness")
    margin = 0.0 * found.margin if anywhere else found.margin
    return values, xp.broadcast_to(margin, shape)


def _infinite(values: Array, above: Array, below: Array) -> Array:
    """Where values change by more than half between two frequencies beside their own."""
    least = xp.minimum(xp.abs(above), xp.abs(below))
    changes = ~(xp.abs(above - below) <= 0.5 * least)
    return (changes | xp.isinf(values)) & ~xp.isnan(values)


def responses(system: System, omega: Array) -> tuple[Array, Array]:
    """The quantity of a system, shape (outputs, inputs, cells, F), and where it is no number but inf.

    Parameters
    ----------
    system
        Arms and ports.
    omega
        Angular frequencies, more than 0, rad/s, shape (F,).

    Returns
    -------
    values : Array, shape (outputs, inputs, cells, F)
        Float64 where nothing is damped, else complex.
    infinite : Array of bool, of the same shape
        Where it changes by more than half when the frequency moves by 3e-14, relative.

    Notes
    -----
    In NumPy block by block: members that all cells share are computed once, and only entries whose denominators are
    small are looked at for a resonance.
    """
    wide = _wide(system)
    if not tree_on_host(system, omega):
        # one program for the frequencies and those beside them
        beside = constant(omega)
        every = xp.concatenate([omega, beside * (1.0 + _NUDGE), beside * (1.0 - _NUDGE)])
        found, margin = _answers(wide, None, every)
        values, above, below = xp.split(found, 3, axis=-1)
        return values, _infinite(values, above, below) & (margin[..., : omega.size] < _SUSPECT)
    shared = all(
        x.shape[1] == 1
        for record in (system.beams, system.damping)
        for name, x in vars(record).items()
        if name not in _OF_JOINTS and isinstance(x, np.ndarray)
    )
    width = min(omega.size, BLOCK_FREQUENCIES if system.cells > 1 else BLOCK)
    height = max(1, BLOCK // width)
    rows = []
    with np.errstate(all="ignore"):
        for start in range(0, omega.size, width):
            some = omega[start : start + width]
            members = _members(wide, some) if shared else None
            rows.append(
                [
                    _block(_cells(wide, np.s_[first : first + height]), members, some)
                    for first in range(0, system.cells, height)
                ]
            )
    values, infinite = (
        np.concatenate([np.concatenate([x[k] for x in row], axis=2) for row in rows], axis=3)
        for k in (0, 1)
    )
    return values, infinite


def _block(
    system: System, members: FreeEndMember | None, omega: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    values, margin = _answers(system, members, omega)
    shape = (*values.shape[:2], system.cells, omega.size)
    values, margin = np.broadcast_to(values, shape), np.broadcast_to(margin, shape[2:])
    infinite = np.zeros(shape, bool)
    cells, places = np.nonzero(~(margin >= _SUSPECT))
    if cells.size:
        narrow = jax.tree_util.tree_map(lambda x: x[..., 0] if x.ndim else x, system)
        some, there = _cells(narrow, cells), omega[places]
        beside = [_answers(some, None, there * (1.0 + n))[0] for n in (_NUDGE, -_NUDGE)]
        infinite[:, :, cells, places] = _infinite(values[:, :, cells, places], *beside)
    return values, infinite
