"""Exact modes of a locked arm in space as assumed shapes: the deformation of each link relative to its own base."""

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

#: share of the motion of a link below which a deformation is rounding in a mode
_TAKES_PART = 1e-8


def locked_arm_shapes(arm: SpatialArm, counts: Sequence[Sequence[int]]) -> list[Deformations]:
    """Return shapes of every link that together represent the first exact modes of the arm with locked joints.

    Parameters
    ----------
    arm
        Concrete arm; its joint angles are the posture.
    counts
        For each deformation of each link, the number of modes from which its shapes are taken.

    Returns
    -------
    list of (stretch, torsion, bending in x-y, in x-z)
        At most one shape for each mode; deformations without motion in a mode, and dependent shapes, are left out. Each
        deformation has its own coordinates.

    Raises
    ------
    ArmError
        If one of these modes is a free motion of the arm.

    Notes
    -----
    The modes are those of theory ``euler_bernoulli``, or ``bending_only`` if no link has shapes of stretch. With the
    same number of modes for all deformations, the first frequencies of the locked arm in this posture are exact.
    """
    modes = max(max(count) for count in counts)
    stretched = any(count[0] for count in counts)
    theory: Literal["euler_bernoulli", "bending_only"]
    theory = "euler_bernoulli" if stretched else "bending_only"
    motion = np.asarray(mode_shapes(arm, modes, theory=theory, stations=STATIONS.tolist()).motion)
    if not np.all(np.isfinite(motion)):
        raise ArmError(
            f"shapes = 'locked_arm': the arm moves freely in one of its first {modes} modes, which bends nothing; must "
            "be an arm with enough modes and without free motions: choose 'polynomial', or take fewer."
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
    """Return the deformations, from (k, s), that exceed rounding in their mode, each scaled to size 1, shape (s, k)."""
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
    """Return orthonormal columns that span the given ones; directions below `NEW` are left out."""
    left, sizes, _ = np.linalg.svd(coefficients, full_matrices=False)
    return np.asarray(left[:, sizes > NEW * sizes[0]])
