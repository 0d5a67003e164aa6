"""Arms with their ports, ready for any frequency."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags
from jaxmodal.frequencies.models import PlanarModel, TracedModel
from jaxmodal.response.driven.damping import Damping, damping_of
from jaxmodal.response.driven.held_places import cannot_move
from jaxmodal.response.driven.held_tips import rigid_supports
from jaxmodal.response.driven.members import Cut, cut_at, on_segments, owners, segments_of
from jaxmodal.response.driven.port_quantities import read_ports
from jaxmodal.response.driven.ports import Port, PortRow, port_row
from jaxmodal.runtime.namespace import Array, to_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class System:
    """Arms, their ports and the quantity between them.

    Arrays have shape (n, cells or 1) and rows of ports (3, cells or 1): inputs, then the ports that are read, then the
    directions in which rigid supports hold tips. ``invalid`` has shape (cells,); invalid cells hold harmless values.
    ``still`` are ports that rigid supports or the ground keep at rest; none without rigid supports.
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
    held: tuple[Port, ...] = dataclasses.field(default=(), metadata={"static": True})
    still: tuple[Port, ...] = dataclasses.field(default=(), metadata={"static": True})

    @property
    def read(self) -> tuple[Port, ...]:
        """Ports whose motions the quantity needs."""
        return read_ports(self.quantity, self.inputs, self.outputs)

    @property
    def every(self) -> tuple[Port, ...]:
        """Inputs, ports that are read, and held ones, in the order of the rows."""
        return (*self.inputs, *self.read, *self.held)

    @property
    def held_links(self) -> list[tuple[int, Port]]:
        """The held ports, with the index in the arrays of the link at whose tip each is."""
        places = self.places[len(self.places) - len(self.held) :]
        return [(place[0], port) for place, port in zip(places, self.held, strict=True)]

    @property
    def real(self) -> bool:
        """True for rigid supports and no damping: its responses are real, though computed with dampers."""
        return bool(self.held) and self.damping.is_none

    @property
    def cells(self) -> int:
        """Number of arms."""
        return int(self.invalid.shape[0])


def system_of(
    arm: Arm,
    theory: TheoryName,
    quantity: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    of: PlanarModel | TracedModel | tuple[Sequence[str], np.ndarray],
) -> System:
    """Return the system of one arm ``of`` a model, or of many ``of`` addresses and values (addresses, cells)."""
    if isinstance(of, tuple):
        flags, packed = theory_flags(theory), columns_of(arm, *of)
        with np.errstate(all="ignore"):
            posed = set_parameters(arm, dict(zip(*of, strict=True)))
        beams = jax.tree_util.tree_map(_two_axes, unpacked(packed.packed))
        invalid = packed.invalid
    else:
        flags, posed, invalid = of.flags, to_host(arm), xp.asarray(of.invalid)[None]
        beams = jax.tree_util.tree_map(_two_axes, of.beams)
    held = rigid_supports(posed)
    every = (*inputs, *read_ports(quantity, inputs, outputs), *held)
    with np.errstate(all="ignore"):  # cells whose values cannot be
        still = tuple(x for x in dict.fromkeys(every) if cannot_move(x, posed)) if held else ()
    number, owner = segments_of(arm), owners(arm)
    rows = [on_segments(_row(each, posed), number) for each in every]
    return System(
        beams=beams,
        damping=jax.tree_util.tree_map(lambda x: _two_axes(x[owner]), damping_of(posed)),
        theory=flags,
        rows=tuple(_two_axes(row.row) for row in rows),
        invalid=invalid,
        quantity=quantity,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        places=tuple((row.link, row.place, row.station) for row in rows),
        cut=cut_at(owner.size, rows),
        held=held,
        still=still,
    )


def rows_of(arm: Arm, system: System) -> list[Array]:
    """Return the rows of the ports of a system for another arm of its structure, in the same order."""
    return [_row(each, arm).row for each in system.every]


def _row(each: Port, arm: Arm) -> PortRow:
    """Return the row of a port; for the base, the row of the imposed ground motion, in the axes of link 1."""
    if each.place != "base":
        return port_row(each, arm)
    return port_row(Port("joint", each.direction, 1), arm)._replace(place="base")


def _two_axes(x: Array) -> Array:
    """Return an array of shape (k, cells), or (k, 1) if all cells are equal."""
    if x.ndim == 1:
        return x[:, None]
    return x[:, :1] if isinstance(x, np.ndarray) and (x == x[:, :1]).all() else x
