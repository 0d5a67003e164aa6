"""Plot of the postures with natural frequencies in a band. Needs matplotlib, an optional dependency."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.plots.figures import axes_or_new, broken, finished, new_figure
from jaxmodal.postures.readings import as_read, heading
from jaxmodal.postures.resonance_lines import links
from jaxmodal.postures.resonance_results import ResonanceMap, row_values

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: shades for one, two and more natural frequencies in the band
_SHADES = ("#ffffff", "#f2c879", "#d98c3f", "#8c4a1f")
_ENDS = ("#1b6ca8", "#7a1f1f")
_PIXELS = 1440
#: borders of neighbouring rows farther apart than this, in degrees, are not joined; further rows bring them closer
_APART = 12.0


def plot_resonance_map(
    found: ResonanceMap, path: str | Path | None = None, title: str = ""
) -> Figure:
    """Plot where natural frequencies lie in the band, with exact borders, in a new figure.

    Parameters
    ----------
    found : ResonanceMap
        A map over two joints, or over one.
    path : str or Path, optional
        File for the plot (PNG, PDF or SVG by the suffix); not written by default.
    """
    figure = new_figure(6.2, 5.6) if found.across else new_figure(7.0, 2.6)
    draw_resonance_map(found, figure.add_subplot(), title)
    return finished(figure, path, dpi=150)


def draw_resonance_map(found: ResonanceMap, axes: Axes | None = None, title: str = "") -> Axes:
    """Draw where natural frequencies lie in the band, with exact borders: a map over two joints, a strip for one.

    Parameters
    ----------
    found : ResonanceMap
        The map. Borders are connected from row to row; `jaxmodal.postures.resonance_lines.refined` returns a map with
        additional rows where needed.
    title : str
        Title of the plot; by default the band and the theory.
    """
    low, high = (float(w) / (2.0 * math.pi) for w in found.band)
    axes = axes_or_new(axes, *((6.2, 5.6) if found.across else (7.0, 2.6)))
    figure = axes.get_figure(root=True)
    assert figure is not None
    head = title or f"natural frequencies between {low:g} and {high:g} Hz ({found.theory})"
    axes.set_title(broken(head, figure.get_figwidth()), fontsize=10, parse_math=False)
    labels = _draw_map(found, axes) if found.across else _draw_strip(found, axes)
    for which, colour in enumerate(_ENDS):
        labels.append(_line(colour, f"{_modes(found, which)} at {(low, high)[which]:g} Hz"))
    least, most = as_read(found.joint, found.limits).round(9)
    axes.set_xlim(least, most)
    if isinstance(found.joint, str):
        axes.set_xlabel(heading(found.joint))
    else:
        if most - least > 180.0:
            step = 60 if found.across else 30
            axes.set_xticks([x for x in range(-180, 181, step) if least <= x <= most])
        axes.set_xlabel(f"angle of joint {found.joint} [°]")
    figure.legend(handles=labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return axes


def _modes(found: ResonanceMap, which: int) -> str:
    """Numbers of the modes that have a frequency at this end of the band somewhere on the map."""
    modes = np.unique(np.asarray(found.border_mode)[np.asarray(found.end) == which])
    if not modes.size or modes[0] < 1:
        return "a mode"
    return f"mode{'s' * (modes.size > 1)} {', '.join(map(str, modes))}"


def _line(colour: str, label: str) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, label=label)


def _shades(most: int) -> list[Artist]:
    """Description of the shades, up to the largest number drawn."""
    from matplotlib.patches import Patch

    found: list[Artist] = [Patch(facecolor=_SHADES[0], edgecolor="0.6", label="free of resonance")]
    for k in range(1, most + 1):
        more = " or more" if k == len(_SHADES) - 1 else ""
        found.append(Patch(facecolor=_SHADES[k], label=f"{k}{more} in the band"))
    return found


def _draw_strip(found: ResonanceMap, axes: Axes) -> list[Artist]:
    """Draw the angle of one joint, or a value, as a strip; its borders are labelled with it and the mode."""
    count = int(np.isfinite(np.asarray(found.border)[0]).sum())
    border = as_read(found.joint, np.asarray(found.border)[0, :count])
    least, most = as_read(found.joint, found.limits)
    form = "{:.4g}" if isinstance(found.joint, str) else "{:.1f}°"
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
            f"{form.format(angle)}, mode {modes[k]}",
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
    """Draw the angles of two joints, or values, as a map."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    least, most = np.asarray(found.limits).tolist()
    turn = np.linspace(least, most, _PIXELS)
    across, of_rows = row_values(found)
    inside = np.clip(found.on_grid(turn), 0, len(_SHADES) - 1)
    axes.pcolormesh(
        as_read(found.joint, turn),
        across,
        inside,
        cmap=ListedColormap(_SHADES),
        norm=BoundaryNorm(np.arange(len(_SHADES) + 1) - 0.5, len(_SHADES)),
        shading="nearest",
        rasterized=True,
    )
    for (x, y), colour in zip(_lines(found), _ENDS, strict=True):
        axes.plot(x, y, color=colour, linewidth=1.1)
    axes.set_ylim(across[0], across[-1])
    if isinstance(found.across, str):
        axes.set_ylabel(of_rows)
    else:
        if across[-1] - across[0] > 180.0:
            axes.set_yticks([y for y in range(-180, 181, 60) if across[0] <= y <= across[-1]])
        if not isinstance(found.joint, str):
            axes.set_aspect("equal")
        axes.set_ylabel(f"angle of {of_rows}")
    return _shades(int(inside.max()))


def _lines(found: ResonanceMap) -> list[tuple[np.ndarray, np.ndarray]]:
    """Lines of the borders at each end of the band, in degrees and row values, with NaN between pieces.

    A piece that crosses a full turn continues on the opposite side.
    """
    rows, turn = row_values(found)[0], 360.0
    of_value = isinstance(found.joint, str)
    low, high = np.asarray(found.limits).tolist()
    # of a value the same share of its range
    apart = math.radians(_APART) * ((high - low) / (2.0 * math.pi) if of_value else 1.0)
    drawn: list[list[tuple[float, float]]] = [[], []]
    for link in links(found, apart)[0]:
        x, y = as_read(found.joint, np.asarray(link.angles)), rows[list(link.rows)]
        beyond = [turn] if x.min() < -180.0 else [-turn] if x.max() > 180.0 else []
        beyond = [] if of_value else beyond
        for shift in (0.0, *beyond):
            drawn[link.end] += [*zip(x + shift, y, strict=True), (math.nan, math.nan)]
    points = (np.array(some).reshape(-1, 2).T for some in drawn)
    return [(x, y) for x, y in points]
