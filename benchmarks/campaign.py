"""Certified modes of random arms held against counts in 113-bit floats, kind by kind: what `cross_check --kinds` runs.

Of every certified mode both ends of the bracket are counted anew, and the frequency is counted on both sides at the
error that it may have. Where that fails, and in a sample, the error itself is found by bisection on the count.
"""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import numpy as np

import jaxmodal as jm
from benchmarks import extended_counts
from benchmarks.cross_check_arms import SERIES, case
from benchmarks.cross_check_draws import Case
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.arm.parameters import set_parameters

#: ends are moved outwards by so much, relative: what rounds a value of the arm on its way, as 1/k, moves its modes
ROUNDING = 1e-14
#: relative error that a certified frequency may have where the result states none
BOUND = 1e-12
#: cells of a batch of which every error is found
SAMPLE = 32
#: offenders of a kind that are told one by one
_TOLD = 40


@dataclasses.dataclass
class Findings:
    """What was found of one kind; modes are counted one by one."""

    cells: int = 0
    modes: int = 0
    certified: int = 0
    #: certified, and the bracket does not hold the mode of this number
    certified_and_wrong: int = 0
    #: certified with a bracket that holds it and counts that are not those at its ends
    miscounted: int = 0
    #: farther from the root than the bound
    beyond_bound: int = 0
    largest_error: float = 0.0
    seconds_of_batches: float = 0.0
    seconds_of_counts: float = 0.0
    offenders: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    def add(self, other: Findings) -> None:
        """Put the findings of a further batch to these."""
        for field in dataclasses.fields(self):
            own, more = getattr(self, field.name), getattr(other, field.name)
            joined = max(own, more) if field.name == "largest_error" else own + more
            setattr(self, field.name, joined)
        del self.offenders[_TOLD:]


def check_kind(
    kind: str,
    cells: int,
    seed: int,
    batch: int,
    kernel: str = "auto",
    first: int = 0,
    seconds: float = math.inf,
) -> Findings:
    """Draw batches of a kind, from the one of number ``first``, until there are so many cells or the time is over."""
    size, findings, number = max(batch, SERIES.get(kind, 0)), Findings(), first
    begin = time.perf_counter()
    while findings.cells < cells and time.perf_counter() - begin < seconds:
        name = f"{kind}:{seed}:{number}:{size}"
        findings.add(check_case(case(kind, seed, number, size), name, kernel))
        number += 1
    return findings


def check_case(given: Case, name: str, kernel: str = "auto") -> Findings:
    """Solve the cells of a case as one batch, and count again."""
    begin = time.perf_counter()
    result = jm.natural_frequencies_batch(
        given.arm, given.parameters, given.modes, theory=given.theory, kernel=kernel
    )
    status = np.asarray(result.status)
    solved = time.perf_counter()
    findings = check_result(given, result, name)
    return dataclasses.replace(
        findings,
        cells=status.shape[0],
        modes=status.size,
        seconds_of_batches=solved - begin,
        seconds_of_counts=time.perf_counter() - solved,
    )


def check_result(given: Case, result: Any, name: str, which: np.ndarray | None = None) -> Findings:
    """Count at the ends of all brackets, and about all frequencies, of a result of these cells, or ``which`` modes."""
    omega, bracket = np.asarray(result.omega), np.asarray(result.bracket)
    certified = np.asarray(result.certified) & (omega > 0.0)
    if which is not None:
        certified = certified & which
    numbers = np.arange(1, omega.shape[1] + 1)
    bound = np.broadcast_to(np.asarray(getattr(result, "omega_error", BOUND)), omega.shape)
    values = values_of(given)
    omega = np.where(certified, omega, np.nan)
    lower, upper = (np.where(certified, bracket[..., end], np.nan) for end in (0, 1))
    below, above, nearer, farther = (
        extended_counts.counts_below(values, given.theory, x, rest * x)
        for x, rest in (
            (lower, -ROUNDING),
            (upper, ROUNDING),
            (omega, -bound),
            (omega, bound),
        )
    )
    undecided = certified & (np.minimum(np.minimum(below, above), np.minimum(nearer, farther)) < 0)
    wrong = certified & ((below > numbers - 1) | (above < numbers))
    stated = np.asarray(result.count_below), np.asarray(result.count_above)
    miscounted = certified & ~wrong & ((below != stated[0]) | (above != stated[1]))
    beyond = certified & ((nearer > numbers - 1) | (farther < numbers))
    bad = wrong | miscounted | beyond | undecided
    chosen = np.unique(np.append(np.flatnonzero(bad.any(axis=1)), np.arange(len(bad))[:SAMPLE]))
    errors = np.zeros_like(omega)
    errors[chosen] = extended_counts.relative_errors(
        values[chosen], given.theory, omega[chosen], numbers
    )
    # farther than bisection looks
    far = certified & np.isnan(errors)
    sizes = np.where(far, 1.0, np.abs(np.where(certified, errors, 0.0)))
    offenders = [
        {
            "case": name,
            "theory": given.theory,
            "cell": int(i),
            "mode": int(k) + 1,
            "wrong": bool(wrong[i, k]),
            "miscounted": bool(miscounted[i, k]),
            "undecided": bool(undecided[i, k]),
            "error": float(sizes[i, k]),
            "stated_bound": float(bound[i, k]),
            "half_width": float((bracket[i, k, 1] / bracket[i, k, 0] - 1.0) / 2.0),
            "counts_stated": [int(x[i, k]) for x in stated],
            "counts": [int(below[i, k]), int(above[i, k])],
            "counts_in_double_double": _by_library(given, int(i), bracket[i, k]),
        }
        for i, k in np.argwhere(bad)[:_TOLD]
    ]
    return Findings(
        certified=int(certified.sum()),
        certified_and_wrong=int(wrong.sum()),
        miscounted=int(miscounted.sum()),
        beyond_bound=int(beyond.sum()),
        largest_error=float(sizes.max(initial=0.0)),
        offenders=offenders,
    )


def values_of(given: Case) -> np.ndarray:
    """The values of the cells' links, as `extended_counts` takes them."""
    if isinstance(given.arm, jm.SpatialArm):
        return _values_in_space(given)
    columns = columns_of(given.arm, tuple(given.parameters), np.stack([*given.parameters.values()]))
    return extended_counts.link_values(unpacked(columns.packed))


def _values_in_space(given: Case) -> np.ndarray:
    varied = set_parameters(given.arm, given.parameters)
    links = []
    for link in varied.links:
        section, body = link.section_values, link.body or jm.RigidBody(0.0)
        moments = body.inertia
        own = {name: getattr(link, name) for name in ("length", "youngs_modulus", "shear_modulus")}
        own |= {name: getattr(link, name) for name in ("density", "joint_angle", "joint_stiffness")}
        own |= {f"axis_{name}": getattr(link.joint_axis, name) for name in "xyz"}
        own |= {f"inertia_{x}": getattr(moments, x + x) if moments else 0.0 for x in "xyz"}
        links.append(own | section._asdict() | {"mass": body.mass})
    cells = next(iter(given.parameters.values())).size
    return extended_counts.link_values_in_space(links, cells)


def cell_of(given: Case, cell: int) -> Any:
    """One cell as an arm of its own."""
    return set_parameters(given.arm, {name: float(x[cell]) for name, x in given.parameters.items()})


def _by_library(given: Case, cell: int, ends: np.ndarray) -> list[int]:
    found: list[int] = np.asarray(
        jm.count_below(cell_of(given, cell), ends, theory=given.theory)
    ).tolist()
    return found
