"""Sensitivities, energies and base motions of the modes of one block of cells, in one compiled program."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import BeamArrays, beam_arrays, invalid_values
from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.energies import Energies, frequency_gradient, mode_energies
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


class Cells(NamedTuple):
    """What each cell is solved from: values (N, A); frequency and size of each mode's group, its slot, (N, K)."""

    values: Any
    omega: Any
    multiplicity: Any
    slot: Any


class Means(NamedTuple):
    """What is averaged over a group, arrays with leading axis K."""

    derivative: Any
    logarithmic: Any
    effective_mass: Any
    energies: Any


class Found(NamedTuple):
    """All of one cell; ``change`` is what the last correction of each mode still changed, relative."""

    means: Means
    participation: Any
    total_mass: Any
    change: Any


@functools.partial(jax.jit, static_argnames=("names", "members", "simple"))
def block(
    arm: Arm,
    theory: Theory,
    cells: Cells,
    *,
    names: tuple[str, ...],
    members: tuple[tuple[str, ...], ...],
    simple: bool,
) -> Found:
    """Quantities of the modes of cells, by the parameters ``names``; ``simple`` says that all their modes stand apart.

    ``members`` lists for each parameter of differentiation the single ones that it stands for.
    """
    singles = tuple(dict.fromkeys(single for group in members for single in group))
    share = np.array([[float(single in group) for group in members] for single in singles])
    share = share.reshape(len(singles), len(members))

    def one(cell: Cells) -> Found:
        varied = set_parameters(arm, dict(zip(names, cell.values, strict=True)))
        valid = ~jnp.asarray(invalid_values(varied)) & jnp.all(jnp.isfinite(cell.omega))
        values = jnp.array([get_parameter(varied, single) for single in singles]).reshape(-1)

        def arrays(values: Array) -> BeamArrays:
            changed = set_parameters(varied, dict(zip(singles, values, strict=True)))
            return jax.tree_util.tree_map(lambda x: jnp.where(valid, x, 1.0), beam_arrays(changed))

        def slope(direction: Array) -> BeamArrays:
            tangent: BeamArrays = jax.jvp(arrays, (values,), (direction,))[1]
            return tangent

        beams, slopes = arrays(values), jax.vmap(slope)(jnp.eye(len(singles)))
        omega = jnp.where(valid, cell.omega, 1.0)
        size = unpadded_quadrature_size(omega.shape[0])
        of_modes = _of_mode if simple else _of_group
        modes = functools.partial(of_modes, size, beams, theory)
        energies, gradient, moved = jax.vmap(modes)(omega, cell.multiplicity, cell.slot)
        by_value, along = (
            jnp.concatenate(jax.tree_util.tree_leaves(x), axis=1) for x in (gradient, slopes)
        )
        of_single = jnp.einsum("kn,sn->ks", by_value, along)
        finite = jnp.where(jnp.isfinite(values), values, 0.0)
        relative = of_single * finite[None, :] / omega[:, None]
        found = Found(
            Means(of_single @ share, relative @ share, moved.effective_mass, vars(energies)),
            moved.participation,
            total_mass(beams, theory),
            moved.change,
        )
        return jax.tree_util.tree_map(lambda x: jnp.where(valid, x, jnp.nan), found)

    return jax.vmap(one)(cells)


class _Moved(NamedTuple):
    """How a mode answers to a base that moves in x, in y or turns, shape (3,); ``change`` as in `Found`."""

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
    modes = ModeFields(space.inner, space.nodes, space.outer)
    rigid = rigid_fields(beams, num_points)
    carried = jax.vmap(lambda m: mass_coordinates(beams, theory, m))(rigid)

    def each(mode: ModeFields) -> tuple[Energies, BeamArrays, Array]:
        return (
            mode_energies(beams, theory, omega, mode, mode),
            frequency_gradient(beams, theory, omega, mode, mode),
            carried @ mass_coordinates(beams, theory, mode),
        )

    energies, gradient, products = jax.vmap(each)(modes)
    mass = products * products
    energies, gradient, mass = jax.tree_util.tree_map(
        lambda x: jnp.sum(x, axis=0) / multiplicity.astype(x.dtype), (energies, gradient, mass)
    )
    sign = signs(space.outer[slot][None], beams)[0]
    return energies, gradient, _Moved(sign * products[slot], mass, jnp.zeros_like(omega))


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
