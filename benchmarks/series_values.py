"""Ten frequencies in random postures with random payloads and joint stiffness: posture series and chain form.

``python -m benchmarks.series_values --cells 1000000 --out results/benchmarks/series_values.json``

The process is pinned to one core before JAX and NumPy are imported; the series, the chain form and the general path run
in turn, once per repeat, and what counts is processor time, the series' table included. The chain form knows rigid
joints alone, and solves the same cells with these. Then some cells are compared with the search of single arms in
double-double. The ranges are a decade or two, and twelve or more, of the mass and stiffness of a link.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np

from benchmarks.one_core import on_one_core
from benchmarks.reports import add_out, write_report

MODES = 10
#: cells of the chain form and of the general path in each repeat
CHAIN_CELLS, GENERAL_CELLS = 2000, 100_000
#: cells compared with single arms in double-double
REFERENCE = 2000
#: payload's mass in that of a link, its inertia in mass times length squared, joint 2's stiffness in E I/L
RANGES: dict[str, dict[str, tuple[float, float]]] = {
    "decades": {"mass": (0.01, 2.0), "inertia": (1e-3, 0.1), "stiffness": (0.1, 10.0)},
    "all sizes": {"mass": (1e-6, 1e6), "inertia": (1e-6, 1e6), "stiffness": (1e-6, 1e12)},
}


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark, print and write what came out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.series_values", description=__doc__)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--links", type=int, nargs="*", choices=(2, 3), default=[3, 2])
    add_out(parser)
    parser.add_argument("--quick", action="store_true", help="80,000 cells: is all well?")
    options = parser.parse_args(arguments)
    if options.quick:
        options.cells, options.repeats = 80_000, 1
    on_one_core()
    from benchmarks.batch_report import cpu_model

    report: dict[str, Any] = {"machine": {"cpu": cpu_model(), "cores_used": 1}, "modes": MODES}
    for links in options.links:
        for name in RANGES:
            found = measured(links, RANGES[name], options.cells, options.repeats)
            report[f"{links} links, {name}"] = found
            print(json.dumps({f"{links} links, {name}": found}), flush=True)
    write_report(report, options.out)


def drawn(
    links: int, ranges: dict[str, tuple[float, float]], cells: int
) -> tuple[Any, dict[str, np.ndarray]]:
    """The arm, and postures with payloads and springs of all sizes in the ranges, evenly in their logarithms."""
    import jaxmodal as jm
    from jaxmodal.arm.arrays import beam_arrays

    arm = jm.examples.three_link_industrial()
    arm = arm.replace(links=arm.links[:links])
    second = beam_arrays(arm)
    mass = float(second.density[1] * second.area[1] * second.length[1])
    units = {
        "mass": mass,
        "inertia": mass * float(second.length[1]) ** 2,
        "stiffness": float(second.youngs_modulus[1] * second.second_moment[1] / second.length[1]),
    }
    rng = np.random.default_rng(12)
    columns = {
        f"link{k}.joint_angle": rng.uniform(-np.pi, np.pi, cells) for k in range(2, links + 1)
    }
    for name, address in (
        ("mass", "payload.mass"),
        ("inertia", "payload.inertia"),
        ("stiffness", "link2.joint_stiffness"),
    ):
        low, high = np.log(ranges[name])
        columns[address] = units[name] * np.exp(rng.uniform(low, high, cells))
    return arm, columns


def measured(
    links: int, ranges: dict[str, tuple[float, float]], cells: int, repeats: int
) -> dict[str, Any]:
    """Processor time per cell of the three, and what is certified and how exact it is."""
    import jaxmodal as jm
    from benchmarks.chain_form import ChainForm
    from benchmarks.rivals import cell_beams

    arm, columns = drawn(links, ranges, cells)
    rigid = {
        name: np.full(CHAIN_CELLS, np.inf) if name.endswith("stiffness") else x[:CHAIN_CELLS]
        for name, x in columns.items()
    }
    beams, chain = cell_beams(arm, rigid), ChainForm(12, 11, 7)
    general = {name: x[:GENERAL_CELLS] for name, x in columns.items()}
    chunk = 4096 // MODES  # its own choice: with a chunk size given, batches do not take the series
    begin = time.process_time()
    found = jm.natural_frequencies_batch(arm, columns, MODES)
    first_call = time.process_time() - begin
    jm.natural_frequencies_batch(arm, general, MODES, chunk_size=chunk)
    own, rival, other = [], [], []
    for _ in range(repeats):
        begin = time.process_time()
        found = jm.natural_frequencies_batch(arm, columns, MODES)
        own.append(1e6 * (time.process_time() - begin) / cells)
        begin = time.thread_time()  # of its one thread: XLA's own, which wait, are not its burden
        chain.frequencies(beams, MODES)
        rival.append(1e6 * (time.thread_time() - begin) / CHAIN_CELLS)
        begin = time.process_time()
        jm.natural_frequencies_batch(arm, general, MODES, chunk_size=chunk)
        other.append(1e6 * (time.process_time() - begin) / min(cells, GENERAL_CELLS))
    proven = found.by_sign_changes
    return {
        "cells": cells,
        "first_call_seconds": first_call,
        "microseconds_per_cell": statistics.median(own),
        "repeats": own,
        "chain_form_microseconds_per_cell": statistics.median(rival),
        "general_path_microseconds_per_cell": statistics.median(other),
        "times_chain_form": statistics.median(r / o for o, r in zip(own, rival, strict=True)),
        "times_general_path": statistics.median(g / o for o, g in zip(own, other, strict=True)),
        "cells_certified": int(np.asarray(found.certified).all(axis=1).sum()),
        "share_of_modes_by_sign_changes": float(np.mean(np.asarray(proven)))
        if proven is not None
        else None,
        **errors(arm, columns, np.asarray(found.omega)),
    }


def errors(arm: Any, columns: dict[str, np.ndarray], omega: np.ndarray) -> dict[str, Any]:
    """Of some cells, against the search of single arms in double-double."""
    import jaxmodal as jm
    from jaxmodal.arm.parameters import set_parameters

    at = np.linspace(0, len(omega) - 1, min(REFERENCE, len(omega))).astype(int)
    largest = 0.0
    for i in at:
        one = set_parameters(arm, {name: float(x[i]) for name, x in columns.items()})
        truth = np.asarray(jm.natural_frequencies(one, omega.shape[1]).omega)
        largest = max(largest, float(np.abs(omega[i] / truth - 1.0).max()))
    return {"reference_cells": int(at.size), "largest_error": largest}


if __name__ == "__main__":
    main()
