"""Libraries that are installed only where their results are wanted, each with the extra that brings it."""

from __future__ import annotations

import importlib
from typing import Any


def _required(modules: tuple[str, ...], what: str, extra: str) -> Any:
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            name = module.partition(".")[0]
            raise ImportError(
                f"{what} needs {name}, which is not installed: pip install 'jaxmodal[{extra}]'"
            ) from error
    return importlib.import_module(modules[0].partition(".")[0])


def require_control() -> Any:
    """Return python-control, or refuse with the extra to install."""
    return _required(("control",), "a model for python-control", "control")


def require_slycot() -> Any:
    """Return python-control with what its balanced truncation calls, or refuse with the extra to install."""
    return _required(("control", "slycot"), "balanced truncation", "control")


def require_pyuff() -> Any:
    """Return pyuff, or refuse with the extra to install."""
    return _required(("pyuff",), "a universal file", "uff")
