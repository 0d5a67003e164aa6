"""Estimated time of a sweep on this machine: a part of its first chunk is solved and timed, and extrapolated."""

from __future__ import annotations

import dataclasses
import math
from typing import overload

from jaxmodal.postures import places
from jaxmodal.runtime.devices import available_cores
from sweeps.commands.base import LARGE
from sweeps.definition.sweep import Sweep
from sweeps.store.first_chunk import measured, measured_earlier
from sweeps.store.grid import Grid, dataset_bytes, sizes_of
from sweeps.store.solve import sample_of


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Elapsed seconds on ``cores`` cores, without pictures.

    ``begin`` is the time before the first cell, ``computing`` that of all cells, extrapolated from ``measured_cells``
    cells that took ``measured_seconds``, here or in an ``earlier`` process. ``drawn`` is True if pictures are drawn
    afterwards.
    """

    begin: float
    computing: float
    measured_cells: int
    measured_seconds: float
    cores: int
    drawn: bool
    earlier: bool = False

    @property
    def total(self) -> float:
        """Total time without pictures."""
        return self.begin + self.computing


@overload
def estimate(sweep: Sweep, grid: Grid, started: float = 0.0) -> Estimate: ...


@overload
def estimate(
    sweep: Sweep, grid: Grid, started: float = 0.0, *, timing: bool
) -> Estimate | None: ...


def estimate(
    sweep: Sweep, grid: Grid, started: float = 0.0, *, timing: bool = True
) -> Estimate | None:
    """Return the estimated time of ``jaxmodal sweep run`` for all cells of a sweep on this machine.

    It includes the start of the process, which took ``started`` seconds here. Without ``timing`` no cell is solved, and
    the time is None if no earlier process has measured it.
    """
    found = measured(sweep, grid) if timing else measured_earlier(sweep, grid)
    if found is None:
        return None
    chunk = math.prod(sizes_of(next(grid.chunks(0))))
    return Estimate(
        begin=started + found.begin,
        computing=found.chunk_seconds * sweep.num_cells / chunk,
        measured_cells=found.cells,
        measured_seconds=found.seconds,
        cores=available_cores(),
        drawn=dataset_bytes(sweep) <= LARGE,
        earlier=found.earlier,
    )


def path_text(sweep: Sweep) -> str:
    """Return a text on the method for the frequencies of a sweep, with the reason."""
    arm = sweep.arm
    addresses, values = sample_of(sweep)
    why = places.why_not(arm, addresses, sweep.num_cells, values)
    if why:
        return f"path: every cell by itself ({why})"
    asked = places.varied(arm, addresses, values)
    assert asked is not None
    angles = ", ".join(str(joint + 1) for joint in asked.joints)
    parts = [f"angles of joint{'s' * (len(asked.joints) > 1)} {angles}"] if angles else []
    tied = {tie.quantity: [addresses[row] for row in tie.rows[1:]] for tie in asked.ties}
    for q in asked.quantities:
        others = ", ".join(tied.get(q, []))
        parts.append(f"{q.address}{' with ' * bool(others)}{others}, {q.degree + 1} each")
    terms = places.terms_of(arm, asked)
    of = "; ".join(parts)
    return f"path: posture series, a table of {terms} terms ({of}); what it leaves open by itself"


def time_text(found: Estimate | None) -> str:
    """Return an estimate as text: the time, and what was measured; without one, how to get it."""
    if found is None:
        return "time: not known, no cells of it were timed here; leave --no-timing out"
    pictures = ", and pictures" if found.drawn else ""
    first = f"the first {found.measured_cells}" if found.measured_cells > 1 else "the first"
    return (
        f"time: about {seconds_text(found.total)} on {_cores(found)}{pictures}: {seconds_text(found.begin)} to begin, "
        f"and all cells as {first}, which took {found.measured_seconds:.2g} s here"
        f"{' earlier' * found.earlier}"
    )


def _cores(found: Estimate) -> str:
    return f"{found.cores} core{'s' * (found.cores > 1)}"


def workers_lines(found: Estimate | None, workers: int, shards: int) -> list[str]:
    """Return lines with the time on several machines like this one; none for a single machine, or without a time."""
    if workers == 1 or found is None:
        return []
    most = math.ceil(shards / workers)  # shards of the busiest machine
    wall = found.begin + found.computing * most / shards
    hours = wall * found.cores * workers / 3600
    return [
        f"workers: {workers} of {_cores(found)} each take about {seconds_text(wall)}, {hours:.3g} core-hours in all"
    ]


def seconds_text(seconds: float) -> str:
    """Return a time as readable text: ``1 h 20 min``, ``45 s``."""
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
