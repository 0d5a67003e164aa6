"""Certified modes of posture series counted again about double roots and at the ends of ranges of values.

``nice python -m benchmarks.near_double_roots --cells 1000000 --out results/benchmarks/near_double_roots.json``

The three-link arm has two equal frequencies at the postures of ``three_link_double_roots.json`` without a payload; with
one, such postures lie beside these and are found here. A third of the cells of a batch lie 1e-12 to 0.1 from one of
them, in radians and in shares of a link's mass, its inertia and its compliance, evenly in the logarithm; the others
anywhere, many with a value at an end of its range, without which a batch would not take the series. What the series
leaves open is not solved but for some cells. Of the cells near roots the pair and the modes next to it are counted, of
some of all cells all modes: at both ends of the brackets and on both sides of the frequencies, in 113-bit floats
(`campaign`).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np

import jaxmodal as jm
from benchmarks import extended_counts
from benchmarks.campaign import Findings, check_result
from benchmarks.cross_check_degenerate import DOUBLE_ROOTS
from benchmarks.cross_check_draws import Case, rigidity
from benchmarks.reports import add_out, write_report
from jaxmodal.postures import series_search
from jaxmodal.runtime.statuses import Status

#: modes asked for; and in every other batch of a part fewer: then some pairs have one mode above the last
MODES, FEWER = 10, 7
#: of one cell in so many all modes are counted
EVERY = 64
#: cells anywhere for each near a root
OTHERS = 2
#: distances of cells, as powers of ten, each value at up to this share of it; one in sixteen is at the root itself
NEAR, SHARES, EXACT = (-12.0, -1.0), (-2.0, 0.0), 1.0 / 16.0
#: payload of roots that have one, and the ends of ranges, in units of a link
INSIDE, LEAST, LARGEST = 0.25, 1e-6, 1e6
#: radii on which the square of the gap is fitted to find a root; steps in which the payload is added; the last gap
RADII, STEPS, GAP = (1e-3, 1e-4, 1e-6, 1e-8), 5, 1e-12


class Part(NamedTuple):
    """Which values vary beside the posture, the payload of the roots in masses of a link, and the end of the range."""

    values: tuple[str, ...]
    payload: float
    largest: float


_PAYLOAD, _INERTIA, _SPRING = "payload.mass", "payload.inertia", "link2.joint_stiffness"
#: roots inside the range of the payload, at its least value and at its largest, at rigid joints, and all of these
PARTS = {
    "payload inside": Part((_PAYLOAD,), INSIDE, LARGEST),
    "least payload": Part((_PAYLOAD,), 0.0, LARGEST),
    "largest payload": Part((_PAYLOAD,), INSIDE, INSIDE),
    "rigid joint": Part((_SPRING,), 0.0, LARGEST),
    "all": Part((_PAYLOAD, _INERTIA, _SPRING), 0.0, LARGEST),
}


class Cloud(NamedTuple):
    """Cells: those about double roots first, with the lower mode of the pair and the distance of each."""

    case: Case
    pair: np.ndarray
    distance: np.ndarray


def main(arguments: list[str] | None = None) -> None:
    """Run the check; write what came out after every batch."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.near_double_roots", description=__doc__
    )
    parser.add_argument("--cells", type=int, default=1_000_000, help="about double roots, in all")
    parser.add_argument("--batch", type=int, default=50_000, help="of them in one batch")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="number of the first batch")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    add_out(parser)
    options = parser.parse_args(arguments)
    _prepare()
    reason = extended_counts.missing()
    if reason is not None:
        print(f"skipped: {reason}")
        return
    report: dict[str, Any] = {"seed": options.seed, "cells_of_a_batch": options.batch}
    found: list[dict[str, Any]] = []
    for number in range(options.first, options.first - (-options.cells // options.batch)):
        part = options.parts[number % len(options.parts)]
        modes = (MODES, FEWER)[number // len(options.parts) % 2]
        cloud = drawn(part, options.batch, modes, np.random.default_rng([options.seed, number]))
        found.append({"part": part, "modes_asked_for": modes} | checked(cloud, f"{part}:{number}"))
        print(json.dumps(found[-1]), flush=True)
        write_report(report | {"batches": found}, options.out)
    print(table(found))


def _prepare() -> None:
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array


def gaps(arm: jm.Arm, postures: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Relative gaps between a mode (N,) and the next in postures (N, places, 2), (N, places)."""
    flat = postures.reshape(-1, 2).T
    cells = {f"link{k}.joint_angle": flat[k - 2] for k in (2, 3)}
    # so few cells take no series, which is what is looked at
    omega = np.asarray(jm.natural_frequencies_batch(arm, cells, MODES).omega)
    omega = omega.reshape(*postures.shape[:2], MODES)
    pair = np.take_along_axis(omega, modes[:, None, None] - 1 + np.arange(2), axis=2)
    return np.asarray(pair[..., 1] / pair[..., 0] - 1.0)


def towards_roots(arm: jm.Arm, postures: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Postures (N, 2) moved to the tips of the cones that the gaps are: their squares are quadratics, fitted."""
    x, y = np.stack(np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0])).reshape(2, -1)
    fit = np.linalg.pinv(np.stack([np.ones(9), x, y, x * x, x * y, y * y], axis=1))
    for radius in RADII:
        square = gaps(arm, postures[:, None] + radius * np.stack([x, y], axis=1), modes) ** 2
        _, a, b, aa, ab, bb = fit @ square.T
        curved = np.array([[2.0 * aa, ab], [ab, 2.0 * bb]]).transpose(2, 0, 1)
        step = -np.linalg.solve(curved, np.stack([a, b], axis=1)[..., None])[..., 0]
        postures = postures + radius * step
    return postures


@functools.cache
def double_roots(payload: float) -> tuple[np.ndarray, np.ndarray]:
    """Postures (N, 2) in which the arm has a double root with a payload of this mass, and the lower modes (N,)."""
    arm = jm.examples.three_link_industrial()
    known = json.loads(DOUBLE_ROOTS.read_text())
    postures = np.radians([(one["x"], one["y"]) for one in known])
    modes = np.array([one["mode"] for one in known])
    loads = np.linspace(0.0, payload, STEPS + 1)[1:] if payload else np.zeros(1)
    for load in loads:
        loaded = arm.replace(payload=jm.Payload(load, 0.0))
        moved = towards_roots(loaded, postures, modes)
        is_root = gaps(loaded, moved[:, None], modes)[:, 0] < GAP
        postures, modes = moved[is_root], modes[is_root]
    return postures, modes


def drawn(name: str, number: int, modes: int, rng: np.random.Generator) -> Cloud:
    """Cells of a part: so many about double roots, and `OTHERS` times as many anywhere."""
    part, arm = PARTS[name], jm.examples.three_link_industrial()
    link = arm.links[1]
    length, mass = float(link.length), float(link.mass)
    units = {_PAYLOAD: mass, _INERTIA: mass * length**2, _SPRING: rigidity(link) / length}
    roots, lower = double_roots(part.payload * mass)
    asked = lower <= modes
    which = rng.integers(0, int(asked.sum()), number)
    at, pair = roots[asked][which], lower[asked][which]
    distance = np.where(rng.random(number) < EXACT, 0.0, 10.0 ** rng.uniform(*NEAR, number))

    def beside() -> np.ndarray:
        """A distance of each cell along one axis, of either sign."""
        share = 10.0 ** rng.uniform(*SHARES, number) * rng.choice([-1.0, 1.0], number)
        return distance * share

    def anywhere() -> np.ndarray:
        """A value of each other cell in a unit, half of them at an end of the range."""
        low, high = np.log([LEAST, part.largest])
        x = np.exp(rng.uniform(low, high, OTHERS * number))
        ends = rng.integers(0, 4, x.size)
        return np.where(ends == 0, LEAST, np.where(ends == 1, part.largest, x))

    cells = {}
    for k in (2, 3):
        angle = rng.uniform(-np.pi, np.pi, OTHERS * number)
        cells[f"link{k}.joint_angle"] = np.concatenate([at[:, k - 2] + beside(), angle])
    for address in part.values:
        own = part.payload if address == _PAYLOAD else 0.0
        near = own + beside()
        # beyond an end of the range lies nothing
        near = own - np.abs(near - own) if own == part.largest else np.abs(near)
        if address == _SPRING:  # a compliance
            with np.errstate(divide="ignore"):
                near = 1.0 / near
        cells[address] = units[address] * np.concatenate([near, anywhere()])
    return Cloud(Case(arm, cells, modes), pair, distance)


def checked(cloud: Cloud, name: str) -> dict[str, Any]:
    """Solve the cells as one batch, count again, and tell what was found, by the distance from the root."""
    case, near = cloud.case, cloud.pair.size
    begin = time.perf_counter()
    result, left = solved(case)
    took = time.perf_counter() - begin
    numbers = np.arange(1, case.modes + 1)
    which = np.zeros(result.omega.shape, bool)
    which[:near] = np.abs(numbers - (cloud.pair[:, None] + 0.5)) < 2.0
    which[::EVERY] = True
    begin = time.perf_counter()
    findings = check_result(case, result, name, which)
    signs = np.asarray(result.by_sign_changes)
    pair = (np.abs(numbers - (cloud.pair[:, None] + 0.5)) < 1.0) & ~left[:near, None]
    with np.errstate(divide="ignore"):
        decade = np.maximum(np.floor(np.log10(cloud.distance)), NEAR[0] - 1.0)
    by_distance = {}
    for power in np.unique(decade).astype(int).tolist():
        own = decade == power
        by_distance[f"1e{power}"] = {
            "cells": int(own.sum()),
            "by_the_series": int((~left[:near][own]).sum()),
            "modes_of_pairs": int(pair[own].sum()),
            "of_these_by_sign_changes": int(signs[:near][own][pair[own]].sum()),
        }
    return {
        "cells_near": near,
        "near_by_the_series": int((~left[:near]).sum()),
        "cells": left.size,
        "by_the_series": int((~left).sum()),
        "seconds_of_batch": took,
        "seconds_of_counts": time.perf_counter() - begin,
        "by_distance": by_distance,
        **_counted(findings),
    }


def solved(case: Case) -> tuple[Any, np.ndarray]:
    """Frequencies of the cells by the series, and which cells it leaves to the general path: these are uncertified.

    But one in `EVERY` of them, which the general path solves.
    """
    addresses, values = list(case.parameters), np.stack([*case.parameters.values()])
    given = case.arm, addresses, values
    tables = series_search.prepare(*given, case.modes, case.theory, values.shape[1])
    if tables is None:
        raise SystemExit("these cells do not take the series: draw more of them anywhere")
    open_cells = np.zeros(values.shape[1], bool)

    def general(left: np.ndarray) -> Any:
        open_cells[left] = True
        some = {name: column[left[::EVERY]] for name, column in case.parameters.items()}
        found = jm.natural_frequencies_batch(case.arm, some, case.modes, chunk_size=512)
        rows = np.arange(left.size) // EVERY
        every = jax.tree_util.tree_map(lambda x: np.asarray(x)[rows], found)
        asked = (np.arange(left.size) % EVERY == 0)[:, None]
        status = np.where(asked, every.status, np.uint8(Status.uncertified))
        return dataclasses.replace(every, status=status)

    with ThreadPoolExecutor(1) as pool:
        found = series_search.solve(tables, *given, general, pool)
    return found, open_cells


def _counted(findings: Findings) -> dict[str, Any]:
    names = ("certified", "certified_and_wrong", "miscounted", "beyond_bound", "largest_error")
    told = {name: getattr(findings, name) for name in names}
    return {"modes_counted": told.pop("certified")} | told | {"offenders": findings.offenders}


def table(batches: Sequence[dict[str, Any]]) -> str:
    """Markdown: a row for each part, summed over its batches."""
    lines = [
        "| double roots | cells near | by the series | modes counted | wrong | miscounted | beyond | largest error |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    names = ("cells_near", "near_by_the_series", "modes_counted")
    for part in (*PARTS, None):
        own = [one for one in batches if part in (one["part"], None)]
        if own:
            counted = (*names, "certified_and_wrong", "miscounted", "beyond_bound")
            texts = [f"{sum(one[name] for one in own):,}" for name in counted]
            largest = f"{max(one['largest_error'] for one in own):.1e}"
            lines.append(f"| {' | '.join([part or 'all', *texts, largest])} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
