"""Certified frequencies on a GPU beside this machine's CPU and beside the chain form on the same GPU, one process.

``python -m benchmarks.gpu --out results/benchmarks/gpu.json``

Without a GPU it says so and ends with code 2; with ``--allow-cpu`` it then measures the CPU in the GPU's place, which
shows that the script works, and nothing about GPUs. The report is written after every part, so that a run that is cut
off leaves what it has measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.gpu_report import about, device_rates, first_gpu, ratios, seconds
from benchmarks.reports import add_out, write_report

MODES, MODES_IN_SPACE = 10, 6
#: cells compared with the double-double search of single arms
SAMPLE = 100


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark, print and write what came out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    add_out(parser)
    parser.add_argument("--postures", type=int, default=10_000_000, help="of the posture series")
    parser.add_argument("--cells", type=int, default=1_000_000, help="of the general path")
    parser.add_argument("--rival-cells", type=int, default=20_000, help="of the chain form")
    parser.add_argument(
        "--cpu-cells", type=int, default=20_000, help="of the CPU, and ten times as many postures"
    )
    parser.add_argument(
        "--space-cells", type=int, nargs=2, default=[20_000, 100_000], help="of an arm in space"
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a small run: is all well?")
    parser.add_argument("--allow-cpu", action="store_true", help="without a GPU, measure the CPU")
    options = parser.parse_args(arguments)
    if options.quick:
        options.postures, options.cells, options.rival_cells, options.cpu_cells = 7000, 60, 32, 60
        options.repeats, options.space_cells = 1, [700, 1000]
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    gpu = first_gpu()
    if gpu is None and not options.allow_cpu:
        print(
            f"no GPU: JAX sees {jax.devices()}. Nothing was measured or written. Install jaxmodal[cuda] on a machine"
            " with an NVIDIA GPU, or give --allow-cpu to measure the CPU in its place",
            file=sys.stderr,
        )
        raise SystemExit(2)
    device = jax.devices("cpu")[0] if gpu is None else gpu
    command = ["python -m benchmarks.gpu", *(sys.argv[1:] if arguments is None else arguments)]
    report = about(device, command) | {"modes": MODES}
    for name, part in parts(options, device).items():
        begin = time.perf_counter()
        try:
            with jax.default_device(jax.devices("cpu")[0] if name == "cpu" else device):
                report[name] = part()
        except (jax.errors.JaxRuntimeError, NotImplementedError) as error:
            report[name] = {"failed": str(error)[:2000]}
        report["ratios"] = ratios(report)
        write_report(report, options.out)
        print(f"{name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    print(json.dumps(report, indent=1))
    failed = [name for name, part in report.items() if isinstance(part, dict) and "failed" in part]
    if failed:
        raise SystemExit(f"{', '.join(failed)} failed; the report says why")


def parts(options: Any, device: Any) -> dict[str, Callable[[], dict[str, Any]]]:
    """What is measured, in turn: on the device, but for `cpu`; what a run that is cut off can best miss comes last."""
    return {
        "device_rates": functools.partial(device_rates, device, options.quick),
        "series": functools.partial(series, options.postures, options.repeats),
        "general_fused": functools.partial(general, "fused", options.cells, options.repeats),
        "chain_form": functools.partial(chain_form, options.rival_cells, options.repeats),
        "programs": functools.partial(programs, options.cells, options.repeats),
        "device_time": functools.partial(device_time, options, device),
        "general_portable": functools.partial(general, "portable", options.cells, options.repeats),
        "cpu": functools.partial(cpu_path, options),
        "variants": functools.partial(variants, options.cells, options.repeats),
        "in_space": functools.partial(in_space, options),
    }


def posture_parameters(cells: int) -> tuple[Any, dict[str, np.ndarray]]:
    """The three-link arm and random postures of it."""
    import jaxmodal as jm

    angles = np.random.default_rng(6).uniform(-np.pi, np.pi, (2, cells))
    return jm.examples.three_link_industrial(), {
        f"link{i}.joint_angle": row for i, row in enumerate(angles, start=2)
    }


def general_parameters(cells: int) -> tuple[Any, dict[str, np.ndarray]]:
    """The three-link arm, random postures and wall thicknesses: the first workload of `benchmarks.batch`."""
    from benchmarks.batch import workloads

    arm, parameters, _, _ = workloads(cells)["three_link"]
    return arm, parameters


def called(
    arm: Any, parameters: dict[str, np.ndarray], repeats: int, **options: Any
) -> dict[str, Any]:
    """Calls of `natural_frequencies_batch`, host and transfers included, and how good they are."""
    import jaxmodal as jm
    from benchmarks.batch import _accuracy, _first, _reference

    kept: list[Any] = [None]

    def solve() -> Any:
        kept[0] = jm.natural_frequencies_batch(arm, parameters, MODES, **options)
        return kept[0]  # all of it is waited for

    first, times = seconds(solve, repeats)
    cells, result = next(iter(parameters.values())).size, kept[0]
    typical = statistics.median(times)
    sample = min(SAMPLE, cells)
    return {
        "cells": cells,
        "first_call_seconds": first,
        "repeats_seconds": times,
        "cells_per_second": cells / typical,
        "microseconds_per_cell": 1e6 * typical / cells,
        "modes_not_certified": int((~np.asarray(result.certified)).sum()),
        **_accuracy(np.asarray(result.omega)[:sample], _reference(arm, _first(parameters, sample))),
    }


def series(cells: int, repeats: int) -> dict[str, Any]:
    """Random postures by the posture series."""
    return called(*posture_parameters(cells), repeats)


def general(kernel: str, cells: int, repeats: int) -> dict[str, Any]:
    """Random cells by the general path."""
    return called(*general_parameters(cells), repeats, kernel=kernel)


def in_space(options: Any) -> dict[str, Any]:
    """Random postures of the six-axis example in space, few and many."""
    import jaxmodal as jm

    arm = jm.examples.six_axis_industrial()
    report = {}
    for cells in options.space_cells:
        angles = np.random.default_rng(6).uniform(-np.pi, np.pi, (3, cells))
        parameters = {f"link{i}.joint_angle": row for i, row in enumerate(angles, start=2)}
        kept: list[Any] = [None]

        def solve(parameters: Any = parameters, kept: Any = kept) -> Any:
            kept[0] = jm.natural_frequencies_batch(arm, parameters, MODES_IN_SPACE)
            return kept[0]

        first, times = seconds(solve, min(options.repeats, 3))
        report[f"{cells} cells"] = {
            "first_call_seconds": first,
            "repeats_seconds": times,
            "cells_per_second": cells / statistics.median(times),
            "modes_not_certified": int((~np.asarray(kept[0].certified)).sum()),
        }
    return report


def device_time(options: Any, device: Any) -> dict[str, Any]:
    """Seconds of the device for as many cells as the whole calls solve, from the time of one block and its transfer."""
    from concurrent.futures import ThreadPoolExecutor

    from jaxmodal.batches.plan import Plan, Question
    from jaxmodal.postures import series_search
    from jaxmodal.postures.series_on_device import postures_of_a_block
    from jaxmodal.runtime.devices import is_gpu

    if not is_gpu(device):
        return {"skipped": "blocks stay on a GPU alone"}
    found: dict[str, Any] = {}
    cases = {
        "series": (posture_parameters(options.postures), "auto"),
        "general_fused": (general_parameters(options.cells), "fused"),
        "general_portable": (general_parameters(options.cells), "portable"),
    }
    for name, ((arm, parameters), kernel) in cases.items():
        addresses, values = tuple(parameters), np.stack(list(parameters.values()))
        cells = values.shape[1]
        question = Question(arm, addresses, MODES, "timoshenko")
        plan = Plan.of(question, values, cells, kernel=kernel)
        if plan.tables is not None:
            tables = plan.tables
            size = min(cells, postures_of_a_block(tables.panels, cells))
            block = series_search.block_on_device(tables, arm, addresses)
        else:
            with ThreadPoolExecutor(1) as pool:
                resident = plan.resident(values, pool)
            if resident is None:
                found[name] = {"skipped": "too few cells: the host solves them"}
                continue
            size, block = resident.size, resident.block
        part = np.ascontiguousarray(values[:, :size])
        first, times = seconds(functools.partial(block, part), options.repeats)
        typical = statistics.median(times)
        found[name] = {
            "cells_of_a_block": size,
            "first_block_seconds": first,
            "repeats_seconds": times,
            "cells_per_second": size / typical,
            "seconds": cells / size * typical,
        }
    return found


def programs(cells: int, repeats: int) -> dict[str, Any]:
    """The float64 search alone, inputs and outputs on the device: operations and bytes against time."""
    import jax

    from benchmarks.operations import KINDS, written
    from jaxmodal.batches.fused_search import Kernel
    from jaxmodal.batches.kernels import EXTRA, enclosed
    from jaxmodal.runtime.devices import default_device, is_gpu

    problem, beams, rough = searched(cells)
    on_gpu, size = is_gpu(default_device()), rough.shape[1]
    links, fields = beams.length.shape[0], len(jax.tree_util.tree_leaves(beams))
    kinds = dataclasses.asdict(written(_traced(problem, beams, rough)).times(1.0 / size))
    work = {
        "operations_per_cell": sum(kinds[kind] for kind in KINDS if kind != "select"),
        # what the kernel must read and write: the links, the guess, and what it found of every mode
        "bytes_per_cell": 8.0 * (links * fields + 3 * MODES + EXTRA + 13 * MODES),
    }
    found: dict[str, Any] = {"cells": size, **work, "fused_is_interpreted": not on_gpu}
    found["operations_per_cell_by_kind"] = {kind: kinds[kind] for kind in KINDS}
    kernels: dict[str, Callable[..., Any]] = {
        "fused": Kernel(True, on_gpu).enclosed,
        "portable": enclosed,
    }
    for name, program in kernels.items():
        first, times = seconds(functools.partial(program, problem, beams, rough), repeats)
        typical = statistics.median(times)
        found[name] = {
            "first_call_seconds": first,
            "repeats_seconds": times,
            "cells_per_second": size / typical,
            "teraflops": 1e-12 * work["operations_per_cell"] * size / typical,
            "terabytes_per_second": 1e-12 * work["bytes_per_cell"] * size / typical,
        }
    return found


def searched(cells: int) -> tuple[Any, Any, Any]:
    """Problem, arms and guesses of one block of the general path, on the device."""
    import jax
    import jax.numpy as jnp

    from jaxmodal.arm.columns import columns_of, unpacked
    from jaxmodal.batches.kernels import BatchProblem, grid_guess
    from jaxmodal.batches.sizes import CPU_SIZES, GPU_SIZES
    from jaxmodal.dynamic_stiffness.beams import theory_flags
    from jaxmodal.runtime.devices import default_device, is_gpu

    arm, parameters = general_parameters(max(cells, 600))
    values = np.stack(list(parameters.values()))
    problem = BatchProblem(theory_flags("timoshenko"), MODES)
    size = min(cells, (GPU_SIZES if is_gpu(default_device()) else CPU_SIZES).lanes // MODES)
    packed = columns_of(arm, tuple(parameters), values[:, :size]).packed
    beams = jax.tree_util.tree_map(lambda x: jnp.asarray(x[:, None]), unpacked(packed))
    return problem, beams, grid_guess(problem, packed).rough


def variants(cells: int, repeats: int) -> dict[str, Any]:
    """The fused kernel with other numbers of lanes and warps in one program: cells per second."""
    import jax

    from jaxmodal.arithmetic.operations import Arithmetic
    from jaxmodal.batches.fused_search import enclosed_fused
    from jaxmodal.runtime.devices import default_device, is_gpu

    if not is_gpu(default_device()):
        return {"skipped": "need a GPU"}
    problem, beams, rough = searched(cells)
    rates: dict[str, Any] = {}
    for lanes, warps in ((32, 1), (64, 2), (128, 2), (128, 4), (256, 4), (256, 8)):
        program = functools.partial(
            enclosed_fused,
            arithmetic=Arithmetic.registers,
            interpret=False,
            lanes=lanes,
            warps=warps,
        )
        name = f"{lanes} lanes, {warps} warps"
        try:
            _, times = seconds(functools.partial(program, problem, beams, rough), repeats)
            rates[name] = rough.shape[1] / statistics.median(times)
        except jax.errors.JaxRuntimeError as error:  # too many registers, say
            rates[name] = str(error)[:500]
    return rates


def _traced(problem: Any, beams: Any, rough: Any) -> Any:
    """The search as a jaxpr, without the divisions that only keep XLA from repeating some operations."""
    import jax
    import jax.numpy as jnp

    from jaxmodal.arithmetic.operations import Arithmetic
    from jaxmodal.batches.guided_search import enclose
    from jaxmodal.dynamic_stiffness.condensation import evaluate, log_at_zero

    numbers = jnp.arange(1.0, problem.modes + 1.0)[:, None]
    zero = log_at_zero(beams.length.shape[0])

    def search(rough: Any) -> Any:
        def at(omega: Any) -> Any:
            return evaluate(beams, problem.flags, omega, Arithmetic.registers)

        return jax.tree_util.tree_leaves(enclose(at, numbers, rough, zero))

    return jax.make_jaxpr(search)(rough)


def chain_form(cells: int, repeats: int) -> dict[str, Any]:
    """The rival at 3e-11 (`benchmarks.batch`) as a JAX program on the same device, and the first cells of `general`."""
    from benchmarks.batch import _accuracy, _first, _reference, workloads
    from benchmarks.chain_form_jax import frequencies
    from benchmarks.rivals import cell_beams

    arm, parameters, chain, _ = workloads(cells)["three_link"]
    beams = cell_beams(arm, parameters)
    kept: list[Any] = [None]

    def solve() -> Any:
        kept[0] = frequencies(chain, beams, MODES, min(cells, 4096))
        return kept[0]

    first, times = seconds(solve, repeats)
    sample = min(SAMPLE, cells)
    return {
        "cells": cells,
        "first_call_seconds": first,
        "repeats_seconds": times,
        "cells_per_second": cells / statistics.median(times),
        "microseconds_per_cell": 1e6 * statistics.median(times) / cells,
        **_accuracy(kept[0][:sample], _reference(arm, _first(parameters, sample))),
    }


def cpu_path(options: Any) -> dict[str, Any]:
    """The same by this machine's CPU, all cores that the process may use."""
    few = max(7000, 10 * options.cpu_cells)
    return {
        "series": called(*posture_parameters(few), options.repeats),
        "general": called(
            *general_parameters(options.cpu_cells), options.repeats, kernel="portable"
        ),
        "chain_form": chain_form(min(options.rival_cells, 2000), options.repeats),
    }


if __name__ == "__main__":
    main()
