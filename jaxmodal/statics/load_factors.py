"""Search for buckling load factors: bracketed by counts, found as zeros of an eigenvalue.

The energy is linear in the load factor, and positive without load if the arm is held. Therefore the number of negative
eigenvalues of its stiffness grows with the factor, by one at each buckling load (W. H. Wittrick and F. W. Williams, Q.
J. Mech. Appl. Math. 24, 1971, 263-284, at zero frequency). No piece of a link is long enough to buckle between clamped
ends, so that nothing else has to be counted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from jaxmodal.runtime.array_types import Floats

#: relative distance from a factor at which counts are taken; ten times more if rounding leaves a count open, up to the
#: second
CLOSE = 1e-12
WIDEST = 1e-6
#: largest number of doublings in the search for a factor
_DOUBLINGS = 60


class Loaded(Protocol):
    """An arm of either kind under proportional loads, as the search for factors uses it."""

    def count(self, factor: float) -> tuple[float, bool]: ...

    def never(self) -> bool: ...

    def limit(self) -> float: ...

    def scale(self) -> float: ...

    def estimates(self) -> Floats: ...

    def crossing(self, low: float, high: float, k: int) -> float: ...

    def unstable(self, factor: float) -> bool: ...

    @property
    def exact(self) -> str:
        """Note for messages on a function that is exact near the critical load; may be empty."""
        ...

    def moves_without_strain(self) -> bool: ...


class Factor(NamedTuple):
    """A buckling factor: its value, the counts at both ends of its bracket, and whether they prove it."""

    value: float
    bracket: tuple[float, float]
    count_below: int
    count_above: int
    certified: bool


#: the entry for a factor that does not exist
NONE = Factor(math.inf, (math.inf, math.inf), 0, 0, True)


def factors(problem: Loaded) -> Iterator[Factor]:
    """Yield the positive factors, ascending, repeated by multiplicity.

    If no positive factor exists, yield `NONE` for ever; if the next was not found, yield NaN for ever.
    """
    if problem.never():
        yield from itertools.repeat(NONE)
    limit = problem.limit()
    estimates = problem.estimates()
    seen: dict[float, float] = {0.0: 0.0}

    def counted(factor: float) -> float:
        if factor not in seen:
            count, clear = problem.count(factor)
            seen[factor] = count if clear else math.nan
        return seen[factor]

    found = 0
    while True:
        value = _nth(problem, found + 1, estimates, limit, counted, seen)
        if value is None:
            reached = max(x for x, n in seen.items() if math.isfinite(n))
            yield from itertools.repeat(Factor(math.nan, (reached, math.nan), found, 0, False))
        certified = _certified(problem, float(value or math.nan), found + 1)
        yield certified
        found += 1
        # factors in the same bracket are one repeated factor
        while certified.certified and certified.count_above > found:
            yield certified
            found += 1


def _nth(
    problem: Loaded,
    k: int,
    estimates: Floats,
    limit: float,
    counted: Callable[[float], float],
    seen: dict[float, float],
) -> float | None:
    """Return the k-th factor, at which the k-th eigenvalue changes its sign."""
    low = max(x for x, n in seen.items() if n < k)
    near = estimates[k - 1] if k <= estimates.size else 0.0
    start = near * 1.001 if near > low else (2.0 * low if low > 0.0 else problem.scale())
    trial = min(start, 0.5 * (low + limit)) if start >= limit else start
    unclear = 0
    for _ in range(_DOUBLINGS):
        count = counted(trial)
        if count >= k or not math.isfinite(trial):
            break
        if math.isnan(count):
            unclear += 1
            if unclear > 3:  # eigenvalues that remain are rounding
                return None
            trial *= 1.01
            continue
        low = max(low, trial)
        trial = 2.0 * trial if 2.0 * trial < limit else 0.5 * (trial + limit)
    above = [x for x, n in seen.items() if n >= k]
    if not above:
        return None
    high = min(above)
    if low < near < high and counted(near * 0.99) < k:
        low = max(low, near * 0.99)
    while math.isinf(seen[high]):  # too many pieces beyond this
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return None
        if math.isnan(counted(middle)):
            return None
        low, high = (middle, high) if counted(middle) < k else (low, middle)
    return problem.crossing(low, high, k)


def _certified(problem: Loaded, value: float, k: int) -> Factor:
    """Return the factor with counts on both sides, as near as rounding allows."""
    close = CLOSE
    while True:
        ends = (value * (1.0 - close), value * (1.0 + close))
        (below, sure), (above, sure_too) = (problem.count(x) for x in ends)
        if (sure and sure_too) or close >= WIDEST:
            break
        close *= 10.0
    known = sure and sure_too and below < k <= above and math.isfinite(above)
    counts = [int(x) if math.isfinite(x) else -1 for x in (below, above)]
    return Factor(value, ends, counts[0], counts[1], bool(known))
