"""Simulating one arm: arguments checked, results with names and units."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.arguments import positive, reals, whole
from jaxmodal.dynamics.fixed_step import METHODS as FIXED
from jaxmodal.dynamics.flow import LawLike
from jaxmodal.dynamics.model import FlexibleArm, one_of
from jaxmodal.dynamics.motions import Motion, checked_angles
from jaxmodal.dynamics.pieces import in_pieces
from jaxmodal.dynamics.torques import Law, NoTorque
from jaxmodal.dynamics.trajectories import MESSAGES, METHODS, STATUS, Trajectory, solved
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.precision import require_x64

if TYPE_CHECKING:
    import xarray

_UNITS = {
    "joint_angle": ("time", "joint", "rad", "angle of each joint, relative to the link before"),
    "joint_rate": ("time", "joint", "rad/s", "rate of each joint"),
    "torque": ("time", "joint", "N m", "torque of each motor at the joint's side of its gear"),
    "tip_position": ("time", "axis", "m", "tip of the arm"),
    "tip_velocity": ("time", "axis", "m/s", "velocity of the tip"),
    "tip_acceleration": ("time", "axis", "m/s^2", "acceleration of the tip"),
}
_ENERGIES = {
    "kinetic_energy": "kinetic energy",
    "elastic_energy": "energy of bending and of springs",
    "gravity_energy": "energy in the field of gravity, 0 at the base joint",
    "work": "work done by the motors since the start",
    "dissipated": "energy dissipated since the start",
    "imbalance": "energy that appeared from nowhere since the start",
}


def simulate(
    model: FlexibleArm,
    times: Any,
    q: Any = None,
    rate: Any = None,
    *,
    torque: LawLike | None = None,
    motion: Motion | None = None,
    method: str = "dopri8",
    rtol: float = 1e-9,
    atol: float = 1e-11,
    step: float = 1e-3,
    max_steps: int = 100_000,
    progress: Callable[[int, int], None] | None = None,
) -> xarray.Dataset:
    """Simulate an arm from a state.

    Parameters
    ----------
    model
        The arm, from `flexible_arm`.
    times
        Ascending times at which the motion is wanted, s, shape (T,), at most 1,000,000; the first is that of the
        initial state.
    q, rate
        Generalised coordinates and rates there, shape (N,); None is zero.
    torque
        What the motors do: a law such as `bang_bang` or `JointPD`, or any function of (time, q, rate, model) that
        gives shape (n,) in N m. None leaves the joints free.
    motion
        Instead of a torque, how the motors move: `Hold` locks the joints. It overrides the joint angles of q.
    method
        ``"dopri8"``, ``"tsit5"``, ``"kvaerno5"`` (stiff arms), or with fixed steps ``"rk4"`` and
        ``"linearly_implicit"``.
    rtol, atol
        Tolerances of the first three.
    step
        Longest step of the last two, s; the same number of steps stands between each two times, at most 10,000,000
        in all.
    max_steps
        Largest number of steps of the first three, at most 10,000,000.
    progress
        Called with (intervals between times done, all of them) about twenty times; the simulation then goes piece by
        piece, and the methods that choose their steps begin anew in each, each with as many as ``max_steps``.

    Returns
    -------
    xarray.Dataset
        By time: joints, modal coordinates, motors, torques, the tip, energies and their balance, each with its
        unit. After a time that could not be passed all is NaN; ``attrs`` has ``status`` ("ok",
        "inertia_not_definite", "halted") with ``message``, ``time_reached``, ``state_reached``, the number of steps
        and ``energy_balance_error``, the largest imbalance over the largest energy that took part.

    Raises
    ------
    ArmError
        If an argument is not allowed.
    ImportError
        Where diffrax is not installed and a method needs it: ``pip install 'jaxmodal[dynamics]'``.

    Notes
    -----
    The energy balance is integrated with the motion and closes only as well as the motion is known: it certifies
    the integration, not the model.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> import numpy as np, jaxmodal as jm
    >>> from jaxmodal.dynamics import flexible_arm, simulate
    >>> arm = jm.Arm((jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05)),))
    >>> motion = simulate(flexible_arm(arm, 1), np.linspace(0, 0.1, 3), rate=[1.0, 0.0], method="rk4")
    >>> motion.attrs["status"], motion.sizes["time"]
    ('ok', 3)
    """
    require_x64()
    one_of("method", method, METHODS, "'dopri8' is exact and fast where nothing is stiff")
    moments = _times(times)
    rtol, atol, step = positive("rtol", rtol), positive("atol", atol), positive("step", step, "s")
    max_steps = whole("max_steps", max_steps, 1, limits.STEPS)
    substeps = _substeps(moments, step) if method in FIXED else 1
    if torque is not None and motion is not None:
        raise ArmError("motion: stands beside torque; give one of the two, the other follows.")
    if torque is not None and not callable(torque):
        raise ArmError(
            f"torque = {shown(torque)}: must be a law such as JointPD or bang_bang, or a function of (time, q, rate, "
            "model)."
        )
    start = _state(model, "q", q), _state(model, "rate", rate)
    if motion is not None:
        checked_angles(motion, model.num_links, float(moments[0]))
    law = NoTorque() if torque is None else torque
    _check_law(model, law)
    given = isinstance(law, Law)

    def run(q: np.ndarray, rate: np.ndarray, at: np.ndarray) -> Trajectory:
        found = solved(
            model,
            q,
            rate,
            at,
            law if given else None,
            motion,
            rtol,
            atol,
            law_is=None if given else law,
            method=method,
            max_steps=max_steps,
            substeps=substeps,
        )
        done: Trajectory = jax.device_get(found)
        return done

    found = run(*start, moments) if progress is None else in_pieces(run, *start, moments, progress)
    return dataset(model, found, method)


def check_number_of_times(name: str, value: object, number: float) -> None:
    """Refuse more times than a simulation may tell of; ``number`` may be infinite."""
    if not number <= limits.TIMES:
        raise ArmError(
            f"{name} = {shown(value)}: makes {number:,.0f} times; must be at most {limits.TIMES:,}; take fewer: "
            "no method needs times between those that are wanted."
        )


def _times(times: Any) -> np.ndarray:
    expected = "two ascending, finite times or more, s, such as numpy.linspace(0, 2, 201)"
    moments = reals("times", times, expected)
    with np.errstate(over="ignore", invalid="ignore"):
        spans = np.diff(moments) if moments.ndim == 1 else np.zeros(0)
        total = np.sum(spans)
    if not (spans.size and np.all(np.isfinite(moments)) and np.all(spans > 0.0)):
        raise ArmError(f"times: of shape {moments.shape}; must be {expected}.")
    if not np.isfinite(total):
        raise ArmError(
            f"times: from {moments[0]:g} to {moments[-1]:g} s; their difference must be finite."
        )
    check_number_of_times("times", times, moments.size)
    return moments


def _substeps(moments: np.ndarray, step: float) -> int:
    """Equal steps between each two times, none longer than ``step``."""
    with np.errstate(over="ignore"):
        ratio = np.max(np.diff(moments)) / np.float64(step) * (1.0 - 1e-12)
    intervals = moments.size - 1
    if not np.ceil(ratio) * intervals <= limits.STEPS:
        raise ArmError(
            f"step = {step!r}: makes {float(np.ceil(ratio) * intervals):.3g} steps; must be at most {limits.STEPS:,}: "
            "give a longer step, a shorter time, or a method that chooses its steps, such as 'dopri8'."
        )
    return math.ceil(ratio)


def _state(model: FlexibleArm, name: str, value: Any) -> np.ndarray:
    size = model.num_coordinates
    if value is None:
        return np.zeros(size)
    expected = (
        f"{size} finite numbers: {model.num_links} joint angles, {sum(model.modes)} modal coordinates and "
        f"{sum(model.elastic)} motor angles, or their rates"
    )
    array = reals(name, value, expected)
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise ArmError(f"{name} = {shown(value)}: must be {expected}.")
    return array


def _check_law(model: FlexibleArm, law: LawLike) -> None:
    blank = np.zeros(model.num_coordinates)
    shape = jax.eval_shape(lambda time, q: law(time, q, q, model), 0.0, blank).shape
    if shape != (model.num_links,):
        raise ArmError(
            f"torque: gives shape {shape}; must be ({model.num_links},), the torque of each motor."
        )


def dataset(model: FlexibleArm, found: Trajectory, method: str) -> xarray.Dataset:
    """A trajectory of one arm in NumPy as an `xarray.Dataset`."""
    import xarray

    n, layout = model.num_links, model.layout
    variables: dict[str, Any] = {}

    def put(name: str, dims: tuple[str, ...], values: Any, unit: str, meaning: str) -> None:
        variables[name] = (dims, np.asarray(values), {"units": unit, "long_name": meaning})

    tables = (found.q[:, :n], found.rate[:, :n], found.torques)
    tips = (found.tip, found.tip_velocity, found.tip_acceleration)
    for (name, (*dims, unit, meaning)), values in zip(
        _UNITS.items(), (*tables, *tips), strict=True
    ):
        put(name, tuple(dims), values, unit, meaning)
    modal = found.q[:, layout.modal]
    put("modal_coordinate", ("time", "coordinate"), modal, "of the shape", "modal coordinates")
    put(
        "modal_rate",
        ("time", "coordinate"),
        found.rate[:, layout.modal],
        "of the shape/s",
        "rates of the modal coordinates",
    )
    wide = np.concatenate([found.q, np.zeros((len(found.q), 1))], axis=1)[:, layout.places]
    put(
        "end_deflection",
        ("time", "link"),
        np.sum(wide * np.asarray(model.tip), axis=-1),
        "m",
        "deflection of each link at its end",
    )
    if any(model.elastic):
        motors = np.asarray(layout.driven)
        put("motor_angle", ("time", "joint"), found.q[:, motors], "rad", "motor behind its gear")
    energies = (found.kinetic, found.elastic, found.gravity, found.work, found.dissipated)
    for (name, meaning), values in zip(
        _ENERGIES.items(), (*energies, found.imbalance), strict=True
    ):
        put(name, ("time",), values, "J", meaning)
    links = np.repeat(np.arange(1, n + 1), model.modes)
    numbers = np.concatenate([np.arange(1, m + 1) for m in model.modes] or [np.zeros(0, int)])
    coords = {
        "time": ("time", found.times, {"units": "s"}),
        "joint": np.arange(1, n + 1),
        "link": np.arange(1, n + 1),
        "axis": ["x", "y"],
        "link_of_coordinate": ("coordinate", links),
        "mode_of_coordinate": ("coordinate", numbers),
    }
    status = int(found.status)
    attributes = {
        "status": STATUS[status],
        "message": MESSAGES[status],
        "time_reached": float(found.reached),
        "state_reached": np.asarray(found.last[:-2]),
        "steps": int(found.steps),
        "method": method,
        "energy_balance_error": balance_error(found),
        "inertia_order": model.inertia_order,
        "frames": model.frames,
        "foreshortening": str(model.foreshortening).lower(),
    }
    return xarray.Dataset(variables, coords, attributes)


def balance_error(found: Trajectory) -> float:
    """Largest imbalance over the largest change of any energy that took part; 0 where nothing moves."""
    parts = (found.kinetic, found.elastic, found.gravity, found.work, found.dissipated)
    known = np.isfinite(found.kinetic)
    sizes = [np.ptp(part[known]) for part in parts]
    sizes += [np.max(np.abs(part[known])) for part in (found.kinetic, found.elastic)]
    largest = max(sizes)
    worst = float(np.max(np.abs(found.imbalance[known])))
    return worst / float(largest) if largest > 0.0 else worst
