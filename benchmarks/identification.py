"""How often 95 % intervals of fitted parameters hold the true values: fits to frequencies with noise, seed fixed.

``python -m benchmarks.identification --out results/benchmarks/identification.json``

Two links on elastic joints, three modes in each of two postures, noise of 0.2 %; the stiffnesses of both joints and the
payload's mass are fitted from starts 20 to 30 % off. Most experiments have standard deviations, some leave them to be
found, with Student's intervals.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxmodal as jm
from jaxmodal.identification import MeasuredModes, fit_arm

SEED = 20_261_128
NOISE = 0.002
POSTURES = (0.3, 1.6)
THEORY = "euler_bernoulli"
TRUE = {"link1.joint_stiffness": 2.5e3, "link2.joint_stiffness": 1.3e3, "payload.mass": 0.6}
START = {"link1.joint_stiffness": 3.2e3, "link2.joint_stiffness": 1.0e3, "payload.mass": 0.45}


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
    return jm.set_parameters(jm.Arm((first, second), jm.Payload(1.0)), TRUE)


def held(experiments: int, known: bool, seed: int) -> dict[str, Any]:
    """Shares of experiments whose intervals hold the true values, by parameter, and what else became of them."""
    arm, rng = two_links(), np.random.default_rng(seed)
    exact = [
        np.asarray(jm.natural_frequencies(arm.with_posture([angle]), 3, THEORY).frequencies_hz)
        for angle in POSTURES
    ]
    true = np.array(list(TRUE.values()))
    inside, converged, evaluations, errors = [], 0, 0, []
    began = time.process_time()
    for _ in range(experiments):
        seen = [
            MeasuredModes(
                hertz * (1.0 + NOISE * rng.standard_normal(3)),
                NOISE * hertz if known else None,
                settings={"theta_2": angle},
            )
            for hertz, angle in zip(exact, POSTURES, strict=True)
        ]
        found = fit_arm(arm, seen, list(TRUE), theory=THEORY, start=START)
        inside.append((found.low <= true) & (true <= found.high))
        errors.append(np.log(found.values / true))
        converged += found.converged
        evaluations += found.evaluations
    shares = np.mean(inside, axis=0)
    return {
        "experiments": experiments,
        "standard deviations": "given" if known else "found",
        "seed": seed,
        "converged": converged,
        "evaluations of a fit": evaluations / experiments,
        "processor time of a fit [s]": round((time.process_time() - began) / experiments, 3),
        "intervals that hold [%]": {
            name: round(100.0 * float(share), 2) for name, share in zip(TRUE, shares, strict=True)
        },
        "all together [%]": round(100.0 * float(np.mean(shares)), 2),
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
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    report = [held(options.experiments, True, SEED)]
    if options.found:
        report.append(held(options.found, False, SEED + 1))
    text = json.dumps(report, indent=1)
    if options.out is None:
        print(text)
    else:
        options.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
