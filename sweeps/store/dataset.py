"""The dataset of a sweep: coordinates, CF attributes and provenance."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

import jaxmodal
from jaxmodal.runtime.array_types import Numbers
from jaxmodal.runtime.solver_numbers import SOLVER_NUMBERS
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.parts.parameters import describe_address, unit_of_address
from sweeps.definition.sweep import Sweep
from sweeps.solution.outputs import DIMENSIONS, QUANTITIES
from sweeps.solution.quantity import NOT_COMPUTED
from sweeps.store.grid import Grid
from sweeps.store.solve import BRACKET_WIDTH

if TYPE_CHECKING:
    import xarray as xr

REFERENCES = (
    "A. di Castri and A. Messina, J. Robotics 2011, 890258;"
    " W. H. Wittrick and F. W. Williams, Q. J. Mech. Appl. Math. 24 (1971) 263-284"
)

#: summary of certificates while shards are missing
UNFINISHED = "not finished; cells with the status not_computed hold no values"

Coordinate = tuple[tuple[str, ...], Numbers, dict[str, Any]]


def coordinates(sweep: Sweep) -> dict[str, Coordinate]:
    """Return dimensions, values and attributes of every coordinate, in the units given."""
    found: dict[str, Coordinate] = {}
    for entry in sweep.axes:
        for column in entry.columns:
            about = {
                "units": column.unit,
                "long_name": describe_address(column.address),
                "parameter": column.address,
            }
            found[column.name] = ((entry.name,), column.values, about)
    modes = np.arange(1, sweep.num_modes + 1, dtype=np.int32)
    found["mode"] = (("mode",), modes, {"units": "1", "long_name": "mode number"})
    several = len(sweep.theories) > 1
    names = np.array(sweep.theories if several else sweep.theories[0], dtype=object)
    found["theory"] = (("theory",) if several else (), names, {"long_name": "beam theory"})
    further = [name for output in sweep.outputs for name in sweep.further_dims(output)]
    for name in dict.fromkeys(further):
        labels = np.array(sweep.labels(name), dtype=np.int32 if name == "link" else object)
        found[name] = ((name,), labels, {"long_name": DIMENSIONS[name]})
    if "parameter" in further:
        units = np.array(
            [unit_of_address(address) for address in sweep.sensitivity_to], dtype=object
        )
        about = {"long_name": "SI unit of the parameter"}
        found["parameter_unit"] = (("parameter",), units, about)
    return found


def auxiliary_names(sweep: Sweep, output: str) -> list[str]:
    """Return the coordinates of an output that are not dimensions, which CF lists with the variable."""
    return [
        name
        for name, (dims, _, _) in coordinates(sweep).items()
        if dims != (name,) and set(dims) <= set(sweep.dims_of(output))
    ]


def variable_attributes(sweep: Sweep, name: str) -> dict[str, Any]:
    """Return the attributes of one output."""
    quantity = QUANTITIES[name]
    attributes = {
        "units": sweep.units_of(name),
        "long_name": quantity.long_name,
        "description": quantity.description,
    }
    if name == "frequency":
        attributes["ancillary_variables"] = "status certified"
    elif quantity.status not in ("", name):
        attributes["ancillary_variables"] = quantity.status
    if sweep.response is not None and quantity.part == "peak":
        attributes["response"] = sweep.response.title
    return {**attributes, **quantity.attributes}


def with_flag_types(ds: xr.Dataset) -> xr.Dataset:
    """Return the dataset with flag values in the type of their variable, as CF requires; JSON has no uint8."""
    for variable in ds.data_vars.values():
        if "flag_values" in variable.attrs:
            variable.attrs["flag_values"] = np.array(variable.attrs["flag_values"], variable.dtype)
    return ds


def provenance() -> dict[str, Any]:
    """Return the provenance of the numbers: versions, device, and the commit if run from a checkout."""
    device = jax.devices()[0]
    found: dict[str, Any] = {
        "jaxmodal_version": jaxmodal.__version__,
        "solver_numbers": SOLVER_NUMBERS,
        "jax_version": jax.__version__,
        "numpy_version": np.__version__,
        "device": f"{device.platform}: {device.device_kind}",
        "dtype": "float64",
    }
    commit = _commit(Path(__file__).parent.parent.parent)
    return found | ({"git_commit": commit} if commit else {})


@functools.cache  # the running code does not change when the checkout does
def _commit(root: Path) -> str:
    """Return the commit of the checkout that contains the package; empty without a checkout."""
    if not (root / ".git").exists():
        return ""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()


def global_attributes(sweep: Sweep) -> dict[str, Any]:
    """Return the attributes of the dataset that are known before anything is computed."""
    title = sweep.name or f"Natural frequencies of {sweep.arm.name or 'an arm'}"
    over = " x ".join(f"{entry.name} ({entry.size})" for entry in sweep.axes)
    return {
        "Conventions": "CF-1.11",
        "title": title,
        "source": f"jaxmodal {jaxmodal.__version__}, exact frequencies certified by counts",
        "history": f"jaxmodal {jaxmodal.__version__}: sweep over {over}",
        "references": REFERENCES,
        "fingerprint": sweep.fingerprint,
        "definition": json.dumps(sweep.description()),
        "certificate_tolerance": BRACKET_WIDTH,
        **provenance(),
    }


def certificate_summary(counts: Mapping[int, int]) -> str:
    """Return a text with the number of modes of each status, from the numbers by status code."""
    total = sum(counts.values())
    text = f"{counts.get(int(Status.certified), 0)} of {total} modes certified"
    others = [
        f"{counts[int(status)]} {status.name}"
        for status in Status
        if status is not Status.certified and counts.get(int(status))
    ]
    if counts.get(NOT_COMPUTED):
        others.append(f"{counts[NOT_COMPUTED]} not computed")
    return text + "".join(f", {entry}" for entry in others)


def status_counts(status: Any) -> dict[int, int]:
    """Return the number of occurrences of each status code in an array."""
    codes, numbers = np.unique(status, return_counts=True)
    return dict(zip(codes.tolist(), numbers.tolist(), strict=True))


class MemoryResult:
    """The shards of a sweep, collected in memory."""

    def __init__(self, sweep: Sweep, grid: Grid) -> None:
        self.sweep, self.grid = sweep, grid
        self.arrays = {
            name: np.full(sweep.array_shape(name), QUANTITIES[name].fill, QUANTITIES[name].dtype)
            for name in sweep.outputs
        }

    def write(self, shard: int, block: Mapping[str, Numbers]) -> None:
        """Put the arrays of one shard in place."""
        for name, values in block.items():
            self.arrays[name][self.grid.block(shard)] = values

    def dataset(self) -> xr.Dataset:
        """Return everything as a dataset."""
        import xarray as xr

        data = {
            name: (self.sweep.dims_of(name), values, variable_attributes(self.sweep, name))
            for name, values in self.arrays.items()
        }
        found = {name: _plain(entry) for name, entry in coordinates(self.sweep).items()}
        summary = certificate_summary(status_counts(self.arrays["status"]))
        attributes = global_attributes(self.sweep) | {"certificate_summary": summary}
        return with_flag_types(xr.Dataset(data, found, attributes))


def _plain(coordinate: Coordinate) -> Coordinate:
    dims, values, attributes = coordinate
    if values.dtype == object:
        values = values.astype(str)
    return dims, np.array(values), attributes
