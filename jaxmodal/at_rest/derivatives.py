"""Derivatives of buckling factors by addresses: the balance of energies in the buckling shape.

The stiffness K(factor, p) is singular in the direction x, and so ``d factor/dp = - x.K_p x/(x.K_factor x)``: the shape
does not have to be varied. K_p is exact, by complex steps through the same formulas, the forces at rest included.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import jax
import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import STEP, columns_of, rates_of, stepped, unpacked
from jaxmodal.at_rest.search import LoadedArm
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.pieces import pieces_for
from jaxmodal.statics.stability import static_stiffness

Floats = NDArray[np.float64]


def beams_of(arm: Arm) -> BeamArrays:
    """The arm's arrays as `rates_of` has their rates."""
    return _first(unpacked(columns_of(arm, (), np.zeros((0, 1))).packed))


def _first(beams: BeamArrays) -> BeamArrays:
    found: BeamArrays = jax.tree_util.tree_map(lambda x: x[:, 0], beams)
    return found


def factor_derivatives(
    arm: Arm,
    singles: Sequence[str],
    problem_of: Callable[[BeamArrays, float, DeadLoads], LoadedArm],
    loads: DeadLoads,
    found: Sequence[tuple[float, Floats]],
) -> Floats:
    """``d factor/d value`` for simple factors and their null vectors (K), by single addresses (P): shape (K, P).

    ``problem_of`` makes of beams and ``loads``, whose values may have imaginary parts, the arm under its loads. Factors
    that are not finite have NaN.
    """
    bare = arm.replace(loads=None)
    beams = beams_of(bare)
    plain = problem_of(beams, 1.0, loads)
    result = np.full((len(found), len(singles)), np.nan)
    known = [k for k, (factor, _) in enumerate(found) if np.isfinite(factor)]
    cuts = {k: pieces_for(beams, plain.shear, plain.prestress, abs(found[k][0])) for k in known}

    def matrix(problem: LoadedArm, k: int, factor: complex) -> NDArray[np.complex128]:
        pieces = cuts[k]
        assert pieces is not None
        counts = np.bincount(pieces.link, minlength=problem.beams.length.size)[pieces.link]
        length = problem.beams.length[pieces.link]
        share = np.real(pieces.begin / pieces.length)
        moved = pieces._replace(begin=length * np.round(share) / counts, length=length / counts)
        return static_stiffness(
            problem.beams, problem.shear, problem.axial, problem.prestress, factor, moved
        ).matrix

    slopes = {}
    for k in known:
        factor, vector = found[k]
        by_factor = matrix(plain, k, factor + 1j * STEP).imag / STEP
        slopes[k] = vector @ by_factor @ vector
    for place, single in enumerate(singles):
        dead = loads
        moved = beams
        if single.startswith("loads."):
            dead = _moved_loads(arm, single, loads)
        else:
            ((_, rate),) = rates_of(bare, (), np.zeros((0, 1)), [single])
            rates = _first(unpacked(rate))
            moved = dataclasses.replace(
                beams,
                **{
                    f.name: getattr(beams, f.name) + 1j * STEP * getattr(rates, f.name)
                    for f in dataclasses.fields(beams)
                    if f.name != "has_shear" and getattr(beams, f.name) is not None
                },
            )
        problem = problem_of(moved, 1.0, dead)
        for k in known:
            factor, vector = found[k]
            change = matrix(problem, k, factor).imag / STEP
            result[k, place] = -(vector @ change @ vector) / slopes[k]
    return result


def _moved_loads(arm: Arm, single: str, loads: DeadLoads) -> DeadLoads:
    """The loads, with the imaginary parts that one of a value of the arm's own makes."""
    _, moved = stepped(arm, single)
    parts = (np.ravel(np.imag(x))[0] for x in moved.loads.dead())
    return DeadLoads(*(x + 1j * part for x, part in zip(loads, parts, strict=True)))
