"""Arms in space: random postures of six-axis arms beside the chain form and OpenSees, cost by links, start of one arm.

``python -m benchmarks.spatial --postures 2000``

On one core, in processor time, the two in turn in one process. Errors are those against double-double alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)

import numpy as np  # noqa: E402

import jaxmodal as jm  # noqa: E402
from benchmarks import opensees  # noqa: E402
from benchmarks.reports import add_out, write_report  # noqa: E402
from benchmarks.spatial_chain_form import SpatialChainForm  # noqa: E402
from jaxmodal.runtime.namespace import to_host  # noqa: E402

MODES = 10
#: degrees of the rival's polynomials
DEGREES = (3, 4, 5)
#: elements per link of OpenSees: one mesh, and two that are extrapolated
_MESHES: tuple[tuple[int, ...], ...] = ((24,), (6, 12))
#: cells that double-double alone checks
_CHECKED = 64
#: the most cells of a call that double-double alone solves
_EXACT = 16
#: cells for the cost by links, of the program and of NumPy
_LARGE, _SMALL = 2080, 128
_START = """
import time
begin = time.process_time()
import jax
jax.config.update("jax_enable_x64", True)
import jaxmodal as jm
arm = {arm}
read = time.process_time()
jm.natural_frequencies(arm, 10)
print(time.process_time() - begin, time.process_time() - read)
"""


def main(arguments: list[str] | None = None) -> None:
    """Measure and print; write JSON where told."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--postures", type=int, default=20_000)
    parser.add_argument("--rival-postures", type=int, default=512, help="of the chain form")
    parser.add_argument("--opensees-postures", type=int, default=128)
    add_out(parser)
    given = parser.parse_args(arguments)
    jm.tune_cpu()  # as the command line and sweeps do
    found = {
        "postures": beside_the_chain_form(given.postures, given.rival_postures),
        "opensees": beside_opensees(given.opensees_postures),
        "links": by_links(),
        "start": starts(),
    }
    write_report(found, given.out)


def postures(arm: jm.SpatialArm, cells: int, seed: int = 0) -> np.ndarray:
    """Random joint angles, rad, shape (cells, links)."""
    return np.random.default_rng(seed).uniform(-2.5, 2.5, (cells, arm.num_links))


def columns(angles: np.ndarray) -> dict[str, np.ndarray]:
    """Joint angles by address."""
    return {f"link{k}.joint_angle": column for k, column in enumerate(angles.T, start=1)}


def exact(arm: jm.SpatialArm, angles: np.ndarray) -> np.ndarray:
    """Frequencies by double-double alone."""
    parts = [
        jm.natural_frequencies_batch(arm, columns(angles[start : start + _EXACT]), MODES).omega
        for start in range(0, len(angles), _EXACT)
    ]
    return np.concatenate([np.asarray(x) for x in parts])


def beside_the_chain_form(cells: int, rival_cells: int) -> dict[str, Any]:
    """Milliseconds per cell and largest errors of jaxmodal and of the chain form."""
    arm = jm.examples.six_axis_industrial()
    angles = postures(arm, cells)
    truth = exact(arm, angles[:_CHECKED])
    result, first, seconds = compiled_and_timed(arm, angles)
    rows: dict[str, Any] = {
        "jaxmodal": {
            "cells": cells,
            "ms": 1e3 * seconds / cells,
            "first_call_s": first,
            "evaluations": float(np.mean(result.evaluations)),
            "error": largest(result.omega[:_CHECKED], truth),
            "certified": bool(np.all(result.certified)),
        }
    }
    for degree in DEGREES:
        rival = SpatialChainForm(arm, degree)
        some = angles[: min(cells, rival_cells)]
        omega, seconds = timed(lambda r=rival, a=some: r.frequencies(a, MODES))  # type: ignore[misc]
        rows[f"chain form, degree {degree}"] = {
            "cells": len(some),
            "unknowns": rival.unknowns,
            "ms": 1e3 * seconds / len(some),
            "error": largest(omega[:_CHECKED], truth[: len(some)]),
        }
    for name, row in rows.items():
        print(f"{name}: {row['ms']:.2f} ms per posture, error {row['error']:.1e}, {row}")
    return rows


def six_tubes() -> jm.SpatialArm:
    """Six round tubes on rigid joints about changing axes, with spherical bodies: what OpenSees can model."""
    links = []
    for k, length in enumerate((0.35, 0.7, 0.2, 0.48, 0.15, 0.1)):
        tube = jm.hollow_circle(0.16 - 0.015 * k, 0.008, "cowper")
        inertia = (0.02, 0.02, 0.02)
        links.append(
            jm.SpatialLink(
                length,
                7e10,
                2700.0,
                tube,
                poisson_ratio=0.33,
                joint_axis=np.eye(3)[(k + 1) % 3],
                body=jm.RigidBody(8.0 - k, inertia=inertia),
            )
        )
    return jm.SpatialArm(tuple(links), payload=jm.RigidBody(10.0, inertia=(0.1, 0.1, 0.1)))


def beside_opensees(cells: int) -> dict[str, Any]:
    """Milliseconds per cell and largest errors of jaxmodal and of OpenSees, one mesh and two extrapolated."""
    missing = opensees.missing()
    if missing is not None:
        print(missing)
        return {"skipped": missing}
    arm = six_tubes()
    angles = postures(arm, cells)
    truth = exact(arm, angles[:_CHECKED])
    calls: dict[str, Callable[[], np.ndarray]] = {
        "jaxmodal": lambda: np.asarray(jm.natural_frequencies_batch(arm, columns(angles)).omega)
    }
    for elements in _MESHES:
        rival = opensees.OpenSeesInSpace(elements)
        name = f"OpenSees, {' and '.join(map(str, elements))} elements per link"
        calls[name] = lambda r=rival: r.frequencies(arm, angles, MODES)  # type: ignore[misc]
    rows = {}
    for name, call in calls.items():
        omega, seconds = timed(call)
        rows[name] = {"ms": 1e3 * seconds / cells, "error": largest(omega[:_CHECKED], truth)}
        print(f"{name}: {rows[name]['ms']:.2f} ms per posture, error {rows[name]['error']:.1e}")
    return rows


def compiled_and_timed(arm: jm.SpatialArm, angles: np.ndarray) -> tuple[Any, float, float]:
    """The result of the compiled program, and seconds of a first call, which compiles, and of a second one."""

    def call() -> Any:
        return to_host(jm.natural_frequencies_batch(arm, columns(angles), MODES, kernel="portable"))

    _, first = timed(call)
    result, seconds = timed(call)
    return result, first, seconds


def by_links() -> dict[int, dict[str, float]]:
    """Milliseconds per cell of arms of equal tubes on elastic joints that turn about alternating axes.

    Of the compiled program and of NumPy, which small batches take.

    The tubes are not round: of round ones a joint that rolls leaves frequencies double, which is another question.
    """
    found = {}
    tube = jm.hollow_rectangle(0.1, 0.07, 0.005, "cowper")
    for links in (2, 3, 5, 8, 12, 20):
        chain = tuple(
            jm.SpatialLink(
                0.5,
                7e10,
                2700.0,
                tube,
                poisson_ratio=0.33,
                joint_axis=np.eye(3)[k % 3],
                joint_stiffness=5e4,
            )
            for k in range(links)
        )
        arm = jm.SpatialArm(chain, payload=jm.RigidBody(3.0))
        angles = postures(arm, _LARGE)
        result, first, seconds = compiled_and_timed(arm, angles)
        some = columns(angles[:_SMALL])
        _, small = timed(lambda a=arm, c=some: jm.natural_frequencies_batch(a, c, MODES))  # type: ignore[misc]
        found[links] = {
            "ms": 1e3 * seconds / _LARGE,
            "first_call_s": first,
            "ms_numpy": 1e3 * small / _SMALL,
            "certified": float(np.mean(result.certified)),
        }
        print(f"{links} links: {found[links]}")
    return found


def starts() -> dict[str, list[float]]:
    """Processor time of a fresh process that solves one arm, and of the call alone; the least of three."""
    found = {}
    planar = "jm.examples.three_link_industrial()"
    arms = {"planar": planar, "in space": f"jm.to_spatial({planar})"}
    for _ in range(3):
        for name, arm in arms.items():
            ran = subprocess.run(
                [sys.executable, "-c", _START.format(arm=arm)],
                capture_output=True,
                text=True,
                check=True,
            )
            seconds = [float(x) for x in ran.stdout.split()]
            found[name] = [
                min(pair) for pair in zip(found.get(name, seconds), seconds, strict=True)
            ]
    for name, (whole, call) in found.items():
        print(f"start, {name}: {whole:.2f} s, the call {call:.2f} s")
    return found


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its processor time in seconds."""
    begin = time.process_time()
    found = call()
    return found, time.process_time() - begin


def largest(omega: np.ndarray, truth: np.ndarray) -> float:
    """The largest relative error."""
    return float(np.max(np.abs(np.asarray(omega) / truth[: len(omega)] - 1.0)))


if __name__ == "__main__":
    main()
