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
from jaxmodal.arm.arrays import BeamArrays, beam_arrays
from jaxmodal.at_rest.loads import prestress
from jaxmodal.at_rest.search import Problem, factors
from jaxmodal.at_rest.shapes import null_vector
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import BALANCED, equilibrium
from jaxmodal.statics.pieces import pieces_for
from jaxmodal.statics.stability import static_stiffness

Floats = NDArray[np.float64]

#: imaginary part of a value whose derivative is sought
_STEP = 1e-100


def inverse_buckling_factor(
    arm: Arm,
    theory: TheoryName = "timoshenko",
    *,
    gravity: Sequence[float] = (0.0, 0.0),
    tip_force: Sequence[float] = (0.0, 0.0),
) -> jax.Array:
    """1 over the lowest positive buckling factor of an arm whose values may be traced, 0 where there is none.

    Parameters are those of `buckling`. Differentiable once, forwards and backwards; where the factor is repeated the
    derivative is that of one of its shapes.

    Returns
    -------
    Array, shape ()
        NaN where the arm is not held, or no factor was found.
    """
    beams = beam_arrays(arm)
    leaves, structure = jax.tree_util.tree_flatten(beams)
    loads = tuple(float(x) for x in (*gravity, *tip_force))
    return _inverse(structure, theory, loads, [jnp.asarray(x) for x in leaves])


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def _inverse(
    structure: Any, theory: TheoryName, loads: tuple[float, ...], leaves: list[Any]
) -> Any:
    def value(*arrays: Any) -> Floats:
        return _solved(structure, theory, loads, [np.asarray(x) for x in arrays])[0]

    shape = _shape()
    return jax.pure_callback(value, shape, *leaves, vmap_method="sequential")


@_inverse.defjvp
def _inverse_jvp(
    structure: Any, theory: TheoryName, loads: tuple[float, ...], primals: Any, tangents: Any
) -> tuple[Any, Any]:
    (leaves,), (rates,) = primals, tangents

    def both(*arrays: Any) -> tuple[Floats, Floats]:
        return _solved(structure, theory, loads, [np.asarray(x) for x in arrays], True)

    shapes = (_shape(), _shape(len(leaves), *leaves[0].shape))
    value, gradient = jax.pure_callback(both, shapes, *leaves, vmap_method="sequential")
    return value, sum(jnp.sum(g * rate) for g, rate in zip(gradient, rates, strict=True))


def _shape(*sizes: int) -> Any:
    make: Any = jax.ShapeDtypeStruct  # has no types
    return make(sizes, np.float64)


def _solved(
    structure: Any,
    theory: TheoryName,
    loads: tuple[float, ...],
    leaves: list[NDArray[Any]],
    gradient: bool = False,
) -> tuple[Floats, Floats]:
    """The value and its derivatives by every entry of the arm's arrays, (fields, n)."""
    flags = theory_flags(theory)
    dead = DeadLoads(*map(np.float64, loads))

    def problem_of(arrays: list[NDArray[Any]]) -> Problem | None:
        beams: BeamArrays = jax.tree_util.tree_unflatten(structure, arrays)
        found = equilibrium(beams, flags.shear, flags.axial, dead)
        if not float(np.real(found.unheld)) <= BALANCED:
            return None
        forces = prestress(beams, dead, found)
        return Problem(beams, float(flags.shear), float(flags.axial), forces)

    slopes = np.zeros((len(leaves), leaves[0].size))
    # a search may try values that are none
    problem = None if any(np.isnan(x).any() for x in leaves) else problem_of(leaves)
    if problem is None:
        return np.asarray(np.nan), slopes * np.nan
    factor = next(factors(problem))
    if not np.isfinite(factor.value):  # inf: nothing is pressed
        return np.asarray(1.0 / factor.value), slopes / factor.value
    inverse = np.asarray(1.0 / factor.value)
    if not gradient:
        return inverse, slopes
    vector = null_vector(problem, factor.value, factor.count_below)

    def energy(of: Problem, at: complex) -> float:
        pieces = pieces_for(of.beams, of.shear, of.prestress, factor.value)
        assert pieces is not None
        matrix = static_stiffness(of.beams, of.shear, of.axial, of.prestress, at, pieces).matrix
        return float((vector @ matrix @ vector).imag) / _STEP

    by_factor = energy(problem, factor.value + 1j * _STEP)
    for field in range(len(leaves)):
        for entry in range(leaves[0].size):
            moved = [x.astype(np.complex128) if k == field else x for k, x in enumerate(leaves)]
            moved[field][entry] += 1j * _STEP
            changed = problem_of(moved)
            if changed is not None:
                by_value = energy(changed, factor.value)
                slopes[field, entry] = inverse * inverse * by_value / by_factor
    return inverse, slopes
