"""Events that end a simulation early: margins of time and state that are positive until then.

An event is a pytree with ``__call__(time, q, rate, model)``, which returns one number, and a ``name``. The simulation
ends when that number falls to 0. Its values may be traced or batched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.drives.rules import Named, check_arguments
from jaxmodal.dynamics.mechanics.free_bases import at_zero
from jaxmodal.dynamics.mechanics.kinematics import modal_by_link
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array


class Event(Named):
    """Event that ends a simulation when a number falls to 0."""

    @property
    def name(self) -> str:
        """Name of the event in ``attrs["event"]`` of `simulate`."""
        return type(self).__name__

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        """Return the margin, shape (): positive until the event happens."""
        raise NotImplementedError


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class JointLimits(Event):
    """Event of a joint at the end of its range: limits in rad (m for sliding joints), shape (n,) or one for all.

    The limits apply to the joint positions of the links, relative to the end of the previous link; the margin is the
    smallest distance to a limit.
    """

    lower: Any
    upper: Any

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        n = model.num_links
        lower, upper = (
            jnp.broadcast_to(jnp.asarray(x, jnp.float64), (n,)) for x in (self.lower, self.upper)
        )
        return jnp.min(jnp.minimum(q[:n] - lower, upper - q[:n]))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class SlopeLimit(Event):
    """Event of a link whose end slope, in rad, reaches ``limit``, where small deflections end.

    For an arm in space it is the rotation of the end by bending in both planes and by torsion.
    """

    limit: Any = 0.1

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        slopes = jnp.einsum("ij...,ij->i...", model.tip_slope, modal_by_link(model, q))
        sizes = jnp.abs(slopes) if slopes.ndim == 1 else jnp.sqrt(jnp.sum(slopes**2, axis=1))
        return jnp.asarray(self.limit, jnp.float64) - jnp.max(sizes)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Condition(Event):
    """Event from a function of (time, q, rate, model); each new function compiles a new program."""

    function: Callable[..., Any] = dataclasses.field(metadata={"static": True})

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __call__(self, time: Any, q: Array, rate: Array, model: FlexibleModel) -> Array:
        given = self.function(time, q, rate, model)
        if isinstance(given, str) or given is None or np.iscomplexobj(given):
            raise ArmError(
                f"events: {self.name} gives {shown(given)}; must be one real number that falls to 0."
            )
        return jnp.asarray(given, jnp.float64)


def as_events(given: Any) -> tuple[Event, ...]:
    """Return given events as a tuple: one or several, functions included.

    Raises
    ------
    ArmError
        If one is neither an `Event` nor a function.
    """
    entries = given if isinstance(given, (list, tuple)) else () if given is None else (given,)
    made = []
    for entry in entries:
        if not callable(entry) or isinstance(entry, type):
            raise ArmError(
                f"events: {shown(entry)} is none; must be events such as JointLimits(lower, upper), or functions of "
                "(time, q, rate, model) that return a number which falls to 0."
            )
        made.append(entry if isinstance(entry, Event) else Condition(entry))
    return tuple(made)


def check_shapes(events: tuple[Event, ...], model: FlexibleModel) -> None:
    """Refuse events that do not return a number.

    Raises
    ------
    ArmError
        Names the event and what it returns.
    """
    blank = at_zero(model), np.zeros(model.num_rates)
    for event in events:
        if isinstance(event, Condition):
            check_arguments("events", event.name, event.function)
        elif any(isinstance(leaf, str) or np.iscomplexobj(leaf) for leaf in jax.tree.leaves(event)):
            raise ArmError(
                f"events: {shown(event)} holds what is no real number; must be one number or {model.num_links}."
            )
        try:
            found = jax.eval_shape(lambda q, rate, it=event: it(0.0, q, rate, model), *blank)
        except ValueError as error:
            if isinstance(event, Condition):
                raise
            raise ArmError(
                f"events: the values of {event.name} do not fit an arm of {model.num_links} links; must be one "
                f"number, or {model.num_links}, one for each joint (rad)."
            ) from error
        if found.shape != ():
            raise ArmError(
                f"events: {event.name} gives shape {found.shape}; must be (), one number that falls to 0: take "
                "jax.numpy.min of several."
            )


def check_start(events: tuple[Event, ...], margins: np.ndarray, time: float) -> None:
    """Refuse events whose margins, shape (k,), are not positive at the start.

    Raises
    ------
    ArmError
        Names the event and its margin.
    """
    for event, value in zip(events, margins.tolist(), strict=True):
        if not value > 0.0:
            raise ArmError(
                f"events: {event.name} is {value:.6g} at the start, t = {time:g} s; must be greater than 0 there, "
                "because the simulation ends when it falls to 0: check the start and the limits."
            )
