"""Additions to xarray's datasets that are made when a process imports xarray, which takes as long as half of JAX.

Commands such as ``jaxmodal sweep plan`` make no dataset, and need no xarray.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

_LIBRARY = "xarray"


def when_imported(add: Callable[[], None]) -> None:
    """Call ``add`` now if xarray is imported, else as soon as it is, whoever imports it."""
    if _LIBRARY in sys.modules:
        add()
    else:
        sys.meta_path.insert(0, _Watch(_LIBRARY, add))


class _Watch(importlib.abc.MetaPathFinder):
    """A finder that finds a library as all others do, and calls ``add`` after its import."""

    def __init__(self, library: str, add: Callable[[], None]) -> None:
        self.library, self.add = library, add

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.library or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self.add()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
