"""Plots of a result: its history, the sections before and after, the frequencies over the postures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from design_opt.problem.designs import OWN, as_degrees, unit_shown
from design_opt.solvers.recording import Step
from design_opt.solvers.results import OptimisationResult
from jaxmodal.plots.figures import angle_symbol, not_below_zero
from sweeps.plots.maps import usual_contours
from sweeps.plots.style import COLOUR_MAP, COLOURS, new_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BEFORE, _AFTER = COLOURS[6], COLOURS[0]


def pictures(result: OptimisationResult) -> dict[str, Figure]:
    """Return the plots that apply to a result, by name: history, sections, postures."""
    found = {"history": history(result)}
    if any(_outline(link.section) is not None for link in result.arm.links):
        found["sections"] = sections(result)
    if any(name != OWN and len(hz) > 1 for name, hz in result.report.hz.items()):
        found["postures"] = postures(result)
    return found


def history(result: OptimisationResult) -> Figure:
    """Draw objective, violation and residual over the iterations, one line for every start."""
    objectives = result.problem.objectives
    single = objectives[0] if len(objectives) == 1 else None

    def shown(step: Step) -> float:
        return single.sign * float(step.objectives[0]) if single else step.score

    with style():
        figure = new_figure(7.0, 5.2)
        axes = figure.subplots(2, 1, sharex=True)
        starts = sorted({step.start for step in result.steps})
        for number in starts:
            steps = [step for step in result.steps if step.start == number]
            x = np.arange(1, len(steps) + 1)
            colour = COLOURS[number % len(COLOURS)]
            label = f"start {number + 1}"
            axes[0].plot(x, [shown(s) for s in steps], color=colour, marker=".", label=label)
            residual = [max(s.kkt, 1e-16) for s in steps]
            violation = [max(s.violation, 1e-16) for s in steps]
            own = number == starts[0]
            axes[1].semilogy(x, residual, color=colour, label="KKT residual" if own else None)
            axes[1].semilogy(
                x, violation, color=colour, linestyle=":", label="violation" if own else None
            )
        axes[1].axhline(result.tolerance, color="#888888", linewidth=0.8, linestyle="--")
        axes[0].set_ylabel(
            single.label.replace(", ", ",\n")
            if single
            else "weighted objective,\nrelative to the start"
        )
        axes[0].set_title(result.problem.name or "Optimisation", parse_math=False)
        not_below_zero(axes[0].yaxis)
        axes[1].set_ylabel("residual, violation")
        axes[1].set_xlabel("iteration")
        if len(starts) > 1:
            axes[0].legend()
        axes[1].legend()
    return figure


def _outline(section: Any) -> list[np.ndarray] | None:
    """Return the closed outlines (points, 2) of a section in mm, the outer first; None for an unknown shape."""
    wall, shape = getattr(section, "wall_thickness", None), getattr(section, "shape", "raw")
    if shape in ("rectangle", "hollow_rectangle"):
        sizes = [(float(section.width), float(section.depth))]
        if wall is not None:
            sizes.append((sizes[0][0] - 2.0 * float(wall), sizes[0][1] - 2.0 * float(wall)))
        corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5]])
        return [1e3 * corners * np.array(size) for size in sizes]
    if shape in ("circle", "hollow_circle"):
        diameter = getattr(section, "diameter", None)
        outer = float(section.outer_diameter if diameter is None else diameter)
        diameters = [outer] + ([outer - 2.0 * float(wall)] if wall is not None else [])
        angle = np.linspace(0.0, 2.0 * np.pi, 181)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return [500.0 * size * circle for size in diameters]
    return None


def sections(result: OptimisationResult) -> Figure:
    """Draw the section of every link before and after, to the same scale; depth is vertical."""
    pairs: list[tuple[Any, Any]] = list(
        zip(result.problem.arm.links, result.arm.links, strict=True)
    )
    outlines = [[_outline(link.section) for link in pair] for pair in pairs]
    reach = max(np.abs(curve).max() for pair in outlines for part in pair for curve in part or [])
    with style():
        figure = new_figure(max(2.4 * len(pairs), 4.0), 3.2)
        axes = np.atleast_1d(figure.subplots(1, len(pairs), sharex=True, sharey=True))
        for i, (ax, pair) in enumerate(zip(axes, outlines, strict=True)):
            _fill(ax, pair[0])
            for number, curve in enumerate(pair[1] or []):
                ax.plot(*curve.T, color=_AFTER, label=None if number else "after")
            ax.set_aspect("equal")
            ax.set_xlim(-1.1 * reach, 1.1 * reach)
            ax.set_ylim(-1.1 * reach, 1.1 * reach)
            old, new = (f"{float(link.length):.3g}" for link in pairs[i])
            ax.set_title(f"link {i + 1}, {old if old == new else f'{old} to {new}'} m")
            ax.set_xlabel("width [mm]")
        axes[0].set_ylabel("depth [mm]")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        figure.suptitle(
            f"{result.problem.name or 'Optimisation'}: cross-sections",
            fontsize=10,
            parse_math=False,
        )
    return figure


def _fill(axes: Any, curves: list[np.ndarray] | None) -> None:
    """Fill the area between the outlines of a section, so that it is visible below others that coincide with it."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    if curves:
        inner = [curve[::-1] for curve in curves[1:]]
        whole = Outline.make_compound_path(*(Outline(c, closed=True) for c in (curves[0], *inner)))
        axes.add_patch(PathPatch(whole, facecolor="0.8", edgecolor="0.45", label="before"))


def postures(result: OptimisationResult) -> Figure:
    """Draw the frequencies over the postures, before and after: lines, or maps over a grid of two joints.

    A map shows the objective at each posture if the objective uses this set, otherwise the lowest frequency above 0.
    """
    name = max(
        (key for key in result.report.hz if key != OWN), key=lambda key: len(result.report.hz[key])
    )
    arm, held = result.problem.arm, result.evaluator.angles[name]
    angles = np.stack([as_degrees(arm, i, x) for i, x in enumerate(held.T, start=1)], axis=1)
    before, after = result.evaluator.today_hz[name], result.report.hz[name]
    axes = [np.unique(column) for column in angles.T]
    moving = [i for i, values in enumerate(axes) if len(values) > 1]
    lowest = result.report.shown_mode(name) - 1  # lower modes have frequency 0
    worst = int(after[:, lowest].argmin())
    with style():
        if len(moving) == 2 and len(axes[moving[0]]) * len(axes[moving[1]]) == len(angles):
            return _maps(result, name, angles, moving)
        figure = new_figure(7.0, 3.6)
        ax = figure.subplots()
        x = angles[:, moving[0]] if len(moving) == 1 else np.arange(1, len(angles) + 1)
        for mode, colour in zip(range(lowest, after.shape[1]), COLOURS[:3], strict=False):
            label = f"f{mode + 1}"
            ax.plot(x, before[:, mode], color=colour, linestyle="--", label=f"{label} before")
            ax.plot(x, after[:, mode], color=colour, label=f"{label} after")
        least = f"least {after[worst, lowest]:.4g} Hz"
        ax.plot(x[worst], after[worst, lowest], "o", color=COLOURS[0], label=least)
        ax.set_xlabel(_position_label(result, moving[0] + 1) if len(moving) == 1 else "posture")
        ax.set_ylabel("frequency [Hz]")
        ax.set_title(f"{result.problem.name or 'Optimisation'}: postures {name}", parse_math=False)
        ax.legend(ncols=3)
    return figure


def _position_label(result: OptimisationResult, joint: int) -> str:
    """Return the label of an axis over the positions of a joint."""
    arm = result.problem.arm
    name = f"position of joint {joint}" if arm.slides(joint) else angle_symbol(joint)
    return f"{name} [{unit_shown(arm, joint).strip()}]"


def _over_postures(
    result: OptimisationResult, name: str
) -> tuple[str, bool, np.ndarray, np.ndarray]:
    """Return the data of a map: label, True if small is good, values before and after at each posture of the set."""
    before, report = result.terms_before, result.report
    for part, old, new in zip(result.problem.objectives, before, report.terms, strict=True):
        if part.postures == name and len(new) == len(report.hz[name]):
            label = part.label.split(", worst")[0]
            small = part.sign < 0.0
            return label, small, part.sign * old.min(axis=1), part.sign * new.min(axis=1)
    lowest = report.shown_mode(name)
    today = result.evaluator.today_hz[name]
    return f"f{lowest} [Hz]", False, today[:, lowest - 1], report.hz[name][:, lowest - 1]


def _maps(
    result: OptimisationResult, name: str, all_angles: np.ndarray, moving: list[int]
) -> Figure:
    label, small, before, after = _over_postures(result, name)
    angles = all_angles[:, moving]
    figure = new_figure(8.6, 3.6)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    x, y = (xr.DataArray(np.unique(column), dims="angle") for column in angles.T)
    unit = label.rpartition("[")[2].rstrip("]") if label.endswith("]") else ""
    order = np.lexsort((angles[:, 0], angles[:, 1]))
    both = np.concatenate([before, after])
    known = both[np.isfinite(both)]  # undamped peaks are infinite
    low, top = known.min(), known.max()
    mesh: Any = None
    for ax, values, title in zip(axes, (before, after), ("before", "after"), strict=True):
        table = values[order].reshape(len(y), len(x))
        mesh = ax.pcolormesh(x, y, table, cmap=COLOUR_MAP, vmin=low, vmax=top, rasterized=True)
        worst = int(values.argmax() if small else values.argmin())
        ax.plot(*angles[worst], "o", color="#D55E00", markersize=6, clip_on=False)
        usual_contours(ax, x, y, table, unit)
        ax.grid(visible=False)
        extreme = "largest" if small else "least"
        ax.set_title(f"{title}: {extreme} {values[worst]:.4g} {unit}".rstrip(), parse_math=False)
        ax.set_xlabel(_position_label(result, moving[0] + 1))
    axes[0].set_ylabel(_position_label(result, moving[1] + 1))
    figure.colorbar(mesh, ax=axes, label=label)
    figure.suptitle(
        f"{result.problem.name or 'Optimisation'}: {name}", fontsize=10, parse_math=False
    )
    return figure
