"""Moves with little vibration in ``jaxmodal move``: shaping, comparison, stretching, and output of the results."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.core import ParameterSource

from jaxmodal.cli.arguments import BadInput, end_unless, refusing
from jaxmodal.cli.output import print_json
from jaxmodal.cli.paths import save_picture, writing
from jaxmodal.runtime.tables import csv_text

if TYPE_CHECKING:
    from jaxmodal.dynamics.drives.motions import Motion
    from jaxmodal.moves.results import MoveVibration
    from jaxmodal.moves.shaped_moves import ShapedMove


@dataclasses.dataclass(frozen=True)
class LimitOptions:
    """Limits of the joints (deg/s, deg/s^2, N m) and of the residual vibration (mm)."""

    speed: float | None
    acceleration: float | None
    torque: float | None
    left_mm: float | None

    @property
    def some(self) -> bool:
        """True if any limit is given."""
        return any(value is not None for value in dataclasses.astuple(self))

    def arguments(self) -> dict[str, Any]:
        """Return the limits as arguments of `quickest_stretch`."""
        return {
            "speed": None if self.speed is None else np.radians(self.speed),
            "acceleration": None if self.acceleration is None else np.radians(self.acceleration),
            "torque": self.torque,
            "left_mm": self.left_mm,
        }


@dataclasses.dataclass(frozen=True)
class Shaping:
    """Options of shaping, and output files."""

    kind: str | None
    left: float
    payload_error: float
    stiffness_error: float
    modes: tuple[float, ...] | None
    out: Path | None
    sample_time: float
    settings: Path | None
    plot: Path | None

    def check(self, compare: bool, limits: LimitOptions) -> None:
        """Raise an error for inconsistent options, before anything is computed."""
        if compare and (self.kind is not None or limits.some):
            raise BadInput(
                "--compare: compares all kinds of the move as it is; leave --shape and limits out."
            )
        if limits.some and self.kind == "s_curve":
            raise BadInput(
                "--shape s_curve: has its own timing, which is not stretched; leave --speed, --acceleration, --torque "
                "and --left-mm out, or give another kind."
            )
        if limits.torque is not None and self.kind is not None:
            raise BadInput(
                "--torque: torques of a shaped move do not scale with its time stretch; leave it or --shape out."
            )
        made = self.kind is not None or limits.some
        shapes = compare or self.kind is not None
        _refuse_idle(("left", "shape_modes"), shapes, "--shape or --compare")
        _refuse_idle(
            ("payload_error", "stiffness_error"),
            shapes or limits.some,
            "--shape, --compare or a limit such as --speed",
        )
        _refuse_idle(("sample_time",), self.out is not None, "--out")
        for name, path, needed in (
            ("--out", self.out, made),
            ("--settings", self.settings, self.kind is not None and not limits.some),
        ):
            if path is not None and (compare or not needed):
                raise BadInput(
                    f"{name}: there is no such move to write; give --shape with one kind."
                )
        if compare and self.plot is not None:
            raise BadInput("--plot: draws one move; leave --compare out, and give --shape.")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `shape_move`."""
        return {
            "left": self.left,
            "modes": None if self.modes is None else [int(mode) for mode in self.modes],
            "payload_error": self.payload_error,
            "stiffness_error": self.stiffness_error,
        }


def _refuse_idle(names: tuple[str, ...], used: bool, needed: str) -> None:
    """Raise an error for options without effect."""
    context = click.get_current_context()
    for name in () if used else names:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise BadInput(
                f"--{name.replace('_', '-')}: changes nothing without {needed}; leave it out, or give that."
            )


@dataclasses.dataclass(frozen=True)
class Done:
    """A result with its rows, its motion, and the residual vibration."""

    found: Any
    headings: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    document: Any
    certified: bool
    motion: Motion | None = None
    vibration: MoveVibration | None = None
    shaped: ShapedMove | None = None

    def show(self, shaping: Shaping, output_format: str, title: str) -> None:
        """Write the files, then print the result."""
        from jaxmodal.moves import export
        from jaxmodal.plots.moves import plot_move

        vibration, motion = self.vibration, self.motion
        if output_format == "json":
            print_json(self.document)
        elif output_format == "csv":
            click.echo(csv_text(self.headings, self.rows), nl=False)
        else:
            click.echo(str(self.found))
        if shaping.plot is not None and vibration is not None:
            save_picture("--plot", shaping.plot, lambda place: plot_move(vibration, place, title))
        if shaping.out is not None and motion is not None:
            with refusing(), writing(f"--out {shaping.out}"):
                export.write_move(motion, shaping.out, shaping.sample_time)
            click.echo(f"wrote {shaping.out}", err=True)
        if shaping.settings is not None and self.shaped is not None:
            with (
                refusing(f"--settings {shaping.settings}"),
                writing(f"--settings {shaping.settings}"),
            ):
                export.write_settings(self.shaped, shaping.settings)
            click.echo(f"wrote {shaping.settings}", err=True)
        end_unless(self.certified)


def _listed(headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    return [dict(zip(headings, row, strict=True)) for row in rows]


def compared(arm: Any, path: Motion, shaping: Shaping, common: dict[str, Any]) -> Done:
    """Return the comparison of all kinds of shaping."""
    from jaxmodal.moves.shaping import compare_shapers

    found = compare_shapers(arm, path, **shaping.arguments(), **common)
    headings, rows = found.rows()
    certified = all(move.certified for move in found.moves)
    return Done(found, headings, rows, _listed(headings, rows), certified)


def shaped(arm: Any, path: Motion, shaping: Shaping, common: dict[str, Any]) -> Done:
    """Return the move shaped by one kind."""
    from jaxmodal.moves.export import controller_settings
    from jaxmodal.moves.shaping import shape_move

    found = shape_move(arm, path, shaping.kind or "wide", **shaping.arguments(), **common)
    headings, rows = found.rows()
    document = controller_settings(found) | {
        "left": _listed(headings, rows),
        "worst_share": found.worst_share,
        "holds": found.holds,
    }
    return Done(
        found,
        headings,
        rows,
        document,
        found.certified,
        motion=found.motion,
        vibration=found.vibrations[0],
        shaped=found,
    )


def quickened(
    arm: Any, path: Motion, shaping: Shaping, limits: LimitOptions, common: dict[str, Any]
) -> Done:
    """Return the move, shaped if requested, stretched to the shortest time within the limits."""
    from jaxmodal.moves.shaping import shape_move
    from jaxmodal.moves.stretching import quickest_stretch

    impulses = None
    if shaping.kind is not None:
        before = shape_move(arm, path, shaping.kind, **shaping.arguments(), **common)
        impulses = before.delays, before.weights
    found = quickest_stretch(
        arm,
        path,
        impulses=impulses,
        payload_error=shaping.payload_error,
        stiffness_error=shaping.stiffness_error,
        **limits.arguments(),
        **common,
    )
    headings = ("stop_s", "stretch", "kept_by", "worst_mm")
    rows: list[tuple[Any, ...]] = [(found.duration, found.stretch, found.binding, found.worst_mm)]
    certified = all(bool(each.certified.all()) for each in found.vibrations)
    return Done(
        found,
        headings,
        rows,
        _listed(headings, rows)[0],
        certified,
        motion=found.motion,
        vibration=found.vibrations[0],
    )
