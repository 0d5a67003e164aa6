"""Derivatives of the statics of an arm by complex steps: by addresses, and by every entry of its arrays.

The formulas of statics keep imaginary parts. Therefore an arm whose arrays have a small imaginary part in one value
gives the derivatives by that value. A load factor makes a stiffness K(factor, p) singular, with the buckling shape x as
null vector, and so ``d factor/dp = - x.K_p x/(x.K_factor x)``: neither factor nor shape has to be computed for varied
values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import jax
import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import STEP, columns_of, rates_of, stepped, unpacked
from jaxmodal.at_rest.loaded_arms import LoadedArm
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads


def factor_rate(problem: LoadedArm, factor: float, vector: Floats) -> Callable[[LoadedArm], float]:
    """Return the derivative of a simple load factor, of either sign, as a function of the varied arm.

    ``vector`` is the null vector at the factor.
    """

    def energy(of: LoadedArm, at: complex) -> float:
        found = of.stiffness(at)
        assert found is not None
        return float((vector @ found.matrix @ vector).imag) / STEP

    by_factor = energy(problem, factor + 1j * STEP)
    return lambda varied: -energy(varied, factor) / by_factor


def beams_of(arm: Arm) -> BeamArrays:
    """Return the arm's arrays as `varied_by_addresses` varies them, with values without effect for absent fields."""
    return _first(columns_of(arm, (), np.zeros((0, 1))).packed)


def varied_by_addresses(
    arm: Arm, loads: DeadLoads, singles: Sequence[str]
) -> Iterator[tuple[BeamArrays, DeadLoads]]:
    """Yield the arm's arrays without its loads, and all its loads, with one address at a time varied."""
    bare = arm.replace(loads=None)
    plain = beams_of(bare)
    for single in singles:
        if single.startswith("loads."):
            _, moved = stepped(arm, single)
            parts = (np.ravel(np.imag(x))[0] for x in moved.loads.dead())
            yield plain, DeadLoads(*(x + 1j * p for x, p in zip(loads, parts, strict=True)))
        else:
            ((_, rate),) = rates_of(bare, (), np.zeros((0, 1)), [single])
            yield (
                jax.tree_util.tree_map(lambda x, r: x + 1j * STEP * r, plain, _first(rate)),
                loads,
            )


def _first(packed: np.ndarray) -> BeamArrays:
    found: BeamArrays = jax.tree_util.tree_map(lambda x: x[:, 0], unpacked(packed))
    return found


def varied_by_entries(
    leaves: Sequence[Numbers],
) -> Iterator[tuple[int, tuple[int, ...], list[Numbers]]]:
    """Yield each finite entry of the arrays, as array number and index, and the arrays with this entry varied.

    Infinite entries stay rigid.
    """
    for field, leaf in enumerate(leaves):
        for entry in np.ndindex(leaf.shape):
            if not np.isinf(leaf[entry]):
                varied = list(leaves)
                varied[field] = leaf.astype(np.complex128)
                varied[field][entry] += 1j * STEP
                yield field, entry, varied
