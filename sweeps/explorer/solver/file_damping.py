"""Damping of an arm for the page: damping of the links' material, dampers in parallel with springs."""

from __future__ import annotations

from typing import Any

from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.response.driven.damping import MATERIAL, dampers, damps


def damping_of_file(arm: SerialArm) -> dict[str, Any] | None:
    """Return material damping of every link, and dampers by the addresses of their springs; None if undamped."""
    if not damps(arm):
        return None
    return {
        "material": [[float(getattr(x, name) or 0.0) for name in MATERIAL] for x in arm.links],
        "springs": {spring: damper for _, spring, damper, _ in dampers(arm)},
    }
