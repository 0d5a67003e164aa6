"""Style of plots, and creation of figures and files; colours suit colour-blind readers.

Titles with user-defined names are written literally (``parse_math=False``): a ``$`` does not start a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.arguments import is_whole, positive
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Okabe and Ito's colours, darkest contrasts first
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: perceptually even, and readable in grey
COLOUR_MAP = "cividis"

_SETTINGS: Any = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "jaxmodal",
    "svg.fonttype": "path",
    "savefig.dpi": 150,
}


class PlotsUnavailableError(ImportError):
    """Matplotlib is not installed."""


def require_matplotlib() -> None:
    """Raise an error if matplotlib is missing.

    Raises
    ------
    PlotsUnavailableError
        If matplotlib is not installed; the message says how to install it.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise PlotsUnavailableError(
            "drawing needs matplotlib, which is not installed: pip install 'jaxmodal[plots]'"
        ) from error


@contextmanager
def style() -> Iterator[None]:
    """Context in which plots have the settings of this module; previous settings are restored.

    Raises
    ------
    PlotsUnavailableError
        If matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib

    with matplotlib.rc_context(_SETTINGS):
        yield


def new_figure(width: float = 1.0, height: float = 1.0) -> Figure:
    """Return an empty figure that needs no display; sizes in inches, which `panels_or_new` sets anew."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def finished(figure: Figure, path: str | Path | None, title: str = "", dpi: int = 130) -> Figure:
    """Return a figure with an overall title, after writing it to a file if one is given."""
    if title:
        inches = float(figure.get_figwidth())
        figure.suptitle(broken(title, inches, 11.0), fontsize=11, parse_math=False)
    if path is not None:
        if Path(path).is_dir():  # Matplotlib would write a file beside it
            raise ArmError(f"path = {str(path)!r}: is a folder; give the name of a file in it.")
        figure.savefig(path, dpi=dpi)
    return figure


def saved(axes: Any, path: str | Path, title: str) -> None:
    """Write the figure of some axes, or of a list of them, to a file, with an overall title."""
    first = axes[0] if isinstance(axes, list) else axes
    finished(first.get_figure(root=True), path, title)


def broken(title: str, inches: float, size: float = 10.0) -> str:
    """Return a title broken into lines that fit a width, from the widths of letters of a font size in points."""
    letters = max(20, int(inches * 72.0 / (0.58 * size)))
    return "\n".join(fill(line, letters, break_on_hyphens=False) for line in title.splitlines())


def check_animation(path: str | Path, frames: int, seconds: float | None) -> None:
    """Raise an error, before drawing, for a file other than GIF, fewer than two frames, or a time that is not positive.

    Raises
    ------
    ArmError
        If an argument is invalid; the message names it.
    """
    if not is_whole(frames, 2):
        raise ArmError(f"frames = {shown(frames)}: must be at least 2, and a whole number.")
    if seconds is not None:
        positive("seconds", seconds, "s")
    if Path(path).suffix.lower() != ".gif":
        raise ArmError(f"path = {str(path)!r}: must be a file that ends in .gif.")


def write_gif(
    figure: Figure, show: Callable[[int], Any], frames: int, seconds: float, path: str | Path
) -> None:
    """Write an animation; ``show`` draws a frame by its number and returns the changed artists."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    animation = FuncAnimation(figure, show, frames=frames, blit=False)
    animation.save(str(path), writer=PillowWriter(fps=max(1, round(frames / seconds))), dpi=90)


def axes_or_new(axes: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new pyplot figure, which notebooks and ``plt.show()`` display."""
    return axes if axes is not None else panels_or_new(None, 1, width, height)[0]


def panels_or_new(
    axes: Any, number: int, width: float, height: float, **options: Any
) -> list[Axes]:
    """Return the given axes as a list, or ``number`` new ones, one below the other.

    New ones are in the given figure, which is empty, or else in one of pyplot's, as of `axes_or_new`. ``options`` are
    those of `matplotlib.pyplot.subplots`.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.figure(layout="constrained")
    if isinstance(axes, Figure):
        axes.set_size_inches(width, height)
        axes = axes.subplots(number, 1, **options)
    return list(np.ravel(np.asarray(axes, dtype=object)))


def in_metres(axes: Axes, title: str) -> Axes:
    """Return axes for positions in the plane: x and y of the base in m, with equal scale."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.set_title(title, fontsize=10, parse_math=False)
    return axes


def framed(axes: Axes, low: Any, high: Any) -> None:
    """Show the region between two corners, (2,) each, with equal scale, in a light frame without numbers."""
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color("0.85")


def label_decades(side: Axis, low: float, high: float) -> None:
    """Label 1, 2 and 5 of every decade of a short logarithmic axis in plain numbers; other values if none fits."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, MaxNLocator, NullFormatter

    if high <= 1500.0 * low:
        narrow = high <= 5.0 * low
        side.set_major_locator(MaxNLocator(5) if narrow else LogLocator(subs=(1.0, 2.0, 5.0)))
        side.set_major_formatter(FormatStrFormatter("%g"))
        side.set_minor_formatter(NullFormatter())


def not_below_zero(side: Axis, least: float | None = None) -> None:
    """Start a linear axis at 0 or above if all values are nonnegative, as masses and frequencies are.

    ``least`` is the smallest value, by default that of the drawn data; cells around values extend further.
    """
    low, high = side.get_view_interval()
    least = float(side.get_data_interval()[0]) if least is None else least
    if side.get_scale() == "linear" and low < 0.0 <= least:
        side.set_view_interval(0.0, high, ignore=True)


def angle_symbol(joint: int) -> str:
    """Symbol of a joint angle as plain text, which titles and terminals show without formulas: ``θ₂``."""
    return f"θ{str(joint).translate(str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉'))}"
