"""Recomputation of every model value of the paper's tables with certified frequencies.

`comparison` decides which numbers agree with the printed ones; this module computes the frequencies and writes the
results. The reproduction fails if a cell disagrees and is not a known misprint, if the reason of a known misprint does
not hold, or if a frequency is not certified.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.reproduction import published
from benchmarks.reproduction.comparison import (
    ModeValue,
    ReproductionSummary,
    SpectrumKey,
    judge,
    summarise,
)
from benchmarks.reproduction.published import Cell
from benchmarks.reproduction.report import write_files
from jaxmodal.dynamic_stiffness.beams import TheoryName

NUM_MODES = 10


def compute_spectra(
    cells: Iterable[Cell], on_progress: Callable[[int, int], None] | None = None
) -> dict[SpectrumKey, tuple[ModeValue, ...]]:
    """Compute the first ten natural frequencies of every arm, posture and theory that the cells need.

    Parameters
    ----------
    cells : iterable of Cell
        The printed cells; each frequency column belongs to one theory.
    on_progress : callable, optional
        Called with (solves done, total number of solves) after each batch, which is one arm and theory.

    Returns
    -------
    dict
        Ten `ModeValue` [Hz] by (table, posture, theory).

    Raises
    ------
    X64DisabledError
        If JAX runs in single precision.
    """
    from jaxmodal.batches.many_arms import natural_frequencies_batch
    from jaxmodal.spatial.files import examples

    tables = {table.name: table for table in published.load_tables()}
    wanted: dict[tuple[str, TheoryName], dict[SpectrumKey, None]] = {}  # side by side, each once
    for cell in cells:
        theory = published.FREQUENCY_COLUMNS.get(cell.column)
        if theory is not None:
            of_one_arm = wanted.setdefault((tables[cell.table].example, theory), {})
            of_one_arm[cell.table, cell.posture_deg, theory] = None
    total = sum(map(len, wanted.values()))
    spectra: dict[SpectrumKey, tuple[ModeValue, ...]] = {}
    for (example, theory), keys in wanted.items():
        angles = zip(*(posture for _, posture, _ in keys), strict=True)
        values = {
            f"theta_{joint}": [math.radians(float(angle)) for angle in column]
            for joint, column in enumerate(angles, start=2)
        }
        factors = [tables[table].thickness_factor for table, _, _ in keys]
        if factors != [1.0] * len(keys):  # which sections of some shapes do not take
            values["thickness_factor"] = factors
        found = natural_frequencies_batch(examples.load(example), values, NUM_MODES, theory=theory)
        for key, *modes in zip(keys, found.frequencies_hz, found.certified, strict=True):
            spectra[key] = tuple(ModeValue(float(f), bool(c)) for f, c in zip(*modes, strict=True))
        if on_progress is not None:
            on_progress(len(spectra), total)
    return spectra


def reproduce(
    out_dir: str | Path | None = None, on_progress: Callable[[int, int], None] | None = None
) -> ReproductionSummary:
    """Recompute Tables 2-6, 9-11 and Figure 5 of the paper and compare them digit by digit.

    Parameters
    ----------
    out_dir : path, optional
        Folder for ``cells.csv`` (every cell) and ``report.md``; created if missing. None writes nothing. Both files
        contain neither dates nor machine names, and are identical in every run.
    on_progress : callable, optional
        Called with (solves done, 53) after each batch, which is one arm and theory.

    Returns
    -------
    ReproductionSummary
        ``ok`` is False if a cell differs and is not a known misprint, or a frequency is not certified.

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
