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

from jaxmodal.dynamics.mechanics.kinematics import frames, gram, quarter_turn
from jaxmodal.dynamics.mechanics.solves import eliminated
from jaxmodal.dynamics.model import FlexibleArm
from jaxmodal.runtime.namespace import Array

#: smallest number of links for which the recursion is faster than factorising B (``python -m benchmarks.dynamics``)
LINKS = 3


def pays(model: FlexibleArm) -> bool:
    """Return True if the recursion is valid for a model and faster than factorising B."""
    known = model.inertia_order == "full" and model.frames == "rotation"
    return known and model.num_links >= LINKS


def rotating_bodies(model: FlexibleArm) -> tuple[Array, Array]:
    """Return rotational inertias: of frames and modal coordinates (n, 1 + m, 1 + m), and of rotors (n, 2, 2).

    The matrix of a rotor refers to the angular rate of the previous link and to the rate of its motor.
    """
    n, width = model.num_links, model.tip.shape[1]
    layout = model.layout
    own, rotors = jnp.zeros((n, 1 + width, 1 + width)), jnp.zeros((n, 2, 2))
    for body, (link, is_rotor) in enumerate(model.bodies):
        rate = jnp.concatenate([jnp.asarray(model.rates[body]), jnp.zeros(1)])
        if is_rotor:
            carried = jnp.asarray(1.0 if link else 0.0)
            pair = jnp.stack([carried, rate[layout.driven[link]]])
            rotors = rotors.at[link].add(model.inertias[body] * pair[:, None] * pair[None, :])
        else:
            vector = jnp.concatenate([jnp.ones(1), rate[layout.places[link]]])
            own = own.at[link].add(model.inertias[body] * vector[:, None] * vector[None, :])
    return own, rotors


def solve(model: FlexibleArm, q: Array, right: Array) -> Array:
    """Return the solution x of B(q) x = right, shape (N,)."""
    n, width = model.num_links, model.tip.shape[1]
    own, rotors = rotating_bodies(model)
    local, carried = _local(model, q)
    turning = np.concatenate([[0], np.arange(3, 3 + width)])
    local = local.at[:, turning[:, None], turning[None, :]].add(own)
    places = model.layout.places
    padded = jnp.concatenate([right, jnp.zeros(1)])
    # a mode that a link lacks has only a 1 on the diagonal
    missing = (places == model.num_coordinates).astype(float)
    local = local.at[:, np.arange(3, 3 + width), np.arange(3, 3 + width)].add(missing)
    forces = padded[places]

    # a motor behind a spring has its own angle, which is eliminated first
    springs = np.asarray(model.elastic)
    driven = model.layout.driven
    share = jnp.where(springs, rotors[:, 0, 1] / jnp.where(springs, rotors[:, 1, 1], 1.0), 0.0)
    rotor = jnp.where(springs[:, None, None], 0.0, rotors)
    rotor = rotor.at[:, 0, 0].add(
        jnp.where(springs, rotors[:, 0, 0] - share * rotors[:, 0, 1], 0.0)
    )
    reaction = share * right[driven]

    def inward(beyond: tuple[Array, Array], link: Any) -> tuple[tuple[Array, Array], Any]:
        inertia, force = beyond
        own_inertia, transport, modal, torque, turned, back = link
        whole = own_inertia + transport.T @ inertia @ transport
        sides = transport.T @ force
        table = jnp.concatenate([whole[3:, :3], (sides[3:] + modal)[:, None]], axis=1)
        gone = eliminated(whole[3:, 3:], table)
        left = whole[:3, :3] - whole[:3, 3:] @ gone[:, :3]
        pushed = sides[:3] - whole[:3, 3:] @ gone[:, 3]
        # V = U + e theta'' with U the acceleration of the end of the previous link; the rotor turns with U and the
        # joint
        pivot = left[0, 0] + turned[1, 1]
        row = left[0].at[0].add(turned[0, 1])
        drive = torque + pushed[0]
        inner = left.at[0, 0].add(turned[0, 0]) - row[:, None] * row[None, :] / pivot
        outer = (pushed - row * drive / pivot).at[0].add(-back)
        return (inner, outer), (gone, row / pivot, drive / pivot)

    start = (jnp.zeros((3, 3)), jnp.zeros(3))
    links = (local, carried, forces, right[:n], rotor, reaction)
    _, kept = jax.lax.scan(inward, start, links, reverse=True)

    def outward(base: Array, link: Any) -> tuple[Array, tuple[Array, Array, Array]]:
        gone, row, drive, transport = link
        joint = drive - row @ base
        frame = base.at[0].add(joint)
        modal = gone[:, 3] - gone[:, :3] @ frame
        return transport @ jnp.concatenate([frame, modal]), (joint, modal, base[0])

    _, (joints, modal, before) = jax.lax.scan(outward, jnp.zeros(3), (*kept, carried))
    found = jnp.zeros(model.num_coordinates + 1)
    if springs.any():
        motors = (right[driven] - rotors[:, 0, 1] * before) / jnp.where(
            springs, rotors[:, 1, 1], 1.0
        )
        found = found.at[driven].set(motors)
    return found.at[:n].set(joints).at[places].set(modal)[:-1]


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
