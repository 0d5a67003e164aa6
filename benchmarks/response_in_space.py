"""What an exact frequency response of an arm in space costs, beside one dense solve for each frequency and posture.

``python -m benchmarks.response_in_space --out response_in_space.json``

The six-axis example with a loss factor and joint dampers; a force at the tip, three outputs there; frequencies times
random postures in one call of `frequency_response`, and one posture without damping. Processor time of this one
process, the medians of repeats in turn.

The rival gets the matrices of all links for free: twelve unknowns of each link and the gives of the joints,
``numpy.linalg.solve`` in complex numbers. That it solves the same is checked without damping, where its matrices are
those that mode shapes are made of.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np

from benchmarks.reports import add_out, write_report

LOSS, DAMPING = 0.02, 50.0
INPUT, OUTPUTS = "tip.z", ("tip.x", "tip.y", "tip.z")
#: systems that are solved at a time
STACK = 200


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and write JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.response_in_space", description=__doc__
    )
    parser.add_argument("--frequencies", type=int, default=10_000)
    parser.add_argument("--postures", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    add_out(parser)
    options = parser.parse_args(arguments)
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    found = measure(options.frequencies, options.postures, options.repeats)
    print(json.dumps(found, indent=1))
    write_report(found, options.out)


def measure(frequencies: int, postures: int, repeats: int) -> dict[str, Any]:
    """Times in s for each frequency and posture, and by how much the stacked solve differs."""
    import jaxmodal as jm

    arm = jm.examples.six_axis_industrial()
    damped = arm.replace(
        links=tuple(x.replace(loss_factor=LOSS, joint_damping=DAMPING) for x in arm.links)
    )
    omega = 2.0 * np.pi * np.geomspace(1.0, 300.0, frequencies)
    turns = np.random.default_rng(0).uniform(-np.pi, np.pi, (5, postures))
    cells = {f"link{k + 2}.joint_angle": turns[k] for k in range(5)}
    few = omega[:: max(1, frequencies // STACK)][:STACK]
    matrices, loads = _stacked(arm, few)
    spent: dict[str, list[float]] = {
        "one_posture": [], "one_undamped": [], "postures": [], "stacked": []
    }  # fmt: skip
    for _ in range(repeats):
        for name, run, systems in (
            ("one_posture", lambda: _answer(damped, omega, None), frequencies),
            ("one_undamped", lambda: _answer(arm, omega, None), frequencies),
            ("postures", lambda: _answer(damped, omega, cells), frequencies * postures),
            ("stacked", lambda: np.linalg.solve(matrices.astype(complex), loads), few.size),
        ):
            start = time.process_time()
            run()
            spent[name].append((time.process_time() - start) / systems)
    times = {name: statistics.median(each) for name, each in spent.items()}
    exact = np.asarray(jm.frequency_response(arm, few, INPUT, OUTPUTS).values)[:, 0]
    solved = _tip(arm, few, np.linalg.solve(matrices, loads))
    size = np.abs(exact).max(axis=0)
    return {
        "frequencies": frequencies,
        "postures": postures,
        "unknowns": matrices.shape[1],
        "seconds_per_system": times,
        "stacked_over_postures": times["stacked"] / times["postures"],
        "stacked_over_one_posture": times["stacked"] / times["one_posture"],
        "undamped_over_damped": times["one_undamped"] / times["one_posture"],
        "median_difference": float(np.median(np.abs(solved - exact).max(axis=0) / size)),
    }


def _answer(arm: Any, omega: np.ndarray, cells: Any) -> Any:
    import jaxmodal as jm

    return jm.frequency_response(arm, omega, INPUT, OUTPUTS, parameters=cells)


def _stacked(arm: Any, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrices (F, N, N) of the undamped arm, and its loads (F, N, 1): a unit force along z at the tip."""
    from jaxmodal.spatial.modes.conditions import conditions
    from jaxmodal.spatial.modes.fields import arm_fields
    from jaxmodal.spatial.modes.modal_model import modal_model

    model = modal_model(arm.model("timoshenko"))
    ends = arm_fields(model, omega, np.array([0.0, 1.0]))
    matrix = conditions(model, omega, ends[:, :, 0], ends[:, :, 1])
    loads = np.zeros((omega.size, model.size, 1))
    last = 12 * len(model.links) - 6
    loads[:, last : last + 3, 0] = arm.frames()[-1].axes[2]
    return matrix, loads


def _tip(arm: Any, omega: np.ndarray, unknowns: np.ndarray) -> np.ndarray:
    """Displacements (3, F) of the tip along x, y and z."""
    from jaxmodal.spatial.modes.fields import arm_fields
    from jaxmodal.spatial.modes.modal_model import modal_model

    model, n = modal_model(arm.model("timoshenko")), arm.num_links
    end = arm_fields(model, omega, np.array([1.0]))[:, n - 1, 0, :6]
    own = unknowns[:, 12 * n - 12 : 12 * n]
    moved = model.transfers[-1].end @ (end @ own)
    return np.asarray((arm.frames()[-1].axes @ moved[:, :3])[..., 0].T)


if __name__ == "__main__":
    main()
