"""What `gpu` records of a device: name, driver, versions, what it reaches at its best, and the ratios that follow."""

from __future__ import annotations

import collections
import platform
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: published float64 peaks of the vector units and of the tensor cores, TFLOP/s, and memory bandwidth, TB/s
PUBLISHED = {
    "H200": (34.0, 67.0, 4.8),
    "H100 80GB HBM3": (34.0, 67.0, 3.35),
    "H100 PCIe": (26.0, 51.0, 2.0),
    "A100-SXM4-80GB": (9.7, 19.5, 2.039),
    "A100-SXM4-40GB": (9.7, 19.5, 1.555),
}


def first_gpu() -> Any:
    """The first GPU that JAX sees, or None."""
    import jax

    from jaxmodal.runtime.devices import is_gpu

    return next((device for device in jax.local_devices() if is_gpu(device)), None)


def about(device: Any, command: list[str]) -> dict[str, Any]:
    """What was measured with what."""
    import jax
    import jaxlib

    import jaxmodal as jm
    from benchmarks.batch import cpu_model
    from jaxmodal.runtime.devices import is_gpu

    return {
        "measured_on_a_gpu": is_gpu(device),
        "device": {
            "kind": device.device_kind,
            "platform": device.platform,
            "of_this_process": len(jax.local_devices()),
            "nvidia_smi": nvidia_smi(),
        },
        "machine": {"cpu": cpu_model(), "system": platform.platform()},
        "versions": {
            "jaxmodal": jm.__version__,
            "jax": jax.__version__,
            "jaxlib": jaxlib.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "command": " ".join(command),
    }


def nvidia_smi() -> str | None:
    """Name, driver, memory and clocks of the GPUs by nvidia-smi, None where there is none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    query = "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit"
    done = subprocess.run([program, query, "--format=csv"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


def seconds(work: Callable[[], Any], repeats: int) -> tuple[float, list[float]]:
    """Time of the first call, which compiles, and of the others."""
    import jax

    times = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        jax.block_until_ready(work())
        times.append(time.perf_counter() - begin)
    return times[0], times[1:]


def device_rates(device: Any, quick: bool) -> dict[str, Any]:
    """What the device reaches in a large matrix product and a large copy, float64, and what its maker states."""
    import jax
    import jax.numpy as jnp

    size, entries = (256, 2**18) if quick else (8192, 2**28)
    a = jnp.ones((size, size))
    product = jax.jit(lambda x: jnp.matmul(x, x, precision=jax.lax.Precision.HIGHEST))
    x = jnp.ones(entries)
    copy = jax.jit(lambda x: x + 1.0)
    product_time = min(seconds(lambda: product(a), 3)[1])
    copy_time = min(seconds(lambda: copy(x), 3)[1])
    known = [peaks for name, peaks in PUBLISHED.items() if name in device.device_kind]
    vector, tensor, bandwidth = known[0] if known else (None, None, None)
    return {
        "matrix_product_teraflops": 2e-12 * size**3 / product_time,
        "copy_terabytes_per_second": 16e-12 * entries / copy_time,
        "published_vector_teraflops": vector,
        "published_tensor_teraflops": tensor,
        "published_terabytes_per_second": bandwidth,
    }


def ratios(report: dict[str, Any]) -> dict[str, float | None]:
    """How many times as many cells per second, and shares of what the device can do; None where a part is missing."""
    report = collections.defaultdict(dict, report)
    cpu = collections.defaultdict(dict, report["cpu"])
    rates = {
        ("series", "chain_form"): (report["series"], report["chain_form"]),
        ("general_fused", "chain_form"): (report["general_fused"], report["chain_form"]),
        ("general_portable", "chain_form"): (report["general_portable"], report["chain_form"]),
        ("general_fused", "general_portable"): (
            report["general_fused"],
            report["general_portable"],
        ),
        ("series", "cpu"): (report["series"], cpu["series"]),
        ("general_fused", "cpu"): (report["general_fused"], cpu["general"]),
        ("general_portable", "cpu"): (report["general_portable"], cpu["general"]),
        ("chain_form", "cpu"): (report["chain_form"], cpu["chain_form"]),
    }
    found = {
        f"{name}_over_{other}": _over(a.get("cells_per_second"), b.get("cells_per_second"))
        for (name, other), (a, b) in rates.items()
    }
    for name in ("series", "general_fused", "general_portable"):
        on_device = report["device_time"].get(name, {}).get("cells_per_second")
        found[f"{name}_call_over_device_time"] = _over(
            on_device, report[name].get("cells_per_second")
        )
    able = report["device_rates"]
    for name in ("fused", "portable"):
        program = report["programs"].get(name, {})
        for whole, of in (
            ("published_vector_teraflops", "teraflops"),
            ("matrix_product_teraflops", "teraflops"),
            ("published_terabytes_per_second", "terabytes_per_second"),
            ("copy_terabytes_per_second", "terabytes_per_second"),
        ):
            found[f"{name}_program_over_{whole}"] = _over(program.get(of), able.get(whole))
    return found


def _over(part: float | None, whole: float | None) -> float | None:
    return None if part is None or whole is None else part / whole
