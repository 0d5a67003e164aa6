"""Counts of the modes of arms in space below given frequencies, in float64, and whether they are certain."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.postures.harmonics import Determinant
from jaxmodal.postures.terms import Terms
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.spatial.search.turned_lanes import TurnedLanes

#: a count is certain where what is rounded, moved to and fro, moves D by less than this
_NOISE = 1e-4
#: what is added to that: two may be equal
_LEAST = 2.0**-52
#: a count in double-double is certain, and this much clearer than it has to be
_CLEAR = 1e6


def _clear(count: Array, sign: Array, log_abs: Array) -> Array:
    """How clear a count is, above 1 where it is certain, from that of two ways to round, along the first axis.

    Both count alike, with signs that say so too, and change D by little.
    """
    even = 1.0 - 2.0 * (count[0] - 2.0 * xp.floor(0.5 * count[0]))
    agrees = xp.all((count == count[:1]) & (sign == even[None]), axis=0)
    moved = xp.abs(log_abs[0] - log_abs[-1])
    return xp.where(agrees, _NOISE / (moved + _LEAST), 0.0)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class CounterInSpace:
    """Of an arm without supports; see `expansions.Counter`."""

    lanes: TurnedLanes
    joints: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    terms: Terms = dataclasses.field(metadata={"static": True})

    def count(self, places: Array) -> tuple[Array, Array]:
        e = self.lanes.evaluate(places)
        clear = _clear(e.count, e.sign, e.log_abs)
        return xp.where(clear > 1.0, e.count[0], -1.0), clear


@dataclasses.dataclass(frozen=True)
class CounterOnSupports:
    """Of an arm on supports, by NumPy: in double-double where float64 is not certain; see `expansions.Counter`.

    ``evaluated`` is D in float64 a little above and below frequencies (F,) at places of cells, in two ways to round:
    (2, F, cells). ``determinant`` is D in double-double, lane by lane.
    """

    evaluated: Callable[[np.ndarray, np.ndarray], Evaluation]
    determinant: Callable[[np.ndarray, np.ndarray], Determinant]
    omega: np.ndarray
    joints: tuple[int, ...]
    terms: Terms

    def count(self, places: Array) -> tuple[Array, Array]:
        """Certain in double-double where the sign of D is that of the count."""
        cells = np.asarray(places)
        e = self.evaluated(self.omega, cells)
        count = e.count[0].astype(np.float64)
        clear = np.asarray(_clear(e.count, e.sign, e.log_abs))
        left = np.nonzero(~(clear > 1.0))
        d = self.determinant(self.omega[left[0]], cells[:, left[1]])
        agrees = (d.factor > 0.0) == (d.passed % 2 == 0)
        count[left] = np.where(agrees, d.passed, -1.0)
        clear[left] = np.where(agrees, _CLEAR, 0.0)
        return count, clear
