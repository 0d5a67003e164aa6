"""Ten frequencies of the three-link arm in random postures: posture series and chain form, one process, one core.

``python -m benchmarks.series --postures 2000000 --out results/benchmarks/series.json``

The process is pinned to one core before JAX and NumPy are imported; solvers run in turn, once per repeat, and what
counts is processor time. Then the postures are compared with the double-double reference and with the general search,
and so are postures around the double roots and those of a slender arm.
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
#: cells of the chain form in each repeat: its time per cell does not depend on their number
CHAIN_CELLS = 2000
#: cells compared with the double-double reference, and with the general search
REFERENCE, GENERAL = 2000, 100_000
#: cells per chunk of the general search, its own choice: with a chunk size given, batches do not take the series
GENERAL_CHUNK = 4096 // MODES
#: postures of the three-link arm in which modes 2 and 3 coincide, in degrees
DOUBLE_ROOTS = (
    (-155.009952919027194, -64.1983428536445678),
    (75.4445861562247047, -65.9908017300219814),
)


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark, print and write what came out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.series", description=__doc__)
    parser.add_argument("--postures", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    add_out(parser)
    parser.add_argument("--quick", action="store_true", help="8,000 postures: is all well?")
    options = parser.parse_args(arguments)
    if options.quick:
        options.postures, options.repeats = 8000, 2
    on_one_core()
    report = measured(options.postures, options.repeats, options.quick)
    write_report(report, options.out)
    print(json.dumps(report, indent=1))


def measured(cells: int, repeats: int, quick: bool) -> dict[str, Any]:
    """Times per cell, ratios, shares and errors."""
    import jaxmodal as jm
    from benchmarks.batch_report import cpu_model

    arm = jm.examples.three_link_industrial()
    angles = np.random.default_rng(6).uniform(-np.pi, np.pi, (2, cells))
    speed = _speed(arm, angles, repeats)
    print(json.dumps(speed), flush=True)
    reference, general = (20, 8000) if quick else (REFERENCE, GENERAL)
    few = 8000 if quick else 20_000
    slender = jm.examples.two_link_flexible()
    turns = np.random.default_rng(7).uniform(-np.pi, np.pi, (1, few))
    return {
        "machine": {"cpu": cpu_model(), "cores_used": 1},
        "modes": MODES,
        "speed": speed,
        "random_postures": compared(arm, angles, reference, general),
        "around_double_roots": compared(arm, _around_double_roots(few), reference // 10, few),
        "slender_arm": compared(slender, turns, reference // 10, few),
    }


def _parameters(angles: np.ndarray) -> dict[str, np.ndarray]:
    return {f"link{i}.joint_angle": row for i, row in enumerate(angles, start=2)}


def _around_double_roots(cells: int) -> np.ndarray:
    """Postures at distances of 1e-9 to 0.3 rad from the double roots, shape (2, cells)."""
    rng = np.random.default_rng(8)
    centre = np.radians(np.array(DOUBLE_ROOTS))[rng.integers(0, 2, cells)].T
    distance, turn = 10.0 ** rng.uniform(-9.0, -0.5, cells), rng.uniform(0.0, 2.0 * np.pi, cells)
    return np.asarray(centre + distance * np.array([np.cos(turn), np.sin(turn)]))


def _speed(arm: Any, angles: np.ndarray, repeats: int) -> dict[str, Any]:
    """Processor time per cell beside the chain form, whose accuracy is the finest of `benchmarks.batch`, 3e-11."""
    import jaxmodal as jm
    from benchmarks.chain_form import ChainForm
    from benchmarks.rivals import cell_beams

    parameters = _parameters(angles)
    beams = cell_beams(arm, {name: x[:CHAIN_CELLS] for name, x in parameters.items()})
    chain = ChainForm(12, 11, 7)
    begin = time.process_time()
    jm.natural_frequencies_batch(arm, parameters, MODES)
    first_call = time.process_time() - begin
    own, rival = [], []
    for _ in range(repeats):
        begin = time.process_time()
        jm.natural_frequencies_batch(arm, parameters, MODES)
        own.append(1e6 * (time.process_time() - begin) / angles.shape[1])
        begin = time.thread_time()  # of its one thread: XLA's own, which wait, are not its burden
        found = chain.frequencies(beams, MODES)
        rival.append(1e6 * (time.thread_time() - begin) / len(found))
    return {
        "postures": angles.shape[1],
        "first_call_seconds": first_call,
        "microseconds_per_posture": statistics.median(own),
        "repeats": own,
        "chain_form_microseconds_per_posture": statistics.median(rival),
        "chain_form_repeats": rival,
        "times_chain_form": statistics.median(r / o for o, r in zip(own, rival, strict=True)),
    }


def compared(arm: Any, angles: np.ndarray, reference: int, general: int) -> dict[str, Any]:
    """What is certified and how, against the reference in some cells, and against the general search in more."""
    import jaxmodal as jm

    cells = angles.shape[1]
    result = jm.natural_frequencies_batch(arm, _parameters(angles), MODES)
    omega, certified = np.asarray(result.omega), np.asarray(result.certified)
    by_sign_changes = result.by_sign_changes
    proven = np.zeros_like(certified) if by_sign_changes is None else np.asarray(by_sign_changes)
    at = np.linspace(0, cells - 1, min(reference, cells)).astype(int)
    truth = np.stack(
        [
            jm.natural_frequencies(arm.with_posture([float(x) for x in angles[:, i]]), MODES).omega
            for i in at
        ]
    )
    error = np.abs(omega[at] / truth - 1.0)
    part = np.linspace(0, cells - 1, min(general, cells)).astype(int)
    columns = _parameters(angles[:, part])
    other = jm.natural_frequencies_batch(arm, columns, MODES, chunk_size=GENERAL_CHUNK)
    same = [
        np.array_equal(np.asarray(getattr(result, name))[part], np.asarray(getattr(other, name)))
        for name in ("status", "group")
    ]
    return {
        "postures": cells,
        "postures_certified": int(certified.all(axis=1).sum()),
        "share_of_modes_by_sign_changes": float(proven.mean()),
        "share_of_lowest_modes_by_sign_changes": float(proven[:, 0].mean()),
        "reference_postures": int(at.size),
        "largest_error": float(error.max()),
        "median_error": float(np.median(error)),
        "general_postures": int(part.size),
        "largest_difference_from_general": float(np.abs(omega[part] / other.omega - 1.0).max()),
        "same_status_and_group": bool(all(same)),
    }


if __name__ == "__main__":
    main()
