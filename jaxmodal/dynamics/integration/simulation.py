"""Simulation of one arm: checked arguments, results with names and units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import finite, positive, whole
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.drives.events import Event, as_events, check_shapes, check_start
from jaxmodal.dynamics.drives.motions import Motion, checked_angles
from jaxmodal.dynamics.drives.rules import (
    ascending_times,
    check_arguments,
    check_values,
    shape_given,
)
from jaxmodal.dynamics.drives.torques import Function, Law, as_law
from jaxmodal.dynamics.integration.fixed_step import METHODS as FIXED
from jaxmodal.dynamics.integration.flow import Driven, LawLike, given_margins
from jaxmodal.dynamics.integration.histories import dataset
from jaxmodal.dynamics.integration.pieces import in_pieces, intervals_per_piece
from jaxmodal.dynamics.integration.short_steps import warn_of_short_steps
from jaxmodal.dynamics.integration.trajectories import Trajectory, check_method, solved
from jaxmodal.dynamics.mechanics.free_bases import at_zero, require_pose
from jaxmodal.dynamics.model import FlexibleModel, require_model
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.precision import require_x64

if TYPE_CHECKING:
    import xarray


def simulate(
    model: FlexibleModel,
    times: Any,
    q: Any = None,
    rate: Any = None,
    *,
    torque: LawLike | None = None,
    motion: Motion | None = None,
    base_motion: Motion | None = None,
    events: Sequence[Event] | Event | Callable[..., Any] = (),
    method: str = "dopri8",
    rtol: float = 1e-9,
    atol: float = 1e-11,
    step: float = 1e-3,
    max_steps: int = 100_000,
    progress: Callable[[int, int], None] | None = None,
) -> xarray.Dataset:
    """Return the simulated motion of an arm from a state.

    Parameters
    ----------
    model
        The arm, from `flexible_arm`.
    times
        Ascending output times, s, shape (T,), at most 1,000,000; the first is the time of the initial state.
    q, rate
        Generalised coordinates and rates at the first time, shape (N,). None means zero; with a ``motion`` of motors on
        springs, the joints then start with the motors, without strain. With a free base the shapes are (N + 7,) and (N
        + 6,), see `SpatialFlexibleArm`.
    torque
        Torques of the motors: a law such as `bang_bang` or `JointPD`, or any function of (time, q, rate, model) that
        returns shape (n,) in N m. None leaves the joints free.
    motion
        Prescribed motion of the motors, instead of torques: `Hold` locks the joints. It overrides the joint angles of
        q.
    base_motion
        Prescribed motion of a ``"driven"`` base: a `Motion` whose six numbers are its displacement, m, and its rotation
        vector, rad, in the axes of the ground, such as `SineMotion`; at rest by default. It overrides the values of the
        base in q and rate, and its work is part of the energy balance.
    events
        Events that end the simulation before the last time: one or several of `JointLimits`, `SlopeLimit`, or any
        function of (time, q, rate, model) that returns one number. The number is positive at the start and ends the
        simulation when it falls to 0 or becomes NaN. An event is missed if the number falls to 0 and rises again within
        one step.
    method
        ``"dopri8"``, ``"tsit5"`` or ``"kvaerno5"`` (stiff arms) with adaptive steps; ``"rk4"`` or
        ``"linearly_implicit"`` (stiff arms) with fixed steps. Where the first two would take very many steps, a
        `StiffMotionWarning` says how many.
    rtol, atol
        Tolerances of the adaptive methods.
    step
        Longest step of the methods with fixed steps, s; every interval between times has the same number of steps, at
        most 10,000,000 in all.
    max_steps
        Largest number of steps of the adaptive methods, at most 10,000,000.
    progress
        Function called with (intervals done, total intervals) about twenty times. The simulation then runs in pieces:
        adaptive methods restart in each piece, with up to ``max_steps`` steps each.

    Returns
    -------
    xarray.Dataset
        By time: joints, modal coordinates, motors, torques, the tip, a free base and the momenta, energies and their
        balance, each with its unit. Values after the time that was reached are NaN. ``attrs`` has ``status`` (finished,
        event, halted, inertia_not_definite) with ``message``, ``time_reached``, ``state_reached``, ``event``, the name
        of the event that ended it, the number of steps and ``energy_balance_error``, the largest imbalance over the
        largest change of any energy.

    Raises
    ------
    ArmError
        If an argument is not allowed.
    ImportError
        If a method needs diffrax and it is not installed: ``pip install 'jaxmodal[dynamics]'``.

    Notes
    -----
    The energy balance is integrated with the motion, so its error measures the accuracy of the integration, not of the
    model.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import numpy as np, jaxmodal as jm
    >>> from jaxmodal.dynamics import flexible_arm, simulate
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),))
    >>> motion = simulate(flexible_arm(arm, 1), np.linspace(0, 0.1, 3), rate=[1.0, 0.0], method="rk4")
    >>> motion.attrs["status"], motion.sizes["time"]
    ('finished', 3)
    """
    require_x64()
    require_model(model)
    check_method(method)
    moments = _times(times)
    rtol, atol, step = positive("rtol", rtol), positive("atol", atol), positive("step", step, "s")
    max_steps = whole("max_steps", max_steps, 1, limits.STEPS)
    substeps = _substeps(moments, step) if method in FIXED else 1
    if torque is not None and motion is not None:
        raise ArmError(
            "motion: is given together with torque; give one of the two, the other follows."
        )
    if torque is not None and not callable(torque):
        raise ArmError(
            f"torque = {shown(torque)}: must be a law such as JointPD or bang_bang, or a function of (time, q, rate, "
            "model)."
        )
    if progress is not None and not callable(progress):
        raise ArmError(
            f"progress = {shown(progress)}: must be a function of (intervals done, total intervals), or None."
        )
    start = _state(model, "q", q), _state(model, "rate", rate)
    first = float(moments[0])
    if motion is not None:
        checked_angles(motion, model.num_links, first)
        if any(
            model.elastic
        ):  # a joint whose motor is elsewhere than its link would start strained
            begun = jax.device_get(motion(first))[:2]
            for vector, given, joints in zip(start, (q, rate), begun, strict=True):
                if given is None:
                    vector[: model.num_links] = joints
    if base_motion is not None:
        _check_base_motion(model, base_motion, first)
    law = _checked_law(model, torque)
    ends = as_events(events)
    check_shapes(ends, model)
    system = Driven(model, law, motion, ends, base_motion)
    if ends:
        state = np.concatenate([*start, np.zeros(2)])
        margins = _margins(system, first, state)
        check_start(ends, np.asarray(margins), first)

    def run(q: np.ndarray, rate: np.ndarray, at: np.ndarray) -> Trajectory:
        state = np.concatenate([q, rate, np.zeros(2)])
        steps = {"max_steps": max_steps, "substeps": substeps}
        found = solved(system, state, at, method, rtol=rtol, atol=atol, **steps)
        done: Trajectory = jax.device_get(found)
        return done

    per_run = moments.size if progress is None else intervals_per_piece(moments.size - 1) + 1
    initial = np.concatenate([*start, np.zeros(2)])
    warn_of_short_steps(system, initial, moments, per_run, method, max_steps)
    found = run(*start, moments) if progress is None else in_pieces(run, *start, moments, progress)
    if not np.all(np.isfinite(found.torques[0])) and motion is None:
        raise ArmError(
            f"torque: gives {found.torques[0].tolist()} N m at the start, t = {moments[0]:g} s; must be finite there: "
            "check its values, and q and rate."
        )
    at_start = found.acceleration[0]
    if (
        model.inertia_order == "full"
        and np.all(np.isfinite(start[0]))
        and not np.all(np.isfinite(at_start))
    ):
        names = [
            name
            for name, value in zip(model.layout.names, at_start, strict=True)
            if not np.isfinite(value)
        ]
        raise ArmError(
            f"model: at the start nothing has inertia along {', '.join(names[:3])}{' ...' * (len(names) > 3)}, or "
            "numbers overflow there, so that accelerations are not determined; a free joint must move a body: give a "
            "hub or body with inertia about the axis of the joint, or a rotor, or lock its motor (Hold)."
        )
    made = dataset(model, found, method)
    if int(found.event) < 0:
        return made
    name = ends[int(found.event)].name
    told = f"{name} ended it at {float(found.reached):.6g} s"
    return made.assign_attrs(event=name, message=told)


_margins = jax.jit(given_margins)


def _check_base_motion(model: FlexibleModel, given: Motion, time: float) -> None:
    """Refuse a motion of a base that is not driven, or a motion without six numbers."""
    if not model.layout.given.size:
        raise ArmError(
            f"base_motion = {shown(given)}: the base of this model does not move as it is told; must be left out, or "
            "be used with a model with base = 'driven' (flexible_arm of an arm in space)."
        )
    checked_angles(given, 6, time, "base_motion", "the displacement and the rotation of the base")


def check_number_of_times(name: str, value: object, number: float) -> None:
    """Refuse more output times than a simulation may have; ``number`` may be infinite."""
    if not number <= limits.TIMES:
        raise ArmError(
            f"{name} = {shown(value)}: makes {number:,.0f} times; must be at most {limits.TIMES:,}; take fewer: "
            "no method needs times between those that are wanted."
        )


def _times(times: Any) -> np.ndarray:
    moments = ascending_times(times, 2, 201)
    with np.errstate(over="ignore"):
        span = moments[-1] - moments[0]
    if not np.isfinite(span):
        raise ArmError(
            f"times: from {moments[0]:g} to {moments[-1]:g} s; their difference must be finite."
        )
    check_number_of_times("times", times, moments.size)
    return moments


def _substeps(moments: np.ndarray, step: float) -> int:
    """Return the number of equal steps in each interval, none longer than ``step``."""
    with np.errstate(over="ignore"):
        ratio = np.max(np.diff(moments)) / np.float64(step) * (1.0 - 1e-12)
    intervals = moments.size - 1
    if not np.ceil(ratio) * intervals <= limits.STEPS:
        raise ArmError(
            f"step = {step!r}: makes {float(np.ceil(ratio) * intervals):.3g} steps; must be at most {limits.STEPS:,}: "
            "give a longer step, a shorter time, or a method that chooses its steps, such as 'dopri8'."
        )
    return max(math.ceil(ratio), 1)  # the ratio can underflow to 0


def _state(model: FlexibleModel, name: str, value: Any) -> np.ndarray:
    size = model.num_coordinates if name == "q" else model.num_rates
    if value is None:
        return at_zero(model) if name == "q" else np.zeros(size)
    of_base = ""
    if model.floats:
        of_base = (
            ", position and quaternion of the base"
            if name == "q"
            else ", two velocities of the base"
        )
    expected = (
        f"{size} finite numbers: {model.num_links} joint angles, {sum(model.modes)} modal coordinates and "
        f"{sum(model.elastic)} motor angles, or their rates{of_base}"
    )
    given = finite(name, value, (size,), expected)
    if name == "q":
        require_pose(model, name, given)
    return given


def _checked_law(model: FlexibleModel, torque: LawLike | None) -> Law:
    """Return the torques as a law, with its values, its arguments and the number of torques checked."""
    check_values(torque)
    law = as_law(torque)
    if isinstance(law, Function) and torque is not None:
        name = getattr(torque, "__name__", type(torque).__name__)
        check_arguments("torque", name, torque)

    def torques(time: Any, q: Array, rate: Array) -> Array:
        return jnp.asarray(law(time, q, rate, model))

    blank = at_zero(model), np.zeros(model.num_rates)
    shape = shape_given("torque", torque, model.num_links, torques, 0.0, *blank)
    if shape != (model.num_links,):
        raise ArmError(
            f"torque: gives shape {shape}; must be ({model.num_links},), the torque of each motor."
        )
    return law
