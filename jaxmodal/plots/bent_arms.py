"""What pictures of modes in the plane and in space have alike: the bent arm, and what is said of the mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.arguments import is_whole
from jaxmodal.frequencies.status import Status
from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.modes.spatial_shapes import SpatialModeShapes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: the largest displacement drawn, as a share of the reach of the arm
DRAWN_SHARE = 0.18
#: area of the marker of the heaviest body, in square points; others have theirs by their masses
_HEAVIEST = 130.0
_LABELS = {
    "timoshenko": "Timoshenko",
    "rayleigh": "Rayleigh",
    "euler_bernoulli": "Euler-Bernoulli",
    "bending_only": "bending only",
}


def check_mode(shapes: ModeShapes | SpatialModeShapes, mode: int) -> None:
    """Refuse a mode number, from 1, that the shapes do not have, and a mode without a shape."""
    count = len(shapes.omega)
    if not is_whole(mode, 1, count):
        raise ValueError(f"mode = {mode!r}: the shapes have modes 1 to {count}")
    if not np.isfinite(np.asarray(shapes.displacement[mode - 1])).all():
        status = Status(int(shapes.frequencies.status[mode - 1]))
        why = f"its status is {status.name}"
        if status is Status.certified:
            why = "its frequency is that of other modes as well, and any mixture of their shapes is one"
        raise ValueError(f"mode {mode} has no shape to draw: {why}")


def mode_title(shapes: ModeShapes | SpatialModeShapes, mode: int) -> str:
    """Number, frequency, certificate and theory of a mode (index from 0)."""
    hertz = float(shapes.frequencies_hz[mode])
    label = _LABELS[shapes.frequencies.theory]
    mark = "" if int(shapes.frequencies.status[mode]) == Status.certified else " (not certified)"
    return f"mode {mode + 1}: {hertz:.5g} Hz{mark}\n{label}"


def joined(along: np.ndarray) -> np.ndarray:
    """Positions or displacements (n, S, d) with those of the end of the link before in front; 0 at the base."""
    before = np.concatenate([np.zeros((1, along.shape[-1])), along[:-1, -1]])
    return np.concatenate([before[:, None], along], axis=1)


def reach(position: np.ndarray) -> float:
    """The lengths of the links together, from places on them, (n, S, d)."""
    return float(np.sum(np.linalg.norm(position[:, -1] - position[:, 0], axis=-1)))


def alignment(
    first: ModeShapes | SpatialModeShapes, other: ModeShapes | SpatialModeShapes, mode: int
) -> float:
    """The sign that shows a mode of another theory the same way round."""
    product = np.sum(np.asarray(first.displacement[mode]) * np.asarray(other.displacement[mode]))
    return -1.0 if product < 0.0 else 1.0


def draw_bent(axes: Axes, rest: np.ndarray, deformed: np.ndarray, colour: str) -> None:
    """Draw an arm at rest, dashed, and deformed, (n, S, 2) each, with its tips and its base."""
    flat = rest.reshape(-1, 2)
    axes.plot(flat[:, 0], flat[:, 1], color="0.7", linewidth=1.2, linestyle=(0, (4, 2)))
    for link in deformed:
        axes.plot(link[:, 0], link[:, 1], color=colour, linewidth=1.8, solid_capstyle="round")
    axes.plot(deformed[:, -1, 0], deformed[:, -1, 1], "o", color=colour, markersize=3.5)
    axes.plot(0.0, 0.0, "s", color="black", markersize=4.5)


def draw_bodies(axes: Axes, masses: np.ndarray, centres: np.ndarray, colour: str) -> None:
    """Draw bodies as discs at places (B, 2), whose areas are as their masses."""
    sizes = _HEAVIEST * masses / max(masses.max(initial=0.0), np.finfo(float).tiny)
    look: dict[str, Any] = {"color": colour, "alpha": 0.35, "edgecolors": "black", "zorder": 3}
    axes.scatter(centres[:, 0], centres[:, 1], s=sizes, **look)


def move_bent(axes: Axes, deformed: np.ndarray) -> list[Any]:
    """Move what `draw_bent` drew to another deformation; return what has moved."""
    *links, tips, _ = axes.lines[1:]
    for line, link in zip(links, deformed, strict=True):
        line.set_data(link[:, 0], link[:, 1])
    tips.set_data(deformed[:, -1, 0], deformed[:, -1, 1])
    return [*links, tips]
