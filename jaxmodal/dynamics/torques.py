"""Torques of the motors: given functions of time, and laws that look at the state.

A law is a pytree with ``__call__(time, q, rate, model)``, which returns the torque of each motor at the joint's side
of its gear, N m, shape (n,), and ``switches``, the times at which it jumps, where the integration must stop and
begin anew. The values of a law may be traced or batched. Any function with the same arguments is a law without
switches; each new one is a new program.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamics import equations
from jaxmodal.dynamics.model import FlexibleArm
from jaxmodal.dynamics.motions import Motion
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced


class Law:
    """Torques of the motors."""

    @property
    def switches(self) -> Any:
        """Times at which the torques jump, s, shape (k,)."""
        return np.zeros(0)

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        raise NotImplementedError


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class NoTorque(Law):
    """Motors that are switched off."""

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        return jnp.zeros(model.num_links)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class PiecewiseConstant(Law):
    """Torques that are constant between switches and 0 before the first and after the last.

    Attributes
    ----------
    edges
        Times of the switches, s, ascending, shape (k + 1,).
    torques
        Torques between them, N m, shape (k, n).
    """

    edges: Any
    torques: Any

    def __post_init__(self) -> None:
        if is_traced(self.edges, self.torques) or not isinstance(
            self.edges, (list, tuple, np.ndarray)
        ):
            return
        edges, torques = np.asarray(self.edges, np.float64), np.asarray(self.torques, np.float64)
        good = torques.ndim == 2 and edges.shape == (len(torques) + 1,)
        if not (good and np.all(np.diff(edges) > 0.0) and np.all(np.isfinite(torques))):
            raise ArmError(
                f"edges: of shape {edges.shape} with torques of shape {torques.shape}; must be k + 1 ascending "
                "times and k rows of finite torques, one for each joint."
            )
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "torques", torques)

    @property
    def switches(self) -> Any:
        return self.edges

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        edges, torques = jnp.asarray(self.edges), jnp.asarray(self.torques)
        now = jnp.asarray(time, jnp.float64)[None]
        active = (edges[:-1] <= now) & (now < edges[1:])
        return jnp.sum(jnp.where(active[:, None], torques, 0.0), axis=0)


def bang_bang(torques: Any, half: float) -> PiecewiseConstant:
    """Torques for a time ``half`` in s, then their opposites for as long, then none: N m, shape (n,)."""
    values = np.asarray(torques, np.float64)
    return PiecewiseConstant(np.array([0.0, half, 2.0 * half]), np.stack([values, -values]))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SineTorque(Law):
    """``amplitude sin(frequency t + phase)``: N m, rad/s, rad, each of shape (n,)."""

    amplitude: Any
    frequency: Any
    phase: Any = 0.0

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        turned = jnp.asarray(self.frequency, jnp.float64) * time + jnp.asarray(
            self.phase, jnp.float64
        )
        return jnp.asarray(self.amplitude, jnp.float64) * jnp.sin(turned)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class SampledTorque(Law):
    """Measured or computed torques, straight lines between samples and constant beyond: s (k,), N m (k, n)."""

    times: Any
    torques: Any

    def __post_init__(self) -> None:
        if is_traced(self.times, self.torques) or not isinstance(
            self.times, (list, tuple, np.ndarray)
        ):
            return
        times, torques = np.asarray(self.times, np.float64), np.asarray(self.torques, np.float64)
        good = torques.ndim == 2 and times.shape == (len(torques),) and len(times) > 1
        if not (good and np.all(np.diff(times) > 0.0) and np.all(np.isfinite(torques))):
            raise ArmError(
                f"times: of shape {times.shape} with torques of shape {torques.shape}; must be ascending times and "
                "a row of finite torques for each."
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "torques", torques)

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        times, torques = jnp.asarray(self.times), jnp.asarray(self.torques)
        return jax.vmap(lambda column: jnp.interp(time, times, column), in_axes=1)(torques)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class JointPD(Law):
    """``kp (motion - angle) + kd (motion's rate - rate)`` at every motor.

    ``proportional`` in N m/rad and ``derivative`` in N m s/rad, at the joint's side of the gear, numbers or shape
    (n,).
    """

    motion: Motion
    proportional: Any
    derivative: Any

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        driven = np.asarray(model.layout.driven)
        angle, speed, _ = self.motion(time)
        gains = (jnp.asarray(x, jnp.float64) for x in (self.proportional, self.derivative))
        proportional, derivative = gains
        return proportional * (angle - q[driven]) + derivative * (speed - rate[driven])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class FeedForward(Law):
    """Torques that a rigid arm would need for a motion: inverse dynamics without deflections, gravity and friction.

    With ``gravity_alone`` only the torques that hold the rigid arm still at the motion's angles.
    """

    motion: Motion
    gravity_alone: bool = dataclasses.field(default=False, metadata={"static": True})

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        n, driven = model.num_links, np.asarray(model.layout.driven)
        moved = []
        for values in self.motion(time):
            full = jnp.zeros(model.num_coordinates).at[:n].set(values)
            moved.append(full.at[driven].set(values))
        if self.gravity_alone:
            return equations.weight(model, moved[0])[:n]
        forces = equations.generalised_forces(model, *moved)
        rigid = forces[:n]
        motors = forces[driven]
        return jnp.where(np.asarray(model.elastic), rigid + motors, rigid)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Together(Law):
    """The sum of some laws, such as `FeedForward` and `JointPD`."""

    laws: tuple[Law, ...]

    @property
    def switches(self) -> Any:
        return jnp.concatenate([jnp.asarray(law.switches, jnp.float64) for law in self.laws])

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        return sum((law(time, q, rate, model) for law in self.laws), jnp.zeros(model.num_links))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Limited(Law):
    """A law whose torques are cut off beyond ``limit``, N m, a number or shape (n,)."""

    law: Law
    limit: Any

    @property
    def switches(self) -> Any:
        return self.law.switches

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleArm) -> Array:
        limit = jnp.broadcast_to(jnp.asarray(self.limit, jnp.float64), (model.num_links,))
        return jnp.clip(self.law(time, q, rate, model), -limit, limit)
