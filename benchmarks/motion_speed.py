"""What simulating many arms at once costs, beside SciPy one by one at no less accuracy."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.forward_dynamics import spent
from benchmarks.motion_precision import FIXED, SECONDS, starts, two_link_model

#: how each method of ours runs in `speed`: its tolerance, or its step in s
SPEEDS = (("rk4", 2e-3), ("rk4", 1e-3), ("dopri8", 1e-4), ("dopri8", 1e-6))
#: tolerances of SciPy's, of which the loosest that is no less accurate stands beside each of ours
OF_SCIPY = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
#: cases that SciPy integrates, too
SAMPLE = 3


def speed(cells: int, repeats: int) -> list[dict[str, Any]]:
    """Two seconds of the two-link arm, many at once, beside SciPy's solve_ivp one by one at no less accuracy."""
    import jax

    from jaxmodal.dynamics import bang_bang, trajectory

    model, law, first = two_link_model(), bang_bang([0.1, 0.1], 0.5), starts(cells)
    few = np.linspace(0.0, SECONDS, 5)
    exact, singles = by_scipy(model, first[:SAMPLE])
    rows = []
    for method, setting in SPEEDS:
        fixed = method in FIXED
        choices: dict[str, Any] = {"method": method}
        choices |= (
            {"substeps": round(SECONDS / 4 / setting)}
            if fixed
            else {"rtol": setting, "atol": 0.01 * setting}
        )

        def one(state: Any, chosen: Any = choices) -> Any:
            found = trajectory(model, state, 0.0 * state, few, law, **chosen)
            return found.q[-1], found.steps

        start = time.process_time()
        program = jax.jit(jax.vmap(one)).lower(first).compile()
        compiling = time.process_time() - start
        many = statistics.median(
            spent(lambda it=program: it(first))  # type: ignore[misc]
            for _ in range(repeats)
        )
        clock = time.perf_counter()
        ends, steps = jax.device_get(program(first))
        clock = time.perf_counter() - clock
        error = float(np.abs(ends[:SAMPLE] - exact).max())
        near = next((row for row in singles if row["error"] <= error), singles[-1])
        total = float(np.sum(steps))
        rows.append(
            {
                "method": method,
                "setting": setting,
                "cells": cells,
                "compile_s": compiling,
                "batch_processor_s": many,
                "batch_wall_s": clock,
                "steps_per_processor_s": total / many,
                "steps_per_wall_s": total / clock,
                "error": error,
                "scipy_s_each": near["seconds"],
                "scipy_error": near["error"],
                "scipy_rtol": near["rtol"],
                "ratio": near["seconds"] * cells / many,
                "ratio_with_compiling": near["seconds"] * cells / (many + compiling),
            }
        )
        print(" ".join(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
    return rows


def by_scipy(model: Any, first: np.ndarray) -> tuple[np.ndarray, list[dict[str, float]]]:
    """Final q of some cases at rtol 1e-11, and seconds and errors by tolerance: medians and the worst of the cases."""
    import jax
    import scipy.integrate

    from jaxmodal.dynamics.mechanics import equations

    slope = jax.jit(lambda q, rate, torques: equations.accelerations(model, q, rate, torques)[0])

    def states(torque: float) -> Callable[[float, np.ndarray], np.ndarray]:
        torques = np.full(2, torque)
        return lambda _, y: np.concatenate([y[6:], slope(y[:6], y[6:], torques)])

    def end(state: np.ndarray, rtol: float) -> np.ndarray:
        y = np.concatenate([state, np.zeros(6)])
        for begin, until, torque in ((0.0, 0.5, 0.1), (0.5, 1.0, -0.1), (1.0, 2.0, 0.0)):
            y = scipy.integrate.solve_ivp(
                states(torque), (begin, until), y, "DOP853", rtol=rtol, atol=0.01 * rtol
            ).y[:, -1]
        return y[:6]

    exact = np.stack([end(state, 1e-11) for state in first])
    rows = []
    for rtol in OF_SCIPY:
        seconds, errors = [], []
        for state, truth in zip(first, exact, strict=True):
            begun = time.process_time()
            found = end(state, rtol)
            seconds.append(time.process_time() - begun)
            errors.append(float(np.abs(found - truth).max()))
        rows.append({"rtol": rtol, "seconds": statistics.median(seconds), "error": max(errors)})
        print(f"SciPy {rtol:.0e}: {rows[-1]['seconds']:.2f} s, {rows[-1]['error']:.1e}", flush=True)
    return exact, rows
