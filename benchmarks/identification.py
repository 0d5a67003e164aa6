"""How often 95 % intervals of fitted parameters hold the true values: fits to frequencies with noise, seed fixed.

``python -m benchmarks.identification --out results/benchmarks/identification.json``

Two links on elastic joints, three modes in each of two postures, noise of 0.2 %; the stiffnesses of both joints and the
payload's mass are fitted from starts 20 to 30 % off. Most experiments have standard deviations, some leave them to be
found, with Student's intervals. Every experiment is a whole `fit_arm` in a thread of its own; what the threads ask
for is computed together, in batches, which agree with single arms to 1e-12. Some experiments are done again by single
arms.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from typing import Any
from unittest import mock

import jax
import numpy as np

import jaxmodal as jm
from benchmarks.reports import add_out, write_report
from jaxmodal.identification import ArmFit, MeasuredModes, fit_arm, judgement, residuals
from jaxmodal.identification.predictions import Modes

SEED = 20_261_128
NOISE = 0.002
POSTURES, MODES = (0.3, 1.6), 3
THEORY = "euler_bernoulli"
TRUE = {"link1.joint_stiffness": 2.5e3, "link2.joint_stiffness": 1.3e3, "payload.mass": 0.6}
START = {"link1.joint_stiffness": 3.2e3, "link2.joint_stiffness": 1.0e3, "payload.mass": 0.45}
#: fits that run side by side, and fits that are done again by single arms
_SIDE_BY_SIDE, _AGAIN = 250, 10


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


class Together:
    """Modes that many threads ask for, computed in one batch when all of them wait."""

    def __init__(self, arm: jm.Arm) -> None:
        self.arm = arm
        self.changed = threading.Condition()
        self.running = 0
        self.asked: dict[int, np.ndarray] = {}
        self.found: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def modes_of(
        self, unknowns: Any, values: np.ndarray, arm: Any, num_modes: int, theory: str
    ) -> Modes:
        """What `predictions.modes_of` returns, once all threads have asked."""
        own = threading.get_ident()
        with self.changed:
            self.asked[own] = np.append(values, float(arm.links[1].joint_angle))
            self.changed.notify_all()
            self.changed.wait_for(lambda: own in self.found)
            hertz, slopes = self.found.pop(own)
        everyone = np.ones(num_modes, bool)
        return Modes(hertz, slopes * unknowns.rates(values), everyone, everyone)

    def answer(self) -> None:
        """Compute what is asked for until all threads have ended."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: len(self.asked) == self.running)
                if not self.running:
                    return
                asked, self.asked = self.asked, {}
            columns = np.stack(list(asked.values()), axis=1)
            cells = dict(zip((*TRUE, "theta_2"), columns, strict=True))
            found = jm.natural_frequencies_batch(self.arm, cells, MODES, theory=THEORY)
            if not np.all(np.asarray(found.certified)):
                raise RuntimeError("a frequency is not certified")
            table = jm.modal_quantities_batch(self.arm, cells, found, addresses=list(TRUE))
            hertz = np.asarray(found.frequencies_hz)
            slopes = np.asarray(table.derivative) / (2.0 * np.pi)
            with self.changed:
                for k, own in enumerate(asked):
                    self.found[own] = hertz[k], slopes[k]
                self.changed.notify_all()

    def run(self, tasks: list[Any]) -> None:
        """Run tasks, each in a thread of its own."""

        def ended(task: Any) -> None:
            try:
                task()
            finally:
                with self.changed:
                    self.running -= 1
                    self.changed.notify_all()

        threads = [threading.Thread(target=ended, args=(task,), daemon=True) for task in tasks]
        self.running = len(threads)
        for thread in threads:
            thread.start()
        self.answer()
        for thread in threads:
            thread.join()


def held(experiments: int, known: bool, seed: int) -> dict[str, Any]:
    """Shares of experiments whose intervals hold the true values, by parameter, and what else became of them."""
    arm, rng = two_links(), np.random.default_rng(seed)
    exact = [
        np.asarray(
            jm.natural_frequencies(arm.with_posture([angle]), MODES, theory=THEORY).frequencies_hz
        )
        for angle in POSTURES
    ]
    noise = 1.0 + NOISE * rng.standard_normal((experiments, len(POSTURES), MODES))
    found: dict[int, ArmFit] = {}

    def fit(k: int) -> ArmFit:
        seen = [
            MeasuredModes(
                hertz * own, NOISE * hertz if known else None, settings={"theta_2": angle}
            )
            for hertz, own, angle in zip(exact, noise[k], POSTURES, strict=True)
        ]
        return fit_arm(arm, seen, list(TRUE), theory=THEORY, start=START)

    def task(k: int) -> Any:
        return lambda: found.__setitem__(k, fit(k))

    began = time.process_time()
    together = Together(arm)
    around = jm.natural_frequencies(arm, MODES, theory=THEORY)  # only for remarks on pairs
    with (
        mock.patch.object(residuals, "modes_of", together.modes_of),
        mock.patch.object(judgement, "natural_frequencies", return_value=around),
    ):
        for first in range(0, experiments, _SIDE_BY_SIDE):
            last = min(first + _SIDE_BY_SIDE, experiments)
            together.run([task(k) for k in range(first, last)])
    seconds = time.process_time() - began
    fits = [found[k] for k in range(experiments)]
    apart = 0.0
    for k in range(min(_AGAIN, experiments)):
        single = fit(k)
        apart = max(
            apart, float(np.max(np.abs(single.values - fits[k].values) / single.standard_errors))
        )
    true = np.array(list(TRUE.values()))
    shares = 100.0 * np.mean([(fit.low <= true) & (true <= fit.high) for fit in fits], axis=0)
    errors = np.std([np.log(fit.values / true) for fit in fits], axis=0)
    return {
        "experiments": experiments,
        "standard deviations": "given" if known else "found",
        "seed": seed,
        "converged": sum(fit.status.usable for fit in fits),
        "evaluations of a fit": round(float(np.mean([fit.evaluations for fit in fits])), 2),
        "processor time of all [s]": round(seconds, 1),
        "intervals that hold [%]": dict(zip(TRUE, np.round(shares, 2).tolist(), strict=True)),
        "scatter of the values found [%]": dict(
            zip(TRUE, np.round(100.0 * errors, 3).tolist(), strict=True)
        ),
        "single arms differ by standard errors": float(f"{apart:.2g}"),
    }


def main() -> None:
    """Write the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_out(parser)
    parser.add_argument("--experiments", type=int, default=2000)
    parser.add_argument("--found", type=int, default=2000, help="experiments without deviations")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    report = [held(options.experiments, True, SEED)]
    if options.found:
        report.append(held(options.found, False, SEED + 1))
    print(json.dumps(report, indent=1))
    write_report(report, options.out)


if __name__ == "__main__":
    main()
