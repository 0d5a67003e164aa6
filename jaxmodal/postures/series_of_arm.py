"""The posture series that callers ask for, of an arm of either kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arguments import is_whole, real_number
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.postures.expansion_in_space import ExpansionInSpace, has_series_in_space, turning
from jaxmodal.postures.expansions import PlanarExpansion
from jaxmodal.postures.fewer_terms import measured
from jaxmodal.postures.polynomial_values import varying
from jaxmodal.postures.series import PostureSeries, is_polynomial, tabulate
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm

#: most terms of a planar arm, those of five joints, and joints of one in space, of 729 terms
_MOST_TERMS, _MOST_JOINTS = 3125, 3


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
        The numbers of the links whose joints vary, in space three at most; by default all that turn and change
        frequencies.

    Returns
    -------
    PostureSeries
        For all postures and all frequencies between the two.

    Raises
    ------
    ValueError
        A frequency is not positive and finite, or the two are not in order; a joint is none that turns, or given twice;
        or too many vary: in space more than three, in the plane more than 3,125 terms, which five joints have. An
        `ArmError`, which is one, where the arm has no such series.

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
    require_arm(arm)
    if isinstance(arm, SpatialArm):
        return _in_space(arm, omega_max, theory, omega_min, joints)
    low, high = _range(omega_max, omega_min)
    whole = varying(
        arm,
        _varying(joints, [k + 1 for k in turning(arm, range(arm.num_links))], arm.num_links),
        (),
        theory,
    )
    if whole is None or not is_polynomial(whole.beams):
        raise ArmError(
            "the arm has a free joint (a stiffness of 0), a base that is free in a direction, an axial force, or rigid "
            "links alone, and no posture series; use natural_frequencies_batch"
        )
    terms = whole.terms.number(len(whole.joints))
    if terms > _MOST_TERMS:
        raise ValueError(
            f"the series of {len(whole.joints)} joints that vary has {terms} terms; expected at most {_MOST_TERMS}: "
            "give fewer joints"
        )
    expansion = PlanarExpansion(whole, theory_flags(theory))
    return tabulate(expansion, math.sqrt(low), math.sqrt(high), theory)


def _range(omega_max: Any, omega_min: Any) -> tuple[float, float]:
    high = real_number(omega_max, "omega_max", "in rad/s")
    low = high / 1e4 if omega_min is None else real_number(omega_min, "omega_min", "in rad/s")
    if not 0.0 < low < high < math.inf:
        raise ValueError(
            f"omega_min = {low!r}, omega_max = {high!r}: expected 0 < omega_min < omega_max, finite, in rad/s"
        )
    return low, high


def _in_space(
    arm: SpatialArm, omega_max: Any, theory: TheoryName, omega_min: Any, joints: Any
) -> PostureSeries:
    """`posture_series` of an arm in space, held beside the determinant in postures that have not made it."""
    if is_traced(arm):
        raise ArmError(
            "arm: holds traced values; posture_series needs known ones: call it outside jax.jit, jax.vmap and jax.grad."
        )
    model = arm.model(theory)
    if not has_series_in_space(arm):
        raise ArmError(
            "the arm has a free joint (a stiffness of 0), an axial force, or rigid links alone, and no posture series; "
            "use natural_frequencies_batch"
        )
    low, high = _range(omega_max, omega_min)
    turn = [k + 1 for k in turning(arm, [k - 1 for k in arm.joints if not arm.slides(k)])]
    limit = ", in space at most three: their series have 9, 81 and 729 terms"
    expansion = ExpansionInSpace(arm, _varying(joints, turn, _MOST_JOINTS, limit), theory)
    # joints that give way have modes that no wave of a link tells of: as many panels as modes below in this posture
    below = int(model.evaluate(np.array([high]), Arithmetic.double_double).count[0])
    series = tabulate(expansion, math.sqrt(low), math.sqrt(high), theory, max(1, below))
    found = measured(series, None, expansion)
    if found is None:
        raise ArmError(
            "the determinant of the arm loses digits between these frequencies, as that of links that are alike near "
            "their own resonances, and the series is not it to the last digits; narrow omega_min and omega_max, or use "
            "natural_frequencies_batch"
        )
    return found


def _varying(joints: Any, turn: list[int], most: int, limit: str = "") -> tuple[int, ...]:
    """Places, from 0, of the joints that vary: some out of ``turn``, from 1, and not more than ``most``."""
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
    if len(given) > most or (turn and not given) or len(set(given)) < len(given):
        raise ValueError(
            f"joints = {shown(joints)}: {len(given)} joints, of {known}; expected different ones"
            + limit
        )
    return tuple(sorted(joint - 1 for joint in given))
