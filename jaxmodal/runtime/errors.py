"""Exceptions and warnings of the package, and helpers for their messages."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_PLACE: ContextVar[str] = ContextVar("place", default="")


class ArmError(ValueError):
    """Raised for an invalid value in an arm, or in a file or address that describes one.

    The message gives the address (``link2.section.depth``), the value received, the allowed values, and a remedy.
    """


class UncertifiedError(RuntimeError):
    """Raised if a frequency is not certified; the message lists modes, causes and remedies."""


class ImplausibleWarning(UserWarning):
    """Warning of allowed values that are probably in a wrong unit or mistyped, with the likely intention of each."""


class LargeDeflectionWarning(UserWarning):
    """Warning that static deflections are so large that small-deflection theory is only a first estimate."""


class RotorWarning(UserWarning):
    """Warning that a joint has a rotor but no ``motor``: it is taken as held.

    Earlier versions took it as turning beyond the spring.
    """


class StiffMotionWarning(UserWarning):
    """Warning that a simulation takes very many short steps by its method, with the method that takes few."""


@contextmanager
def within(place: str) -> Iterator[None]:
    """Context that puts ``place`` before the message of an `ArmError` raised in it, and into `place_here`."""
    outside = _PLACE.set(place_here() + place)
    try:
        yield
    except ArmError as error:
        raise ArmError(f"{place}{error}") from error.__cause__
    finally:
        _PLACE.reset(outside)


def place_here() -> str:
    """Return the prefix of error messages raised here, for use in warnings."""
    return _PLACE.get()


def meant_or_known(word: str, meant: Iterable[str], known: str) -> str:
    """Return the end of a sentence: a suggestion for a misspelt word, or all ``known`` words if none is similar."""
    near = suggestion(word, meant)
    return f".{near}" if near else f"; known are {known}."


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for a similar known word, or an empty string."""
    near = difflib.get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
