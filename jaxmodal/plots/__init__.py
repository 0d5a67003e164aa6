"""Plots of arms, modes, responses, sensitivities and resonance maps; they need matplotlib, an optional dependency.

Functions ``draw_...`` draw into the given matplotlib ``axes``, by default those of a new figure, and return them.
Functions ``plot_...`` create and return a new figure with a ``title``; if ``path`` is given, they write it to that file
(PNG, PDF or SVG by the suffix). Positions are in m, and modes are numbered from 1. All raise `PlotsUnavailableError` if
matplotlib is not installed.
"""

from jaxmodal.plots.arms import draw_arm
from jaxmodal.plots.damped_modes import draw_damped_modes
from jaxmodal.plots.figures import PlotsUnavailableError
from jaxmodal.plots.frequencies import draw_frequencies, draw_postures_at
from jaxmodal.plots.modes import (
    animate_mode,
    draw_shapes,
    draw_spatial_shapes,
    plot_mode_shapes,
)
from jaxmodal.plots.resonance_maps import draw_resonance_map, plot_resonance_map
from jaxmodal.plots.responses import (
    draw_bode,
    draw_nyquist,
    draw_peak_map,
    draw_response,
    draw_waterfall,
)
from jaxmodal.plots.sensitivities import draw_sensitivities
from jaxmodal.plots.spatial_arms import draw_spatial_arm, plot_spatial_arm

__all__ = [
    "PlotsUnavailableError",
    "animate_mode",
    "draw_arm",
    "draw_bode",
    "draw_damped_modes",
    "draw_frequencies",
    "draw_nyquist",
    "draw_peak_map",
    "draw_postures_at",
    "draw_resonance_map",
    "draw_response",
    "draw_sensitivities",
    "draw_shapes",
    "draw_spatial_arm",
    "draw_spatial_shapes",
    "draw_waterfall",
    "plot_mode_shapes",
    "plot_resonance_map",
    "plot_spatial_arm",
]
