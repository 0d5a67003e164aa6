"""Motions as datasets with names and units, and the coordinates back from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.integration.trajectories import MESSAGES, STATUS, Trajectory
from jaxmodal.dynamics.model import FlexibleArm
from jaxmodal.runtime.errors import ArmError

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
        motors = layout.driven
        put("motor_angle", ("time", "joint"), found.q[:, motors], "rad", "motor behind its gear")
        put("motor_rate", ("time", "joint"), found.rate[:, motors], "rad/s", "rate of that motor")
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
        "event": "",
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


def require_motion(motion: object) -> None:
    """Refuse what is no dataset of `simulate`, or one time of it."""
    import xarray

    if not isinstance(motion, xarray.Dataset):
        raise ArmError(f"motion = {shown(motion)}: must be a dataset of simulate.")
    if "time" not in motion.dims or "joint_angle" not in motion:
        raise ArmError(
            "motion: has no axis time, or no joint_angle; must be a dataset of simulate: take one time by "
            "motion.isel(time=[3])."
        )


def coordinates_of(
    model: FlexibleArm, motion: xarray.Dataset, also: tuple[str, ...] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Generalised coordinates and rates of a motion, each of shape (T, N); NaN after what ended it.

    ``also`` names further variables that the caller needs.

    Raises
    ------
    ArmError
        If it is no motion, or has other joints, modes or springs than the model.
    """
    require_motion(motion)
    expected = {"joint": model.num_links, "coordinate": sum(model.modes)}
    found = {name: motion.sizes.get(name) for name in expected}
    if found != expected or ("motor_angle" in motion) != any(model.elastic):
        raise ArmError(
            f"motion: has {found['joint']} joints and {found['coordinate']} modal coordinates"
            f"{'' if 'motor_angle' in motion else ', and no motors behind springs'}; must be a motion of this model, "
            f"which has {expected['joint']} and {expected['coordinate']}."
        )
    parts = [("joint_angle", "joint_rate"), ("modal_coordinate", "modal_rate")]
    missing = [name for name in (*parts[0], *parts[1], *also) if name not in motion]
    if missing:
        raise ArmError(
            f"motion: has no {', '.join(missing)}; must be a dataset of simulate with all its variables."
        )
    columns = [[motion[name].values for name in pair] for pair in parts]
    if any(model.elastic):
        springs = np.asarray(model.elastic)
        columns.append([motion[name].values[:, springs] for name in ("motor_angle", "motor_rate")])
    q, rate = (np.concatenate(column, axis=1) for column in zip(*columns, strict=True))
    return q, rate
