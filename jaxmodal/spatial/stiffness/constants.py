"""Frequency-independent constants of an arm in space: links of one form, in float64 or double-double.

Everything between the elastic parts of two links is transferred to their ends, in the axes of their sections: one body
at the outer end (tip, stator of the next link, payload), one at the base (hub, rigid bar), the joint's springs and
rotor there, and one rotation and offset to the previous link. Parts that an arm lacks are the identity or zero. An
elastic base becomes a rigid link of zero length, whose joint has the springs of the base. The constants are computed
once for an arm, or in parallel for cells with different values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, leading, number, sin_cos, sqrt
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.spatial.parts.bases import BaseStiffness
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.matrices import (
    cross,
    doubles,
    joined,
    product,
    skew,
    stacked,
    transposed,
)
from jaxmodal.spatial.stiffness.members import Sections, section_of
from jaxmodal.spatial.stiffness.supports import ReducedSupport, reduced_supports
from jaxmodal.statics.laws import spring_law

#: types of a single real value
_SINGLE = (float, np.float64)


class Spring(NamedTuple):
    """A spring along a unit vector of the six directions, (6, 1, cells), with its force law.

    The law is ``unit * motion = compliance * force``: (1, 0) is rigid, (1, 1/k) a spring, (0, 1) free.
    """

    direction: Number
    unit: Number
    compliance: Number


class Rotor(NamedTuple):
    """Coefficients N (N - 1) J, N J and (1 - N) J of a rotor of inertia J and gear ratio N."""

    relative: Number
    driven: Number
    carried: Number


class Body(NamedTuple):
    """Mass matrix of a rigid body about a point: mass, mass times centre (3, 1, cells), inertia (3, 3, 1, cells)."""

    mass: Number
    moment: Number
    inertia: Number

    def __add__(self, other: Body) -> Body:  # type: ignore[override]
        return Body(*(x + y for x, y in zip(self, other, strict=True)))

    def seen_at(self, offset: Number) -> Body:
        """Return the body relative to another point, from which its present one is at ``offset``."""
        o, p = skew(offset), skew(self.moment)
        moved = product(o, p) + product(p, o) + product(o, o) * self.mass
        return Body(self.mass, self.moment + offset * self.mass, self.inertia - moved)

    def turned(self, rotation: Number) -> Body:
        """Return the body in other axes, in which its present axes are the columns of ``rotation``."""
        inertia = product(product(rotation, self.inertia), transposed(rotation))
        return Body(self.mass, _times(rotation, self.moment), inertia)

    def of(self, links: Any) -> Body:
        """Select the body of one link, or of some, from those of all."""
        return Body(*(_of(x, links) for x in self))


#: the axis of a straight link
_ALONG = (1.0, 0.0, 0.0)


class ReducedLink(NamedTuple):
    """Constants of one link; matrices of shape (3, 3, 1, cells).

    ``rotation`` maps components in the axes of the section to those of the section of the previous link. ``offset`` is
    the position of the base of this link relative to the outer end of the previous one, in the latter's axes. ``outer``
    and ``inner`` are the bodies at both ends; a rigid link has all of them at its inner end. The last of the
    ``springs`` is the one about the joint's axis, on which the ``rotor`` acts. ``place`` is the index of a flexible
    link among the flexible ones. ``tip`` is the position of its tip relative to the outer end of its elastic part, of a
    rigid link to its base; of an arm with supports alone.
    """

    rotation: Number
    offset: Number
    outer: Body | None
    inner: Body
    springs: tuple[Spring, ...]
    rotor: Rotor | None
    place: int | None
    is_base: bool = False
    supports: tuple[ReducedSupport, ...] = ()
    tip: Number | None = None


def reduced_links(
    links: Sequence[SpatialLink],
    payload: RigidBody,
    base: BaseStiffness | None,
    theory: Theory,
    arithmetic: Arithmetic,
) -> list[ReducedLink]:
    """Return the constants of all links, after those of an elastic base; values are numbers or columns (cells,)."""
    n, rigid = len(links), [link.rigid for link in links]
    most = max(len(link.joint_frame) for link in links)
    # all links in one call: calls of NumPy cost more than their arithmetic
    turns = [[_further(link, k) for link in links] for k in range(most)]
    rolls = [0.0 if link.section_roll is None else link.section_roll for link in links]
    turns.append([(_ALONG, angle) for angle in rolls])
    turns.insert(0, [(link.joint_axis, link.joint_angle) for link in links])
    each = _turns([turn for of_links in turns for turn in of_links], arithmetic)
    rotation, *further, roll = (_of(each, slice(k * n, k * n + n)) for k in range(most + 2))
    for turn in further:
        rotation = product(rotation, turn)
    back = transposed(roll)
    base_offset = _places([link.base_offset for link in links], arithmetic)
    # the tip relative to the outer end of the elastic part; for a rigid link relative to its base
    lengths = [(link.length, 0.0, 0.0) if link.rigid else None for link in links]
    end = _places([x.end_offset for x in links], arithmetic) + _places(lengths, arithmetic)
    stators = [link.stator for link in links]
    bodies = [*(x.body for x in links), *(x.hub for x in links), *stators, payload]
    masses = _masses(bodies, arithmetic)
    outer = masses.of(slice(n)) + masses.of(slice(2 * n + 1, None))
    outer = outer.seen_at(end).turned(back)
    inner = masses.of(slice(n, 2 * n)).seen_at(-base_offset).turned(back)
    turn = product(_after(np.eye(3), back), product(rotation, roll))
    offset = _times(
        _after(np.eye(3), back), _after(np.zeros(3), end) + _times(rotation, base_offset)
    )
    springs = _springs(links, rotation, base_offset, back, arithmetic)
    tip = _times(back, end)
    supports = _supports(links, turn, tip, arithmetic)
    found = [] if base is None else [_on_base(base, masses.of(2 * n), arithmetic)]
    for k, link in enumerate(links):
        at_base = inner.of(k)
        if link.rigid:
            at_base = at_base + outer.of(k) + _bar(link, theory, arithmetic)
        found.append(
            ReducedLink(
                rotation=_of(turn, k),
                offset=_of(offset, k),
                outer=None if link.rigid else outer.of(k),
                inner=at_base,
                springs=tuple(springs[k]),
                rotor=_rotor(link, arithmetic) if _has_rotor(link) else None,
                place=None if link.rigid else rigid[:k].count(False),
                supports=tuple(supports[k]),
                tip=_of(tip, k) if any(supports) else None,
            )
        )
    return found


def _of(x: Number, links: Any) -> Number:
    """Select the numbers of one link, or of some, along the third axis from the end."""
    return x[..., links, :, :]


def _after(first: np.ndarray, x: Number) -> Number:
    """Return the values of the previous link for each link; ``first``, of float64, for the first one."""
    start = (x * 0.0 + first[..., None, None, None])[..., :1, :, :]
    return joined([start, x[..., :-1, :, :]], -3)


def _further(link: SpatialLink, k: int) -> tuple[Iterable[Any], Any]:
    """Return rotation number ``k`` of the frame of a joint; zero rotation if there is none."""
    if k < len(link.joint_frame):
        return link.joint_frame[k].axis, link.joint_frame[k].angle
    return _ALONG, 0.0


def _has_rotor(link: SpatialLink) -> bool:
    return link.rotor is not None and not _always(link.rotor.inertia, 0.0)


def _springs(
    links: Sequence[SpatialLink],
    rotation: Number,
    base_offset: Number,
    back: Number,
    arithmetic: Arithmetic,
) -> list[list[Spring]]:
    """Return the springs of each link, at the inner end, in the axes of the section.

    Springs that are rigid in all cells are left out. The one about the joint's axis is the last; it is always present
    if the joint has a rotor.
    """
    places, given = [], []
    for k, link in enumerate(links):
        own = [(s.kind, s.direction, s.stiffness) for s in link.joint_springs]
        own = [x for x in own if not _always(x[2], np.inf)]
        places += [k] * len(own)
        given += [(False, *x) for x in own]
        if _has_rotor(link) or not _always(link.joint_stiffness, np.inf):
            places.append(k)
            given.append((True, "rotation", link.joint_axis, link.joint_stiffness))
    found: list[list[Spring]] = [[] for _ in links]
    if not given:
        return found
    about_axis = np.array([x[0] for x in given], float)[:, None, None]
    turning = np.array([x[1] == "rotation" for x in given], float)[:, None, None]
    one = np.eye(3)[..., None, None, None]
    into_link = transposed(_of(rotation, places)) * about_axis + one * (1.0 - about_axis)
    unit = _times(into_link, _units([x[2] for x in given], arithmetic))
    along, about = unit * (1.0 - turning), unit * turning
    moved = along + cross(about, _of(base_offset, places))
    six = [_times(_of(back, places), x) for x in (moved, about)]
    direction = stacked([x[i] for x in six for i in range(3)])
    law, compliance = _laws([x[3] for x in given], arithmetic)
    for number_of, k in enumerate(places):
        spring = (_of(x, number_of) for x in (direction, law, compliance))
        found[k].append(Spring(*spring))
    return found


def _supports(
    links: Sequence[SpatialLink], turn: Number, tip: Number, arithmetic: Arithmetic
) -> list[list[ReducedSupport]]:
    """Return the supports of each link; the tip is given in the axes of its section."""
    given = [support.direction for link in links for support in link.supports]
    if not given:
        return [[] for _ in links]
    units = _units(given, arithmetic)
    each = [_of(units, k) for k in range(len(given))]
    return reduced_supports(links, turn, tip, each, arithmetic)


def _on_base(base: BaseStiffness, stator: Body, arithmetic: Arithmetic) -> ReducedLink:
    """Return a rigid link of zero length on the springs of the base."""
    one, zero = (number(x[..., None, None], arithmetic) for x in (np.eye(3), np.zeros(3)))
    springs = tuple(base_springs(base, arithmetic))
    return ReducedLink(one, zero, None, stator, springs, None, None, is_base=True)


def base_springs(base: BaseStiffness, arithmetic: Arithmetic) -> list[Spring]:
    """Return the compliance of a base as springs in series, in the axes of the ground."""
    rows, pivots = base_factors([[_column(x, arithmetic) for x in row] for row in base.rows()])
    one = pivots[0] * 0.0 + 1.0
    return [Spring(stacked(row), one, one / pivot) for row, pivot in zip(rows, pivots, strict=True)]


def base_factors(k: Sequence[Sequence[Number]]) -> tuple[list[list[Number]], list[Number]]:
    """Return m and d of a stiffness ``K = L D L^T``, whose inverse is the sum of ``m m^T/d``: m are the rows of 1/L."""
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
    return inverse, pivots


def _column(value: Any, arithmetic: Arithmetic) -> Number:
    """Convert a value, a number or a column (cells,), to a number of shape (1, cells)."""
    return _columns([value], arithmetic)[0]


def _columns(values: Sequence[Any], arithmetic: Arithmetic) -> Number:
    """Convert values to numbers of shape (values, 1, cells)."""
    if all(type(x) in _SINGLE for x in values):
        return number(np.array(values, float)[:, None, None], arithmetic)
    arrays = np.broadcast_arrays(*(doubles(x) for x in values))
    return number(np.stack(arrays)[:, None], arithmetic)


def _always(value: Any, constant: float) -> bool:
    return bool(np.all(np.asarray(value) == constant))


def _times(matrix: Number, vector: Number) -> Number:
    return product(matrix, vector[:, None])[:, 0]


def _places(places: Sequence[Iterable[Any] | None], arithmetic: Arithmetic) -> Number:
    """Return the positions of shape (3, places, 1, cells); 0 for a missing one."""
    return _vectors([(0.0, 0.0, 0.0) if x is None else x for x in places], arithmetic)


def _vectors(vectors: Sequence[Iterable[Any]], arithmetic: Arithmetic) -> Number:
    return stacked([_columns(x, arithmetic) for x in zip(*vectors, strict=True)])


def _units(vectors: Sequence[Iterable[Any]], arithmetic: Arithmetic) -> Number:
    v = _vectors(vectors, arithmetic)
    return v / sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])[None]


def _turns(turns: Sequence[tuple[Iterable[Any], Any]], arithmetic: Arithmetic) -> Number:
    """Return the rotations ``1 + sin a [n] + 2 sin^2(a/2) (n n^T - 1)``.

    Half angles keep the digits of small rotations.
    """
    n = _units([axis for axis, _ in turns], arithmetic)
    angles = leading(_columns([angle for _, angle in turns], Arithmetic.float64))
    sign = np.where(angles.real < 0.0, -1.0, 1.0)
    ((sine, cosine, _),) = sin_cos(number(0.5 * sign * angles, arithmetic))
    sine = sine * sign
    one = np.eye(3)[..., None, None, None]
    versed = sine * sine * 2.0
    return (n[:, None] * n[None] - one) * versed + skew(n) * (sine * cosine * 2.0) + one


def _masses(bodies: Sequence[RigidBody | None], arithmetic: Arithmetic) -> Body:
    """Return the mass matrices of bodies about their reference points; zero for a missing body."""
    tensors = [
        None if body is None or body.inertia is None else body.inertia.rows() for body in bodies
    ]
    rows = [
        [_columns([0.0 if t is None else t[i][j] for t in tensors], arithmetic) for j in range(3)]
        for i in range(3)
    ]
    mass = _columns([0.0 if body is None else body.mass for body in bodies], arithmetic)
    zero = _places([None] * len(bodies), arithmetic)
    about_centres = Body(mass, zero, stacked([stacked(row) for row in rows]))
    return about_centres.seen_at(
        _places([None if body is None else body.centre for body in bodies], arithmetic)
    )


def _bar(link: SpatialLink, theory: Theory, arithmetic: Arithmetic) -> Body:
    """Return the mass matrix of a rigid link about its base, with rotary inertia according to the theory."""
    s = Sections(*(_column(x, arithmetic) for x in section_of(link)))
    mass = (s.density * s.area + s.nonstructural_mass) * s.length
    rotary = s.density * s.length * float(theory.rotary_inertia)
    iy, iz = s.second_moment_y, s.second_moment_z
    zero = mass * 0.0
    third, half = mass * s.length * s.length / 3.0, mass * s.length * 0.5
    own = [s.density * (iy + iz) * s.length, third + rotary * iy, third + rotary * iz]
    inertia = stacked([stacked([own[i] if i == j else zero for j in range(3)]) for i in range(3)])
    return Body(mass, stacked([half, zero, zero]), inertia)


def _laws(stiffness: Sequence[Any], arithmetic: Arithmetic) -> tuple[Number, Number]:
    """Return the unit and compliance of springs; 1/k in double-double, computed from the stiffness."""
    given = leading(_columns(stiffness, Arithmetic.float64))
    unit, compliance = spring_law(given.real)
    unit = np.where(given.real == 0.0, given, unit)  # a varied free joint is a soft spring
    finite = np.isfinite(given.real) & (given.real > 0.0)
    k = number(np.where(finite, given, 1.0), arithmetic)
    exact = (k * 0.0 + 1.0) / k * finite.astype(float)
    return number(unit, arithmetic), exact + np.where(finite, 0.0, compliance)


def _rotor(link: SpatialLink, arithmetic: Arithmetic) -> Rotor:
    inertia, ratio = (_column(x, arithmetic) for x in link.rotor or (0.0, 0.0))
    return Rotor(
        relative=ratio * (ratio - 1.0) * inertia,
        driven=ratio * inertia,
        carried=(ratio * 0.0 + 1.0 - ratio) * inertia,
    )
