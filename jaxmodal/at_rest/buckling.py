"""Load factors at which arms buckle."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import asked_for, set_together
from jaxmodal.arm.arguments import positive_integer, require_truth
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.at_rest.buckling_results import Buckling
from jaxmodal.at_rest.derivatives import beams_of, factor_rate, varied_by_addresses
from jaxmodal.at_rest.loaded_arms import LoadedArm
from jaxmodal.at_rest.loaded_in_space import loaded_in_space
from jaxmodal.at_rest.loads import loads_in_space, refuse_moment, under_loads
from jaxmodal.at_rest.shapes import null_vector, positions, scaled, shape_along
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.parts.loads import LoadsInSpace
from jaxmodal.spatial.preload.energies import factor_rates
from jaxmodal.statics.beam_arrays import SPRINGS
from jaxmodal.statics.load_factors import NONE, Factor, Loaded, factors
from jaxmodal.statics.stability import NO_STIFFNESS

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
    require_arm(arm)
    if isinstance(arm, SpatialArm):
        given = gravity, tip_force, tip_moment, base_acceleration
        in_space = loads_in_space(arm, "buckling", *given, or_axial=True)
        return _in_space(arm, number, theory, in_space, both_signs, addresses)
    refuse_moment(tip_moment)
    flags, loads = under_loads(
        arm, theory, "buckling", gravity, tip_force, base_acceleration, or_axial=True
    )
    singles = list(set_together(arm, asked_for(arm, addresses)[0]))

    bare = arm.replace(loads=None)
    beams = beams_of(bare) if singles else beam_values(bare)
    plain = LoadedArm.under(beams, flags, loads)
    problems = {1.0: plain} | ({-1.0: plain.reversed()} if both_signs else {})
    _require_held(plain)
    rows = _lowest(problems, number)
    stations = np.linspace(0.0, 1.0, _STATIONS)
    n = arm.num_links
    moved = np.full((number, n, _STATIONS, 2), np.nan)
    turned = np.full((number, n, _STATIONS), np.nan)
    rates: dict[int, Callable[[LoadedArm], float]] = {}
    for k, row in enumerate(rows):
        (_, size), sign, place, _ = row
        if np.isfinite(size):
            vector = null_vector(problems[sign], size, place)
            found = shape_along(problems[sign], size, vector, stations)
            moved[k], turned[k] = scaled(*found, float(np.sum(beams.length)))
            if singles and _is_simple(row):
                rates[k] = factor_rate(plain, sign * size, vector)
    derivatives = np.full((number, len(singles)), np.nan) if singles else None
    if derivatives is not None:
        for place, (moved_beams, dead) in enumerate(varied_by_addresses(arm, loads, singles)):
            varied = LoadedArm.under(moved_beams, flags, dead)
            derivatives[list(rates), place] = [rate(varied) for rate in rates.values()]
    forces = plain.prestress
    return Buckling(
        **_certificates(rows),
        axial_force=np.stack([forces.start, forces.outer], axis=1),
        stations=stations,
        displacement=moved,
        rotation=turned,
        derivatives=derivatives,
        addresses=tuple(singles),
        positions=positions(beams, stations),
        arm=arm,
        theory=theory,
    )


def _in_space(
    arm: SpatialArm,
    number: int,
    theory: TheoryName,
    loads: LoadsInSpace,
    both_signs: bool,
    addresses: Sequence[str],
) -> Buckling:
    """Return `buckling` for an arm in space."""
    singles = list(set_together(arm, asked_for(arm, addresses)[0]))
    plain = loaded_in_space(arm, theory, loads)
    if plain.rigid():
        raise ArmError(_RIGID)
    if plain.moves_without_strain():
        raise ArmError(_mechanism(plain.free_joints()))
    problems = {1.0: plain} | ({-1.0: plain.reversed()} if both_signs else {})
    rows = _lowest(problems, number)
    n, rest = arm.num_links, plain.chain.rest
    moved, turned = np.full((2, number, n, _STATIONS, 3), np.nan)
    for k, ((_, size), sign, place, factor) in enumerate(rows):
        if np.isfinite(size):
            found = problems[sign].shape(size, max(place - factor.count_below, 0), _STATIONS)
            moved[k], turned[k] = scaled(*found, float(sum(x.length for x in arm.links)))
    derivatives = np.full((number, len(singles)), np.nan) if singles else None
    if derivatives is not None:
        simple = [k for k, row in enumerate(rows) if _is_simple(row)]
        signed = [rows[k][1] * rows[k][3].value for k in simple]
        derivatives[simple] = factor_rates(plain, arm, signed, singles)
    stations, ends = np.linspace(0.0, 1.0, _STATIONS), np.array([0.0, 1.0])
    along = [at.start + stations[:, None] * (at.end - at.start) for at in rest.places]
    return Buckling(
        **_certificates(rows),
        axial_force=np.array([plain.chain.forces(k, ends)[:, 0] for k in range(n)]),
        stations=stations,
        displacement=moved,
        rotation=turned,
        derivatives=derivatives,
        addresses=tuple(singles),
        positions=np.array(along),
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


def _require_held(problem: LoadedArm) -> None:
    """Refuse an arm that moves without strain when it has no load."""
    values, held = problem.eigenvalues(0.0)
    if not values.size:
        raise ArmError(_RIGID)
    small = np.abs(values) <= NO_STIFFNESS * np.max(np.abs(values))
    if not small.any() and int(np.sum(values < 0.0)) == held:
        return
    free = [
        f"link{i + 1}.{name}"
        for name, springs in zip(SPRINGS, problem.beams.springs, strict=True)
        for i, k in enumerate(() if springs is None else springs)
        if k == 0.0
    ]
    raise ArmError(_mechanism(free))


_RIGID = "the arm is rigid throughout: nothing in it can buckle; make a link or a joint elastic."


def _mechanism(free: Sequence[str]) -> str:
    what = f" ({', '.join(free)} = 0)" if free else ""
    return (
        f"the arm moves without strain{what}, a mechanism without load; give its free joints stiffness, or "
        "support a tip beyond them."
    )
