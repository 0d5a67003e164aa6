"""Lowest and highest frequency of a mode over ranges of joint angles and other parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import positive_integer
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.runtime import limits
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.workspace.improvement import Height, climbed
from jaxmodal.workspace.ranges import Ranges
from jaxmodal.workspace.results import Extreme, Extremes

#: least distance of the starting cells of local searches, as a share of the diagonal of the ranges
_APART = 0.05


def extremes(
    arm: AnyArm,
    ranges: Mapping[str, Any] | None = None,
    mode: int = 1,
    *,
    theory: TheoryName = "timoshenko",
    payload: Any = None,
    starts: int = 1024,
    climbs: int = 5,
) -> Extremes:
    """Find the lowest and highest frequency of a mode over ranges of joint angles or other parameters.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm; parameters without a range keep their values.
    ranges : mapping of str to (float, float), optional
        Least and largest value by address, rad and SI units: ``{"theta_2": (-1.5, 1.5), "payload.mass": (0, 5)}``. By
        default all joint angles within their limits, or a full turn without limits; joint 1 only if its angle affects
        the frequencies.
    mode : int
        Number of the mode, from 1.
    theory : str
        As for `natural_frequencies`.
    payload : Payload, RigidBody or float, optional
        Payload that replaces the arm's, or its mass in kg.
    starts : int
        Number of starting cells, evenly distributed over the ranges.
    climbs : int
        Number of best starting cells, for each extreme, from which a local search is run within the ranges.

    Returns
    -------
    Extremes
        Both cells; the frequency of each is that of `natural_frequencies`, with its certificate. It is not proved that
        no cell of the ranges has a lower or higher frequency.

    Raises
    ------
    ValueError
        If a range is empty, not finite or more than a turn, a number is invalid, or no starting cell has a certified
        frequency of that mode.
    ArmError
        If the arm has no such parameter, or an end of its range is not allowed.

    Notes
    -----
    The search does not use a grid: from the best starting cells, quasi-Newton steps with exact gradients continue until
    steps of 1e-6 of the ranges give no improvement. Only extremes where two modes cross may be resolved less finely.
    Ranges of a full turn are periodic.

    Examples
    --------
    >>> import jaxmodal as jm, numpy as np
    >>> arm = jm.examples.two_link_flexible()
    >>> found = jm.extremes(arm, {"theta_2": np.radians([20, 150])}, starts=64)
    >>> round(found.lowest.frequency_hz, 6), float(np.degrees(found.lowest.values[0]).round(3))
    (0.202334, 20.0)
    """
    require_x64()
    mode = positive_integer(mode, "mode", limits.MODES)
    starts = positive_integer(starts, "starts", limits.SAMPLES)
    climbs = positive_integer(climbs, "climbs", limits.SAMPLES)
    theory_flags(theory)
    inside = Ranges.of(arm, ranges, payload)
    height = Height(inside, mode, theory)
    shares = spread(starts, len(inside.addresses))
    omega = height.at(shares)
    require_some(omega, mode, "starts")
    chosen = {sign: _best(sign * omega, shares, climbs) for sign in (-1, 1)}
    signs = np.concatenate([np.full(some.size, float(sign)) for sign, some in chosen.items()])
    places, reached = climbed(height, shares[np.concatenate(list(chosen.values()))], signs)
    sides: list[Extreme] = []
    for sign in (-1.0, 1.0):
        own = np.flatnonzero(signs == sign)
        own = own[np.argsort(-sign * reached[own], kind="stable")]
        found = inside.arm_at(places[own[0]])
        certified: Any = to_host(natural_frequencies(found, mode, theory=theory, throw=False))
        sides.append(Extreme(found, inside.values(places[own[0]]), certified, reached[own]))
    ends = np.stack([inside.low, inside.high], axis=1)
    lowest, highest = sides
    return Extremes(lowest, highest, inside.addresses, ends, omega, mode, theory)


def spread(number: int, size: int) -> np.ndarray:
    """Return cells (number, size) evenly distributed over the unit cube: multiples of the powers of a root, modulo 1.

    The root solves ``x^(size + 1) = x + 1``; in one dimension it is the golden ratio.
    """
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (size + 1))
    multiples = np.arange(1, number + 1)[:, None] / root ** np.arange(1, size + 1)
    return np.asarray((0.5 + multiples) % 1.0)


def require_some(omega: np.ndarray, mode: int, what: str) -> None:
    """Raise an error if no cell has a certified frequency of the mode."""
    if not np.isfinite(omega).any():
        raise ValueError(
            f"mode = {mode}: none of the {omega.size:,} {what} has a certified frequency of this mode; the arm has "
            "fewer modes, is buckled or may not have these values: look at natural_frequencies of one of them"
        )


def _best(height: np.ndarray, shares: np.ndarray, number: int) -> np.ndarray:
    """Return indices of the highest starting cells, kept apart from one another if there are enough."""
    order = np.argsort(-height, kind="stable")
    order = order[np.isfinite(height[order])]
    least = _APART * np.sqrt(shares.shape[1])
    chosen: list[int] = []
    for k in order.tolist():
        if len(chosen) < number and all(
            np.linalg.norm(shares[k] - shares[other]) > least for other in chosen
        ):
            chosen.append(k)
    return np.array(chosen)
