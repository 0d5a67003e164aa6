"""Formulas and counts of links in space, one set per layout, as tapes for the page."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamic_stiffness.member import (
    FreeEndMember,
    FunctionTurns,
    SymmetryTests,
    clamped_count,
)
from jaxmodal.spatial.stiffness.condensation import link_formula
from jaxmodal.spatial.stiffness.entries import Release
from jaxmodal.spatial.stiffness.rounding import Sizes, rounding_of_link, rounding_of_springs
from jaxmodal.spatial.stiffness.symmetric import PLACES, places
from sweeps.explorer.solver.spatial_passages import beyond_joint
from sweeps.explorer.solver.tapes import tape_of_formula, tape_of_function

#: numbers of a link before its springs, per spring, for a rotor, and per load
BEFORE_SPRINGS, OF_SPRING, _OF_ROTOR, OF_LOAD = 32, 8, 6, 13
#: entries of a stiffness, numbers of a member, tests for the count of its clamped modes
ENTRIES, MEMBER, _TESTS = len(PLACES), len(FreeEndMember._fields), len(SymmetryTests._fields)


def entries(loads: int) -> int:
    """Return the number of entries of a stiffness that is extended by some loads."""
    return len(places(6 + loads))


@functools.cache
def layout_tapes(
    springs: int, rotor: bool, flexible: bool, loads: tuple[int, ...]
) -> dict[str, Any]:
    """Return the formulas of links with one layout, for each number of loads."""
    return {
        "springs": springs,
        "flexible": flexible,
        "formulas": [_link_tapes(springs, rotor, flexible, number) for number in loads],
        "count": _tally_tape(springs, flexible, False),
        "noise": _tally_tape(springs, flexible, True) if flexible else None,
    }


def _link_tapes(springs: int, rotor: bool, flexible: bool, loads: int) -> dict[str, Any]:
    numbers = BEFORE_SPRINGS + OF_SPRING * springs + _OF_ROTOR * rotor
    joint = 1 + numbers + OF_LOAD * loads + entries(loads)
    inputs = joint + 2 * MEMBER * flexible

    def formula(flexible: bool, with_terms: bool) -> Any:
        return link_formula(springs, rotor, flexible, 0, with_terms, loads)

    return {
        "link": {
            "float64": tape_of_formula(formula(flexible, False), inputs, True),
            "double": tape_of_formula(formula(flexible, True), inputs, False),
        },
        "joint_before": tape_of_formula(formula(False, False), joint, False),
        "joint_beyond": tape_of_formula(
            functools.partial(beyond_joint, springs, rotor, loads), joint + 6 + loads, False
        ),
    }


def _tally_tape(springs: int, flexible: bool, noise: bool) -> dict[str, Any]:
    """Return the tape of a link's share of the count, or of the rounding, without and with springs.

    Inputs: the float64 results of the link after the stiffness (terms only in double-double); for the rounding also
    the sizes and the stiffness outboard.
    """
    results = 6 + springs + (3 * (5 if noise else 4)) * flexible

    def computed(*values: Any) -> list[Any]:
        left: Iterator[Any] = iter(values)

        def some(count: int) -> Any:
            return jnp.stack([next(left) for _ in range(count)]) if count else jnp.zeros(0)

        inner, pivots = some(6), some(springs)
        if not noise:
            count = jnp.sum((pivots < 0.0).astype(np.float64)) if springs else 0.0 * inner[0]
            if flexible:
                count = count + jnp.sum(Release(*(some(3) for _ in range(4))).passed())
            return [count]
        releases = Release(*(some(3) for _ in range(5)))
        squared, mass_term, length, body_mass = (next(left) for _ in range(4))
        body_inertia, deltas, r_vv, r_pp, beta = some(6), some(2), some(2), some(2), some(2)
        sizes = Sizes(
            squared, mass_term, length, body_mass, body_inertia, deltas, r_vv, r_pp, beta * beta
        )
        outboard = some(ENTRIES)
        own = rounding_of_link(sizes, outboard, releases.lost, inner)
        by_springs = 0.0 * own
        if springs:
            by_springs = rounding_of_springs(sizes, outboard, inner, pivots)
        return [own, by_springs]

    return tape_of_function(computed, results + (4 + 6 + 8 + ENTRIES) * noise)


@functools.cache
def passed_tape() -> dict[str, Any]:
    """Return the tape from tests and turns of a member, and its axial flag, to the count of its clamped modes."""

    def computed(*values: Any) -> list[Any]:
        tests, turns, axial = values[:_TESTS], values[_TESTS:-1], values[-1]
        return [clamped_count(SymmetryTests(*tests), FunctionTurns(*turns), axial)]

    return tape_of_function(computed, _TESTS + 4)
