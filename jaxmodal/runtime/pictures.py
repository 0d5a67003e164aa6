"""Plots of results, by functions of rooms above that are entered by name and imported when called."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from jaxmodal.runtime.tables import require_values

#: where the function is that draws what a class has for a method, ``"module:function"``, by ``"Class.method"``
_ENTRIES: dict[str, str] = {}
_METHOD, _FUNCTION = re.compile(r"\w+\.\w+"), re.compile(r"\w+(\.\w+)*:\w+")


def enter_pictures(entries: Mapping[str, str]) -> None:
    """Enter functions that draw objects of classes and of those derived from them.

    Parameters
    ----------
    entries
        ``"package.module:function"`` by ``"Class.method"``, where the class is a `Drawn`. The module is imported at the
        first call.

    Raises
    ------
    ValueError
        If an entry is no such text, or a class of this name has another one, as those of the library have.
    """
    for shown, entry in entries.items():
        if not (_METHOD.fullmatch(shown) and _FUNCTION.fullmatch(entry)):
            raise ValueError(
                f"entries: {shown!r}: {entry!r}; must be 'Class.method': 'package.module:function'."
            )
        if _ENTRIES.get(shown, entry) != entry:
            raise ValueError(
                f"entries: {shown!r}: {entry!r}: a class of this name is drawn by {_ENTRIES[shown]!r}; give the class "
                "another name."
            )
    _ENTRIES.update(entries)


class Drawn:
    """Mixin for objects with a plot, which `enter_pictures` names."""

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
        return self._drawing("plot")(self, axes, **options)

    def _drawing(self, method: str) -> Callable[..., Any]:
        """The function that draws this for a method."""
        for kind in type(self).__mro__:
            if entry := _ENTRIES.get(f"{kind.__name__}.{method}"):
                module, _, function = entry.partition(":")
                found: Callable[..., Any] = getattr(importlib.import_module(module), function)
                return found
        name = type(self).__name__
        raise NotImplementedError(
            f"{name}.{method}(): no function is entered that draws an object of {name}; enter one: "
            f"jaxmodal.runtime.pictures.enter_pictures({{'{name}.{method}': 'module:function'}})."
        )
