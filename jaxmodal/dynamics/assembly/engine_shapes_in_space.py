"""The exact modes of a locked arm in space as assumed shapes: what each link does in them, relative to its own base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from jaxmodal.dynamics.assembly.engine_shapes import FIT, NEW, STATIONS
from jaxmodal.dynamics.assembly.tables_in_space import Deformations
from jaxmodal.dynamics.rod_shapes import RodShapes, combined_rods, fitted_rods
from jaxmodal.dynamics.shapes import LinkShapes, combined, fitted_polynomials
from jaxmodal.modes.mode_shapes import mode_shapes
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm

#: share of a link's motion below which a deformation takes no part in a mode
_TAKES_PART = 1e-8


def locked_arm_shapes(arm: SpatialArm, counts: Sequence[Sequence[int]]) -> list[Deformations]:
    """Shapes of every link that together hold the first exact modes of the arm, joints locked in its posture.

    Parameters
    ----------
    arm
        A concrete arm; its joint angles are the posture.
    counts
        Of each deformation of each link: of how many of the first modes its shapes are.

    Returns
    -------
    list of (stretch, torsion, bending in x-y, in x-z)
        So many shapes as the link deforms in different ways, at the most: each deformation has coordinates of its own.

    Raises
    ------
    ArmError
        If the arm moves freely in one of these modes.

    Notes
    -----
    The modes are the engine's ``euler_bernoulli``, and where no link has shapes of stretch ``bending_only``. With the
    same number for all the first frequencies of the locked arm in this posture are exact.
    """
    modes = max(max(count) for count in counts)
    stretched = any(count[0] for count in counts)
    theory: Literal["euler_bernoulli", "bending_only"]
    theory = "euler_bernoulli" if stretched else "bending_only"
    motion = np.asarray(mode_shapes(arm, modes, theory=theory, stations=STATIONS.tolist()).motion)
    if not np.all(np.isfinite(motion)):
        raise ArmError(
            f"shapes = 'locked_arm': the arm moves freely in one of its first {modes} modes, which bends nothing; must "
            "be an arm without free motions and with so many modes: choose 'polynomial', or take fewer."
        )
    made = []
    for i, count in enumerate(counts):
        length = float(arm.links[i].length)
        first = motion[:, i, :1]
        along = length * STATIONS
        still = motion[:, i] - first
        parts = [
            still[..., 0],
            length * still[..., 3],
            still[..., 1] - first[..., 5] * along,
            still[..., 2] + first[..., 4] * along,
        ]
        largest = np.max([np.abs(part).max(axis=1) for part in parts], axis=0)
        rows = [
            _that_take_part(part[:number], largest[:number])
            for part, number in zip(parts, count, strict=True)
        ]
        made.append((_rods(rows[0]), _rods(rows[1]), _beams(rows[2]), _beams(rows[3])))
    return made


def _that_take_part(values: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Of a deformation at the stations in some modes (k, s), those where it is no rounding, each of size 1, (s, k)."""
    own = np.abs(values).max(axis=1, initial=0.0)
    kept = own > _TAKES_PART * largest
    return np.asarray((values[kept] / own[kept, None]).T)


def _beams(values: np.ndarray) -> LinkShapes:
    if not values.shape[1]:
        return combined(1, np.zeros((1, 0)), "locked_arm")
    size, coefficients = fitted_polynomials(STATIONS, values, FIT)
    return combined(size, _spanned(coefficients), "locked_arm")


def _rods(values: np.ndarray) -> RodShapes:
    if not values.shape[1]:
        return combined_rods(np.zeros((1, 0)))
    return combined_rods(_spanned(fitted_rods(STATIONS, values, FIT)))


def _spanned(coefficients: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span others, those left out that add nothing new."""
    left, sizes, _ = np.linalg.svd(coefficients, full_matrices=False)
    return np.asarray(left[:, sizes > NEW * sizes[0]])
