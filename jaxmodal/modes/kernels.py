"""Derivatives, energies and base motions of the modes of one block of cells, in one compiled program.

The program depends on shapes only: the arm and its varied values were converted to columns before (`arm.columns`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from jaxmodal.arm.columns import repacked, unpacked
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.energies import Energies, energies_and_gradient
from jaxmodal.eigenspaces.frequency_derivatives import group_means
from jaxmodal.eigenspaces.modal_mass import (
    ModeFields,
    carried_coordinates,
    mass_coordinates,
    total_mass,
    unpadded_quadrature_size,
)
from jaxmodal.eigenspaces.null_spaces import eigenspace
from jaxmodal.eigenspaces.simple_modes import participation, simple_mode
from jaxmodal.modes.shape_checks import signs
from jaxmodal.runtime.namespace import Array, mapped, xp
from jaxmodal.statics.beam_arrays import BeamArrays


class SolvedModes(NamedTuple):
    """Input for N cells: packed columns (N, fields, links), and group frequency, group size and slot, (N, K).

    The slot is the index of the mode in its group.
    """

    packed: Any
    omega: Any
    multiplicity: Any
    slot: Any


class CellQuantities(NamedTuple):
    """Results of the cells; ``gradient``, ``effective_mass`` and ``energies`` are means over groups of modes.

    ``gradient`` has shape (N, K, fields, links). ``change`` is the relative change of each mode in its last correction.
    ``total_mass`` is None for a single mode.
    """

    gradient: Any
    effective_mass: Any
    energies: Any
    participation: Any
    total_mass: Any
    change: Any


@functools.partial(jax.jit, static_argnames=("simple",))
def block(theory: Theory, cells: SolvedModes, *, simple: bool) -> CellQuantities:
    """Return the quantities of the modes of cells; ``simple`` is True if all their modes are isolated."""
    return jax.vmap(functools.partial(_of_cell, _of_mode if simple else _of_group, theory))(cells)


def cells_on_host(theory: Theory, cells: SolvedModes) -> CellQuantities:
    """Return `block` for valid cells in NumPy, one after the other, without a compiled program."""
    found: CellQuantities = mapped(functools.partial(_of_cell, _of_group, theory))(cells)
    return found


def _of_cell(of_modes: Callable[..., Any], theory: Theory, cell: SolvedModes) -> CellQuantities:
    beams = unpacked(cell.packed)
    size = unpadded_quadrature_size(cell.omega.shape[0])
    modes = mapped(functools.partial(of_modes, size, beams, theory))
    found: CellQuantities = modes(cell.omega, cell.multiplicity, cell.slot)
    return found._replace(
        gradient=xp.moveaxis(repacked(found.gradient), 0, 1),
        energies=vars(found.energies),
        total_mass=total_mass(beams, theory),
    )


def _of_group(
    num_points: int,
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    multiplicity: Array,
    slot: Array,
) -> CellQuantities:
    """Return means over a group of modes of energies, gradient and effective masses, and one mode's participation."""
    space = eigenspace(beams, theory, omega, multiplicity, num_points)
    carried = carried_coordinates(beams, theory, num_points)

    def each(mode: ModeFields) -> tuple[Energies, BeamArrays, Array]:
        moved = carried @ mass_coordinates(beams, theory, mode)
        return *energies_and_gradient(beams, theory, omega, mode, mode), moved**2

    energies, gradient, mass = group_means(space, multiplicity, each)
    own = ModeFields(space.inner[slot], space.nodes[slot], space.outer[slot])
    moved = signs(own.outer[None], beams)[0] * (carried @ mass_coordinates(beams, theory, own))
    return CellQuantities(gradient, mass, energies, moved, None, xp.zeros_like(omega))


def _of_mode(
    num_points: int,
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    multiplicity: Array,
    slot: Array,
) -> CellQuantities:
    """Return the same quantities for an isolated mode, a group of one."""
    mode = simple_mode(beams, theory, omega, num_points)
    given = (beams, theory, omega, mode.ends, mode.ends, mode.integrals)
    energies, gradient = energies_and_gradient(*given)
    moved = signs(mode.ends.outer[None], beams)[0] * participation(beams, theory, mode)
    return CellQuantities(gradient, moved * moved, energies, moved, None, mode.change)
