"""Parameter sweeps over arms: labelled, certified, resumable.

A `Sweep` is an arm with named axes over any of its parameters; `run` turns it into an xarray Dataset,
in memory or in a Zarr store that survives a kill and resumes.
"""

from sweeps.axes import Axis, axis, geomspace, linspace, zipped
from sweeps.definition import Sweep
from sweeps.errors import StoreError, SweepError
from sweeps.executors import Dask, InProcess
from sweeps.files import read_sweep, sweep_from_dict, sweep_names
from sweeps.quantities import QUANTITIES
from sweeps.random_designs import Range, random_design
from sweeps.run import open_result, run

__all__ = [
    "QUANTITIES",
    "Axis",
    "Dask",
    "InProcess",
    "Range",
    "StoreError",
    "Sweep",
    "SweepError",
    "axis",
    "geomspace",
    "linspace",
    "open_result",
    "random_design",
    "read_sweep",
    "run",
    "sweep_from_dict",
    "sweep_names",
    "zipped",
]
