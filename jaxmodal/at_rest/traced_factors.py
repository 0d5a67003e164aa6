"""The lowest buckling factor of traced arms, for optimisation: computed in NumPy, its derivatives handed to JAX."""

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
from jaxmodal.at_rest.search import LoadedArm, factors
from jaxmodal.at_rest.shapes import null_vector
from jaxmodal.at_rest.traced_values import in_numpy
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import BALANCED, equilibrium
from jaxmodal.statics.pieces import pieces_for
from jaxmodal.statics.stability import prestress, static_stiffness

Floats = NDArray[np.float64]


def inverse_buckling_factor(
    arm: Arm,
    theory: TheoryName = "timoshenko",
    *,
    gravity: Sequence[float] = (0.0, 0.0),
    tip_force: Sequence[float] = (0.0, 0.0),
) -> jax.Array:
    """1 over the lowest positive buckling factor of an arm whose values may be traced, 0 where there is none.

    Parameters are those of `buckling`; what the arm bears itself is added. Differentiable once, forwards and backwards;
    where the factor is repeated the derivative is that of one of its shapes.

    Returns
    -------
    Array, shape ()
        NaN where the arm is not held, or no factor was found.
    """
    beams = beam_arrays(arm.replace(loads=None))
    leaves, structure = jax.tree_util.tree_flatten(beams)
    added = [float(x) for x in (*gravity, *tip_force)]
    own = [0.0] * 4 if arm.loads is None else arm.loads.dead()
    loads = jnp.stack([jnp.asarray(a, jnp.float64) + b for a, b in zip(own, added, strict=True)])
    solved = functools.partial(_solved, structure, theory)
    found: jax.Array = in_numpy(solved, (), [*(jnp.asarray(x) for x in leaves), loads])
    return found


def _solved(
    structure: Any, theory: TheoryName, leaves: list[NDArray[Any]], gradient: bool
) -> tuple[Floats, list[Floats]]:
    """The value and its derivatives by every entry of the leaves."""
    flags = theory_flags(theory)

    def problem_of(arrays: list[NDArray[Any]]) -> LoadedArm | None:
        beams: BeamArrays = jax.tree_util.tree_unflatten(structure, arrays[:-1])
        dead = DeadLoads(*arrays[-1])
        found = equilibrium(beams, flags.shear, flags.axial, dead)
        if not float(np.real(found.unheld)) <= BALANCED:
            return None
        forces = prestress(beams, dead, found)
        return LoadedArm(beams, float(flags.shear), float(flags.axial), forces)

    slopes = [np.zeros(x.shape) for x in leaves]
    # a search may try values that are none
    problem = None if any(np.isnan(x).any() for x in leaves) else problem_of(leaves)
    if problem is None:
        return np.asarray(np.nan), [x * np.nan for x in slopes]
    factor = next(factors(problem))
    if not np.isfinite(factor.value):  # inf: nothing is pressed
        return np.asarray(1.0 / factor.value), [x / factor.value for x in slopes]
    inverse = np.asarray(1.0 / factor.value)
    if not gradient:
        return inverse, slopes
    vector = null_vector(problem, factor.value, factor.count_below)

    def energy(of: LoadedArm, at: complex) -> float:
        pieces = pieces_for(of.beams, of.shear, of.prestress, factor.value)
        assert pieces is not None
        matrix = static_stiffness(of.beams, of.shear, of.axial, of.prestress, at, pieces).matrix
        return float((vector @ matrix @ vector).imag) / STEP

    by_factor = energy(problem, factor.value + 1j * STEP)
    for field in range(len(leaves)):
        for entry in range(leaves[field].size):
            moved = [x.astype(np.complex128) if k == field else x for k, x in enumerate(leaves)]
            moved[field][entry] += 1j * STEP
            changed = problem_of(moved)
            if changed is not None:
                by_value = energy(changed, factor.value)
                slopes[field][entry] = inverse * inverse * by_value / by_factor
    return inverse, slopes
