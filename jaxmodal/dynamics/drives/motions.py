"""Prescribed motions of the joints: angles as functions of time, with rates and accelerations by differentiation.

Each is a pytree, so that its values may be traced or batched. Angles are those of the motors, behind the gear.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamics.drives.rules import (
    DURATION,
    Named,
    check_values,
    floats,
    holder,
    numbers,
    shape_given,
)
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced


class Motion(Named):
    """Motion of all joints; `angles` at a time has shape (n,)."""

    def angles(self, time: Any) -> Array:
        """Return the angles of the joints at a time, rad, shape (n,)."""
        raise NotImplementedError

    def __call__(self, time: Any) -> tuple[Array, Array, Array]:
        """Return angles, rates and accelerations at a time: rad, rad/s, rad/s^2, each of shape (n,)."""
        return _in_one_program(_differentiated, self, time)


def angles_at(motion: Motion, times: Any) -> Array:
    """Return the angles of a motion at many times, rad, shape (T, n)."""
    return _in_one_program(_angles_at, motion, times)


def _in_one_program(function: Callable[..., Any], motion: Motion, time: Any) -> Any:
    """Apply a function of a motion and times; where they are known, by one program, else operation by operation."""
    leaves = jax.tree_util.tree_leaves((motion, time))
    known = all(isinstance(x, _NUMBERS) for x in leaves) and not is_traced(leaves)
    if not known:
        return function(motion, time)
    if not isinstance(time, jax.Array):  # Python's numbers would be another program than NumPy's
        time = np.asarray(time, np.float64)
    return _computed(function, motion, time)


@functools.partial(jax.jit, static_argnums=0)
def _computed(function: Callable[..., Any], motion: Motion, time: Any) -> Any:
    return function(motion, time)


def _differentiated(motion: Motion, time: Any) -> tuple[Array, Array, Array]:
    one = jnp.ones_like(jnp.asarray(time, jnp.float64))

    def rate(at: Array) -> tuple[Array, Array]:
        return jax.jvp(motion.angles, (at,), (one,))

    (angle, speed), (_, change) = jax.jvp(rate, (jnp.asarray(time, jnp.float64),), (one,))
    return angle, speed, change


def _angles_at(motion: Motion, times: Any) -> Array:
    return jax.vmap(motion.angles)(jnp.asarray(times, jnp.float64))


#: kinds of values of a motion that a program takes; a class of the caller need not be a pytree
_NUMBERS = (float, int, np.ndarray, np.number, jax.Array)
#: rule for a field that holds a motion; below, rules for other fields
A_MOTION = ("a Motion, such as Hold or RestToRest", lambda x: isinstance(x, Motion))
_PLACE = "two finite numbers, x and y (m)"
_LENGTHS = ("two, finite and greater than 0 (m)", lambda x: np.isfinite(x) & (x > 0.0), (2,))
_ELBOW = ("1, which bends it counter-clockwise, or -1", lambda x: np.abs(x) == 1.0, ())


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Hold(Motion):
    """Joints that stay at rest: angles in rad, shape (n,)."""

    where: Any

    def angles(self, time: Any) -> Array:
        return jnp.asarray(self.where, jnp.float64) + 0.0 * time


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class SineMotion(Motion):
    """Motion ``mean + amplitude sin(frequency t + phase)``: rad and rad/s, each of shape (n,)."""

    mean: Any
    amplitude: Any
    frequency: Any
    phase: Any = 0.0

    def angles(self, time: Any) -> Array:
        mean, amplitude = floats(self.mean, self.amplitude)
        frequency, phase = floats(self.frequency, self.phase)
        return mean + amplitude * jnp.sin(frequency * time + phase)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class RestToRest(Motion):
    """Motion from rest to rest in a given time, a polynomial of fifth order without jumps of acceleration.

    ``start``, ``end`` in rad, shape (n,); ``duration`` in s. The joints stay at ``end`` afterwards.
    """

    start: Any
    end: Any
    duration: Any = numbers(*DURATION)

    def angles(self, time: Any) -> Array:
        start, end = floats(self.start, self.end)
        part = jnp.clip(time / self.duration, 0.0, 1.0)
        return start + (end - start) * (part**3 * (10.0 + part * (6.0 * part - 15.0)))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class SpinUp(Motion):
    """Motion from rest to a steady rate in rad/s, shape (n,).

    The rate is ``rate (t/T - sin(2 pi t/T)/(2 pi))`` up to the duration T in s, and steady afterwards.
    """

    rate: Any
    duration: Any = numbers(*DURATION)

    def angles(self, time: Any) -> Array:
        rate = jnp.asarray(self.rate, jnp.float64)
        part = jnp.clip(time / self.duration, 0.0, 1.0)
        turn = 2.0 * jnp.pi
        risen = 0.5 * part**2 + (jnp.cos(turn * part) - 1.0) / turn**2
        return rate * (self.duration * risen + jnp.maximum(time - self.duration, 0.0))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class TipCircle(Motion):
    """Motion of the tip of a rigid arm with two links on a circle: ``centre + radius (cos, sin)(rate t + phase)``.

    Attributes
    ----------
    centre, radius, rate
        Centre and radius, m, and angular rate, rad/s.
    lengths
        Lengths of the two links, m.
    elbow
        1 bends the second joint counter-clockwise, -1 clockwise.
    phase
        Angle at the start, rad.
    """

    centre: Any = numbers(_PLACE, shape=(2,))
    radius: Any = numbers("one finite number (m)", shape=())
    rate: Any = numbers("one finite number (rad/s)", shape=())
    lengths: Any = numbers(*_LENGTHS)
    elbow: Any = numbers(*_ELBOW, default=1.0)
    phase: Any = numbers("one finite number (rad)", shape=(), default=0.0)

    def angles(self, time: Any) -> Array:
        turned = self.rate * time + self.phase
        x = self.centre[0] + self.radius * jnp.cos(turned)
        y = self.centre[1] + self.radius * jnp.sin(turned)
        return two_link_angles(x, y, self.lengths, self.elbow)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class TipLine(Motion):
    """Motion of the tip of a rigid two-link arm on a line, from rest to rest; lengths and elbow as in `TipCircle`."""

    start: Any = numbers(_PLACE, shape=(2,))
    end: Any = numbers(_PLACE, shape=(2,))
    duration: Any = numbers(*DURATION)
    lengths: Any = numbers(*_LENGTHS)
    elbow: Any = numbers(*_ELBOW, default=1.0)

    def angles(self, time: Any) -> Array:
        part = jnp.clip(time / self.duration, 0.0, 1.0)
        way = part**3 * (10.0 + part * (6.0 * part - 15.0))
        x, y = (a + (b - a) * way for a, b in zip(self.start, self.end, strict=True))
        return two_link_angles(x, y, self.lengths, self.elbow)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Shaped(Motion):
    """Input-shaped motion: the sum ``weights motion(t - delays)`` of delayed copies of another motion.

    The motion is at rest before t = 0. `shaper` returns delays and weights that leave given modes at rest.
    """

    motion: Motion = holder(*A_MOTION)
    delays: Any = numbers("finite, one for each point that is sent (s)")
    weights: Any = numbers("finite, one for each delay")

    def angles(self, time: Any) -> Array:
        delays, weights = floats(self.delays, self.weights)
        if delays.ndim != 1 or delays.shape != weights.shape:
            raise ArmError(
                f"Shaped: delays of shape {delays.shape} with weights of shape {weights.shape}; must be two "
                "one-dimensional arrays of the same length, as `shaper` returns them."
            )
        since = time - delays
        times = jnp.where(since >= 0.0, since, 0.0)
        return jnp.sum(weights[:, None] * jax.vmap(self.motion.angles)(times), axis=0)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Stretched(Motion):
    """Another motion, slowed down by the factor ``stretch``: rates fall with it, accelerations with its square."""

    motion: Motion = holder(*A_MOTION)
    stretch: Any = numbers("finite and greater than 0", lambda x: np.isfinite(x) & (x > 0.0), ())

    def angles(self, time: Any) -> Array:
        return self.motion.angles(time / self.stretch)


def two_link_angles(x: Any, y: Any, lengths: Sequence[Any], elbow: Any = 1.0) -> Array:
    """Return joint angles that put the tip of a rigid arm with two links at a point, rad, shape (2,).

    The point is (x, y), m; ``lengths`` are those of the links; ``elbow`` 1 bends the second joint counter-clockwise, -1
    clockwise. The angles are NaN if the point is out of reach: its distance from the base must lie between the
    difference and the sum of the lengths.
    """
    first, second = lengths
    cosine = (x**2 + y**2 - first**2 - second**2) / (2.0 * first * second)
    bend = elbow * jnp.arccos(cosine)
    along, across = first + second * jnp.cos(bend), second * jnp.sin(bend)
    return jnp.stack([jnp.arctan2(y, x) - jnp.arctan2(across, along), bend])


def checked_angles(
    motion: Motion, number: int, time: float, name: str = "motion", each: str = "each joint"
) -> None:
    """Refuse a motion without ``number`` values, one for ``each``, or with values that are not finite at ``time``."""
    if not isinstance(motion, Motion):
        raise ArmError(f"{name} = {motion!r}: must be a Motion, such as Hold or RestToRest.")
    if is_traced(motion):
        return
    check_values(motion)
    shape = shape_given(name, motion, number, motion.angles, 0.0)
    if shape != (number,):
        raise ArmError(
            f"{name}: gives angles of shape {shape}; must be ({number},), one for {each}."
        )
    if not np.all(np.isfinite(np.asarray(motion(time)[0]))):
        raise ArmError(
            f"{name}: its angles at t = {time!r} s are not finite; must be, so check that its path is in reach."
        )
