"""Forward dynamics with a cost linear in the number of links: the articulated-body recursion.

The points of a link are a combination of its components (`kinematics.components`), whose rates are linear in the
velocity V = (angular rate, velocity of its base) of its frame and in the rates of its modal coordinates. So each link
has a local inertia matrix of 3 + m rows. In the inward pass, from the tip, each link adds the 3 x 3 inertia of
everything beyond and eliminates its own coordinates; the outward pass computes the accelerations. B is never formed.
The recursion needs rotation frames and the full inertia matrix: a stretched frame has more than three velocities, and a
truncated B is not a product of such matrices.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamics.mechanics.articulated import (
    rotors_of,
    through_joint,
    told_joints,
    with_motors,
    without,
)
from jaxmodal.dynamics.mechanics.kinematics import (
    frames,
    gram,
    modal_of_links,
    quarter_turn,
)
from jaxmodal.dynamics.model import FlexibleArm
from jaxmodal.runtime.namespace import Array

#: smallest number of links for which the recursion is faster than factorising B (``python -m benchmarks.dynamics``)
LINKS = 3


def pays(model: FlexibleArm) -> bool:
    """Return True if the recursion is valid for a model and faster than factorising B."""
    known = model.inertia_order == "full" and model.frames == "rotation"
    return known and model.num_links >= LINKS


def rotating_bodies(model: FlexibleArm) -> tuple[Array, Array]:
    """Return rotational inertias: of links over V and modal rates (n, 3 + m, 3 + m), and of rotors (n, 2, 2).

    The matrix of a rotor refers to the angular rate of the previous link and to the rate of its motor, or of its joint
    if it is beyond a spring.
    """
    n, layout = model.num_links, model.layout
    numbers = np.arange(len(model.bodies))
    links, rotor = (np.array(of, int) for of in zip(*model.bodies, strict=True))
    rates = jnp.concatenate([jnp.asarray(model.rates), jnp.zeros((numbers.size, 1))], axis=1)
    driven = np.where(model.rotor_beyond, np.arange(n), layout.driven)
    carried = np.minimum(links, 1.0)
    pairs = jnp.stack([carried, rates[numbers, driven[links]]], axis=-1)
    turned = jnp.asarray(np.eye(1, 3)) * jnp.ones((numbers.size, 1))
    vectors = jnp.concatenate([turned, rates[numbers[:, None], layout.places[links]]], axis=1)

    def summed(shares: np.ndarray, of: Array) -> Array:
        weighted = jnp.asarray(np.eye(n)[:, links] * shares) * model.inertias[None, :]
        return jnp.einsum("ib,bx,by->ixy", weighted, of, of)

    return summed(1.0 - rotor, vectors), summed(rotor * 1.0, pairs)


def solved(model: FlexibleArm, q: Array, right: Array, held: bool = False) -> tuple[Array, Array]:
    """Return the solution x of B(q) x = right, shape (N,), and B x at the motors, shape (n,).

    For motors that are ``held`` to move as they are told, ``right`` holds accelerations in place of torques.
    """
    n, width = model.num_links, model.tip.shape[1]
    own, table = rotating_bodies(model)
    rotors = rotors_of(model, table, held)
    local, carried = _local(model, q)
    driven, places = model.layout.driven, model.layout.places
    padded = jnp.concatenate([right, jnp.zeros(1)])
    # a mode that a link lacks has only a 1 on the diagonal
    alone = np.zeros((n, 3 + width, 3 + width))
    modes = np.arange(3, 3 + width)
    alone[:, modes, modes] = places == model.num_coordinates
    local = local + own + alone

    def inward(beyond: tuple[Array, Array], link: Any) -> tuple[tuple[Array, Array], Any]:
        inertia, force = beyond
        own_inertia, transport, modal, torque, turned, back, told = link
        whole = own_inertia + transport.T @ inertia @ transport
        left, pushed, gone = without(whole, transport.T @ force, modal)
        # V = U + e theta'' with U the acceleration of the end of the previous link; the rotor turns with U and the
        # joint
        pivot = left[0, 0] + turned[1, 1]
        row = left[0].at[0].add(turned[0, 1])
        inner, outer, passed = through_joint(
            left, pushed, row, pivot, pushed[0], torque, told if held else None
        )
        return (inner.at[0, 0].add(turned[0, 0]), outer.at[0].add(-back)), (gone, passed)

    start = (jnp.zeros((3, 3)), jnp.zeros(3))
    motors = (right[:n], rotors.inertia, rotors.share * right[driven], told_joints(model, held))
    _, kept = jax.lax.scan(inward, start, (local, carried, padded[places], *motors), reverse=True)

    def outward(base: Array, link: Any) -> tuple[Array, tuple[Array, Array, Array, Array]]:
        (gone, passed), transport = link
        joint = passed.rate(base)
        frame = base.at[0].add(joint)
        modal = gone[:, 3] - gone[:, :3] @ frame
        moved = transport @ jnp.concatenate([frame, modal])
        return moved, (joint, modal, base[0], passed.needed(base))

    _, (joints, modal, carrying, needed) = jax.lax.scan(outward, jnp.zeros(3), (kept, carried))
    found = with_motors(model, modal_of_links(model, modal), right, rotors, carrying, held)
    return jnp.concatenate([joints, found[n:]]), needed + rotors.torques(right[driven], carrying)


def _local(model: FlexibleArm, q: Array) -> tuple[Array, Array]:
    """Return inertia (n, 3 + m, 3 + m) and end velocity (n, 3, 3 + m) of every link, over V and modal rates."""
    n, width = model.num_links, model.tip.shape[1]
    _, axis, deltas = frames(model, q)
    across = quarter_turn(axis)
    zero, one = jnp.zeros((n, 2)), jnp.ones((n, 1))
    rows, columns = model.layout.pairs

    def stacked(turn: Array, modal: Array) -> Array:
        """Return the rates (n, k, 2, 3 + m) of functions that do not translate with the base of the link."""
        still = jnp.zeros((n, turn.shape[1], 2, 2))
        return jnp.concatenate([turn[..., None], still, modal], axis=-1)

    base = jnp.concatenate([jnp.zeros((2, 1)), jnp.eye(2), jnp.zeros((2, width))], axis=1)
    parts = [jnp.broadcast_to(base, (n, 1, 2, 3 + width))]
    parts.append(stacked(across[:, None], jnp.zeros((n, 1, 2, width))))
    unit = jnp.eye(width)[None, :, None, :]
    parts.append(stacked(-deltas[:, :, None] * axis[:, None], unit * across[:, None, :, None]))
    if model.foreshortening:
        share = np.where(rows == columns, 0.5, 1.0)
        squares = share[None, :] * deltas[:, rows] * deltas[:, columns]
        change = share[None, :, None] * (
            np.eye(width)[rows][None] * deltas[:, columns, None]
            + np.eye(width)[columns][None] * deltas[:, rows, None]
        )
        parts.append(
            stacked(
                -squares[:, :, None] * across[:, None],
                -change[:, :, None, :] * axis[:, None, :, None],
            )
        )
    rates = jnp.concatenate(parts, axis=1)
    local = jnp.einsum("ikac,ikl,ilad->icd", rates, gram(model), rates)

    deflection = jnp.sum(model.tip * deltas, axis=1, keepdims=True)
    along = model.length[:, None]
    shorter = jnp.zeros((n, width))
    if model.foreshortening:
        shorter = jnp.einsum("ijk,ik->ij", model.shortening, deltas)
        along = along - 0.5 * jnp.sum(shorter * deltas, axis=1, keepdims=True)
    turned = along * across - deflection * axis
    modal = (
        jnp.asarray(model.tip)[:, None, :] * across[:, :, None]
        - shorter[:, None, :] * axis[:, :, None]
    )
    moved = jnp.concatenate(
        [turned[:, :, None], jnp.broadcast_to(jnp.eye(2), (n, 2, 2)), modal], axis=2
    )
    spin = jnp.concatenate([one, zero, jnp.asarray(model.tip_slope)], axis=1)
    return local, jnp.concatenate([spin[:, None], moved], axis=1)
