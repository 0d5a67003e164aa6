"""Numbers of a page as text, compressed: float64, or differences of 16-bit levels with a bound of their error."""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.runtime.array_types import Floats, Numbers

#: most values that are stored as float64; more become 16-bit levels, so that the page stays small
WHOLE = 65_536
#: highest level; 0 stands for a missing number
_TOP = 65_535


def deflated(values: Numbers) -> str:
    """Return the bytes of an array, little-endian, as raw deflate data in base64."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    plain = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
    return base64.b64encode(packer.compress(plain) + packer.flush()).decode()


def encoded(values: Floats) -> dict[str, Any]:
    """Return non-negative numbers (NaN: missing) in the form that the page reads.

    Parameters
    ----------
    values : array, shape (P, ..., m, n)
        P planes, each with its own levels. Up to `WHOLE` values in total are kept as float64.

    Returns
    -------
    dict
        ``data``, ``bits`` (64 or 16) and ``planes``: per plane ``low`` and ``high``, the smallest and largest number;
        with 16 bits also ``logarithmic`` and ``error``, a bound of the relative error of logarithmic levels, else of
        the absolute error.
    """
    planes = [_range(plane) for plane in values]
    if values.size <= WHOLE:
        return {"bits": 64, "planes": planes, "data": deflated(values)}
    levels = np.empty(values.shape, np.uint16)
    for plane, level, about in zip(values, levels, planes, strict=True):
        low, high = about["low"], about["high"]
        about["logarithmic"] = bool(low > 0.0)
        scaled = np.log(plane) if about["logarithmic"] else plane
        if about["logarithmic"]:
            low, high = math.log(low), math.log(high)
        step = (high - low) / (_TOP - 1)
        places = (scaled - low) / step if step > 0.0 else np.zeros_like(scaled)
        places = np.where(np.isnan(plane), 0.0, 1.0 + np.clip(np.rint(places), 0, _TOP - 1))
        level[...] = places.astype(np.uint16)
        # half a step, and the rounding of the logarithm and of the exponential
        slack = 8.0 * np.finfo(float).eps * max(1.0, abs(low), abs(high))
        about["error"] = (math.expm1(0.5 * step) if about["logarithmic"] else 0.5 * step) + slack
    return {"bits": 16, "planes": planes, "data": _differences(levels)}


def _range(plane: Floats) -> dict[str, Any]:
    known = plane[~np.isnan(plane)]
    return {"low": float(known.min()), "high": float(known.max())} if known.size else {
        "low": 0.0,
        "high": 0.0,
    }  # fmt: skip


def _differences(levels: NDArray[np.uint16]) -> str:
    """Return differences of levels along the last two axes, modulo 2^16, compressed; all low bytes come first."""
    for axis in (-1, -2):
        levels = np.diff(levels, axis=axis, prepend=np.zeros_like(levels.take([0], axis)))
    # small differences of both signs become small numbers: 0, -1, 1, -2, ...
    signed = levels.view(np.int16)
    folded = ((signed << 1) ^ (signed >> 15)).view(np.uint16)
    low, high = (folded & 0xFF).astype(np.uint8), (folded >> 8).astype(np.uint8)
    return deflated(np.concatenate([low.reshape(-1), high.reshape(-1)]))
