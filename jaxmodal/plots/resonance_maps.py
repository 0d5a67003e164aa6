"""Picture of the postures with natural frequencies inside a band. Needs matplotlib, an optional dependency."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.plots.modes import new_figure
from jaxmodal.postures.resonance_maps import ResonanceMap

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: shades for one, two and more natural frequencies in the band
_SHADES = ("#ffffff", "#f2c879", "#d98c3f", "#8c4a1f")
_ENDS = ("#1b6ca8", "#7a1f1f")
_PIXELS = 1440
#: borders of neighbouring rows farther apart than this, in degrees, are not joined
_APART = 12.0


def plot_resonance_map(
    found: ResonanceMap, path: str | Path | None = None, title: str = ""
) -> Figure:
    """Draw a map of two joints: shaded where the band holds natural frequencies, with its exact borders.

    Parameters
    ----------
    found : ResonanceMap
        A map with rows, of an arm of three or more links.
    path : str or Path, optional
        Where to write the picture (PNG, PDF or SVG by the suffix); not written if left out.
    title : str
        Above the picture.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    PlotsUnavailableError
        Matplotlib is not installed.
    ValueError
        The map has no rows (a two-link arm).
    """
    if not found.across:
        raise ValueError(
            "the map has one joint only; a picture needs an arm of three or more links"
        )
    figure = new_figure(6.2, 5.6)
    from matplotlib.artist import Artist
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    axes = figure.add_subplot()
    turn = np.linspace(-np.pi, np.pi, _PIXELS)
    inside = np.clip(found.on_grid(turn), 0, len(_SHADES) - 1)
    axes.pcolormesh(
        np.degrees(turn),
        np.degrees(np.asarray(found.across_angle)),
        inside,
        cmap=ListedColormap(_SHADES),
        norm=BoundaryNorm(np.arange(len(_SHADES) + 1) - 0.5, len(_SHADES)),
        shading="nearest",
        rasterized=True,
    )
    low, high = (float(w) / (2.0 * math.pi) for w in found.band)
    labels: list[Artist] = [Patch(facecolor=_SHADES[0], edgecolor="0.6", label="free of resonance")]
    for k in range(1, int(inside.max()) + 1):
        more = " or more" if k == len(_SHADES) - 1 else ""
        labels.append(Patch(facecolor=_SHADES[k], label=f"{k}{more} in the band"))
    for which, colour in enumerate(_ENDS):
        x, y = _joined(found, which)
        axes.plot(x, y, color=colour, linewidth=1.1)
        hertz = (low, high)[which]
        labels.append(Line2D([], [], color=colour, label=f"a mode at {hertz:g} Hz"))
    axes.set_xlim(-180.0, 180.0)
    axes.set_ylim(-180.0, 180.0)
    axes.set_xticks(range(-180, 181, 60))
    axes.set_yticks(range(-180, 181, 60))
    axes.set_aspect("equal")
    axes.set_xlabel(f"angle of joint {found.joint}, degrees")
    axes.set_ylabel(f"angle of joint {found.across}, degrees")
    axes.set_title(title or f"natural frequencies between {low:g} and {high:g} Hz", fontsize=10)
    figure.legend(handles=labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _joined(found: ResonanceMap, which: int) -> tuple[np.ndarray, np.ndarray]:
    """Lines that join each border of a row to the nearest of the same mode in the next, NaN between them; degrees.

    Where two borders of a row end, a line joins them.
    """
    border = np.degrees(np.where(np.asarray(found.end) == which, np.asarray(found.border), np.nan))
    mode, rows = np.asarray(found.border_mode), np.degrees(np.asarray(found.across_angle))
    x: list[float] = []
    y: list[float] = []
    for i in range(rows.size):
        for other in (i + 1, i - 1):
            if not 0 <= other < rows.size:
                continue
            ending: list[int] = []
            for j in map(int, np.flatnonzero(np.isfinite(border[i]))):
                same = np.where(mode[other] == mode[i, j], border[other], np.nan)
                distance = np.abs(same - border[i, j])
                if not (np.isfinite(distance).any() and np.nanmin(distance) < _APART):
                    ending.append(j)
                elif other > i:
                    x += [border[i, j], same[int(np.nanargmin(distance))], np.nan]
                    y += [rows[i], rows[other], np.nan]
            for j, k in itertools.pairwise(ending):
                if mode[i, j] == mode[i, k] and border[i, k] - border[i, j] < 3.0 * _APART:
                    x += [border[i, j], border[i, k], np.nan]
                    y += [rows[i], rows[i], np.nan]
    return np.array(x), np.array(y)
