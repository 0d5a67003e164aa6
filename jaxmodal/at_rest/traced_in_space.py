"""Arms in space at rest with values that may be traced, for optimisation; see `traced`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np

from jaxmodal.arm.columns import STEP
from jaxmodal.arm.solved_postures import at_postures, built
from jaxmodal.at_rest.in_space import loaded_in_space, with_own
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.loads import LoadsInSpace
from jaxmodal.spatial.preload.chain import PrestressedChain
from jaxmodal.spatial.preload.energies import factor_rates, varied_chain
from jaxmodal.spatial.preload.equilibrium import deflections
from jaxmodal.spatial.preload.loaded import SpatialLoadedArm
from jaxmodal.statics.load_factors import factors

#: function from a loaded arm and addresses to a value (...) and its derivatives (..., addresses); None if they are 0
Answer: TypeAlias = Callable[
    [SpatialLoadedArm, SpatialArm, Sequence[str]], tuple[Floats, Floats | None]
]


def inverse_factors(
    arm: SpatialArm, postures: Any, theory: TheoryName, loads: LoadsInSpace
) -> jax.Array:
    """Return 1 over the lowest positive buckling factor in each of P postures, (P,), 0 if there is none.

    NaN if the arm is not held, or the search found no factor. ``postures`` as for `at_postures`. For a repeated factor
    the derivative is that of one of its shapes.
    """

    def answer(
        problem: SpatialLoadedArm, own: SpatialArm, names: Sequence[str]
    ) -> tuple[Floats, Floats | None]:
        if problem.rigid() or problem.moves_without_strain():
            return np.array(np.nan), None
        factor = next(factors(problem))
        inverse = 1.0 / factor.value
        if not names or not np.isfinite(factor.value):  # inf: no part is under compression
            return np.array(inverse), None
        return np.array(inverse), -(inverse**2) * factor_rates(problem, own, [factor.value], names)[
            0
        ]

    solve = functools.partial(_solved, theory=theory, loads=loads, shape=(), answer=answer)
    return at_postures(arm, postures, (), solve)


def tips_at_rest(
    arm: SpatialArm, postures: Any, theory: TheoryName, loads: LoadsInSpace
) -> jax.Array:
    """Return first-order displacements of the tip at rest in each of P postures, (P, 3), m along x, y, z of the ground.

    NaN if the arm is not held. ``postures`` as for `at_postures`.
    """

    def answer(
        problem: SpatialLoadedArm, own: SpatialArm, names: Sequence[str]
    ) -> tuple[Floats, Floats | None]:
        slopes = np.zeros((3, len(names)))
        for k, name in enumerate(names):
            varied = varied_chain(problem.chain, own, name)
            if varied is not None:
                slopes[:, k] = np.imag(_tip(varied)) / STEP
        return _tip(problem.chain), slopes

    solve = functools.partial(_solved, theory=theory, loads=loads, shape=(3,), answer=answer)
    return at_postures(arm, postures, (3,), solve)


def _tip(chain: PrestressedChain) -> Floats:
    return deflections(chain.model, chain.rest, np.zeros(0)).tips[-1, :3]


def _solved(
    structure: Any,
    values: tuple[float, ...],
    names: Sequence[str],
    *,
    theory: TheoryName,
    loads: LoadsInSpace,
    shape: tuple[int, ...],
    answer: Answer,
) -> tuple[Floats, Floats]:
    """Return the answer and its derivatives.

    A search may try values that make no valid arm, or one that is not held; the answer is then NaN.
    """
    value, slopes, arm = np.full(shape, np.nan), None, built(structure, values)
    with contextlib.suppress(ArmError):
        value, slopes = answer(loaded_in_space(arm, theory, with_own(arm, loads)), arm, names)
    if slopes is None:
        slopes = np.multiply.outer(0.0 * value, np.zeros(len(names)))
    return value, slopes
