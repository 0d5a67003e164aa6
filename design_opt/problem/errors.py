"""Errors of optimisation: an invalid problem, and an unusable checkpoint."""

from collections.abc import Iterator
from contextlib import contextmanager


class ProblemError(ValueError):
    """A problem is invalid.

    The message names the variable, objective, constraint or key, the value received, what is allowed, and the remedy.
    """


class CheckpointError(RuntimeError):
    """A checkpoint cannot be read or written, or belongs to another problem; the message gives the remedy."""


@contextmanager
def about(what: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Convert errors of a ``kind`` inside the context to a `ProblemError` that starts with ``what``."""
    try:
        yield
    except kind as error:
        raise ProblemError(f"{what}: {error}") from error
