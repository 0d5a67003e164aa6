"""Pictures of arms, modes, responses, sensitivities and resonance maps. They need matplotlib, an optional dependency.

What begins with ``draw_`` draws into the matplotlib ``axes`` given, by default those of a new figure, and returns them;
places are in m, and modes have numbers from 1. What begins with ``plot_`` returns a figure of its own, with a ``title``
above it and written to ``path`` (PNG, PDF or SVG by the suffix) where one is given. All raise `PlotsUnavailableError`
where matplotlib is not installed.
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
