"""The motion of one arm over a time, as arrays: traceable, so that it may be jitted, batched and differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import whole
from jaxmodal.arm.plain_arrays import plain
from jaxmodal.dynamics.drives.events import Event, as_events
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.dynamics.drives.torques import as_law
from jaxmodal.dynamics.integration.fixed_step import METHODS as FIXED
from jaxmodal.dynamics.integration.fixed_step import Ended, integrate, smallest_pivot
from jaxmodal.dynamics.integration.flow import Driven, derivative, margins, motion_of, motor_state
from jaxmodal.dynamics.mechanics import equations
from jaxmodal.dynamics.mechanics.free_bases import normalised
from jaxmodal.dynamics.model import FlexibleModel, one_of, require_model
from jaxmodal.runtime import limits
from jaxmodal.runtime.compilation import compiled_sooner
from jaxmodal.runtime.namespace import Array, is_traced
from jaxmodal.runtime.statuses import Status

ADAPTIVE = ("dopri8", "tsit5", "kvaerno5")
METHODS = (*ADAPTIVE, *FIXED)

#: relative pivot below which a halt is put down to the inertia matrix
_NEARLY_SINGULAR = 1e-3


class Trajectory(NamedTuple):
    """A motion at T times; NaN after the time that was reached.

    Attributes
    ----------
    times : Array, shape (T,)
        s.
    q, rate, acceleration : Array, shape (T, N)
        Generalised coordinates, rates and derivatives of these; of a free base N + 7, N + 6 and N + 6.
    torques : Array, shape (T, n)
        Of the motors, N m.
    tip, tip_velocity, tip_acceleration : Array, shape (T, 2)
        m, m/s, m/s^2.
    kinetic, elastic, gravity, work, dissipated : Array, shape (T,)
        Energies, the work that the motors have done and what has been dissipated, J.
    status : Array, shape ()
        A code of `Status`: finished, event, halted or inertia_not_definite.
    reached : Array, shape ()
        Time up to which the motion is known, s.
    last : Array, shape (2 N + 2,)
        State at that time: q, rate, work, dissipated.
    steps : Array, shape ()
        Steps taken, rejected ones included.
    event : Array, shape ()
        Number of the event that ended it, from 0; -1 for none.
    """

    times: Array
    q: Array
    rate: Array
    acceleration: Array
    torques: Array
    tip: Array
    tip_velocity: Array
    tip_acceleration: Array
    kinetic: Array
    elastic: Array
    gravity: Array
    work: Array
    dissipated: Array
    status: Array
    reached: Array
    last: Array
    steps: Array
    event: Any = -1

    @property
    def imbalance(self) -> Array:
        """Energy that appeared from nowhere since the start, J, shape (T,): the certificate of the integration."""
        energy = self.kinetic + self.elastic + self.gravity
        return energy - energy[..., :1] - self.work + self.dissipated


def check_method(method: object) -> None:
    """Refuse what is no method of integration."""
    one_of("method", method, METHODS, "'dopri8' is exact and fast where nothing is stiff")


def trajectory(
    model: FlexibleModel,
    q: Array,
    rate: Array,
    times: Array,
    law: Any = None,
    motion: Motion | None = None,
    *,
    base_motion: Motion | None = None,
    events: Sequence[Event] | Event | Callable[..., Any] = (),
    method: str = "dopri8",
    rtol: float = 1e-9,
    atol: float = 1e-11,
    max_steps: int = 100_000,
    substeps: int = 1,
    forward: bool = False,
) -> Trajectory:
    """The motion of an arm from a state, for programs of one's own; `simulate` checks its arguments and names results.

    Parameters
    ----------
    model
        The arm.
    q, rate
        State at the first time, shape (N,); of a free base (N + 7,) and (N + 6,).
    times
        Ascending times, s, shape (T,).
    law
        Torques of the motors, of `torques` or any function of (time, q, rate, model); None for none.
    motion
        How the motors move, if that is given instead of torques.
    base_motion
        How a base that is driven moves: six for its displacement and its rotation vector; None where it rests.
    events
        What ends the motion before its last time, of `events` or any function of (time, q, rate, model): where the
        first of these numbers falls to 0. Derivatives of that time and state take into account that it moves.
    method
        ``"dopri8"`` (order 8), ``"tsit5"`` (order 5) and ``"kvaerno5"`` (implicit, for stiff arms) choose their
        steps; ``"rk4"`` and ``"linearly_implicit"`` take ``substeps`` equal ones between each two times.
    substeps
        A whole number of at least 1; traced, it has no derivatives in reverse mode.
    rtol, atol
        Tolerances of the methods that choose their steps, over the whole state.
    max_steps
        How many of those there may be.
    forward
        Derivatives in forward mode (`jax.jvp`, `jax.jacfwd`) instead of in reverse mode.

    Notes
    -----
    The methods that choose their steps are diffrax's. Steps end at every time asked for and at the switches of a
    law, so nothing is interpolated.
    """
    require_model(model)
    check_method(method)
    given = {"times": times, "q": q, "rate": rate}
    times, q, rate = (jnp.asarray(plain(*each), jnp.float64) for each in given.items())
    system = Driven(model, as_law(law), motion, as_events(events), base_motion)
    start = jnp.concatenate([q, rate, jnp.zeros(2)])
    choices = (method, rtol, atol, max_steps, substeps, forward)
    return _described(system, times, _integrated(system, start, times, *choices))


class _Course(NamedTuple):
    """Result of an integration: states at the times, the last state, steps, and whether it reached the end."""

    states: Array
    ended: Ended
    steps: Array
    finished: Array


def _integrated(
    system: Driven,
    start: Array,
    times: Array,
    method: str,
    rtol: float,
    atol: float,
    max_steps: int,
    substeps: Any,
    forward: bool,
) -> _Course:
    if method not in FIXED:
        return _adaptive(system, start, times, method, rtol, atol, max_steps, forward)
    if not is_traced(substeps):
        substeps = whole("substeps", substeps, 1, limits.STEPS)
    states, ended = integrate(method, system, start, times, substeps)
    steps = jnp.asarray((times.shape[0] - 1) * substeps)
    return _Course(states, ended, steps, jnp.isfinite(states[-1, 0]))


def _described(system: Driven, times: Array, course: _Course) -> Trajectory:
    """All that a trajectory tells of the states that an integration gave."""
    model, states = system.model, course.states
    reached, last, happened = course.ended
    cause = jnp.asarray(int(Status.halted))
    if model.inertia_order != "full":
        pivot = smallest_pivot(system, reached, last)
        cause = jnp.where(
            pivot > _NEARLY_SINGULAR, int(Status.halted), int(Status.inertia_not_definite)
        )
    status = jnp.where(
        happened, int(Status.event), jnp.where(course.finished, int(Status.finished), cause)
    )

    def at(time: Array, state: Array) -> tuple[Any, ...]:
        q, rate = motor_state(system, time, state)
        q = normalised(model, q)
        acceleration, torques, _ = motion_of(system, time, q, rate)
        moved, held = equations.described(model, q, rate, acceleration)
        return (q, rate, acceleration, torques, *moved, *held)

    described: Any = jax.vmap(at)(times, states)
    work, dissipated = states[:, -2], states[:, -1]
    first: Any = -1
    if system.events:
        first = jnp.where(happened, jnp.argmin(margins(system, reached, last)), -1)
    made = (times, *described, work, dissipated, status, reached, last, course.steps, first)
    return Trajectory(*made)


def _adaptive(
    system: Driven,
    start: Array,
    times: Array,
    method: str,
    rtol: float,
    atol: float,
    max_steps: int,
    forward: bool,
) -> _Course:
    import diffrax

    solvers = {"dopri8": diffrax.Dopri8, "tsit5": diffrax.Tsit5, "kvaerno5": diffrax.Kvaerno5}
    span = times[-1] - times[0]
    switches = jnp.asarray(getattr(system.law, "switches", np.zeros(0)), jnp.float64)
    controller = diffrax.ClipStepSizeController(
        diffrax.PIDController(rtol=rtol, atol=atol, dtmin=1e-12 * span, force_dtmin=False),
        step_ts=times,
        jump_ts=switches if switches.size else None,
    )
    event = None
    if system.events:
        import optimistix

        # at a wanted time rounding may put the root just outside the step: the bracket then grows
        finder: Any = optimistix.Bisection(1e-14, 1e-14, expand_if_necessary=True)  # type: ignore[call-arg]
        event = diffrax.Event(lambda t, y, args, **_: jnp.min(margins(args, t, y)), finder, False)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(derivative),
        solvers[method](),
        times[0],
        times[-1],
        1e-5 * span,  # a guess of its own would trace the equations twice more
        start,
        system,
        saveat=diffrax.SaveAt(subs=[diffrax.SubSaveAt(ts=times), diffrax.SubSaveAt(t1=True)]),
        stepsize_controller=controller,
        adjoint=diffrax.ForwardMode() if forward else diffrax.RecursiveCheckpointAdjoint(),
        max_steps=max_steps,
        event=event,
        throw=False,
    )
    states, (last,) = solution.ys
    (reached,) = solution.ts[1]
    known = (times <= reached)[:, None] & jnp.isfinite(states)
    finished = solution.result == diffrax.RESULTS.successful
    ended = Ended(reached, last, solution.result == diffrax.RESULTS.event_occurred)
    known_states = jnp.where(known, states, jnp.nan)
    return _Course(known_states, ended, solution.stats["num_steps"], finished)


_integration = compiled_sooner(_integrated, static_argnames=("method", "max_steps", "forward"))
#: a program of its own, whatever the method: at every time wanted once, where an integration is at it many times
_description = compiled_sooner(_described, runs_once=True)


def solved(system: Driven, state: Array, times: Array, method: str, **options: Any) -> Trajectory:
    """`trajectory` of what has been checked, as two programs, whatever the length of the steps.

    The options are rtol, atol, max_steps and substeps.
    """
    course = _integration(system, state, times, method=method, forward=False, **options)
    found: Trajectory = _description(system, times, course)
    return found
