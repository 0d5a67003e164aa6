"""Plots of frequency responses: Bode, Nyquist, over one parameter, and peaks over two. They need matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jaxmodal.arm.quantities import shown
from jaxmodal.plots.figures import (
    COLOUR_MAP,
    COLOURS,
    axes_or_new,
    not_below_zero,
    panels_or_new,
)
from jaxmodal.response.exact.results import FrequencyResponse
from jaxmodal.response.forced.peaks import ResponsePeaks
from jaxmodal.runtime.errors import ArmError, suggestion
from jaxmodal.spatial.parts.parameters import unit_of_address

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: what is infinite is drawn at so many times the largest finite size, beyond the axis, so that a line leaves it
_BEYOND = 1e6
#: quarters of a turn by which quantities lead a displacement
_LEADS = {"mobility": 1, "accelerance": 2}
#: the pictures that suit a response by the number of parameters that vary
_SUITS = ("bode", "waterfall", "peak_map")


def draw_response(
    found: FrequencyResponse, axes: Any = None, kind: str | None = None, **options: Any
) -> Any:
    """Draw a response, by default with the kind of plot that suits it.

    Parameters
    ----------
    found : FrequencyResponse
        Response of one arm or of many.
    axes
        Axes as for the drawing function; by default those of a new figure.
    kind
        ``"bode"`` or ``"nyquist"`` for one arm, ``"waterfall"`` if one parameter varies, ``"peak_map"`` if two vary.
    options
        Options of `draw_bode` (``modes``), `draw_waterfall` and `draw_peak_map` (``output``, ``into``).

    Raises
    ------
    ArmError
        If the kind is unknown or does not suit the response, or more than two parameters vary.
    """
    if kind is None:
        if len(found.addresses) >= len(_SUITS):
            raise ArmError(
                f"the response varies with {len(found.addresses)} parameters; pictures show one (draw_waterfall) or "
                "two (draw_peak_map): give frequency_response such parameters."
            )
        kind = _SUITS[len(found.addresses)]
    if not isinstance(kind, str) or kind not in KINDS:
        raise ArmError(
            f"kind = {shown(kind)}: must be one of {', '.join(map(repr, KINDS))}.{suggestion(str(kind), KINDS)}"
        )
    return KINDS[kind](found, axes, **options)


def draw_bode(
    found: FrequencyResponse,
    axes: Sequence[Axes] | None = None,
    modes: ArrayLike = (),
    peaks: Sequence[ResponsePeaks] = (),
) -> tuple[Axes, Axes]:
    """Draw magnitude and phase over frequency, one line for each pair of ports.

    Phases are unwrapped: they fall through resonances and rise through antiresonances. An infinite response, at the
    resonance of an undamped arm, is marked at the upper edge.

    Parameters
    ----------
    found : FrequencyResponse
        Response of one arm.
    axes : two matplotlib Axes, optional
        Axes for magnitudes and for phases, by default in a new figure.
    modes : array
        Natural frequencies in rad/s to mark.
    peaks : sequence of ResponsePeaks
        Peaks to mark, of the drawn pairs of ports; with their magnitudes if there is one pair.

    Raises
    ------
    ArmError
        The response is of many arms.
    """
    hertz, lines = _lines(found)
    above, below = panels_or_new(axes, 2, 7.0, 5.0, sharex=True, height_ratios=(2, 1))
    natural = np.asarray(modes, np.float64) / (2.0 * np.pi)
    every = np.abs(np.concatenate([values for _, values in lines]))
    known = every[np.isfinite(every) & (every > 0.0)]
    beyond = _BEYOND * known.max(initial=0.0)
    for k, (name, values) in enumerate(lines):
        # two ports in turn have the same response: dashes show the line below
        dashes = "--" if _drawn(found, k) else "-"
        look: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "linestyle": dashes}
        sizes, phases = np.abs(values), _unwrapped(hertz, values, natural, found.quantity)
        for axis, y in ((above, np.minimum(sizes, beyond)), (below, phases)):
            axis.plot(hertz, y, linewidth=1.2, label=name, **look)
        _mark_infinite(above, hertz[np.isinf(sizes)], look["color"])
    _mark_peaks(above, found, peaks)
    for axis in (above, below):
        for frequency in natural:
            axis.axvline(frequency, color="0.6", linewidth=0.8, linestyle=":")
        axis.set_xscale("log")
        if hertz[0] < hertz[-1]:
            axis.set_xlim(float(hertz[0]), float(hertz[-1]))
    if known.size:  # a straight arm may not answer
        above.set_yscale("log")
    if known.size and np.isinf(every).any():
        above.set_ylim(0.3 * known.min(), 10.0 * known.max())
    above.set_ylabel(_named(found))
    above.set_title(f"{found.quantity.replace('_', ' ')} ({found.theory})", fontsize=10)
    above.legend(fontsize=8, frameon=False)
    below.set_ylabel("phase [°]")
    _ticks_of_phase(below)
    below.set_xlabel("frequency [Hz]")
    return above, below


def _unwrapped(
    hertz: np.ndarray, values: np.ndarray, natural: np.ndarray, quantity: str
) -> np.ndarray:
    """Unwrapped phases (F,) in degrees; NaN where a value is zero or not finite.

    For an undamped arm the phase is the limit of small damping: half a turn down where the sign changes at a natural
    frequency (``natural``, Hz), half a turn up where it changes between natural frequencies.
    """
    known = np.flatnonzero(np.isfinite(values) & (values != 0.0))
    phases = np.full(values.shape, np.nan)
    if not known.size:
        return phases
    lead, turn = _LEADS.get(quantity, 0), -1.0 if quantity == "dynamic_stiffness" else 1.0
    own = values[known] * (1.0, -1.0j, -1.0)[lead]
    if np.any(own.imag != 0.0):
        phases[known] = np.degrees(np.unwrap(np.angle(values[known])))
        return phases
    places = np.concatenate([natural, hertz[np.isinf(values)]])
    at = hertz[known]
    passed = np.sum(places[:, None] < at, axis=0)
    changes = np.diff(np.sign(own.real)) != 0.0
    steps = np.where(changes, np.where(np.diff(passed) > 0, -180.0, 180.0), 0.0)
    start = -180.0 if own[0].real < 0.0 else 0.0
    phases[known] = 90.0 * lead + turn * (start + np.concatenate([[0.0], np.cumsum(steps)]))
    return phases


def _mark_infinite(axes: Axes, hertz: np.ndarray, colour: str) -> None:
    """Mark at the upper edge where a line tends to infinity."""
    edge: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False}
    for frequency in hertz:
        axes.plot(frequency, 1.0, "^", color=colour, markersize=5.0, **edge)
        axes.text(frequency, 0.99, " ∞", color=colour, fontsize=9, va="top", **edge)


def _mark_peaks(axes: Axes, found: FrequencyResponse, peaks: Sequence[ResponsePeaks]) -> None:
    """Circles at the peaks of the drawn pairs, with their magnitudes if there is one pair."""
    pairs = [(output, into) for output in found.outputs for into in found.inputs]
    for each in peaks:
        colour = COLOURS[pairs.index((each.outputs[0], each.inputs[0])) % len(COLOURS)]
        sizes = np.abs(each.values)
        axes.plot(each.frequencies_hz, sizes, "o", color=colour, markersize=4, fillstyle="none")
        for frequency, size in zip(each.frequencies_hz, sizes, strict=True):
            if len(pairs) == 1:
                place: dict[str, Any] = {
                    "xytext": (0, 4),
                    "textcoords": "offset points",
                    "ha": "center",
                }
                axes.annotate(f"{size:.3g}", (frequency, size), fontsize=7, **place)
    axes.margins(y=0.08)


def _ticks_of_phase(axes: Axes) -> None:
    """Ticks at quarters of a turn, or at half turns if there are many."""
    from matplotlib.ticker import MultipleLocator

    low, high = axes.dataLim.intervaly
    if not np.isfinite([low, high]).all():
        low, high = 0.0, 0.0
    axes.set_ylim(low - 20.0, high + 20.0)
    axes.yaxis.set_major_locator(MultipleLocator(90.0 if high - low <= 400.0 else 180.0))


def draw_nyquist(found: FrequencyResponse, axes: Axes | None = None) -> Axes:
    """Draw imaginary over real parts, one line for each pair of ports.

    Parameters
    ----------
    found : FrequencyResponse
        Response of one arm.

    Raises
    ------
    ArmError
        The response is of many arms.
    """
    _, lines = _lines(found)
    axes = axes_or_new(axes, 5.4, 5.0)
    for k, (name, values) in enumerate(lines):
        colour = COLOURS[k % len(COLOURS)]
        drawn = np.where(np.isfinite(values), values, np.nan)
        axes.plot(drawn.real, drawn.imag, color=colour, linewidth=1.1, label=name)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.axvline(0.0, color="0.6", linewidth=0.8)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(f"real part of {_named(found)}")
    axes.set_ylabel(f"imaginary part of {_named(found)}")
    axes.set_title(f"{found.quantity.replace('_', ' ')} ({found.theory})", fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return axes


def draw_waterfall(
    found: FrequencyResponse, axes: Axes | None = None, output: int = 0, into: int = 0
) -> Axes:
    """Draw the magnitude of a response over frequency and one parameter, such as a joint angle.

    Parameters
    ----------
    found : FrequencyResponse
        Response of many arms that differ in one parameter.
    output, into : int
        Indices of the pair of ports, from 0.

    Returns
    -------
    matplotlib Axes
        Axes with magnitudes as colours on a logarithmic scale.

    Raises
    ------
    ArmError
        If the number of varying parameters is not one.
    """
    columns = _columns(found, 1, "a picture over one parameter")
    size = np.abs(np.asarray(found.values)[:, output, into])
    order = np.argsort(columns[0])
    hertz = np.asarray(found.omega) / (2.0 * np.pi)
    sides = (hertz, "frequency [Hz]"), (columns[0][order], _label(found.addresses[0]))
    return _coloured(axes_or_new(axes, 7.0, 4.6), *sides, size[order], found, output, into)


def draw_peak_map(
    found: FrequencyResponse, axes: Axes | None = None, output: int = 0, into: int = 0
) -> Axes:
    """Draw the largest magnitude of a response in its frequency band over two parameters, such as joint angles.

    Parameters
    ----------
    found : FrequencyResponse
        Response of many arms: every value of one parameter combined with every value of another.
    axes, output, into
        As for `draw_waterfall`.

    Raises
    ------
    ArmError
        If the number of varying parameters is not two, or combinations are missing.
    """
    first, second = _columns(found, 2, "a map over two parameters")
    size = np.abs(np.asarray(found.values)[:, output, into]).max(axis=-1)
    x, at_x = np.unique(first, return_inverse=True)
    y, at_y = np.unique(second, return_inverse=True)
    grid = np.full((y.size, x.size), np.nan)
    grid[at_y, at_x] = size
    if np.isnan(grid).any():
        raise ArmError(
            f"the response has {size.size} arms; a map over two parameters needs a grid, all {x.size} x {y.size} "
            "combinations of their values (numpy.meshgrid makes the columns), with finite responses."
        )
    sides = (x, _label(found.addresses[0])), (y, _label(found.addresses[1]))
    return _coloured(axes_or_new(axes, 5.8, 4.8), *sides, grid, found, output, into)


def _coloured(
    axes: Axes,
    across: tuple[np.ndarray, str],
    up: tuple[np.ndarray, str],
    size: np.ndarray,
    found: FrequencyResponse,
    output: int,
    into: int,
) -> Axes:
    """Draw magnitudes as colours over two axes, each with its values and name."""
    from matplotlib.colors import LogNorm

    finite = size[np.isfinite(size) & (size > 0.0)]
    norm = LogNorm(float(finite.min()), float(finite.max())) if finite.size else None
    look: dict[str, Any] = {"cmap": COLOUR_MAP, "norm": norm, "rasterized": True}
    mesh = axes.pcolormesh(across[0], up[0], size, shading="nearest", **look)
    axes.grid(False)
    figure: Any = axes.get_figure(root=True)
    name = f"{found.pair(output, into)} [{found.unit(output, into)}]"
    figure.colorbar(mesh, ax=axes, label=name)
    axes.set_title(f"{found.quantity.replace('_', ' ')} ({found.theory})", fontsize=10)
    axes.set_xlabel(across[1])
    axes.set_ylabel(up[1])
    for side, (values, name) in ((axes.xaxis, across), (axes.yaxis, up)):
        if not name.endswith("[°]"):
            not_below_zero(side, float(values.min()))
    return axes


def _columns(found: FrequencyResponse, count: int, what: str) -> np.ndarray:
    """Values of the varying parameters, angles in degrees, shape (count, C)."""
    if found.cells is None or len(found.addresses) != count:
        number = len(found.addresses)
        varies = f"varies with {', '.join(found.addresses)}" if number else "is of one arm"
        wanted = "one parameter must" if count == 1 else "two parameters must"
        remedy = (
            " Parameters that vary together are several: draw such responses cell by cell, or give one of them alone."
            if number > count
            else ""
        )
        raise ArmError(
            f"the response {varies}; for {what} {wanted} vary: give frequency_response such parameters.{remedy}"
        )
    factors = [180.0 / np.pi if unit_of_address(name) == "rad" else 1.0 for name in found.addresses]
    scaled: np.ndarray = np.asarray(found.cells) * np.array(factors)[:, None]
    for address, column in zip(found.addresses, np.asarray(found.cells), strict=True):
        if not np.isfinite(column).all():
            wrong = shown(column[~np.isfinite(column)][0])
            raise ArmError(
                f"{address} = {wrong} in an arm of the response: an axis of {what} takes finite values; leave such "
                "arms out of the parameters."
            )
    return scaled


def _drawn(found: FrequencyResponse, line: int) -> bool:
    """Whether the line of a pair of ports coincides with an earlier one, that of the interchanged ports."""
    output, into = divmod(line, len(found.inputs))
    read, driven = found.outputs[output], found.inputs[into]
    if read == driven or read not in found.inputs or driven not in found.outputs:
        return False
    earlier = found.outputs.index(driven) * len(found.inputs) + found.inputs.index(read)
    return earlier < line and found.quantity != "transmissibility"


def _named(found: FrequencyResponse) -> str:
    """Name of the quantity, with its unit if it is the same for all pairs of ports."""
    units = {found.unit(o, i) for o in range(len(found.outputs)) for i in range(len(found.inputs))}
    name = found.quantity.replace("_", " ")
    return f"{name} [{units.pop()}]" if len(units) == 1 else name


def _label(address: str) -> str:
    unit = unit_of_address(address)
    return f"{address} [{'°' if unit == 'rad' else unit}]"


def _lines(found: FrequencyResponse) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    """Frequencies in Hz, ascending, and name and values of each pair of ports (inf at poles, NaN if unknown)."""
    if found.cells is not None:
        raise ArmError("the response is of many arms; must be of one: draw_waterfall draws many.")
    omega = np.atleast_1d(np.asarray(found.omega))
    order = np.argsort(omega)
    values = np.asarray(found.values).reshape(len(found.outputs), len(found.inputs), omega.size)
    values = np.where(np.isnan(values), np.nan, values)[..., order]
    lines = [
        (f"{found.pair(o, i)} [{found.unit(o, i)}]", values[o, i])
        for o in range(len(found.outputs))
        for i in range(len(found.inputs))
    ]
    return omega[order] / (2.0 * np.pi), lines


#: pictures by name
KINDS: dict[str, Callable[..., Any]] = {
    "bode": draw_bode,
    "nyquist": draw_nyquist,
    "waterfall": draw_waterfall,
    "peak_map": draw_peak_map,
}
