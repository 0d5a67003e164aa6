"""What public classes and functions say they are part of: the package, not the file that they are written in."""

import inspect
import re
from types import FunctionType
from typing import Any, Literal, get_origin


def report_package(namespace: dict[str, Any]) -> None:
    """Let everything public of a package report it as its module, in tracebacks, help, pickles and ``dir``.

    Parameters
    ----------
    namespace
        ``globals()`` of the package, complete with ``__all__``.

    Notes
    -----
    Where a parameter takes one of some names (``theory: TheoryName``), ``help`` shows these instead of the name of
    their type.
    """
    package = namespace["__name__"]
    hidden = [name for name in namespace if name.startswith("__")]
    namespace["__dir__"] = lambda: sorted([*hidden, *namespace["__all__"]])
    for name in namespace["__all__"]:
        found = namespace[name]
        inside = getattr(found, "__module__", "").startswith(f"{package}.")
        if inside and isinstance(found, type | FunctionType):
            found.__module__ = package
            _spell_out(vars(found).get("__init__") if isinstance(found, type) else found)


def _spell_out(function: Any) -> None:
    """Put the names that a parameter takes where its annotation has the name of their type."""
    written = getattr(function, "__annotations__", {})
    known = getattr(inspect.unwrap(function), "__globals__", {})
    for parameter, annotation in written.items():
        words = re.findall(r"\w+", annotation) if isinstance(annotation, str) else []
        if any(get_origin(known.get(word)) is Literal for word in words):
            written[parameter] = eval(annotation, known)  # what typing.get_type_hints would do
