"""Arms in space with values stepped along the imaginary axis, one cell per address.

All quantities of the arm are computed for all cells at once by the usual formulas; their entries become dual numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.nothing import without_zeros
from jaxmodal.arm.columns import STEP
from jaxmodal.arm.paths import unchecked, value_at
from jaxmodal.arm.segments import cut
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.motions import Frame, frames
from jaxmodal.spatial.modes.values import ArmValues, arm_values
from jaxmodal.spatial.parts.links import SpatialLink


def stepped_arm(arm: SpatialArm, singles: Sequence[str]) -> SpatialArm:
    """Return the arm, unchecked, with complex columns at single-value addresses: each is stepped in its own cell.

    Rigid values are not stepped, because their derivative is zero.
    """
    steps = 1j * STEP * np.eye(len(singles))
    for single, step in zip(singles, steps, strict=True):
        value = np.asarray(value_at(arm, single), np.float64)
        if np.isfinite(value):
            arm = unchecked(arm, single, value + step)
    return arm


class Cell(NamedTuple):
    """A cell of a stepped arm with the frames of its links; ``values`` are None for an arm that is not stepped."""

    arm: SpatialArm
    frames: list[Frame]
    values: ArmValues | None


def cells_of(arm: SpatialArm) -> list[Cell]:
    """Return the cells of a stepped arm, or the arm itself."""
    if not _is_stepped(arm):
        return [Cell(arm, arm.frames(), None)]
    values = arm_values(arm.links, arm.payload, arm.base_stiffness)
    count = max(np.size(x) for x in jax.tree_util.tree_leaves(arm))

    def cell(number: int) -> Cell:
        def of_column(x: Any) -> Any:
            return x[..., number if x.shape[-1] > 1 else 0]

        own: ArmValues = jax.tree_util.tree_map(of_column, values)
        one = jax.tree_util.tree_map(lambda x: of_column(x) if np.iscomplexobj(x) else x, arm)
        return Cell(one, frames(own.links), own)

    return [cell(k) for k in range(count)]


def parts_of(link: SpatialLink, shares: Sequence[float]) -> tuple[SpatialLink, ...]:
    """Return a link, possibly stepped, cut into parts with these shares of its length."""
    if len(shares) == 1:
        return (link,)
    if not _is_stepped(link):
        return cut(link, [{"length": share * link.length} for share in shares])
    still = jax.tree_util.tree_map(lambda x: x.real[0] if np.iscomplexobj(x) else x, link)
    found = []
    for part, share in zip(parts_of(still, shares), shares, strict=True):
        for name, value in vars(still).items():
            if getattr(part, name) is value:
                part = unchecked(part, name, getattr(link, name))
        found.append(unchecked(part, "length", share * link.length))
    return tuple(found)


def _is_stepped(part: SpatialArm | SpatialLink) -> bool:
    return any(map(np.iscomplexobj, jax.tree_util.tree_leaves(part)))


def with_slopes(x: np.ndarray) -> Any:
    """Return numbers (..., cells) of an arm that is not stepped, or dual numbers with their derivatives.

    The last direction is reserved for the frequency.
    """
    if not np.iscomplexobj(x):
        return x[..., 0]
    slopes = np.moveaxis(x.imag, -1, 0) / STEP
    if not slopes.any():
        return x.real[..., 0]
    return Dual(x.real[..., 0], np.concatenate([slopes, np.zeros_like(slopes[:1])]))


def entry(x: Any) -> Any:
    """Return numbers of all cells as a matrix entry: `NOTHING` if it is 0 with zero derivatives."""
    found = with_slopes(np.ravel(x))
    return found if isinstance(found, Dual) else without_zeros(float(found))
