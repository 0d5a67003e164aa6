"""Results of `shape_move` and `compare_shapers`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.moves.results import MoveVibration, OfArms
from jaxmodal.runtime.array_types import Floats, Integers
from jaxmodal.runtime.results import ListedResult
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table


@dataclasses.dataclass(frozen=True, repr=False)
class ShapedMove(OfArms):
    """A move shaped for k modes, and the vibration it leaves in V arms, the given one first; see `shape_move`.

    Attributes
    ----------
    kind
        Kind of shaping; ``"none"`` for the original move.
    motion
        The motion to command to the motors.
    delays, weights : array
        Delays, s, and weights of the shaper's impulses; a single impulse if there is no shaper.
    modes : tuple of int
        Numbers of the shaped modes, from 1.
    bands : array, shape (k, 2)
        Lowest and highest frequency of each of these modes along the path, over all arms, rad/s.
    bounds : array, shape (k,)
        Largest fraction of vibration that the impulses leave in a mode with a constant frequency in its band; nan for
        S-curves.
    left
        Allowed fraction of the unshaped vibration.
    variants : tuple of str
        Names of the arms.
    unshaped, vibrations : tuple of MoveVibration
        Vibration of each arm after the original move, and after the shaped move.
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
    def delay(self) -> float:
        """Delay of the stop against the unshaped move, s."""
        return self.duration - self.unshaped[0].stop

    @property
    def amplitudes_mm(self) -> Floats:
        """Remaining tip amplitude of each arm in each mode, mm, shape (V, K)."""
        return np.array([found.amplitudes_mm for found in self.vibrations])

    @property
    def shares(self) -> Floats:
        """Sum of the amplitudes of all modes, as a fraction of that after the unshaped move, shape (V,)."""
        before = np.array([found.amplitudes_mm.sum() for found in self.unshaped])
        after = self.amplitudes_mm.sum(axis=1)
        return np.divide(after, before, out=np.zeros_like(after), where=before > 0.0)

    @property
    def worst_share(self) -> float:
        """Largest value of `shares`."""
        return float(self.shares.max())

    @property
    def holds(self) -> bool:
        """Whether every arm keeps at most the fraction ``left`` of its vibration."""
        return self.worst_share <= self.left

    @property
    def certified(self) -> bool:
        """Whether all frequencies of all arms are certified."""
        return all(bool(found.certified.all()) for found in (*self.unshaped, *self.vibrations))

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return headings and rows at full precision, for CSV and JSON; one row for each mode."""
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
        """Return a table of the modes with bands and remaining amplitudes, and a table of the arms."""
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
    """Comparison of kinds of shaping: ``moves`` has one `ShapedMove` for each; see `compare_shapers`."""

    moves: tuple[ShapedMove, ...]

    @property
    def status(self) -> Integers:
        """Worst `Status` of each kind."""
        return np.array([int(Status.worst(move.status)) for move in self.moves])

    def tables(self) -> list[Table]:
        """Return a table with one row for each kind."""
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
        """Return headings and rows at full precision, for CSV and JSON."""
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
