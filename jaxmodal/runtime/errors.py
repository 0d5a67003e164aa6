"""The error of everything that is wrong with an arm, and how its messages are worded."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_PLACE: ContextVar[str] = ContextVar("place", default="")


class ArmError(ValueError):
    """An arm, or a file or address that describes one, holds something that is not allowed.

    The message names the place (``link2.section.depth``), the value received, what is allowed
    there, and what to do about it.
    """


class UncertifiedError(RuntimeError):
    """A frequency could not be certified; the message lists modes, causes and remedies."""


class ImplausibleWarning(UserWarning):
    """A value is allowed, and looks like a wrong unit or a slip; a line for each, with what was probably meant."""


class LargeDeflectionWarning(UserWarning):
    """An arm at rest bends so far that the theory of small deflections is a first estimate only."""


class RotorWarning(UserWarning):
    """A joint has a rotor, and its ``motor`` is not named: it is taken as held, and was beyond the spring before."""


@contextmanager
def within(place: str) -> Iterator[None]:
    """Put ``place`` before the message of an `ArmError` raised inside the block, and into `place_here`."""
    outside = _PLACE.set(place_here() + place)
    try:
        yield
    except ArmError as error:
        raise ArmError(f"{place}{error}") from error.__cause__
    finally:
        _PLACE.reset(outside)


def place_here() -> str:
    """Return what stands before the message of an error that is raised here, for warnings."""
    return _PLACE.get()


def meant_or_known(word: str, meant: Iterable[str], known: str) -> str:
    """End a sentence with what was probably meant by a word, else with all that there is.

    Long lists are for those who miss by far.
    """
    near = suggestion(word, meant)
    return f".{near}" if near else f"; known are {known}."


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for a near miss, else the empty string."""
    near = difflib.get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
