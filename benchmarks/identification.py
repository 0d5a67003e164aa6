"""How often 95 % intervals of fitted parameters hold the true values: fits to frequencies with noise, seed fixed.

``python -m benchmarks.identification --out results/benchmarks/identification.json``

Two links on elastic joints, four modes in one posture, noise of 0.2 %; the stiffnesses of both joints are fitted from
starts 20 to 30 % off. Most experiments have standard deviations, some leave them to be found, with Student's intervals.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxmodal as jm
from jaxmodal.identification import MeasuredModes, fit_arm

SEED = 20_261_128
NOISE = 0.002
POSTURE, MODES = 0.9, 4
THEORY = "euler_bernoulli"
TRUE = {"link1.joint_stiffness": 2.5e3, "link2.joint_stiffness": 1.3e3}
START = {"link1.joint_stiffness": 3.2e3, "link2.joint_stiffness": 1.0e3}
#: experiments of one seed, whoever works on them
_PART = 50


def two_links() -> jm.Arm:
    """The arm, with its true values."""
    beam: dict[str, Any] = {
        "length": 0.5,
        "youngs_modulus": 7e10,
        "density": 2700.0,
        "section": jm.rectangle(depth=0.02, width=0.04),
    }
    first = jm.Link(**beam, joint_stiffness=1.0, hub_inertia=0.01)
    second = jm.Link(**beam, joint_stiffness=1.0, hub_mass=1.0, hub_inertia=0.01)
    return jm.set_parameters(jm.Arm((first, second), jm.Payload(0.6)), TRUE)


def _part(task: tuple[int, bool, np.random.SeedSequence]) -> dict[str, Any]:
    """Fits of some experiments: which intervals hold, what was found, how it went."""
    experiments, known, seed = task
    jax.config.update("jax_enable_x64", True)
    arm, rng = two_links(), np.random.default_rng(seed)
    posed = arm.with_posture([POSTURE])
    exact = np.asarray(jm.natural_frequencies(posed, MODES, THEORY).frequencies_hz)
    true = np.array(list(TRUE.values()))
    part: dict[str, Any] = {"inside": [], "errors": [], "converged": 0, "evaluations": 0}
    began = time.process_time()
    for _ in range(experiments):
        seen = MeasuredModes(
            exact * (1.0 + NOISE * rng.standard_normal(MODES)),
            NOISE * exact if known else None,
            settings={"theta_2": POSTURE},
        )
        found = fit_arm(arm, seen, list(TRUE), theory=THEORY, start=START)
        part["inside"].append((found.low <= true) & (true <= found.high))
        part["errors"].append(np.log(found.values / true))
        part["converged"] += found.converged
        part["evaluations"] += found.evaluations
    part["seconds"] = time.process_time() - began
    return part


def held(experiments: int, known: bool, seed: int, workers: int = 1) -> dict[str, Any]:
    """Shares of experiments whose intervals hold the true values, by parameter, and what else became of them."""
    seeds = np.random.SeedSequence(seed).spawn(-(-experiments // _PART))
    tasks = [(min(_PART, experiments - k * _PART), known, own) for k, own in enumerate(seeds)]
    if workers == 1:
        parts = list(map(_part, tasks))
    else:
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            parts = pool.map(_part, tasks, chunksize=1)
    inside = np.concatenate([part["inside"] for part in parts])
    errors = np.concatenate([part["errors"] for part in parts])
    seconds, evaluations = (
        sum(part[name] for part in parts) for name in ("seconds", "evaluations")
    )
    shares = 100.0 * np.mean(inside, axis=0)
    return {
        "experiments": experiments,
        "standard deviations": "given" if known else "found",
        "seed": seed,
        "converged": sum(part["converged"] for part in parts),
        "evaluations of a fit": round(evaluations / experiments, 2),
        "processor time of a fit [s]": round(seconds / experiments, 3),
        "intervals that hold [%]": {
            name: round(float(share), 2) for name, share in zip(TRUE, shares, strict=True)
        },
        "scatter of the values found [%]": {
            name: round(100.0 * float(each), 3)
            for name, each in zip(TRUE, np.std(errors, axis=0), strict=True)
        },
    }


def main() -> None:
    """Write the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--experiments", type=int, default=2000)
    parser.add_argument("--found", type=int, default=400, help="experiments without deviations")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    report = [held(options.experiments, True, SEED, options.workers)]
    if options.found:
        report.append(held(options.found, False, SEED + 1, options.workers))
    text = json.dumps(report, indent=1)
    if options.out is None:
        print(text)
    else:
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
