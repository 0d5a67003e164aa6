"""The receptance recursion of many arms at many frequencies at once, as a recorded formula."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arithmetic.lane_programs import LaneProgram, kind_of
from jaxmodal.arithmetic.nothing import Nothing
from jaxmodal.dynamic_stiffness.stiffness import Stiffness
from jaxmodal.response.receptance.margins import margin_of
from jaxmodal.response.receptance.parts import Condensed
from jaxmodal.response.receptance.pieces import Piece
from jaxmodal.response.receptance.recursion import inward
from jaxmodal.runtime.namespace import Array

#: least number of entries, frequencies times arms, at which to record a formula pays: it takes 2 ms a link, once for
#: all arms alike, and saves 0.4 microseconds for each entry of three links, so that it has paid after a few calls
FEWEST = 4096


def inward_recorded(
    pieces: Sequence[Piece],
    omega: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    loads_at_ground: bool,
) -> tuple[Condensed, Array] | None:
    """Return `recursion.inward`, watched, and the margin of its last denominators; factors and these are left out.

    It is None for an elastic base, whose formula has branches, and for too few numbers.
    """
    # lanes with one frequency each have one axis; their number is known without the shapes of all numbers
    few = omega.size < FEWEST and np.ndim(pieces[0].beam.length) < 2
    if few or pieces[0].beam.base_xx is not None:
        return None
    ends = tuple((piece.outer, piece.inner) for piece in pieces)
    numbers = [piece._replace(outer=None, inner=None) for piece in pieces]
    leaves, form = jax.tree_util.tree_flatten((numbers, omega))
    lanes = np.broadcast_shapes(*{np.shape(x) for x in leaves})
    if math.prod(lanes) < FEWEST:
        return None
    given = [x.reshape(())[()] if np.size(x) == 1 and np.ndim(x) else x for x in leaves]
    kinds = tuple(map(kind_of, given))
    program, built = _recorded(form, kinds, ends, tuple(pairs), loads_at_ground)
    found = [0.0 if isinstance(x, Nothing) else x for x in program(given, lanes)]
    return jax.tree_util.tree_unflatten(built, found)


@functools.lru_cache(maxsize=64)
def _recorded(
    form: Any,
    kinds: tuple[int, ...],
    ends: tuple[tuple[bool | None, bool | None], ...],
    pairs: tuple[tuple[int, int], ...],
    loads_at_ground: bool,
) -> tuple[LaneProgram, Any]:
    """Return the formula, and the structure of its results."""
    built: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        numbers, omega = jax.tree_util.tree_unflatten(form, leaves)
        pieces = [
            piece._replace(outer=outer, inner=inner)
            for piece, (outer, inner) in zip(numbers, ends, strict=True)
        ]
        found = inward(pieces, omega, pairs, loads_at_ground, watched=True)
        margin = margin_of(found.last, omega * omega)
        nothing = Stiffness(*(0.0,) * 6)
        bare = found._replace(stiffness=nothing, factors=(), last=None, beyond=None)
        results, structure = jax.tree_util.tree_flatten((bare, margin))
        built.append(structure)
        return results

    return LaneProgram(flat, kinds), built[0]
