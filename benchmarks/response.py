"""What an exact frequency response costs, beside one dense solve for each frequency and beside a sum over modes.

``python -m benchmarks.response --out response.json``

The three-link industrial arm with a loss factor and joint dampers; tip to tip; frequencies times postures. Processor
time of this one process, the medians of repeats in turn:

- exact: `frequency_response`, which takes sums over joint angles where these alone vary;
- recursion: the same postures without these sums;
- payloads: as many random payloads in one posture, joints: random payloads, joint springs and dampers, both: random
  payloads and angles; for which there are sums, too, from twice as many arms as samples on;
- mixed: as many arms whose payload, first length and angles vary at random, for which there are no such sums; lengths:
  random lengths of all three links. Their members are polynomials in these lengths.

Rivals get the members' matrices and the modes for free:

- stacked: the 6n complex unknowns of the links (motion at the inner end, force at the outer one), `numpy.linalg.solve`;
- modal: 20 modes of each posture, the sum over them in NumPy.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.reports import add_out, write_report

NUM_MODES = 20
LOSS, STIFFNESS, DAMPING = 0.02, 1e6, 100.0
#: systems that are solved at a time, in a cache's size
STACK = 1000


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.response", description=__doc__)
    parser.add_argument("--frequencies", type=int, default=10_000)
    parser.add_argument("--postures", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    add_out(parser)
    options = parser.parse_args(arguments)
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    found = measure(options.frequencies, options.postures, options.repeats)
    print(json.dumps(found, indent=1))
    write_report(found, options.out)


def measure(frequencies: int, postures: int, repeats: int) -> dict[str, Any]:
    """Times in s, and by how much the stacked solve differs."""
    import jaxmodal as jm
    from jaxmodal.response.receptance.answers import responses
    from jaxmodal.response.receptance.posture_plans import plan_of

    arm = jm.examples.three_link_industrial()
    links = [
        x.replace(loss_factor=LOSS, joint_stiffness=STIFFNESS, joint_damping=DAMPING)
        for x in arm.links
    ]
    arm = arm.replace(links=tuple(links))
    omega = np.linspace(1.0, 5000.0, frequencies)
    angles = np.linspace(-2.0, 2.0, postures)
    columns = {"theta_2": angles, "theta_3": -0.5 * angles}

    def exact() -> Any:
        found = jm.frequency_response(arm, omega, "tip.across", "tip.across", parameters=columns)
        return found.values[:, 0, 0]

    system = _system(arm, columns)

    def recursion() -> Any:
        return responses(system, omega)[0][0, 0]

    rng = np.random.default_rng(0)
    turned = {name: rng.uniform(-2.0, 2.0, postures) for name in ("theta_2", "theta_3")}
    loaded = {"payload.mass": rng.uniform(0.0, 50.0, postures)}
    jointed = {
        "link2.joint_stiffness": 10.0 ** rng.uniform(5.0, 7.0, postures),
        "link3.joint_damping": 10.0 ** rng.uniform(1.0, 3.0, postures),
    }
    long = {f"link{k}.length": rng.uniform(0.5, 1.5, postures) for k in (1, 2, 3)}
    random = {
        "payloads": loaded,
        "joints": loaded | jointed,
        "both": turned | loaded,
        "mixed": turned | loaded | {"link1.length": long["link1.length"]},
        "lengths": long,
    }

    def of(varied: dict[str, np.ndarray]) -> Callable[[], Any]:
        def answered() -> Any:
            found = jm.frequency_response(arm, omega, "tip.across", "tip.across", parameters=varied)
            return found.values[:, 0, 0]

        return answered

    def alone() -> Any:
        return jm.frequency_response(arm, omega, "tip.across", "tip.across")

    members = _members(arm, omega)
    natural = np.sort(rng.uniform(10.0, 5000.0, (postures, NUM_MODES)), axis=1)
    shapes = rng.uniform(0.1, 1.0, (postures, NUM_MODES))

    def modal() -> Any:
        total = np.zeros((postures, frequencies), complex)
        for k in range(NUM_MODES):
            stiffness = natural[:, k, None] ** 2 * (1.0 + 1j * LOSS)
            total += shapes[:, k, None] ** 2 / (stiffness - omega**2)
        return total

    def stacked() -> Any:
        return np.stack([_stacked(arm, members, omega, a, -0.5 * a) for a in angles])

    times: dict[str, list[float]] = {}
    values: dict[str, Any] = {}
    rivals: dict[str, Callable[[], Any]] = {
        "exact": exact, "recursion": recursion, "one_arm": alone, "modal": modal, "stacked": stacked
    }  # fmt: skip
    rivals |= {name: of(varied) for name, varied in random.items()}
    for _ in range(repeats):
        for name, call in rivals.items():
            start = time.process_time()
            values[name] = call()
            times.setdefault(name, []).append(time.process_time() - start)
    medians = {name: statistics.median(x) for name, x in times.items()}
    ways = {
        name: "recursion" if plan_of(_system(arm, each), omega) is None else "sums"
        for name, each in {"exact": columns, **random}.items()
    }

    answers = ("exact", "recursion", *random)

    def apart(name: str) -> float:
        return float((np.abs(values[name] - values["exact"]) / np.abs(values["exact"])).max())

    return {
        "frequencies": frequencies,
        "postures": postures,
        "ways": ways,
        "seconds": medians,
        "stacked_over": {x: medians["stacked"] / medians[x] for x in answers},
        "modal_over": {x: medians["modal"] / medians[x] for x in answers},
        "largest_difference_to_stacked": apart("stacked"),
        "largest_difference_to_recursion": apart("recursion"),
    }


def _system(arm: Any, columns: dict[str, np.ndarray]) -> Any:
    """Tip to tip of many arms."""
    from jaxmodal.response.driven.ports import ports
    from jaxmodal.response.driven.systems import system_of

    tip = ports("tip.across", arm, "inputs")
    given = (tuple(columns), np.array(list(columns.values())))
    return system_of(arm, "timoshenko", "receptance", tip, tip, given)


def _members(arm: Any, omega: np.ndarray) -> dict[str, np.ndarray]:
    """F, H, R of the links as full matrices (links, frequencies, 3, 3)."""
    import jax

    from jaxmodal.dynamic_stiffness.beams import prepared_values
    from jaxmodal.response.driven.damping import damped_beams, damping_of
    from jaxmodal.response.driven.members import cut_at, members_of_links

    beams, theory = prepared_values(arm, "timoshenko")
    beams, damping = jax.tree_util.tree_map(lambda x: x[:, None], (beams, damping_of(arm)))
    at = damped_beams(beams, damping, omega)
    m = members_of_links(at, theory, omega, cut_at(arm.num_links, ()))._asdict()

    def full(letter: str) -> np.ndarray:
        made = np.zeros((arm.num_links, omega.size, 3, 3), complex)
        for i, row in enumerate("uvp"):
            for j, column in enumerate("uvp"):
                value = m.get(f"{letter}_{row}{column}", m.get(f"{letter}_{column}{row}"))
                if value is not None:
                    made[:, :, i, j] = value
        return made

    return {letter: full(letter) for letter in "fhr"}


def _stacked(
    arm: Any, members: dict[str, np.ndarray], omega: np.ndarray, *angles: float
) -> np.ndarray:
    """The tip's receptance at all frequencies in one posture."""
    from jaxmodal.arm.arrays import beam_values

    beams, n = beam_values(arm), arm.num_links
    compliance = 1.0 / (STIFFNESS + 1j * omega * DAMPING)
    turns = []
    for angle in angles:  # motions of a link in the axes of the next
        s, c = np.sin(angle), np.cos(angle)
        turns.append(np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]))
    found = np.empty(omega.size, complex)
    load = np.array([0.0, 1.0, 0.0])
    for start in range(0, omega.size, STACK):
        some = slice(start, start + STACK)
        w = omega[some]
        matrix, right = (
            np.zeros((w.size, 6 * n, 6 * n), complex),
            np.zeros((w.size, 6 * n), complex),
        )
        give = np.zeros((w.size, 3, 3), complex)
        give[:, 2, 2] = compliance[some]
        f, h, r = (members[x][:, some] for x in "fhr")
        for i in range(n):
            motion, force = slice(6 * i, 6 * i + 3), slice(6 * i + 3, 6 * i + 6)
            # the motion beyond the joint, less the give of its spring under the force at the inner end
            ht = np.swapaxes(h[i], -1, -2)
            matrix[:, motion, motion] += np.eye(3) + give @ f[i]
            matrix[:, motion, force] += -give @ ht
            if i:
                before = slice(6 * i - 6, 6 * i - 3), slice(6 * i - 3, 6 * i)
                matrix[:, motion, before[0]] += -turns[i - 1] @ h[i - 1]
                matrix[:, motion, before[1]] += -turns[i - 1] @ r[i - 1]
            # the force at the outer end balances the body there, the next link and the load
            mass = np.diag([beams.tip_mass[i], beams.tip_mass[i], beams.tip_inertia[i]])
            inertia = (w * w)[:, None, None] * mass
            matrix[:, force, motion] += -inertia @ h[i]
            matrix[:, force, force] += np.eye(3) - inertia @ r[i]
            if i + 1 < n:
                after = slice(6 * i + 6, 6 * i + 9), slice(6 * i + 9, 6 * i + 12)
                matrix[:, force, after[0]] += turns[i].T @ f[i + 1]
                matrix[:, force, after[1]] += -turns[i].T @ np.swapaxes(h[i + 1], -1, -2)
            else:
                right[:, force] = load
        answer = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        tip = h[-1] @ answer[:, -6:-3, None] + r[-1] @ answer[:, -3:, None]
        found[some] = tip[:, 1, 0]
    return found


if __name__ == "__main__":
    main()
