"""Tables and labelled dataset of a `MoveVibration`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray

    from jaxmodal.moves.results import MoveVibration

#: modes less alike than this in neighbouring postures may have been mistaken for each other
_ALIKE = 0.8


def modes_table(found: MoveVibration) -> Table:
    """Return a row for each mode: frequency at the stop and along the path, residual tip amplitude, and decay."""
    hertz = found.omega / (2.0 * np.pi)
    rows = []
    for k, size in enumerate(found.amplitudes_mm):
        decay = found.decay_times[k]
        rows.append(
            [
                str(k + 1),
                hertz_text(hertz[-1, k]),
                hertz_text(hertz[:, k].min()),
                hertz_text(hertz[:, k].max()),
                "certified" if found.certified[:, k].all() else "not certified",
                f"{size:.4g}",
                f"{decay:.4g}" if np.isfinite(decay) else "never",
            ]
        )
    headings = (
        "mode",
        "at the stop [Hz]",
        "lowest [Hz]",
        "highest [Hz]",
        "certificate",
        "left at the tip [mm]",
        "to a tenth [s]",
    )
    name = f"{found.arm} ({found.theory})" if found.arm else found.theory
    title = f"{name}: what a move of {found.stop - found.times[0]:g} s leaves at the tip"
    notes = [
        f"frequencies in {len(found.omega)} posture{'s' * (len(found.omega) > 1)} of the way; all modes together "
        f"leave at the most {found.amplitudes_mm.sum():.4g} mm"
    ]
    if found.is_large:
        notes.append(found.how_large)
    if found.assurance.size and found.assurance.min() < _ALIKE:
        step, mode = np.unravel_index(np.argmin(found.assurance), found.assurance.shape)
        notes.append(
            f"mode {mode + 1} changes much between the postures at {found.posture_times[step]:.4g} and "
            f"{found.posture_times[step + 1]:.4g} s (assurance {found.assurance.min():.2f}); "
            "more postures follow it better"
        )
    return Table(title, headings, rows, notes, ("certificate",))


def forces_table(found: MoveVibration) -> Table:
    """Return the residual amplitude due to each joint, the rates, gravity and supports alone."""
    by_force = found.amplitudes_by_force_mm
    rows = [[str(k + 1), *(f"{value:.4g}" for value in row)] for k, row in enumerate(by_force)]
    return Table(
        "left at the tip by each alone [mm]", ("mode", *found.joints, *found.forces), rows, []
    )


def move_dataset(found: MoveVibration) -> xarray.Dataset:
    """Return the result as a dataset with dims posture, mode, joint, time, force and axis."""
    import xarray

    axes = ["x", "y", "z"][: found.tips.shape[-1]]
    where = ("posture", "mode")
    variables = {
        "posture_time": variable("posture", found.posture_times, "time of the posture", "s"),
        "joint_angle": variable(
            ("posture", "joint"), np.degrees(found.angles), "angles of the joints", "degree"
        ),
        "frequency": in_hertz(where, found.omega),
        "certified": variable(where, found.certified, "whether it is certified"),
        "number": variable(where, found.number, "which frequency of its posture it is"),
        "participation": variable(
            (*where, "joint"), found.participation, "mode shape times rigid motion", "m kg^0.5"
        ),
        "deflection_per_acceleration": variable(
            (*where, "joint"),
            found.deflection_per_acceleration_mm,
            "deflection of the tip by a steady acceleration of the joint",
            "mm s^2/rad",
        ),
        "tip": variable((*where, "axis"), found.tips, "mode of unit mass at the tip", "m"),
        "coordinate": variable(("time", "mode"), found.coordinates, "modal coordinate", "m kg^0.5"),
        "left": variable("mode", found.amplitudes_mm, "amplitude of the tip at the stop", "mm"),
        "left_by_force": variable(
            ("mode", "force"), found.amplitudes_by_force_mm, "the same by each alone", "mm"
        ),
        "damping_ratio": variable("mode", found.damping_ratio, "damping ratio", "1"),
    }
    labels = {
        "mode": np.arange(1, found.omega.shape[1] + 1),
        "joint": list(found.joints),
        "force": [*found.joints, *found.forces],
        "axis": axes,
        "time": ("time", found.times, {"units": "s"}),
    }
    return xarray.Dataset(variables, labels, {"theory": found.theory, "arm": found.arm})
