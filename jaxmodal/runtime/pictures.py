"""Plots of results, by functions in `jaxmodal.plots` that are imported when called."""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

from jaxmodal.runtime.tables import require_values


class Drawn:
    """Mixin for objects with a plot."""

    picture: ClassVar[str]
    """Module and function that draws it: ``"jaxmodal.plots.arms:draw_arm"``."""

    def plot(self, axes: Any = None, **options: Any) -> Any:
        """Draw this into matplotlib axes, by default those of a new figure, and return them.

        ``options`` are those of the function in `jaxmodal.plots` that draws it: ``draw_arm`` and ``draw_spatial_arm``
        (``view``) for an arm, ``draw_shapes`` (``mode``), ``draw_sensitivities`` (``top``), ``draw_resonance_map``
        (``title``), ``draw_damped_modes``, ``draw_frequencies``, ``draw_postures_at``, ``draw_response`` (``kind``, and
        ``modes`` to mark), which for a Bode picture returns two axes.

        Raises
        ------
        PlotsUnavailableError
            Matplotlib is not installed.
        TypeError
            Its values are traced.
        """
        require_values(self, "plot()")
        module, _, function = self.picture.partition(":")
        return getattr(importlib.import_module(module), function)(self, axes, **options)
