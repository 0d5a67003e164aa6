"""Export of moves for controllers: the path as CSV, and the settings of the shaper or the S-curve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.arguments import positive
from jaxmodal.arm.files import being_written, place_of
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.dynamics.drives.piecewise import PiecewisePolynomial
from jaxmodal.moves.paths import knots_of, moved
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.tables import csv_text

if TYPE_CHECKING:
    from jaxmodal.moves.shaped_moves import ShapedMove

#: largest number of rows of a path
_MOST_ROWS = 2_000_000
#: kinds that Klipper supports, with its names for them
_KLIPPER = {"zv": "zv", "zvd": "zvd", "ei": "ei"}


def write_move(
    move: Motion, path: str | Path, sample_time: float = 1e-3, duration: float | None = None
) -> None:
    """Write a move as a CSV file that `read_move` reads: time in s, then the angle of each joint in degrees.

    Parameters
    ----------
    move : Motion
        The move, for example the ``motion`` of a `ShapedMove`.
    path
        Path of the file; an existing file is replaced.
    sample_time
        Time between rows, s. The last row is at the stop, even if the last interval is shorter.
    duration
        Time of the stop, s; required only if the motion has no end time of its own.

    Raises
    ------
    ArmError
        If ``sample_time`` is not greater than 0, or gives more than two million rows; or the file cannot be written.
    """
    step = positive("sample_time", sample_time, "s")
    knots = knots_of(move, duration)
    if (knots[-1] - knots[0]) / step > _MOST_ROWS:
        raise ArmError(
            f"sample_time = {step:g} s: makes more than {_MOST_ROWS:,} rows of a move of {knots[-1] - knots[0]:g} s; "
            "give a longer one."
        )
    rows_before = max(1.0, np.ceil((knots[-1] - knots[0]) / step - 1e-9))
    times = knots[0] + step * np.arange(rows_before)
    times = np.append(times, knots[-1])
    angles = np.degrees(moved(move, times)[0])
    headings = ("time [s]", *(f"joint {k + 1} [degree]" for k in range(angles.shape[1])))
    rows = [
        (f"{time:.9g}", *(f"{angle:.10g}" for angle in row))
        for time, row in zip(times, angles, strict=True)
    ]
    place = place_of(path)
    with being_written(place):
        place.write_text(csv_text(headings, rows), encoding="utf-8")


def controller_settings(shaped: ShapedMove) -> dict[str, Any]:
    """Return the settings a controller needs for a shaped move, as plain numbers in Hz, s and degrees.

    Parameters
    ----------
    shaped : ShapedMove
        From `shape_move`.

    Returns
    -------
    dict
        ``kind``, ``delay_s``, ``stop_s``; ``modes``, with the band, middle frequency, damping ratio and bound of each;
        ``impulses``, with times and amplitudes; ``joints``, with the largest commanded speed and acceleration of each,
        and for an S-curve the jerk if it is finite. ``klipper``, for the section ``[input_shaper]`` (`klipper_text`),
        is present if one mode is shaped by a kind that Klipper supports. Klipper's ``ei`` always leaves up to 5 % and
        has a fixed band.
    """
    found = shaped.vibrations[0]
    ratios = [float(found.damping_ratio[mode - 1]) for mode in shaped.modes]
    modes: list[dict[str, Any]] = [
        {
            "mode": mode,
            "lowest_hz": float(low / (2.0 * np.pi)),
            "highest_hz": float(high / (2.0 * np.pi)),
            "middle_hz": float((low + high) / (4.0 * np.pi)),
            "damping_ratio": ratio,
            "bound": None if np.isnan(bound) else float(bound),
        }
        for mode, (low, high), ratio, bound in zip(
            shaped.modes, shaped.bands, ratios, shaped.bounds, strict=True
        )
    ]
    order = np.argsort(shaped.delays, kind="stable")
    settings: dict[str, Any] = {
        "kind": shaped.kind,
        "delay_s": shaped.delay,
        "stop_s": shaped.duration,
        "modes": modes,
        "impulses": [
            {"time_s": float(shaped.delays[k]), "amplitude": float(shaped.weights[k])}
            for k in order
        ],
        "joints": _limits(shaped),
    }
    if len(modes) == 1 and shaped.kind in _KLIPPER:
        settings["klipper"] = {
            "shaper_type": _KLIPPER[shaped.kind],
            "shaper_freq": round(modes[0]["middle_hz"], 3),
            "damping_ratio": ratios[0],
        }
    return settings


def write_settings(shaped: ShapedMove, path: str | Path) -> None:
    """Write the `controller_settings` of a ``shaped`` move as JSON, or Klipper's section if ``path`` ends in ``.cfg``.

    Raises
    ------
    ArmError
        If Klipper does not support the shaper (`klipper_text`), or the file cannot be written.
    """
    settings, place = controller_settings(shaped), place_of(path)
    for_klipper = place.suffix.lower() == ".cfg"
    text = klipper_text(settings) if for_klipper else json.dumps(settings, indent=2) + "\n"
    with being_written(place):
        place.write_text(text, encoding="utf-8")


def klipper_text(settings: dict[str, Any], axis: str = "x") -> str:
    """Return the section ``[input_shaper]`` of Klipper's configuration for one ``axis``.

    ``settings`` is the result of `controller_settings`.

    Raises
    ------
    ArmError
        If more than one mode is shaped, or Klipper does not support the kind.
    """
    if "klipper" not in settings:
        raise ArmError(
            f"settings: of kind {settings.get('kind')!r} for {len(settings.get('modes', ()))} modes; Klipper shapes "
            "one frequency of an axis by 'zv', 'zvd' or 'ei', so give modes=[1] and one of these kinds."
        )
    if axis not in ("x", "y"):
        raise ArmError(f"axis = {axis!r}: must be 'x' or 'y'.")
    own = settings["klipper"]
    lines = [
        "[input_shaper]",
        f"shaper_type_{axis}: {own['shaper_type']}",
        f"shaper_freq_{axis}: {own['shaper_freq']:.3f}",
        f"damping_ratio_{axis}: {own['damping_ratio']:g}",
    ]
    return "\n".join(lines) + "\n"


def _limits(shaped: ShapedMove) -> list[dict[str, Any]]:
    stop = shaped.duration
    knots = knots_of(shaped.motion, stop)
    close = 1e-9 * (knots[-1] - knots[0])
    inside = np.concatenate([knots[:-1] + close, knots[1:] - close])
    times = np.union1d(inside, np.linspace(knots[0] + close, knots[-1] - close, 2001))
    _, rates, changes = moved(shaped.motion, times)
    names = shaped.vibrations[0].joints
    jerks = {}
    if shaped.kind == "s_curve" and isinstance(shaped.motion, PiecewisePolynomial):
        top = np.degrees(6.0 * np.abs(np.asarray(shaped.motion.coefficients)[:, 3]).max(axis=0))
        jerks = {k: {"jerk_deg_per_s3": float(value)} for k, value in enumerate(top) if top.any()}
    return [
        {
            "joint": name,
            "speed_deg_per_s": float(np.degrees(np.abs(rates[:, k]).max())),
            "acceleration_deg_per_s2": float(np.degrees(np.abs(changes[:, k]).max())),
            **jerks.get(k, {}),
        }
        for k, name in enumerate(names)
    ]
