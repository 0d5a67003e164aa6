"""Motion of one arm over time, as arrays: traceable, so that it can be compiled, batched and differentiated."""

from __future__ import annotations

import functools
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

#: relative pivot below which a halt is attributed to the inertia matrix
_NEARLY_SINGULAR = 1e-3


class Trajectory(NamedTuple):
    """Motion at T times; NaN after the time that was reached.

    Attributes
    ----------
    times : Array, shape (T,)
        Times, s.
    q, rate, acceleration : Array, shape (T, N)
        Generalised coordinates, rates and accelerations; with a free base N + 7, N + 6 and N + 6 entries.
    torques : Array, shape (T, n)
        Torques of the motors, N m.
    tip, tip_velocity, tip_acceleration : Array, shape (T, 2)
        Position, velocity and acceleration of the tip: m, m/s, m/s^2.
    kinetic, elastic, gravity, work, dissipated : Array, shape (T,)
        Energies, work done by the motors and dissipated energy, J.
    status : Array, shape ()
        Code of `Status`: finished, event, halted or inertia_not_definite.
    reached : Array, shape ()
        Time up to which the motion is known, s.
    last : Array, shape (2 N + 2,)
        State at that time: q, rate, work, dissipated.
    steps : Array, shape ()
        Number of steps, rejected ones included.
    event : Array, shape ()
        Index, from 0, of the event that ended the motion; -1 for none.
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
        """Residual of the energy balance since the start, J, shape (T,), a measure of the integration error."""
        energy = self.kinetic + self.elastic + self.gravity
        return energy - energy[..., :1] - self.work + self.dissipated


def check_method(method: object) -> None:
    """Refuse a value that is not a method of integration."""
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
    """Return the motion of an arm from a state, traceable; `simulate` checks its arguments and names its results.

    Parameters
    ----------
    model
        The arm.
    q, rate
        State at the first time, shape (N,); with a free base (N + 7,) and (N + 6,).
    times
        Ascending times, s, shape (T,).
    law
        Torques of the motors: a law of `torques` or any function of (time, q, rate, model); None for no torque.
    motion
        Prescribed motion of the motors, instead of torques.
    base_motion
        Prescribed motion of a driven base: six numbers for its displacement and rotation vector; None if it is at rest.
    events
        Events that end the motion before its last time, of `events` or any function of (time, q, rate, model): it ends
        when the first of their numbers falls to 0. Derivatives of the final time and state include the shift of the
        event.
    method
        ``"dopri8"`` (order 8), ``"tsit5"`` (order 5) and ``"kvaerno5"`` (implicit, for stiff arms) have adaptive steps;
        ``"rk4"`` and ``"linearly_implicit"`` take ``substeps`` equal steps in each interval.
    substeps
        Whole number of at least 1; traced, it has no derivatives in reverse mode.
    rtol, atol
        Tolerances of the adaptive methods, over the whole state.
    max_steps
        Largest number of steps of the adaptive methods.
    forward
        True for derivatives in forward mode (`jax.jvp`, `jax.jacfwd`) instead of reverse mode.

    Notes
    -----
    The adaptive methods are those of diffrax. Steps end at every output time and at the switches of a law, so nothing
    is interpolated.
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
    """Return a trajectory with all quantities, from the states of an integration."""
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


@functools.cache
def _slope(promotion: Any) -> Callable[[Any, Array, Driven], Array]:
    """Return `derivative` under a promotion of dtypes, also where diffrax sets its own: JAX traces anew under each."""

    def slope(time: Any, state: Array, system: Driven) -> Array:
        with jax.numpy_dtype_promotion(promotion):
            return derivative(time, state, system)

    return slope


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

        # at an output time, rounding can place the root just outside the step; the bracket then grows
        finder: Any = optimistix.Bisection(1e-14, 1e-14, expand_if_necessary=True)  # type: ignore[call-arg]
        event = diffrax.Event(lambda t, y, args, **_: jnp.min(margins(args, t, y)), finder, False)
    promotion = jax.config.values["jax_numpy_dtype_promotion"]
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(_slope(promotion)),
        solvers[method](),
        times[0],
        times[-1],
        1e-5 * span,  # a step chosen by diffrax would trace the equations twice more
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
    # of a definite type, as in `accelerations_at`, so that one program describes both
    steps = jnp.asarray(solution.stats["num_steps"], jnp.int64)
    return _Course(known_states, ended, steps, finished)


_integration = compiled_sooner(_integrated, static_argnames=("method", "max_steps", "forward"))
#: a separate program for every method: it runs once per output time, the integration many times
_description = compiled_sooner(_described, runs_once=True)


def solved(system: Driven, state: Array, times: Array, method: str, **options: Any) -> Trajectory:
    """Return `trajectory` from checked arguments, as two programs, for any length of the steps.

    The options are rtol, atol, max_steps and substeps.
    """
    course = _integration(system, state, times, method=method, forward=False, **options)
    found: Trajectory = _description(system, times, course)
    return found


def accelerations_at(system: Driven, states: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return accelerations at many states (k, ...) at the first of some times, by the program that describes them."""
    count = times.size
    first = np.full(count, times[0])
    none = Ended(first[0], states[0], np.asarray(False))
    found = []
    for start in range(0, len(states), count):
        part = states[np.minimum(np.arange(start, start + count), len(states) - 1)]
        course = _Course(part, none, np.asarray(0, np.int64), np.asarray(True))
        found.append(np.asarray(_description(system, first, course).acceleration))
    return np.concatenate(found)[: len(states)]
