"""Derivatives of what an arm at rest does, by complex steps: by addresses, and by every entry of its arrays.

The formulas of statics let imaginary parts pass, so that an arm whose arrays have them, varied, answers with its rates.
A load factor is the root of a stiffness K(factor, p) that is singular in the direction x of its shape, and so
``d factor/dp = - x.K_p x/(x.K_factor x)``: neither root nor shape has to be varied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import STEP, columns_of, rates_of, stepped, unpacked
from jaxmodal.at_rest.search import LoadedArm
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads

Floats = NDArray[np.float64]


def factor_rate(problem: LoadedArm, factor: float, vector: Floats) -> Callable[[LoadedArm], float]:
    """The rate of a simple load factor, of either sign, with its null vector: a function of the varied arm."""

    def energy(of: LoadedArm, at: complex) -> float:
        found = of.stiffness(at)
        assert found is not None
        return float((vector @ found.matrix @ vector).imag) / STEP

    by_factor = energy(problem, factor + 1j * STEP)
    return lambda varied: -energy(varied, factor) / by_factor


def beams_of(arm: Arm) -> BeamArrays:
    """The arm's arrays, with what it lacks filled up, as `varied_by_addresses` has them."""
    return _first(columns_of(arm, (), np.zeros((0, 1))).packed)


def varied_by_addresses(
    arm: Arm, loads: DeadLoads, singles: Sequence[str]
) -> Iterator[tuple[BeamArrays, DeadLoads]]:
    """The arm's arrays without its loads, and all its loads, varied by one single address after the other."""
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
    leaves: Sequence[NDArray[Any]],
) -> Iterator[tuple[int, tuple[int, ...], list[NDArray[Any]]]]:
    """Each finite entry of arrays, by array and place, and the arrays varied by it; what is rigid stays so."""
    for field, leaf in enumerate(leaves):
        for entry in np.ndindex(leaf.shape):
            if not np.isinf(leaf[entry]):
                varied = list(leaves)
                varied[field] = leaf.astype(np.complex128)
                varied[field][entry] += 1j * STEP
                yield field, entry, varied
