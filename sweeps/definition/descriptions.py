"""Definitions as plain values: axes in a fingerprint, and differences between two definitions."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sweeps.definition.axes import Axis

#: key of the digest of the values of an axis
_DIGEST = "sha256"


def described_axis(entry: Axis) -> dict[str, Any]:
    """Return an axis as plain values, with its numbers given by their ends and their digest."""
    return {
        column.name: {
            "parameter": column.address,
            "unit": column.unit,
            "size": entry.size,
            "first": float(column.values[0]),
            "last": float(column.values[-1]),
            _DIGEST: hashlib.sha256(column.values.astype("<f8").tobytes()).hexdigest(),
        }
        for column in entry.columns
    }


def differences(old: Any, new: Any, place: str = "", *, where: str = "now") -> list[str]:
    """Return the differences of two descriptions, one text each: place, old value, new value, source ``where``."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        inner = f"{place}." if place else ""
        found = [
            line
            for key in keys
            if key != _DIGEST
            for line in differences(old.get(key), new.get(key), f"{inner}{key}", where=where)
        ]
        if not found and old.get(_DIGEST) != new.get(_DIGEST):
            found = [f"{place}: other values between the same ends in the store than {where}"]
        return found
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
