"""The postures, and the masses and springs, with which an arm has a given natural frequency.

At a fixed frequency the determinant is a trigonometric polynomial in each joint angle, of degree 2 in the plane
(`harmonics`) and 4 in space (`expansion_in_space`), on supports more, which five or nine postures or more determine;
`trigonometric_zeros` solves it. In a mass or the compliance of a spring it is a polynomial of degree 1 to 3, of several
that are set together of a higher one (`polynomial_values`, `values_in_space`), which `value_zeros` solves.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import jax
import numpy as np

from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.postures.harmonics import Determinant
from jaxmodal.postures.inverse_results import PosturesAt
from jaxmodal.postures.kinds import turned
from jaxmodal.postures.readings import warn_of_degrees
from jaxmodal.postures.turned_arms import TurnedArms
from jaxmodal.postures.unknowns import Unknown, ValueOf, unknown_of
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import AnyArm

#: the counts are taken at omega (1 -+ this)
_DISTANCE = 1e-12
#: a slope below this, in units of the polynomial's size, is one at which a zero may touch
_FLAT = 3e-6
#: a step by a line is taken up to this share of the value
_FAR = 0.1
_Found: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


def postures_at(
    arm: AnyArm,
    omega: Any,
    joint: int | str = 2,
    postures: Any = None,
    *,
    theory: TheoryName = "timoshenko",
    limits: Any = None,
) -> PosturesAt:
    """All angles of one joint, or all values of a mass or a spring, at which an arm has a natural frequency ``omega``.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm, with a joint whose angle changes frequencies.
    omega : float or array, shape (N,)
        Angular frequencies in rad/s, > 0.
    joint : int or str
        The joint at the base of this link, 2 to n, also 1 with supports and, in space, on an elastic base (else the
        angle of link 1 changes no frequency or counts as given); one that slides has no angle. Or the address of a
        value in which the determinant is a polynomial, such as ``"payload.mass"`` or ``"link2.joint_stiffness"``.
    postures : array, shape (n - 1,) or (N, n - 1), optional
        Angles of all joints but the first in rad, by default the arm's own; that of ``joint`` does not matter. Of
        joints that slide, positions in m. Also of all joints where joint 1 has angles.
    theory : str
        As for `natural_frequencies`.
    limits : (float, float), optional
        Least and largest value, in SI units, by default 0 and inf; for a value, not for a joint. A gear ratio, which
        may be negative, and a component of an inertia tensor need them. Both ends of a component must make a tensor
        that a body can have.

    Returns
    -------
    PosturesAt
        Up to four angles, in space eight, on supports more; of a value as many as the determinant's degree in it. With
        a leading axis where ``omega`` or ``postures`` has one.

    Raises
    ------
    ValueError
        A frequency is not positive and finite, an angle is not finite, the joint is not one of the arm's, the value is
        none of these, limits are not usable, or shapes do not fit. An `ArmError`, which is one, where the arm bears
        loads, or a value is asked for of an arm with axial forces.

    Warns
    -----
    ImplausibleWarning
        An angle of ``postures`` is more than two turns: it is probably in degrees.

    Notes
    -----
    Five evaluations of the determinant of the paper's eq (39) in double-double, in space nine, give the polynomial,
    the eigenvalues of its companion matrix its zeros, one more evaluation corrects each, and the counts at both sides
    of ``omega`` prove and number the mode. Values are told once where the counts do not tell the frequencies of all
    values between them apart, as those of gears next to 0 may not. Where they prove a mode at each place that
    determines the polynomial, it is zero, and any value will do: one is told, with the status ``every_value``.

    Examples
    --------
    >>> import numpy as np
    >>> import jaxmodal as jm
    >>> arm = jm.examples.two_link_flexible()
    >>> found = postures_at(arm, 2 * np.pi * 0.23)
    >>> np.degrees(found.angle[:2]).round(4).tolist(), found.mode[:2].tolist()
    ([-71.691, 71.691], [1, 1])

    Payloads with which two postures have that frequency:

    >>> found = postures_at(arm, 2 * np.pi * 0.23, "payload.mass", [[0.0], [1.0]])
    >>> found.value.shape, found.certified.tolist()
    ((2, 2), [[True, False], [True, False]])
    """
    arms = turned(arm, theory, "postures_at")
    frequencies = _frequencies(omega)
    unknown = unknown_of(arm, arms, joint, limits)
    frequencies, angles = _cells(arms, frequencies, joint, postures)
    if postures is not None:
        warn_of_degrees("postures", postures, angles[[not arm.slides(k) for k in arms.joints]])
    shape = (*np.broadcast_shapes(np.shape(omega), _leading(postures)), unknown.most)
    value, below, above = solutions(arms, unknown, frequencies, angles)
    every = _with_every_value(arms, unknown, frequencies, angles)
    if every.size:
        value[every], below[every], above[every] = np.nan, 0, 0
        one = unknown.parts[0]
        at = np.full(every.size, one.somewhere)
        counts = _counts(arms, one, frequencies, angles, every, at)
        value[every, 0], below[every, 0], above[every, 0] = one.value(at), *counts
    bent = np.zeros(value.shape, bool)
    if arms.may_buckle:
        bent = _buckled_there(arms, value, angles, arms.joints.index(joint))
    value, below, above, bent = (x.reshape(shape) for x in (value, below, above, bent))
    proven = above > below
    status = np.where(proven, int(Status.certified), int(Status.uncertified))
    anywhere = np.isin(np.arange(frequencies.size), every).reshape(*shape[:-1], 1)
    status = np.where(proven & anywhere, int(Status.every_value), status)
    status = np.where(bent, int(Status.unstable), status)
    return jax.device_put(
        PosturesAt(
            value=value,
            mode=np.where(proven & ~bent, below + 1, 0).astype(np.int32),
            count_below=below.astype(np.int32),
            count_above=above.astype(np.int32),
            status=status.astype(np.uint8),
            omega=frequencies.reshape(shape[:-1]),
            joint=joint,
            theory=theory,
        )
    )


def _buckled_there(arms: TurnedArms, found: np.ndarray, angles: np.ndarray, row: int) -> np.ndarray:
    """`buckled` in the postures that were found, angles (N, A) of a joint; False where there is none."""
    cell, column = np.nonzero(np.isfinite(found))
    postures = angles[:, cell]
    postures[row] = found[cell, column]
    answer = np.zeros(found.shape, bool)
    answer[cell, column] = arms.buckled(cell, postures)
    return answer


def _with_every_value(
    arms: TurnedArms, unknown: Unknown, omega: np.ndarray, angles: np.ndarray
) -> np.ndarray:
    """The cells that have their frequency at each place that D is determined by, so that D is zero everywhere."""
    cell = np.arange(omega.size)
    for part in unknown.parts:
        for node in part.nodes:
            counts = _counts(arms, part, omega, angles, cell, np.full(cell.size, node))
            cell = cell[counts[1] > counts[0]]
            if not cell.size:
                return cell
    return cell


def solutions(
    arms: TurnedArms, unknown: Unknown, omega: np.ndarray, angles: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles or values with which N arms have frequencies ``omega`` (N,), ascending, NaN beyond the last, (N, A).

    With the counts at both sides, which differ where one is certified. ``angles`` (joints, N) are those of
    `TurnedArms`.
    """
    parts = [_solved(arms, part, omega, angles) for part in unknown.parts]
    value, below, above = (np.concatenate(x, axis=1) for x in zip(*parts, strict=True))
    found = _without((value, below, above), np.isnan(value), unknown.most)
    if isinstance(unknown, ValueOf):
        value, below, above = found
        repeated = unknown.repeated(unknown.place(value), above > below)
        found = _without(found, repeated, unknown.most)
        found = _without(found, _on_a_flat(arms, unknown, omega, angles, found), unknown.most)
    value, below, above = (x[:, : unknown.most] for x in found)
    exists = ~np.isnan(value)  # a spring may be inf
    return value, np.where(exists, below, 0), np.where(exists, above, 0)


def _without(found: _Found, gone: np.ndarray, most: int) -> _Found:
    """What was found without some of it, ascending, with as many columns as there is of it, at least ``most``."""
    value = np.where(gone, np.nan, found[0])
    widest = max(most, int((~np.isnan(value)).sum(axis=1).max(initial=0)))
    order = np.argsort(value, axis=1)[:, :widest]  # NaN last
    value, below, above = (np.take_along_axis(x, order, axis=1) for x in (value, *found[1:]))
    return value, below, above


def _on_a_flat(
    arms: TurnedArms, unknown: ValueOf, omega: np.ndarray, angles: np.ndarray, found: _Found
) -> np.ndarray:
    """Which values, ascending, are one with a neighbour of smaller size: the frequency does not change between them.

    So it may be next to a gear of 0. That the counts prove the same mode in the middle tells it.
    """
    value, below, above = found
    proven = (above > below) & ~np.isnan(value)
    gone = np.zeros(value.shape, bool)
    pair = proven[:, :-1] & proven[:, 1:] & (below[:, :-1] == below[:, 1:])
    cell, column = np.nonzero(pair)
    if cell.size:
        place = unknown.place(value)
        ends = place[cell, column], place[cell, column + 1]
        counts = _counts(arms, unknown, omega, angles, cell, 0.5 * (ends[0] + ends[1]))
        flat = (counts[1] > counts[0]) & (counts[0] == below[cell, column])
        larger = column + (np.abs(ends[1]) >= np.abs(ends[0]))
        gone[cell[flat], larger[flat]] = True
    return gone


def _counts(
    arms: TurnedArms,
    unknown: Unknown,
    omega: np.ndarray,
    angles: np.ndarray,
    cell: np.ndarray,
    at: np.ndarray,
) -> list[np.ndarray]:
    """Counts at both sides of the frequencies of cells, with the unknown ``at``."""
    there = unknown.posed(angles[:, cell], at)
    return [
        arms.determinant(cell, omega[cell] * (1.0 + side * _DISTANCE), *there).passed
        for side in (-1.0, 1.0)
    ]


def _solved(
    arms: TurnedArms,
    unknown: Unknown,
    omega: np.ndarray,
    angles: np.ndarray,
) -> _Found:
    """What was found, NaN where there is less than there may be, and the counts at both sides, shapes (N, A)."""
    nodes, cells = unknown.nodes, omega.size
    each = np.repeat(np.arange(cells), nodes.size)
    found = arms.determinant(
        each, omega[each], *unknown.posed(angles[:, each], np.tile(nodes, cells))
    )
    first = nodes.size * np.arange(
        cells
    )  # of each cell, of whose exponent the values of all its places are
    scale = found.growth[first], found.rest[first]
    values = _values(found, scale, each).reshape(cells, nodes.size)
    size = np.abs(values).max(axis=1, keepdims=True)
    size = np.where(size > 0.0, size, 1.0)
    polynomial = unknown.through(values / size)
    place, crossing = unknown.zeros(polynomial)
    below, above = np.zeros((2, *place.shape), np.int32)

    def proof(cell: np.ndarray, column: np.ndarray, at: np.ndarray) -> None:
        """Count at both sides of the frequency with the unknown ``at``, and keep what is proven."""
        counts = _counts(arms, unknown, omega, angles, cell, at)
        good = counts[1] > counts[0]
        cell, column = cell[good], column[good]
        place[cell, column] = at[good]
        below[cell, column], above[cell, column] = counts[0][good], counts[1][good]

    # what touches zero, or crosses it twice within rounding, has its zero where the polynomial is stationary
    known = np.isfinite(place)
    somewhere = np.where(known, place, nodes[0])
    flat = np.abs(unknown.slope_at(polynomial[:, None], somewhere)) < _FLAT
    cell, column = np.nonzero(known & flat)
    if cell.size:
        proof(cell, column, unknown.stationary(polynomial[cell], place[cell, column]))
    cell, column = np.nonzero(crossing & (above == below))
    if cell.size:
        at, before = place[cell, column], None
        for _ in range(unknown.corrections):
            there = arms.determinant(cell, omega[cell], *unknown.posed(angles[:, cell], at))
            exact = _values(there, scale, cell) / size[cell, 0]
            if before is None or not unknown.by_lines:
                following = unknown.corrected(polynomial[cell], at, exact)
            else:
                following = _by_the_line(*before, at, exact)
            at, before = following, (at, exact)
        proof(cell, column, at)
    # at an end of the limits a zero may lie beyond it within rounding
    cell, column = np.nonzero(known & ~crossing & (above == below))
    if cell.size:
        proof(cell, column, place[cell, column])
    proven = above > below
    place[~(proven | crossing) | unknown.repeated(place, proven)] = np.nan
    return unknown.value(place), below, above


def _by_the_line(
    before: np.ndarray, value_before: np.ndarray, at: np.ndarray, value: np.ndarray
) -> np.ndarray:
    """The zeros of the lines through two values each; where they are alike or it is far, the smaller of the two."""
    with np.errstate(divide="ignore", invalid="ignore"):
        step = value * (at - before) / (value - value_before)
    near = np.abs(step) < _FAR * np.abs(at)
    smaller = np.where(np.abs(value) <= np.abs(value_before), at, before)
    return np.where(near, at - step, smaller)


def _values(
    found: Determinant, scale: tuple[np.ndarray, np.ndarray], cells: np.ndarray
) -> np.ndarray:
    """D over the exponential of a scale (growth and rest) of each of the cells."""
    growth, rest = (x[cells] for x in scale)
    return np.asarray(found.factor * np.exp((found.growth - growth) + (found.rest - rest)))


def _leading(postures: Any) -> tuple[int, ...]:
    return () if postures is None else np.shape(postures)[:-1]


def _frequencies(omega: Any) -> np.ndarray:
    """The frequencies asked for, shape () or (N,), checked."""
    frequencies = real_array(omega, "omega")
    if frequencies.ndim > 1 or not (np.isfinite(frequencies) & (frequencies > 0.0)).all():
        raise ValueError(
            f"omega = {shown(omega)}: expected a frequency > 0 in rad/s, or a one-dimensional array of them"
        )
    return frequencies


def _cells(
    turned_arm: TurnedArms, frequencies: np.ndarray, joint: int | str, postures: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (N,) and angles (joints, N)."""
    joints, own = turned_arm.joints, turned_arm.own
    others = [k for k in joints if k > 1]
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
    asked = [] if isinstance(joint, str) else [joints.index(joint)]
    if not np.isfinite(np.delete(angles, asked, axis=-1)).all():
        raise ValueError("postures holds an angle that is not finite; expected radians")
    angles = np.where(np.isfinite(angles), angles, 0.0)
    try:
        shape = np.broadcast_shapes(frequencies.shape, angles.shape[:-1])
    except ValueError:
        raise ValueError(
            f"omega has {frequencies.size} values and postures {angles.shape[0]} rows; expected as many of both, or one"
        ) from None
    frequencies = np.broadcast_to(frequencies, shape).reshape(-1).copy()
    rows = np.broadcast_to(angles, (*shape, len(joints))).reshape(frequencies.size, len(joints))
    return frequencies, rows.T.copy()
