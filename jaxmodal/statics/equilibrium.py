"""Equilibrium of the chain at its posture: section forces under dead loads, by statics and, on supports, elasticity.

Small deflections: loads act where the posture has them. Section forces are those that the part towards the tip exerts.
All arrays begin with the axis of the links, (n, ...), and further axes are those of the links' values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arm.arrays import BeamArrays
from jaxmodal.arm.links import SUPPORTS
from jaxmodal.runtime.namespace import Array, linalg, on_host, placed, xp
from jaxmodal.statics.laws import compliance, flexibility, line_mass, spring_law


class DeadLoads(NamedTuple):
    """Loads of fixed direction, in the axes of the base; arrays of shape (...).

    Gravity in m/s^2 (less a steady acceleration of the base) on all that has mass, and a force in N at the tip of the
    last link.
    """

    gravity_x: Array
    gravity_y: Array
    tip_force_x: Array
    tip_force_y: Array


class Geometry(NamedTuple):
    """Each link in the axes of the base: its direction, and the vectors joint to start, start to end, end to tip."""

    cosine: Array
    sine: Array
    base: tuple[Array, Array]
    along: tuple[Array, Array]
    end: tuple[Array, Array]


class SectionForces(NamedTuple):
    """Forces along the chain, (n, ...): along and across each link, and moments.

    ``start`` and ``outer`` at the two ends of the link, ``joint`` what its springs carry, each (N, V, M); ``load`` the
    weight per length along and across; in between N and V are linear and M is quadratic.
    """

    joint: tuple[Array, Array, Array]
    start: tuple[Array, Array, Array]
    outer: tuple[Array, Array, Array]
    load: tuple[Array, Array]


class Displacements(NamedTuple):
    """Motions (x, y, rotation) in the axes of the base, (n, ...): of each link's start, its end and its tip."""

    start: tuple[Array, Array, Array]
    outer: tuple[Array, Array, Array]
    tip: tuple[Array, Array, Array]


class Equilibrium(NamedTuple):
    """An arm at rest.

    Attributes
    ----------
    forces : SectionForces
        Of the loads and reactions.
    reactions : Array, shape (n, 3, ...)
        What the supports of each tip exert on it, along x and y of the base and about the tip.
    gives : Array, shape (n, 3, ...)
        What each joint gives along and across its link and about its axis.
    unheld : Array, shape (...)
        The largest force or moment in a free joint beside the largest of all: not 0 where nothing holds the arm.
    displacements : Displacements
    """

    forces: SectionForces
    reactions: Array
    gives: Array
    unheld: Array
    displacements: Displacements


def geometry(beams: BeamArrays) -> Geometry:
    """Directions and lengths of the posture."""
    angle = xp.cumsum(beams.joint_angle, axis=0)
    c, s = xp.cos(angle), xp.sin(angle)

    def turned(x: Array | None, y: Array | None) -> tuple[Array, Array]:
        a = xp.zeros_like(beams.length) if x is None else x
        b = xp.zeros_like(beams.length) if y is None else y
        return c * a - s * b, s * a + c * b

    return Geometry(
        c,
        s,
        turned(beams.base_offset_x, beams.base_offset_y),
        turned(beams.length, None),
        turned(beams.end_offset_x, beams.end_offset_y),
    )


def equilibrium(beams: BeamArrays, shear: Any, axial: Any, loads: DeadLoads) -> Equilibrium:
    """The arm at rest under dead loads, deflections small.

    Parameters
    ----------
    beams : BeamArrays
        Link values, each of shape (n, ...).
    shear, axial : float or Array
        Flags of the theory: 1.0 where links shear and stretch, else 0.0.
    loads : DeadLoads
        Of shape (...).

    Returns
    -------
    Equilibrium

    Notes
    -----
    A chain without supports at its tips is statically determinate. With them the reactions, and the gives of free
    joints, follow from the compatibility of displacements (the force method), in one linear system.
    """
    shape = geometry(beams)
    own = _outboard(beams, shape, *_weights(beams, shape, loads))
    nothing = xp.zeros_like(beams.length + 0.0 * loads.gravity_x)
    reactions = xp.stack([nothing] * 3, axis=1)
    free = xp.zeros_like(reactions)
    if beams.support_x_stiffness is not None:
        reactions, free = _held(beams, shape, shear, axial, own)
        own = _plus(own, _of_reactions(beams, shape, reactions))
    gives = _gives(beams, own) + free
    moved = displacements(beams, shape, shear, axial, own, gives)
    return Equilibrium(own, reactions, gives, _unheld(beams, own), moved)


def axial_forces(
    beams: BeamArrays, shear: Any, axial: Any, loads: DeadLoads
) -> tuple[Array, Array]:
    """Axial force at the start and at the end of each link, N, tension positive, linear in between; shape (n, ...).

    Parameters are those of `equilibrium`. NaN where a free joint is not held.
    """
    found = equilibrium(beams, shear, axial, loads)
    held = found.unheld <= _BALANCED
    start, outer = found.forces.start[0], found.forces.outer[0]
    return xp.where(held, start, np.nan), xp.where(held, outer, np.nan)


#: a free joint carries at most this share of the largest force of an arm in equilibrium
_BALANCED = 1e-9


def turning_stiffness(
    beams: BeamArrays, loads: DeadLoads, forces: SectionForces
) -> tuple[Array, Array]:
    """What dead loads add to the stiffness against rotation at the start and at the end of each link, N m/rad.

    A load F at the end e of a rigid piece that turns by phi has the potential ``F.e phi^2/2``: the offset from the
    joint to the start of the link carries the section force there, the one from its end to the tip that of the tip,
    and the body its weight at its centre. A rigid link is a piece that carries its own weight on its way. Positive
    where the load pulls outwards. Shape (n, ...) each.
    """
    zero = xp.zeros_like(beams.length)

    def given(name: str) -> Array:
        value = getattr(beams, name)
        return zero if value is None else value

    angle = xp.cumsum(beams.joint_angle, axis=0)
    c, s = xp.cos(angle), xp.sin(angle)
    down_x = c * loads.gravity_x + s * loads.gravity_y
    down_y = c * loads.gravity_y - s * loads.gravity_x
    at_start = forces.start[0] * given("base_offset_x") + forces.start[1] * given("base_offset_y")
    at_end = (
        forces.outer[0] * given("end_offset_x")
        + forces.outer[1] * given("end_offset_y")
        + down_x * given("tip_moment_x")
        + down_y * given("tip_moment_y")
    )
    if beams.flexible is not None:
        mean = 0.5 * (forces.start[0] + forces.outer[0])
        at_end = at_end + (1.0 - beams.flexible) * mean * beams.length
    return at_start, at_end


def _weights(beams: BeamArrays, shape: Geometry, loads: DeadLoads) -> tuple[Any, Any, Any, Any]:
    """Weight per length, and forces and moment at tips and at hubs, in the axes of the base."""
    x, y = loads.gravity_x, loads.gravity_y
    line = line_mass(beams)
    tip_x, tip_y = beams.tip_mass * x, beams.tip_mass * y
    tip_x = placed(tip_x, -1, tip_x[-1] + loads.tip_force_x)
    tip_y = placed(tip_y, -1, tip_y[-1] + loads.tip_force_y)
    moment = xp.zeros_like(tip_x)
    if beams.tip_moment_x is not None and beams.tip_moment_y is not None:
        along = shape.cosine * beams.tip_moment_x - shape.sine * beams.tip_moment_y
        across = shape.sine * beams.tip_moment_x + shape.cosine * beams.tip_moment_y
        moment = along * y - across * x
    hub = xp.zeros_like(beams.length) if beams.hub_mass is None else beams.hub_mass
    return (line * x, line * y), (tip_x, tip_y), moment, (hub * x, hub * y)


def _cross(d: tuple[Array, Array], f: tuple[Array, Array]) -> Array:
    return d[0] * f[1] - d[1] * f[0]


def _from_tip(x: Array) -> Array:
    """Sums from the tip inwards along the first axis."""
    return xp.flip(xp.cumsum(xp.flip(x, axis=0), axis=0), axis=0)


def _outboard(
    beams: BeamArrays, shape: Geometry, line: Any, tip: Any, moment: Any, hub: Any
) -> SectionForces:
    """Section forces of loads by statics alone: sums from the tip inwards, link axes."""
    length = beams.length
    weight = tuple(w * length for w in line)
    own = [t + w + h for t, w, h in zip(tip, weight, hub, strict=True)]
    joint = tuple(_from_tip(x) for x in own)
    start = tuple(x - h for x, h in zip(joint, hub, strict=True))
    outer = tuple(x - w for x, w in zip(start, weight, strict=True))
    middle = tuple(o + 0.5 * w for o, w in zip(outer, weight, strict=True))
    at_end = moment + _cross(shape.end, outer)
    over_link, over_base = _cross(shape.along, middle), _cross(shape.base, start)
    at_joint = _from_tip(at_end + over_link + over_base)
    at_start = at_joint - over_base
    at_outer = at_start - over_link

    def in_link(f: Any) -> tuple[Array, Array]:
        c, s = shape.cosine, shape.sine
        return c * f[0] + s * f[1], c * f[1] - s * f[0]

    return SectionForces(
        (*in_link(joint), at_joint),
        (*in_link(start), at_start),
        (*in_link(outer), at_outer),
        in_link(line),
    )


def _of_reactions(beams: BeamArrays, shape: Geometry, reactions: Array) -> SectionForces:
    """Section forces of forces and moments at tips, (n, 3, ...), in the axes of the base."""
    zero = xp.zeros_like(reactions[:, 0])
    x, y, moment = reactions[:, 0], reactions[:, 1], reactions[:, 2]
    return _outboard(beams, shape, (zero, zero), (x, y), moment, (zero, zero))


def _plus(a: SectionForces, b: SectionForces) -> SectionForces:
    return SectionForces(
        *(tuple(x + y for x, y in zip(p, q, strict=True)) for p, q in zip(a, b, strict=True))
    )


def _laws(beams: BeamArrays) -> tuple[Array, Array]:
    """Units and compliances of the joints' springs, shape (n, 3, ...)."""
    rigid = xp.full_like(beams.length, np.inf)
    springs = (beams.joint_axial_stiffness, beams.joint_shear_stiffness, beams.joint_stiffness)
    laws = [spring_law(rigid if k is None else k) for k in springs]
    return xp.stack([x[0] for x in laws], axis=1), xp.stack([x[1] for x in laws], axis=1)


def _gives(beams: BeamArrays, forces: SectionForces) -> Array:
    """What springs of joints give under the forces that they carry; 0 where the joint is free."""
    unit, y = _laws(beams)
    return unit * y * xp.stack(forces.joint, axis=1)


def _unheld(beams: BeamArrays, forces: SectionForces) -> Array:
    """Share of the largest force (moments by the length of the arm) that free joints would have to carry."""
    reach = xp.sum(beams.length, axis=0)
    unit, _ = _laws(beams)
    x, y, moment = forces.joint
    carried = xp.abs(xp.stack([x * reach, y * reach, moment], axis=1))
    largest = xp.max(carried, axis=(0, 1))
    loose = xp.max(xp.where(unit == 0.0, carried, 0.0), axis=(0, 1))
    return loose / xp.where(largest > 0.0, largest, 1.0)


def displacements(
    beams: BeamArrays, shape: Geometry, shear: Any, axial: Any, forces: SectionForces, gives: Array
) -> Displacements:
    """Motions that section forces and gives of joints make, from the base outwards."""
    length, elastic = beams.length, flexibility(beams)
    stretch = axial * elastic / (beams.youngs_modulus * beams.area)
    bend = elastic / (beams.youngs_modulus * beams.second_moment)
    known = xp.isfinite(beams.shear_modulus_effective)
    stiffness = xp.where(known, beams.shear_modulus_effective, 1.0) * beams.area
    slide = xp.where(known, shear, 0.0) * elastic / stiffness
    n, v, m = forces.start
    p, q = forces.load
    # N = n - p x, V = v - q x, M = m - v x + q x^2/2
    du = stretch * length * (n - p * length / 2)
    turn = bend * length * (m - length * (v / 2 - q * length / 6))
    dv = bend * length**2 * (m / 2 - length * (v / 6 - q * length / 24))
    dv = dv + slide * length * (v - q * length / 2)
    before = xp.cumsum(gives[:, 2] + turn, axis=0) - turn
    after = before + turn

    def stepped(rotation: Array, d: tuple[Array, Array]) -> tuple[Array, Array]:
        return -rotation * d[1], rotation * d[0]

    def out(x: Array, y: Array) -> tuple[Array, Array]:
        return shape.cosine * x - shape.sine * y, shape.sine * x + shape.cosine * y

    joint = out(gives[:, 0], gives[:, 1])
    base = stepped(before, shape.base)
    link = [a + b for a, b in zip(stepped(before, shape.along), out(du, dv), strict=True)]
    end = stepped(after, shape.end)
    tip = [xp.cumsum(sum(x), axis=0) for x in zip(joint, base, link, end, strict=True)]
    outer = [t - e for t, e in zip(tip, end, strict=True)]
    start = [o - d for o, d in zip(outer, link, strict=True)]
    return Displacements((*start, before), (*outer, after), (*tip, after))


def _held(
    beams: BeamArrays, shape: Geometry, shear: Any, axial: Any, own: SectionForces
) -> tuple[Array, Array]:
    """Reactions of supports and gives of free joints, shape (n, 3, ...) each.

    Unknowns are the reactions r and the gives g of free joints: at each support the motion is the one that r answers
    to, and a free joint carries nothing. Both are counted in shares of the arm: lengths by its own, forces by what
    bends link 1 by that much.
    """
    n = beams.length.shape[0]
    rest = beams.length.shape[1:]
    reach = xp.sum(beams.length, axis=0)
    force = beams.youngs_modulus[0] * beams.second_moment[0] / reach**2
    stiffness = xp.stack([getattr(beams, name) for name in SUPPORTS], axis=1)
    unit, _ = _laws(beams)
    held, loose = stiffness > 0.0, unit == 0.0
    places, hinges = _places(held), _places(loose)
    units = [force, force, force * reach]
    steps = [reach, reach, xp.ones_like(reach)]

    def cases(where: list[tuple[int, int]], sizes: list[Array]) -> Array:
        """One case for each place: that entry alone; shape (n, 3, cases, ...)."""
        shape_of = (n, 3, len(where), *rest)
        mask = np.zeros(shape_of)
        for k, (i, j) in enumerate(where):
            mask[i, j, k] = 1.0
        size = xp.stack([xp.broadcast_to(x, rest) for x in sizes], axis=0)
        return mask * size[None, :, None]

    broad = jax.tree_util.tree_map(lambda x: x[:, None], beams)
    geometry_of = geometry(broad)
    pushed, turned = cases(places, units), cases(hinges, steps)
    of_reactions = _of_reactions(broad, geometry_of, pushed)
    nothing = _of_reactions(broad, geometry_of, 0.0 * turned)
    by_reactions = displacements(
        broad, geometry_of, shear, axial, of_reactions, _gives(broad, of_reactions)
    )
    by_gives = displacements(broad, geometry_of, shear, axial, nothing, turned)
    by_loads = displacements(beams, shape, shear, axial, own, _gives(beams, own))

    def rows(source: Any, where: list[tuple[int, int]], sizes: list[Array]) -> Array:
        return xp.stack([source[j][i] / sizes[j] for i, j in where], axis=0)

    size = len(places) + len(hinges)
    give = compliance(xp.where(held, stiffness, np.inf))
    soft = xp.stack([give[i, j] * units[j] / steps[j] for i, j in places], axis=0)
    answers = xp.stack([held[i, j] for i, j in places], axis=0)
    diagonal = np.eye(len(places)).reshape(len(places), len(places), *(1,) * len(rest))
    above = rows(by_reactions.tip, places, steps) + diagonal * soft[:, None]
    right = -rows(by_loads.tip, places, steps)
    # what is not there answers with nothing
    above = xp.where(answers[:, None], above, diagonal)
    right = xp.where(answers, right, 0.0)
    if hinges:
        also = xp.stack([loose[i, j] for i, j in hinges], axis=0)
        corner = np.eye(len(hinges)).reshape(len(hinges), len(hinges), *(1,) * len(rest))
        beside = xp.where(answers[:, None] & also[None], rows(by_gives.tip, places, steps), 0.0)
        below = xp.where(
            also[:, None] & answers[None], rows(of_reactions.joint, hinges, units), 0.0
        )
        corner = xp.where(also[:, None], 0.0, corner)
        matrix = xp.concatenate(
            [xp.concatenate([above, beside], axis=1), xp.concatenate([below, corner], axis=1)],
            axis=0,
        )
        loaded = xp.where(also, -rows(own.joint, hinges, units), 0.0)
        right = xp.concatenate([right, loaded], axis=0)
    else:
        matrix = above
    matrix = xp.moveaxis(matrix, (0, 1), (-2, -1))
    solved = _solved(matrix, xp.moveaxis(right, 0, -1), len(places))
    solved = xp.moveaxis(solved, -1, 0).reshape((size, *rest))
    reactions, free = xp.zeros((n, 3, *rest)), xp.zeros((n, 3, *rest))
    for k, (i, j) in enumerate(places):
        reactions = placed(reactions, (i, j), solved[k] * units[j])
    for k, (i, j) in enumerate(hinges):
        free = placed(free, (i, j), solved[len(places) + k] * steps[j])
    return reactions, free


def _places(where: Array) -> list[tuple[int, int]]:
    """Entries that hold for a cell at least; all where values are traced."""
    if not on_host(where):
        return [(i, j) for i in range(where.shape[0]) for j in range(3)]
    any_cell = where.reshape(where.shape[0], 3, -1).any(axis=-1)
    return [(int(i), int(j)) for i, j in np.argwhere(any_cell)]


def _solved(matrix: Array, right: Array, held: int) -> Array:
    """The solution, NaN where the matrix is singular: where supports do not hold what is free.

    It is symmetric; rows and columns of the ``held`` places first are brought to a diagonal of 1, or soft springs
    would hide stiff ones, then those of free joints to entries of at most 1.
    """
    if matrix.shape[-1] == 0:
        return right
    size = xp.diagonal(matrix, axis1=-2, axis2=-1)[..., :held]
    by_place = 1.0 / xp.sqrt(xp.where(size != 0.0, size, 1.0))
    beside = matrix[..., :held, held:] * by_place[..., None]
    largest = xp.max(xp.abs(beside), axis=-2) if held else xp.ones_like(right)
    by_hinge = 1.0 / xp.where(largest > 0.0, largest, 1.0)
    scale = xp.concatenate([by_place, by_hinge], axis=-1)
    matrix = matrix * scale[..., :, None] * scale[..., None, :]
    right = right * scale
    if not on_host(matrix, right):
        return linalg.solve(matrix, right[..., None])[..., 0] * scale
    values = np.linalg.svd(matrix, compute_uv=False)
    good = np.isfinite(values[..., -1]) & (values[..., -1] > 1e-14 * values[..., 0])
    matrix = np.where(good[..., None, None], matrix, np.eye(matrix.shape[-1]))
    solved = np.linalg.solve(matrix, right[..., None])[..., 0]
    return np.where(good[..., None], solved * scale, np.nan)
