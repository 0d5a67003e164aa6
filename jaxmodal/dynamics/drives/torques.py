"""Torques of the motors: given functions of time, and laws that depend on the state.

A law is a pytree with ``__call__(time, q, rate, model)``, which returns the torque of each motor on the joint side of
its gear, N m, shape (n,), and ``switches``, the times of its jumps, at which the integration stops and restarts. The
values of a law may be traced or batched. Any function with the same arguments is a law without switches; each new one
compiles a new program.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import positive, reals
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.drives.motions import A_MOTION, Motion
from jaxmodal.dynamics.drives.rules import Named, floats, holder, numbers
from jaxmodal.dynamics.mechanics import equations, supports
from jaxmodal.dynamics.mechanics.entries import at_places, placed
from jaxmodal.dynamics.mechanics.solves import solve_definite
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced

L = TypeVar("L")


class Law(Named):
    """Torques of the motors as a law."""

    @property
    def switches(self) -> Any:
        """Times at which the torques jump, s, shape (k,)."""
        return np.zeros(0)

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        raise NotImplementedError


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class NoTorque(Law):
    """Law of motors that are switched off."""

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        return jnp.zeros(model.num_links)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Function(Law):
    """Law from a function of (time, q, rate, model), or a law that is no pytree; each new one compiles a program."""

    function: Any = dataclasses.field(metadata={"static": True})

    @property
    def switches(self) -> Any:
        return getattr(self.function, "switches", np.zeros(0))

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        given = self.function(time, q, rate, model)
        try:
            torques = jnp.asarray(given)
        except (TypeError, ValueError) as error:
            raise _no_torques(given, model) from error
        if jnp.iscomplexobj(torques):
            raise _no_torques(given, model)
        return torques.astype(jnp.float64)


def _no_torques(given: Any, model: FlexibleModel) -> ArmError:
    return ArmError(
        f"torque: gives {shown(given)}; must be {model.num_links} real numbers, the torque of each motor."
    )


def _pytree(cls: type[L]) -> type[L]:
    """Register a dataclass that checks its values; unflattening from any leaves does not check them again."""
    names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    keys = [jax.tree_util.GetAttrKey(name) for name in names]

    def flatten(law: L) -> tuple[list[Any], None]:
        return [getattr(law, name) for name in names], None

    def flatten_with_keys(law: L) -> tuple[list[tuple[Any, Any]], None]:
        return list(zip(keys, flatten(law)[0], strict=True)), None

    def unflatten(_: None, leaves: Any) -> L:
        law = object.__new__(cls)
        law.__dict__.update(zip(names, leaves, strict=True))
        return law

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls


def _set_table(law: Any, name: str, expected: str, least: int, edges: int, both: str) -> None:
    """Set times and torques of a law as arrays: at least ``least`` rows of torques, and ``edges`` more times.

    NumPy arrays are checked; traced or batched JAX arrays are not.
    """
    about = "rows of finite torques of equal length, one torque for each joint, N m"
    given = []
    for key, axes, words in ((name, 1, expected), ("torques", 2, about)):
        value = getattr(law, key)
        if is_traced(value) or (isinstance(value, jax.Array) and value.ndim > axes):
            value = jnp.asarray(value, jnp.float64)
        else:
            value = reals(key, value, words)
        object.__setattr__(law, key, value)
        given.append(value)
    times, torques = given
    if isinstance(times, jax.Array) or isinstance(torques, jax.Array):
        return
    good = torques.ndim == 2 and len(torques) >= least and times.shape == (len(torques) + edges,)
    known = np.all(np.isfinite(times)) and np.all(np.isfinite(torques))
    if not (good and known and np.all(times[:-1] < times[1:])):
        raise ArmError(
            f"{name}: of shape {times.shape} with torques of shape {torques.shape}; must be {both}."
        )


@_pytree
@dataclasses.dataclass(frozen=True, repr=False)
class PiecewiseConstant(Law):
    """Law of torques that are constant between switches and 0 before the first and after the last.

    Attributes
    ----------
    edges
        Times of the switches, s, ascending, shape (k + 1,).
    torques
        Torques in the intervals, N m, shape (k, n).
    """

    edges: Any
    torques: Any

    def __post_init__(self) -> None:
        both = "k + 1 ascending times and k rows of finite torques, one for each joint"
        _set_table(self, "edges", "k + 1 ascending times, s", least=1, edges=1, both=both)

    @property
    def switches(self) -> Any:
        return self.edges

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        edges, torques = jnp.asarray(self.edges), jnp.asarray(self.torques)
        now = jnp.asarray(time, jnp.float64)[None]
        active = (edges[:-1] <= now) & (now < edges[1:])
        return jnp.sum(jnp.where(active[:, None], torques, 0.0), axis=0)


def bang_bang(torques: Any, half: float) -> PiecewiseConstant:
    """Return the law of ``torques`` for a time ``half`` in s, then their opposites as long, then none: N m, (n,)."""
    values = reals("torques", torques, "a finite torque for each joint, N m")
    length = positive("half", half, "s")
    return PiecewiseConstant(np.array([0.0, length, 2.0 * length]), np.stack([values, -values]))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class SineTorque(Law):
    """Law ``amplitude sin(frequency t + phase)``: N m, rad/s, rad, each of shape (n,)."""

    amplitude: Any
    frequency: Any
    phase: Any = 0.0

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        amplitude, frequency, phase = floats(self.amplitude, self.frequency, self.phase)
        return amplitude * jnp.sin(frequency * time + phase)


@_pytree
@dataclasses.dataclass(frozen=True, repr=False)
class SampledTorque(Law):
    """Measured or computed torques, linear between samples and constant beyond: s (k,), N m (k, n)."""

    times: Any
    torques: Any

    def __post_init__(self) -> None:
        both = "ascending times and a row of finite torques for each"
        _set_table(self, "times", "k ascending times, s", least=2, edges=0, both=both)

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        times, torques = jnp.asarray(self.times), jnp.asarray(self.torques)
        return jax.vmap(lambda column: jnp.interp(time, times, column), in_axes=1)(torques)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class JointPD(Law):
    """Law ``kp (motion - angle) + kd (rate of the motion - rate)`` at every motor.

    ``proportional`` in N m/rad and ``derivative`` in N m s/rad, on the joint side of the gear, numbers or shape (n,).
    """

    motion: Motion = holder(*A_MOTION)
    proportional: Any = numbers("finite, one for each joint or one for all (N m/rad)")
    derivative: Any = numbers("finite, one for each joint or one for all (N m s/rad)")

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        driven = model.layout.driven
        angle, speed, _ = self.motion(time)
        proportional, derivative = floats(self.proportional, self.derivative)
        return proportional * (angle - q[driven]) + derivative * (speed - rate[driven])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class FeedForward(Law):
    """Law of the torques that a rigid arm would need for a motion.

    Inverse dynamics without deflections; gravity, supports and friction included. With ``gravity_alone`` only the
    torques that hold the rigid arm still at the motion's angles. A base that floats freely is where the arm's is, and
    moves on as no force on it makes it. A driven base counts as at rest, whatever its motion.
    """

    motion: Motion = holder(*A_MOTION)
    gravity_alone: bool = dataclasses.field(default=False, metadata={"static": True})

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        n, driven = model.num_links, model.layout.driven
        moved = []
        for order, values in enumerate(self.motion(time)):
            size = model.num_rates if order else model.num_coordinates
            full = at_places(size, np.arange(n), values)
            moved.append(placed(full, driven, values))
        if model.floats:
            moved[0] = moved[0].at[-7:].set(q[-7:])
            moved[1] = moved[1].at[-6:].set(rate[-6:])
        if self.gravity_alone and not model.floats:
            resting = equations.weight(model, moved[0]) + supports.forces(model, moved[0])
            return resting[:n]
        if self.gravity_alone:
            moved[1:] = [jnp.zeros(model.num_rates)] * 2
        forces = equations.generalised_forces(model, *moved)
        if model.floats:
            matrix = equations.inertia(model, moved[0])
            follows, _ = solve_definite(matrix[-6:, -6:], -forces[-6:])
            forces = forces + matrix[:, -6:] @ follows
        rigid = forces[:n]
        motors = forces[driven]
        return jnp.where(np.asarray(model.elastic), rigid + motors, rigid)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Together(Law):
    """Sum of several laws, such as `FeedForward` and `JointPD`."""

    laws: tuple[Law, ...] = holder(
        "a tuple of laws such as (FeedForward(motion), JointPD(motion, 10.0, 1.0))",
        lambda x: isinstance(x, list | tuple) and all(map(callable, x)),
    )

    @property
    def switches(self) -> Any:
        own = [jnp.asarray(law.switches, jnp.float64) for law in self.laws]
        return jnp.concatenate([np.zeros(0), *own])

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        return sum((law(time, q, rate, model) for law in self.laws), jnp.zeros(model.num_links))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Limited(Law):
    """Law whose torques are limited to ``limit``, N m, a number or shape (n,)."""

    law: Law = holder("a law such as JointPD", callable)
    limit: Any = numbers("at least 0 (N m), inf for none", lambda x: x >= 0.0)

    @property
    def switches(self) -> Any:
        return self.law.switches

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        limit = jnp.broadcast_to(jnp.asarray(self.limit, jnp.float64), (model.num_links,))
        return jnp.clip(self.law(time, q, rate, model), -limit, limit)


def as_law(given: Any) -> Law:
    """Return given torques as a law: pytrees of numbers are unchanged, functions become laws, also inside others."""
    if given is None:
        return NoTorque()
    if isinstance(given, Limited):
        given = dataclasses.replace(given, law=as_law(given.law))
    if isinstance(given, Together):
        given = dataclasses.replace(given, laws=tuple(map(as_law, given.laws)))
    kinds = (jax.Array, np.ndarray, np.generic, int, float, complex)
    if isinstance(given, Law) and all(isinstance(x, kinds) for x in jax.tree.leaves(given)):
        return given
    return Function(_Now(given) if _may_change(given) else given)


@dataclasses.dataclass(frozen=True, eq=False)
class _Now:
    """Law in its current state: equal only to itself, so that no earlier program is reused for it."""

    law: Any

    @property
    def switches(self) -> Any:
        return getattr(self.law, "switches", np.zeros(0))

    def __call__(self, *state: Any) -> Any:
        return self.law(*state)


def _may_change(given: Any) -> bool:
    """Return True if a law holds values that comparison ignores: arrays, or attributes that may be assigned."""
    owner: Any = getattr(given, "__self__", given)
    try:
        hash(owner)
    except TypeError:
        return True
    plain = isinstance(owner, types.FunctionType | types.ModuleType | type)
    if plain or hasattr(owner, "__wrapped__"):  # like the results of jax.jit
        return False
    kind: Any = type(owner)
    return kind.__hash__ is object.__hash__ and bool(getattr(owner, "__dict__", None))
