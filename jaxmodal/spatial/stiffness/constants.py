"""What an arm in space is at every frequency: turns, offsets, masses and springs as numbers of either kind.

Computed once for an arm, or side by side for cells with other values; nothing here depends on the frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, number, sin_cos, sqrt
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.spatial.parts.bases import BaseStiffness
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Direction, Position, Rotation
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.matrices import product, skew, stacked, transposed
from jaxmodal.statics.laws import spring_law


class JointSpring(NamedTuple):
    """A spring along a unit vector of the six directions, (6, 1, cells), with its law; see `through_spring`."""

    direction: Number
    unit: Number
    compliance: Number


class Rotor(NamedTuple):
    """N (N - 1) J, N J and (1 - N) J of a rotor of inertia J and gear ratio N, and the joint's axis as a matrix."""

    relative: Number
    driven: Number
    carried: Number
    about_axis: Number


class LinkConstants(NamedTuple):
    """The parts of one link, None where it has none; matrices of shape (3, 3, 1, cells) and (6, 6, 1, cells).

    ``rotation`` takes components in the link's axes to those in the axes of the link before; ``roll`` likewise from
    the section's axes to the link's. ``tip`` is the mass matrix of the bodies at the tip, ``bar`` that of a rigid link.
    ``place`` is the number of a flexible link among the flexible ones.
    """

    rotation: Number | None
    roll: Number | None
    tip: Number | None
    end_offset: Number | None
    place: int
    bar: Number | None
    axis: Number | None
    base_offset: Number | None
    hub: Number | None
    springs: tuple[JointSpring, ...]
    rotor: Rotor | None
    stator: Number | None


def link_constants(
    links: Sequence[SpatialLink], payload: RigidBody, theory: Theory, arithmetic: Arithmetic
) -> list[LinkConstants]:
    """The constants of all links; values are numbers or columns (cells,)."""
    found, place = [], 0
    for index, link in enumerate(links):
        last = index == len(links) - 1
        found.append(_link(link, payload if last else None, theory, arithmetic, place))
        place += not link.rigid
    return found


def _link(
    link: SpatialLink, payload: RigidBody | None, theory: Theory, arithmetic: Arithmetic, place: int
) -> LinkConstants:
    rotation = _turns((Rotation(link.joint_axis, link.joint_angle), *link.joint_frame), arithmetic)
    springs = [
        _spring(spring.kind, _unit(spring.direction, arithmetic), spring.stiffness, arithmetic)
        for spring in link.joint_springs
        if not _always(spring.stiffness, np.inf)
    ]
    axis = _unit(link.joint_axis, arithmetic)
    if rotation is not None:  # into the axes of this link
        axis = product(transposed(rotation), axis[:, None])[:, 0]
    about = _six("rotation", axis)
    rotor = None
    if link.rotor_inertia is not None and not _always(link.rotor_inertia, 0.0):
        rotor = _rotor(link, about, arithmetic)
    if rotor is not None or not _always(link.joint_stiffness, np.inf):
        springs.append(_spring("rotation", axis, link.joint_stiffness, arithmetic))
    rolled = link.section_roll is not None and not _always(link.section_roll, 0.0)
    tip, stator, hub = _mass(link.body, arithmetic), link.stator, link.hub
    carried = _mass(payload, arithmetic)
    if carried is not None:
        tip = carried if tip is None else tip + carried
    along = Position(link.length, 0.0, 0.0)
    roll = (Rotation((1.0, 0.0, 0.0), link.section_roll),) if rolled else ()  # type: ignore[arg-type]
    return LinkConstants(
        rotation=rotation,
        roll=_turns(roll, arithmetic),
        tip=tip,
        end_offset=_offset(link.end_offset, arithmetic),
        place=place,
        bar=_bar(link, theory, arithmetic) if link.rigid else None,
        axis=_vector(along, arithmetic) if link.rigid else None,
        base_offset=_offset(link.base_offset, arithmetic),
        hub=_mass(hub, arithmetic),
        springs=tuple(springs),
        rotor=rotor,
        stator=_mass(stator, arithmetic),
    )


def base_springs(base: BaseStiffness, arithmetic: Arithmetic) -> list[JointSpring]:
    """The compliance of a base as springs in series, in the axes of the ground.

    With ``K = L D L^T`` it is the sum of ``m m^T/d`` over the rows m of the inverse of L.
    """
    k = [[column(x, arithmetic) for x in row] for row in base.rows()]
    lower: list[list[Number]] = [[] for _ in range(6)]
    pivots: list[Number] = []
    zero = k[0][0] * 0.0
    inverse: list[list[Number]] = []
    for i in range(6):
        for j in range(i):
            rest = k[i][j]
            for m in range(j):
                rest = rest - lower[i][m] * lower[j][m] * pivots[m]
            lower[i].append(rest / pivots[j])
        pivot = k[i][i]
        for m in range(i):
            pivot = pivot - lower[i][m] * lower[i][m] * pivots[m]
        pivots.append(pivot)
        row = [zero] * i + [zero + 1.0] + [zero] * (5 - i)
        for m in range(i):
            for j in range(m + 1):
                row[j] = row[j] - lower[i][m] * inverse[m][j]
        inverse.append(row)
    one = zero + 1.0
    return [
        JointSpring(stacked(row), one, one / pivot)
        for row, pivot in zip(inverse, pivots, strict=True)
    ]


def column(value: Any, arithmetic: Arithmetic) -> Number:
    """A value, a number or a column (cells,), as a number of shape (1, cells)."""
    return number(np.atleast_1d(np.asarray(value, np.float64))[None], arithmetic)


def _always(value: Any, constant: float) -> bool:
    return bool(np.all(np.asarray(value) == constant))


def _vector(vector: Direction | Position, arithmetic: Arithmetic) -> Number:
    return stacked([column(x, arithmetic) for x in vector])


def _unit(vector: Direction, arithmetic: Arithmetic) -> Number:
    v = _vector(vector, arithmetic)
    return v / sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])[None]


def _offset(offset: Position | None, arithmetic: Arithmetic) -> Number | None:
    if offset is None or all(_always(x, 0.0) for x in offset):
        return None
    return _vector(offset, arithmetic)


def _turns(rotations: tuple[Rotation, ...], arithmetic: Arithmetic) -> Number | None:
    """The matrix of turns, one after the other; None for none."""
    total = None
    for rotation in rotations:
        if not _always(rotation.angle, 0.0):
            one = _turn(rotation, arithmetic)
            total = one if total is None else product(total, one)
    return total


def _turn(rotation: Rotation, arithmetic: Arithmetic) -> Number:
    """``1 + sin a [n] + 2 sin^2(a/2) (n n^T - 1)`` by half the angle, so that small turns keep their digits."""
    n = _unit(rotation.axis, arithmetic)
    half = 0.5 * np.abs(np.asarray(rotation.angle))
    ((sine, cosine, _),) = sin_cos(column(half, arithmetic))
    sine = sine * column(np.where(np.asarray(rotation.angle) < 0.0, -1.0, 1.0), arithmetic)
    one = np.eye(3)[..., None, None]
    versed = sine * sine * 2.0
    return (n[:, None] * n[None] - one) * versed + skew(n) * (sine * cosine * 2.0) + one


def _mass(body: RigidBody | None, arithmetic: Arithmetic) -> Number | None:
    """``[[m 1, -m [c]], [m [c], I - m [c] [c]]]``; None for no body."""
    if body is None:
        return None
    inertia = [] if body.inertia is None else [x for row in body.inertia.rows() for x in row]
    if _always(body.mass, 0.0) and all(_always(x, 0.0) for x in inertia):
        return None
    mass = column(body.mass, arithmetic)
    centre = _vector(Position() if body.centre is None else body.centre, arithmetic)
    moment = skew(centre) * mass
    values = [column(x, arithmetic) for x in inertia or [0.0] * 9]
    own = stacked([stacked(values[3 * i : 3 * i + 3]) for i in range(3)])
    return _blocks(
        mass * np.eye(3)[..., None, None], -moment, moment, own - product(moment, skew(centre))
    )


def _blocks(a: Number, b: Number, c: Number, d: Number) -> Number:
    """A 6 x 6 matrix of four of 3 x 3."""
    upper = [
        stacked([*(a[i, j] for j in range(3)), *(b[i, j] for j in range(3))]) for i in range(3)
    ]
    lower = [
        stacked([*(c[i, j] for j in range(3)), *(d[i, j] for j in range(3))]) for i in range(3)
    ]
    return stacked([*upper, *lower])


def _bar(link: SpatialLink, theory: Theory, arithmetic: Arithmetic) -> Number:
    """Mass matrix of a rigid link about its base, with the rotary inertia that the theory gives its sections."""
    values = link.section_values
    density, length = column(link.density, arithmetic), column(link.length, arithmetic)
    area, iy, iz = (
        column(x, arithmetic) for x in (values.area, values.second_moment_y, values.second_moment_z)
    )
    per_length = density * area
    if link.nonstructural_mass is not None:
        per_length = per_length + column(link.nonstructural_mass, arithmetic)
    mass = per_length * length
    rotary = density * length * float(theory.rotary_inertia)
    zero = mass * 0.0
    third, half = mass * length * length / 3.0, mass * length * 0.5
    entries = [[zero] * 6 for _ in range(6)]
    for i in range(3):
        entries[i][i] = mass
    entries[3][3] = density * (iy + iz) * length
    entries[4][4], entries[5][5] = third + rotary * iy, third + rotary * iz
    entries[1][5] = entries[5][1] = half
    entries[2][4] = entries[4][2] = -half
    return stacked([stacked(row) for row in entries])


def _six(kind: str, unit: Number) -> Number:
    zero = unit[0] * 0.0
    three = [unit[i] for i in range(3)]
    return stacked([zero] * 3 + three if kind == "rotation" else three + [zero] * 3)


def _spring(kind: str, unit: Number, stiffness: Any, arithmetic: Arithmetic) -> JointSpring:
    one, compliance = spring_law(np.atleast_1d(np.asarray(stiffness, np.float64)))
    law = column(one, arithmetic)
    # 1/k in double-double, of the stiffness itself
    finite = np.isfinite(stiffness) & (np.asarray(stiffness) > 0.0)
    k = column(np.where(finite, stiffness, 1.0), arithmetic)
    given = column(np.where(finite, 0.0, compliance), arithmetic)
    return JointSpring(
        _six(kind, unit),
        law,
        given + (k * 0.0 + 1.0) / k * column(finite.astype(float), arithmetic),
    )


def _rotor(link: SpatialLink, about: Number, arithmetic: Arithmetic) -> Rotor:
    inertia, ratio = column(link.rotor_inertia, arithmetic), column(link.gear_ratio, arithmetic)
    return Rotor(
        relative=ratio * (ratio - 1.0) * inertia,
        driven=ratio * inertia,
        carried=(ratio * 0.0 + 1.0 - ratio) * inertia,
        about_axis=about[:, None] * about[None],
    )
