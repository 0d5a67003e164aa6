"""Where in the workspace of an arm a band of excitation meets no natural frequency."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arm.addresses import full_address, resolve_address
from jaxmodal.arm.arguments import band, is_whole, real_array
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.postures.inverse import solutions
from jaxmodal.postures.kinds import turned
from jaxmodal.postures.places import joint_at
from jaxmodal.postures.readings import in_unit, warn_of_degrees
from jaxmodal.postures.resonance_results import ResonanceMap
from jaxmodal.postures.turned_arms import TurnedArms, require_joint
from jaxmodal.postures.unknowns import Unknown, quantity_given, unknown_of
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.runtime.limits import SAMPLES
from jaxmodal.spatial.arms.arm import AnyArm

_WHAT = "resonance_free"


def resonance_free(
    arm: AnyArm,
    omega_min: float,
    omega_max: float,
    joint: int | str = 2,
    across: int | str | None = None,
    points: int = 181,
    *,
    theory: TheoryName = "timoshenko",
    values: Any = None,
    limits: Any = None,
) -> ResonanceMap:
    """Postures of an arm whose natural frequencies stay out of a band, with exact borders.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm, with a joint whose angle changes frequencies; joints that do not turn keep its angles.
    omega_min, omega_max : float
        Ends of the band in rad/s, 0 < omega_min < omega_max.
    joint : int or str
        The joint (2 to n, in space also 1 on an elastic base) along which borders are solved for. Or the address of a
        value in which the determinant is a polynomial, such as ``"payload.mass"`` (`postures_at`), with its ``limits``.
    across : int or str, optional
        The joint of the rows, by default the next one that turns, or the first after the last; two-link arms have none
        but where borders are those of a value.
        Or the address of any parameter, such as ``"payload.mass"``.
    points : int
        Number of rows.
    theory : str
        As for `natural_frequencies`.
    values : (float, float), optional
        First and last value of the rows, rad for a joint and the SI unit of a parameter, which needs them; from -pi to
        pi by default.
    limits : (float, float), optional
        Least and largest angle of ``joint``, rad, in [-pi, pi]: a full turn by default. Of a value in SI units, finite.

    Returns
    -------
    ResonanceMap
        Borders by row, and the number of natural frequencies in the band between them.

    Raises
    ------
    ValueError
        The band is empty or not finite, a joint is not one of the arm's, both are the same, or values or limits are not
        usable.
    ArmError
        No parameter has the address, or the arm may not have one of its values; it bears loads; or it
        is buckled in a posture of the map.

    Warns
    -----
    ImplausibleWarning
        The rows are angles of more than two turns: ``values`` are probably in degrees.

    Examples
    --------
    >>> import numpy as np
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> found = resonance_free(arm, 2 * np.pi * 0.21, 2 * np.pi * 0.24)
    >>> np.degrees(found.border[0, :4]).round(2).tolist(), found.modes_inside[0, :5].tolist()
    ([-82.0, -42.14, 42.14, 82.0], [0, 1, 0, 1, 0])

    Up to which payload two postures are free of resonance:

    >>> loads = resonance_free(arm, 1.4, 1.5, "payload.mass", 2, points=2, values=(0.5, 1.5), limits=(0.0, 1.0))
    >>> loads.border.shape, loads.certified
    ((2, 4), True)
    """
    arms = turned(arm, theory, _WHAT)
    low, high = band(omega_min, omega_max)
    if not is_whole(points, 2, SAMPLES):
        raise ValueError(f"points = {shown(points)}; expected a whole number from 2 to {SAMPLES:,}")
    if isinstance(joint, str):
        joint = quantity_given(arm, joint).address
        least, most = _value_limits(joint, limits)
        unknown_of(arm, arms, joint, limits)
    else:
        require_joint(arm, arms.joints, joint)
        least, most = _limits(limits)
    row = _across(arm, arms.joints, joint, across)
    angles = _row_values(row, values, points)
    if isinstance(row, str) and isinstance(joint, str):
        _require_possible_ends(arm, row, angles, joint, (least, most))
    if row and not isinstance(row, str):
        warn_of_degrees("values", values, angles)
    return on_rows(arm, (low, high), joint, row, angles, (least, most), theory)


def on_rows(
    arm: AnyArm,
    band: tuple[float, float],
    joint: int | str,
    row: int | str,
    angles: np.ndarray,
    limits: tuple[float, float],
    theory: TheoryName,
) -> ResonanceMap:
    """`resonance_free` on given rows, angles or values (M,) of ``row``; arguments are as they should be."""
    low, high = band
    rows = angles.size
    arms = turned(arm, theory, _WHAT)
    postures = np.repeat(arms.own[:, None], rows, axis=1)
    if isinstance(row, str):
        arms = arms.varied(row, angles)
    elif row:
        postures[arms.joints.index(row)] = angles
    unknown = unknown_of(arm, arms, joint, limits if isinstance(joint, str) else None)
    if arms.may_buckle and not isinstance(joint, str):
        _refuse_buckled(arms, unknown, postures, joint, limits)
    ends = [solutions(arms, unknown, np.full(rows, w), postures) for w in band]
    border = np.concatenate([angle for angle, _, _ in ends], axis=1)
    mode = np.concatenate([np.where(up > down, down + 1, 0) for _, down, up in ends], axis=1)
    if not whole_turn(joint, limits):
        border = np.where((border > limits[0]) & (border < limits[1]), border, np.nan)
    order = np.argsort(border, axis=1)
    border = np.take_along_axis(border, order, axis=1)
    exists = np.isfinite(border)
    mode = np.where(exists, np.take_along_axis(mode, order, axis=1), 0)
    end = np.where(exists, order // (border.shape[1] // 2), -1)
    inside = _inside(arms, unknown, band, postures, border, limits)
    return jax.device_put(
        ResonanceMap(
            across_angle=angles,
            border=border,
            end=end.astype(np.int32),
            border_mode=mode.astype(np.int32),
            modes_inside=inside.astype(np.int32),
            band=np.array([low, high]),
            limits=np.array(limits),
            joint=joint,
            across=row,
            theory=theory,
        )
    )


def whole_turn(joint: int | str, limits: Any) -> bool:
    """Return whether a joint with these limits, rad, turns all round: its first angle is its last."""
    full = 2.0 * math.pi * (1.0 - 1e-12)
    return not isinstance(joint, str) and bool(limits[1] - limits[0] >= full)


def _across(arm: AnyArm, joints: Sequence[int], joint: int | str, across: Any) -> int | str:
    """Number of the joint of the rows, 0 for none, or the address of a parameter that is no joint's angle."""
    turn = [k for k in joints if not arm.slides(k)]
    if across is None:
        if isinstance(joint, str):
            return next(iter(turn), 0)
        return next((k for k in (*turn, *turn) if k > joint), turn[0]) if len(turn) > 1 else 0
    if isinstance(across, str):
        with within(f"across = {shown(across)}: "):
            singles = resolve_address(arm, across)
        address = full_address(across, arm)
        turns = joint_at(address)
        if not turns:
            if isinstance(joint, str) and not set(singles).isdisjoint(resolve_address(arm, joint)):
                raise ArmError(
                    f"across = {shown(across)}: sets {joint} as well, which the borders are values of; give a joint, "
                    "or the address of another parameter."
                )
            if f"link{joint}.joint_angle" in singles:
                raise ArmError(
                    f"across = {shown(across)}: turns joint {joint} as well, whose angles the map is of; give another "
                    "joint, or the address of a parameter."
                )
            return address
        across = turns
    if is_whole(across, 1) and across in joints and arm.slides(across):
        return f"link{across}.{arm.position_of(across)}"
    if not is_whole(across, 1) or across not in joints or across == joint:
        others = ", ".join(str(number) for number in joints if number != joint)
        than = "a joint" if isinstance(joint, str) else f"another joint than {joint}"
        either = f"{than} (of {others}), or " if others else ""
        raise ValueError(f"across = {shown(across)}; expected {either}the address of a parameter")
    return int(across)


def _pair(name: str, given: Any, expected: str) -> tuple[float, float]:
    pair = real_array(given, name)
    if pair.shape != (2,) or not (np.isfinite(pair).all() and pair[0] < pair[1]):
        raise ValueError(f"{name} = {shown(given)}; expected {expected}")
    return float(pair[0]), float(pair[1])


def _limits(limits: Any) -> tuple[float, float]:
    if limits is None:
        return -math.pi, math.pi
    expected = (
        "two angles in rad, ascending, from -pi to pi: the least and the largest of the joint"
    )
    least, most = _pair("limits", limits, expected)
    if least < -math.pi * (1.0 + 1e-15) or most > math.pi * (1.0 + 1e-15):
        raise ValueError(f"limits = {shown(limits)}; expected {expected}")
    return least, most


def _row_values(row: int | str, values: Any, points: int) -> np.ndarray:
    """Angles or values of the rows, evenly spaced, shape (M,)."""
    if not row:
        if values is not None:
            raise ValueError(
                f"values = {shown(values)}: there is nothing that they are of; give across, a joint or an address"
            )
        return np.full(1, np.nan)
    unit = in_unit(row) if isinstance(row, str) else ", in rad"
    if values is None and isinstance(row, str):
        raise ValueError(f"values: {row} needs them; expected its first and its last value{unit}")
    ends = (-math.pi, math.pi) if values is None else values
    expected = f"the first and the last value, ascending{unit}"
    return np.linspace(*_pair("values", ends, expected), points)


def _value_limits(joint: str, limits: Any) -> tuple[float, float]:
    """The limits of a value, which are those of an unknown, if they are finite."""
    expected = f"the least and the largest {joint} of the map, ascending, finite{in_unit(joint)}"
    if limits is None:
        raise ValueError(f"limits: {joint} needs them; expected {expected}")
    return _pair("limits", limits, expected)


def _require_possible_ends(
    arm: AnyArm, row: str, values: np.ndarray, joint: str, limits: tuple[float, float]
) -> None:
    """Refuse rows in which the arm may not have both limits of the value, where they are of one inertia tensor.

    If the tensors of the first and the last row are possible, so are those of all rows between, and of all values
    within the limits.
    """
    if ".inertia." not in joint:
        return
    for value, limit in itertools.product(values[[0, -1]].tolist(), limits):
        with within(f"limits, values: with {joint} = {limit:.6g} and {row} = {value:.6g}: "):
            set_parameters(arm, {row: value, joint: limit})


def _pieces(
    border: np.ndarray, limits: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, number and ends (P, 2) of the pieces between borders (M, B), with NaN last, and limits."""
    low, high = (np.full((border.shape[0], 1), limit) for limit in limits)
    edges = np.concatenate([low, np.nan_to_num(border, nan=limits[1]), high], axis=1)
    number = np.arange(border.shape[1] + 1)
    row, piece = np.nonzero(number <= np.sum(np.isfinite(border), axis=1, keepdims=True))
    return row, piece, np.stack([edges[row, piece], edges[row, piece + 1]], axis=1)


def _refuse_buckled(
    arms: TurnedArms,
    unknown: Unknown,
    postures: np.ndarray,
    joint: int,
    limits: tuple[float, float],
) -> None:
    """Refuse an arm that axial forces buckle in a posture of the map: between two angles of a frequency of zero."""
    border, _, _ = solutions(arms, unknown, np.zeros(postures.shape[1]), postures)
    border = np.sort(np.where((border > limits[0]) & (border < limits[1]), border, np.nan), axis=1)
    row, _, ends = _pieces(border, limits)
    middle = postures[:, row]
    middle[arms.joints.index(joint)] = ends.mean(axis=1)
    bent = np.flatnonzero(arms.buckled(row, middle))
    if bent.size:
        first, last = np.degrees(ends[bent[0]])
        raise ArmError(
            f"the axial forces buckle the arm where joint {joint} is at {first:.2f} to {last:.2f} degrees (row "
            f"{row[bent[0]] + 1} of {postures.shape[1]}): it has no frequencies there; lower the compression, or leave "
            "these angles and values out (limits, values)."
        )


def _inside(
    arms: TurnedArms,
    unknown: Unknown,
    band: tuple[float, float],
    postures: np.ndarray,
    border: np.ndarray,
    limits: tuple[float, float],
) -> np.ndarray:
    """Number of natural frequencies in the band in the middle of each piece, (M, B + 1), -1 where there is none."""
    row, piece, ends = _pieces(border, limits)
    middle = unknown.posed(postures[:, row], unknown.place(ends.mean(axis=1)))
    below, above = (arms.determinant(row, np.full(row.size, w), *middle).passed for w in band)
    inside = np.full((border.shape[0], border.shape[1] + 1), -1)
    inside[row, piece] = above - below
    return inside
