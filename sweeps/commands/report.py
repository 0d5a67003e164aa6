"""Text output of sweep commands: plans, summaries, the state of a store."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxmodal.runtime.statuses import Status
from sweeps.commands.estimate import (
    Estimate,
    estimate,
    path_text,
    seconds_text,
    time_text,
    workers_lines,
)
from sweeps.definition.sweep import Sweep
from sweeps.store.attempts import MOST
from sweeps.store.grid import (
    FEW_CHUNKS,
    MOST_FILES,
    SHARD_BYTES,
    SHARD_SECONDS,
    Grid,
    dataset_bytes,
    grid_for_rate,
    make_grid,
    num_files,
)

if TYPE_CHECKING:
    import xarray as xr

    from sweeps.store.zarr_store import State

#: most shards named in one line
_LISTED = 5


class Planned(NamedTuple):
    """What is planned for a sweep: its grid, and the estimated time if it is known.

    ``sized`` is False if the size of shards follows from the time, which is not known.
    """

    grid: Grid
    time: Estimate | None
    sized: bool


def planned(
    sweep: Sweep,
    chunk_cells: int | None = None,
    shard_cells: int | None = None,
    started: float = 0.0,
    *,
    timing: bool = True,
) -> Planned:
    """Return the grid of a new store of a sweep, and the estimated time; a part of its first chunk is solved.

    Without given sizes, shards have the size that follows from this time. See `estimate`. Without ``timing`` no cell is
    solved, and the time is known only if an earlier process has measured it.
    """
    grid = make_grid(sweep, chunk_cells, shard_cells)
    time = estimate(sweep, grid, started, timing=timing)
    if chunk_cells is not None or shard_cells is not None or grid.num_chunks <= FEW_CHUNKS:
        return Planned(grid, time, True)
    if time is None:
        return Planned(grid, None, False)
    return Planned(grid_for_rate(sweep, sweep.num_cells / time.computing), time, True)


def work_lines(sweep: Sweep) -> list[str]:
    """Return lines on what a sweep would compute, which follow from its definition."""
    lines = [f"{sweep.name or 'sweep'}: {sweep.arm.name or 'an arm'}, {sweep.arm.num_links} links"]
    for entry in sweep.axes:
        for column in entry.columns:
            values, unit = column.values, "" if column.unit == "1" else f" {column.unit}"
            ends = f"{values[0]:g} to {values[-1]:g}{unit}" if entry.is_index else (
                f"within {values.min():g} to {values.max():g}{unit}"
            )  # fmt: skip
            lines.append(f"  {column.name}: {column.address}, {entry.size} values, {ends}")
    solved = sweep.num_cells * len(sweep.solved_theories)
    return [
        *lines,
        f"theories: {', '.join(sweep.theories)}; modes: 1 to {sweep.num_modes}",
        f"outputs: {', '.join(sweep.outputs)}",
        f"cells: {sweep.num_cells} ({' x '.join(map(str, sweep.shape))}), {solved} arms to solve, "
        f"{solved * sweep.num_modes} frequencies",
        path_text(sweep),
    ]


def cost_lines(sweep: Sweep, plan: Planned, workers: int = 1) -> list[str]:
    """Return lines on chunks, shards, files, bytes and time."""
    grid, whole = plan.grid, dataset_bytes(sweep)
    if plan.sized:
        shards = (
            f"{grid.num_shards} of {_times(grid.shard_shape)} cells, {num_files(sweep, grid)} files"
        )
        memory = size_text(whole * grid.most_cells / sweep.num_cells)
    else:
        shards = f"about {SHARD_SECONDS:g} s each, at most {MOST_FILES} files"
        memory = f"at most {size_text(SHARD_BYTES)}"
    return [
        f"chunks: {grid.num_chunks} of {_times(grid.chunk_shape)} cells; shards: {shards}",
        f"size: {size_text(whole)} before compression; in memory with a store: one shard, {memory}",
        time_text(plan.time),
        *workers_lines(plan.time, workers, grid.num_shards),
    ]


def _times(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def size_text(size: float) -> str:
    """Return a number of bytes as readable text: ``12.3 MB``."""
    power = 0 if size < 1000 else min(4, int(math.log(size, 1000)))
    return f"{size / 1000**power:.3g} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"


def stored_bytes(path: Path) -> int:
    """Return the size of a folder on disk."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def summary_head(ds: xr.Dataset) -> list[str]:
    """Return title and certificates of a dataset, without reading its data."""
    return [str(ds.attrs["title"]), str(ds.attrs["certificate_summary"])]


def summary_lines(ds: xr.Dataset) -> list[str]:
    """Return lines with the certificates of a dataset, and the range of each mode with its coordinates."""
    lines = summary_head(ds)
    dims = [str(name) for name in ds.frequency.dims if name != "mode"]
    for mode in ds.mode.values:
        values = ds.frequency.sel(mode=mode).transpose(*dims).values
        if not np.any(np.isfinite(values)):
            lines.append(f"  mode {mode}: no values")
            continue
        low, high = np.nanargmin(values), np.nanargmax(values)
        ends = [f"{values.flat[k]:.6g} Hz at {_place(ds, dims, int(k))}" for k in (low, high)]
        lines.append(f"  mode {mode}: {ends[0]} to {ends[1]}")
    if "peak_response" in ds:
        lines.append(_peak_line(ds, [name for name in dims if name in ds.peak_response.dims]))
    return lines + (_sensitivity_lines(ds) if "sensitivity" in ds else [])


def _peak_line(ds: xr.Dataset, dims: list[str]) -> str:
    """Return a line with the lowest and the highest peak of the response, and their coordinates."""
    peak = ds.peak_response.transpose(*dims)
    what, unit = f"peaks of {peak.attrs['response']}", peak.attrs["units"]
    if not np.any(np.isfinite(peak.values)):
        return f"{what}: no values"
    low, high = (
        int(find(np.where(np.isfinite(peak.values), peak.values, np.nan)))
        for find in (np.nanargmin, np.nanargmax)
    )
    ends = [f"{peak.values.flat[k]:.6g} {unit} at {_place(ds, dims, k)}" for k in (low, high)]
    return f"{what}: {ends[0]} to {ends[1]}"


def _sensitivity_lines(ds: xr.Dataset) -> list[str]:
    """Return lines with the parameters of largest sensitivity, and their share of the cells."""
    lines = ["largest logarithmic sensitivity, share of the cells:"]
    sizes = abs(ds.sensitivity).transpose("mode", ..., "parameter")
    for mode, values in zip(ds.mode.values, sizes.values, strict=True):
        flat = values.reshape(-1, values.shape[-1])
        known = flat[np.isfinite(flat).all(axis=1)]
        shares = np.bincount(known.argmax(axis=1), minlength=flat.shape[1]) / max(len(known), 1)
        order = [k for k in np.argsort(-shares)[:3] if shares[k] > 0.0]
        texts = [f"{ds.parameter.values[k]} {100.0 * shares[k]:.3g} %" for k in order]
        lines.append(f"  mode {mode}: {', '.join(texts) or 'no values'}")
    return lines


def _place(ds: xr.Dataset, dims: list[str], flat: int) -> str:
    index = np.unravel_index(flat, [ds.sizes[name] for name in dims])
    parts = []
    for name, i in zip(dims, index, strict=True):
        if name not in ds.coords:
            parts.append(f"{name} {int(i) + 1}")
            continue
        value = ds[name].values[i]
        unit = ds[name].attrs.get("units", "1")
        unit = "" if unit == "1" else f" {unit}"
        parts.append(str(value) if name == "theory" else f"{name} {float(value):.6g}{unit}")
    return ", ".join(parts)


def status_lines(ds: xr.Dataset, store: str, state: State) -> list[str]:
    """Return lines with the state of a store: shards, cells, certificates, or damaged pieces."""
    left = "complete" if state.missing == 0 else f"{state.missing} to compute"
    lines = [
        str(ds.attrs["title"]),
        f"shards: {state.shards - state.missing} of {state.shards} computed, {left}",
        f"fingerprint: {ds.attrs['fingerprint']}",
    ]
    if state.given_up:
        lines.append(_given_up_line(state.given_up))
    if state.torn:
        from sweeps.store.labels import damaged

        return [*lines, *(str(damaged(store, state.torn)).splitlines()[1:])]
    for status in Status:
        if state.modes[int(status)]:
            lines.append(f"modes {status.name}: {state.modes[int(status)]}")
            if status is not Status.certified:
                lines.append(f"  {status.cause}; {status.remedy}")
    if ds.status.size > state.modes.total():
        lines.append(f"modes not computed: {ds.status.size - state.modes.total()}")
    return lines


def _given_up_line(shards: Sequence[int]) -> str:
    """Return a line with the shards that are given up because they ended processes."""
    more = f" and {len(shards) - _LISTED} more" if len(shards) > _LISTED else ""
    named = f"shard{'s' * (len(shards) > 1)} {', '.join(map(str, shards[:_LISTED]))}{more}"
    return (
        f"given up: {named}, with each of which {MOST} processes ended, as where memory runs out; "
        "`jaxmodal sweep run` without --claim tries again"
    )


class Bar:
    """Progress bar on standard error with rate and remaining time; without a terminal, a line from time to time."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        from jaxmodal.cli import compiling

        console = Console(stderr=True)
        columns = (
            *(TextColumn("cells"), BarColumn(), MofNCompleteColumn()),
            *(TextColumn("{task.fields[rate]}"), TimeRemainingColumn(compact=True)),
        )
        self.visible = console.is_terminal
        self.bar = compiling.Bar(
            *columns, console=console, transient=True, disable=not self.visible
        )
        self.lines = compiling.Lines("cells")
        self.task: Any = None
        self.first = (0.0, 0)
        self.computed = self.done = self.total = 0

    def __enter__(self) -> Bar:
        (self.bar if self.visible else self.lines).__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        (self.bar if self.visible else self.lines).__exit__(None, None, None)

    def __call__(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` cells are computed."""
        now = time.monotonic()
        if self.task is None:
            self.task = self.bar.add_task("cells", total=total, completed=done, rate="")
            self.first = (now, done)
        self.computed = done - self.first[1]
        elapsed = now - self.first[0]
        rate = f"{self.computed / elapsed:.0f} cells/s" if elapsed > 0.0 and self.computed else ""
        self.bar.update(self.task, completed=done, rate=rate)
        self.done, self.total = done, total
        if not self.visible:
            left = elapsed * (total - done) / self.computed if rate else 0.0
            more = f", {rate}, about {seconds_text(left)} left" if left else ""
            self.lines(f"cells: {done} of {total}{more}")

    def remark(self, text: str) -> None:
        """Print a text above the bar."""
        self.bar.console.print(text, highlight=False)
