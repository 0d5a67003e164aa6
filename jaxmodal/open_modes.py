"""Single modes of a batch that the first pass left open, gathered so that they go on side by side."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.guided_search import Enclosure


@dataclasses.dataclass(frozen=True)
class OpenModes:
    """Host arrays: the row of each mode's cell and its number less one, shape (lanes,), its enclosure, and what the
    other modes of its cell help with: all frequencies, shape (modes, lanes), and the rough ones, a few more.
    """

    cell: np.ndarray
    mode: np.ndarray
    enclosure: Enclosure
    omegas: np.ndarray
    rough: np.ndarray

    @classmethod
    def of(
        cls, cells: np.ndarray, e: Enclosure, rough: np.ndarray, chosen: np.ndarray
    ) -> OpenModes:
        """The chosen modes, a mask of shape (modes, cells), of enclosures of that shape."""
        mode, column = np.nonzero(chosen)
        lanes = jax.tree_util.tree_map(lambda x: x[mode, column], e)
        return cls(cells[column], mode, lanes, e.omega[:, column], rough[:, column])

    @classmethod
    def joined(cls, parts: list[OpenModes]) -> OpenModes:
        """All lanes of several."""
        return cls(
            cell=np.concatenate([p.cell for p in parts]),
            mode=np.concatenate([p.mode for p in parts]),
            enclosure=jax.tree_util.tree_map(
                lambda *x: np.concatenate(x), *(p.enclosure for p in parts)
            ),
            omegas=np.concatenate([p.omegas for p in parts], axis=1),
            rough=np.concatenate([p.rough for p in parts], axis=1),
        )

    def take(self, lanes: np.ndarray) -> OpenModes:
        """Some of the lanes."""
        return OpenModes(
            cell=self.cell[lanes],
            mode=self.mode[lanes],
            enclosure=jax.tree_util.tree_map(lambda x: x[lanes], self.enclosure),
            omegas=self.omegas[:, lanes],
            rough=self.rough[:, lanes],
        )

    def replace(self, lanes: np.ndarray, e: Enclosure) -> None:
        """Put enclosures in the place of those of some lanes."""
        for field in dataclasses.fields(Enclosure):
            getattr(self.enclosure, field.name)[lanes] = getattr(e, field.name)

    def nearest(self) -> np.ndarray:
        """The modes below and above each mode in its cell, shape (2, lanes); far away where there is none."""
        lane, last = np.arange(self.mode.size), self.omegas.shape[0] - 1
        below = np.where(self.mode > 0, self.omegas[np.maximum(self.mode - 1, 0), lane], 0.0)
        above = np.where(
            self.mode < last,
            self.omegas[np.minimum(self.mode + 1, last), lane],
            1e3 * self.omegas[last],
        )
        return np.stack([below, above])


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
