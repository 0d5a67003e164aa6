"""Rules for the values of motions and laws, declared with each field and checked before a simulation."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import reals
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, is_traced


class _Rule(NamedTuple):
    words: str
    holds: Callable[[Any], Any]
    shape: tuple[int, ...] | None
    numeric: bool


def numbers(
    words: str,
    holds: Callable[[Any], Any] = np.isfinite,
    shape: tuple[int, ...] | None = None,
    default: Any = dataclasses.MISSING,
) -> Any:
    """Return a dataclass field for numbers with a rule in words and as a function; ``shape`` None allows any shape."""
    return dataclasses.field(
        default=default, metadata={"rule": _Rule(words, holds, shape, numeric=True)}
    )


def holder(words: str, holds: Callable[[Any], Any]) -> Any:
    """Return a dataclass field for a motion, a law or several."""
    return dataclasses.field(metadata={"rule": _Rule(words, holds, None, numeric=False)})


#: rule of a duration
DURATION = ("finite and greater than 0 (s)", lambda x: np.isfinite(x) & (x > 0.0))
_EACH = _Rule("finite, one for each joint or one for all", np.isfinite, None, numeric=True)


def floats(*values: Any) -> tuple[Array, ...]:
    """Return values of a motion or a law as JAX arrays."""
    return tuple(jnp.asarray(value, jnp.float64) for value in values)


class Named:
    """Motion, law or event, shown with its name and values; arrays of many numbers by their shape."""

    def __repr__(self) -> str:
        own: Any = self
        if not dataclasses.is_dataclass(own):
            return object.__repr__(self)
        values = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(own))
        return f"{type(self).__name__}({', '.join(f'{name}={_short(x)}' for name, x in values)})"


def _short(value: Any) -> str:
    few = isinstance(value, np.ndarray | jax.Array) and not is_traced(value) and value.size <= 8
    return repr(value.tolist()) if few else shown(value)


def check_values(given: Any) -> None:
    """Refuse values of a motion or law, or of nested ones, that break a rule; classes of the caller are not checked."""
    for field in dataclasses.fields(given) if dataclasses.is_dataclass(given) else ():
        value = getattr(given, field.name)
        if _of_the_library(given) and not (field.metadata.get("static") or is_traced(value)):
            _check(
                f"{type(given).__name__}: {field.name}", value, field.metadata.get("rule", _EACH)
            )
        for each in value if isinstance(value, list | tuple) else (value,):
            if callable(each) and not isinstance(each, type):  # a motion or a law
                check_values(each)


def _check(name: str, value: Any, rule: _Rule) -> None:
    if rule.numeric:
        array = reals(name, value, f"numbers, {rule.words}")
        good = rule.shape in (None, array.shape) and np.all(rule.holds(array))
    else:
        good = rule.holds(value)
    if not good:
        raise ArmError(f"{name} = {shown(value)}: must be {rule.words}.")


def shape_given(
    name: str, given: Any, num_links: int, function: Callable[..., Any], *arguments: Any
) -> tuple[int, ...]:
    """Return the shape of the values of a motion or a law; refuse mismatched shapes in classes of the library."""
    try:
        return jax.eval_shape(function, *arguments).shape
    except (TypeError, ValueError) as error:
        if not _of_the_library(given) or isinstance(error, ArmError | jax.errors.JAXTypeError):
            raise
        cause = str(error).splitlines()[0]
        raise ArmError(
            f"{name} = {type(given).__name__}(...): its numbers do not go together ({cause}); give one for each of "
            f"the {num_links} joints, or one for all."
        ) from error


def _of_the_library(given: Any) -> bool:
    """Return True if the class of a motion or a law belongs to the library, so that rules apply to its values."""
    return type(given).__module__.split(".")[0] == __name__.split(".")[0]


def ascending_times(times: Any, least: int, usual: int) -> np.ndarray:
    """Return ``times`` as an array of finite, ascending numbers of seconds.

    Parameters
    ----------
    times
        As given by a user.
    least, usual
        Least number of times, 2 or 4, and number of times in the example of a message.

    Raises
    ------
    ArmError
        If they are not; it names the first time that is wrong.
    """
    number = {2: "two", 4: "four"}[least]
    expected = f"{number} ascending, finite times or more, s, such as numpy.linspace(0, 2, {usual})"
    moments = reals("times", times, expected)
    if moments.ndim != 1 or moments.size < least:
        raise ArmError(f"times: of shape {moments.shape}; must be {expected}.")
    good = np.isfinite(moments)
    good[1:] &= ~(moments[1:] <= moments[:-1])
    if not np.all(good):
        k = int(np.argmin(good))
        after = f", after {moments[k - 1]:.6g}" if k else ""
        raise ArmError(f"times[{k}] = {moments[k]:.6g}{after}: must be {expected}.")
    return moments


def check_arguments(what: str, name: str, function: Callable[..., Any]) -> None:
    """Refuse a function that does not take (time, q, rate, model)."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return
    try:
        signature.bind(0.0, 0.0, 0.0, 0.0)
    except TypeError as error:
        raise ArmError(
            f"{what}: {name} takes {signature}; must take four arguments (time, q, rate, model)."
        ) from error
