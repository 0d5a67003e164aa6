"""Plots of natural frequencies, and of joint angles with a given frequency. They need matplotlib, an optional part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.plots.figures import COLOURS, axes_or_new, label_decades
from jaxmodal.postures.inverse_results import PosturesAt
from jaxmodal.postures.readings import as_read, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: a highest frequency this many times the lowest needs a logarithmic axis
_WIDE = 10.0
#: labels nearer than this share of the axis would touch and are written as one
_TOUCHING = 0.022


def draw_frequencies(found: NaturalFrequencies, axes: Axes | None = None) -> Axes:
    """Draw natural frequencies as numbered marks on an axis in Hz; one row for each arm of a batch.

    Parameters
    ----------
    found : NaturalFrequencies
        The frequencies. Uncertified ones are crosses in another colour; missing ones are omitted.
    """
    hertz, certified = np.asarray(found.frequencies_hz), np.asarray(found.certified)
    many, modes = hertz.ndim > 1, hertz.shape[-1]
    rows = np.broadcast_to(np.arange(hertz.size // modes)[:, None], (hertz.size // modes, modes))
    axes = axes_or_new(axes, 7.0, 4.0 if many else 1.8)
    known = hertz[np.isfinite(hertz)]
    wide = known.size > 0 and known.min() > 0.0 and known.max() > _WIDE * known.min()
    _marks(axes, hertz.ravel(), rows.ravel(), certified.ravel(), lines=not many)
    if wide:
        axes.set_xscale("log")
        label_decades(axes.xaxis, *axes.get_xlim())
    elif known.size and known.max() > 0.0:
        axes.set_xlim(0.0, 1.05 * known.max())
    if many:
        axes.set_ylabel("arm")
    else:
        _numbers(axes, hertz, np.arange(1, modes + 1))
    axes.set_xlabel("frequency [Hz]")
    of = f"natural frequencies of {len(rows):,} arms" if many else f"{modes} natural frequencies"
    axes.set_title(f"{of} ({found.theory})", fontsize=10)
    return axes


def draw_postures_at(found: PosturesAt, axes: Axes | None = None) -> Axes:
    """Draw the angles of one joint, or the values, at which an arm has a given frequency, with mode numbers.

    Parameters
    ----------
    found : PosturesAt
        The angles; many arms or frequencies have one row each. Uncertified ones are crosses in another colour.

    Returns
    -------
    matplotlib Axes
        Axes over a full turn of the joint, in degrees; over the values that were found.
    """
    many, of_value = np.ndim(found.value) > 1, isinstance(found.joint, str)
    degrees = np.atleast_2d(as_read(found.joint, found.value))
    certified = np.atleast_2d(np.asarray(found.certified))
    hertz = np.broadcast_to(np.asarray(found.omega) / (2.0 * np.pi), degrees.shape[:1])
    by_frequency = many and np.unique(hertz).size > 1
    rows = hertz if by_frequency else np.arange(len(degrees), dtype=np.float64)
    axes = axes_or_new(axes, 7.0, 4.0 if many else 1.8)
    across = np.broadcast_to(rows[:, None], degrees.shape).ravel()
    _marks(axes, degrees.ravel(), across, certified.ravel(), lines=not many)
    if of_value:
        axes.set_xlabel(heading(found.joint))
    else:
        axes.set_xlim(-185.0, 185.0)
        axes.set_xticks(range(-180, 181, 30))
        axes.set_xlabel(f"angle of joint {found.joint} [°]")
    if many:
        axes.set_ylabel("frequency [Hz]" if by_frequency else "cell")
    else:
        _numbers(axes, degrees[0], np.atleast_2d(np.asarray(found.mode))[0])
    count = int(np.isfinite(degrees).sum()) or "no"
    of = "the frequency of each row" if by_frequency else f"{hertz_text(float(hertz[0]))} Hz"
    what = "value" if of_value else "angle"
    title = f"{count} {what}{'s' * (count != 1)} with {of} ({found.theory})"
    axes.set_title(title, fontsize=10)
    return axes


def _marks(axes: Axes, x: np.ndarray, y: np.ndarray, certified: np.ndarray, *, lines: bool) -> None:
    """Draw marks where x is finite, with different symbols if certified or not; as lines in a single row."""
    known = np.isfinite(x)
    for sure, colour, mark, label in (
        (True, COLOURS[0], "o", "certified"),
        (False, COLOURS[1], "x", "not certified"),
    ):
        some = known & (certified == sure)
        if some.any():
            axes.plot(x[some], y[some], mark, color=colour, markersize=5.0, label=label)
            if lines:
                axes.vlines(x[some], y[some] - 0.5, y[some], color=colour, linewidth=1.2)
    if known.any():
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    if lines:
        axes.set_ylim(-0.5, 0.6)
        axes.set_yticks([])
    axes.grid(True, axis="x", color="0.9", linewidth=0.6)


def _numbers(axes: Axes, x: np.ndarray, modes: np.ndarray) -> None:
    """Write mode numbers above the marks; numbers of nearly coincident marks are placed side by side."""
    order = [int(k) for k in np.argsort(x) if np.isfinite(x[k])]
    scale = np.log if axes.get_xscale() == "log" else np.asarray
    low, high = (float(scale(end)) for end in axes.get_xlim())
    where = (scale(x[order]) - low) / (high - low)
    groups: list[list[int]] = []
    for place, k in enumerate(order):
        if groups and where[place] - where[place - 1] < _TOUCHING:
            groups[-1].append(k)
        else:
            groups.append([k])
    for group in groups:
        text = ", ".join(str(modes[k] or "?") for k in group)
        at = (float(np.mean(x[group])), 0.0)
        axes.annotate(text, at, xytext=(0, 6), textcoords="offset points", ha="center", fontsize=8)
