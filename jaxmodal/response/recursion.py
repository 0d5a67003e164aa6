"""The receptance recursion with loads: from the tip to the base what lies outboard, back out the motions.

The same condensation as that of `dynamic_stiffness.condensation`, in float64 or complex, which carries a load vector
for each input beside the stiffness. With ``f = P d - q`` the force that the part beyond an interface needs there, d the
motion and q the load, every step changes P and q; the way back out gives d. Only the interfaces inboard of an output
are visited on the way back, and an input counts from where it acts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.joints import (
    Attachments,
    attachments,
    shifted,
    through_axial_spring,
    through_shear_spring,
    with_body,
)
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.stiffness import (
    Matrix,
    Stiffness,
    condensed,
    identity_plus_product,
    rotated,
    through_joint,
)
from jaxmodal.response.members import member_at
from jaxmodal.response.ports import RELATIVE, Port, PortRow
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.laws import spring_law

#: a load or a motion over (u, v, psi), in the axes of a link
Vector = tuple[Any, Any, Any]


class Terminal(NamedTuple):
    """A port and what it reads, its row of shape (3, ...) that broadcasts with the frequencies."""

    port: Port
    row: PortRow


class Cut(NamedTuple):
    """Where the links are cut into members: the link of each, its share of the length, and the stations at its ends."""

    links: tuple[int, ...]
    shares: tuple[float, ...]
    ends: tuple[float, ...]


def cut_at(num_links: int, rows: Sequence[PortRow]) -> Cut:
    """Cut every link where a port reads a station of it."""
    links: list[int] = []
    shares: list[float] = []
    ends: list[float] = []
    for link in range(num_links):
        stations = {row.station for row in rows if row[:2] == (link, "link")}
        last = 0.0
        for station in sorted((stations | {1.0}) - {0.0}):
            links.append(link)
            shares.append(station - last)
            ends.append(station)
            last = station
    return Cut(tuple(links), tuple(shares), tuple(ends))


@dataclasses.dataclass
class _Spring:
    """A spring that was passed: which motion it frees, its law, and P and q beyond it."""

    axis: int
    unit: Any
    give: Any  # compliance over pivot
    pivot: Any
    row: Vector
    loads: dict[int, Vector]


@dataclasses.dataclass
class _Member:
    """A member that was passed: its matrices, ``Q^-1`` as adjugate and determinant, and the loads beyond it."""

    matrices: FreeEndMember
    adjugate: Matrix
    by_det: Any
    loads: dict[int, Vector]


@dataclasses.dataclass
class _Passed:
    """What the way back out needs of one link."""

    terms: Attachments
    springs: list[_Spring]
    members: list[_Member]
    sine: Any
    cosine: Any


@dataclasses.dataclass
class Inward:
    """The arm condensed onto its base.

    Attributes
    ----------
    passed
        What the way back out needs, link 1 first.
    factors
        Denominators met, tip first: their product is the characteristic determinant up to factors that are never zero.
    margin
        The last of them relative to the size of their terms, the smallest: 1e-16 where the arm is in resonance and all
        digits are lost.
    """

    passed: list[_Passed]
    factors: list[Any]
    margin: Any


def members_of(beams: BeamArrays, theory: Theory, omega: Array, cut: Cut) -> FreeEndMember:
    """The matrices of all members, each of shape (members, ...)."""
    owner, shares = np.array(cut.links), np.array(cut.shares)

    def of_members(x: Array) -> Array:
        return x[owner]

    pieces = jax.tree_util.tree_map(of_members, beams)
    length = pieces.length * shares.reshape((-1,) + (1,) * (pieces.length.ndim - 1))
    return member_at(dataclasses.replace(pieces, length=length), theory, omega)


def inward(
    beams: BeamArrays,
    members: FreeEndMember,
    cut: Cut,
    omega: Array,
    inputs: Sequence[Terminal] = (),
) -> Inward:
    """Condense the arm onto its base, tip first, with a load of 1 at each input.

    Parameters
    ----------
    beams
        Arrays (n, ...) whose further axes broadcast with ``omega``; stiffnesses may be complex.
    members
        Those of the cut links.
    cut
        The cut.
    omega
        Angular frequencies, not 0, rad/s; real or complex.
    inputs
        Where loads act; the base is none.
    """
    omega2 = omega * omega
    zero = 0.0 * omega2
    w = Stiffness(*(zero,) * 6)
    loads: dict[int, Vector] = {}
    passed: list[_Passed] = []
    factors: list[Any] = []

    def at(link: int, place: str, station: float) -> None:
        for number, terminal in enumerate(inputs):
            if terminal.row[:3] == (link, place, station) and terminal.port.direction != RELATIVE:
                old = loads.get(number, (0.0, 0.0, 0.0))
                loads[number] = tuple(a + b for a, b in zip(old, terminal.row.row, strict=True))

    place = len(cut.links) - 1
    for link in reversed(range(beams.length.shape[0])):
        beam = jax.tree_util.tree_map(lambda x, link=link: x[link], beams)
        terms = attachments(beam)
        first = (zero, zero)
        if terms.tip_moment_x is not None:
            first = (terms.tip_moment_x, terms.tip_moment_y)
        w = with_body(w, omega2, beam.tip_mass, beam.tip_inertia, *first)
        w = _supported(w, beam)
        at(link, "tip", 1.0)
        if terms.end_offset_x is not None:
            w = shifted(w, terms.end_offset_x, terms.end_offset_y)
            loads = _shifted_loads(loads, terms.end_offset_x, terms.end_offset_y)
        own: list[_Member] = []
        while place >= 0 and cut.links[place] == link:
            at(link, "link", cut.ends[place])
            matrices = FreeEndMember(*(x[place] for x in members))
            beyond, outboard = dict(loads), w
            w, _, adjugate, det = condensed(matrices, w)
            record = _Member(matrices, adjugate, 1.0 / det, beyond)
            loads = {number: _through_member(record, q) for number, q in loads.items()}
            factors += [det, matrices.delta]
            own.append(record)
            place -= 1
        at(link, "link", 0.0)
        if terms.base_offset_x is not None:
            w = shifted(w, terms.base_offset_x, terms.base_offset_y)
            loads = _shifted_loads(loads, terms.base_offset_x, terms.base_offset_y)
        if terms.hub_mass is not None:
            w = with_body(w, omega2, terms.hub_mass, terms.hub_inertia, zero, zero)
        at(link, "joint", 0.0)
        w, loads, springs = _through_joint(w, loads, beam, terms, omega2, link, inputs)
        factors += [spring.pivot for spring in springs]
        sine, cosine = xp.sin(beam.joint_angle), xp.cos(beam.joint_angle)
        passed.append(_Passed(terms, springs, own[::-1], sine, cosine))
        if link:
            w = rotated(w, sine, cosine)
            loads = {
                number: (cosine * u - sine * v, sine * u + cosine * v, p)
                for number, (u, v, p) in loads.items()
            }
    margin = _margin(matrices, outboard, det)
    for spring in springs:
        size = _size(spring.pivot)
        margin = xp.minimum(margin, size / (_size(spring.unit) + _size(spring.pivot - spring.unit)))
    return Inward(passed[::-1], factors, margin)


def _size(x: Any) -> Any:
    return xp.abs(x.real) + xp.abs(x.imag) if jnp.iscomplexobj(x) else xp.abs(x)


def _margin(matrices: FreeEndMember, outboard: Stiffness, det: Any) -> Any:
    """``det(I + R W)`` relative to the sum of all its terms by size."""
    sizes = FreeEndMember(
        *(_size(x) if name.startswith("r_") else x for name, x in matrices._asdict().items())
    )
    q = identity_plus_product(sizes, Stiffness(*map(_size, outboard)))
    total = (
        q.uu * (q.vv * q.pp + q.vp * q.pv)
        + q.uv * (q.vp * q.pu + q.vu * q.pp)
        + q.up * (q.vu * q.pv + q.vv * q.pu)
    )
    return _size(det) / total


def _through_joint(
    w: Stiffness,
    loads: dict[int, Vector],
    beam: BeamArrays,
    terms: Attachments,
    omega2: Array,
    link: int,
    inputs: Sequence[Terminal],
) -> tuple[Stiffness, dict[int, Vector], list[_Spring]]:
    """The springs of one joint, torsional first, with the torques that act in it."""
    unit, compliance = spring_law(beam.joint_stiffness)
    if terms.relative_inertia is not None:
        w = w._replace(pp=w.pp - omega2 * terms.driven_inertia)
        unit = unit - omega2 * terms.relative_inertia * compliance
    springs: list[_Spring] = []

    def passed(axis: int, unit: Any, compliance: Any, row: Vector, pivot: Any) -> None:
        nonlocal loads
        beyond = dict(loads)
        spring = _Spring(axis, unit, compliance / pivot, pivot, row, beyond)
        springs.append(spring)
        # a load moves the far side by its share while the near side is held; a torque acts on both sides of the joint
        loads = {
            number: tuple(a - r * spring.give * q[axis] for a, r in zip(q, row, strict=True))
            for number, q in loads.items()
        }
        for number, terminal in enumerate(inputs):
            if axis == 2 and terminal.port.direction == RELATIVE and terminal.row.link == link:
                torque = terminal.row.row[2]
                beyond[number] = (0.0, 0.0, torque)
                loads[number] = tuple(-(r * spring.give * torque) for r in row)

    row = (w.up, w.vp, w.pp)
    w, pivot = through_joint(w, unit, compliance)
    passed(2, unit, compliance, row, pivot)
    if terms.axial_compliance is not None:
        row = (w.uu, w.uv, w.up)
        w, pivot = through_axial_spring(w, terms.axial_unit, terms.axial_compliance)
        passed(0, terms.axial_unit, terms.axial_compliance, row, pivot)
        row = (w.uv, w.vv, w.vp)
        w, pivot = through_shear_spring(w, terms.shear_unit, terms.shear_compliance)
        passed(1, terms.shear_unit, terms.shear_compliance, row, pivot)
    if terms.carried_inertia is not None:
        w = w._replace(pp=w.pp - omega2 * terms.carried_inertia)
    return w, loads, springs


def _supported(w: Stiffness, beam: BeamArrays) -> Stiffness:
    """With the springs between a tip and the ground, which act in the ground's axes."""
    if beam.support_x_stiffness is None or beam.ground_angle is None:
        return w
    s, c = xp.sin(beam.ground_angle), xp.cos(beam.ground_angle)
    x, y = beam.support_x_stiffness, beam.support_y_stiffness
    return w._replace(
        uu=w.uu + c * c * x + s * s * y,
        uv=w.uv + c * s * (y - x),
        vv=w.vv + s * s * x + c * c * y,
        pp=w.pp + beam.support_torsional_stiffness,
    )


def _shifted_loads(loads: dict[int, Vector], x: Any, y: Any) -> dict[int, Vector]:
    return {number: (u, v, p - y * u + x * v) for number, (u, v, p) in loads.items()}


def _through_member(member: _Member, q: Vector) -> Vector:
    """``H^T Q^-T q``: the load at the inner end."""
    m, a = member.matrices, member.adjugate
    u, v, p = q
    s_u = (a.uu * u + a.vu * v + a.pu * p) * member.by_det
    s_v = (a.uv * u + a.vv * v + a.pv * p) * member.by_det
    s_p = (a.up * u + a.vp * v + a.pp * p) * member.by_det
    return (m.h_uu * s_u, m.h_vv * s_v + m.h_pv * s_p, m.h_vp * s_v + m.h_pp * s_p)


def outward(
    found: Inward, cut: Cut, number: int, base: Vector | None, outputs: Sequence[Terminal]
) -> list[Any]:
    """What each output reads while input ``number`` is 1.

    Parameters
    ----------
    found
        The condensed arm.
    cut
        The cut.
    number
        Which input acts.
    base
        Motion of the ground in the axes of link 1, or None where it stands still.
    outputs
        Where motions are read; the base is none.
    """
    readings: list[Any] = [0.0] * len(outputs)

    def at(link: int, place: str, station: float, motion: Vector) -> None:
        for index, output in enumerate(outputs):
            if output.row[:3] == (link, place, station) and output.port.direction != RELATIVE:
                readings[index] = sum(r * d for r, d in zip(output.row.row, motion, strict=True))

    motion: Vector = (0.0, 0.0, 0.0) if base is None else base
    place = 0
    for link in range(max(output.row.link for output in outputs) + 1):
        terms, record = found.passed[link].terms, found.passed[link]
        if link:
            u, v, p = motion
            s, c = record.sine, record.cosine
            motion = (c * u + s * v, c * v - s * u, p)
        for spring in reversed(record.springs):
            motion, give = _across_spring(spring, motion, number)
        for index, output in enumerate(outputs):
            if output.port.direction == RELATIVE and output.row.link == link:
                readings[index] = give  # of the torsional spring, the last on the way out
        at(link, "joint", 0.0, motion)
        if terms.base_offset_x is not None:
            motion = _moved(motion, terms.base_offset_x, terms.base_offset_y)
        at(link, "link", 0.0, motion)
        for member in record.members:
            motion = _along_member(member, motion, number)
            at(link, "link", cut.ends[place], motion)
            place += 1
        if terms.end_offset_x is not None:
            motion = _moved(motion, terms.end_offset_x, terms.end_offset_y)
        at(link, "tip", 1.0, motion)
    return readings


def _moved(motion: Vector, x: Any, y: Any) -> Vector:
    u, v, p = motion
    return (u - y * p, v + x * p, p)


def _across_spring(spring: _Spring, motion: Vector, number: int) -> tuple[Vector, Any]:
    """The motion beyond a spring from that before it, and by how much the spring gives."""
    axis = spring.axis
    others = sum(
        r * d for k, (r, d) in enumerate(zip(spring.row, motion, strict=True)) if k != axis
    )
    if number in spring.loads:
        others = others - spring.loads[number][axis]
    moved = list(motion)
    moved[axis] = spring.unit * motion[axis] / spring.pivot - spring.give * others
    give = -spring.give * (spring.row[axis] * motion[axis] + others)
    return (moved[0], moved[1], moved[2]), give


def _along_member(member: _Member, motion: Vector, number: int) -> Vector:
    """The motion at the outer end, ``Q^-1 (H d + R q)``."""
    m, a = member.matrices, member.adjugate
    u, v, p = motion
    t_u, t_v, t_p = m.h_uu * u, m.h_vv * v + m.h_vp * p, m.h_pv * v + m.h_pp * p
    if number in member.loads:
        q_u, q_v, q_p = member.loads[number]
        t_u = t_u + m.r_uu * q_u
        t_v = t_v + m.r_vv * q_v + m.r_vp * q_p
        t_p = t_p + m.r_vp * q_v + m.r_pp * q_p
    return (
        (a.uu * t_u + a.uv * t_v + a.up * t_p) * member.by_det,
        (a.vu * t_u + a.vv * t_v + a.vp * t_p) * member.by_det,
        (a.pu * t_u + a.pv * t_v + a.pp * t_p) * member.by_det,
    )
