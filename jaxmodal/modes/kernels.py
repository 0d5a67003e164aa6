"""Derivatives, energies and base motions of the modes of one block of cells, in one compiled program.

It knows shapes alone: what an arm is and which of its values vary has become columns before (`arm.columns`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from jaxmodal.arm.columns import repacked, unpacked
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.energies import Energies, frequency_gradient, mode_energies
from jaxmodal.eigenspaces.frequency_derivatives import group_means
from jaxmodal.eigenspaces.modal_mass import (
    ModeFields,
    mass_coordinates,
    rigid_fields,
    total_mass,
    unpadded_quadrature_size,
)
from jaxmodal.eigenspaces.null_spaces import eigenspace
from jaxmodal.eigenspaces.simple_modes import energies_and_gradient, participation, simple_mode
from jaxmodal.modes.shape_checks import signs
from jaxmodal.runtime.namespace import Array, mapped, xp
from jaxmodal.statics.beam_arrays import BeamArrays


class SolvedModes(NamedTuple):
    """What each of N cells is solved from: packed columns (N, fields, links); frequency of each mode's group, the
    group's size, and the mode's slot in it, (N, K).
    """

    packed: Any
    omega: Any
    multiplicity: Any
    slot: Any


class CellQuantities(NamedTuple):
    """All of the cells; ``gradient``, (N, K, fields, links), ``effective_mass`` and ``energies`` are means over groups.

    ``change`` is what the last correction of each mode still changed, relative.
    """

    gradient: Any
    effective_mass: Any
    energies: Any
    participation: Any
    total_mass: Any
    change: Any


@functools.partial(jax.jit, static_argnames=("simple",))
def block(theory: Theory, cells: SolvedModes, *, simple: bool) -> CellQuantities:
    """Quantities of the modes of cells; ``simple`` says that all their modes stand apart."""
    return jax.vmap(functools.partial(_of_cell, _of_mode if simple else _of_group, theory))(cells)


def cells_on_host(theory: Theory, cells: SolvedModes) -> CellQuantities:
    """What `block` finds of cells of NumPy that are valid, one after the other, with no program."""
    found: CellQuantities = mapped(functools.partial(_of_cell, _of_group, theory))(cells)
    return found


def _of_cell(of_modes: Callable[..., Any], theory: Theory, cell: SolvedModes) -> CellQuantities:
    beams = unpacked(cell.packed)
    size = unpadded_quadrature_size(cell.omega.shape[0])
    modes = mapped(functools.partial(of_modes, size, beams, theory))
    energies, gradient, moved = modes(cell.omega, cell.multiplicity, cell.slot)
    return CellQuantities(
        xp.moveaxis(repacked(gradient), 0, 1),
        moved.effective_mass,
        vars(energies),
        moved.participation,
        total_mass(beams, theory),
        moved.change,
    )


class _Moved(NamedTuple):
    """How a mode answers to a base that moves in x, in y or turns, shape (3,); ``change`` as in `CellQuantities`."""

    participation: Array
    effective_mass: Array
    change: Array


def _of_group(
    num_points: int,
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    multiplicity: Array,
    slot: Array,
) -> tuple[Energies, BeamArrays, _Moved]:
    """Means over the modes of a group: energies, gradient, effective masses; and the participation of one of them."""
    space = eigenspace(beams, theory, omega, multiplicity, num_points)
    rigid = rigid_fields(beams, num_points)
    carried = mapped(lambda m: mass_coordinates(beams, theory, m))(rigid)

    def each(mode: ModeFields) -> tuple[Energies, BeamArrays, Array]:
        return (
            mode_energies(beams, theory, omega, mode, mode),
            frequency_gradient(beams, theory, omega, mode, mode),
            (carried @ mass_coordinates(beams, theory, mode)) ** 2,
        )

    energies, gradient, mass = group_means(space, multiplicity, each)
    own = ModeFields(space.inner[slot], space.nodes[slot], space.outer[slot])
    moved = signs(own.outer[None], beams)[0] * (carried @ mass_coordinates(beams, theory, own))
    return energies, gradient, _Moved(moved, mass, xp.zeros_like(omega))


def _of_mode(
    num_points: int,
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    multiplicity: Array,
    slot: Array,
) -> tuple[Energies, BeamArrays, _Moved]:
    """The same for a mode that stands apart: it is a group of one."""
    mode = simple_mode(beams, theory, omega, num_points)
    energies, gradient = energies_and_gradient(beams, theory, omega, mode)
    moved = signs(mode.ends.outer[None], beams)[0] * participation(beams, theory, mode)
    return energies, gradient, _Moved(moved, moved * moved, mode.change)
