"""Plot of an arm: links to scale, joints, bodies, payload. Needs matplotlib, an optional dependency."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.descriptions import posture_text
from jaxmodal.arm.facts import depth_in_plane
from jaxmodal.arm.links import Link
from jaxmodal.eigenspaces.modal_mass import link_starts
from jaxmodal.plots.figures import COLOURS, axes_or_new, in_metres
from jaxmodal.statics.beam_arrays import SUPPORTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINK, _BODY, _PAYLOAD = "#8fb8d6", COLOURS[0], COLOURS[1]
#: radius of the heaviest body, as a share of the length of the arm
_LARGEST = 0.05
#: bodies closer than this share of the length of the arm have one label
_NEAR = 0.08


def draw_arm(arm: Arm, axes: Axes | None = None) -> Axes:
    """Draw an arm to scale in its posture: links with their depth, joints, supports, bodies, payload.

    Supports at tips are triangles, filled if rigid, and a square around the tip for a rotational spring. Bodies are
    discs at their centres of gravity, with areas proportional to their masses; a link of unknown depth is drawn as a
    line.

    Raises
    ------
    ArmError
        If a value is traced or batched.
    """
    arm.to_dict()  # refuses what is no number
    axes = axes_or_new(axes, 6.0, 5.0)
    starts = np.asarray(link_starts(beam_values(arm.replace(loads=None))), np.float64)
    turned = np.cumsum([float(link.joint_angle) for link in arm.links])
    reach = sum(float(link.length) for link in arm.links)
    bodies: list[tuple[np.ndarray, float, str, str]] = []
    joint = np.zeros(2)
    for number, (link, start, angle) in enumerate(
        zip(arm.links, starts, turned, strict=True), start=1
    ):
        along = np.array([math.cos(angle), math.sin(angle)])
        axial = np.stack([along, [-along[1], along[0]]])  # rows: along the link, to its left
        tip = start + float(link.length) * along + _offset(link, "end_offset") @ axial
        _draw_link(axes, link, start, axial, tip, joint)
        if not link.segment:
            face = "black" if arm.base_stiffness is None else "white"
            _draw_joint(axes, link, joint, number, face)
            bodies.append((joint, float(link.body_mass - link.body.mass), f"hubs {number}", _BODY))
        centre = tip + _offset(link, "tip_centre") @ axial
        bodies.append((centre, float(link.body.mass), f"body {number}", _BODY))
        axes.plot(*np.stack([tip, centre]).T, color="0.4", linewidth=1.2, linestyle=":")
        _draw_supports(axes, link, tip)
        joint = tip
    payload = joint + _offset(arm.payload, "centre") @ axial
    bodies.append((payload, float(arm.payload.mass), "payload", _PAYLOAD))
    axes.plot(*np.stack([joint, payload]).T, color="0.4", linewidth=1.2, linestyle=":")
    _draw_bodies(axes, [body for body in bodies if body[1] > 0.0], reach)
    axes.margins(0.2)
    posture = posture_text(arm)
    return in_metres(axes, f"{arm.name or 'arm'}{f', {posture}' if posture else ''}")


def _offset(record: object, name: str) -> np.ndarray:
    return np.array([float(getattr(record, f"{name}_{axis}") or 0.0) for axis in "xy"])


def _draw_link(
    axes: Axes,
    link: Link,
    start: np.ndarray,
    axial: np.ndarray,
    tip: np.ndarray,
    joint: np.ndarray,
) -> None:
    end = start + float(link.length) * axial[0]
    for one, other in ((joint, start), (end, tip)):
        if not np.array_equal(one, other):
            axes.plot(*np.stack([one, other]).T, color="0.4", linewidth=1.2, linestyle=":")
    depth = depth_in_plane(link)
    half = 0.5 * (depth or 0.0) * axial[1]
    corners = np.stack([start - half, end - half, end + half, start + half])
    axes.fill(*corners.T, facecolor=_LINK, edgecolor="0.25", linewidth=1.0, zorder=2)


def _draw_supports(axes: Axes, link: Link, tip: np.ndarray) -> None:
    """Draw supports as triangles towards the ground, filled if rigid; a rotational spring at a tip as a square."""
    for name, marker in zip(SUPPORTS, ("<", "^", "s"), strict=True):
        stiffness = getattr(link, name)
        if stiffness is not None and float(stiffness) > 0.0:
            face = "black" if math.isinf(float(stiffness)) else "white"
            axes.plot(
                *tip,
                marker=marker,
                markersize=11,
                markerfacecolor=face,
                markeredgecolor="black",
                zorder=4,
            )


def _draw_joint(axes: Axes, link: Link, at: np.ndarray, number: int, face: str) -> None:
    """Draw joint 1 as a square, hollow on an elastic base; other joints as dots, elastic ones as circles."""
    stiffness = float(link.joint_stiffness)
    if number == 1 and all(x is None or float(x) > 0.0 for x in link.slides):
        axes.plot(*at, marker="s", color="black", markersize=8, zorder=6, markerfacecolor=face)
    elif math.isinf(stiffness):
        axes.plot(*at, marker="o", color="0.25", markersize=4, zorder=6)
    if math.isfinite(stiffness):
        axes.plot(
            *at,
            marker="o",
            markerfacecolor="white",
            markeredgecolor="black",
            markersize=7,
            zorder=7,
        )
        text = "hinge" if stiffness == 0.0 else f"{stiffness:.4g} N m/rad"
        axes.annotate(
            text,
            (float(at[0]), float(at[1])),
            xytext=(8, -14),
            textcoords="offset points",
            fontsize=7.5,
        )


def _draw_bodies(
    axes: Axes, bodies: list[tuple[np.ndarray, float, str, str]], reach: float
) -> None:
    from matplotlib.patches import Circle

    heaviest = max((mass for _, mass, _, _ in bodies), default=1.0)
    near = _NEAR * reach
    labels: list[
        tuple[np.ndarray, list[str]]
    ] = []  # of bodies that lie close together, one below the other
    for centre, mass, name, colour in bodies:
        radius = _LARGEST * reach * math.sqrt(mass / heaviest)
        place = (float(centre[0]), float(centre[1]))
        axes.add_patch(
            Circle(place, radius, facecolor=colour, edgecolor="black", alpha=0.55, zorder=5)
        )
        line = f"{name}, {mass:.4g} kg"
        for at, lines in labels:
            if np.linalg.norm(at - centre) < near:
                lines.append(line)
                break
        else:
            labels.append((centre, [line]))
    for at, lines in labels:
        axes.annotate(
            "\n".join(lines),
            (float(at[0]), float(at[1])),
            xytext=(8, 10),
            textcoords="offset points",
            fontsize=7.5,
        )
