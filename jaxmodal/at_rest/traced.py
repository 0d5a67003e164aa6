"""Planar arms at rest with values that may be traced, for optimisation.

Values and their derivatives by every entry of the arm's arrays are computed in NumPy and passed to JAX. They are
differentiable once, in forward and in reverse mode.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_arrays
from jaxmodal.arm.columns import STEP
from jaxmodal.at_rest.derivatives import factor_rate, varied_by_entries
from jaxmodal.at_rest.loaded_arms import LoadedArm
from jaxmodal.at_rest.shapes import null_vector
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.runtime.callbacks import in_numpy
from jaxmodal.runtime.errors import ArmError
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.load_factors import factors
from jaxmodal.statics.second_order import loaded_tip

#: function from a varied arm and its varied loads to the derivative of a value
Rate = Callable[[LoadedArm, DeadLoads], Any]
#: function from a loaded arm to a value and a function that makes its `Rate`; None if the derivatives are 0
Answer = Callable[[LoadedArm, DeadLoads], tuple[Any, Callable[[], Rate] | None]]


def inverse_buckling_factor(
    arm: Arm,
    theory: TheoryName = "timoshenko",
    *,
    gravity: Sequence[float] = (0.0, 0.0),
    tip_force: Sequence[float] = (0.0, 0.0),
) -> jax.Array:
    """Return 1 over the lowest positive buckling factor of an arm, 0 if there is none; values may be traced.

    Parameters are those of `buckling`; the arm's own loads are added. For a repeated factor the derivative is that of
    one of its shapes.

    Returns
    -------
    Array, shape ()
        NaN if the arm is not held, or the search found no factor.
    """

    def answer(problem: LoadedArm, _: DeadLoads) -> Any:
        factor = next(factors(problem))
        inverse = 1.0 / factor.value
        if not np.isfinite(factor.value):  # inf: no part is under compression
            return inverse, None

        def rates() -> Rate:
            vector = null_vector(problem, factor.value, factor.count_below)
            rate = factor_rate(problem, factor.value, vector)
            return lambda varied, _: -inverse * inverse * rate(varied)

        return inverse, rates

    return _answered(arm, theory, (), answer, (*gravity, *tip_force))


def second_order_deflection(
    arm: Arm, theory: TheoryName = "timoshenko", *, gravity: Sequence[float] = (0.0, 0.0)
) -> jax.Array:
    """Return the displacement of the tip under the arm's own loads and gravity, by second-order theory.

    Parameters
    ----------
    arm
        The arm with its axial forces and loads; values may be traced.
    gravity
        Further acceleration, m/s^2, along x and y of the base. It bends the arm but is not added to the static forces,
        which are those used for natural frequencies.

    Returns
    -------
    Array, shape (2,)
        Displacement along x and y of the base, m; NaN if the static forces buckle the arm, or it is not held.

    Notes
    -----
    The stiffness is that under the static forces, as for `buckling`. The axial force is linear along each link, as
    under dead loads, and the solution is exact.
    """

    def tip(of: LoadedArm, dead: DeadLoads) -> Numbers:
        bent = DeadLoads(dead.gravity_x + gravity[0], dead.gravity_y + gravity[1], *dead[2:])
        return loaded_tip(of.beams, of.shear, of.axial, of.prestress, bent)

    def answer(problem: LoadedArm, dead: DeadLoads) -> Any:
        return tip(problem, dead), lambda: lambda varied, loads: np.imag(tip(varied, loads)) / STEP

    return _answered(arm, theory, (2,), answer)


def _answered(
    arm: Arm,
    theory: TheoryName,
    shape: tuple[int, ...],
    answer: Answer,
    added: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
) -> jax.Array:
    """Return the answer for an arm under its own loads and added ones, an array of this shape.

    NaN if the arm is not held.
    """
    leaves, structure = jax.tree_util.tree_flatten(beam_arrays(arm.replace(loads=None)))
    own = [0.0] * 4 if arm.loads is None else arm.loads.dead()
    loads = [jnp.asarray(a, jnp.float64) + float(b) for a, b in zip(own, added, strict=True)]
    solved = functools.partial(_solved, structure, theory_flags(theory), shape, answer)
    found: jax.Array = in_numpy(solved, shape, [*map(jnp.asarray, leaves), jnp.stack(loads)], [])
    return found


def _solved(
    structure: Any,
    flags: Theory,
    shape: tuple[int, ...],
    answer: Answer,
    leaves: list[Numbers],
    gradient: bool,
) -> tuple[Floats, list[Floats]]:
    """Return the value and its derivatives by every entry of the arm's arrays and, last, its loads."""

    def loaded(arrays: list[Numbers]) -> tuple[LoadedArm, DeadLoads]:
        dead = DeadLoads(*arrays[-1])
        beams = jax.tree_util.tree_unflatten(structure, arrays[:-1])
        return LoadedArm.under(beams, flags, dead), dead

    value, rates = np.full(shape, np.nan), None
    if not any(np.isnan(x).any() for x in leaves):  # a search may try invalid values
        with contextlib.suppress(ArmError):  # not held
            value, rates = answer(*loaded(leaves))
    nothing = 0.0 * np.asarray(value)
    slopes = [np.multiply.outer(nothing, np.ones(x.shape)) for x in leaves]
    if gradient and rates is not None and np.isfinite(value).all():
        rate = rates()
        for field, entry, varied in varied_by_entries(leaves):
            place: Any = (..., *entry)
            with contextlib.suppress(
                ArmError
            ):  # supports that only just hold an arm, as in linkages, do not hold the varied one
                slopes[field][place] = rate(*loaded(varied))
    return np.asarray(value), slopes
