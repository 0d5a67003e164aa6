"""The postures at which an arm has a given natural frequency.

At a fixed frequency the determinant is a trigonometric polynomial in each joint angle, of degree 2 in the plane
(`harmonics`) and 4 in space (`expansion_in_space`), on supports more, which five or nine postures or more determine;
`trigonometric_zeros` solves it.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.postures.harmonics import Determinant
from jaxmodal.postures.inverse_results import PosturesAt
from jaxmodal.postures.trigonometric_zeros import (
    corrected,
    evenly,
    repeated,
    slope_at,
    stationary,
    through,
    wrapped,
    zeros,
)
from jaxmodal.postures.turned_arms import TurnedArms, require_joint, turned
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import SpatialArm

#: the counts are taken at omega (1 -+ this)
_DISTANCE = 1e-12
#: a slope below this, in units of the polynomial's size, is one at which a zero may touch
_FLAT = 3e-6


def postures_at(
    arm: Arm | SpatialArm,
    omega: Any,
    joint: int = 2,
    postures: Any = None,
    *,
    theory: TheoryName = "timoshenko",
) -> PosturesAt:
    """All angles of one joint at which an arm has a natural frequency ``omega``.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm, with a joint whose angle changes frequencies.
    omega : float or array, shape (N,)
        Angular frequencies in rad/s, > 0.
    joint : int
        The joint at the base of this link, 2 to n, also 1 with supports and, in space, on an elastic base (else the
        angle of link 1 changes no frequency or counts as given); one that slides has no angle.
    postures : array, shape (n - 1,) or (N, n - 1), optional
        Angles of all joints but the first in rad, by default the arm's own; that of ``joint`` does not matter. Of
        joints that slide, positions in m. Also of all joints where joint 1 has angles.
    theory : str
        As for `natural_frequencies`.

    Returns
    -------
    PosturesAt
        Up to four angles, in space eight, on supports more; with a leading axis where ``omega`` or ``postures`` has
        one.

    Raises
    ------
    ValueError
        A frequency is not positive and finite, an angle is not finite, the joint is not one of the
        arm's, or shapes do not fit. An `ArmError`, which is one, where a planar arm bears loads.

    Notes
    -----
    Five evaluations of the determinant of the paper's eq (39) in double-double, in space nine, give the polynomial,
    the eigenvalues of its companion matrix its zeros, one more evaluation corrects each, and the counts at both sides
    of ``omega`` prove and number the mode.

    Examples
    --------
    >>> import numpy as np
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> found = postures_at(arm, 2 * np.pi * 0.23)
    >>> np.degrees(found.angle[:2]).round(4).tolist(), found.mode[:2].tolist()
    ([-71.691, 71.691], [1, 1])
    """
    turned_arm = turned(arm, theory, "postures_at")
    require_joint(arm, turned_arm.joints, joint)
    frequencies, angles = _arguments(turned_arm, omega, joint, postures)
    most = 2 * turned_arm.degree(joint)
    shape = (*np.broadcast_shapes(np.shape(omega), _leading(postures)), most)
    found = angles_with(turned_arm, frequencies, angles, joint)
    angle, below, above = (x.reshape(shape) for x in found)
    proven = above > below
    status = np.where(proven, int(Status.certified), int(Status.uncertified))
    bent = np.zeros(shape, bool)
    if turned_arm.may_buckle:
        row = turned_arm.joints.index(joint)
        bent = _buckled_there(turned_arm, found[0], angles, row).reshape(shape)
    status = np.where(bent, int(Status.unstable), status)
    return jax.device_put(
        PosturesAt(
            angle=angle,
            mode=np.where(proven & ~bent, below + 1, 0).astype(np.int32),
            count_below=below.astype(np.int32),
            count_above=above.astype(np.int32),
            status=status.astype(np.uint8),
            omega=frequencies.reshape(shape[:-1]),
            joint=joint,
            theory=theory,
        )
    )


def _buckled_there(
    turned_arm: TurnedArms, found: np.ndarray, angles: np.ndarray, row: int
) -> np.ndarray:
    """`buckled` in the postures that were found, angles (N, A) of a joint; False where there is none."""
    cell, column = np.nonzero(np.isfinite(found))
    postures = angles[:, cell]
    postures[row] = found[cell, column]
    answer = np.zeros(found.shape, bool)
    answer[cell, column] = turned_arm.buckled(cell, postures)
    return answer


def angles_with(
    turned_arm: TurnedArms, omega: np.ndarray, angles: np.ndarray, joint: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles of a joint at which N arms have frequencies ``omega`` (N,), ascending, NaN beyond the last, (N, A).

    With the counts at both sides, which differ where the angle is certified. ``angles`` (joints, N) are those of
    `TurnedArms`.
    """
    found = _solved(turned_arm, omega, angles, turned_arm.joints.index(joint))
    order = np.argsort(found[0], axis=1)  # NaN last
    angle, below, above = (np.take_along_axis(x, order, axis=1) for x in found)
    exists = np.isfinite(angle)
    return angle, np.where(exists, below, 0), np.where(exists, above, 0)


def _solved(
    turned_arm: TurnedArms, omega: np.ndarray, angles: np.ndarray, row: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, NaN where there are fewer than there may be, and the counts at both sides, shapes (N, A)."""
    cells, points = omega.size, 2 * turned_arm.degree(turned_arm.joints[row]) + 1
    lanes = np.repeat(angles, points, axis=1)
    lanes[row] = np.tile(evenly(points), cells)
    each = np.repeat(np.arange(cells), points)
    found = turned_arm.determinant(each, omega[each], lanes)
    first = points * np.arange(
        cells
    )  # of each cell, of whose exponent the values of all its postures are
    scale = found.growth[first], found.rest[first]
    values = _values(found, scale, each).reshape(cells, points)
    size = np.abs(values).max(axis=1, keepdims=True)
    size = np.where(size > 0.0, size, 1.0)
    polynomial = through(values / size)
    angle, crossing = zeros(polynomial, even=turned_arm.even)
    below, above = np.zeros((2, *angle.shape), np.int32)

    def proof(cell: np.ndarray, column: np.ndarray, at: np.ndarray) -> None:
        """Count at both sides of the frequency in postures with the angle ``at``, and keep what is proven."""
        posture = angles[:, cell]
        posture[row] = at
        counts = [
            turned_arm.determinant(cell, omega[cell] * (1.0 + side * _DISTANCE), posture).passed
            for side in (-1.0, 1.0)
        ]
        good = counts[1] > counts[0]
        cell, column = cell[good], column[good]
        angle[cell, column] = wrapped(at[good])
        below[cell, column], above[cell, column] = counts[0][good], counts[1][good]

    # what touches zero, or crosses it twice within rounding, has its zero where the polynomial is stationary
    flat = np.abs(slope_at(polynomial[:, None], np.nan_to_num(angle))) < _FLAT
    cell, column = np.nonzero(np.isfinite(angle) & flat)
    if cell.size:
        proof(cell, column, stationary(polynomial[cell], angle[cell, column]))
    cell, column = np.nonzero(crossing & (above == below))
    if cell.size:
        posture = angles[:, cell]
        posture[row] = angle[cell, column]
        exact = _values(turned_arm.determinant(cell, omega[cell], posture), scale, cell)
        proof(cell, column, corrected(polynomial[cell], posture[row], exact / size[cell, 0]))
    proven = above > below
    angle[~(proven | crossing) | repeated(angle, proven)] = np.nan
    return angle, below, above


def _values(
    found: Determinant, scale: tuple[np.ndarray, np.ndarray], cells: np.ndarray
) -> np.ndarray:
    """D over the exponential of a scale (growth and rest) of each of the cells."""
    growth, rest = (x[cells] for x in scale)
    return np.asarray(found.factor * np.exp((found.growth - growth) + (found.rest - rest)))


def _leading(postures: Any) -> tuple[int, ...]:
    return () if postures is None else np.shape(postures)[:-1]


def _arguments(
    turned_arm: TurnedArms, omega: Any, joint: int, postures: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (N,) and angles (joints, N)."""
    joints, own = turned_arm.joints, turned_arm.own
    others = [k for k in joints if k > 1]
    frequencies = real_array(omega, "omega")
    if frequencies.ndim > 1 or not (np.isfinite(frequencies) & (frequencies > 0.0)).all():
        raise ValueError(
            f"omega = {shown(omega)}: expected a frequency > 0 in rad/s, or a one-dimensional array of them"
        )
    angles = own if postures is None else real_array(postures, "postures")
    given = angles.shape[-1] if angles.ndim in (1, 2) else -1
    if given not in (len(joints), len(others)):
        what = f"theta_{others[0]} to theta_{others[-1]}" if others else "theta_1"
        raise ValueError(
            f"postures has shape {angles.shape}; expected ({len(others)},) or (N, {len(others)}): {what} in rad"
        )
    if given < len(joints):  # the first, which turns the arm against its base, stays
        first = np.broadcast_to(own[:1], (*angles.shape[:-1], 1))
        angles = np.concatenate([first, angles], axis=-1)
    row = joints.index(joint)
    if not np.isfinite(np.delete(angles, row, axis=-1)).all():
        raise ValueError("postures holds an angle that is not finite; expected radians")
    angles = np.where(np.isfinite(angles), angles, 0.0)
    try:
        shape = np.broadcast_shapes(frequencies.shape, angles.shape[:-1])
    except ValueError:
        raise ValueError(
            f"omega has {frequencies.size} values and postures {angles.shape[0]} rows; expected as many of both, or one"
        ) from None
    frequencies = np.broadcast_to(frequencies, shape).reshape(-1).copy()
    return frequencies, np.broadcast_to(angles, (*shape, len(joints))).reshape(
        -1, len(joints)
    ).T.copy()
