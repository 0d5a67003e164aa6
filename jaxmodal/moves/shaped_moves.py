"""Shaped moves and comparisons of them, as they are shown and handed on."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.moves.results import MoveVibration
from jaxmodal.runtime.results import ListedResult
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table

Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, repr=False)
class ShapedMove(ListedResult):
    """A move shaped for k modes, and what V arms, the given one first, are left with; see `shape_move`.

    Attributes
    ----------
    kind
        How it is shaped; ``"none"`` for the move as it was.
    motion
        The motion that the motors are to follow.
    delays, weights : array
        Impulses of the shaper, s; one where there is none.
    modes : tuple of int
        Numbers of the modes it is made for, from 1.
    bands : array, shape (k, 2)
        Lowest and highest frequency of each, rad/s, on the way of all arms.
    bounds : array, shape (k,)
        Largest share that the impulses leave of a mode whose frequency stays anywhere in its band; nan for S-curves.
    left
        Share of the unshaped vibration that may be left.
    variants : tuple of str
        The arms.
    unshaped, vibrations : tuple of MoveVibration
        What the move leaves of each of them, and what the shaped one does.
    """

    kind: str
    motion: Motion
    delays: Floats
    weights: Floats
    modes: tuple[int, ...]
    bands: Floats
    bounds: Floats
    left: float
    variants: tuple[str, ...]
    unshaped: tuple[MoveVibration, ...]
    vibrations: tuple[MoveVibration, ...]

    @property
    def status(self) -> NDArray[np.int64]:
        """The worst `Status` of each arm on the way of the shaped move, shape (V,)."""
        return np.array([int(Status.worst(found.status)) for found in self.vibrations])

    @property
    def duration(self) -> float:
        """When it stops, s."""
        return self.vibrations[0].stop

    @property
    def delay(self) -> float:
        """How much later it stops than the unshaped move, s."""
        return self.duration - self.unshaped[0].stop

    @property
    def amplitudes_mm(self) -> Floats:
        """What each arm is left with in each mode at the tip, mm, shape (V, K)."""
        return np.array([found.amplitudes_mm for found in self.vibrations])

    @property
    def shares(self) -> Floats:
        """The same of all modes added, as a share of what the unshaped move leaves of this arm, shape (V,)."""
        before = np.array([found.amplitudes_mm.sum() for found in self.unshaped])
        after = self.amplitudes_mm.sum(axis=1)
        return np.divide(after, before, out=np.zeros_like(after), where=before > 0.0)

    @property
    def worst_share(self) -> float:
        """The largest of `shares`."""
        return float(self.shares.max())

    @property
    def holds(self) -> bool:
        """Whether no arm is left with more than ``left``."""
        return self.worst_share <= self.left

    @property
    def certified(self) -> bool:
        """Whether all frequencies of all arms are certified."""
        return all(bool(found.certified.all()) for found in (*self.unshaped, *self.vibrations))

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return headings and rows with all digits, for CSV and JSON: one for each mode."""
        headings = (
            "mode",
            "band_from_hz",
            "band_to_hz",
            "bound",
            "unshaped_mm",
            "left_mm",
            "largest_left_mm",
        )
        before, after = self.unshaped[0].amplitudes_mm, self.amplitudes_mm
        rows: list[tuple[Any, ...]] = []
        for k in range(before.size):
            band: tuple[float | None, ...] = (None, None, None)
            if k + 1 in self.modes:
                own = self.modes.index(k + 1)
                bound = None if np.isnan(self.bounds[own]) else float(self.bounds[own])
                band = (*(float(x) for x in self.bands[own] / (2.0 * np.pi)), bound)
            rows.append((k + 1, *band, *map(float, (before[k], after[0, k], after[:, k].max()))))
        return headings, rows

    def tables(self) -> list[Table]:
        """Return each mode with its band and what is left, then each arm."""
        rows = [
            [
                str(mode),
                *("" if x is None else hertz_text(x) for x in band),
                "" if bound is None else f"{100.0 * bound:.3g}",
                *(f"{x:.4g}" for x in numbers),
            ]
            for mode, *band, bound, before, now, most in self.rows()[1]
            for numbers in [(before, now, most)]
        ]
        headings = (
            "mode",
            "band from [Hz]",
            "to [Hz]",
            "bound [%]",
            "unshaped [mm]",
            "left [mm]",
            "largest left [mm]",
        )
        title = f"{self.kind}: {self.delay:.4g} s later, at most {100.0 * self.worst_share:.3g} % is left"
        notes = [
            f"stops at {self.duration:.6g} s"
            + (f", {self.weights.size} impulses" if self.weights.size > 1 else ""),
            "bound: of a mode whose frequency stays in its band; left: evaluated on the way, with what changes on it",
        ]
        if self.kind != "none" and not self.holds:
            notes.append(f"more than the share of {100.0 * self.left:g} % that may be left")
        each = [
            [
                name,
                f"{one.amplitudes_mm.sum():.4g}",
                f"{two.amplitudes_mm.sum():.4g}",
                f"{100.0 * share:.3g}",
            ]
            for name, one, two, share in zip(
                self.variants, self.unshaped, self.vibrations, self.shares, strict=True
            )
        ]
        arms = Table(
            "all modes added",
            ("arm", "unshaped [mm]", "left [mm]", "share [%]"),
            each,
            [],
            ("arm",),
        )
        return [Table(title, headings, rows, notes), arms]


@dataclasses.dataclass(frozen=True, repr=False)
class ShaperComparison(ListedResult):
    """Kinds of shaping side by side: ``moves``, one `ShapedMove` for each; see `compare_shapers`."""

    moves: tuple[ShapedMove, ...]

    @property
    def status(self) -> NDArray[np.int64]:
        """The worst `Status` of each kind."""
        return np.array([int(Status.worst(move.status)) for move in self.moves])

    def tables(self) -> list[Table]:
        """Return a row for each kind."""
        first = self.moves[0]
        count = first.amplitudes_mm.shape[1]
        rows = [
            [
                move.kind,
                f"{move.delay:.4g}",
                f"{move.duration:.4g}",
                *(f"{value:.4g}" for value in move.amplitudes_mm[0]),
                f"{move.amplitudes_mm.sum(axis=1).max():.4g}",
                f"{100.0 * move.worst_share:.3g}",
                "" if np.isnan(move.bounds).any() else f"{100.0 * move.bounds.max():.3g}",
            ]
            for move in self.moves
        ]
        headings = (
            "kind",
            "delay [s]",
            "stops at [s]",
            *(f"mode {k + 1} [mm]" for k in range(count)),
            "worst, all modes [mm]",
            "of unshaped [%]",
            "bound [%]",
        )
        arms = ", ".join(first.variants)
        notes = [f"worst of: {arms}" if len(first.variants) > 1 else "no tolerances are given"]
        modes = " and ".join(map(str, first.modes))
        notes.append(f"shaped for mode{'s' * (len(first.modes) > 1)} {modes}; wide may take more")
        return [Table("what shaping leaves, and what it costs", headings, rows, notes, ("kind",))]

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return headings and rows with all digits, for CSV and JSON."""
        count = self.moves[0].amplitudes_mm.shape[1]
        headings = (
            "kind",
            "delay_s",
            "stop_s",
            *(f"left_{k + 1}_mm" for k in range(count)),
            "worst_mm",
            "worst_share",
            "bound",
        )
        rows = [
            (
                move.kind,
                move.delay,
                move.duration,
                *map(float, move.amplitudes_mm[0]),
                float(move.amplitudes_mm.sum(axis=1).max()),
                move.worst_share,
                None if np.isnan(move.bounds).any() else float(move.bounds.max()),
            )
            for move in self.moves
        ]
        return headings, rows
