"""Checks of the definition of a sweep: names, number of modes, axes, outputs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import asked_for, full_address, list_addresses, resolve_address
from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.joint_limits import warn_beyond_limits
from jaxmodal.arm.link_rules import is_damping
from jaxmodal.arm.loaded import under_forces
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.batches.kinds import PLANS
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.errors import ImplausibleWarning, meant_or_known
from jaxmodal.runtime.limits import MODES
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.files.named_arms import arm_named
from sweeps.definition import limits
from sweeps.definition.axes import RESERVED_NAMES, Axis, Column
from sweeps.definition.errors import SweepError, about
from sweeps.solution.outputs import ALWAYS, QUANTITIES


def arm_of(arm: AnyArm | str | Path) -> AnyArm:
    """Return an arm unchanged, or read the one named by ``example:NAME`` or a path."""
    if isinstance(arm, SerialArm):
        return arm
    if not isinstance(arm, (str, Path)):
        raise SweepError(
            f"arm = {shown(arm)}: must be an Arm or a SpatialArm, 'example:NAME' or the path of an arm file."
        )
    return arm_named(arm, error=SweepError)


def known_names(key: str, given: str | Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the given names, one or several, after checking that each is ``known`` and unique."""
    if not isinstance(given, Iterable):
        raise SweepError(f"{key} = {shown(given)}: must be a list of names.")
    known = list(known)
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in known:
            raise SweepError(
                f"{key}: {shown(name)} is unknown"
                f"{meant_or_known(str(name)[:100], known, ', '.join(known))}"
            )
        if names.count(name) > 1:
            raise SweepError(f"{key}: {shown(name)} is given twice; give it once.")
    if not names and key == "theories":
        raise SweepError(f"theories is empty; give one or more of {', '.join(known)}.")
    return names


def output_names(given: Sequence[str]) -> tuple[str, ...]:
    """Return the outputs with those that are always present, each preceded by its status."""
    names = known_names("outputs", given, QUANTITIES)
    beside: list[str] = []  # each preceded by its status
    for name in names:
        status = QUANTITIES[name].status
        beside += [status, name] if status and status not in names else [name]
    return tuple(dict.fromkeys([*ALWAYS, *beside]))


def differentiated(arm: AnyArm, outputs: tuple[str, ...], given: Sequence[str]) -> tuple[str, ...]:
    """Return the addresses for sensitivities, by default all addresses of the arm; empty if no output needs them."""
    needed = any("parameter" in QUANTITIES[name].dims for name in outputs)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SweepError(
            f"sensitivity_to = {shown(given)}: must be a list of parameters, such as ['link1.length']."
        )
    given = tuple(given)
    if given and not needed:
        raise SweepError(
            "sensitivity_to is given, but no output refers to it; add 'sensitivity' or "
            "'frequency_derivative' to outputs, or leave it out."
        )
    with about("sensitivity_to"):
        asked_for(arm, given)
    found = [full_address(name, arm) for name in given]
    return tuple(found or (list_addresses(arm) if needed else ()))


def number_of_modes(value: Any) -> int:
    """Return a number of modes; raise a `SweepError` unless it is allowed."""
    if not is_whole(value, 1, MODES):
        raise SweepError(f"num_modes = {shown(value)}: must be a whole number from 1 to {MODES:,}.")
    return int(value)


def check_axes(axes: tuple[Axis, ...], name: str) -> None:
    """Raise an error for invalid axes, too many axes or cells, and duplicate names."""
    if not axes:
        raise SweepError("axes is empty; give one axis or more, such as linspace('theta_2', ...).")
    if len(axes) > limits.AXES:
        raise SweepError(f"axes: there are {len(axes)}; at most {limits.AXES}.")
    if not isinstance(name, str):
        raise SweepError(f"name = {shown(name)}: must be text.")
    for entry in axes:
        if not isinstance(entry, Axis):
            raise SweepError(
                f"axes: {shown(entry)} is not an axis; make it with axis, linspace, geomspace, zipped or "
                "random_design."
            )
    shape = tuple(entry.size for entry in axes)
    if math.prod(shape) > limits.CELLS:
        raise SweepError(
            f"axes: {' x '.join(map(str, shape))} are {math.prod(shape):,} cells; at most {limits.CELLS:,}. "
            "Give fewer points, or divide the sweep into several."
        )
    taken = [*RESERVED_NAMES, *QUANTITIES, "branch", "branch_flag"]
    for entry in axes:
        own = [column.name for column in entry.columns]
        for label in dict.fromkeys([entry.name, *own]):
            if label in taken or own.count(label) > 1:
                raise SweepError(
                    f"axis {entry.name!r}: the name {label!r} is taken already; give another one with "
                    "name = ..."
                )
            taken.append(label)


def check_values(arm: AnyArm, columns: Sequence[Column], theories: tuple[TheoryName, ...]) -> None:
    """Raise an error for parameters that the arm lacks, and values that are invalid regardless of the others.

    Parameters that change together may be valid only together; cells with invalid combinations get the status
    invalid_input.
    """
    first = {}
    for column in columns:
        largest = float(np.abs(column.values).max())
        if column.unit == "rad" and largest > 4.0 * math.pi:
            warnings.warn(
                f"axis {column.name!r}: {column.address} reaches {largest:.6g} rad, more than two turns; if this is in "
                "degrees, give unit = 'degree'",
                ImplausibleWarning,
                stacklevel=4,
            )
        if column.address in first:
            raise SweepError(
                f"axis {column.name!r}: {column.address!r} is varied by another axis already; vary it "
                "once."
            )
        first[column.address] = column.si_values[:1]
    with about("axes"):
        set_parameters(arm, first)
    for column in columns:
        places = [
            x.partition(".") for x in resolve_address(arm, column.address) if x.startswith("link")
        ]
        numbers = [int(link[4:]) for link, _, _ in places]
        moved = [k for k, at in zip(numbers, places, strict=True) if at[2] == arm.position_of(k)]
        positions = dict.fromkeys(moved, column.si_values)
        warn_beyond_limits(arm.links, positions, f"axis {column.name!r}: ", level=4)
    tied = [column for column in columns if ".section." in column.address]
    tensors = [column.address.rpartition(".")[0] for column in columns]
    for column, tensor in zip(columns, tensors, strict=True):
        ends = [float(column.si_values.min()), float(column.si_values.max())]
        of_tensor = tensor.endswith(".inertia") and tensors.count(tensor) > 1
        if not of_tensor and (column not in tied or len(tied) == 1):
            with about(f"axis {column.name!r}"):
                for end in ends:
                    set_parameters(arm, {column.address: end})
        elif of_tensor and ends[0] < 0.0 and column.address.endswith(("xx", "yy", "zz")):
            raise SweepError(
                f"axis {column.name!r}: {column.address} = {ends[0]!r}: must be 0 or more."
            )
        elif not (of_tensor or ends[0] > 0.0):
            raise SweepError(
                f"axis {column.name!r}: {column.address} = {ends[0]!r}: must be greater than 0."
            )
    values = {column.address: column.si_values for column in columns}
    for theory in theories:
        with about("theories"):
            PLANS.of(arm).require_theory(arm, theory, values)


def check_outputs(arm: AnyArm, outputs: tuple[str, ...], columns: Sequence[Column]) -> None:
    """Raise an error for response outputs without a response; warn of axes along which no output changes."""
    parts = {name: QUANTITIES[name].part for name in outputs}
    for column in columns:
        if is_damping(column.address) and not {"damped", "peak"}.intersection(parts.values()):
            warnings.warn(
                f"axis {column.name!r}: undamped frequencies do not change along {column.address}; ask for an output "
                "of the damped arm, such as damping_ratio",
                ImplausibleWarning,
                stacklevel=4,
            )
    pressed = [name for name, part in parts.items() if part == "buckling"]
    if pressed and not under_forces(arm):
        raise SweepError(
            f"outputs: {pressed[-1]!r} is of loads that grow, and the arm bears none; give it "
            f"loads={arm.some_loads}, in its file a table [loads], or links an axial_force."
        )
