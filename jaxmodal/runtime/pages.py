"""Interactive pages of arms, made by other packages that register an entry point."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

ENTRY_POINTS = "jaxmodal.pages"
"""Group of entry points for ``explore(arm, path, theory=...)``."""


class Explored:
    """Mixin for objects that can be shown on an interactive page."""

    def explore(self, path: Any = None, theory: Any = None) -> Any:
        """Make an interactive page of this arm that is solved again as its sliders move; see `sweeps.explore`.

        Parameters
        ----------
        path : str or pathlib.Path, optional
            File to write, with the suffix ``.html``. If left out, the page is returned, and a notebook shows it.
        theory : str, optional
            As for `jaxmodal.natural_frequencies`; ``"timoshenko"`` if left out.

        Raises
        ------
        ImportError
            If no installed package makes such pages.
        """
        found = list(entry_points(group=ENTRY_POINTS, name="explore"))
        if not found:
            raise ImportError(
                "explore needs the package sweeps, which is not installed as a part of jaxmodal: install jaxmodal "
                "anew, or call sweeps.explore(arm)."
            )
        return found[0].load()(self, path, theory=theory)
