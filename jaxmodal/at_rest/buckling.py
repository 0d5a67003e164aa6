"""Load factors at which arms buckle."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import asked_for, set_together
from jaxmodal.arm.arguments import positive_integer, require_truth
from jaxmodal.at_rest.buckling_results import Buckling
from jaxmodal.at_rest.loads import Asked
from jaxmodal.at_rest.resting import resting
from jaxmodal.at_rest.shapes import scaled
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.statics.load_factors import NONE, Factor, Loaded, factors

#: largest number of factors in one call
MOST_FACTORS = 100
#: shares of each link's length at which shapes are given
_STATIONS = 41


def buckling(
    arm: AnyArm,
    num_factors: int = 1,
    *,
    theory: TheoryName = "timoshenko",
    gravity: Sequence[float] | None = None,
    tip_force: Sequence[float] | None = None,
    tip_moment: Sequence[float] | None = None,
    base_acceleration: Sequence[float] | None = None,
    both_signs: bool = False,
    addresses: Sequence[str] = (),
) -> Buckling:
    """Return the factors by which loads have to grow until the arm buckles at its posture.

    The loads are dead loads and the `axial_force` of links that have one; all grow together.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm, with concrete values. Its own loads are added to those given here.
    num_factors
        Number of factors, at most 100.
    theory
        As for `natural_frequencies`.
    gravity
        Acceleration of all masses, m/s^2, along x and y of the base, or for an arm in space along x, y and z of the
        ground.
    tip_force
        Force at the tip of the last link in N in the same axes; it keeps its direction.
    tip_moment
        Moment there in N m about x, y and z of the ground; only for arms in space. It is semi-tangential: conjugate to
        the rotation vector of the tip.
    base_acceleration
        Steady acceleration of the base, m/s^2; it acts like gravity in the opposite direction.
    both_signs
        Whether to find negative factors, too, for loads in the opposite direction; the smallest in magnitude come
        first.
    addresses
        Addresses by which the factors are differentiated; ``link*`` stands for the same field of each link.

    Raises
    ------
    ArmError
        If there is no load, the arm is a mechanism without loads or is not held against them, or a value does not suit
        the theory.

    Notes
    -----
    This is the linear theory of stability. Static forces are those of the undeformed posture (`static_equilibrium`),
    and an axial force N has the energy ``N v'^2/2`` per length, where v' is the slope of the axis, shear included (F.
    Engesser, Zentralblatt der Bauverwaltung 11, 1891, 483-486). Factors are exact for forces that are constant or
    linear along links, as under weight. For arms in space all static forces and moments are included, also shear
    forces, bending moments and torques (`jaxmodal.spatial.preload.members`).

    Examples
    --------
    A column of length 1 and flexural rigidity 1 under its own weight of 1 per length:

    >>> import jaxmodal as jm
    >>> column = jm.Arm((jm.Link(1.0, 1.0, 1.0, jm.raw_section(1.0, 1.0)),))
    >>> found = jm.buckling(column, theory="euler_bernoulli", gravity=(-1.0, 0.0))
    >>> f"{found.factors[0]:.10f}", bool(found.certified[0])
    ('7.8373474389', True)
    """
    require_truth("both_signs", both_signs)
    number = positive_integer(num_factors, "num_factors", MOST_FACTORS)
    asked = Asked(gravity, tip_force, tip_moment, base_acceleration)
    at_rest = resting(arm, theory, "buckling", asked, or_axial=True)
    singles = list(set_together(arm, asked_for(arm, addresses)[0]))
    plain = at_rest.problem
    at_rest.require_held()
    rows = _lowest({1.0: plain} | ({-1.0: plain.reversed()} if both_signs else {}), number)
    places = at_rest.positions(np.linspace(0.0, 1.0, _STATIONS))
    moved = np.full((number, *places.shape), np.nan)
    turned = np.full((number, *places.shape[: 2 + at_rest.rotation_axes]), np.nan)
    reach = float(sum(link.length for link in arm.links))
    for k, (_, sign, place, factor) in enumerate(rows):
        if math.isfinite(factor.value):
            found = at_rest.shape(sign, factor, place, _STATIONS)
            moved[k], turned[k] = scaled(*found, reach)
    derivatives = np.full((number, len(singles)), np.nan) if singles else None
    if derivatives is not None:
        simple = [k for k, row in enumerate(rows) if _is_simple(row)]
        each = [(sign, place, factor) for _, sign, place, factor in (rows[k] for k in simple)]
        derivatives[simple] = at_rest.rates(each, singles)
    return Buckling(
        **_certificates(rows),
        axial_force=at_rest.end_forces(),
        stations=np.linspace(0.0, 1.0, _STATIONS),
        displacement=moved,
        rotation=turned,
        derivatives=derivatives,
        addresses=tuple(singles),
        positions=places,
        arm=arm,
        theory=theory,
    )


#: sort key (not finite, magnitude), sign of the loads, index and certificate of a factor
Row = tuple[tuple[bool, float], float, int, Factor]


def _lowest(problems: Mapping[float, Loaded], number: int) -> list[Row]:
    """Return the factors for loads in each direction, the smallest in magnitude first."""
    streams = [_numbered(sign, problem) for sign, problem in problems.items()]
    return list(itertools.islice(heapq.merge(*streams, key=lambda row: row[0]), number))


def _is_simple(row: Row) -> bool:
    """Return True if a factor exists and is simple, so that it has a derivative."""
    factor = row[3]
    return math.isfinite(factor.value) and factor.count_above - factor.count_below == 1


def _numbered(sign: float, problem: Loaded) -> Iterator[Row]:
    for place, factor in enumerate(factors(problem)):
        yield (not math.isfinite(factor.value), factor.value), sign, place, factor


def _certificates(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the certificates of critical factors, by field of the results."""
    return {
        "factors": np.array([sign * size for (_, size), sign, _, _ in rows]),
        "certified": np.array([factor.certified for *_, factor in rows]),
        "count_below": np.array([factor.count_below for *_, factor in rows]),
        "count_above": np.array([factor.count_above for *_, factor in rows]),
        "bracket": np.array([_signed(sign, factor) for _, sign, _, factor in rows]),
    }


def _signed(sign: float, factor: Factor) -> tuple[float, float]:
    low, high = factor.bracket
    return (low, high) if sign > 0.0 or factor is NONE else (-high, -low)
