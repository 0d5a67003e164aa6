"""The zero of the determinant between two frequencies at which it is known: the chord, on host arrays."""

from __future__ import annotations

import numpy as np


def chord(ends: np.ndarray, logs: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    """Zero of the chord of D, the nearest modes divided out; shape (lanes,).

    Parameters
    ----------
    ends, logs : np.ndarray, shape (2, lanes)
        Two frequencies, the lower one first, and log|D| there; D changes its sign between them.
    nearest : np.ndarray, shape (2, lanes)
        Neighbouring modes.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.prod(np.abs((ends[:1] - nearest) / (ends[1:] - nearest)), axis=0)
        ratio = np.where((ratio > 0.0) & np.isfinite(ratio), ratio, 1.0)
        share = 1.0 / (1.0 + ratio * np.exp(logs[1] - logs[0]))
    return np.asarray(ends[0] + share * (ends[1] - ends[0]))
