"""Recompute every model value of the paper's tables with the certified engine.

Which numbers agree with print is decided in `comparison`; here the frequencies are computed and
the results written. A cell that disagrees and is not a known misprint, a known misprint whose
reason does not hold, and a frequency without certificate each make the reproduction fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

from jaxmodal.reproduction import published
from jaxmodal.reproduction.comparison import ModeValue, ReproductionSummary, judge, summarise
from jaxmodal.reproduction.published import Cell
from jaxmodal.reproduction.report import write_files

__all__ = ["compute_spectra", "reproduce"]

NUM_MODES = 10


def compute_spectra(
    cells: Iterable[Cell], on_progress: Callable[[int, int], None] | None = None
) -> dict[tuple[str, tuple[str, ...], str], tuple[ModeValue, ...]]:
    """First ten natural frequencies of every arm, posture and theory that the cells need.

    Parameters
    ----------
    cells : iterable of Cell
        The printed cells; each frequency column asks for one theory.
    on_progress : callable, optional
        Called with (solves done, solves in all) after each solve.

    Returns
    -------
    dict
        Ten ModeValue [Hz] by (table, posture, theory).

    Raises
    ------
    X64DisabledError
        If JAX runs in single precision.
    """
    from jaxmodal.arm.arm import require_planar
    from jaxmodal.frequencies.one_arm import natural_frequencies
    from jaxmodal.spatial.files import examples

    wanted = dict.fromkeys(
        (cell.table, cell.posture_deg, published.FREQUENCY_COLUMNS[cell.column])
        for cell in cells
        if cell.column in published.FREQUENCY_COLUMNS
    )
    tables = {table.name: table for table in published.load_tables()}
    spectra: dict[tuple[str, tuple[str, ...], str], tuple[ModeValue, ...]] = {}
    for done, key in enumerate(wanted, start=1):
        name, posture_deg, theory = key
        arm = require_planar(examples.load(tables[name].example))
        if tables[name].thickness_factor != 1.0:
            arm = arm.with_thickness_factor(tables[name].thickness_factor)
        arm = arm.with_posture([math.radians(float(angle)) for angle in posture_deg])
        result = natural_frequencies(arm, num_modes=NUM_MODES, theory=theory, throw=False)
        spectra[key] = tuple(
            ModeValue(float(frequency), bool(certified))
            for frequency, certified in zip(result.frequencies_hz, result.certified, strict=True)
        )
        if on_progress is not None:
            on_progress(done, len(wanted))
    return spectra


def reproduce(
    out_dir: str | Path | None = None, on_progress: Callable[[int, int], None] | None = None
) -> ReproductionSummary:
    """Recompute Tables 2-6, 9-11 and Figure 5 of the paper and compare them digit by digit.

    Parameters
    ----------
    out_dir : path, optional
        Folder for ``cells.csv`` (every cell) and ``report.md``; made if missing. None writes
        nothing. Both files hold neither dates nor machine names and are the same on every run.
    on_progress : callable, optional
        Called with (solves done, solves in all) after each of the 53 solves.

    Returns
    -------
    ReproductionSummary
        ``ok`` is False when a cell differs that is not a known misprint, or a frequency is not
        certified.

    Raises
    ------
    X64DisabledError
        If JAX runs in single precision.
    OSError
        If the folder cannot be written.
    """
    if out_dir is not None:
        Path(out_dir).mkdir(parents=True, exist_ok=True)  # before the wait: it may be refused
    cells = published.load_cells()
    spectra = compute_spectra(cells, on_progress)
    summary = summarise(judge(cells, published.load_misprints(), spectra))
    if out_dir is not None:
        write_files(summary, Path(out_dir))
    return summary
