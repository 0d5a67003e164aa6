"""Ports that cannot move, because their place is rigid with a supported tip or with the ground."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.links import Link
from jaxmodal.response.driven.ports import RELATIVE, Port, port_row, shares_of_axes
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import on_host
from jaxmodal.statics.beam_arrays import SUPPORTS

_DIRECTIONS = ("x", "y", "rotation")


def cannot_move(found: Port, arm: Arm) -> bool:
    """Return True if a port stays at rest under any force, in all cells where values have an axis of cells.

    Parameters
    ----------
    arm
        The arm. If a relevant value is traced, the port is taken as one that can move.
    """
    if found.place == "base":
        return False
    row = port_row(found, arm)
    link = arm.links[row.link]
    if found.direction == RELATIVE:
        return _rigid(link.joint_stiffness)
    if row.place == "tip":
        tip, x, y = row.link, None, None  # the row is for the payload's centre as seen from the tip
    elif row.place == "link" and row.station == 1.0:
        end = link.end_offset
        tip, (x, y) = row.link, (None, None) if end is None else (-end[0], -end[1])
    elif row.station == 0.0 and _slides_nowhere(link):
        x, y = (link.base_offset if row.place == "link" else None) or (None, None)
        tip = row.link - 1
    else:
        return False
    along, across, turn = row.row
    if not found.turns:
        turn = turn + (0.0 if x is None else x) * across - (0.0 if y is None else y) * along
    held = _held(arm, tip)
    if tip < row.link and not _rigid(link.joint_stiffness):
        held = held - {"rotation"}  # the link turns about the held axis
    return _needed(found, arm, row.link, turn) <= held


def _needed(found: Port, arm: Arm, index: int, turn: Any) -> set[str]:
    """Return the directions in which a rigid part must be held for a port of it to stay at rest."""
    if found.turns:
        return {"rotation"}
    needed = set() if _nothing(turn) else {"rotation"}
    if found.direction in ("x", "y"):
        return needed | {found.direction}
    side = 0 if found.direction == "along" else 1
    shares = {name: shares_of_axes(name, arm, index)[side] for name in ("x", "y")}
    return needed | {name for name, share in shares.items() if not _nothing(share)}


def _held(arm: Arm, tip: int) -> set[str]:
    """Return the directions in which the tip of a link, or the ground (``tip`` < 0), is held."""
    if tip < 0:
        base = arm.base_stiffness
        if base is None:
            return set(_DIRECTIONS)
        own = zip(_DIRECTIONS, (base.k11, base.k22, base.k33), strict=True)
        return {name for name, value in own if _rigid(value)}
    stiffnesses = (getattr(arm.links[tip], name) for name in SUPPORTS)
    pairs = zip(_DIRECTIONS, stiffnesses, strict=True)
    return {name for name, value in pairs if value is not None and _rigid(value)}


def _slides_nowhere(link: Link) -> bool:
    return all(value is None or _rigid(value) for value in link.slides)


def _rigid(value: Any) -> bool:
    return on_host(value) and bool(np.all(np.isposinf(value)))


def _nothing(value: Any) -> bool:
    return on_host(value) and not np.any(value)


def require_moving(quantity: str, inputs: Iterable[Port], arm: Arm) -> None:
    """Refuse ports that cannot move, for a quantity that imposes a unit displacement there.

    Raises
    ------
    ArmError
        Naming the port.
    """
    if quantity not in ("dynamic_stiffness", "transmissibility"):
        return
    for each in inputs:
        if cannot_move(each, arm):
            raise no_motion(each, quantity)


def no_motion(each: Port, quantity: str) -> ArmError:
    """Return the error for a port that cannot have the displacement that a quantity imposes."""
    return ArmError(
        f"inputs: {str(each)!r} is held at rest by a rigid support, a rigid joint or the ground, so there is no"
        f" {quantity} for a displacement of 1 there; leave this port out, or take quantity='receptance'."
    )
