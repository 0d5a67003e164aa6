"""Reported module of public classes and functions, and error messages of frozen dataclasses."""

import dataclasses
import inspect
import re
from types import FunctionType
from typing import Any, Literal, NoReturn, get_origin

from jaxmodal.runtime.errors import meant_or_known


def report_package(namespace: dict[str, Any]) -> None:
    """Set the package as the module of all its public objects, in tracebacks, help, pickles and ``dir``.

    Parameters
    ----------
    namespace
        ``globals()`` of the package, complete with ``__all__``.

    Notes
    -----
    For a parameter with a fixed set of names (``theory: TheoryName``), ``help`` shows these names instead of the name
    of their type.
    """
    package = namespace["__name__"]
    hidden = [name for name in namespace if name.startswith("__")]
    namespace["__dir__"] = lambda: sorted([*hidden, *namespace["__all__"]])
    for name in namespace["__all__"]:
        found = namespace[name]
        inside = getattr(found, "__module__", "").startswith(f"{package}.")
        if inside and isinstance(found, type | FunctionType):
            found.__module__ = package
            if isinstance(found, type):
                explain_frozen(found)
            _spell_out(vars(found).get("__init__") if isinstance(found, type) else found)


def explain_frozen(kind: type) -> None:
    """Let a frozen dataclass explain, when a value is assigned or deleted, how to make a changed copy."""
    if not (dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen):  # type: ignore[attr-defined]
        return

    def refuse(self: Any, name: str, *value: object) -> NoReturn:
        names = [item.name for item in dataclasses.fields(kind)]
        what = type(self).__name__
        if name not in names:
            raise dataclasses.FrozenInstanceError(
                f"{what} has no field {name!r}, and takes none{meant_or_known(name, names, ', '.join(names))}"
            )
        own = f".replace({name}=...)" if hasattr(kind, "replace") else ""
        copy = f"new = old{own}" if own else f"new = dataclasses.replace(old, {name}=...)"
        deep = "; jaxmodal.set_parameters(arm, {address: value}) changes values deep in an arm"
        raise dataclasses.FrozenInstanceError(
            f"{what} is frozen: {name} cannot be changed in place. Make a changed copy, {copy}{deep if own else ''}."
        )

    kind.__setattr__ = kind.__delattr__ = refuse  # type: ignore[method-assign]


def _spell_out(function: Any) -> None:
    """Replace the name of a Literal type in annotations by its values."""
    written = getattr(function, "__annotations__", {})
    known = getattr(inspect.unwrap(function), "__globals__", {})
    for parameter, annotation in written.items():
        words = re.findall(r"\w+", annotation) if isinstance(annotation, str) else []
        if any(get_origin(known.get(word)) is Literal for word in words):
            written[parameter] = eval(annotation, known)  # what typing.get_type_hints would do
