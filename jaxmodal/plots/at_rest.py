"""Plots of arms in static equilibrium: deflections, section forces, buckling shapes. They need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.at_rest.buckling_results import Buckling
from jaxmodal.at_rest.planar_equilibrium import StaticEquilibrium
from jaxmodal.at_rest.spatial_equilibrium import SpatialEquilibrium
from jaxmodal.plots.bent_arms import VIEWS, frame_view, require_view, room
from jaxmodal.plots.figures import COLOURS, axes_or_new, in_metres
from jaxmodal.runtime.errors import ArmError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: the largest displacement or force is drawn as this share of the arm's length
_DRAWN = 0.15
_FIELDS = {
    "deflection": "m",
    "axial_force": "N",
    "shear_force": "N",
    "bending_moment": "N m",
}


def draw_equilibrium(
    found: StaticEquilibrium, axes: Axes | None = None, field: str = "deflection"
) -> Axes:
    """Draw an arm in static equilibrium: its magnified deflection, or a section force along each link.

    Parameters
    ----------
    field
        ``"deflection"``, ``"axial_force"``, ``"shear_force"`` or ``"bending_moment"``; positive forces are drawn on the
        left side of the link.

    Raises
    ------
    ArmError
        If ``field`` is unknown.
    """
    if field not in _FIELDS:
        raise ArmError(f"field = {shown(field)}: choose one of {', '.join(map(repr, _FIELDS))}.")
    axes = axes_or_new(axes, 6.0, 5.0)
    if field == "deflection":
        moved = found.displacement
    else:
        angle = np.cumsum([float(link.joint_angle) for link in found.arm.links])
        across = np.stack([-np.sin(angle), np.cos(angle)], axis=-1)
        moved = getattr(found, field)[:, :, None] * across[:, None, :]
    scale, largest = _draw_beside(axes, found, moved, COLOURS[0], filled=field != "deflection")
    what = (
        f"{scale:.3g} times" if field == "deflection" else f"at most {largest:.4g} {_FIELDS[field]}"
    )
    return in_metres(axes, f"{field.replace('_', ' ')}, {what} ({found.theory})")


def draw_equilibrium_in_space(
    found: SpatialEquilibrium, axes: Axes | None = None, view: str = "oblique"
) -> Axes:
    """Draw an arm in space in static equilibrium, its deflection magnified, in one view.

    Parameters
    ----------
    view
        ``"oblique"``, with z upwards, or a plane of the axes of the ground: ``"x-z"``, ``"y-z"``, ``"x-y"``.

    Raises
    ------
    ArmError
        If ``view`` is unknown.
    """
    axes, scale = _draw_in_space(found, found.displacement, axes, view, COLOURS[0])
    axes.set_title(f"deflection, {scale:.3g} times ({found.theory})", fontsize=10, parse_math=False)
    return axes


def draw_buckling(
    found: Buckling, axes: Axes | None = None, factor: int = 1, view: str = "oblique"
) -> Axes:
    """Draw an arm and one of its buckling shapes.

    Parameters
    ----------
    factor
        Number of the buckling load factor, from 1.
    view
        View of an arm in space, as for `draw_equilibrium_in_space`.

    Raises
    ------
    ArmError
        If there is no such factor, or ``view`` is unknown.
    """
    if not is_whole(factor, 1, found.factors.size):
        raise ArmError(f"factor = {shown(factor)}: choose one from 1 to {found.factors.size}.")
    if not np.isfinite(found.factors[factor - 1]):
        raise ArmError(f"factor = {factor}: there is no such buckling factor to draw.")
    title = f"buckling {factor}: load factor {found.factors[factor - 1]:.5g} ({found.theory})"
    moved = found.displacement[factor - 1]
    if moved.shape[-1] == 3:
        axes, _ = _draw_in_space(found, moved, axes, view, COLOURS[1])
        axes.set_title(title, fontsize=10, parse_math=False)
        return axes
    axes = axes_or_new(axes, 6.0, 5.0)
    _draw_beside(axes, found, moved, COLOURS[1])
    return in_metres(axes, title)


def _draw_in_space(
    found: SpatialEquilibrium | Buckling,
    step: np.ndarray,
    axes: Axes | None,
    view: str,
    colour: str,
) -> tuple[Axes, float]:
    """Draw an arm in space at rest, and displaced by (n, S, 3); return the axes and the magnification."""
    require_view(view)
    axes = axes_or_new(axes, 5.0, 5.0)
    scale = _magnified(found.arm, step)
    rest = np.concatenate([np.zeros((1, 3)), found.positions.reshape(-1, 3)])
    flat = step.reshape(-1, 3)
    moved = rest + scale * np.concatenate([flat[:1], flat])
    sides = np.array(VIEWS[view]).T
    axes.plot(*(rest @ sides).T, color="0.6", linewidth=1.2, linestyle=(0, (4, 2)))
    axes.plot(*(moved @ sides).T, color=colour, linewidth=1.8)
    axes.plot(*(rest[0] @ sides), "s", color="black", markersize=4.5)
    frame_view(axes, view, *room(np.concatenate([rest, moved]), 1.2))
    return axes, scale


def _magnified(arm: SerialArm, moved: np.ndarray) -> float:
    """Magnification of displacements or forces (..., 2) or (..., 3); 1 if they are zero."""
    reach = sum(float(link.length) for link in arm.links)
    largest = float(np.max(np.linalg.norm(moved, axis=-1)))
    return _DRAWN * reach / largest if largest > 0.0 else 1.0


def _draw_beside(
    axes: Axes,
    found: StaticEquilibrium | Buckling,
    moved: np.ndarray,
    colour: str,
    filled: bool = False,
) -> tuple[float, float]:
    """Draw links at rest and ``moved``, (n, S, 2); return the magnification and the largest length."""
    largest = float(np.max(np.hypot(moved[..., 0], moved[..., 1])))
    scale = _magnified(found.arm, moved)
    for place, step in zip(found.positions, moved, strict=True):
        drawn = place + scale * step
        axes.plot(place[:, 0], place[:, 1], color="0.6", linewidth=1.0)
        axes.plot(drawn[:, 0], drawn[:, 1], color=colour, linewidth=1.8)
        if filled:
            outline = np.concatenate([place, drawn[::-1]])
            axes.fill(outline[:, 0], outline[:, 1], color=colour, alpha=0.2, linewidth=0.0)
    return scale, largest
