"""What mode shapes and sensitivities cost, against the solve that they follow.

``python -m benchmarks.modes --out results/benchmarks/modes.json``

Ratios are of medians taken in turn within one process; compiling is not counted. The reference is one
`natural_frequencies` of the same arm for the same modes, and for cells in batches `natural_frequencies_batch`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.reports import add_out, write_report

MODES = 10
#: relative change of the arm from call to call, so that nothing is remembered
_NUDGE = 1e-9


def main(arguments: list[str] | None = None) -> None:
    """Measure all arms, print a table and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.modes", description=__doc__)
    add_out(parser)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--cells", type=int, default=2048)
    options = parser.parse_args(arguments)
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    rows = {**single_arms(options.repeats), **batches(options.cells, max(3, options.repeats // 5))}
    print(f"{'':<28}{'solve, s':>12}{'with it, s':>12}{'ratio':>8}")
    for name, row in rows.items():
        for kind, seconds in row["seconds"].items():
            print(
                f"{name + ' ' + kind:<28}{row['solve']:12.4f}{seconds:12.4f}{row['ratio'][kind]:8.2f}"
            )
    about = {"modes": MODES, "repeats": options.repeats, "cells": options.cells}
    write_report({**about, "rows": rows}, options.out)


def single_arms(repeats: int) -> dict[str, Any]:
    """One arm at a time: all gradients (solve included), the table of all parameters, shapes."""
    import jax
    import jax.numpy as jnp

    import jaxmodal as jm

    rows = {}
    for name, arm in {
        "two_link_flexible": jm.examples.two_link_flexible().with_posture([0.8]),
        "three_link_industrial": jm.examples.three_link_industrial().with_posture([0.8, 0.8]),
    }.items():
        names = jm.list_addresses(arm)
        start = jnp.array([float(jm.get_parameter(arm, a)) for a in names])

        def omega(x: Any, arm: Any = arm, names: Any = names) -> Any:
            changed = jm.set_parameters(arm, dict(zip(names, x, strict=True)))
            return jm.natural_frequencies(changed, MODES).omega

        def shapes(x: Any, arm: Any = arm, names: Any = names) -> Any:
            changed = jm.set_parameters(arm, dict(zip(names, x, strict=True)))
            return jm.mode_shapes(changed, MODES, stations=21).displacement

        calls = {
            "solve": jax.jit(omega),
            "jacrev": jax.jit(jax.jacrev(omega)),
            "jacfwd": jax.jit(jax.jacfwd(omega)),
            "grad": jax.jit(jax.grad(lambda x, omega=omega: jnp.sum(omega(x)))),
            "shapes": jax.jit(shapes),
        }
        finite = jnp.isfinite(start)
        rows[name] = {
            "parameters": len(names),
            **in_turn(
                calls, lambda k, s=start, f=finite: jnp.where(f, s * (1 + k * _NUDGE), s), repeats
            ),
        }
    return rows


def batches(cells: int, repeats: int) -> dict[str, Any]:
    """Many cells: modal quantities with the sensitivities to three parameters, at frequencies that are known."""
    import numpy as np

    import jaxmodal as jm

    arm = jm.examples.three_link_industrial()
    rng = np.random.default_rng(0)
    angles = {f"link{n}.joint_angle": rng.uniform(-np.pi, np.pi, cells) for n in (2, 3)}
    walls = [f"link{n}.section.wall_thickness" for n in (1, 2, 3)]
    found = jm.natural_frequencies_batch(arm, angles, MODES, kernel="portable")
    calls: dict[str, Callable[[Any], Any]] = {
        "solve": lambda k: (
            jm.natural_frequencies_batch(arm, nudged(angles, k), MODES, kernel="portable").omega
        ),
        "modal_quantities": lambda k: (
            jm.modal_quantities_batch(arm, angles, found, addresses=walls).logarithmic
        ),
    }
    return {f"{cells}_postures": in_turn(calls, lambda k: k, repeats)}


def nudged(values: dict[str, Any], k: int) -> dict[str, Any]:
    """The same values but for the last digits."""
    return {name: column * (1 + k * _NUDGE) for name, column in values.items()}


def in_turn(
    calls: dict[str, Callable[[Any], Any]], argument: Callable[[int], Any], repeats: int
) -> dict[str, Any]:
    """Median seconds of each call, taken in turn, and ratios to the first one, the solve."""
    import jax

    taken: dict[str, list[float]] = {name: [] for name in calls}
    for k in range(repeats + 1):
        for name, call in calls.items():
            given = jax.block_until_ready(argument(k))
            begin = time.perf_counter()
            jax.block_until_ready(call(given))
            if k:  # the first call compiles
                taken[name].append(time.perf_counter() - begin)
    seconds = {name: statistics.median(times) for name, times in taken.items()}
    solve = seconds.pop("solve")
    return {
        "solve": solve,
        "seconds": seconds,
        "ratio": {name: value / solve for name, value in seconds.items()},
    }


if __name__ == "__main__":
    main()
