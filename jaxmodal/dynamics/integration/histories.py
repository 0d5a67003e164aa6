"""Motions as datasets with names and units, and coordinates read back from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.drives.motions import Motion, angles_at
from jaxmodal.dynamics.integration.trajectories import Trajectory
from jaxmodal.dynamics.mechanics.free_bases import require_held_base
from jaxmodal.dynamics.mechanics.states import momenta, tip_position
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.statuses import Status

if TYPE_CHECKING:
    import xarray

#: for each variable over time: its other dimension, unit and meaning
_VARIABLES = {
    "joint_angle": ("joint", "rad", "angle of each joint, relative to the link before"),
    "joint_rate": ("joint", "rad/s", "rate of each joint"),
    "torque": ("joint", "N m", "torque of each motor at the joint's side of its gear"),
    "tip_position": ("axis", "m", "tip of the arm"),
    "tip_velocity": ("axis", "m/s", "velocity of the tip"),
    "tip_acceleration": ("axis", "m/s^2", "acceleration of the tip"),
    "modal_coordinate": ("coordinate", "of the shape", "modal coordinates"),
    "modal_rate": ("coordinate", "of the shape/s", "rates of the modal coordinates"),
    "end_deflection": ("link", "m", "deflection of each link at its end"),
    "motor_angle": ("joint", "rad", "motor behind its gear"),
    "motor_rate": ("joint", "rad/s", "rate of that motor"),
    "base_position": ("axis", "m", "point of the base"),
    "base_quaternion": ("part", "1", "rotation of the base"),
    "base_velocity": ("axis", "m/s", "velocity of that point, in the axes of the base"),
    "base_angular_velocity": ("axis", "rad/s", "angular velocity of the base, in its axes"),
    "linear_momentum": ("axis", "kg m/s", "linear momentum"),
    "angular_momentum": ("axis", "kg m^2/s", "angular momentum about the ground's origin"),
    "kinetic_energy": ("", "J", "kinetic energy"),
    "elastic_energy": ("", "J", "energy of bending and of springs"),
    "gravity_energy": ("", "J", "energy in the field of gravity, 0 at the origin"),
    "work": ("", "J", "work done by the motors since the start"),
    "dissipated": ("", "J", "energy dissipated since the start"),
    "imbalance": ("", "J", "residual of the energy balance since the start"),
}

#: units of variables that differ for sliding joints
_SLIDING = {
    "joint_angle": "rad or m",
    "joint_rate": "rad/s or m/s",
    "torque": "N m or N",
    "motor_angle": "rad or m",
    "motor_rate": "rad/s or m/s",
}


def dataset(model: FlexibleModel, found: Trajectory, method: str) -> xarray.Dataset:
    """Return a trajectory of one arm in NumPy as an `xarray.Dataset`."""
    import xarray

    n, layout, motors = model.num_links, model.layout, model.layout.driven
    given = {
        "joint_angle": found.q[:, :n],
        "joint_rate": found.rate[:, :n],
        "torque": found.torques,
        "tip_position": found.tip,
        "tip_velocity": found.tip_velocity,
        "tip_acceleration": found.tip_acceleration,
        "modal_coordinate": found.q[:, layout.modal],
        "modal_rate": found.rate[:, layout.modal],
    }
    wide = np.concatenate([found.q, np.zeros((len(found.q), 1))], axis=1)[:, layout.places]
    given["end_deflection"] = model.end_deflections(wide)
    if any(model.elastic):
        given |= {"motor_angle": found.q[:, motors], "motor_rate": found.rate[:, motors]}
    if model.floats:
        given |= _of_base(model, found)
    given |= {
        "kinetic_energy": found.kinetic,
        "elastic_energy": found.elastic,
        "gravity_energy": found.gravity,
        "work": found.work,
        "dissipated": found.dissipated,
        "imbalance": found.imbalance,
    }
    variables: dict[str, Any] = {}
    for name, values in given.items():
        other, unit, meaning = _VARIABLES[name]
        if not all(layout.turns):
            unit = _SLIDING.get(name, unit)
        dims = ("time", other) if other else ("time",)
        variables[name] = variable(dims, values, meaning, unit)
    each = layout.modal_coordinates
    links, kinds, numbers = ([entry[k] for entry in each] for k in range(3))
    coords = {
        "time": ("time", found.times, {"units": "s"}),
        "joint": np.arange(1, n + 1),
        "link": np.arange(1, given["end_deflection"].shape[1] + 1),
        "axis": list(model.axes),
        "link_of_coordinate": ("coordinate", np.array(links, int)),
        "mode_of_coordinate": ("coordinate", np.array(numbers, int)),
    }
    if model.floats:
        coords["part"] = list("wxyz")
    if len(layout.deformations) > 1:
        coords["deformation_of_coordinate"] = ("coordinate", np.array(kinds, str))
    if not all(layout.turns):
        coords["joint_kind"] = ("joint", np.where(layout.turns, "turns", "slides"))
    status = Status(int(found.status))
    attributes = {
        "status": status.name,
        "message": f"{status.cause}; {status.remedy}" if status.remedy else status.cause,
        "event": "",
        "time_reached": float(found.reached),
        "state_reached": np.asarray(found.last[:-2]),
        "steps": int(found.steps),
        "method": method,
        "energy_balance_error": balance_error(found),
    }
    for name in model.choices:
        choice = getattr(model, name)
        attributes[name] = str(choice).lower() if isinstance(choice, bool) else choice
    return xarray.Dataset(variables, coords, attributes)


def _of_base(model: FlexibleModel, found: Trajectory) -> dict[str, np.ndarray]:
    """Return the motion of a free base and the momenta; NaN after the end of the motion."""
    q, rate = np.asarray(found.q), np.asarray(found.rate)
    momentum = np.full((2, len(q), 3), np.nan)
    known = np.isfinite(q).all(axis=1)
    momentum[:, known] = momenta(model, q[known], rate[known])
    return {
        "base_position": q[:, -7:-4],
        "base_quaternion": q[:, -4:],
        "base_velocity": rate[:, -6:-3],
        "base_angular_velocity": rate[:, -3:],
        "linear_momentum": momentum[0],
        "angular_momentum": momentum[1],
    }


def followed(model: FlexibleModel, wanted: Motion, times: Any) -> xarray.Dataset:
    """Return a prescribed motion as a dataset: positions of the joints, and of the tip of the undeflected arm.

    Parameters
    ----------
    model : FlexibleModel
        The arm.
    wanted : Motion
        Motion of the joints, such as `RestToRest`.
    times : array, shape (T,)
        Times, s.

    Raises
    ------
    ArmError
        If the base is free: the position of the tip then depends on the whole previous motion.
    """
    import xarray

    require_held_base(model, "the tip of the rigid arm on a motion of its joints")
    at = np.asarray(times, np.float64)
    angles = np.asarray(angles_at(wanted, at))
    q = np.zeros((at.size, model.num_coordinates))
    for places in (np.arange(model.num_links), model.layout.driven):
        q[:, places] = angles
    given = {"joint_angle": angles, "tip_position": np.asarray(tip_position(model, q))}
    variables = {
        name: variable(
            ("time", _VARIABLES[name][0]), values, f"{name} asked for", _VARIABLES[name][1]
        )
        for name, values in given.items()
    }
    coords = {
        "time": ("time", at, {"units": "s"}),
        "joint": np.arange(1, model.num_links + 1),
        "axis": list(model.axes),
    }
    return xarray.Dataset(variables, coords)


def balance_error(found: Trajectory) -> float:
    """Return the largest imbalance over the largest change of any energy; 0 if nothing moves."""
    parts = (found.kinetic, found.elastic, found.gravity, found.work, found.dissipated)
    known = np.isfinite(found.kinetic)
    sizes = [np.ptp(part[known]) for part in parts]
    sizes += [np.max(np.abs(part[known])) for part in (found.kinetic, found.elastic)]
    largest = max(sizes)
    worst = float(np.max(np.abs(found.imbalance[known])))
    return worst / float(largest) if largest > 0.0 else worst


def require_motion(motion: object) -> None:
    """Refuse an object that is not a dataset of `simulate`, or is a single time of it."""
    import xarray

    if not isinstance(motion, xarray.Dataset):
        raise ArmError(f"motion = {shown(motion)}: must be a dataset of simulate.")
    if "time" not in motion.dims or "joint_angle" not in motion:
        raise ArmError(
            "motion: has no axis time, or no joint_angle; must be a dataset of simulate: take one time by "
            "motion.isel(time=[3])."
        )


def coordinates_of(
    model: FlexibleModel, motion: xarray.Dataset, also: tuple[str, ...] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return generalised coordinates and rates of a motion, each of shape (T, N); NaN after its end.

    ``also`` names further variables that the caller needs.

    Raises
    ------
    ArmError
        If it is not a motion, or has other joints, modes or springs than the model.
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
    if ("base_position" in motion) != model.floats:
        raise ArmError(
            f"motion: has {'a' if 'base_position' in motion else 'no'} free base; must be a motion of this model, "
            f"whose base is {'free' if model.floats else 'clamped'}."
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
    if model.floats:
        columns += [
            [motion[name].values for name in pair]
            for pair in (
                ("base_position", "base_velocity"),
                ("base_quaternion", "base_angular_velocity"),
            )
        ]
    q, rate = (np.concatenate(column, axis=1) for column in zip(*columns, strict=True))
    return q, rate
