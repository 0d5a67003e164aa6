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


def scalars(model: SpatialFlexibleArm, deltas: Array) -> Array:
    """Return the coefficients s of the functions of one link with modal coordinates (m,)."""
    functions = model.layout.functions
    stretch, torsion, xy, xz = (deltas[functions.modal(d)] for d in range(4))
    parts = [np.array([0.0, 1.0]), stretch, xy, xz]
    if model.foreshortening:
        for deformation, values in ((2, xy), (3, xz)):
            rows, columns = functions.pairs(deformation)
            share = np.where(rows == columns, 0.5, 1.0)
            parts.append(-share * values[rows] * values[columns])
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
    values = of_pieces(model, q[: model.num_links])
    layout = model.layout
    return Joints(layout.of_kind(TURNS) * values, layout.of_kind(SLIDES) * values)


def of_pieces(model: SpatialFlexibleArm, values: Array) -> Array:
    """Return values for each piece from values for each joint; 0 for a piece without a joint."""
    return jnp.concatenate([values, jnp.zeros_like(values[:1])])[model.layout.joint_of]


class _Frames(NamedTuple):
    """Components of one link, and the frame of its tip with its axes as columns."""

    parts: Array
    place: Array
    axes: Array


def _link(
    model: SpatialFlexibleArm, before: tuple[Array, Array], joint: Joints, deltas: Array, link: Any
) -> _Frames:
    place, axes = before
    if model.slides:
        place = place + axes @ (link["axis"] * joint.ways)
    axes = axes @ about(link["axis"], joint.angles) @ link["orientation"]
    if any(model.springs):
        give = deltas[sum(model.layout.functions.widths) :] @ link["gives"]
        place = place + axes @ give[:3]
        axes = axes @ rotation(give[3:])
    shares = scalars(model, deltas)[:, None] * model.layout.functions.directions[model.kept]
    start = place + axes @ link["start"]
    points = (shares @ axes.T).at[0].set(start)
    vector = deltas @ link["tip_slope"]
    if model.second_order:
        vector = vector + jnp.einsum("j,ajk,k->a", deltas, link["tip_turn"], deltas)
    turn = rotation(vector) if model.frames == "rotation" else jnp.eye(3) + cross_matrix(vector)
    tip_axes = axes @ turn
    tip = start + axes @ (link["ends"] @ shares) + tip_axes @ link["offset"]
    parts = jnp.concatenate([points, place[None], axes.T, tip[None], tip_axes.T])
    return _Frames(parts, tip, tip_axes)


@functools.partial(jax.jit, inline=True)  # the equations ask for it six times: traced once
def _chain(model: SpatialFlexibleArm, q: Array) -> _Frames:
    """Return all pieces: components (p, k + 8, 3), tips (p, 3) and axes of the tips (p, 3, 3)."""
    kept = model.kept
    fields = ("axis", "orientation", "start", "offset", "tip_slope", "tip_turn", "gives")
    links = {name: jnp.asarray(getattr(model, name)) for name in fields}
    links["ends"] = jnp.asarray(model.ends)[:, kept]

    def step(before: tuple[Array, Array], given: Any) -> tuple[tuple[Array, Array], _Frames]:
        found = _link(model, before, *given)
        return (found.place, found.axes), found

    start = (jnp.zeros(3), jnp.eye(3))
    if model.floats:
        place, axes = pose(q)
        start = (place + axes @ jnp.asarray(model.joint_position), axes)
    found: _Frames
    _, found = jax.lax.scan(step, start, (joints(model, q), modal_by_link(model, q), links))
    return found


def components(model: SpatialFlexibleArm, q: Float[Array, " N"]) -> Array:
    """Return the components of all pieces, (p, k + 8, 3); with a free base first its own, (1 + p, k + 8, 3)."""
    parts = _chain(model, q).parts
    if not model.floats:
        return parts
    place, axes = pose(q)
    frame = jnp.concatenate([place[None], axes.T])
    base = jnp.zeros_like(parts[:1]).at[0, -4:].set(frame)
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
    return _chain(model, q).place[-1]


def tip_axes(model: SpatialFlexibleArm, q: Array) -> Float[Array, "3 3"]:
    """Return the axes of the tip as columns, in the axes of the base."""
    return _chain(model, q).axes[-1] @ jnp.asarray(model.roll)


def points(model: SpatialFlexibleArm, q: Array) -> Float[Array, "n s 3"]:
    """Return positions along the links, at the stations of the model, m."""
    kept, links = model.kept, model.layout.links
    parts = _chain(model, q).parts[links, : len(kept)]
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
        frames = frames.at[-model.num_pieces :].set(moment)
    if model.rotor_motion == "carried":
        # tips carry the rotors of the joints that follow; without a free base the ground carries the first rotor
        moving = model.layout.moving
        carrying = moving - (not model.floats)
        known = np.flatnonzero(carrying >= 0)
        moving, carrying = moving[known], carrying[known]
        axis = jnp.asarray(model.axis)[moving]
        momentum, growth = (rotor * rotors)[known, None], (rotor * rotors_faster)[known, None]
        moment = growth * axis + jnp.cross(rates.tips[carrying], momentum * axis)
        tips = tips.at[carrying].set(moment)

    n, layout = model.num_links, model.layout
    coordinates = jnp.zeros(layout.size + 1)
    twisted = layout.places[:, layout.functions.modal(1)]
    coordinates = coordinates.at[twisted].add(growths[:, 1:])
    driven = np.where(model.rotor_beyond, np.arange(n), layout.driven)
    coordinates = coordinates.at[driven].add(jnp.asarray(model.gear) * rotor * rotors_faster)
    forces = jnp.zeros_like(parts)
    for moment, axes in ((frames, _OF_JOINT), (tips, TIP_AXES)):
        forces = forces.at[:, axes].set(_moments(moment, parts[:, axes]))
    more = jnp.zeros(model.num_rates - layout.size)
    return forces, jnp.concatenate([coordinates[:-1], more])


def _moments(moment: Array, axes: Array) -> Array:
    """Return forces on the axes of frames, (n, 3, 3) as rows, that do the work of moments (n, 3) in those axes."""
    return -0.5 * jnp.einsum("iab,ibc->iac", cross_matrix(moment), axes)
