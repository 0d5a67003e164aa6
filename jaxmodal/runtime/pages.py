"""Pages of arms, which other packages make: they register how as an entry point."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

ENTRY_POINTS = "jaxmodal.pages"
"""The group of entry points by which a package registers ``explore(arm, path, theory=...)``."""


class Explored:
    """What can be explored on a page of its own."""

    def explore(self, path: Any = None, theory: Any = None) -> Any:
        """Show this arm on a page that solves it as its sliders move; see `sweeps.explore`, which makes it.

        Parameters
        ----------
        path : str or pathlib.Path, optional
            Where to write it, a name that ends in ``.html``; left out, the page is the value, which a notebook shows.
        theory : str, optional
            As for `jaxmodal.natural_frequencies`, ``"timoshenko"`` if left out.

        Raises
        ------
        ImportError
            No package that is installed makes such pages.
        """
        found = list(entry_points(group=ENTRY_POINTS, name="explore"))
        if not found:
            raise ImportError(
                "explore needs the package sweeps, which is not installed as a part of jaxmodal: install jaxmodal "
                "anew, or call sweeps.explore(arm)."
            )
        return found[0].load()(self, path, theory=theory)
