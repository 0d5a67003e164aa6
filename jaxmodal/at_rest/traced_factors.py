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
from jaxmodal.at_rest.search import Problem, factors
from jaxmodal.at_rest.shapes import null_vector
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import BALANCED, equilibrium
from jaxmodal.statics.pieces import pieces_for
from jaxmodal.statics.stability import prestress, static_stiffness

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
    return _inverse(structure, theory, [*(jnp.asarray(x) for x in leaves), loads])


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _inverse(structure: Any, theory: TheoryName, leaves: list[Any]) -> Any:
    """Of the leaves of the arm's arrays, and last its loads."""

    def value(*arrays: Any) -> Floats:
        return _solved(structure, theory, [np.asarray(x) for x in arrays])[0]

    return jax.pure_callback(value, _shape(), *leaves, vmap_method="sequential")


@_inverse.defjvp
def _inverse_jvp(
    structure: Any, theory: TheoryName, primals: Any, tangents: Any
) -> tuple[Any, Any]:
    (leaves,), (rates,) = primals, tangents

    def both(*arrays: Any) -> tuple[Floats, tuple[Floats, ...]]:
        value, slopes = _solved(structure, theory, [np.asarray(x) for x in arrays], True)
        return value, tuple(slopes)

    shapes = (_shape(), tuple(_shape(*x.shape) for x in leaves))
    value, gradient = jax.pure_callback(both, shapes, *leaves, vmap_method="sequential")
    return value, sum(jnp.sum(g * rate) for g, rate in zip(gradient, rates, strict=True))


def _shape(*sizes: int) -> Any:
    make: Any = jax.ShapeDtypeStruct  # has no types
    return make(sizes, np.float64)


def _solved(
    structure: Any, theory: TheoryName, leaves: list[NDArray[Any]], gradient: bool = False
) -> tuple[Floats, list[Floats]]:
    """The value and its derivatives by every entry of the leaves."""
    flags = theory_flags(theory)

    def problem_of(arrays: list[NDArray[Any]]) -> Problem | None:
        beams: BeamArrays = jax.tree_util.tree_unflatten(structure, arrays[:-1])
        dead = DeadLoads(*arrays[-1])
        found = equilibrium(beams, flags.shear, flags.axial, dead)
        if not float(np.real(found.unheld)) <= BALANCED:
            return None
        forces = prestress(beams, dead, found)
        return Problem(beams, float(flags.shear), float(flags.axial), forces)

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

    def energy(of: Problem, at: complex) -> float:
        pieces = pieces_for(of.beams, of.shear, of.prestress, factor.value)
        assert pieces is not None
        matrix = static_stiffness(of.beams, of.shear, of.axial, of.prestress, at, pieces).matrix
        return float((vector @ matrix @ vector).imag) / _STEP

    by_factor = energy(problem, factor.value + 1j * _STEP)
    for field in range(len(leaves)):
        for entry in range(leaves[field].size):
            moved = [x.astype(np.complex128) if k == field else x for k, x in enumerate(leaves)]
            moved[field][entry] += 1j * _STEP
            changed = problem_of(moved)
            if changed is not None:
                by_value = energy(changed, factor.value)
                slopes[field][entry] = inverse * inverse * by_value / by_factor
    return inverse, slopes
