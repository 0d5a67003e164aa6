"""Flexible joints on the paper's two-link arm (its Table 7): dataset, figure, and the claims of the text checked.

The paper computed this study by finite elements, with torsional springs k_T1 at the shoulder and k_T2 at the
elbow, and printed curves without numbers. Here every frequency is exact and certified.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from benchmarks.result_files import made_folder, repeatable
from sweeps.definition.axes import axis
from sweeps.definition.sweep import Sweep
from sweeps.plots.style import COLOURS, new_figure, save, style
from sweeps.store.export import write_or_refuse
from sweeps.store.run import Progress, run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: stiffness of either joint, N m/rad: pinned, then half decades; the last stands for a rigid joint
STIFFNESSES = (0.0, *(10.0 ** (0.5 * i) for i in range(-2, 23)), float("inf"))
THICKNESS_FACTORS = (1.0, 10.0, 25.0, 50.0, 100.0)
POSTURES_DEG = (0.0, 45.0, 90.0)
#: the stiffness down to which the paper's text finds nearly constant frequencies
CLAIMED = 1e6
#: where the pinned limit of both joints is drawn on the logarithmic axis
_PINNED = 2e-3
_SHOULDER, _ELBOW = "k_T1", "k_T2"
FILES = ("joint_stiffness.nc", "joint_stiffness.png", "joint_stiffness.md")


def joint_study(progress: Progress | None = None) -> xr.Dataset:
    """First ten frequencies of the paper's two-link arm against the stiffnesses of its two joints.

    Parameters
    ----------
    progress
        Called with (cells done, cells in all).

    Returns
    -------
    xarray.Dataset
        Dimensions thickness_factor (5), theta_2 (3), k_T1 (27), k_T2 (27), mode (10); ``frequency`` in Hz with
        ``status`` and ``certified``. The first entry of k_T1 and k_T2 is the pinned joint (0), which adds a mode of
        frequency 0; the last, inf, the rigid joint of the paper's Tables 2 to 6.
    """
    sweep = Sweep(
        "example:two_link_flexible",
        [
            axis("thickness_factor", THICKNESS_FACTORS),
            axis("theta_2", POSTURES_DEG, unit="degree"),
            axis("link1.joint_stiffness", STIFFNESSES, name=_SHOULDER),
            axis("link2.joint_stiffness", STIFFNESSES, name=_ELBOW),
        ],
        num_modes=10,
        name="Two-link flexible arm: stiffness of both joints",
    )
    return run(sweep, progress=progress)


def both_joints(ds: xr.Dataset) -> xr.DataArray:
    """Frequencies along k_T1 = k_T2, over that of rigid joints; dims thickness_factor, theta_2, mode, stiffness."""
    at = xr.DataArray(np.arange(ds.sizes[_SHOULDER]), dims="stiffness")
    line = ds.frequency.isel({_SHOULDER: at, _ELBOW: at}) / _rigid(ds)
    return line.drop_vars([_SHOULDER, _ELBOW]).assign_coords(stiffness=ds[_SHOULDER].values)


def one_joint(ds: xr.Dataset, joint: str) -> xr.DataArray:
    """Frequencies along k_T1 or k_T2, the other joint rigid, over that of rigid joints."""
    other = _ELBOW if joint == _SHOULDER else _SHOULDER
    line = ds.frequency.isel({other: -1}) / _rigid(ds)
    return line.rename({joint: "stiffness"})


def _rigid(ds: xr.Dataset) -> xr.DataArray:
    return ds.frequency.isel({_SHOULDER: -1, _ELBOW: -1}, drop=True)


def picture(ds: xr.Dataset) -> Figure:
    """Panels as in Table 7: a row for each mode, a column for each posture, a colour for each slenderness."""
    lines = (
        ("both joints", both_joints(ds), "-"),
        ("shoulder alone", one_joint(ds, _SHOULDER), "--"),
        ("elbow alone", one_joint(ds, _ELBOW), ":"),
    )
    modes, postures = ds.mode.values, ds.theta_2.values
    with style():
        figure = new_figure(10.0, 1.55 * len(modes) + 1.2)
        panels = figure.subplots(
            len(modes), len(postures), sharex=True, sharey="row", squeeze=False
        )
        for row, mode in enumerate(modes):
            for column, posture in enumerate(postures):
                _panel(panels[row, column], lines, int(mode), float(posture))
            panels[row, 0].set_ylabel(f"mode {mode}")
        for column, posture in enumerate(postures):
            panels[0, column].set_title(rf"$\theta_2$ = {posture:g}°")
            panels[-1, column].set_xlabel(r"$k_T$ [N m/rad]")
        _legend(figure, panels[0, 0], lines)
        figure.suptitle("f / f(rigid joints), two-link arm of the paper's Table 1")
    return figure


def _panel(
    panel: Axes, lines: tuple[tuple[str, xr.DataArray, str], ...], mode: int, posture: float
) -> None:
    for _, ratio, dashes in lines:
        for number, factor in enumerate(THICKNESS_FACTORS):
            values = ratio.sel(mode=mode, theta_2=posture, thickness_factor=factor)
            stiffness = values.stiffness.values
            finite = np.isfinite(stiffness) & (stiffness > 0.0)
            if dashes == "-":
                pinned = values.values[stiffness == 0.0]
                panel.plot([_PINNED], pinned, ".", color=COLOURS[number], markersize=4)
            panel.semilogx(
                stiffness[finite],
                values.values[finite],
                color=COLOURS[number],
                linestyle=dashes,
                linewidth=1.0 if dashes == "-" else 0.8,
            )
    panel.axvline(CLAIMED, color="#777777", linewidth=0.6)
    panel.set_ylim(-0.03 if mode <= 2 else 0.5, 1.03)
    ticks = [1e-1, 1e2, 1e5, 1e8, 1e11]
    panel.set_xticks([_PINNED, *ticks], ["0", *(f"$10^{{{round(np.log10(t))}}}$" for t in ticks)])
    panel.minorticks_off()


def _legend(figure: Figure, panel: Axes, lines: tuple[tuple[str, xr.DataArray, str], ...]) -> None:
    entries = [
        panel.plot([], [], color=COLOURS[i], label=f"s = {factor:g}")[0]
        for i, factor in enumerate(THICKNESS_FACTORS)
    ]
    entries += [
        panel.plot([], [], color="#444444", linestyle=dashes, label=name)[0]
        for name, _, dashes in lines
    ]
    figure.legend(handles=entries, loc="outside lower center", ncols=len(entries))


def largest_change(ds: xr.Dataset, stiffness: float) -> xr.DataArray:
    """Largest relative fall of any mode in any posture at k_T1 = k_T2 = ``stiffness``; dims thickness_factor."""
    ratio = both_joints(ds).sel(stiffness=stiffness, method="nearest")
    return (1.0 - ratio).max(("mode", "theta_2"))


def constant_down_to(ds: xr.Dataset, share: float) -> xr.DataArray:
    """The least k_T1 = k_T2 of the grid from which up no frequency falls by more than ``share``.

    Dims thickness_factor.
    """
    fall = (1.0 - both_joints(ds)).max(("mode", "theta_2"))
    kept = (fall <= share).values
    lowest = [int(np.flatnonzero(~row)[-1]) + 1 if not row.all() else 0 for row in kept]
    return xr.DataArray(
        ds[_SHOULDER].values[lowest],
        dims="thickness_factor",
        coords={"thickness_factor": ds.thickness_factor},
    )


_REPORT = """\
# Flexible joints (Table 7 of the paper)

Regenerate with `jaxmodal joint-study` (a few minutes on two cores).

The two-link arm of the paper's Table 1 with torsional springs k_T1 at the shoulder and k_T2 at the elbow,
pinned, 0.1 to 1e11 N m/rad, and rigid, at the five thickness factors of Tables 2 to 6 and three postures, by
Timoshenko's theory: {certificate}. `joint_stiffness.nc` has all of them
(`xarray.open_dataset("results/paper/joint_stiffness.nc")`).

![panels](joint_stiffness.png)

The grey line is 1e6 N m/rad, of which the paper's section 3.1 speaks. Dots at the left: both joints pinned; modes 1
and 2 then have frequency zero, and the curves of soft springs end {gap:.2g} or less away from that limit (of the
frequency over that of rigid joints) for s = 10 and above.

## What the text says, and where it holds

Both joints alike, all ten modes, the three postures:

| thickness factor s | E I/L of link 1, N m | largest fall at 1e6 | no mode falls by 1 % down to | by 10 % down to |
|---|---|---|---|---|
{rows}

k_T in N m/rad; E I/L is that of the first link.

- *Nearly constant down to about 1e6 N m/rad, except for the thickest links.* {nearly}
- *The most slender arm is insensitive below 1e6 N m/rad as well.* {slender}
- What decides is k_T beside the bending stiffness E I/L of the links, which grows as s^3. All five arms lose
  1 % of some frequency at about the same ratio: k_T = {low:.0f} to {high:.0f} E I/L on this grid of half decades.
"""


def report(ds: xr.Dataset) -> str:
    """The claims of the paper's section 3.1 beside the numbers, in Markdown."""
    change = 100.0 * largest_change(ds, CLAIMED).values
    one, ten = (constant_down_to(ds, share).values for share in (0.01, 0.10))
    rows = [
        f"| {factor:g} | {_rigidity(factor):.3g} | {change[i]:.2g} % | {one[i]:.2g} | {ten[i]:.2g} |"
        for i, factor in enumerate(THICKNESS_FACTORS)
    ]
    small = [f"{f:g}" for f, c in zip(THICKNESS_FACTORS, change, strict=True) if c <= 1.0]
    large = [
        f"{c:.2g} % at s = {f:g}" for f, c in zip(THICKNESS_FACTORS, change, strict=True) if c > 1.0
    ]
    nearly = (
        f"At 1e6 N m/rad no frequency has fallen by more than 1 % for s = {', '.join(small)}; the largest fall is "
        f"{' and '.join(large)}."
    )
    slender = (
        f"Down to {one[0]:.2g} N m/rad to within 1 %, to {ten[0]:.2g} N m/rad within 10 %; below that it falls like "
        f"the others, at 0.1 N m/rad by up to {100.0 * float(largest_change(ds, 0.1)[0]):.0f} %."
    )
    ratios = [
        value / _rigidity(factor) for value, factor in zip(one, THICKNESS_FACTORS, strict=True)
    ]
    return _REPORT.format(
        certificate=ds.attrs["certificate_summary"],
        rows="\n".join(rows),
        nearly=nearly,
        slender=slender,
        gap=_distance_to_pinned(ds),
        low=min(ratios),
        high=max(ratios),
    )


def _distance_to_pinned(ds: xr.Dataset) -> float:
    """How far the curves of both joints at 0.1 N m/rad end from the pinned limit, all but the most slender arm."""
    ends = both_joints(ds).isel(thickness_factor=slice(1, None))
    return float(np.abs(ends.isel(stiffness=1) - ends.isel(stiffness=0)).max())


def _rigidity(factor: float) -> float:
    """E I/L of link 1 at a thickness factor, N m."""
    from jaxmodal import examples

    link = examples.two_link_flexible(factor).links[0]
    return float(link.youngs_modulus * link.second_moment / link.length)


def write_joint_study(
    folder: str | Path, tell: Callable[[str], None] = print, progress: Progress | None = None
) -> xr.Dataset:
    """Compute the study and write its dataset, figure and report.

    Parameters
    ----------
    folder
        Where to write ``joint_stiffness.nc``, ``.png`` and ``.md``; made if missing.
    tell
        Called with the name of each file that has been written.
    progress
        Called with (cells done, cells in all).

    Raises
    ------
    SweepError
        If matplotlib is missing or a file cannot be written.
    """
    folder = made_folder(folder)  # before the wait: it may be refused
    ds = joint_study(progress)
    figure, text = picture(ds), report(ds)
    writers: tuple[Callable[[Path], object], ...] = (
        repeatable(ds).to_netcdf,
        lambda path: save(figure, path),
        lambda path: path.write_text(text, encoding="utf-8"),
    )
    for name, write in zip(FILES, writers, strict=True):
        write_or_refuse(folder / name, write)
        tell(name)
    return ds
