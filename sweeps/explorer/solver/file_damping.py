"""Damping of an arm's file for the page: material of the links, dampers beside springs."""

from __future__ import annotations

from typing import Any

from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.response.driven.damping import MATERIAL, dampers, damps


def damping_of_file(arm: SerialArm) -> dict[str, Any] | None:
    """Loss factor and Kelvin-Voigt time of every link, dampers by the addresses of their springs; None for none."""
    if not damps(arm):
        return None
    return {
        "material": [[float(getattr(x, name) or 0.0) for name in MATERIAL] for x in arm.links],
        "springs": {spring: damper for _, spring, damper, _ in dampers(arm)},
    }
