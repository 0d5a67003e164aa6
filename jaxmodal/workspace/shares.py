"""Share of ranges of joint angles and other parameters in which a frequency is below a limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import is_whole, positive_integer, real_number
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.runtime import limits
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.workspace.extremes import require_some
from jaxmodal.workspace.improvement import Height
from jaxmodal.workspace.ranges import Ranges
from jaxmodal.workspace.results import ShareBelow


def share_below(
    arm: AnyArm,
    omega: float,
    ranges: Mapping[str, Any] | None = None,
    mode: int = 1,
    *,
    theory: TheoryName = "timoshenko",
    payload: Any = None,
    samples: int = 4096,
    seed: int = 0,
) -> ShareBelow:
    """Estimate the share of ranges of joint angles or other parameters in which a mode is below a frequency.

    Parameters
    ----------
    arm, ranges, mode, theory, payload
        As for `extremes`.
    omega : float
        The limit, rad/s, greater than 0.
    samples : int
        Number of independent random cells, uniformly distributed over the ranges.
    seed : int
        Seed of the random cells; equal seeds give equal cells.

    Returns
    -------
    ShareBelow
        The share with its standard error and a 95 % interval.

    Raises
    ------
    ValueError, ArmError
        As for `extremes`; or if ``omega`` is not positive and finite, or the seed is not a whole number.

    Notes
    -----
    The share refers to the ranges, with all angles equally likely, not to the volume that the tip can reach.

    Examples
    --------
    >>> import jaxmodal as jm, numpy as np
    >>> found = jm.share_below(jm.examples.two_link_flexible(), 2 * np.pi * 0.21, samples=1000)
    >>> round(found.share, 2), round(found.error, 3)
    (0.25, 0.014)
    """
    require_x64()
    limit = real_number(omega, "omega", "in rad/s")
    if not (math.isfinite(limit) and limit > 0.0):
        raise ValueError(f"omega = {shown(omega)}: expected a frequency above 0, finite, in rad/s")
    mode = positive_integer(mode, "mode", limits.MODES)
    samples = positive_integer(samples, "samples", limits.SAMPLES)
    if not is_whole(seed, 0):
        raise ValueError(f"seed = {shown(seed)}; expected a whole number of 0 or more")
    theory_flags(theory)
    inside = Ranges.of(arm, ranges, payload)
    cells = np.random.default_rng(int(seed)).random((samples, len(inside.addresses)))
    found = Height(inside, mode, theory).at(cells)
    require_some(found, mode, "samples")
    known = int(np.isfinite(found).sum())
    return ShareBelow(limit, int(np.sum(found < limit)), known, samples, mode, theory)
