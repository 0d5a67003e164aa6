"""What the articulated recursions of planar arms and of arms in space share: shapes, joints and motors taken out.

Each recursion has its own inertia of a link, over the velocity of its frame and the rates of its shapes, and its own
way to the next frame. Motors either apply torques, or move as they are told.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamics.mechanics.entries import placed
from jaxmodal.dynamics.mechanics.solves import eliminated
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.runtime.namespace import Array


class Rotors(NamedTuple):
    """Rotors by joint: inertia over the rate of the carrying link and the rate of the joint, (n, 2, 2).

    A motor behind a spring is eliminated, or prescribed; ``share`` (n,) of its torque, or of its acceleration, acts
    back on the link that carries it. ``own`` and ``mixed`` are its inertia and the coupling to that link; 0 for other
    motors.
    """

    inertia: Array
    share: Array
    own: Array
    mixed: Array

    def accelerations(self, torques: Array, carrying: Array) -> Array:
        """Return the accelerations (n,) of motors behind springs from their torques and those of their carriers."""
        return torques / jnp.where(self.own > 0.0, self.own, 1.0) - self.share * carrying

    def torques(self, accelerations: Array, carrying: Array) -> Array:
        """Return the torques (n,) of motors behind springs, 0 for others, from the same accelerations."""
        return self.own * accelerations + self.mixed * carrying


def with_motors(
    model: FlexibleModel, found: Array, right: Array, rotors: Rotors, carrying: Array, held: bool
) -> Array:
    """Return accelerations (N,) with those of motors that are held, or else of motors behind springs."""
    driven = model.layout.driven
    if held:
        return placed(found, driven, right[driven])
    if any(model.elastic):
        return placed(found, driven, rotors.accelerations(right[driven], carrying))
    return found


def rotors_of(model: FlexibleModel, table: Array, held: bool) -> Rotors:
    """Return rotors from their inertia (n, 2, 2) over the rates of the carrying link and of the motor."""
    springs = np.asarray(model.elastic) & ~np.asarray(model.rotor_beyond)
    plain, mixed, own = table[:, 0, 0], table[:, 0, 1], table[:, 1, 1]
    behind = jnp.where(springs, mixed, 0.0)
    share = behind if held else behind / jnp.where(springs & (own > 0.0), own, 1.0)
    rows = [
        jnp.stack([plain if held else plain - share * mixed, mixed - behind], axis=-1),
        jnp.stack([mixed - behind, jnp.where(springs, 0.0, own)], axis=-1),
    ]
    return Rotors(jnp.stack(rows, axis=-2), share, jnp.where(springs, own, 0.0), behind)


def told_joints(model: FlexibleModel, held: bool) -> Array:
    """Return True for each joint that moves as it is told (n,): with its motor, if no spring is between them."""
    return jnp.asarray(~np.asarray(model.elastic) & held)


def without(whole: Array, sides: Array, forces: Array) -> tuple[Array, Array, Array]:
    """Return a system of f + k rows without its last k: matrix, right side, and the k in terms of the f.

    ``forces`` (k,) act on the last k alone.
    """
    f = whole.shape[0] - forces.shape[0]
    if f == whole.shape[0]:
        return whole, sides, jnp.zeros((0, f + 1))
    table = jnp.concatenate([whole[f:, :f], (sides[f:] + forces)[:, None]], axis=1)
    gone = eliminated(whole[f:, f:], table)
    left = whole[:f, :f] - whole[:f, f:] @ gone[:, :f]
    return left, sides[:f] - whole[:f, f:] @ gone[:, f], gone


class Passed(NamedTuple):
    """A joint in terms of the acceleration of the frame before it: ``drive - share . base``.

    A joint that moves as it is told needs ``rest + row . base``.
    """

    share: Array
    drive: Array
    row: Array
    rest: Array

    def rate(self, base: Array) -> Array:
        """Return the acceleration of the joint."""
        return self.drive - self.share @ base

    def needed(self, base: Array) -> Array:
        """Return the force or torque at a joint that moves as it is told; 0 at others."""
        return self.rest + self.row @ base


def through_joint(
    left: Array, pushed: Array, row: Array, pivot: Array, along: Array, torque: Array, told: Any
) -> tuple[Array, Array, Passed]:
    """Return inertia and force before a joint, and its own motion.

    ``row`` and ``pivot`` couple the joint to the frame before it and to itself, ``along`` is the force in its
    direction, and ``torque`` that of its motor, or its acceleration where it is ``told`` (None: nowhere).
    """
    share, drive = row / pivot, (torque + along) / pivot
    asked, rest = row, jnp.zeros(())
    if told is not None:  # it then takes no share of the forces
        share, drive = jnp.where(told, 0.0, share), jnp.where(told, torque, drive)
        asked, rest = jnp.where(told, row, 0.0), jnp.where(told, pivot * torque - along, 0.0)
    inner = left - row[:, None] * share[None, :]
    return inner, pushed - row * drive, Passed(share, drive, asked, rest)
