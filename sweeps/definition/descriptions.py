"""Definitions as plain values: axes in a fingerprint, and differences between two definitions."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sweeps.definition.axes import Axis


def described_axis(entry: Axis) -> dict[str, Any]:
    """Return an axis as plain values, with its numbers given by their ends and their digest."""
    return {
        column.name: {
            "parameter": column.address,
            "unit": column.unit,
            "size": entry.size,
            "first": float(column.values[0]),
            "last": float(column.values[-1]),
            "sha256": hashlib.sha256(column.values.astype("<f8").tobytes()).hexdigest(),
        }
        for column in entry.columns
    }


def differences(old: Any, new: Any, place: str = "", *, where: str = "now") -> list[str]:
    """Return the differences of two descriptions, one text each: place, old value, new value, source ``where``."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        inner = f"{place}." if place else ""
        return [
            line
            for key in keys
            for line in differences(old.get(key), new.get(key), f"{inner}{key}", where=where)
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True), start=1)
        return [
            line
            for number, (a, b) in pairs
            for line in differences(a, b, f"{place}[{number}]", where=where)
        ]
    if old == new:
        return []
    return [f"{place}: {_shown(old)} in the store, {_shown(new)} {where}"]


def _shown(value: object) -> str:
    text = "absent" if value is None else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
