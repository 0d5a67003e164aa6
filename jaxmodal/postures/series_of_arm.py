"""The posture series that callers ask for, of an arm of either kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import is_whole, real_number
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import refuse_loads
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.counts import counts_below
from jaxmodal.frequencies.models import concrete_model, require_theory
from jaxmodal.postures.expansion_in_space import MOST_TERMS, turning
from jaxmodal.postures.fewer_terms import checked
from jaxmodal.postures.kinds import known_kind
from jaxmodal.postures.polynomial_values import Varied
from jaxmodal.postures.series import PostureSeries, tabulate
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm


def posture_series(
    arm: AnyArm,
    omega_max: float,
    *,
    theory: TheoryName = "timoshenko",
    omega_min: float | None = None,
    joints: Sequence[int] | None = None,
) -> PostureSeries:
    """Tabulate the series of an arm up to a frequency.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm; the angles of ``joints`` do not matter, others keep theirs.
    omega_max : float
        Highest frequency in rad/s.
    theory : str
        As for `natural_frequencies`.
    omega_min : float, optional
        Lowest frequency in rad/s, by default omega_max/1e4.
    joints : sequence of int, optional
        The numbers of the links whose joints vary; by default all that turn and change frequencies.

    Returns
    -------
    PostureSeries
        For all postures and all frequencies between the two.

    Raises
    ------
    ValueError
        A frequency is not positive and finite, or the two are not in order; a joint is none that turns, or given twice;
        or the series has more than 5,000 terms: in the plane five joints have 3,125, in space three have 729. An
        `ArmError`, which is one, where the arm has no such series, or its determinant loses digits there.

    Notes
    -----
    About twenty frequencies for each mode, and as many postures as there are terms, are evaluated in double-double.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> series = posture_series(jm.examples.two_link_flexible(), omega_max=20.0)
    >>> values = series.evaluate([1.0, 5.0], [[0.0], [1.5]])
    >>> values.value.shape, bool((values.error < 1e-13).all())
    ((2, 2), True)
    """
    kind = known_kind(arm, "posture_series")
    refuse_loads(arm, "posture_series")
    require_theory(arm, theory)
    low, high = _range(omega_max, omega_min)
    turn = turning(arm, [k - 1 for k in arm.joints if not arm.slides(k)])
    varied = Varied(_varying(joints, [k + 1 for k in turn]), (), ())
    if not kind.has_series():
        raise ArmError(
            "the arm has a free joint (a stiffness of 0), an axial force, in the plane a base that is free in a "
            "direction, or rigid links alone, and no posture series; use natural_frequencies_batch"
        )
    if (terms := kind.terms(varied)) > MOST_TERMS:
        raise ValueError(
            f"the series of {len(varied.joints)} joints that vary has {terms} terms; expected at most {MOST_TERMS}: "
            "give fewer joints"
        )
    expansion = kind.expansion(varied, np.empty((0, 0)), theory)
    assert expansion is not None
    # joints that give way have modes that no wave of a link tells of: as many panels as modes below in this posture
    ends = np.array([high])
    least = 1 if expansion.estimated else int(counts_below(concrete_model(arm, theory), ends)[0])
    series = tabulate(expansion, math.sqrt(low), math.sqrt(high), theory, max(1, least))
    found = checked(series, None, expansion)
    if found is None:
        raise ArmError(
            "the determinant of the arm loses digits between these frequencies, as that of links that are alike near "
            "their own resonances, and the series is not it to the last digits; narrow omega_min and omega_max, or use "
            "natural_frequencies_batch"
        )
    return found


def _range(omega_max: Any, omega_min: Any) -> tuple[float, float]:
    high = real_number(omega_max, "omega_max", "in rad/s")
    low = high / 1e4 if omega_min is None else real_number(omega_min, "omega_min", "in rad/s")
    if not 0.0 < low < high < math.inf:
        raise ValueError(
            f"omega_min = {low!r}, omega_max = {high!r}: expected 0 < omega_min < omega_max, finite, in rad/s"
        )
    return low, high


def _varying(joints: Any, turn: list[int]) -> tuple[int, ...]:
    """Places, from 0, of the joints that vary: some out of ``turn``, from 1."""
    given = turn if joints is None else joints
    known = ", ".join(map(str, turn)) or "none"
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ValueError(f"joints = {shown(joints)}: expected a list of numbers out of {known}")
    for joint in given:
        if not is_whole(joint, 1) or joint not in turn:
            raise ValueError(
                f"joints = {shown(joints)}: {shown(joint)} is none that turns and changes a frequency; expected some "
                f"of {known}"
            )
    if (turn and not given) or len(set(given)) < len(given):
        raise ValueError(
            f"joints = {shown(joints)}: {len(given)} joints, of {known}; expected different ones"
        )
    return tuple(sorted(joint - 1 for joint in given))
