"""Axes of random samples: Latin hypercube and Sobol designs over ranges of several parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import suggestion
from sweeps.definition import limits
from sweeps.definition.axes import (
    Axis,
    checked_count,
    checked_ends,
    checked_name,
    make_column,
)
from sweeps.definition.errors import SweepError

RANDOM_METHODS = ("latin_hypercube", "sobol")
SCALES = ("linear", "log")


@dataclasses.dataclass(frozen=True)
class Range:
    """Range of one parameter in a random design: ``low`` to ``high``, with uniform distribution on the given scale."""

    parameter: str
    low: float
    high: float
    unit: str | None = None
    name: str | None = None
    scale: str = "linear"


def random_design(
    ranges: Sequence[Range],
    num: int,
    *,
    seed: int,
    method: str = "latin_hypercube",
    name: str = "sample",
) -> Axis:
    """Create one dimension of random samples that fill the given ranges evenly.

    Parameters
    ----------
    ranges
        One `Range` for each varying parameter.
    num
        Number of samples; for ``"sobol"`` a power of 2.
    seed
        Seed of the random numbers, 0 or more; equal seeds give equal samples.
    method
        ``"latin_hypercube"`` or ``"sobol"`` (scrambled), from `scipy.stats.qmc`.
    name
        Name of the dimension.

    Raises
    ------
    SweepError
        If a range, the number, the seed or the method is invalid, or SciPy is missing.

    Examples
    --------
    >>> import numpy as np
    >>> ranges = [Range("payload.mass", 0.0, 20.0), Range("theta_2", -90, 90, unit="degree")]
    >>> design = random_design(ranges, 8, seed=1, method="sobol")
    >>> design.size, bool(np.all(np.abs(design.columns[1].values) <= 90.0))
    (8, True)
    """
    count = checked_count(name, num)
    if not is_whole(seed, 0):
        raise SweepError(
            f"axis {name!r}: seed = {shown(seed)}: must be a whole number of 0 or more, so that the same "
            "samples can be drawn again."
        )
    if not ranges:
        raise SweepError(f"axis {name!r}: a random design needs one range or more.")
    if count * len(ranges) > limits.POINTS:
        raise SweepError(
            f"axis {name!r}: num = {count}: {count:,} samples of {len(ranges)} parameters are more than "
            f"{limits.POINTS:,} values; draw fewer."
        )
    unit_square = _random_numbers(method, len(ranges), count, int(seed), name)
    columns = tuple(
        make_column(
            entry.parameter, _stretched(entry, unit_square[:, index]), entry.unit, entry.name
        )
        for index, entry in enumerate(ranges)
    )
    return Axis(checked_name(name), columns)


def _random_numbers(method: str, width: int, count: int, seed: int, name: str) -> Floats:
    if method not in RANDOM_METHODS:
        raise SweepError(
            f"axis {name!r}: method = {shown(method)}: must be one of {', '.join(RANDOM_METHODS)}."
            f"{suggestion(str(method), RANDOM_METHODS)}"
        )
    if method == "sobol" and count & (count - 1):
        raise SweepError(
            f"axis {name!r}: num = {count}: a Sobol design needs a power of 2, such as "
            f"{1 << count.bit_length()}, to be balanced."
        )
    try:
        from scipy.stats import qmc
    except ImportError as error:
        raise SweepError(
            f"axis {name!r}: random designs need SciPy; install jaxmodal[sweeps]."
        ) from error
    sampler = qmc.LatinHypercube if method == "latin_hypercube" else qmc.Sobol
    return np.asarray(sampler(width, rng=seed).random(count), np.float64)


def _stretched(entry: Range, fraction: Floats) -> Floats:
    low, high = checked_ends(entry.parameter, entry.low, entry.high)
    if entry.scale not in SCALES:
        raise SweepError(
            f"range of {entry.parameter!r}: scale = {shown(entry.scale)}: must be 'linear' or 'log'."
            f"{suggestion(str(entry.scale), SCALES)}"
        )
    if not low < high or (entry.scale == "log" and not low > 0.0):
        positive = " and greater than 0 on a log scale" if entry.scale == "log" else ""
        raise SweepError(
            f"range of {entry.parameter!r} from {low!r} to {high!r}: low must be less than high"
            f"{positive}."
        )
    if entry.scale == "log":
        return low * (high / low) ** fraction
    return low + (high - low) * fraction
