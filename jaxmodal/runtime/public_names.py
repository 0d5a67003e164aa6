"""What public classes and functions say they are part of: the package, not the file that they are written in."""

from types import FunctionType
from typing import Any


def report_package(namespace: dict[str, Any]) -> None:
    """Let everything public of a package report it as its module, in tracebacks, help, pickles and ``dir``.

    Parameters
    ----------
    namespace
        ``globals()`` of the package, complete with ``__all__``.
    """
    package = namespace["__name__"]
    hidden = [name for name in namespace if name.startswith("__")]
    namespace["__dir__"] = lambda: sorted([*hidden, *namespace["__all__"]])
    for name in namespace["__all__"]:
        found = namespace[name]
        inside = getattr(found, "__module__", "").startswith(f"{package}.")
        if inside and isinstance(found, type | FunctionType):
            found.__module__ = package
