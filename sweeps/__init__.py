"""Parameter sweeps over arms: labelled, certified, resumable.

A `Sweep` is an arm with named axes over any of its parameters; `run` turns it into an xarray Dataset,
in memory or in a Zarr store that survives a kill and resumes.
"""

from jaxmodal.runtime.public_names import report_package
from sweeps.analysis.extremes import extremes
from sweeps.definition.axes import Axis, axis, geomspace, linspace, over_limits, zipped
from sweeps.definition.errors import StoreError, SweepError
from sweeps.definition.files import read_sweep, sweep_from_dict, sweep_names
from sweeps.definition.random_designs import Range, random_design
from sweeps.definition.response import Response
from sweeps.definition.sweep import Sweep
from sweeps.explorer.report.written import report
from sweeps.explorer.written import explore
from sweeps.solution.outputs import QUANTITIES
from sweeps.store.executors import Dask, InProcess
from sweeps.store.run import open_result, run
from sweeps.store.shares import Claims, Part

__all__ = [
    "QUANTITIES",
    "Axis",
    "Claims",
    "Dask",
    "InProcess",
    "Part",
    "Range",
    "Response",
    "StoreError",
    "Sweep",
    "SweepError",
    "axis",
    "explore",
    "extremes",
    "geomspace",
    "linspace",
    "open_result",
    "over_limits",
    "random_design",
    "read_sweep",
    "report",
    "run",
    "sweep_from_dict",
    "sweep_names",
    "zipped",
]

report_package(globals())
