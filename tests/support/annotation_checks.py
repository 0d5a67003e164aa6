"""Run-time checks of the library's annotations, wherever beartype understands them.

Each function is checked once for arguments and a result of the same kinds, on which alone a check depends.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any, Literal

import beartype
import jax
import jaxtyping
import numpy as np
from beartype import BeartypeConf, FrozenDict
from beartype.roar import BeartypeDecorHintException

#: `jaxmodal.dynamic_stiffness.beams.TheoryName`; nothing of the library may be imported before its checks are
_THEORIES = Literal["timoshenko", "rayleigh", "euler_bernoulli", "bending_only"]
_CONF = BeartypeConf(hint_overrides=FrozenDict({_THEORIES: str}))

_CHECKED: dict[tuple[Any, ...], Callable[..., Any]] = {}


def _identity(hint: Any) -> Any:
    """What two annotations share that mean the same."""
    return hint if isinstance(hint, type | str) else repr(hint)


def _signature(function: Callable[..., Any]) -> tuple[Any, ...]:
    """What functions share that are checked alike."""
    return (
        *(function.__module__, function.__qualname__, function.__code__.co_varnames),
        tuple((name, _identity(hint)) for name, hint in function.__annotations__.items()),
    )


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its annotations checked.

    Names of theories may be any text here: the library itself answers those that are none.
    A function whose annotations beartype does not understand (it has no generic named tuples) is
    returned as it is; mypy checks those.

    jaxtyping gives an empty function with the signature of the one that it checks, and does so for an inner function
    each time the outer one runs: writing the checks anew each time took a third of the slow tests' time.
    """
    key = _signature(function)
    if key not in _CHECKED:
        try:
            _CHECKED[key] = beartype.beartype(conf=_CONF)(function)
        except BeartypeDecorHintException:
            _CHECKED[key] = function
    return _CHECKED[key]


#: the same by a second name, for the slow tests: jaxtyping's import hook keeps bytecode by the name of the checker,
#: also of unchecked modules imported while it writes checked ones, so each choice of modules needs a name of its own
checked_everywhere = checked

_DECORATOR = jaxtyping.jaxtyped

#: items of a tuple, list or dict up to which its kind is known: as many as a link has fields
_FEW = 64

#: of functions, by what they share, the kinds that have passed: of arguments, and of the results of these
_PASSED: dict[tuple[Any, ...], dict[tuple[Any, ...], set[Any]]] = {}


def install() -> None:
    """Let the decorator that jaxtyping's import hook writes be the one below."""
    jaxtyping.jaxtyped = jaxtyped


def jaxtyped(*, typechecker: Any) -> Callable[[Any], Any]:
    """Decorate as jaxtyping does, whose decorator takes as long as what it decorates where NumPy solves an arm.

    It is asked only for kinds of arguments and results that have not passed yet.
    """
    decorate = _DECORATOR(typechecker=typechecker)

    def decorated(it: Any) -> Any:
        if isinstance(it, FunctionType):
            return _by_kinds(it, decorate)
        if dataclasses.is_dataclass(it):
            made = vars(it).get("__init__")
            if isinstance(made, FunctionType) and not hasattr(made, "__wrapped__"):
                it.__init__ = _by_kinds(made, decorate)
        return it

    return decorated


def _by_kinds(function: FunctionType, decorate: Callable[[Any], Any]) -> Callable[..., Any]:
    passed = _PASSED.setdefault(_signature(function), {})

    @functools.cache
    def whole() -> Callable[..., Any]:
        return decorate(function)

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        kinds = tuple(map(_known_kind, args))
        if named:
            kinds += (*named, *map(_known_kind, named.values()))
        of_results = passed.get(kinds)
        if of_results is None:
            result = whole()(*args, **named)
        else:
            result = function(*args, **named)
            if _known_kind(result) in of_results:
                return result
            decorate(_returning(function, result))(*args, **named)
        kind = _known_kind(result)
        if kind is not None and None not in kinds:
            passed.setdefault(kinds, set()).add(kind)
        return result

    return call


def _returning(function: FunctionType, value: Any) -> FunctionType:
    """A function with the signature of another one that returns a value."""

    def given(*_args: Any, **_named: Any) -> Any:
        return value

    own = FunctionType(given.__code__, function.__globals__, closure=given.__closure__)
    functools.update_wrapper(own, function)
    return own


def _known_kind(value: Any) -> Any:
    """`_kind`, None of items within items deeper than Python counts."""
    try:
        return _kind(value)
    except RecursionError:
        return None


def _kind(value: Any) -> Any:
    """All of a value that its checks depend on: its type, of arrays the kind of numbers and the shape too.

    Of texts, whole numbers, flags and types it is the value itself, of tuples, lists and dicts the kinds of all items;
    of an iterator, whose items no check takes, it is the type. It is None where a value has to be looked at each time,
    as a dataset.
    """
    kind = type(value)
    if kind not in _MADE_BY:
        _MADE_BY[kind] = _maker(kind)
    made_by = _MADE_BY[kind]
    return kind if made_by is None else made_by(value)


def _maker(kind: type) -> Callable[[Any], Any] | None:
    """How `_kind` is made of a value of this type; None where it is the type."""
    if issubclass(kind, np.ndarray | jax.Array | jax.core.Tracer):
        return lambda value: (kind, value.dtype, value.shape)
    if issubclass(kind, str | int | type):
        return lambda value: (kind, value)
    if issubclass(kind, tuple | list):
        return _kinds_of_items
    if issubclass(kind, dict):
        return _kinds_in_dict
    if issubclass(kind, Iterator):
        return None
    return (lambda _value: None) if issubclass(kind, Iterable) else None


def _kinds_of_items(values: Any) -> Any:
    if len(values) > _FEW:
        return None
    kinds = tuple(map(_kind, values))
    return None if None in kinds else (type(values), kinds)


def _kinds_in_dict(values: Any) -> Any:
    names, items = (_kinds_of_items(tuple(each)) for each in (values, values.values()))
    return None if names is None or items is None else (type(values), names, items)


_MADE_BY: dict[type, Callable[[Any], Any] | None] = {}

#: what is checked: without the packages whose functions run by the ten thousand when NumPy solves an arm,
#: which takes twenty times as long when all are (0.95 s instead of 0.05 s); mypy checks those
CHECKED = [
    f"jaxmodal.{room}"
    for room in (
        *("arm", "eigenspaces", "frequencies", "postures", "batches", "modes", "plots"),
        *("references", "cli"),
    )
]
CHECKED += ["benchmarks.reproduction"]

#: of arms in space what reads, makes and tells of them; what runs at every frequency is left out as well
IN_SPACE = [
    f"jaxmodal.spatial.{name}"
    for name in (
        *("parts.bases", "parts.geometry", "parts.parameters", "parts.sections", "parts.tables"),
        *("arms.planar", "files.arm_files", "search.cells"),
    )
]
CHECKED += IN_SPACE

#: what the fast tests check: the modules of the public functions that take or give arrays. Elsewhere, in arms and their
#: tables above all, the checks take as long as what they check
CHECKED_IN_FAST_TESTS = [
    *(f"jaxmodal.frequencies.{name}" for name in ("one_arm", "counts", "results", "tapers")),
    *(f"jaxmodal.modes.{name}" for name in ("mode_shapes", "sensitivities", "batches")),
    *(f"jaxmodal.postures.{name}" for name in ("inverse", "resonance_maps", "series")),
    *(f"jaxmodal.eigenspaces.{name}" for name in ("clusters", "frequency_derivatives")),
    "jaxmodal.batches.many_arms",
    *(f"jaxmodal.spatial.{name}" for name in ("files.arm_files", "arms.planar")),
]
