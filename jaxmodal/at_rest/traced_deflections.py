"""Deflections of traced arms that axial forces or loads stiffen or soften, for optimisation."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.arm.columns import STEP
from jaxmodal.at_rest.traced_values import in_numpy
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import BALANCED, equilibrium
from jaxmodal.statics.second_order import loaded_tip
from jaxmodal.statics.stability import prestress

Floats = NDArray[np.float64]


def second_order_deflection(
    arm: Arm, theory: TheoryName = "timoshenko", *, gravity: Sequence[float] = (0.0, 0.0)
) -> jax.Array:
    """Displacement of the tip under the arm's own loads and gravity, second-order theory.

    Parameters
    ----------
    arm
        The arm, under axial forces and loads as it has them; its values may be traced.
    gravity
        Further acceleration, m/s^2, along x and y of the base. It bends the arm, and adds nothing to its forces at
        rest, which are those of which natural frequencies know.

    Returns
    -------
    Array, shape (2,)
        In x and y of the base, m; NaN where the forces at rest buckle the arm, or nothing holds it. Differentiable
        once, forwards and backwards.

    Notes
    -----
    With the stiffness that the forces at rest leave, as for `buckling`: along each link the axial force is linear, as
    loads make it, and the solution is exact.
    """
    leaves, structure = jax.tree_util.tree_flatten(beam_arrays(arm.replace(loads=None)))
    own = [0.0] * 4 if arm.loads is None else arm.loads.dead()
    loads = jnp.stack([jnp.asarray(x, jnp.float64) for x in own])
    solved = functools.partial(_solved, structure, theory, np.array([*gravity, 0.0, 0.0]))
    found: jax.Array = in_numpy(solved, (2,), [*(jnp.asarray(x) for x in leaves), loads])
    return found


def _solved(
    structure: Any,
    theory: TheoryName,
    further: Floats,
    leaves: list[NDArray[Any]],
    gradient: bool,
) -> tuple[Floats, list[Floats]]:
    """The displacement, and its derivatives by every entry of the arm's arrays and, last, its loads."""
    flags = theory_flags(theory)
    shear, axial = float(flags.shear), float(flags.axial)

    def moved(arrays: list[NDArray[Any]]) -> NDArray[Any]:
        if any(np.isnan(x).any() for x in arrays):  # a search may try values that are none
            return np.full(2, np.nan)
        beams: BeamArrays = jax.tree_util.tree_unflatten(structure, arrays[:-1])
        dead = DeadLoads(*arrays[-1])
        found = equilibrium(beams, shear, axial, dead)
        if not float(np.real(found.unheld)) <= BALANCED:
            return np.full(2, np.nan)
        forces = prestress(beams, dead, found)
        return loaded_tip(beams, shear, axial, forces, DeadLoads(*(arrays[-1] + further)))

    value = moved(leaves)
    slopes = [0.0 * value.reshape(2, *(1,) * x.ndim) + np.zeros((2, *x.shape)) for x in leaves]
    for place, leaf in enumerate(leaves if gradient else ()):
        for entry in np.ndindex(leaf.shape):
            if not np.isinf(leaf[entry]):
                changed = list(leaves)
                changed[place] = leaf.astype(np.complex128)
                changed[place][entry] += 1j * STEP
                slopes[place][(slice(None), *entry)] = np.imag(moved(changed)) / STEP
    return value, slopes
