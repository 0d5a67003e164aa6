"""Zeros of the determinant between frequencies at which double-double gives it: chord and parabola, on host arrays."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Chord:
    """Zero ``omega`` of the chord of D between two frequencies, and the counts there; arrays of shape (lanes,)."""

    omega: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lower_count: np.ndarray
    upper_count: np.ndarray


def chord(ends: np.ndarray, logs: np.ndarray, counts: np.ndarray, nearest: np.ndarray) -> Chord:
    """Zero of the chord of D, the nearest modes divided out.

    Parameters
    ----------
    ends, logs, counts : np.ndarray, shape (2, lanes)
        Two frequencies, the lower one first, log|D| and J there; D changes its sign between them where the counts
        differ by one.
    nearest : np.ndarray, shape (2, lanes)
        Neighbouring modes.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.prod(np.abs((ends[:1] - nearest) / (ends[1:] - nearest)), axis=0)
        ratio = np.where((ratio > 0.0) & np.isfinite(ratio), ratio, 1.0)
        share = 1.0 / (1.0 + ratio * np.exp(logs[1] - logs[0]))
    return Chord(ends[0] + share * (ends[1] - ends[0]), *ends, *counts)


def parabola(points: np.ndarray, signs: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Zero of the parabola through D at three frequencies, the one next to the second; shape (lanes,).

    Parameters
    ----------
    points, signs, logs : np.ndarray, shape (3, lanes)
        Three frequencies, the sign of D and log|D|. The first and third enclose a mode, the second is close to it. D
        next to two modes that nearly coincide is a parabola, of which a chord misses the zero.
    """
    values = signs * np.exp(logs - np.max(logs, axis=0))
    span = points[2] - points[0]
    first, third = (points[0] - points[1]) / span, (points[2] - points[1]) / span
    with np.errstate(divide="ignore", invalid="ignore"):
        rise_first = (values[0] - values[1]) / first
        rise_third = (values[2] - values[1]) / third
        curvature = (rise_third - rise_first) / (third - first)
        slope = rise_third - curvature * third
        root = np.sqrt(np.maximum(slope * slope - 4.0 * curvature * values[1], 0.0))
        step = -2.0 * values[1] / (slope + np.copysign(root, slope))
    step = np.where((step >= first) & (step <= third), step, 0.0)
    return np.asarray(points[1] + step * span)
