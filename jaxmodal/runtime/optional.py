"""Optional libraries, each with the extra of jaxmodal that installs it."""

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
    """Return python-control, or raise an ImportError with the extra to install."""
    return _required(("control",), "a model for python-control", "control")


def require_slycot() -> Any:
    """Return python-control if slycot, for its balanced truncation, is installed; else raise an ImportError."""
    return _required(("control", "slycot"), "balanced truncation", "control")


def require_pyuff() -> Any:
    """Return pyuff, or raise an ImportError with the extra to install."""
    return _required(("pyuff",), "a universal file", "uff")
