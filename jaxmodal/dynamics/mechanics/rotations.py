"""Rotations in space: by rotation vectors, about axes and by quaternions, with smooth derivatives."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from jaxmodal.runtime.namespace import Array

#: coefficients of the power series in t^2 of sin t / t, (1 - cos t)/t^2 and (t - sin t)/t^3: exact to rounding up to 4
#: rad
_SERIES = np.array(
    [[(-1.0) ** k / math.factorial(2 * k + n) for k in range(16)] for n in (1, 2, 3)]
)


#: of the power series in x of arcsin(sqrt x)/sqrt x: to rounding up to `_SMALL`
_ARCSINE = np.array([math.comb(2 * k, k) / (4.0**k * (2 * k + 1)) for k in range(10)])
_SMALL = 0.01


def cross_matrix(vector: Array) -> Array:
    """Return [a] with [a] b = a x b, shape (..., 3, 3)."""
    x, y, z = (vector[..., k] for k in range(3))
    zero = jnp.zeros_like(x)
    rows = ((zero, -z, y), (z, zero, -x), (-y, x, zero))
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def series(vector: Array) -> Array:
    """Return sin t/t, (1 - cos t)/t^2 and (t - sin t)/t^3 for t the length of a vector: smooth at 0, shape (3,)."""
    square = jnp.sum(vector * vector)
    powers = jnp.ones(1)
    for _ in range(4):  # 1, t^2, ... t^30
        powers, square = jnp.concatenate([powers, square * powers]), square * square
    return jnp.asarray(_SERIES) @ powers


def rotation(vector: Array) -> Array:
    """Return the rotation matrix exp[phi] of a rotation vector, by power series in phi . phi: smooth at 0."""
    sine, cosine, _ = series(vector)
    turn = cross_matrix(vector)
    return jnp.eye(3) + sine * turn + cosine * (turn @ turn)


def about(axis: Array, angle: Array) -> Array:
    """Return the matrix of the rotation by an angle about a unit vector."""
    turn = cross_matrix(axis)
    return jnp.eye(3) + jnp.sin(angle) * turn + (1.0 - jnp.cos(angle)) * (turn @ turn)


def of_quaternion(quaternion: Array) -> Array:
    """Return the rotation matrix (3, 3) of a quaternion (w, x, y, z) of any length."""
    real, vector = quaternion[0], quaternion[1:]
    turn = cross_matrix(vector)
    twice = 2.0 / jnp.sum(quaternion * quaternion)
    return jnp.eye(3) + twice * (real * turn + turn @ turn)


def product(left: Array, right: Array) -> Array:
    """Return the product of two quaternions (w, x, y, z): the rotation of the right one comes first."""
    real = left[0] * right[0] - left[1:] @ right[1:]
    vector = left[0] * right[1:] + right[0] * left[1:] + jnp.cross(left[1:], right[1:])
    return jnp.concatenate([real[None], vector])


def rotation_vector(turn: Array) -> Array:
    """The rotation vector of a rotation (3, 3), no longer than pi, smooth but at half a turn."""
    whole = jnp.concatenate([jnp.trace(turn)[None], 2.0 * jnp.diagonal(turn) - jnp.trace(turn)])
    x, y, z = (turn[a, b] - turn[b, a] for a, b in ((2, 1), (0, 2), (1, 0)))
    xy, yz, zx = (turn[a, b] + turn[b, a] for a, b in ((0, 1), (1, 2), (2, 0)))
    squares = 1.0 + whole  # of the four components of the quaternion, four times each
    rows = [[squares[0], x, y, z], [x, squares[1], xy, zx], [y, xy, squares[2], yz]]
    products = jnp.stack([jnp.stack(row) for row in (*rows, [z, zx, yz, squares[3]])])
    largest = jnp.argmax(squares)
    quaternion = 0.5 * products[largest] / jnp.sqrt(squares[largest])
    quaternion = jnp.where(quaternion[0] < 0.0, -quaternion, quaternion)
    cosine, half = quaternion[0], quaternion[1:]
    square = jnp.sum(half * half)
    small = square < _SMALL
    near = jnp.polyval(jnp.asarray(_ARCSINE[::-1]), jnp.where(small, square, 0.0))
    sine = jnp.sqrt(jnp.where(small, 1.0, square))
    return 2.0 * half * jnp.where(small, near, jnp.arctan2(sine, cosine) / sine)
