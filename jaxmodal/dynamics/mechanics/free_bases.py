"""Pose, motion and displacements of a free base.

The last seven coordinates of an arm on a free base are the position of the base in the axes of the ground and a
quaternion (w, x, y, z) of its rotation, which has no singularity. The last six rates are the velocity V of the base and
its angular velocity w, in its own axes. These rates are not derivatives of coordinates. The equations of motion are
those of six displacements, in axes of the base, from the current pose: their first derivatives are V and w, and their
second derivatives ``V' + w x V`` and w'.

For an arm without a free base the functions here return their input unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import finite, reals
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.mechanics.rotations import of_quaternion, product, series
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array

#: largest deviation of the columns of a rotation matrix from orthogonal unit vectors
_ORTHOGONAL = 1e-6


def pose(q: Array) -> tuple[Array, Array]:
    """Return the position of a free base, and its axes as columns."""
    return q[-7:-4], of_quaternion(q[-4:])


def normalised(model: FlexibleModel, q: Array) -> Array:
    """Return the same coordinates with the quaternion scaled to length 1."""
    if not model.floats:
        return q
    return q.at[-4:].divide(jnp.sqrt(jnp.sum(q[-4:] ** 2)))


def at_zero(model: FlexibleModel) -> np.ndarray:
    """Return coordinates 0; the axes of a free base are then those of the ground."""
    q = np.zeros(model.num_coordinates)
    if model.floats:
        q[-4] = 1.0
    return q


def strain(model: FlexibleModel, q: Array) -> Array:
    """Return the vector that the stiffness matrix multiplies: the coordinates, with 0 for a free base."""
    return jnp.concatenate([q[:-7], jnp.zeros(6)]) if model.floats else q


def coordinate_rates(model: FlexibleModel, q: Array, rate: Array) -> Array:
    """Return the time derivatives of the coordinates."""
    if not model.floats:
        return rate
    _, axes = pose(q)
    turning = 0.5 * product(q[-4:], jnp.concatenate([jnp.zeros(1), rate[-3:]]))
    return jnp.concatenate([rate[:-6], axes @ rate[-6:-3], turning])


def displaced(model: FlexibleModel, q: Array, moved: Array) -> Array:
    """Return coordinates after displacements (N,); those of a free base are in its axes, last a rotation vector."""
    if not model.floats:
        return q + moved
    place, axes = pose(q)
    half = 0.5 * moved[-3:]
    sine, cosine, _ = series(half)
    turn = jnp.concatenate([(1.0 - cosine * jnp.sum(half * half))[None], sine * half])
    return jnp.concatenate(
        [q[:-7] + moved[:-6], place + axes @ moved[-6:-3], product(q[-4:], turn)]
    )


def displacements(model: FlexibleModel, q: Array) -> tuple[Callable[[Array], Array], Array]:
    """Return q as a function of the variables of differentiation, and their values: displacements at 0, or q itself."""
    if not model.floats:
        return (lambda it: it), q
    return (lambda it: displaced(model, q, it)), jnp.zeros(model.num_rates)


def second_rates(model: FlexibleModel, rate: Array, acceleration: Array) -> Array:
    """Return the second derivatives of the displacements, from the derivatives of the rates."""
    if not model.floats:
        return acceleration
    return acceleration.at[-6:-3].add(jnp.cross(rate[-3:], rate[-6:-3]))


def neighbour(
    model: FlexibleModel, state: tuple[Array, Array, Array], moved: Array, speed: Array
) -> tuple[Array, Array, Array]:
    """Return a state (q, rate, acceleration) near another one, to first order in displacements and their rates."""
    q, rate, acceleration = state
    if not model.floats:
        return q + moved, rate + speed, acceleration
    by_rate = jnp.concatenate([jnp.zeros(rate.shape[0] - 6), *_seen(rate, moved)])
    changes = [a + b for a, b in zip(_seen(acceleration, moved), _seen(rate, speed), strict=True)]
    by_change = jnp.concatenate([jnp.zeros(rate.shape[0] - 6), *changes])
    return displaced(model, q, moved), rate + speed + by_rate, acceleration + by_change


def _seen(vector: Array, moved: Array) -> tuple[Array, Array]:
    """Return the change of base velocities that are seen from displaced axes and a displaced point."""
    linear, angular = vector[-6:-3], vector[-3:]
    place, turn = moved[-6:-3], moved[-3:]
    return jnp.cross(linear, turn) + jnp.cross(angular, place), jnp.cross(angular, turn)


def base_pose(position: Any = (0.0, 0.0, 0.0), rotation: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    """Return the last seven coordinates of an arm on a free base.

    Parameters
    ----------
    position
        Position of the base point in the axes of the ground, m, shape (3,).
    rotation
        Rotation vector, rad, shape (3,), or the axes of the base as columns in the axes of the ground, shape (3, 3).

    Returns
    -------
    numpy.ndarray, shape (7,)
        The position, and a quaternion (w, x, y, z) of length 1.

    Raises
    ------
    ArmError
        If a value is not finite, a shape is wrong, or the matrix is not a rotation.

    Examples
    --------
    >>> from jaxmodal.dynamics import base_pose
    >>> base_pose((1.0, 0.0, 0.0), (0.0, 0.0, 3.0)).round(3).tolist()
    [1.0, 0.0, 0.0, 0.071, 0.0, 0.0, 0.997]
    """
    place = finite("position", position, (3,), "three finite numbers, m")
    expected = (
        "a rotation vector, three finite numbers, rad, or a matrix with the base's axes as columns"
    )
    given = reals("rotation", rotation, expected)
    if given.shape not in ((3,), (3, 3)) or not np.all(np.isfinite(given)):
        raise ArmError(f"rotation = {shown(rotation)}: must be {expected}.")
    if given.ndim == 2:
        return np.concatenate([place, _quaternion_of(given)])
    angle = float(np.linalg.norm(given))
    return np.concatenate(
        [place, [np.cos(0.5 * angle)], 0.5 * np.sinc(angle / (2 * np.pi)) * given]
    )


def _quaternion_of(axes: np.ndarray) -> np.ndarray:
    """Return the quaternion of a rotation matrix, from its component of largest magnitude."""
    if np.abs(axes.T @ axes - np.eye(3)).max() > _ORTHOGONAL or np.linalg.det(axes) < 0.0:
        raise ArmError(
            f"rotation = {shown(axes)}: must be a rotation, three orthogonal unit vectors as columns that make a "
            "right-handed system."
        )
    # 4 q q^T is linear in the matrix; its longest row has the direction of q
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = axes
    table = np.array(
        [
            [1 + xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, 1 + xx - yy - zz, xy + yx, xz + zx],
            [xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy],
            [yx - xy, xz + zx, yz + zy, 1 - xx - yy + zz],
        ]
    )
    row = table[int(np.argmax(np.diagonal(table)))]
    found = row / np.linalg.norm(row)
    return np.asarray(-found if found[0] < 0.0 else found)


def require_pose(model: FlexibleModel, name: str, q: np.ndarray) -> None:
    """Refuse coordinates (..., N) of a free base whose quaternion is 0."""
    if model.floats and not np.all(np.sum(q[..., -4:] ** 2, axis=-1) > 0.0):
        raise ArmError(
            f"{name}: its last four entries are 0; must be the quaternion (w, x, y, z) of the base's rotation, "
            "(1, 0, 0, 0) for none: jaxmodal.dynamics.base_pose(position, rotation) gives the last seven entries."
        )


def require_held_base(model: FlexibleModel, what: str) -> None:
    """Refuse a model with a free base; ``what`` is the subject of the sentence and needs a fixed base."""
    if model.floats:
        raise ArmError(
            f"model: its base floats freely, and {what} needs one that does not move; must be a model with "
            "base = 'clamped'."
        )
