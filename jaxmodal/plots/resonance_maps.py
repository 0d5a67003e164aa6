"""Picture of the postures with natural frequencies inside a band. Needs matplotlib, an optional dependency."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.plots.figures import axes_or_new, finished, new_figure
from jaxmodal.postures.resonance_results import ResonanceMap
from jaxmodal.postures.tables import row_values

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
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
    """Draw where the band holds natural frequencies, with its exact borders, into a figure of its own.

    Parameters
    ----------
    found : ResonanceMap
        A map of two joints, or the strip of one.
    path : str or Path, optional
        Where to write the picture (PNG, PDF or SVG by the suffix); not written if left out.
    """
    figure = new_figure(6.2, 5.6) if found.across else new_figure(7.0, 2.6)
    draw_resonance_map(found, figure.add_subplot(), title)
    return finished(figure, path, dpi=150)


def draw_resonance_map(found: ResonanceMap, axes: Axes | None = None, title: str = "") -> Axes:
    """Draw where the band holds natural frequencies: a map of two joints, a strip of one; borders are exact.

    Parameters
    ----------
    title : str
        Above the picture; by default the band and the theory.
    """
    low, high = (float(w) / (2.0 * math.pi) for w in found.band)
    axes = axes_or_new(axes, *((6.2, 5.6) if found.across else (7.0, 2.6)))
    axes.set_title(
        title or f"natural frequencies between {low:g} and {high:g} Hz ({found.theory})",
        fontsize=10,
        parse_math=False,
    )
    labels = _draw_map(found, axes) if found.across else _draw_strip(found, axes)
    for which, colour in enumerate(_ENDS):
        labels.append(_line(colour, f"{_modes(found, which)} at {(low, high)[which]:g} Hz"))
    least, most = np.degrees(np.asarray(found.limits))
    axes.set_xlim(least, most)
    if most - least > 180.0:
        step = 60 if found.across else 30
        axes.set_xticks([x for x in range(-180, 181, step) if least <= x <= most])
    axes.set_xlabel(f"angle of joint {found.joint} [°]")
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.legend(handles=labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return axes


def _modes(found: ResonanceMap, which: int) -> str:
    """Which modes have a frequency of the band's end somewhere on the map."""
    modes = np.unique(np.asarray(found.border_mode)[np.asarray(found.end) == which])
    if not modes.size or modes[0] < 1:
        return "a mode"
    return f"mode{'s' * (modes.size > 1)} {', '.join(map(str, modes))}"


def _line(colour: str, label: str) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, label=label)


def _shades(most: int) -> list[Artist]:
    """What the shades stand for, up to the largest number that is drawn."""
    from matplotlib.patches import Patch

    found: list[Artist] = [Patch(facecolor=_SHADES[0], edgecolor="0.6", label="free of resonance")]
    for k in range(1, most + 1):
        more = " or more" if k == len(_SHADES) - 1 else ""
        found.append(Patch(facecolor=_SHADES[k], label=f"{k}{more} in the band"))
    return found


def _draw_strip(found: ResonanceMap, axes: Axes) -> list[Artist]:
    """The turn of one joint as a strip, its borders labelled with angle and mode."""
    count = int(np.isfinite(np.asarray(found.border)[0]).sum())
    border = np.degrees(np.asarray(found.border)[0, :count])
    least, most = np.degrees(np.asarray(found.limits))
    edges = np.concatenate([[least], border, [most]])
    inside = np.clip(np.asarray(found.modes_inside)[0, : count + 1], 0, len(_SHADES) - 1)
    for low, high, number in zip(edges[:-1], edges[1:], inside, strict=True):
        axes.axvspan(low, high, facecolor=_SHADES[number], edgecolor="none")
    ends, modes = np.asarray(found.end)[0], np.asarray(found.border_mode)[0]
    for k, angle in enumerate(border):
        axes.axvline(angle, color=_ENDS[ends[k]], linewidth=1.4)
        axes.text(
            angle,
            0.5,
            f"{angle:.1f}°, mode {modes[k]}",
            transform=axes.get_xaxis_transform(),
            rotation=90,
            verticalalignment="center",
            horizontalalignment="left" if ends[k] == 1 else "right",
            fontsize=7.5,
        )
    axes.set_yticks([])
    axes.grid(False)
    return _shades(int(inside.max()))


def _draw_map(found: ResonanceMap, axes: Axes) -> list[Artist]:
    """The turns of two joints as a map."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    least, most = np.asarray(found.limits).tolist()
    turn = np.linspace(least, most, _PIXELS)
    across, heading = row_values(found)
    inside = np.clip(found.on_grid(turn), 0, len(_SHADES) - 1)
    axes.pcolormesh(
        np.degrees(turn),
        across,
        inside,
        cmap=ListedColormap(_SHADES),
        norm=BoundaryNorm(np.arange(len(_SHADES) + 1) - 0.5, len(_SHADES)),
        shading="nearest",
        rasterized=True,
    )
    for which, colour in enumerate(_ENDS):
        x, y = _joined(found, which)
        axes.plot(x, y, color=colour, linewidth=1.1)
    axes.set_ylim(across[0], across[-1])
    if isinstance(found.across, str):
        axes.set_ylabel(heading)
    else:
        if across[-1] - across[0] > 180.0:
            axes.set_yticks([y for y in range(-180, 181, 60) if across[0] <= y <= across[-1]])
        axes.set_aspect("equal")
        axes.set_ylabel(f"angle of {heading}")
    return _shades(int(inside.max()))


def _joined(found: ResonanceMap, which: int) -> tuple[np.ndarray, np.ndarray]:
    """Lines that join each border of a row to the nearest of the same mode in the next, NaN between them; degrees.

    Where two borders of a row end, a line joins them.
    """
    border = np.degrees(np.where(np.asarray(found.end) == which, np.asarray(found.border), np.nan))
    mode, (rows, _) = np.asarray(found.border_mode), row_values(found)
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
