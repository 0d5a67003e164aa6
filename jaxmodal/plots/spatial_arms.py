"""Plots of an arm in space at rest: links, joints with their axes, bodies. They need matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxmodal.plots.bent_arms import HEAVIEST, VIEWS, frame_view, require_view, room
from jaxmodal.plots.figures import COLOURS, axes_or_new, finished, new_figure
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.bodies import RigidBody

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FLEXIBLE, _RIGID, _JOINT, _PAYLOAD = COLOURS[0], "0.25", COLOURS[1], COLOURS[2]
#: half of what is drawn of a joint's axis, as a share of half the side of the picture
_AXIS = 0.12


class _Parts(NamedTuple):
    """Positions in the axes of the ground: of links (4, 3), of joints by number and of their axes, of bodies (b, 3)."""

    links: list[np.ndarray]
    joints: dict[int, np.ndarray]
    directions: dict[int, np.ndarray]
    centres: np.ndarray
    masses: np.ndarray
    has_payload: bool


def draw_spatial_arm(arm: SpatialArm, axes: Axes | None = None, view: str = "oblique") -> Axes:
    """Draw an arm in space at rest in one view.

    Flexible links are blue, rigid ones dark, offsets thin. Joints have their number and axis, and are filled if
    elastic. Bodies are discs at their centres of gravity, with areas proportional to their masses; the payload is
    green.

    Parameters
    ----------
    view : str
        ``"oblique"``, with z upwards, or a plane of the axes of the ground: ``"x-z"``, ``"y-z"``, ``"x-y"``.

    Raises
    ------
    ArmError
        If ``view`` is unknown, or a value is traced or batched.
    """
    require_view(view)
    parts = _parts(arm)
    axes = axes_or_new(axes, 5.0, 5.0)
    _draw(axes, arm, parts, view)
    axes.set_title(arm.name or "arm in space", fontsize=10, parse_math=False)
    return axes


def plot_spatial_arm(arm: SpatialArm, path: str | Path | None = None, title: str = "") -> Figure:
    """Plot an arm in space at rest in an oblique view and three along the axes of the ground, at equal scale.

    Parameters
    ----------
    path : str or Path, optional
        File for the plot (PNG, PDF or SVG by the suffix); not written by default.

    Raises
    ------
    ArmError
        A value is traced or batched.
    """
    parts = _parts(arm)
    figure = new_figure(8.0, 8.4)
    for place, view in zip(figure.subplots(2, 2).flat, VIEWS, strict=True):
        _draw(place, arm, parts, view)
        place.set_title(view, fontsize=9)
    return finished(figure, path, title or arm.name)


def _parts(arm: SpatialArm) -> _Parts:
    before, end = np.eye(3), np.zeros(3)
    links: list[np.ndarray] = []
    joints: dict[int, np.ndarray] = {}
    directions: dict[int, np.ndarray] = {}
    bodies: list[tuple[float, np.ndarray]] = []

    def add(body: RigidBody | None, place: np.ndarray, turn: np.ndarray) -> None:
        if body is not None and float(body.mass) > 0.0:
            seen = np.zeros(3) if body.centre is None else np.array([float(x) for x in body.centre])
            bodies.append((float(body.mass), place + turn @ seen))

    for number, (link, frame) in enumerate(zip(arm.links, arm.frames(), strict=True), start=1):
        links.append(np.stack([frame.joint, frame.start, frame.end, frame.tip]))
        if not link.segment:
            joints[number] = frame.joint
            axis = before @ np.array([float(x) for x in link.joint_axis])
            directions[number] = axis / np.linalg.norm(axis)
        add(link.stator, end, before)
        add(link.hub, frame.joint, frame.axes)
        add(link.body, frame.tip, frame.axes)
        before, end = frame.axes, frame.tip
    count = len(bodies)
    add(arm.payload, end, before)
    return _Parts(
        links,
        joints,
        directions,
        np.array([place for _, place in bodies]).reshape(-1, 3),
        np.array([mass for mass, _ in bodies]),
        len(bodies) > count,
    )


def _draw(axes: Axes, arm: SpatialArm, parts: _Parts, view: str) -> None:
    sides = np.array(VIEWS[view]).T
    middle, half = room(np.concatenate([*parts.links, parts.centres]), 1.25)
    for number, (link, places) in enumerate(zip(arm.links, parts.links, strict=True), start=1):
        flat = places @ sides
        colour = _RIGID if link.rigid else _FLEXIBLE
        axes.plot(flat[:2, 0], flat[:2, 1], color=_RIGID, linewidth=1.0, linestyle=":")
        axes.plot(flat[1:3, 0], flat[1:3, 1], color=colour, linewidth=2.6, solid_capstyle="round")
        axes.plot(flat[2:, 0], flat[2:, 1], color=_RIGID, linewidth=1.0, linestyle=":")
        if link.segment:
            continue
        joint, way = flat[0], _AXIS * half * parts.directions[number] @ sides
        ends = np.stack([joint - way, joint + way])
        axes.plot(ends[:, 0], ends[:, 1], color=_JOINT, linewidth=1.2, zorder=4)
        gives = np.isfinite(float(link.joint_stiffness))
        look: dict[str, Any] = {"markerfacecolor": _JOINT if gives else "white", "zorder": 5}
        axes.plot(*joint, "o", color=_JOINT, markersize=4.5, **look)
    _number(axes, {number: place @ sides for number, place in parts.joints.items()}, half)
    axes.plot(*(parts.joints[1] @ sides), "s", color="black", markersize=8.0, zorder=2)
    if parts.masses.size:
        centres, sizes = parts.centres @ sides, HEAVIEST * parts.masses / parts.masses.max()
        colours = [_FLEXIBLE] * len(sizes)
        if parts.has_payload:
            colours[-1] = _PAYLOAD
        axes.scatter(
            centres[:, 0],
            centres[:, 1],
            s=sizes,
            c=colours,
            alpha=0.35,
            edgecolors="black",
            zorder=3,
        )
    frame_view(axes, view, middle, half)


def _number(axes: Axes, joints: Mapping[int, np.ndarray], half: float) -> None:
    """Write the numbers of joints beside them, one text for joints that coincide in a view."""
    left = list(joints)
    while left:
        near = [k for k in left if np.linalg.norm(joints[k] - joints[left[0]]) < 0.03 * half]
        text = ", ".join(map(str, near))
        place = joints[near[0]] + 0.05 * half
        axes.annotate(text, (place[0], place[1]), fontsize=7.5, color=_JOINT, zorder=6)
        left = [k for k in left if k not in near]
