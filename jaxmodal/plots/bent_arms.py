"""Plot of an arm deformed by a mode, in the plane or in space, with a title. Needs matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.quantities import shown
from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.plots.figures import COLOURS, framed
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.statuses import Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AnyShapes: TypeAlias = ModeShapes | SpatialModeShapes

#: what lies to the right and what upwards in each view, in the axes of the ground; what comes towards the eye makes a
#: right-handed triad with them, and x never goes to the left
VIEWS = {
    "oblique": ((0.7071, 0.7071, 0.0), (-0.4082, 0.4082, 0.8165)),
    "x-z": ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "y-z": ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "x-y": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
}

#: the largest displacement drawn, as a share of the reach of the arm
_DRAWN_SHARE = 0.18
#: area of the marker of the heaviest body, in square points; others have theirs by their masses
HEAVIEST = 130.0
_LABELS = {
    "timoshenko": "Timoshenko",
    "rayleigh": "Rayleigh",
    "euler_bernoulli": "Euler-Bernoulli",
    "bending_only": "bending only",
}


def check_mode(shapes: AnyShapes, mode: int) -> None:
    """Raise an error for a mode number, from 1, that does not exist, or for a mode without a shape."""
    count = len(shapes.omega)
    if not is_whole(mode, 1, count):
        raise ValueError(f"mode = {mode!r}: the shapes have modes 1 to {count}")
    if not np.isfinite(np.asarray(shapes.displacement[mode - 1])).all():
        status = Status(int(shapes.frequencies.status[mode - 1]))
        why = f"its status is {status.name}"
        if status is Status.certified:
            why = "its frequency is that of other modes as well, and any mixture of their shapes is one"
        raise ValueError(f"mode {mode} has no shape to draw: {why}")


def mode_title(shapes: AnyShapes, mode: int) -> str:
    """Title of a mode (index from 0): number, frequency, certificate and theory."""
    hertz = float(shapes.frequencies_hz[mode])
    label = _LABELS[shapes.frequencies.theory]
    mark = "" if int(shapes.frequencies.status[mode]) == Status.certified else " (not certified)"
    return f"mode {mode + 1}: {hertz:.5g} Hz{mark}\n{label}"


class BentArm(NamedTuple):
    """An arm at rest and deformed by a mode, each (n, S + 1, 3); masses (B,) of bodies, and their two positions (B, 3).

    Every link starts at the end of the previous one, so that offsets are drawn as well. ``share`` is the largest
    displacement drawn, m.
    """

    rest: np.ndarray
    moved: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    carried: np.ndarray
    share: float


def bent(shapes: AnyShapes, mode: int) -> BentArm:
    """Geometry of a mode (index from 0) for drawing."""
    position, displacement, rotation, masses, seen = _in_space(shapes, mode)
    rest, moved = _joined(position), _joined(displacement)
    if isinstance(shapes, SpatialModeShapes):
        moved[0, 0] = moved[0, 1]  # an elastic base moves as link 1 does there
    steps = np.diff(rest.reshape(-1, 3), axis=0)
    share = _DRAWN_SHARE * float(np.sum(np.linalg.norm(steps, axis=1)))
    largest = float(np.max(np.linalg.norm(moved, axis=-1)))
    # a mode without displacement, as the torsion of a straight arm, is drawn at rest
    scale = share / largest if largest > 1e-9 * float(np.max(np.abs(rotation))) * share else 0.0
    ends = [0, -1]
    centres = position[:, ends] + seen
    shifts = displacement[:, ends] + np.cross(rotation[:, ends], seen)
    there = masses > 0.0
    carried = (centres + scale * shifts)[there]
    return BentArm(rest, rest + scale * moved, masses[there], centres[there], carried, share)


def _in_space(shapes: AnyShapes, mode: int) -> tuple[np.ndarray, ...]:
    """Positions, displacements and rotations, (n, S, 3) each; masses of bodies, (n, 2), and their positions, (n, 2, 3).

    Positions of bodies are relative to the ends of their link. The motions of a planar arm have z = 0.
    """
    position, displacement = np.asarray(shapes.position), np.asarray(shapes.displacement[mode])
    bodies = np.asarray(shapes.bodies)
    masses, seen = bodies[..., 0], bodies[..., 1:]
    if isinstance(shapes, SpatialModeShapes):
        return position, displacement, np.asarray(shapes.rotation[mode]), masses, seen
    along = position[:, -1] - position[:, 0]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    axial = np.stack([along, np.stack([-along[:, 1], along[:, 0]], axis=1)], axis=1)
    rotation = np.asarray(shapes.psi[mode])[..., None] * np.array([0.0, 0.0, 1.0])
    places = (np.pad(x, ((0, 0), (0, 0), (0, 1))) for x in (position, displacement, seen @ axial))
    position, displacement, seen = places
    return position, displacement, rotation, masses, seen


def _joined(along: np.ndarray) -> np.ndarray:
    """Positions or displacements (n, S, 3), preceded by those of the end of the previous link; 0 at the base."""
    before = np.concatenate([np.zeros((1, 3)), along[:-1, -1]])
    return np.concatenate([before[:, None], along], axis=1)


def require_view(view: str) -> None:
    """Raise an error for an unknown view."""
    if view not in VIEWS:
        raise ArmError(f"view = {shown(view)}: choose one of {', '.join(map(repr, VIEWS))}.")


def views_of(shapes: AnyShapes) -> tuple[str, ...]:
    """Views in which modes are drawn: x-y for a planar arm, all views for an arm in space."""
    return tuple(VIEWS) if isinstance(shapes, SpatialModeShapes) else ("x-y",)


def _seen(rest: np.ndarray, moved: np.ndarray, share: float, view: str) -> np.ndarray:
    """Projection (..., 2) on a view of points at a fraction of their displacement."""
    return np.asarray((rest + share * (moved - rest)) @ np.array(VIEWS[view]).T)


def alignment(first: AnyShapes, other: AnyShapes, mode: int) -> float:
    """Sign that gives a mode of another theory the same orientation."""
    product = np.sum(np.asarray(first.displacement[mode]) * np.asarray(other.displacement[mode]))
    return -1.0 if product < 0.0 else 1.0


def draw_mode(
    axes: Axes,
    shapes: AnyShapes,
    mode: int,
    view: str = "x-y",
    colour: str = COLOURS[0],
    sign: float = 1.0,
) -> None:
    """Draw one mode (index from 0), times ``sign``, over the dashed arm at rest, in one view with a scale bar.

    For an arm in space all views have the same scale and room for both directions of the mode, and show a triad of
    axes.
    """
    drawn = bent(shapes, mode)
    flat = _seen(drawn.rest, drawn.moved, 0.0, view).reshape(-1, 2)
    axes.plot(flat[:, 0], flat[:, 1], color="0.7", linewidth=1.2, linestyle=(0, (4, 2)))
    deformed = _seen(drawn.rest, drawn.moved, sign, view)
    for link in deformed:
        axes.plot(link[:, 0], link[:, 1], color=colour, linewidth=1.8, solid_capstyle="round")
    axes.plot(deformed[:, -1, 0], deformed[:, -1, 1], "o", color=colour, markersize=3.5)
    axes.plot(0.0, 0.0, "s", color="black", markersize=4.5)
    centres = _seen(drawn.centres, drawn.carried, sign, view)
    sizes = HEAVIEST * drawn.masses / max(drawn.masses.max(initial=0.0), np.finfo(float).tiny)
    look: dict[str, Any] = {"color": colour, "alpha": 0.35, "edgecolors": "black", "zorder": 3}
    axes.scatter(centres[:, 0], centres[:, 1], s=sizes, **look)
    if isinstance(shapes, ModeShapes):
        ends = np.concatenate([flat, _seen(drawn.centres, drawn.carried, 0.0, view)])
        margin = 1.25 * drawn.share
        low, high = ends.min(axis=0) - margin, ends.max(axis=0) + margin
        framed(axes, low, high)
        draw_scale(axes, float(high[0] - low[0]), "lower left")
        return
    pairs = (drawn.rest.reshape(-1, 3), drawn.moved.reshape(-1, 3)), (drawn.centres, drawn.carried)
    points = [rest + s * (moved - rest) for rest, moved in pairs for s in (-1.0, 1.0)]
    frame_view(axes, view, *room(np.concatenate(points), 1.15))  # bodies have a size of their own


def room(points: np.ndarray, margin: float) -> tuple[np.ndarray, float]:
    """Middle (3,) of points (n, 3), and half the side of a square around any view of them, times a margin."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    reach = max(np.abs((points - middle) @ np.array(sides).T).max() for sides in VIEWS.values())
    return middle, margin * float(reach) or 1.0


def frame_view(axes: Axes, view: str, middle: np.ndarray, half: float) -> None:
    """Show what `room` says in a view, with a scale bar and the axes of the ground."""
    low, high = (middle @ np.array(VIEWS[view]).T + side * half for side in (-1.0, 1.0))
    framed(axes, low, high)
    draw_scale(axes, 2.0 * half, "lower right")
    draw_triad(axes, view, np.array([low[0], high[1]]), 2.0 * half)


def move_bent(axes: Axes, drawn: BentArm, share: float, view: str) -> list[Any]:
    """Change the fraction of the deformation in a drawing of `draw_mode`; return the changed artists."""
    *links, tips, _ = axes.lines[1:]
    deformed = _seen(drawn.rest, drawn.moved, share, view)
    for line, link in zip(links, deformed, strict=True):
        line.set_data(link[:, 0], link[:, 1])
    tips.set_data(deformed[:, -1, 0], deformed[:, -1, 1])
    (bodies,) = axes.collections
    bodies.set_offsets(_seen(drawn.centres, drawn.carried, share, view))
    return [*links, tips, bodies]


def draw_triad(axes: Axes, view: str, corner: np.ndarray, width: float) -> None:
    """Draw the axes of the ground as arrows in the upper left corner; an axis along the line of sight is omitted."""
    corner = corner + np.array([0.12, -0.2]) * width
    start = (float(corner[0]), float(corner[1]))
    for name, arrow in zip("xyz", 0.1 * width * np.array(VIEWS[view]).T, strict=True):
        if np.linalg.norm(arrow) > 0.0:
            look = {
                "arrowstyle": "-|>",
                "color": "0.35",
                "linewidth": 0.9,
                "shrinkA": 0.0,
                "shrinkB": 0.0,
            }
            axes.annotate("", corner + arrow, start, arrowprops=look)
            x, y = (corner + 1.45 * arrow).tolist()
            axes.annotate(name, (x, y), color="0.35", fontsize=7.0, ha="center", va="center")


def draw_scale(axes: Axes, width: float, corner: str) -> None:
    """Draw a scale bar of a round length in a corner of axes whose range is ``width``, m."""
    from mpl_toolkits.axes_grid1.anchored_artists import (  # type: ignore[import-untyped]
        AnchoredSizeBar,
    )

    power = 10.0 ** math.floor(math.log10(0.3 * width))
    length = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= 0.3 * width)
    look: dict[str, Any] = {"frameon": False, "color": "0.4", "fontproperties": {"size": 7.0}}
    place = axes.transData, length, f"{length:g} m", corner
    axes.add_artist(AnchoredSizeBar(*place, **look))
