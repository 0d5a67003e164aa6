"""Output files of a result: the arm, the history and the plots, each written atomically."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

from design_opt.solvers.results import OptimisationResult
from jaxmodal.runtime.whole_files import write_text, write_whole


def can_draw() -> bool:
    """Return True if matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def write_result(result: OptimisationResult, stem: Path, plot: bool) -> list[Path]:
    """Write the arm (STEM_arm.toml), the history (STEM.nc) and plots (STEM_NAME.png); return the paths.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    text = result.arm.to_toml()
    written = [write_text(stem.with_name(f"{stem.name}_arm.toml"), text)]
    if not result.steps:
        return written
    history = result.to_xarray()
    written.append(write_whole(stem.with_name(f"{stem.name}.nc"), history.to_netcdf))
    if plot:
        from design_opt.output.plots import pictures
        from sweeps.plots.style import save

        for name, figure in pictures(result).items():
            path = stem.with_name(f"{stem.name}_{name}.png")
            written.append(write_whole(path, functools.partial(save, figure)))
    return written
