"""Axes and arms of cells from the dataset of a sweep."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_named
from jaxmodal.runtime.errors import suggestion
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.files.arm_files import arm_from_dict
from jaxmodal.statics.link_parts import ROTOR
from sweeps.definition.errors import SweepError

if TYPE_CHECKING:
    import xarray as xr


def definition_of(ds: xr.Dataset) -> dict[str, Any]:
    """Return the definition stored in the attributes of a dataset.

    Raises
    ------
    SweepError
        If the dataset is not the result of a sweep.
    """
    if "definition" not in ds.attrs:
        raise SweepError("the dataset has no attribute 'definition': give the result of a sweep.")
    found: dict[str, Any] = json.loads(ds.attrs["definition"])
    return found


def checked(ds: xr.Dataset, name: str) -> None:
    """Raise an error if an axis does not exist in the dataset.

    Raises
    ------
    SweepError
        If the axis does not exist; the message lists the axes, with a suggestion.
    """
    known = axes_of(ds)
    if name not in known:
        raise SweepError(
            f"{name!r} is no axis of this dataset, which has {', '.join(known)}."
            f"{suggestion(str(name), known)}"
        )


def axes_of(ds: xr.Dataset) -> list[str]:
    """Return the names of the remaining axes of a dataset."""
    return [str(name) for name in ds.frequency.dims if name not in ("mode", "theory")]


def arm_of_cell(cell: xr.Dataset) -> tuple[AnyArm, TheoryName]:
    """Return the arm of one cell of a sweep, and its theory.

    Parameters
    ----------
    cell
        A dataset with one value of every axis (and of theory) selected, by ``sel`` or ``isel``.

    Raises
    ------
    SweepError
        If another dimension remains, or a coordinate is missing.
    ArmError
        If the values of the cell are inconsistent.

    Examples
    --------
    >>> from sweeps import Sweep, axis, run
    >>> ds = run(Sweep("example:two_link_flexible", [axis("theta_2", [0, 90], unit="degree")]))
    >>> arm, theory = arm_of_cell(ds.sel(theta_2=90))
    >>> round(float(arm.links[1].joint_angle), 4), theory
    (1.5708, 'timoshenko')
    """
    definition = definition_of(cell)
    left = [str(name) for name in cell.sizes if name == "theory" or name in definition["axes"]]
    if left:
        raise SweepError(f"cell: select one value of {', '.join(left)} as well.")
    columns = {
        name: about for entry in definition["axes"].values() for name, about in entry.items()
    }
    values = {}
    for name, about in columns.items():
        if name not in cell.coords:
            raise SweepError(f"cell: the coordinate {name!r} is missing; select without drop=True.")
        value = float(cell[name])
        values[about["parameter"]] = math.radians(value) if about["unit"] == "degree" else value
    arm = set_parameters(arm_from_dict(_with_motors(definition["arm"])), values)
    return arm, theory_named(str(cell["theory"].item()))


def _with_motors(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of the arm; in old definitions, without motors, all rotors are beyond their springs."""
    turning = {"motor": "beyond_spring"}
    links = [turning | link if ROTOR[0] in link else link for link in document["links"]]
    return {**document, "links": links}
