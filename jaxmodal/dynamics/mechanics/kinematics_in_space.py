"""Position of every part of an arm in space, and the rotational terms of the equations of motion.

The components of a link are the coefficients of its functions (`layout_in_space.Functions`) in the positions of its
points, followed by position and axes of two frames, at its joint and at its tip, which carry its bodies. All are
vectors in the axes of the base. With a free base they are in the axes of the ground, and the base comes first as a link
that has the second frame alone. The Gram matrices contain the inertia of bodies; the rotational terms here are the spin
of sections about their line and the spin of rotors.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jaxmodal.dynamics.layout_in_space import SLIDES, TURNS
from jaxmodal.dynamics.mechanics.free_bases import displacements, pose
from jaxmodal.dynamics.mechanics.kinematics import modal_by_link
from jaxmodal.dynamics.mechanics.rotations import about, cross_matrix, rotation
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.namespace import Array

#: the last components of a link are the place and the axes x, y, z of its joint's frame, then those of its tip's
_OF_JOINT, TIP_PLACE, TIP_AXES = slice(-7, -4), -4, slice(-3, None)
_OF_TIP = slice(-4, None)


def scalars(model: SpatialFlexibleArm, deltas: Array) -> Array:
    """Return the coefficients s of the functions of one link with modal coordinates (m,)."""
    functions = model.layout.functions
    stretch, torsion, xy, xz = (deltas[functions.modal(d)] for d in range(4))
    parts = [np.array([0.0, 1.0]), stretch, xy, xz]
    if model.foreshortening:
        for deformation, values in ((2, xy), (3, xz)):
            rows, columns = functions.pairs(deformation)
            share = np.where(rows == columns, 0.5, 1.0)
            one, other = (np.eye(values.size)[of] for of in (rows, columns))
            parts.append(-share * (one @ values) * (other @ values))
    if model.second_order:
        parts.append(-(torsion[:, None] * xz[None, :]).ravel())
        parts.append((torsion[:, None] * xy[None, :]).ravel())
    return jnp.concatenate(parts)


class Joints(NamedTuple):
    """Angle and sliding displacement of the joint of each piece, both of shape (p,)."""

    angles: Array
    ways: Array


def joints(model: SpatialFlexibleArm, q: Array) -> Joints:
    """Return angle and sliding displacement of each piece at its joint; 0 where the joint does not turn or slide."""
    n, layout = model.num_links, model.layout
    values = np.eye(n + 1)[layout.joint_of, :n] @ q[:n]
    return Joints(layout.of_kind(TURNS) * values, layout.of_kind(SLIDES) * values)


def of_pieces(model: SpatialFlexibleArm, values: Array) -> Array:
    """Return values for each piece from values for each joint; 0 for a piece without a joint."""
    return jnp.concatenate([values, jnp.zeros_like(values[:1])])[model.layout.joint_of]


def _frame(place: Array, axes: Array) -> Array:
    """Return a frame as rows (4, 3): its place, then its axes."""
    return jnp.concatenate([place[None], axes.T])


def _link(model: SpatialFlexibleArm, joint: Joints, deltas: Array, link: Any) -> Array:
    """Return the matrix (k + 8, 4) that maps the frame of the tip before a link to the link's components."""
    origin = np.eye(4)[:, :1]  # what moves with the place of a frame
    way = link["axis"] * joint.ways
    axes = about(link["axis"], joint.angles) @ link["orientation"]
    if any(model.springs):
        give = deltas[sum(model.layout.functions.widths) :] @ link["gives"]
        way = way + axes @ give[:3]
        axes = axes @ rotation(give[3:])
    before = jnp.concatenate([origin, _frame(way, axes)], axis=1)
    shares = scalars(model, deltas)[:, None] * model.layout.functions.directions[model.kept]
    vector = deltas @ link["tip_slope"]
    if model.second_order:
        vector = vector + jnp.einsum("j,ajk,k->a", deltas, link["tip_turn"], deltas)
    turn = rotation(vector) if model.frames == "rotation" else jnp.eye(3) + cross_matrix(vector)
    tip = link["start"] + link["ends"] @ shares + turn @ link["offset"]
    rows = [link["start"][None], shares[1:], np.eye(4)[:, 1:], _frame(tip, turn)]
    moved = np.concatenate([np.eye(len(model.kept), 1), origin, origin])
    return jnp.concatenate([moved, jnp.concatenate(rows)], axis=1) @ before


@functools.partial(jax.jit, inline=True)  # the equations ask for it six times: traced once
def _chain(model: SpatialFlexibleArm, q: Array) -> Array:
    """Return the components of all pieces, (p, k + 8, 3).

    Links are computed side by side. Only the frames of their tips follow one from the other.
    """
    fields = ("axis", "orientation", "start", "offset", "tip_slope", "tip_turn", "gives")
    links = {name: jnp.asarray(getattr(model, name)) for name in fields}
    links["ends"] = jnp.asarray(model.ends)[:, model.kept]
    maps = jax.vmap(lambda *of: _link(model, *of))(joints(model, q), modal_by_link(model, q), links)

    def step(before: Array, link: Array) -> tuple[Array, Array]:
        parts = link @ before
        return parts[_OF_TIP], parts

    start = np.eye(4)[:, 1:]
    if model.floats:
        place, axes = pose(q)
        start = _frame(place + axes @ jnp.asarray(model.joint_position), axes)
    found: Array
    _, found = jax.lax.scan(step, jnp.asarray(start), maps)
    return found


def components(model: SpatialFlexibleArm, q: Float[Array, " N"]) -> Array:
    """Return the components of all pieces, (p, k + 8, 3); with a free base first its own, (1 + p, k + 8, 3)."""
    parts = _chain(model, q)
    if not model.floats:
        return parts
    base = jnp.zeros_like(parts[:1]).at[0, _OF_TIP].set(_frame(*pose(q)))
    return jnp.concatenate([base, parts])


def components_and_tip(model: SpatialFlexibleArm, q: Array) -> tuple[Array, Array]:
    """Return `components`, and the position of the tip of the arm."""
    parts = components(model, q)
    return parts, parts[-1, TIP_PLACE]


def gram(model: SpatialFlexibleArm) -> Array:
    """Return the Gram matrices that belong to `components`, shape (p, k + 8, k + 8) or (1 + p, ...)."""
    table = jnp.asarray(model.gram)
    all_functions = table.shape[-1] - 8
    kept = np.concatenate([model.kept, np.arange(all_functions, all_functions + 8)])
    table = table[:, kept[:, None], kept[None, :]]
    if not model.floats:
        return table
    base = jnp.zeros_like(table[:1]).at[0, -4:, -4:].set(jnp.asarray(model.base_gram))
    return jnp.concatenate([base, table])


def weights(model: SpatialFlexibleArm) -> Array:
    """Return the mass integral of each function, bodies included, one row for each row of `components`."""
    table, known = gram(model), len(model.kept)
    return table[:, 0] + table[:, known] + table[:, known + 4]


def tip(model: SpatialFlexibleArm, q: Array) -> Float[Array, " 3"]:
    """Return the position of the tip of the arm, m."""
    return _chain(model, q)[-1, TIP_PLACE]


def tip_axes(model: SpatialFlexibleArm, q: Array) -> Float[Array, "3 3"]:
    """Return the axes of the tip as columns, in the axes of the base."""
    return _chain(model, q)[-1, TIP_AXES].T @ jnp.asarray(model.roll)


def points(model: SpatialFlexibleArm, q: Array) -> Float[Array, "n s 3"]:
    """Return positions along the links, at the stations of the model, m."""
    kept, links = model.kept, model.layout.links
    parts = _chain(model, q)[links, : len(kept)]
    return jnp.einsum("isk,ika->isa", jnp.asarray(model.stations)[links][:, :, kept], parts)


class _Rates(NamedTuple):
    """Angular velocities of pieces and of their tips, or quantities linear in them, each in its own axes.

    Shape (p, 3), or (1 + p, 3) with a free base, whose velocity is the first of the tips.
    """

    links: Array
    tips: Array


def _turned(parts: Array, changes: Array) -> _Rates:
    """Return the vectors of the antisymmetric part of R^T R', from components and their changes."""

    def of(axes: slice) -> Array:
        turn = jnp.einsum("iac,ibc->iab", parts[:, axes], changes[:, axes])
        return 0.5 * jnp.stack(
            [turn[:, b, a] - turn[:, a, b] for a, b in ((1, 2), (2, 0), (0, 1))], axis=-1
        )

    return _Rates(of(_OF_JOINT), of(TIP_AXES))


def _spins(model: SpatialFlexibleArm, turned: _Rates, rate: Array) -> tuple[Array, Array]:
    """Return the rates of spin: of frames about x and of twists (p, 1 + t), and of rotors (n,)."""
    functions = model.layout.functions
    twists = modal_by_link(model, rate)[:, functions.modal(1)]
    about_x = turned.links[-model.num_pieces :, :1]
    if model.torsion_spin == "relative":
        about_x = jnp.zeros_like(about_x)
    driven = np.where(model.rotor_beyond, np.arange(model.num_links), model.layout.driven)
    return jnp.concatenate([about_x, twists], axis=1), (
        jnp.asarray(model.gear) * rate[driven] + _carrying(model, turned)
    )


def _carrying(model: SpatialFlexibleArm, turned: _Rates) -> Array:
    """Return the rate of the link that carries each rotor about the axis of the rotor, shape (n,)."""
    if model.rotor_motion == "reflected":
        return jnp.zeros(model.num_links)
    before = turned.tips[:-1]
    if not model.floats:
        before = jnp.concatenate([jnp.zeros((1, 3)), before])
    moving = model.layout.moving
    return jnp.sum(jnp.asarray(model.axis)[moving] * before[moving], axis=1)


def turning_inertia(model: SpatialFlexibleArm, parts: Array, rows: Array) -> Array:
    """Return the part of the inertia matrix due to rotation, from derivatives (..., 3, N) of the components."""

    def spins(change: Array, unit: Array) -> tuple[Array, Array]:
        return _spins(model, _turned(parts, change), unit)

    along, rotors = jax.vmap(spins, in_axes=(-1, -1), out_axes=-1)(rows, jnp.eye(model.num_rates))
    return jnp.einsum("iac,iab,ibd->cd", along, jnp.asarray(model.spin), along) + jnp.einsum(
        "ic,i,id->cd", rotors, jnp.asarray(model.rotor), rotors
    )


def summed_inertia(model: SpatialFlexibleArm, q: Array, share: float) -> Array:
    """Return the sum (N,) of the absolute values of the terms on the diagonal of B(q), to judge their cancellation.

    Velocities of points can also be rounding of a rotation about their own position. An upper bound for this is added:
    ``share`` of the inertia of the whole mass at the far end of the arm.
    """
    moved, here = displacements(model, q)
    rows, parts = jax.jacfwd(lambda it: (components(model, moved(it)),) * 2, has_aux=True)(here)
    table, known = jnp.abs(gram(model)), len(model.kept)
    found = jnp.einsum("ikac,ikl,ilac->c", jnp.abs(rows), table, jnp.abs(rows))
    found = found + jnp.diagonal(turning_inertia(model, parts, rows))
    places = np.array([0, known, known + 4])
    reach = jnp.max(jnp.sum(parts[:, places[1:]] ** 2, axis=2))
    fastest = jnp.max(jnp.sum(rows**2, axis=2), axis=(0, 1))
    return found + share * jnp.sum(table[:, places, places]) * reach * fastest


def turning_energy(
    model: SpatialFlexibleArm, parts: Array, velocities: Array, rate: Array
) -> Array:
    """Return the kinetic energy of spin, J."""
    along, rotors = _spins(model, _turned(parts, velocities), rate)
    moved = jnp.einsum("ia,iab,ib->", along, jnp.asarray(model.spin), along)
    return 0.5 * (moved + jnp.sum(jnp.asarray(model.rotor) * rotors**2))


def turning_forces(
    model: SpatialFlexibleArm,
    parts: Array,
    velocities: Array,
    accelerations: Array,
    rate: Array,
    acceleration: Array,
) -> tuple[Array, Array]:
    """Return the forces due to rotation on the components and on the coordinates (N,).

    The moment on a frame that carries the spin momentum p along its unit vector a is ``a p' + w x a p``.
    """
    rates, changes = _turned(parts, velocities), _turned(parts, accelerations)
    along, rotors = _spins(model, rates, rate)
    faster, rotors_faster = _spins(model, changes, acceleration)
    spin, rotor = jnp.asarray(model.spin), jnp.asarray(model.rotor)
    momenta = jnp.einsum("iab,ib->ia", spin, along)
    growths = jnp.einsum("iab,ib->ia", spin, faster)
    x_axis = np.eye(1, 3)

    frames, tips = jnp.zeros_like(rates.links), jnp.zeros_like(rates.tips)
    if model.torsion_spin == "absolute":
        own = rates.links[-model.num_pieces :]
        moment = growths[:, :1] * x_axis + jnp.cross(own, momenta[:, :1] * x_axis)
        frames = jnp.concatenate([frames[: -model.num_pieces], moment])
    if model.rotor_motion == "carried":
        # tips carry the rotors of the joints that follow; without a free base the ground carries the first rotor
        moving = model.layout.moving
        carrying = moving - (not model.floats)
        known = np.flatnonzero(carrying >= 0)
        moving, carrying = moving[known], carrying[known]
        axis = jnp.asarray(model.axis)[moving]
        momentum, growth = (rotor * rotors)[known, None], (rotor * rotors_faster)[known, None]
        moment = growth * axis + jnp.cross(rates.tips[carrying], momentum * axis)
        tips = np.eye(len(tips))[:, carrying] @ moment

    n, layout = model.num_links, model.layout
    twisted = layout.spread[:, :, layout.functions.modal(1)]
    driven = np.where(model.rotor_beyond, np.arange(n), layout.driven)
    turning = np.eye(layout.size)[:, driven] @ (jnp.asarray(model.gear) * rotor * rotors_faster)
    coordinates = jnp.einsum("iac,ic->a", twisted, growths[:, 1:]) + turning
    of_joints, of_tips = (
        _moments(moment, parts[:, axes]) for moment, axes in ((frames, _OF_JOINT), (tips, TIP_AXES))
    )
    none = jnp.zeros_like(parts[:, : _OF_JOINT.start])
    forces = jnp.concatenate([none, of_joints, none[:, :1], of_tips], axis=1)
    more = jnp.zeros(model.num_rates - layout.size)
    return forces, jnp.concatenate([coordinates, more])


def _moments(moment: Array, axes: Array) -> Array:
    """Return forces on the axes of frames, (n, 3, 3) as rows, that do the work of moments (n, 3) in those axes."""
    return -0.5 * jnp.einsum("iab,ibc->iac", cross_matrix(moment), axes)
